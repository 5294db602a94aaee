"""A memory that was saved and loaded answers as before; a file that is no memory is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featloom.counts.values import WEIGHTS
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.formats.models import load_model, save_model
from featloom.learners.comparison import MODES, VOTES
from featloom.learners.memory import MemoryClassifier

LETTERS = [["c", "a"], ["c", "e"], ["s", "e"], ["k", "é"], ["c", None]]
SOUNDS = ["K", "S", "S", "K", "K"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "letters.featloom"


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_loaded_memory_answers_like_the_one_saved(path, data):
    symbols = st.sampled_from(["a", "b", "ç", None])
    rows = st.lists(st.tuples(symbols, symbols, symbols), min_size=2, max_size=25)
    stored, asked = data.draw(rows), data.draw(rows)
    classes = data.draw(
        st.lists(st.sampled_from("KSX"), min_size=len(stored), max_size=len(stored)).filter(
            lambda drawn: len(set(drawn)) > 1
        )
    )
    modes = data.draw(
        st.tuples(*[st.sampled_from(MODES)] * 3).filter(lambda m: set(m) - {MODES[0]})
    )
    memory = MemoryClassifier(
        k=data.draw(st.integers(1, 4)),
        weights="none",
        metric=modes,
        vote=data.draw(st.sampled_from(VOTES)),
        mvdm_threshold=data.draw(st.integers(1, 3)),
        compat=data.draw(st.sampled_from([None, "timbl"])),
    ).fit([list(row) for row in stored], classes)
    memory.save(path)
    loaded = MemoryClassifier.load(path)
    question = [list(row) for row in asked]
    assert loaded.predict(question).tolist() == memory.predict(question).tolist()
    assert np.array_equal(loaded.predict_proba(question), memory.predict_proba(question))
    assert loaded.explain(question) == memory.explain(question)


def test_smoothing_is_kept_and_a_file_from_before_it_has_none(path):
    memory = MemoryClassifier(smoothing=0.2).fit(LETTERS, SOUNDS)
    memory.save(path)
    assert MemoryClassifier.load(path).predict_proba(LETTERS).tolist() == (
        memory.predict_proba(LETTERS).tolist()
    )
    model = load_model(path)
    del model.description["parameters"]["smoothing"]
    save_model(path, model.kind, model.description, model.arrays)
    loaded = MemoryClassifier.load(path)
    assert loaded.smoothing == 0
    assert loaded.predict_proba(LETTERS).tolist() == (
        MemoryClassifier().fit(LETTERS, SOUNDS).predict_proba(LETTERS).tolist()
    )


@pytest.mark.parametrize("weights", [*WEIGHTS, [0.5, 0.25]])
def test_weights_come_back_to_the_last_bit(path, weights):
    memory = MemoryClassifier(weights=weights, metric={"x1": "mvdm"}).fit(LETTERS, SOUNDS)
    memory.save(path)
    loaded = MemoryClassifier.load(path)
    assert loaded.weights_.tolist() == memory.weights_.tolist()
    assert loaded.modes_ == memory.modes_ == ("overlap", "mvdm")
    assert loaded.n_features_in_ == 2


@pytest.mark.parametrize("classes", [[1, 2, 2, 1, 1], [True, False, False, True, True], SOUNDS])
def test_classes_come_back_as_what_they_were(path, classes):
    memory = MemoryClassifier().fit(LETTERS, classes)
    memory.save(path)
    loaded = MemoryClassifier.load(path)
    assert loaded.classes_.dtype == memory.classes_.dtype
    assert loaded.classes_.tolist() == memory.classes_.tolist()


def test_a_table_keeps_its_columns_and_target(path):
    table = NominalTable.from_columns(
        {"letter": list("ccs"), "next": list("aee")}, labels=list("KSS"), target="sound"
    )
    MemoryClassifier().fit(table).save(path)
    known = MemoryClassifier.load(path)._reader.table
    assert (known.columns, known.target) == (("letter", "next"), "sound")


def test_a_memory_can_learn_on_after_it_was_loaded(path):
    MemoryClassifier().fit(LETTERS, SOUNDS).save(path)
    loaded = MemoryClassifier.load(path)
    loaded.partial_fit([["z", "o"]], ["Z"])
    assert loaded.predict([["z", "o"]]).tolist() == ["Z"]


def test_columns_of_a_frame_are_known_by_name_after_loading(path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"letter": list("ccs"), "next": list("aee")})
    MemoryClassifier().fit(frame, list("KSS")).save(path)
    loaded = MemoryClassifier.load(path)
    assert loaded.feature_names_in_.tolist() == ["letter", "next"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"next": "after"}))


def test_a_memory_that_is_not_fitted_is_not_saved(path):
    with pytest.raises(Exception, match="not fitted yet"):
        MemoryClassifier().save(path)
    assert not path.exists()


def test_classes_of_no_kind_that_files_hold_are_refused(path):
    memory = MemoryClassifier().fit(LETTERS, SOUNDS)
    memory.classes_ = np.array([b"K", b"S"], dtype=object)
    with pytest.raises(InputError, match="is of type bytes; text and numbers can be saved"):
        memory.save(path)


def without(name):
    return lambda description, arrays: (description, {k: v for k, v in arrays.items() if k != name})


def with_part(name, value):
    return lambda description, arrays: (description | {name: value}, arrays)


def with_array(name, change):
    return lambda description, arrays: (description, arrays | {name: change(arrays[name])})


FORGERIES = {
    "no cases": without("codes"),
    "no classes": without("classes"),
    "a column more": with_part("columns", ["x0", "x1", "x2"]),
    "two columns of one name": with_part("columns", ["x0", "x0"]),
    "fewer values": with_part("n_values", [1, 1]),
    "values below none": with_part("n_values", [7, -1]),
    "no parameters": with_part("parameters", None),
    "a parameter of another learner": with_part("parameters", {"C": 1}),
    "k below one": with_part("parameters", {"k": 0}),
    "everything ignored": with_part("parameters", {"metric": "ignore"}),
    "a code beyond the values": with_array("codes", lambda codes: codes + 9),
    "a class that no case has": with_array("labels", lambda labels: labels * 0),
    "fewer labels than cases": with_array("labels", lambda labels: labels[:-1]),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_parts_that_do_not_fit_are_refused(path, forgery):
    MemoryClassifier().fit(LETTERS, SOUNDS).save(path)
    model = load_model(path)
    description, arrays = FORGERIES[forgery](model.description, model.arrays)
    save_model(path, "memory", description, arrays)
    with pytest.raises(ReadError, match="the model is damaged: its parts do not fit"):
        MemoryClassifier.load(path)
