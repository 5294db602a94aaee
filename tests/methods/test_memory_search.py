"""Searching features, metrics and parameters of a memory-based learner."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from featloom import MemoryClassifier, MemorySearch, NominalTable
from featloom.counts.values import WEIGHTS
from featloom.errors import InputError
from featloom.evaluation.folds import make_folds, splits
from featloom.learners.comparison import MODES, VOTES
from featloom.learners.pipelines import SMOOTHINGS
from featloom.methods.memory_search import evaluation as evaluation_module
from featloom.methods.memory_search.evaluation import FitEvaluation
from featloom.methods.memory_search.search import STRATEGIES
from featloom.methods.memory_search.settings import Setting, SettingSpace

NAMES = ["focus", "left", "right", "noise"]
# What keeps each strategy short.
OPTIONS = {"genetic": {"population": 6, "generations": 6}}
BUDGET = {"optuna": 15, "guided": 25, "local": 25}


def letters(n=150, seed=0):
    """The right-hand letter decides about "c"; some noise; classes met in no sorted order."""
    rng = np.random.default_rng(seed)
    X = np.array(list("ckgszt"), dtype=object)[rng.integers(0, 6, (n, 4))]
    soft = (X[:, 0] == "c") & np.isin(X[:, 2], ["s", "z"])
    y = np.where(soft, "S", np.char.upper(X[:, 0].astype(str)))
    y = np.where(rng.random(n) < 0.15, "Z", y)
    return pd.DataFrame(X, columns=NAMES), y


X, Y = letters()
X_VALID, Y_VALID = letters(80, seed=1)


def searching(strategy="genetic", **parameters):
    options = OPTIONS.get(strategy)
    chosen = {"ks": (1, 3), "trials": BUDGET.get(strategy), "options": options, "random_state": 0}
    return MemorySearch(strategy=strategy, **(chosen | parameters))


def assert_best_is_of_the_space(search, ks=(1, 3), weights=WEIGHTS):
    best = search.best_setting_
    assert best["k"] in ks
    assert best["weights"] in weights
    assert best["vote"] in VOTES
    assert list(best["modes"]) == NAMES
    assert set(best["modes"].values()) <= set(MODES)
    assert set(best["modes"].values()) != {"ignore"}


@pytest.mark.parametrize("compat", [None, "timbl"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_score_of_the_best_setting_is_that_of_a_classifier_set_to_it(strategy, compat):
    parameters = {"weights": ("none", "gain_ratio"), "compat": compat}
    search = searching(strategy, **parameters).fit(X, Y, X_VALID, Y_VALID)
    assert_best_is_of_the_space(search, weights=("none", "gain_ratio"))
    best = search.best_setting_
    learner = MemoryClassifier(
        k=best["k"], weights=best["weights"], metric=best["modes"], vote=best["vote"], compat=compat
    ).fit(X, Y)
    assert search.best_score_ == pytest.approx(learner.score(X_VALID, Y_VALID), abs=1e-12)
    assert search.predict(X_VALID).tolist() == learner.predict(X_VALID).tolist()
    assert search.predict_proba(X_VALID).tolist() == learner.predict_proba(X_VALID).tolist()


def test_every_score_of_the_history_is_that_of_a_classifier():
    search = searching("genetic", vote="inverse_linear", mvdm_threshold=2, trials=12)
    search.fit(X, Y, X_VALID, Y_VALID)
    for evaluation in search.history_:
        for k, score in evaluation.result["scores"]:
            metric = [evaluation.candidate[name] for name in NAMES]
            learner = MemoryClassifier(
                k=k, weights=evaluation.candidate["weights"], metric=metric, compat="timbl",
                vote="inverse_linear", mvdm_threshold=2,
            )  # fmt: skip
            assert score == pytest.approx(learner.fit(X, Y).score(X_VALID, Y_VALID), abs=1e-12)


def test_without_validation_data_the_score_is_that_of_cross_validation():
    search = searching("genetic", cv=3, trials=15, random_state=4).fit(X, Y)
    best = search.best_setting_
    right = 0
    fold_of = make_folds(np.unique(Y, return_inverse=True)[1], n_folds=3, seed=4)
    for train, held_out in splits(fold_of):
        learner = MemoryClassifier(
            k=best["k"],
            weights=best["weights"],
            metric=best["modes"],
            vote=best["vote"],
            compat="timbl",
        ).fit(X.iloc[train], Y[train])
        right += (learner.predict(X.iloc[held_out]) == Y[held_out]).sum()
    assert search.best_score_ == pytest.approx(right / len(Y), abs=1e-12)


def test_ties_are_settled_as_the_classifier_settles_them():
    # Of classes that are equally frequent the one met first wins, not the first of the alphabet.
    train, valid = [["c"], ["c"], ["k"], ["k"]], [["c"], ["k"], ["?"]]
    search = MemorySearch(strategy="grid", ks=(1,), compat=None)
    search.fit(train, ["Z", "A", "Z", "A"], valid, ["Z", "Z", "Z"])
    assert search.best_score_ == search.score(valid, ["Z", "Z", "Z"]) == 1.0


def test_every_setting_is_tried_by_the_exhaustive_search_and_none_is_better():
    found = searching("exhaustive", weights=("none", "chi_squared")).fit(X, Y, X_VALID, Y_VALID)
    assert len(found.history_) == 2 * (3**4 - 1)
    assert found.best_score_ == max(e.score for e in found.history_)
    for strategy in STRATEGIES:
        other = searching(strategy, weights=("none", "chi_squared"))
        assert other.fit(X, Y, X_VALID, Y_VALID).best_score_ <= found.best_score_


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_seed_gives_the_same_history_with_any_number_of_threads(strategy):
    runs = [
        searching(strategy, n_jobs=jobs, random_state=3).fit(X, Y, X_VALID, Y_VALID)
        for jobs in (None, 2)
    ]
    histories = [[(e.candidate, e.result) for e in run.history_] for run in runs]
    assert histories[0] == histories[1]
    assert runs[0].best_setting_ == runs[1].best_setting_


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_weighting_with_its_modes_is_evaluated_once_ever(strategy, tmp_path, monkeypatch):
    calls = []
    evaluate = FitEvaluation.__call__

    def counted(self, candidate):
        calls.append(tuple(candidate.items()))
        return evaluate(self, candidate)

    monkeypatch.setattr(FitEvaluation, "__call__", counted)
    path = tmp_path / "search.journal"
    first = searching(strategy, journal=path).fit(X, Y, X_VALID, Y_VALID)
    n_calls = len(calls)
    default = tuple({"weights": "gain_ratio", **dict.fromkeys(NAMES, "overlap")}.items())
    assert set(calls) == {tuple(e.candidate.items()) for e in first.history_} | {default}
    assert n_calls == len(set(calls))
    again = searching(strategy, journal=path).fit(X, Y, X_VALID, Y_VALID)
    assert len(calls) == n_calls
    assert again.history_.replayed == len(again.history_)
    assert again.best_setting_ == first.best_setting_
    # Another strategy finds there what it shares with the first.
    searching("grid", journal=path).fit(X, Y, X_VALID, Y_VALID)
    assert len(calls) == len(set(calls))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_keeps_less_than_the_default_or_the_best_it_came_by(strategy):
    search = searching(strategy, trials=2).fit(X, Y, X_VALID, Y_VALID)
    default = MemoryClassifier(compat="timbl").fit(X, Y).score(X_VALID, Y_VALID)
    assert search.best_score_ >= max(default, *(e.score for e in search.history_)) - 1e-12
    assert len(search.history_) == 2


@pytest.mark.parametrize("strategy", ["genetic", "forward", "backward"])
def test_what_a_strategy_of_the_paper_ended_with_can_be_kept_as_it_is(strategy):
    kept = searching(strategy, keep="strategy", vote="count").fit(X, Y, X_VALID, Y_VALID)
    best = searching(strategy, vote="count").fit(X, Y, X_VALID, Y_VALID)
    histories = [[(e.candidate, e.result) for e in one.history_] for one in (kept, best)]
    assert histories[0] == histories[1]
    assert kept.trajectory_ == best.trajectory_
    assert kept.best_score_ == kept.trajectory_[-1] <= best.best_score_
    assert "votes" not in kept.history_[0].result


def test_the_vote_that_is_best_is_found_and_may_be_held_fixed():
    """The nearest case is right, and outvoted by those that lie farther."""
    rows = [["a", "b", str(i)] for i in range(20)] + [["a", "c", str(i)] for i in range(30)]
    classes = ["near"] * 20 + ["far"] * 30
    asked, gold = [["a", "b", "?"], ["a", "c", "?"]], ["near", "far"]
    given = {"ks": (21,), "weights": ("none",), "modes": ("overlap",), "strategy": "grid"}
    search = MemorySearch(**given, compat=None).fit(rows, classes, asked, gold)
    assert (search.best_score_, search.best_setting_["vote"]) == (1.0, "inverse_distance")
    assert search.best_estimator_.vote == "inverse_distance"
    assert search.history_[0].result["votes"]["count"] == [0.5]
    fixed = MemorySearch(**given, compat=None, vote="count").fit(rows, classes, asked, gold)
    assert (fixed.best_score_, fixed.best_setting_["vote"]) == (0.5, "count")
    some = MemorySearch(**given, compat=None, votes=("count", "inverse_linear"))
    assert some.fit(rows, classes, asked, gold).best_setting_["vote"] == "inverse_linear"


def lost(learner, frame, classes):
    """The mean log-loss of a fitted learner; a class that it does not know has half a row."""
    p = np.full(len(classes), 0.5 / (len(learner._labels) + 1))
    place_of = {name: place for place, name in enumerate(learner.classes_.tolist())}
    for row, shares in enumerate(learner.predict_proba(frame)):
        if classes[row] in place_of:
            p[row] = shares[place_of[classes[row]]]
    return -np.log(p).mean()


@pytest.mark.parametrize("compat", [None, "timbl"])
@pytest.mark.parametrize("votes_held", [evaluation_module._VOTES_HELD, 1000])
def test_by_log_loss_every_score_is_that_of_the_best_smoothing(compat, votes_held, monkeypatch):
    monkeypatch.setattr(evaluation_module, "_VOTES_HELD", votes_held)  # whole, and in pieces
    classes = np.array([*Y_VALID[:-2], "new", "new"])
    how = {"scoring": "log_loss", "compat": compat, "decay": "scale", "trials": 3}
    search = searching("grid", **how).fit(X, Y, X_VALID, classes)
    for evaluation in search.history_:
        result = evaluation.result
        for vote, values in result["votes"].items():
            smoothings = result["smoothings"][vote]
            for k, value, smoothing in zip((1, 3), values, smoothings, strict=True):
                settings = [
                    MemoryClassifier(
                        k=k, weights=evaluation.candidate["weights"], vote=vote, decay="scale",
                        metric=[evaluation.candidate[name] for name in NAMES], compat=compat,
                        smoothing=other,
                    ).fit(X, Y)
                    for other in SMOOTHINGS
                ]  # fmt: skip
                losses = [lost(learner, X_VALID, classes) for learner in settings]
                assert -value == pytest.approx(min(losses), abs=1e-9)
                assert losses[SMOOTHINGS.index(smoothing)] == pytest.approx(min(losses), abs=1e-9)
        for place, (k, score) in enumerate(result["scores"]):
            assert score == max(values[place] for values in result["votes"].values())
            if k == result["k"]:
                assert result["smoothing"] == result["smoothings"][result["vote"]][place]
                assert result["score"] == score == max(one for _, one in result["scores"])


@pytest.mark.parametrize("keep", ["best", "strategy"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_by_log_loss_the_best_setting_is_fitted_with_its_smoothing(strategy, keep, tmp_path):
    how = {"scoring": "log_loss", "keep": keep, "weights": ("none", "gain_ratio")}
    how["journal"] = tmp_path / "search.journal"
    search = searching(strategy, **how).fit(X, Y, X_VALID, Y_VALID)
    best = search.best_setting_
    assert list(best) == ["k", "weights", "vote", "modes", "smoothing"]
    assert best["smoothing"] == search.best_estimator_.smoothing
    assert best["smoothing"] in SMOOTHINGS
    assert -search.best_score_ == pytest.approx(lost(search.best_estimator_, X_VALID, Y_VALID))
    shares = search.predict_proba(X_VALID)
    assert search.predict(X_VALID).tolist() == search.classes_[shares.argmax(axis=1)].tolist()
    again = searching(strategy, **how).fit(X, Y, X_VALID, Y_VALID)
    assert again.history_.replayed == len(again.history_)
    assert again.best_setting_ == best
    plain = searching(strategy, weights=("none", "gain_ratio")).fit(X, Y, X_VALID, Y_VALID)
    assert list(plain.best_setting_) == ["k", "weights", "vote", "modes"]
    assert plain.best_estimator_.smoothing == 0


def test_by_log_loss_over_folds_every_fold_has_its_own_class_shares():
    classes = np.array([*Y[:-1], "once"])
    how = {"cv": 3, "random_state": 4, "scoring": "log_loss", "vote": "count", "trials": 4}
    search = searching("grid", **how).fit(X, classes)
    best, losses = search.best_setting_, 0.0
    codes = np.unique(classes, return_inverse=True)[1]
    for train, held_out in splits(make_folds(codes, n_folds=3, seed=4, allow_rare=True)):
        learner = MemoryClassifier(
            k=best["k"], weights=best["weights"], metric=best["modes"], compat="timbl",
            smoothing=best["smoothing"],
        ).fit(X.iloc[train], classes[train])  # fmt: skip
        losses += lost(learner, X.iloc[held_out], classes[held_out]) * len(held_out)
    assert -search.best_score_ == pytest.approx(losses / len(Y))


def test_by_log_loss_a_search_prefers_probabilities_that_admit_doubt():
    """Each case is met twice, and one class in five is a slip: the nearest alone is too sure."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 3, (500, 4)).astype(str)
    classes = np.where(rng.random(500) < 0.2, "slip", np.where(rows[:, 0] == "0", "a", "b"))
    found = {
        scoring: MemorySearch(
            strategy="local", ks=(1, 5, 9), trials=20, compat=None, scoring=scoring, random_state=0
        ).fit(rows[:300], classes[:300])
        for scoring in ("accuracy", "log_loss")
    }
    of_loss, of_accuracy = found["log_loss"].best_estimator_, found["accuracy"].best_estimator_
    smoothed = min(
        lost(of_accuracy.set_params(smoothing=value), rows[300:], classes[300:])
        for value in SMOOTHINGS
    )
    assert lost(of_loss, rows[300:], classes[300:]) < smoothed + 0.01
    # Chance has the entropy of the classes.
    chance = -sum((classes == name).mean() * np.log((classes == name).mean()) for name in "ab")
    assert lost(of_loss, rows[300:], classes[300:]) < chance


