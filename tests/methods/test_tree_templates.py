"""TreeTemplates: what it finds, what its features are, and what it gives to other programs."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from featloom.data.sentences import table_of_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.features.windows import sequence_templates, window_table
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import SequenceTagger, templates_of_lines
from featloom.methods.tree_templates import TreeTemplates, TreeTemplatesCV
from featloom.methods.tree_templates import tree_templates as tree_templates_module
from featloom.methods.tree_templates.choice import FoldTemplates
from featloom.methods.tree_templates.features import HashedFeatures, SeenFeatures, rows_of_ones
from featloom.search import read_journal


def exclusive_or(n=400, seed=0):
    """Two columns that matter together, and little by themselves, and one that does not."""
    bits = np.random.default_rng(seed).random((n, 3)) < 0.4
    rows = np.where(bits, "yes", "no").astype(object)
    return rows, np.where(bits[:, 0] == bits[:, 1], "same", "different")


X, Y = exclusive_or()

data = st.lists(
    st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 3, st.sampled_from("KS")),
    min_size=2,
    max_size=30,
).filter(lambda rows: len({row[-1] for row in rows}) == 2)


def fitted(rows, **parameters) -> tuple[TreeTemplates, list]:
    values = [list(row[:-1]) for row in rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some of these rows cannot be told apart
        return TreeTemplates(**parameters).fit(values, [row[-1] for row in rows]), values


def sets_of(templates) -> list[set[str]]:
    return [{name for name, _ in template.places} for template in templates]


def naive_features(templates: TreeTemplates, rows) -> list[set[str]]:
    """Features as strings, a template and a row after the other."""
    names = [f"x{j}" for j in range(len(rows[0]))]
    found = []
    for row in rows:
        value_of = dict(zip(names, row, strict=True))
        found.append(
            {
                " & ".join(f"{name}={value_of[name]}" for name, _ in template.places)
                for template in templates.templates_
                if all(value_of[name] is not None for name, _ in template.places)
            }
        )
    return found


def test_exclusive_or_is_found_as_a_pair_and_learned_by_a_linear_model():
    templates = TreeTemplates().fit(X, Y)
    assert {"x0", "x1"} in sets_of(templates.templates_)
    model = make_pipeline(TreeTemplates(), LogisticRegression())
    alone = make_pipeline(TreeTemplates(max_length=1), LogisticRegression())
    assert cross_val_score(model, X, Y).mean() == 1.0
    assert cross_val_score(alone, X, Y).mean() < 0.95  # three of the four cells


@given(data)
def test_a_training_row_has_one_feature_for_each_template_whose_values_it_has(rows):
    templates, values = fitted(rows, min_rows=1)
    codes = templates.codes(values)
    assert codes.shape == (len(rows), len(templates.templates_))
    complete = [all(value is not None for value in row) for row in values]
    assert (codes[complete] >= 0).all()
    assert templates.transform(values).sum(axis=1).A1.tolist() == (codes >= 0).sum(axis=1).tolist()


@given(data, data)
def test_features_are_those_that_strings_would_be(rows, others):
    templates, values = fitted(rows, min_rows=1)
    seen = set().union(*naive_features(templates, values))
    names = templates.get_feature_names_out()
    assert set(names) == seen
    assert len(names) == len(seen)
    rows_read = templates.transform([list(row[:-1]) for row in others])
    assert rows_read.has_sorted_indices
    for row, naive in enumerate(naive_features(templates, [row[:-1] for row in others])):
        here = rows_read.indices[rows_read.indptr[row] : rows_read.indptr[row + 1]]
        assert set(names[here]) == naive & seen


@given(data, st.integers(1, 3), st.booleans(), st.booleans())
def test_templates_are_different_sets(rows, max_length, backoff, singles):
    templates, _ = fitted(rows, max_length=max_length, backoff=backoff, singles=singles)
    sets = [frozenset(columns) for columns in sets_of(templates.templates_)]
    assert len(set(sets)) == len(sets) > 0
    assert all(len(columns) <= max_length for columns in sets)
    if singles or not templates.grown_:
        assert {frozenset({f"x{j}"}) for j in range(3)} <= set(sets)
    else:
        assert templates.templates_ == [one.template for one in templates.grown_]


def test_rarer_features_are_left_out():
    rows = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "x"]]
    templates = TreeTemplates(max_length=1, cutoff=2).fit(rows, list("KSSS"))
    assert sorted(templates.get_feature_names_out()) == ["x0=a", "x0=b", "x1=x"]
    assert templates.codes([["a", "y"]]).tolist()[0].count(-1) == 1


def test_an_explicit_parameter_wins_over_the_preset():
    chapter = TreeTemplates(preset="chapter").fit(X, Y)
    assert not any(one.backoff for one in chapter.grown_)
    assert chapter.templates_ == [one.template for one in chapter.grown_]
    with_singles = TreeTemplates(preset="chapter", singles=True).fit(X, Y)
    assert {"x2"} in sets_of(with_singles.templates_)
    assert not any(one.backoff for one in with_singles.grown_)
    with pytest.raises(InputError, match="preset is 'book'; it can be 'chapter' or None"):
        TreeTemplates(preset="book").fit(X, Y)


def test_a_seed_settles_a_forest_and_its_features():
    random = np.random.default_rng(0)
    rows = random.choice(list("abc"), (200, 6)).astype(object)
    labels = np.where((rows[:, 0] == "a") ^ (rows[:, 3] == "b"), "K", "S")
    forest = TreeTemplates(n_trees=5, columns_per_tree=3, random_state=1)
    first, again = forest.fit(rows, labels), clone(forest).fit(rows, labels)
    assert len(first.trees_) == 5
    assert first.templates_ == again.templates_
    assert (first.transform(rows) != again.transform(rows)).nnz == 0
    other = clone(forest).set_params(random_state=2).fit(rows, labels)
    assert other.grown_ != first.grown_


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([["x"]] * 4, list("KSKS")),
        ([["w"], ["x"], ["y"], ["z"]], list("KSKS")),
        ([[None]] * 4, list("KSKS")),
    ],
    ids=["one value", "a value a row", "unknown"],
)
@pytest.mark.parametrize("singles", [True, False])
def test_where_nothing_splits_single_columns_are_the_templates(rows, labels, singles):
    with pytest.warns(UserWarning, match="no column tells the classes apart"):
        templates = TreeTemplates(singles=singles).fit(rows, labels)
    assert templates.templates_ == [Template((("x0", 0),))]
    assert templates.grown_ == []
    assert templates.transform(rows).shape[0] == 4


def test_a_class_of_one_row_does_no_harm_and_a_single_class_is_refused():
    templates = TreeTemplates().fit([["x"], ["x"], ["y"], ["y"], ["z"]], list("KKSST"))
    assert templates.transform([["q"], ["z"]]).toarray().sum(axis=1).tolist() == [0, 1]
    with pytest.raises(InputError, match="one class only"):
        TreeTemplates().fit([["x"], ["y"]], ["K", "K"])


def test_frames_arrays_lists_and_tables_give_the_same():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = ["x0", "x1", "x2"]
    table = NominalTable.from_columns({n: X[:, j].tolist() for j, n in enumerate(names)}, labels=Y)
    wanted = TreeTemplates().fit(X, Y).transform(X)
    for rows, labels in (
        (X.tolist(), Y.tolist()),
        (pandas.DataFrame(X, columns=names), pandas.Series(Y)),
        (polars.DataFrame(X.tolist(), schema=names, orient="row"), Y),
        (table, None),
    ):
        templates = TreeTemplates().fit(rows, labels)
        assert (templates.transform(rows) != wanted).nnz == 0
        assert templates.n_features_in_ == 3


def test_the_plan_and_the_tree_can_be_read():
    templates = TreeTemplates().fit(X, Y)
    assert FeaturePlan.from_json(templates.plan_.to_json()) == templates.plan_
    assert templates.plan_.templates == tuple(templates.templates_)
    assert str(templates.tree_).startswith("x")
    assert templates.tree_ is templates.trees_[0]


def test_a_fitted_transformer_keeps_features_and_not_rows():
    many = TreeTemplates().fit(np.repeat(X, 50, axis=0), np.repeat(Y, 50))
    few = TreeTemplates().fit(X, Y)
    assert len(pickle.dumps(many)) < 1.1 * len(pickle.dumps(few))
    again = pickle.loads(pickle.dumps(few))
    assert (again.transform(X) != few.transform(X)).nnz == 0


def test_hashed_features_fill_a_fixed_number_of_columns():
    seen, hashed = TreeTemplates().fit(X, Y), TreeTemplates(hashed=16).fit(X, Y)
    assert hashed.transform(X).shape == (len(X), 1 << 16)
    assert len(hashed.get_feature_names_out()) == 1 << 16
    assert hashed.codes(X).shape == seen.codes(X).shape
    pairs = set(zip(seen.codes(X).ravel().tolist(), hashed.codes(X).ravel().tolist(), strict=True))
    assert len(pairs) == seen.transform(X).shape[1]
    assert hashed.codes([["maybe", "no", "no"]]).min() == -1


def test_a_hash_of_few_bits_counts_what_falls_together():
    table = NominalTable.from_columns({"a": list("xyz"), "b": list("uvw")})
    hashed = HashedFeatures(table, [Template((("a", 0),)), Template((("b", 0),))], bits=1)
    assert hashed.matrix(table).sum(axis=1).A1.tolist() == [2, 2, 2]
    assert hashed.matrix(table).has_canonical_format


def test_the_order_of_a_templates_columns_does_not_matter_to_the_hash():
    table = NominalTable.from_columns({"a": list("xyz"), "b": list("uvw")})
    forth, back = Template((("a", 0), ("b", 0))), Template((("b", 0), ("a", 0)))
    codes = HashedFeatures(table, [forth, back], bits=20).codes(table)
    assert (codes[:, 0] == codes[:, 1]).all()
    assert len(set(codes[:, 0])) == 3


def test_numbers_become_rows_without_strings():
    numbers = np.array([[0, 3], [-1, 4], [-1, -1]])
    wanted = [[1, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    assert rows_of_ones(numbers, 5).toarray().tolist() == wanted
    assert isinstance(rows_of_ones(numbers, 5), sparse.csr_matrix)


def language(n: int = 150, seed: int = 0):
    """Sentences in which the tags here and before settle the label together."""
    random = np.random.default_rng(seed)
    sentences, labels = [], []
    for _ in range(n):
        tags = random.integers(0, 3, int(random.integers(3, 9)))
        sentences.append([(f"w{random.integers(0, 20)}", "XYZ"[tag]) for tag in tags])
        before = [0, *tags[:-1]]
        labels.append(["PQ"[int(a == b)] for a, b in zip(before, tags, strict=True)])
    return sentences, labels


def test_templates_over_a_window_are_those_of_a_tagger():
    sentences, labels = language()
    table = table_of_sentences(sentences, labels, columns=["word", "tag"])
    grown = TreeTemplates(max_length=3).fit(window_table(table, 1))
    templates = sequence_templates(grown.templates_)
    assert {("tag", -1), ("tag", 0)} in [set(template.places) for template in templates]
    tagger = SequenceTagger(model="maxent", templates=list(templates)).fit(table)
    test, gold = language(40, seed=5)
    test_table = table_of_sentences(test, gold, columns=["word", "tag"])
    assert tagger.score(test_table) > 0.95


def test_the_template_file_says_the_same():
    sentences, labels = language()
    table = table_of_sentences(sentences, labels, columns=["word", "tag"])
    grown = TreeTemplates(max_length=2).fit(window_table(table, 1))
    lines = [line for line in read_templates(grown.to_crfpp()) if line.kind]
    read = templates_of_lines(lines, ["word", "tag"])
    assert [t.places for t in read[:-1]] == [t.places for t in sequence_templates(grown.templates_)]
    assert read[-1] == Template((), "B", "B")
    there = templates_of_lines(
        read_templates(grown.to_crfpp(columns=["word", "lemma", "tag"])), ["word", "lemma", "tag"]
    )
    assert [t.places for t in there] == [t.places for t in read]
    with pytest.raises(InputError, match="looks at column 'tag'; there are word"):
        grown.to_crfpp(columns=["word"])


def test_the_template_file_of_a_plain_table_has_no_label_pair():
    templates = TreeTemplates(preset="chapter", max_length=2).fit(X[:, :2], Y)
    lines = templates.to_crfpp().splitlines()
    assert lines[:2] == ["# column 0: x0", "# column 1: x1"]
    assert set(lines[2:]) <= {
        "U00:%x[0,0]/%x[0,1]", "U00:%x[0,1]/%x[0,0]", "U01:%x[0,0]", "U01:%x[0,1]",
    }  # fmt: skip


def test_vowpal_wabbit_learns_the_same_from_the_flags_and_the_file(tmp_path):
    templates = TreeTemplates().fit(X, Y)
    assert "--oaa 2" in templates.to_vw()
    assert "--interactions ab" in templates.to_vw() or "--interactions ba" in templates.to_vw()
    templates.write_vw(tmp_path / "rows.vw", X, Y)
    lines = (tmp_path / "rows.vw").read_text().splitlines()
    codes = [templates.classes_.tolist().index(label) + 1 for label in Y]
    assert [int(line.split()[0]) for line in lines] == codes
    templates.write_vw(tmp_path / "unlabelled.vw", X)
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    model, answers = tmp_path / "model", tmp_path / "answers"
    learn = vowpalwabbit.Workspace(
        f"{templates.to_vw()} --quiet -d {tmp_path / 'rows.vw'} -f {model}"
    )
    learn.finish()
    test = vowpalwabbit.Workspace(
        f"--quiet -t -i {model} -d {tmp_path / 'unlabelled.vw'} -p {answers}"
    )
    test.finish()
    assert [int(line) for line in answers.read_text().split()] == codes


def test_examples_of_a_table_have_its_labels_and_the_letters_of_the_fitted_columns(tmp_path):
    table = NominalTable.from_columns({"a": list("uuv"), "b": list("xyy")}, labels=list("TST"))
    templates = TreeTemplates(floor=0, prune=None, min_rows=1).fit(table)
    other = NominalTable.from_columns({"b": list("xz"), "a": list("uv")}, labels=list("TS"))
    templates.write_vw(tmp_path / "rows.vw", other)
    assert (tmp_path / "rows.vw").read_text() == "2 |a u |b x\n1 |a v\n"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"criterion": "gini"}, "criterion is 'gini'"),
        ({"max_length": 0}, "max_length is 0"),
        ({"max_length": 2.5}, "max_length is 2.5"),
        ({"prune": "cost"}, "prune is 'cost'"),
        ({"confidence": 0.0}, "confidence is 0.0"),
        ({"min_rows": 0}, "min_rows is 0"),
        ({"floor": -1}, "floor is -1"),
        ({"n_trees": 0}, "n_trees is 0"),
        ({"most": -1}, "most is -1"),
        ({"cutoff": 0}, "cutoff is 0"),
        ({"hashed": 40}, "hashed is 40"),
        ({"hashed": 10, "cutoff": 2}, "cannot have a cutoff"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(InputError, match=words):
        TreeTemplates(**parameters).fit(X, Y)


def test_the_pair_is_chosen_by_cross_validation_and_no_more():
    search = TreeTemplatesCV(max_lengths=(1, 2, 3), mosts=(None,), cv=3).fit(X, Y)
    assert search.best_params_ == {"max_length": 2, "most": None}
    assert search.best_score_ == search.score(X, Y) == 1.0
    lengths = {row["max_length"]: row for row in search.cv_results_}
    assert lengths[1]["mean"] < 0.95
    assert lengths[1]["features"] < lengths[2]["features"] <= lengths[3]["features"]
    assert search.predict_proba(X).shape == (len(X), 2)


def test_a_setting_cut_from_shared_trees_is_the_setting_by_itself():
    random = np.random.default_rng(2)
    rows = random.choice(list("abc"), (300, 4)).astype(object)
    labels = np.where((rows[:, 0] == "a") ^ (rows[:, 2] == "b"), "K", "S")
    how = TreeTemplates(floor=4, cutoff=2)
    table = NominalTable.from_columns(
        {f"x{j}": rows[:, j].tolist() for j in range(4)}, labels=labels.tolist()
    )
    learn, judge = table.take(np.arange(200)), table.take(np.arange(200, 300))
    settings = [(length, most) for length in (1, 2, 4) for most in (2, 5, None)]
    cells = [{"max_length": length, "most": most} for length, most in settings]
    codes = table.known_labels
    fold = FoldTemplates(table, codes, np.arange(200), np.arange(200, 300), how, cells)
    for length, most in settings:
        alone = clone(how).set_params(max_length=length, most=most).fit(learn)
        for ours, part in zip(
            fold.matrices({"max_length": length, "most": most}), (learn, judge), strict=True
        ):
            theirs = alone.transform(part)
            assert ours.shape == theirs.shape
            columns = [sorted(map(tuple, M.toarray().T)) for M in (ours, theirs)]
            assert columns[0] == columns[1]


def test_the_classifier_is_tuned_in_the_same_folds():
    search = TreeTemplatesCV(
        BernoulliNB(), max_lengths=(1, 2), mosts=(4,), cv=3, rule="best",
        param_grid={"alpha": [0.1, 1.0]},
    ).fit(X, Y)  # fmt: skip
    assert len(search.cv_results_) == 4
    assert search.best_params_["max_length"] == 2
    alpha = search.best_params_["classifier__alpha"]
    assert search.best_estimator_.named_steps["classifier"].alpha == alpha


def test_a_choice_that_was_stopped_goes_on_to_the_same_end(tmp_path):
    def stop_after_three(done, total, best):
        if done == 3:
            raise KeyboardInterrupt

    how = {"max_lengths": (1, 2), "mosts": (None,), "cv": 3, "journal": tmp_path / "journal"}
    with pytest.raises(KeyboardInterrupt):
        TreeTemplatesCV(progress=stop_after_three, **how).fit(X, Y)
    assert len(read_journal(tmp_path / "journal")[0]) == 3
    resumed = TreeTemplatesCV(**how).fit(X, Y)
    assert resumed.history_.replayed == 3
    whole = TreeTemplatesCV(**(how | {"journal": None})).fit(X, Y)
    assert resumed.cv_results_ == whole.cv_results_
    with pytest.raises(InputError, match="made by another search"):
        TreeTemplatesCV(**(how | {"templates": TreeTemplates(cutoff=2)})).fit(X, Y)


def test_processes_change_nothing_but_the_time():
    how = {"max_lengths": (1, 2), "mosts": (2, None), "cv": 2}
    alone, two = (TreeTemplatesCV(n_jobs=n, **how).fit(X, Y) for n in (1, 2))
    assert alone.cv_results_ == two.cv_results_


def test_folds_can_be_given_and_groups_are_kept_together():
    folds = np.arange(len(X)) % 2
    search = TreeTemplatesCV(max_lengths=(2,), mosts=(None,)).fit(X, Y, folds=folds)
    assert len(search.history_) == 2
    grouped = TreeTemplatesCV(max_lengths=(2,), mosts=(None,), cv=2)
    assert grouped.fit(X, Y, groups=np.arange(len(X)) // 10).best_score_ == 1.0
    with pytest.raises(InputError, match="rule is 'lowest'"):
        TreeTemplatesCV(rule="lowest").fit(X, Y)


def test_features_seen_and_their_numbers_agree():
    table = NominalTable.from_columns({"a": list("xyx"), "b": list("uuv")})
    seen = SeenFeatures(table, [Template((("a", 0), ("b", 0)))])
    assert seen.names() == ["a=x & b=u", "a=y & b=u", "a=x & b=v"]
    assert seen.codes(table).tolist() == [[0], [1], [2]]


def test_prepositional_phrases_are_attached_better_with_templates(data_folder):
    def rows_of(part):
        lines = (data_folder / "ppattach" / part).read_text(encoding="latin-1").splitlines()
        fields = [line.split() for line in lines]
        return [field[1:5] for field in fields], [field[5] for field in fields]

    train, held_out = rows_of("training"), rows_of("devset")
    right = {}
    for length in (1, 3):
        model = make_pipeline(
            TreeTemplates(max_length=length, cutoff=2), LogisticRegression(max_iter=200)
        )
        right[length] = model.fit(*train).score(*held_out)
    assert right[1] < 0.825
    assert right[3] > 0.835


def wide(n=600, n_columns=300, seed=0):
    """Many columns of 0 and 1, of which four matter."""
    bits = np.random.default_rng(seed).integers(0, 2, size=(n, n_columns))
    y = (bits[:, 7] & bits[:, 250]) | (bits[:, 100] & bits[:, 30])
    return bits.astype(str).astype(object), y


def test_of_a_wide_table_the_columns_are_looked_at_that_tell_most_by_themselves():
    rows, y = wide()
    templates = TreeTemplates(most_columns=20).fit(rows, y)
    looked_at = set().union(*sets_of(templates.templates_))
    assert len(looked_at) == 20
    assert {"x7", "x250", "x100", "x30"} <= looked_at
    assert {"x7", "x250"} in sets_of(templates.templates_)
    assert templates.transform(rows).getnnz(axis=1).max() <= 1000 + 20
    bagged = TreeTemplates(most_columns=20, n_trees=3, random_state=0).fit(rows, y)
    assert set().union(*sets_of(bagged.templates_)) <= looked_at


def test_a_table_that_is_not_wide_has_all_its_columns_looked_at():
    rows, y = wide(n_columns=251)
    every = TreeTemplates(most_columns=None).fit(rows, y)
    enough = TreeTemplates(most_columns=251).fit(rows, y)
    assert enough.grown_ == every.grown_
    assert enough.templates_ == every.templates_
    assert len(TreeTemplates().fit(rows, y).templates_) < len(every.templates_)


def test_templates_of_a_table_that_is_not_wide_are_bounded_by_its_rows(monkeypatch):
    monkeypatch.setattr(tree_templates_module, "_MOST_OF_WIDE", 12)
    monkeypatch.setattr(tree_templates_module, "_MOST_FEATURES", 600 * 15)

    def noise(n, n_columns):
        random = np.random.default_rng(0)
        return random.integers(0, 2, (n, n_columns)).astype(str).astype(object), np.arange(n) % 2

    def n_grown(n_columns, n=600, **settings):
        return len(TreeTemplates(prune=None, **settings).fit(*noise(n, n_columns)).grown_)

    # One column more makes it wide; either way there is a bound, which ``most`` takes off.
    assert (n_grown(200), n_grown(201)) == (15, 12)
    assert n_grown(200, most_columns=None) == 15
    assert n_grown(200, most=20) == n_grown(201, most=20) == 20
    assert (n_grown(200, n=300), n_grown(200, n=900)) == (30, 12)
    # In a fold of 300 rows there is room for 30.
    search = TreeTemplatesCV(
        templates=TreeTemplates(prune=None), max_lengths=(6,), mosts=(None, 30), cv=2
    ).fit(*noise(600, 50))
    assert search.cv_results_[0]["features"] == search.cv_results_[1]["features"]


def test_a_wide_search_looks_at_few_columns_in_every_fold():
    rows, y = wide()
    search = TreeTemplatesCV(
        templates=TreeTemplates(most_columns=10), max_lengths=(1, 2), mosts=(None,), cv=2
    ).fit(rows, y)
    assert search.best_params_["max_length"] == 2
    assert max(row["features"] for row in search.cv_results_) < 200
