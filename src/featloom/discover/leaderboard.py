"""From trials to a leaderboard, a choice, and what is claimed of it.

The rules are those of :mod:`featloom.evaluation.verdict`; here they meet the trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from featloom.compare.contenders import Contender, Fitted, Question, Setting
from featloom.compare.schedule import FirstAnswers, Standing
from featloom.discover.words import verdict_words, why_chosen
from featloom.evaluation.protocol import MOST_JUDGED, TEST, Protocol
from featloom.evaluation.significance import Comparison, holm
from featloom.evaluation.verdict import (
    LEVEL,
    beyond_chance,
    choose,
    comparable_means,
    corrected_interval,
)
from featloom.search import Evaluation
from featloom.search.space import json_text


@dataclass(eq=False)
class Entry:
    """A contender with the setting that did best, and how it did.

    Parameters
    ----------
    scores : of the folds, higher is better.
    outcome : of its last trial: on the test part, if there is one.
    tested : whether that is of the test part.
    learned : units it learned from there.
    units : how many it was judged to learn from; None: all of a part.
    found : the setting by which what it searched for need not be searched for again.
    """

    contender: Contender
    setting: Setting
    scores: dict[int, float]
    details: dict[int, Mapping[str, Any]]
    outcome: Mapping[str, Any]
    tested: bool
    learned: int
    is_default: bool
    units: int | None = None
    found: Setting | None = None

    @property
    def name(self) -> str:
        return self.contender.name

    @property
    def role(self) -> str:
        return self.contender.role

    @property
    def size(self) -> int:
        return int(self.outcome["size"])

    @property
    def size_words(self) -> str:
        return str(self.outcome["size_words"])

    @property
    def rows(self) -> str:
        """What paired tests need."""
        return str(self.outcome["rows"])

    @property
    def test(self) -> float:
        """Its score on the test part, higher is better."""
        return float(self.outcome["score"])


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
    figures: dict[str, Any] | None = field(default=None, repr=False)


def judge(
    question: Question,
    protocol: Protocol,
    entries: list[Entry],
    schedule: FirstAnswers,
    history: Sequence[Evaluation],
    *,
    passed_over: Mapping[str, str],
    kept: Fitted | None = None,
    seed: int = 0,
) -> Found:
    """The leaderboard, the choice and the verdict from the trials that were finished.

    Parameters
    ----------
    entries : see :func:`entries_of`.
    passed_over : why a contender was not compared, by name.
    kept : the model that is handed over, fitted on all the data, whose size is told.
    """
    contenders = [one.contender for one in schedule.standings.values()]
    choosable = [one for one in entries if one.role != "yardstick"]
    chosen, best = choice(choosable) if choosable else (None, None)
    # The sizes that were weighed are those of models of the folds and the test part.
    why = "" if chosen is None or best is None else why_chosen(chosen, best)
    if chosen is not None and kept is not None:
        chosen.outcome = {
            **chosen.outcome, "size": int(kept.size), "size_words": kept.size_words,
        }  # fmt: skip
    if entries:
        order = (-comparable_means([one.scores for one in entries])).argsort(kind="stable")
        entries = [entries[place] for place in order.tolist()]
    rows = [_row(question, protocol, one, seed) for one in entries]
    done = {one.name for one in entries}
    for row in rows:
        row["why"] = passed_over.get(row["name"], "") if row["status"] != "finished" else ""
    rows += [
        {"name": one.name, "role": one.role, "idea": one.idea, "status": "unfinished"}
        | {"why": passed_over.get(one.name, "the time was over"), "chosen": False}
        for one in contenders
        if one.name not in done
    ]
    asked = {one.name for one in contenders}
    rows += [
        {"name": one.name, "role": one.role, "idea": one.idea, "status": "not asked"}
        | {"why": "it was not asked for", "chosen": False}
        for one in question.contenders()
        if one.name not in asked
    ]
    rows += [
        {"name": name, "role": "method", "idea": "", "status": "not applicable", "why": reason}
        | {"chosen": False}
        for name, reason in question.left_out().items()
    ]
    curves = _curves(question, contenders, history)
    if chosen is None or best is None:
        return Found(rows, [], curves, "Nothing was finished.", False, None, "", None)
    tests = _against_chance(question, protocol, entries, seed)
    something = any(test["significant"] for test in tests)
    plain = [one for one in entries if one.role == "baseline"] or choosable
    reference = max(plain, key=lambda one: (one.tested, -entries.index(one)))
    comparisons = _comparisons(question, protocol, entries, reference, something, seed)
    for row in rows:
        row["chosen"] = row["name"] == chosen.name
    words, significant = verdict_words(
        question, chosen, reference, tests, comparisons, entries, rows, len(protocol.learn)
    )
    figures = None
    if chosen.tested and chosen.outcome["details"]:
        figures = question.figures(protocol.test, chosen.rows, chosen.outcome["details"])
        blind = [one for one in entries if one.role == "chance" and one.tested]
        if blind:
            figures["base_rate_log_loss"] = blind[0].outcome["details"].get("log_loss")
    return Found(
        rows, [*tests, *comparisons], curves, words, significant, chosen.name,
        why, reference.name, figures,
    )  # fmt: skip


def choice(entries: Sequence[Entry]) -> tuple[Entry, Entry]:
    """The one that is chosen, and the one with the best mean.

    The prediction that looks at nothing is chosen only if nothing is better in the folds.  Who has
    no figure on the test part is chosen only if no other has one.
    """
    means = comparable_means([one.scores for one in entries])
    blind = [mean for one, mean in zip(entries, means, strict=True) if one.role == "chance"]
    chance = float(blind[0]) if blind else None
    best = entries[int(means.argmax())]
    seeing = [one for one in entries if one.role != "chance"]
    if not seeing or best.role == "chance":
        return best, best
    if any(one.tested for one in seeing):
        seeing = [one for one in seeing if one.tested]
        best = seeing[int(comparable_means([one.scores for one in seeing]).argmax())]
    place = choose([one.scores for one in seeing], [one.size for one in seeing], chance)
    return seeing[place], best


def entries_of(standings: Mapping[str, Standing], history: Sequence[Evaluation]) -> list[Entry]:
    """What became of each contender that was judged on a fold at least."""
    outcomes: dict[tuple[str, str, Any], tuple[Mapping[str, Any], int]] = {}
    tests: dict[tuple[str, str], tuple[Mapping[str, Any], int]] = {}
    for one in history:
        if "fault" in one.result:
            continue
        name, fold = one.candidate["method"], one.candidate["fold"]
        if one.candidate["units"] != standings[name].units:
            continue
        for outcome in one.result["outcomes"]:
            found = outcome, int(one.result["learned"])
            if fold == TEST:
                # A search is tested with what it found, which is no setting of the folds.
                searches = standings[name].contender.searches
                key = standings[name].best if searches else json_text(outcome["setting"])
                tests[name, str(key)] = found
            else:
                outcomes[name, json_text(outcome["setting"]), fold] = found
    entries = []
    for name, standing in standings.items():
        key = standing.best
        if key is None:
            continue
        if (name, key) not in tests:
            # Of one that was tested with another setting only, when the time was over, that stands.
            known = [other for other in standing.scores if (name, other) in tests]
            key = max(known, key=standing.mean, default=key)
        folds = [fold for fold, _ in standing.folds(key)]
        last, learned = tests.get((name, key)) or outcomes[name, key, folds[-1]]
        entries.append(
            Entry(
                standing.contender,
                standing.settings[key],
                dict(standing.folds(key)),
                {fold: outcomes[name, key, fold][0]["details"] for fold in folds},
                last,
                (name, key) in tests,
                learned,
                standing.settings[key] == standing.contender.default,
                standing.units,
                standing.found if standing.contender.searches else None,
            )
        )
    return entries


def _row(question: Question, protocol: Protocol, one: Entry, seed: int) -> dict[str, Any]:
    scores = [value for _, value in sorted(one.scores.items())]
    whole = len(scores) == protocol.n_folds or one.contender.searches
    row: dict[str, Any] = {
        "name": one.name,
        "role": one.role,
        "idea": one.contender.idea,
        "status": "finished" if whole and one.tested else "partly",
        "why": "",
        "value": _turned(question, sum(scores) / len(scores)),
        "interval": None,
        "folds": [_turned(question, score) for score in scores],
        "n_folds": len(scores),
        "folds_of": protocol.n_folds,
        "test": None,
        "test_interval": None,
        "size": one.size,
        "size_words": one.size_words,
        "fit_s": float(one.outcome["fit_s"]),
        "predict_s": 1000 * float(one.outcome["predict_s"]) / max(len(protocol.test), 1),
        "setting": one.outcome["words"],
        "tuned": not one.is_default,
        # Who learned from all rows of its folds would learn from all of the others' too.
        "learned": one.learned if one.tested or one.units else len(protocol.learn),
    }
    # Folds of a table have equal shares of the classes, so one who knows nothing else scores the
    # same in all of them, whatever the shares of other rows may be: that tells of no doubt.
    if len(scores) > 1 and not (one.role == "chance" and question.kind == "table"):
        of_fold = len(protocol.learn) / protocol.n_folds
        learned = min(one.units or len(protocol.learn), len(protocol.learn) - of_fold)
        ratio = min(of_fold, MOST_JUDGED) / learned
        found = corrected_interval(scores, judged_over_learned=ratio)
        row["interval"] = _ends(question, found.low, found.high)
    if one.tested:
        found = question.interval(protocol.test, one.rows, seed)
        row["test"] = _turned(question, found.value)
        row["test_interval"] = _ends(question, found.low, found.high)
        if details := one.outcome["details"]:
            names = ("log_loss", "auc", "brier", "accuracy", "ece")
            row["metrics"] = {name: details[name] for name in names}
    return row


def _turned(question: Question, score: float) -> float:
    """A score as people read it."""
    return -score if question.lower_is_better else score


def _ends(question: Question, low: float, high: float) -> list[float]:
    if question.lower_is_better:
        return [max(0.0, -high), -low]
    return [max(0.0, low), min(1.0, high)]


def _against_chance(
    question: Question, protocol: Protocol, entries: Sequence[Entry], seed: int
) -> list[dict[str, Any]]:
    """Every contender against the prediction that looks at nothing."""
    blind = [one for one in entries if one.role == "chance" and one.tested]
    seeing = [one for one in entries if one.role != "chance" and one.tested]
    if not blind or not seeing:
        return []
    tests = [
        question.compare_with_chance(protocol.test, one.rows, blind[0].rows, seed) for one in seeing
    ]
    passed = beyond_chance(tests)
    adjusted = holm([test.p for test in tests]).tolist()
    return [
        _comparison(one, blind[0], test, p, good) | {"gate": True}
        for one, test, p, good in zip(seeing, tests, adjusted, passed, strict=True)
    ]


def _comparisons(
    question: Question,
    protocol: Protocol,
    entries: Sequence[Entry],
    reference: Entry,
    something: bool,
    seed: int,
) -> list[dict[str, Any]]:
    """Everything but the reference against it, on the test part."""
    if not reference.tested:
        return []
    others = [one for one in entries if one is not reference and one.role != "chance"]
    others = [one for one in others if one.tested]
    tests = [question.compare(protocol.test, one.rows, reference.rows, seed) for one in others]
    adjusted: Sequence[float] = holm([test.p for test in tests]).tolist() if tests else []
    found = [
        _comparison(one, reference, test, float(p), something and bool(p < LEVEL))
        for one, test, p in zip(others, tests, adjusted, strict=True)
    ]
    return sorted(found, key=lambda row: -row["difference"])


def _comparison(
    one: Entry, other: Entry, test: Comparison, adjusted: float, significant: bool
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
        "same_rows": one.learned == other.learned,
    }


def _curves(
    question: Question, contenders: Sequence[Contender], history: Sequence[Evaluation]
) -> list[dict[str, Any]]:
    """Scores of the default settings on the first fold, by how many units were learned from.

    In the order of the contenders: that of the history follows from what each happened to cost.
    """
    scores: dict[tuple[str, int], float] = {}
    for one in history:
        if one.candidate["fold"] != 0 or "fault" in one.result:
            continue
        first = one.result["outcomes"][0]
        key = one.candidate["method"], int(one.result["learned"])
        scores.setdefault(key, float(first["score"]))
    place = {one.name: number for number, one in enumerate(contenders)}
    return [
        {"method": name, "rows": learned, "value": _turned(question, value)}
        for (name, learned), value in sorted(
            scores.items(), key=lambda one: (place[one[0][0]], one[0])
        )
    ]