def test_the_trajectory_never_falls_and_ends_at_the_best_of_all_ks():
    search = searching("local").fit(X, Y, X_VALID, Y_VALID)
    assert len(search.trajectory_) == len(search.history_)
    assert search.trajectory_ == sorted(search.trajectory_)
    assert search.trajectory_[-1] == search.best_score_


def test_a_journal_of_other_data_or_another_search_is_refused(tmp_path):
    path = tmp_path / "search.journal"
    searching("grid", journal=path).fit(X, Y, X_VALID, Y_VALID)
    with pytest.raises(InputError, match=r"was made from other data \(fingerprint \w+, not \w+\)"):
        searching("grid", journal=path).fit(X, Y[::-1], X_VALID, Y_VALID)
    with pytest.raises(InputError, match="was made from other data"):
        searching("grid", journal=path).fit(X, Y, X_VALID[::-1], Y_VALID)
    with pytest.raises(InputError, match="was made from other data"):
        searching("grid", journal=path).fit(X, Y)
    for other in (
        {"ks": (1, 5)}, {"vote": "inverse_distance"}, {"compat": None}, {"scoring": "log_loss"},
    ):  # fmt: skip
        with pytest.raises(InputError, match="was made by another search"):
            searching("grid", journal=path, **other).fit(X, Y, X_VALID, Y_VALID)
    # Another seed is another set of folds.
    path = tmp_path / "folds.journal"
    searching("grid", journal=path, cv=2).fit(X, Y)
    with pytest.raises(InputError, match="was made from other data"):
        searching("grid", journal=path, cv=2, random_state=1).fit(X, Y)


