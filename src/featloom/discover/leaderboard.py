"""From trials to a leaderboard, a choice, and an answer in plain words.

*Choice.*  By cross-validation alone: the simplest contender within a standard error of the best,
fold by fold.  *Confirmation.*  On the test part, which no choice has seen.  First the chosen one
against the answer that looks at nothing; only if that holds, every method against the reference,
which is the baseline with the best cross-validated score, with Holm's correction.  So the chance
that anything at all is called a gain where there is none is at most 1 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featloom.discover.contenders import Contender, Question
from featloom.discover.protocol import TEST, Protocol
from featloom.discover.words import verdict_words, why_chosen
from featloom.evaluation.selection import one_standard_error
from featloom.evaluation.significance import (
    Comparison,
    bootstrap_interval,
    holm,
    paired_bootstrap,
)
from featloom.formats.packing import unpacked
from featloom.search import Evaluation

LEVEL = 0.01
_NEVER_CHOSEN = ("yardstick",)


@dataclass
class Standing:
    """What is known of a contender when the trials are over."""

    contender: Contender
    folds: list[float]
    counts: np.ndarray | None  # of all folds, group by group
    test_answers: np.ndarray | None
    trial: Mapping[str, Any]  # on the test part, or the last one there is

    @property
    def name(self) -> str:
        return self.contender.name

    @property
    def mean(self) -> float:
        return float(np.mean(self.folds))

    @property
    def answered(self) -> np.ndarray:
        """Its answers on the test part, which a finished one has."""
        assert self.test_answers is not None
        return self.test_answers


@dataclass(frozen=True)
class Found:
    """The parts of a result that speak of the contenders."""

    leaderboard: list[dict[str, Any]]
    comparisons: list[dict[str, Any]]
    curves: list[dict[str, Any]]
    verdict: str
    significant: bool
    chosen: str | None
    chosen_why: str
    reference: str | None


def judge(
    question: Question,
    protocol: Protocol,
    contenders: Sequence[Contender],
    history: Sequence[Evaluation],
    *,
    units: int | None,
    passed_over: Mapping[str, str],
    seed: int = 0,
) -> Found:
    """The leaderboard, the choice and the verdict from the trials that were finished."""
    standings = standings_of(question, protocol, contenders, history, units)
    finished = [one for one in standings if one.test_answers is not None and one.counts is not None]
    rows = [_row(question, protocol, one, seed) for one in finished]
    done = {one.name for one in finished}
    rows.sort(key=lambda row: -row["value"])
    rows += [
        {"name": one.name, "role": one.role, "idea": one.idea, "status": "unfinished"}
        | {"why": passed_over.get(one.name, "the time was over")}
        for one in contenders
        if one.name not in done
    ]
    rows += [
        {"name": name, "role": "method", "idea": "", "status": "not applicable", "why": why}
        for name, why in question.left_out().items()
    ]
    curves = _curves(contenders, history)
    choosable = [one for one in finished if one.contender.role not in _NEVER_CHOSEN]
    if not choosable:
        return Found(rows, [], curves, "Nothing was finished.", False, None, "", None)
    values = {row["name"]: row["value"] for row in rows if row["status"] == "finished"}
    chosen = choosable[choose(choosable, [values[one.name] for one in choosable])]
    blind = [one for one in finished if one.contender.role == "chance"]
    plain = [one for one in finished if one.contender.role in ("chance", "baseline")]
    reference = max(plain, key=lambda one: values[one.name]) if plain else chosen
    gate = _against_chance(question, protocol, chosen, blind[0], seed) if blind else None
    something = gate is not None and gate.difference > 0 and gate.p < LEVEL
    comparisons = _comparisons(question, protocol, finished, reference, something, seed)
    if gate is not None and blind[0] not in (chosen, reference):
        comparisons.insert(0, _comparison(chosen, blind[0], gate, gate.p, something))
    for row in rows:
        row["chosen"] = row["name"] == chosen.name
    words, significant = "The answer that looks at nothing is missing: too early to say.", False
    if gate is not None:
        words, significant = verdict_words(
            question, chosen, reference, something, comparisons, finished, rows
        )
    best = max(choosable, key=lambda one: values[one.name])
    return Found(
        rows, comparisons, curves, words, significant, chosen.name, why_chosen(chosen, best),
        reference.name,
    )  # fmt: skip


def choose(standings: Sequence[Standing], values: Sequence[float]) -> int:
    """The place of the simplest within a standard error of the best, fold by fold.

    ``values`` are scores of all folds together, as the leaderboard shows them; the mean of the
    folds' own scores may differ a little from it, so these are moved to have it as their mean.
    """
    folds = [
        [score + value - one.mean for score in one.folds]
        for one, value in zip(standings, values, strict=True)
    ]
    sizes = [int(one.trial["size"]) for one in standings]
    rule = "paired" if len(folds[0]) > 1 else "best"
    return one_standard_error(None, folds, sizes, rule=rule)


def standings_of(
    question: Question,
    protocol: Protocol,
    contenders: Sequence[Contender],
    history: Sequence[Evaluation],
    units: int | None,
) -> list[Standing]:
    """What is known of each contender; folds that are not all there say nothing."""
    found = []
    for contender in contenders:
        trials = {
            one.candidate["fold"]: one.result
            for one in history
            if one.candidate["method"] == contender.name
            and one.candidate["units"] == units
            and "fault" not in one.result
        }
        folds = [trials.get(fold) for fold in range(protocol.n_folds)]
        scores: list[float] = []
        counts = None
        if all(fold is not None for fold in folds):
            scores = [float(fold["score"]) for fold in folds if fold is not None]
            counts = np.concatenate(
                [
                    question.counts(protocol.parts(number, None)[1], unpacked(fold["answers"]))
                    for number, fold in enumerate(folds)
                    if fold is not None
                ]
            )
        on_test = trials.get(TEST)
        answers = None if on_test is None else unpacked(on_test["answers"])
        found.append(Standing(contender, scores, counts, answers, on_test or {}))
    return found


def _row(question: Question, protocol: Protocol, one: Standing, seed: int) -> dict[str, Any]:
    trial = one.trial
    on_test = question.counts(protocol.test, one.answered)
    return {
        "name": one.name,
        "role": one.contender.role,
        "idea": one.contender.idea,
        "status": "finished",
        "why": "",
        **_interval(question, one.counts, seed, "value", "interval"),
        "folds": one.folds,
        **_interval(question, on_test, seed, "test", "test_interval"),
        "size": int(trial["size"]),
        "size_words": trial["size_words"],
        "fit_s": float(trial["fit_s"]),
        "predict_s": 1000 * float(trial["predict_s"]) / max(int(trial["judged"]), 1),
        "setting": trial["setting"],
        "learned": int(trial["learned"]),
    }


def _interval(
    question: Question, counts: np.ndarray | None, seed: int, value: str, interval: str
) -> dict[str, Any]:
    assert counts is not None
    found = bootstrap_interval(counts, question.of_counts, seed=seed)
    return {value: found.value, interval: [found.low, found.high]}


def _against_chance(
    question: Question, protocol: Protocol, chosen: Standing, blind: Standing, seed: int
) -> Comparison:
    return paired_bootstrap(
        question.chance_counts(protocol.test, chosen.answered),
        question.chance_counts(protocol.test, blind.answered),
        question.of_chance_counts,
        seed=seed,
    )


def _comparisons(
    question: Question,
    protocol: Protocol,
    finished: Sequence[Standing],
    reference: Standing,
    something: bool,
    seed: int,
) -> list[dict[str, Any]]:
    """Everything but the reference against it, on the test part."""
    others = [one for one in finished if one is not reference and one.contender.role != "chance"]
    of_reference = question.counts(protocol.test, reference.answered)
    tests = [
        paired_bootstrap(
            question.counts(protocol.test, one.answered),
            of_reference,
            question.of_counts,
            seed=seed,
        )
        for one in others
    ]
    adjusted: Sequence[float] = holm([test.p for test in tests]).tolist() if tests else []
    found = [
        _comparison(one, reference, test, float(p), something and bool(p < LEVEL))
        for one, test, p in zip(others, tests, adjusted, strict=True)
    ]
    return sorted(found, key=lambda row: -row["difference"])


def _comparison(
    one: Standing, other: Standing, test: Comparison, adjusted: float, significant: bool
) -> dict[str, Any]:
    return {
        "a": one.name,
        "b": other.name,
        "difference": test.difference,
        "interval": [test.low, test.high],
        "p": test.p,
        "p_adjusted": adjusted,
        "significant": significant,
        "on": "test",
    }


def _curves(contenders: Sequence[Contender], history: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Mean scores in folds, by contender and by how many units were learned from.

    In the order of the contenders: that of the history follows from what each happened to cost.
    """
    scores: dict[tuple[str, float], list[tuple[int, int, float]]] = {}
    for one in history:
        fold = one.candidate["fold"]
        if fold == TEST or "fault" in one.result:
            continue
        asked = one.candidate["units"]
        key = one.candidate["method"], np.inf if asked is None else float(asked)
        scores.setdefault(key, []).append((int(fold), int(one.result["learned"]), one.score))
    place = {one.name: number for number, one in enumerate(contenders)}
    return [
        {
            "method": name,
            "rows": int(np.mean([n for _, n, _ in sorted(found)])),
            "value": float(np.mean([value for _, _, value in sorted(found)])),
        }
        for (name, _), found in sorted(scores.items(), key=lambda one: (place[one[0][0]], one[0]))
    ]
