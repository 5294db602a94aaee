"""What is a searched setting worth on this data?  One protocol, one answer.

Settings are searched on validation rows, or by cross-validation, and reported on test rows, which
are scored once (``parts.py`` says which rows these are).  Three settings are compared by McNemar's
test: the default (k = 1, gain ratio, overlap), the best of the paper's exhaustive grid, in which
all features are treated alike, and the one that the search found.

The grid lies within what is searched together.  Where its best did better on what was searched than
what the strategy found, it is kept, unless the search is to keep what the strategy ended with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.evaluation.objective import LEVEL
from featloom.learners.memory import MemoryClassifier
from featloom.methods.memory_search.findings import (
    cases,
    curves,
    mcnemar_matrix,
    setting_row,
    trajectory,
)
from featloom.methods.memory_search.parts import Parts
from featloom.methods.memory_search.search import DEFAULT, MemorySearch
from featloom.methods.memory_search.settings import Setting, SettingSpace
from featloom.words import counted, p_words, percent, points

CASES = 5
BY_DEFAULT = "default"
BY_GRID = "best uniform setting"
_METHODS = {"grid": "EX", "genetic": "GA", "backward": "BA", "forward": "FO"}


def study_memory(
    parts: Parts,
    search: MemorySearch,
    *,
    task: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], MemoryClassifier]:
    """The parts of a result that speak of the data and the settings; and the learner kept.

    Parameters
    ----------
    search : as it is to be done, not yet fitted; by accuracy.  With ``keep="strategy"`` what it
        ends with is kept, though the best of the grid be better.
    task : what the data are called.
    say : is told what is being done.
    """
    if search.scoring != "accuracy":
        raise InputError(
            f"scoring is {search.scoring!r}; a study compares settings by their accuracy"
        )
    if parts.valid is None:
        _check_rare(parts.train, search.cv)
    say("the grid (first use compiles)")
    grid = _grid(search).fit(parts.train, X_valid=parts.valid)
    found = grid
    # With all features alike and nothing but the parameters to choose, the grid is the search.
    is_grid = search.over == "parameters" or (search.strategy, search.over) == ("grid", "together")
    if not is_grid:
        say(f"searching ({search.strategy})")
        found = search.fit(parts.train, X_valid=parts.valid)
    say("comparing the settings on the test part")
    space = SettingSpace(parts.train.columns, grid.ks, grid.weights, grid.modes, _votes(grid))
    tried = [_tried_default(grid, space, parts), _tried(BY_GRID, grid, parts, parameters_by="grid")]
    if not is_grid:
        name = f"found by {search.strategy} search"
        chosen = {"features_by": search.strategy}
        if search.over == "together":
            chosen["parameters_by"] = search.strategy
        tried.append(_tried(name, found, parts, **chosen))
    place, kept = len(tried) - 1, found
    may_be_grid = search.over == "together" and search.keep == "best"
    if may_be_grid and grid.best_score_ > found.best_score_:
        place, kept = 1, grid
    gold = parts.test.row_classes(parts.train.class_type)
    rows = [one.row(gold) for one in tried]
    tests = mcnemar_matrix([one.name for one in tried], [one.answers for one in tried], gold)
    result = {
        "kind": "memory",
        "data": _data_part(parts),
        "protocol": parts.words,
        "parameters": _parameters(search, parts),
        "best_setting": kept.best_setting_,
        "best_score": kept.best_score_,
        "test_score": rows[place]["test"],
        "evaluations": len(found.history_),
        "stopped": found.history_.stopped,
        "metric": "accuracy",
        "verdict": verdict(rows, tests, place),
        "significant": tests["p"][place][0] < LEVEL,
        "memory": [
            {
                "task": task,
                "features": list(parts.train.columns),
                "sizes": parts.sizes(),
                "settings": rows,
                "curves": curves(grid.history_, space),
                "trajectories": [] if is_grid else [trajectory(search.strategy, found.history_)],
                "mcnemar": tests,
                "found": rows[place],
                "neighbours": cases(kept.best_estimator_, parts.test, n=CASES),
            }
        ],
    }
    return result, kept.best_estimator_


def _grid(search: MemorySearch) -> MemorySearch:
    """The paper's exhaustive search over the same values, whatever is searched afterwards."""
    grid = clone(search).set_params(
        strategy="grid", over="together", options=None, budget=None, trials=None
    )
    if search.over == "features" and search.journal is not None:
        # It chooses from other values, and a journal is of one search.
        grid.set_params(journal=Path(search.journal).with_name("grid.journal"))
    return grid


def _votes(search: MemorySearch) -> tuple[str, ...]:
    return tuple(search.votes) if search.vote is None else (search.vote,)


@dataclass(frozen=True)
class _Tried:
    """A setting, what it was worth on the validation rows, and its answers on the test rows."""

    name: str
    setting: Setting
    validation: float
    answers: np.ndarray
    fits: int
    chosen: dict[str, Any]

    def row(self, gold: np.ndarray) -> dict[str, Any]:
        return setting_row(
            self.name,
            self.setting,
            validation=self.validation,
            test=float((self.answers == gold).mean()),
            fits=self.fits,
            **self.chosen,
        )


def _tried(name: str, search: MemorySearch, parts: Parts, **chosen: Any) -> _Tried:
    best = search.best_setting_
    setting = Setting(best["k"], best["weights"], tuple(best["modes"].values()), best["vote"])
    answers = search.best_estimator_.predict(parts.test)
    chosen["method"] = _METHODS.get(search.strategy, search.strategy)
    return _Tried(name, setting, search.best_score_, answers, len(search.history_), chosen)