def test_over_features_searches_modes_alone():
    search = searching("exhaustive", over="features").fit(X, Y, X_VALID, Y_VALID)
    assert len(search.history_) == 3**4 - 1
    assert {e.candidate["weights"] for e in search.history_} == {"gain_ratio"}
    assert search.best_setting_["k"] == 1


@pytest.mark.parametrize("strategy", ["genetic", "exhaustive"])
def test_over_parameters_treats_all_features_alike(strategy):
    search = searching(strategy, over="parameters").fit(X, Y, X_VALID, Y_VALID)
    assert len(search.history_) == len(WEIGHTS) * 2
    for evaluation in search.history_:
        assert len({evaluation.candidate[name] for name in NAMES}) == 1


def test_together_is_at_least_as_good_as_each_alone_when_all_is_tried():
    alone = [
        searching("exhaustive", over=over, vote="count").fit(X, Y, X_VALID, Y_VALID).best_score_
        for over in ("features", "parameters")
    ]
    together = searching("exhaustive", vote="count").fit(X, Y, X_VALID, Y_VALID)
    assert together.best_score_ >= max(alone)
    assert together.best_setting_["modes"]["noise"] == "ignore"


def test_groups_are_not_split_between_folds():
    # Every document is one case eight times over; split, a memory would know it by heart.
    rng = np.random.default_rng(0)
    documents = np.repeat(np.arange(20), 8)
    cases = rng.integers(0, 3, (20, 8)).astype(str)[documents]
    classes = rng.integers(0, 2, 20)[documents]
    parameters = {"ks": (1,), "weights": ("none",), "modes": ("overlap",), "cv": 4}
    split = searching("grid", **parameters).fit(cases, classes)
    whole = searching("grid", **parameters).fit(cases, classes, groups=documents)
    assert split.best_score_ == 1.0
    assert whole.best_score_ < 0.9


