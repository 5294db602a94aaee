"""The memory-based classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom import MemoryClassifier, NominalTable
from featloom.errors import InputError
from featloom.kernels.votes import vote_weight
from featloom.learners import memory as memory_module
from featloom.learners.comparison import VOTES
from featloom.learners.memory import memory_grid

LETTERS = [[a, b, c] for a in "ckgsz" for b in "aeiou" for c in "xy"]
SOUNDS = ["S" if a in "cs" and b in "ei" else "Z" if a == "z" else "K" for a, b, c in LETTERS]
ASKED = [["c", "i", "x"], ["z", "a", "q"], ["?", "e", "y"], ["?", "?", "?"], ["g", None, "x"]]

values = st.sampled_from(["a", "b", "c", None])
rows = st.lists(
    st.tuples(st.tuples(values, values, values), st.sampled_from("KSZ")), min_size=4, max_size=30
).filter(lambda found: len({label for _, label in found}) > 1)
parameters = st.fixed_dictionaries(
    {
        "k": st.integers(1, 4),
        "weights": st.sampled_from(["none", "gain_ratio", "chi_squared"]),
        "metric": st.sampled_from(["overlap", "mvdm"]),
        "vote": st.sampled_from(VOTES),
        "mvdm_threshold": st.integers(1, 2),
        "exact": st.booleans(),
        "compat": st.sampled_from([None, "timbl"]),
        "smoothing": st.sampled_from([0.0, 0.0, 0.3]),
    }
)


def split(found):
    return [list(row) for row, _ in found], [label for _, label in found]


def test_every_way_to_give_the_same_cases_gives_the_same_answers():
    names = ["letter", "next", "last"]
    columns = {name: [row[j] for row in LETTERS] for j, name in enumerate(names)}
    asked = {name: [row[j] for row in ASKED] for j, name in enumerate(names)}
    expected = MemoryClassifier(k=3).fit(LETTERS, SOUNDS).predict_proba(ASKED).tolist()
    for train, test in [
        (np.array(LETTERS, dtype=object), np.array(ASKED, dtype=object)),
        (pd.DataFrame(columns), pd.DataFrame(asked)),
        (pl.DataFrame(columns), pl.DataFrame(asked)),
        (NominalTable.from_columns(columns), NominalTable.from_columns(asked)),
    ]:
        memory = MemoryClassifier(k=3).fit(train, SOUNDS)
        assert memory.predict_proba(test).tolist() == expected
    labelled = NominalTable.from_columns(columns, labels=SOUNDS)
    memory = MemoryClassifier(k=3).fit(labelled)
    assert memory.predict_proba(NominalTable.from_columns(asked)).tolist() == expected
    assert memory.classes_.tolist() == ["K", "S", "Z"]


def test_codes_are_symbols_as_good_as_any():
    code_of = {value: code for code, value in enumerate("ckgszaeiouxy")}
    codes = np.array([[code_of[value] for value in row] for row in LETTERS])
    by_codes = MemoryClassifier(metric="mvdm").fit(codes, SOUNDS)
    by_names = MemoryClassifier(metric="mvdm").fit(LETTERS, SOUNDS)
    assert by_codes.weights_.tolist() == by_names.weights_.tolist()
    assert by_codes.predict(codes).tolist() == by_names.predict(LETTERS).tolist() == SOUNDS


def test_columns_of_a_frame_are_found_by_name_and_refused_in_another_order():
    frame = pd.DataFrame(LETTERS, columns=["letter", "next", "last"])
    memory = MemoryClassifier(metric={"last": "ignore", "next": "mvdm"}).fit(frame, SOUNDS)
    assert memory.modes_ == ("overlap", "mvdm", "ignore")
    assert memory.feature_names_in_.tolist() == ["letter", "next", "last"]
    with pytest.raises(ValueError, match="feature names should match"):
        memory.predict(frame[["next", "letter", "last"]])
    table = NominalTable.from_columns({name: frame[name].tolist() for name in frame.columns[::-1]})
    assert memory.predict(table).tolist() == memory.predict(frame).tolist()


@given(rows, parameters)
@settings(max_examples=100)
def test_shares_of_votes_add_up_to_one_and_agree_with_the_answer_but_for_ties(found, chosen):
    X, y = split(found)
    memory = MemoryClassifier(**chosen).fit(X, y)
    shares, answers = memory.predict_proba(X), memory.predict(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    if memory.smoothing:
        assert answers.tolist() == memory.classes_[shares.argmax(axis=1)].tolist()
    shares, answers = memory.set_params(smoothing=0.0).predict_proba(X), memory.predict(X)
    own = shares[np.arange(len(X)), np.searchsorted(memory.classes_, answers)]
    np.testing.assert_allclose(own, shares.max(axis=1), atol=1e-9)


@given(rows, parameters)
@settings(max_examples=100)
def test_the_neighbours_shown_are_those_whose_votes_decided(found, chosen):
    X, y = split(found)
    memory = MemoryClassifier(**chosen).fit(X, y)
    for explanation in memory.explain(X, most=1000):
        neighbours = explanation.neighbours
        distances = [neighbour.distance for neighbour in neighbours]
        assert distances == sorted(distances)
        votes: dict[str, float] = {}
        for neighbour in neighbours:
            kind = VOTES.index(memory.vote)
            weight = vote_weight(kind, 1.0, neighbour.distance, distances[0], distances[-1])
            for name, n in neighbour.classes.items():
                votes[name] = votes.get(name, 0.0) + n * weight
        voted = {name: n for name, n in votes.items() if n}
        assert explanation.votes == pytest.approx(voted, rel=1e-6)
    shown = [explanation.answer for explanation in memory.explain(X)]
    assert shown == memory.predict(X).tolist()


@given(rows, st.lists(parameters, max_size=6))
@settings(max_examples=80)
def test_many_settings_from_one_memory_are_those_fitted_one_by_one(found, grid):
    X, y = split(found)
    asked = [*X, ["a", "q", None]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_module, "_VOTES_HELD", 50)  # in pieces
        together = memory_grid(X, y, asked, grid)
    one_by_one = [MemoryClassifier(**one).fit(X, y).predict_proba(asked) for one in grid]
    assert [shares.tolist() for shares in together] == [shares.tolist() for shares in one_by_one]


def test_a_grid_takes_tables_with_their_labels_and_refuses_a_wrong_setting():
    names = ["letter", "next", "last"]
    columns = {name: [row[j] for row in LETTERS] for j, name in enumerate(names)}
    table = NominalTable.from_columns(columns, labels=SOUNDS)
    one, other = memory_grid(table, None, table, [{}, {"metric": {"last": "ignore"}}], n_jobs=2)
    assert one.tolist() == MemoryClassifier().fit(table).predict_proba(table).tolist()
    assert other.shape == (50, 3)
    assert memory_grid(table, None, table, []) == []
    with pytest.raises(InputError, match="vote is 'majority'"):
        memory_grid(table, None, table, [{}, {"vote": "majority"}])


def test_smoothing_mixes_the_frequencies_of_the_classes_into_probabilities():
    plain = MemoryClassifier(k=3).fit(LETTERS, SOUNDS)
    smooth = MemoryClassifier(k=3, smoothing=0.25).fit(LETTERS, SOUNDS)
    frequencies = [SOUNDS.count(name) / len(SOUNDS) for name in "KSZ"]
    mixed = 0.75 * plain.predict_proba(ASKED) + 0.25 * np.array(frequencies)
    np.testing.assert_allclose(smooth.predict_proba(ASKED), mixed)
    for one, other in zip(smooth.explain(ASKED), plain.explain(ASKED), strict=True):
        assert (one.votes, one.neighbours) == (other.votes, other.neighbours)
    whole = MemoryClassifier(smoothing=1).fit(LETTERS, SOUNDS)
    np.testing.assert_allclose(whole.predict_proba(ASKED), [frequencies] * len(ASKED))
    assert set(whole.predict(LETTERS)) == {"K"}


def noise(n=400, share=0.1):
    """Rows that say nothing of their class, which is nine times in ten the same."""
    rng = np.random.default_rng(5)
    return rng.integers(0, 4, (n, 5)), np.where(rng.random(n) < share, "rare", "usual")


@pytest.mark.parametrize("compat", [None, "timbl"])
@pytest.mark.parametrize("smoothing", [0.003, 0.3, 0.5, 0.8, 1.0])
def test_the_class_predicted_with_smoothing_is_the_most_probable_one(smoothing, compat, tmp_path):
    X, y = noise()
    memory = MemoryClassifier(smoothing=smoothing, compat=compat).fit(X[:300], y[:300])
    most_probable = memory.classes_[memory.predict_proba(X).argmax(axis=1)].tolist()
    assert memory.predict(X).tolist() == most_probable
    assert [one.answer for one in memory.explain(X)] == most_probable
    plain = MemoryClassifier(compat=compat).fit(X[:300], y[:300]).predict(X).tolist()
    assert (most_probable != plain) == (smoothing >= 0.8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_module, "_VOTES_HELD", 50)  # in pieces
        assert memory.predict(X).tolist() == most_probable
    memory.save(tmp_path / "model.featloom")
    loaded = MemoryClassifier.load(tmp_path / "model.featloom")
    assert loaded.predict(X).tolist() == most_probable
    assert loaded.predict_proba(X).tolist() == memory.predict_proba(X).tolist()
    assert loaded.explain(X[:20]) == memory.explain(X[:20])


def test_a_class_may_be_the_answer_without_votes_where_smoothing_says_so():
    rows, sounds = [["c", str(i)] for i in range(10)], ["K"] * 9 + ["S"]
    memory = MemoryClassifier(smoothing=0.8).fit(rows, sounds)
    (explanation,) = memory.explain(rows[9:])
    assert (explanation.answer, explanation.votes) == ("K", {"S": 1.0})
    assert memory.set_params(smoothing=0.0).explain(rows[9:])[0].answer == "S"


def test_an_explanation_shows_as_many_neighbours_as_are_wanted():
    memory = MemoryClassifier(k=5, weights="none").fit(LETTERS, SOUNDS)
    (whole,) = memory.explain(ASKED[:1], most=1000)
    (short,) = memory.explain(ASKED[:1], most=2)
    assert short.neighbours == whole.neighbours[:2]
    assert short.votes == whole.votes


def test_a_tie_that_was_looked_at_again_is_explained_with_one_distance_more():
    X = [["a", "x"], ["b", "x"], ["c", "y"], ["c", "x"]]
    memory = MemoryClassifier(weights=[1.0, 0.5], compat="timbl").fit(X, ["K", "S", "S", "Z"])
    (explanation,) = memory.explain([["q", "x"]])
    assert explanation.votes == {"K": 1, "S": 2, "Z": 1}
    assert [n.distance for n in explanation.neighbours] == [1.0, 1.0, 1.0, 1.5]
    assert explanation.answer == "S"


@given(rows, parameters, st.integers(1, 3))
@settings(max_examples=80)
def test_cases_given_in_pieces_are_the_cases_given_at_once(found, chosen, n_pieces):
    X, y = split(found)
    whole = MemoryClassifier(**chosen).fit(X, y)
    pieces = MemoryClassifier(**chosen)
    cuts = np.array_split(np.arange(len(X)), n_pieces)
    for place, cut in enumerate(cuts):
        classes = sorted(set(y)) if place == 0 else None
        pieces.partial_fit([X[i] for i in cut], [y[i] for i in cut], classes=classes)
    assert pieces.classes_.tolist() == whole.classes_.tolist()
    assert pieces.weights_.tolist() == whole.weights_.tolist()
    asked = [*X, ["a", "q", None]]
    assert pieces.predict(asked).tolist() == whole.predict(asked).tolist()
    assert pieces.predict_proba(asked).tolist() == whole.predict_proba(asked).tolist()
    assert pieces.explain(asked) == whole.explain(asked)


def test_a_later_piece_may_bring_new_values_and_new_classes():
    memory = MemoryClassifier().partial_fit([["c", "a"], ["s", "a"]], ["K", "S"])
    assert memory.predict([["z", "a"]]).tolist() == ["K"]
    memory.partial_fit([["z", "a"]], ["Z"])
    assert memory.classes_.tolist() == ["K", "S", "Z"]
    assert memory.predict([["z", "a"], ["s", "a"], ["c", "a"]]).tolist() == ["Z", "S", "K"]
    more = NominalTable.from_columns({"x1": ["e"], "x0": ["c"]}, labels=["S"])
    memory.partial_fit(more)
    assert memory.predict([["c", "e"]]).tolist() == ["S"]


def test_a_first_piece_of_one_class_needs_to_be_told_of_the_others():
    memory = MemoryClassifier()
    with pytest.raises(InputError, match="y holds one class only, 'K'"):
        memory.partial_fit([["c"]], ["K"])
    memory = MemoryClassifier().partial_fit([["c"]], ["K"], classes=["S", "K"])
    assert memory.predict([["s"]]).tolist() == ["K"]
    assert memory.predict_proba([["s"]]).tolist() == [[1.0, 0.0]]
    with pytest.raises(InputError, match="y holds 'Z', which is not among the classes"):
        MemoryClassifier().partial_fit([["c"]], ["Z"], classes=["S", "K"])


def test_what_is_wrong_with_a_later_piece_leaves_the_memory_as_it_was():
    memory = MemoryClassifier().fit(LETTERS, SOUNDS)
    for y in (["K"], ["K", None]):
        with pytest.raises(InputError):
            memory.partial_fit(LETTERS[:2], y)
    assert memory.predict(LETTERS).tolist() == SOUNDS


def test_of_equally_frequent_classes_the_one_seen_first_wins():
    for first, second in ("SK", "KS"):
        memory = MemoryClassifier().fit([["c"], ["c"]], [first, second])
        assert memory.predict([["c"]]).tolist() == [first]


@given(rows, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_cases_settles_nothing_but_ties_of_equally_frequent_classes(found, random):
    X, y = split(found)
    frequencies = [y.count(name) for name in set(y)]
    if len(set(frequencies)) < len(frequencies):
        return
    order = list(range(len(X)))
    random.shuffle(order)
    one = MemoryClassifier(k=2, metric="mvdm", compat="timbl").fit(X, y)
    two = MemoryClassifier(k=2, metric="mvdm", compat="timbl").fit(
        [X[i] for i in order], [y[i] for i in order]
    )
    assert one.predict(X).tolist() == two.predict(X).tolist()


def test_more_neighbours_than_cases_are_all_cases():
    memory = MemoryClassifier(k=10**6).fit(LETTERS, SOUNDS)
    assert set(memory.predict(LETTERS)) == {"K"}
    shares = [SOUNDS.count(name) / len(SOUNDS) for name in "KSZ"]
    np.testing.assert_allclose(memory.predict_proba(ASKED), [shares] * len(ASKED))


def test_a_class_seen_once_is_found_where_it_was_seen():
    memory = MemoryClassifier().fit([*LETTERS, ["q", "u", "x"]], [*SOUNDS, "KW"])
    assert memory.predict([["q", "u", "x"], ["q", "u", "z"]]).tolist() == ["KW", "KW"]


@pytest.mark.parametrize("metric", ["overlap", "mvdm"])
def test_unseen_and_missing_values_are_as_far_from_every_value_as_can_be(metric):
    memory = MemoryClassifier(weights="none", metric=metric).fit(LETTERS, SOUNDS)
    unseen = memory.nearest_distances([["?", "?", "?"], [None, None, None], ["c", "?", None]])
    assert unseen[:, 0].tolist() == [3.0, 3.0, 2.0]
    assert memory.predict([["?", "?", "?"]]).tolist() == ["K"]
    stored = MemoryClassifier(weights="none", metric=metric).fit(
        [[None, "a"], ["c", None], ["s", "e"]], ["K", "K", "S"]
    )
    assert stored.nearest_distances([[None, "a"]])[0, 0] == 1.0


def test_distances_that_are_not_there_are_no_numbers():
    memory = MemoryClassifier(k=3, weights="none").fit([["c"], ["k"]], ["S", "K"])
    np.testing.assert_array_equal(memory.nearest_distances([["c"]]), [[0, 1, np.nan]])


def test_votes_that_are_too_far_to_count_still_make_shares():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (3000, 4))
    y = np.where(X[:, 0] > 0, X[:, 0] * 3 + X[:, 1], 0)
    memory = MemoryClassifier(k=2, weights="chi_squared", vote="exponential").fit(X, y)
    shares = memory.predict_proba([[9, 9, 9, 9]])
    assert shares.sum() == 1
    assert memory.classes_[shares[0].argmax()] == memory.predict([[9, 9, 9, 9]])[0]


@pytest.mark.parametrize("metric", ["overlap", "mvdm", ["overlap", "ignore", "mvdm"]])
def test_a_decay_on_the_scale_of_the_weights_gives_votes_that_do_not_depend_on_their_unit(metric):
    shares = [
        MemoryClassifier(k=7, weights=weights, metric=metric, vote="exponential", decay="scale")
        .fit(LETTERS, SOUNDS)
        .predict_proba(ASKED)
        for weights in ([0.5, 1.0, 0.25], [50.0, 100.0, 25.0])
    ]
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-9)
    plain = MemoryClassifier(k=7, weights=[0.5, 1.0, 0.25], metric=metric, vote="exponential")
    compared = 1.75 if isinstance(metric, str) else 0.75
    by_hand = plain.set_params(decay=30 / compared).fit(LETTERS, SOUNDS).predict_proba(ASKED)
    np.testing.assert_array_equal(shares[0], by_hand)


def test_a_column_that_says_nothing_leaves_the_most_frequent_class():
    memory = MemoryClassifier().fit([["c"], ["c"], ["c"]], ["S", "K", "K"])
    assert memory.weights_.tolist() == [0.0]
    assert memory.predict([["c"], ["?"]]).tolist() == ["K", "K"]
    assert memory.nearest_distances([["?"]]).tolist() == [[0.0]]


def test_threads_change_nothing():
    expected = MemoryClassifier(k=3, metric="mvdm").fit(LETTERS, SOUNDS).predict_proba(LETTERS)
    for n_jobs in (2, 3, -1):
        memory = MemoryClassifier(k=3, metric="mvdm", n_jobs=n_jobs).fit(LETTERS, SOUNDS)
        assert memory.predict_proba(LETTERS).tolist() == expected.tolist()


def test_k_can_be_set_anew_and_is_checked_again():
    memory = MemoryClassifier().fit(LETTERS, SOUNDS)
    fresh = MemoryClassifier(k=7).fit(LETTERS, SOUNDS)
    assert memory.set_params(k=7).predict(ASKED).tolist() == fresh.predict(ASKED).tolist()
    for ask in (memory.predict, memory.predict_proba, memory.explain, memory.nearest_distances):
        memory.set_params(k=0)
        with pytest.raises(
            InputError, match="k is 0; it must be a whole number from 1 to 2,147,483,647"
        ):
            ask(ASKED)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 0}, "k is 0; it must be a whole number from 1 to 2,147,483,647"),
        ({"k": 1.5}, "k is 1.5; it must be a whole number from 1 to 2,147,483,647"),
        ({"k": True}, "k is True; it must be a whole number from 1 to 2,147,483,647"),
        ({"k": 10**30}, f"k is {10**30}; it must be a whole number from 1 to 2,147,483,647"),
        (
            {"mvdm_threshold": 0},
            "mvdm_threshold is 0; it must be a whole number from 1 to 2,147,483,647",
        ),
        (
            {"weights": "gain"},
            "weights is 'gain'; it must be 'none', 'gain_ratio', 'information_gain', "
            "'chi_squared' or 'shared_variance', or a list",
        ),
        (
            {"weights": [1.0]},
            "1 weights for 3 features; give one for each, or the name of a weighting",
        ),
        ({"weights": [1, -1, 0]}, "a weight must be a finite number, and not below 0"),
        ({"weights": [1, np.nan, 0]}, "a weight must be a finite number, and not below 0"),
        ({"weights": [0, 0, 0]}, "the weights of all features are zero; nothing is compared"),
        ({"metric": "hamming"}, "metric is 'hamming'; it can be 'ignore', 'overlap' or 'mvdm'"),
        ({"metric": ["mvdm"]}, "metric names 1 modes for 3 features"),
        ({"metric": {"x9": "mvdm"}}, "no column 'x9'; there are x0, x1, x2"),
        ({"metric": "ignore"}, "all features are ignored; nothing is left to compare"),
        (
            {"vote": "majority"},
            "vote is 'majority'; it can be 'count', 'inverse_distance', 'inverse_linear' "
            "or 'exponential'",
        ),
        ({"decay": -1}, "decay is -1; it must be a number, 0 or more, or 'scale'"),
        (
            {"decay": "fast"},
            "decay is 'fast'; it must be a number, 0 or more, or 'scale'",
        ),
        ({"smoothing": 1.5}, "smoothing is 1.5; it must be a number from 0 to 1"),
        ({"smoothing": "much"}, "smoothing is 'much'; it must be a number from 0 to 1"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(wrong, words):
    with pytest.raises(InputError) as error:
        MemoryClassifier(**wrong).fit(LETTERS, SOUNDS)
    assert str(error.value) == words


def test_a_wrong_target_is_refused_with_the_row():
    for y, words in [
        (["K"] * 49 + [None], "y is missing in row 49"),
        (["K"] * 49 + [float("nan")], "y is missing in row 49"),
        (["K"] * 50, "y holds one class only, 'K': there is nothing to tell apart"),
        (["K", "S"], "y has shape (2,), X has 50 rows"),
        (None, "requires y to be passed, but the target y is None and X carries no labels"),
    ]:
        target = y if y is None else np.array(y, dtype=object)
        with pytest.raises(InputError) as error:
            MemoryClassifier().fit(LETTERS, target)
        assert str(error.value) == words
    with pytest.raises(InputError, match=r"Unknown label type: continuous; y holds 0\.5 in row 1"):
        MemoryClassifier().fit([["a"], ["b"]], [1.0, 0.5])


@pytest.mark.parametrize("n_values", [60_000, 70_000])
@pytest.mark.parametrize("metric", ["overlap", "mvdm"])
def test_a_column_of_tens_of_thousands_of_words_is_no_trouble(n_values, metric):
    words = np.array([f"w{i}" for i in range(n_values)], dtype=object)
    tags = np.array(["N", "V"])[np.arange(n_values) % 2]
    X = np.column_stack([words, np.arange(n_values) % 7])
    memory = MemoryClassifier(metric=metric, compat="timbl").fit(X, tags)
    assert memory.predict(X[-200:]).tolist() == tags[-200:].tolist()
    memory.partial_fit(np.array([["new", 1]], dtype=object), ["V"])
    assert memory.predict([["new", 1]]).tolist() == ["V"]