def _tried_default(grid: MemorySearch, space: SettingSpace, parts: Parts) -> _Tried:
    setting = DEFAULT._replace(modes=("overlap",) * len(space.columns))
    if grid.vote is not None:
        setting = setting._replace(vote=grid.vote)
    candidate = space.candidate(setting.weights, setting.modes)
    score = None
    if setting.k in space.ks and setting.vote in space.votes:
        place = space.ks.index(setting.k)
        for evaluation in grid.history_:
            if evaluation.candidate == candidate:
                by_vote = evaluation.result.get("votes", {})
                accuracies = [accuracy for _, accuracy in evaluation.result["scores"]]
                score = by_vote.get(setting.vote, accuracies)[place]
    if score is None:  # the grid was narrowed to other values
        alone = clone(grid).set_params(
            ks=[setting.k], weights=[setting.weights], modes=["overlap"], vote=setting.vote,
            journal=None,
        )  # fmt: skip
        score = alone.fit(parts.train, X_valid=parts.valid).best_score_
    classifier = MemoryClassifier(
        vote=setting.vote, decay=grid.decay, mvdm_threshold=grid.mvdm_threshold,
        compat=grid.compat, n_jobs=grid.n_jobs,
    )  # fmt: skip
    answers = classifier.fit(parts.train).predict(parts.test)
    return _Tried(BY_DEFAULT, setting, score, answers, 1, {"method": "DE"})


def _check_rare(train: NominalTable, folds: int) -> None:
    for name, rows in zip(train.classes, np.bincount(train.label_codes).tolist(), strict=False):
        if 0 < rows < folds:
            raise InputError(
                f"class {name!r} has {counted(rows, 'row')} outside the test part, too few "
                f"for {folds} folds; give fewer folds, or a validation part in their place"
            )


def _data_part(parts: Parts) -> dict[str, Any]:
    tables = [table for table in (parts.train, parts.valid, parts.test) if table is not None]
    sizes: dict[str, int] = {}
    for table in tables:
        counts = np.bincount(table.label_codes, minlength=len(table.classes)).tolist()
        for name, count in zip(table.classes, counts, strict=True):
            if count:
                sizes[name] = sizes.get(name, 0) + count
    train = parts.train
    return {
        "source": train.source,
        "rows": sum(map(len, tables)),
        "features": len(train.columns),
        "target": train.target,
        "classes": sizes,
        "groups": train.n_groups,
        "families": [
            {"name": name, "features": len(np.unique(train.codes[:, j])), "single_valued": True}
            for j, name in enumerate(train.columns)
        ],
    }


def _parameters(search: MemorySearch, parts: Parts) -> dict[str, Any]:
    """How it was done, for the page; what was not asked for is left out."""
    aside = {"journal", "progress", "n_jobs", "random_state"}
    aside |= set() if parts.valid is None else {"cv"}
    given = search.get_params()
    said = {k: v for k, v in given.items() if k not in aside and v is not None}
    return {"protocol": parts.words, **said}


def verdict(rows: list[dict[str, Any]], tests: dict[str, Any], kept: int = -1) -> str:
    """What a reader may conclude, in plain words.

    Parameters
    ----------
    rows : the default, the best uniform setting and, where something else was searched, what the
        search found.
    tests : McNemar's test of every two of them.
    kept : the place of the setting that is kept: the last, or that of the best uniform one.
    """
    kept %= len(rows)
    best, last = rows[kept], len(rows) - 1
    right = f"{_described(best, last)} is right on {percent(best['test'])} of the test rows"
    valid, uniform = rows[-1]["validation"], rows[1]["validation"]
    if _same(best, rows[0]):
        return f"{right}; it is the default: the search found nothing better."
    joint = ", " if tests["p"][kept][0] < LEVEL else "; "
    said = f"{right}{joint}{_against(rows, tests, kept, 0, 'the default')}"
    if last == 1:
        return f"{said}."
    if kept == 1:
        return (
            f"{said}. It is kept, because the search fell short of it: on what was searched it is "
            f"right on {percent(uniform)}, the setting {rows[-1]['name']} on {percent(valid)}."
        )
    if _same(best, rows[1]):
        return f"{said}; it is the best uniform setting: the search found nothing better."
    said += f"; {_against(rows, tests, last, 1, 'the best uniform setting')}."
    if valid is not None and valid < uniform:
        said += (
            " The search fell short: on what it searched, the best uniform setting is right on "
            f"{percent(uniform)}, the found one on {percent(valid)}."
        )
    return said


def _described(row: dict[str, Any], last: int) -> str:
    """A setting as the subject of a sentence: what it is called, and what it consists of."""
    used = sum(mode != "ignore" for mode in row["modes"])
    name = row["name"] if last == 1 or row["name"] == BY_GRID else "found setting"
    vote = "" if row["vote"] == "count" else f"vote by {row['vote'].replace('_', ' ')}, "
    return (
        f"The {name} (k = {row['k']}, {_weighting(row['weights'])}, {vote}{used} of "
        f"{len(row['modes'])} features)"
    )


def _weighting(name: str) -> str:
    return "no weights" if name == "none" else name.replace("_", " ")


def _against(rows, tests, i: int, j: int, what: str) -> str:
    """``1.2 points above the default (McNemar p = .003)``, or that it is no real difference."""
    difference = rows[i]["test"] - rows[j]["test"]
    p = tests["p"][i][j]
    if p < LEVEL:
        side = "above" if difference > 0 else "below"
        return f"{points(abs(difference), signed=False)} {side} {what} (McNemar {p_words(p)})"
    return (
        f"against {what} the difference of {points(difference)} is not significant "
        f"(McNemar {p_words(p)})"
    )


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return all(one[part] == other[part] for part in ("k", "weights", "modes", "vote"))