def test_a_class_or_a_value_that_only_the_validation_data_has_is_simply_never_right():
    unheard = pd.DataFrame([["?"] * 4], columns=NAMES)
    search = searching("grid").fit(X, Y, pd.concat([unheard, X]), ["?", *Y])
    assert 0 < search.best_score_ <= len(Y) / (len(Y) + 1)


def test_a_class_seen_once_does_not_stand_in_the_way_of_cross_validation():
    classes = [*Y[:-1], "once"]
    search = searching("grid", cv=3).fit(X, classes)
    assert "once" in search.classes_
    assert search.best_score_ <= (len(Y) - 1) / len(Y)


def test_tables_carry_their_labels():
    def columns(frame):
        return {name: frame[name].tolist() for name in NAMES}

    train = NominalTable.from_columns(columns(X), labels=Y.tolist())
    valid = NominalTable.from_columns(columns(X_VALID), labels=Y_VALID.tolist())
    expected = searching("grid").fit(X, Y, X_VALID, Y_VALID)
    bare = NominalTable.from_columns(columns(X))
    for search in (
        searching("grid").fit(train, X_valid=valid),
        searching("grid").fit(bare, Y, valid),
        searching("grid").fit(train, X_valid=NominalTable.from_columns(columns(X_VALID)),
                              y_valid=Y_VALID),
    ):  # fmt: skip
        assert search.best_score_ == expected.best_score_
        assert search.best_setting_ == expected.best_setting_


