"""What is a searched setting worth on this data?  One protocol, one answer.

Settings are searched on validation rows, or by cross-validation, and reported on test rows, which
are scored once (``parts.py`` says which rows these are).  Three settings are compared by McNemar's
test: the default (k = 1, gain ratio, overlap), the best of the paper's exhaustive grid, in which
all features are treated alike, and the one that the search found.

The grid lies within what is searched together.  Where its best did better on what was searched than
what the strategy found, it is kept, unless the search is to keep what the strategy ended with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    mcnemar,
    model_of,
    p_of,
    searches,
    settings_section,
    trajectory,
    words_of_sizes,
)
from featloom.methods.memory_search.parts import Parts
from featloom.methods.memory_search.search import DEFAULT, MemorySearch
from featloom.methods.memory_search.settings import Setting, SettingSpace
from featloom.results import Comparison, Model, Section
from featloom.words import counted, p_words, percent, points

CASES = 5
BY_DEFAULT = "default"
BY_GRID = "best uniform setting"


def study_memory(
    parts: Parts,
    search: MemorySearch,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], MemoryClassifier]:
    """The parts of a result that speak of the data and the settings; and the learner kept.

    Parameters
    ----------
    search : as it is to be done, not yet fitted; by accuracy.  With ``keep="strategy"`` what it
        ends with is kept, though the best of the grid be better.
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
    tried = [_tried_default(grid, space, parts), _tried(BY_GRID, grid, parts)]
    if not is_grid:
        tried.append(_tried(f"found by {search.strategy} search", found, parts))
    place, kept = len(tried) - 1, found
    may_be_grid = search.over == "together" and search.keep == "best"
    if may_be_grid and grid.best_score_ > found.best_score_:
        place, kept = 1, grid
    gold = parts.test.row_classes(parts.train.class_type)
    models = [
        one.model(gold, parts.train.columns, role="baseline" if i < len(tried) - 1 else "method")
        for i, one in enumerate(tried)
    ]
    models[place].chosen = True
    tests = mcnemar([one.name for one in tried], [one.predictions for one in tried], gold)
    said, significant = verdict(models, tests)
    sections = [settings_section(models)]
    sections.append(Section("Neighbours", "How many neighbours?",
                            blocks=[curves(grid.history_, space)]))  # fmt: skip
    if not is_grid:
        line = trajectory(search.strategy, found.history_)
        sections.append(Section("Search", "The search", blocks=[searches([line])]))
    sections.append(cases(kept.best_estimator_, parts.test, n=CASES))
    result = {
        "kind": "memory",
        "data": _data_part(parts),
        "protocol": f"{words_of_sizes(parts.sizes())}; {parts.words}",
        "parameters": _parameters(search, parts),
        "evaluations": len(found.history_),
        "budget": {"stopped": _stopped(found)},
        "metric": "accuracy",
        "verdict": said,
        "significant": significant,
        "chosen": models[place].name,
        "leaderboard": models,
        "comparisons": tests,
        "sections": sections,
    }
    return result, kept.best_estimator_


def _stopped(search: MemorySearch) -> str:
    stopped = search.history_.stopped
    return "trials" if stopped == "budget" and search.budget is None else stopped


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
    """A setting, what it was worth on what was searched, and its predictions for the test rows."""

    name: str
    setting: Setting
    validation: float
    predictions: np.ndarray
    fits: int

    def model(self, gold: np.ndarray, columns: Sequence[str], role: str) -> Model:
        test = float((self.predictions == gold).mean())
        return model_of(
            self.name, self.setting, columns, role=role, validation=self.validation, test=test,
            fits=self.fits,
        )  # fmt: skip


def _tried(name: str, search: MemorySearch, parts: Parts) -> _Tried:
    best = search.best_setting_
    setting = Setting(best["k"], best["weights"], tuple(best["modes"].values()), best["vote"])
    predictions = search.best_estimator_.predict(parts.test)
    return _Tried(name, setting, search.best_score_, predictions, len(search.history_))


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
    predictions = classifier.fit(parts.train).predict(parts.test)
    return _Tried(BY_DEFAULT, setting, score, predictions, 1)


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


def verdict(models: Sequence[Model], tests: Sequence[Comparison]) -> tuple[str, bool]:
    """What a reader may conclude, in plain words; and whether it differs from the default.

    Parameters
    ----------
    models : the default, the best uniform setting and, where something else was searched, what the
        search found; the chosen one is kept.
    """
    kept = next(place for place, one in enumerate(models) if one.chosen)
    default, uniform, found, best = models[0], models[1], models[-1], models[kept]
    significant = best is not default and p_of(tests, best.name, default.name) < LEVEL
    right = f"{_described(best, found)} is right on {percent(best.test or 0.0)} of the test rows"
    if best.settings == default.settings:
        return f"{right}; it is the default: the search found nothing better.", significant
    said = f"{right}{', ' if significant else '; '}{_against(best, default, tests, 'the default')}"
    if found is uniform:
        return f"{said}.", significant
    valid, of_grid = found.value or 0.0, uniform.value or 0.0
    if best is uniform:
        said += (
            ". It is kept, because the search fell short of it: on what was searched it is right "
            f"on {percent(of_grid)}, the setting {found.name} on {percent(valid)}."
        )
        return said, significant
    if best.settings == uniform.settings:
        said += "; it is the best uniform setting: the search found nothing better."
        return said, significant
    said += f"; {_against(found, uniform, tests, 'the best uniform setting')}."
    if valid < of_grid:
        said += (
            " The search fell short: on what it searched, the best uniform setting is right on "
            f"{percent(of_grid)}, the found one on {percent(valid)}."
        )
    return said, significant


def _described(one: Model, found: Model) -> str:
    """A setting as the subject of a sentence: what it is called, and what it consists of."""
    searched = one is found and one.name not in (BY_GRID, BY_DEFAULT)
    return f"The {'found setting' if searched else one.name} ({one.setting})"


def _against(one: Model, other: Model, tests: Sequence[Comparison], what: str) -> str:
    """``1.2 points above the default (McNemar p = .003)``, or that it is no real difference."""
    difference = (one.test or 0.0) - (other.test or 0.0)
    p = p_of(tests, one.name, other.name)
    if p < LEVEL:
        side = "above" if difference > 0 else "below"
        return f"{points(abs(difference), signed=False)} {side} {what} (McNemar {p_words(p)})"
    return (
        f"against {what} the difference of {points(difference)} is not significant "
        f"(McNemar {p_words(p)})"
    )