def test_where_only_a_column_that_says_nothing_is_left_the_most_frequent_class_is_the_answer():
    noise = np.random.default_rng(0).integers(0, 40, (60, 2)).astype(str)
    cases = np.column_stack([np.full(60, "same"), noise])
    classes = np.where(np.arange(60) % 4, "often", "seldom")
    search = MemorySearch(
        strategy="exhaustive", over="features", cv=2, modes=("ignore", "overlap"), compat=None
    ).fit(cases, classes)
    assert search.best_setting_["modes"] == {"x0": "overlap", "x1": "ignore", "x2": "ignore"}
    assert search.best_score_ == 0.75
    assert set(search.predict(cases)) == {"often"}


LIST = "it must be a list of different values, each of them"
COUNT = "a whole number from 1 to 2,147,483,647"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            {"strategy": "magic"},
            "strategy is 'magic'; it can be 'guided', 'local', 'genetic', 'forward', 'backward', "
            "'grid', 'exhaustive' or 'optuna'",
        ),
        ({"ks": ()}, f"ks is (); {LIST} {COUNT}"),
        ({"ks": (1, 1)}, f"ks is (1, 1); {LIST} {COUNT}"),
        ({"ks": (0,)}, f"ks is (0,); {LIST} {COUNT}"),
        ({"ks": ("3",)}, f"ks is ('3',); {LIST} {COUNT}"),
        ({"ks": (1.5,)}, f"ks is (1.5,); {LIST} {COUNT}"),
        (
            {"weights": ("gain",)},
            f"weights is ('gain',); {LIST} 'none', 'gain_ratio', 'information_gain', "
            "'chi_squared' or 'shared_variance'",
        ),
        ({"modes": ("ignore",)}, "modes offers nothing but 'ignore'; nothing is left to compare"),
        ({"modes": ()}, f"modes is (); {LIST} 'ignore', 'overlap' or 'mvdm'"),
        ({"votes": ()}, f"votes is (); {LIST} 'count', 'inverse_distance', "
                        "'inverse_linear' or 'exponential'"),
        ({"votes": ("x",)}, f"votes is ('x',); {LIST} 'count', 'inverse_distance', "
                            "'inverse_linear' or 'exponential'"),
        ({"vote": "x"}, "vote is 'x'; it can be 'count', 'inverse_distance', 'inverse_linear', "
                        "'exponential' or None"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(wrong, words):
    with pytest.raises(InputError) as error:
        MemorySearch(**wrong).fit(X, Y, X_VALID, Y_VALID)
    assert str(error.value) == words


def test_options_that_a_strategy_does_not_have_are_named():
    with pytest.raises(InputError, match=r"options of strategy 'genetic': .*'speed'"):
        MemorySearch(strategy="genetic", options={"speed": 3}).fit(X, Y)


def test_validation_labels_must_be_as_many_as_the_cases():
    with pytest.raises(InputError, match="y_valid has 1 labels, X_valid has 80 rows"):
        searching("grid").fit(X, Y, X_VALID, ["K"])
    with pytest.raises(InputError, match="X_valid carries no labels, and y_valid is None"):
        searching("grid").fit(X, Y, X_VALID)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("offered", [("ignore", "mvdm"), ("overlap", "mvdm"), ("mvdm",)])
def test_a_strategy_keeps_to_the_modes_that_are_offered(strategy, offered):
    search = searching(strategy, modes=offered, weights=("none", "gain_ratio"))
    if strategy == "forward" and "ignore" not in offered:
        with pytest.raises(InputError) as error:
            search.fit(X, Y, X_VALID, Y_VALID)
        words = "strategy 'forward' begins with no feature; modes must offer 'ignore'"
        assert str(error.value) == words
        return
    search.fit(X, Y, X_VALID, Y_VALID)
    for evaluation in search.history_:
        assert {evaluation.candidate[name] for name in NAMES} <= set(offered)


def test_columns_may_have_the_names_of_parameters():
    frame = X.rename(columns={"focus": "k", "left": "weights", "right": "mode of k"})
    search = searching("genetic", trials=10).fit(frame, Y, X_VALID.set_axis(frame.columns, axis=1),
                                                 Y_VALID)  # fmt: skip
    assert list(search.best_setting_["modes"]) == ["k", "weights", "mode of k", "noise"]
    space = SettingSpace(frame.columns.tolist())
    assert len(space.candidate("none", ["mvdm"] * 4)) == 1 + 4
    chosen = ("ignore", "overlap", "mvdm", "mvdm")
    assert space.modes_of(space.candidate("none", chosen, k=3)) == chosen


def test_a_setting_is_written_in_short():
    setting = Setting(3, "none", ("mvdm", "ignore"))
    assert setting.short() == "k=3 none M –"
    assert setting.as_dict(["a", "b"]) == {
        "k": 3, "weights": "none", "vote": "count", "modes": {"a": "mvdm", "b": "ignore"},
    }  # fmt: skip
    assert setting._replace(vote="exponential").short() == "k=3 none exponential M –"
