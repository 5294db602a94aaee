"""From trials to a leaderboard, a choice, and what is claimed of it.

The rules are those of :mod:`featloom.evaluation.verdict`; here they meet the trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from featloom.compare.questions import Question
from featloom.compare.schedule import FirstAnswers, Standing
from featloom.evaluation.protocol import MOST_JUDGED, TEST, Protocol
from featloom.evaluation.significance import Comparison, holm
from featloom.evaluation.verdict import (
    LEVEL,
    beyond_chance,
    choose,
    comparable_means,
    corrected_interval,
)
from featloom.method import Contender, Fitted, Setting
from featloom.search import Evaluation
from featloom.search.space import json_text
from featloom.words import bare, p_words, percent


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


# ── in words ──

_DOUBTFUL = 0.1  # p after correction, below which there may be something after all
_FOLDS_TO_TELL = 3


def why_chosen(chosen: Entry, best: Entry) -> str:
    """Why a contender was taken."""
    if chosen is best:
        return "the best in cross-validation"
    return (
        f"the simplest that is as good as {best.name}, the best in cross-validation "
        f"({chosen.size_words}, not {best.size_words})"
    )


def verdict_words(
    question: Question,
    chosen: Entry,
    reference: Entry,
    tests: Sequence[Mapping[str, Any]],
    comparisons: Sequence[Mapping[str, Any]],
    entries: Sequence[Entry],
    rows: Sequence[Mapping[str, Any]],
    n_learn: int,
) -> tuple[str, bool]:
    """What a reader may conclude, and whether a method is a gain over the reference.

    Parameters
    ----------
    tests : of contenders with the prediction that looks at nothing.
    comparisons : on the test part, of all others with the reference.
    n_learn : units to learn from in all.
    """
    words = _Words(question, entries, rows, n_learn)
    if not chosen.tested:
        told = words.folds_of(chosen)
        return " ".join([f"{told} The test part was not reached.", *words.not_compared()]), False
    if not tests:
        told = f"{words.own_figure(chosen)} Nothing was compared with it."
        return " ".join([told, *words.not_compared()]), False
    good = [test["a"] for test in tests if test["significant"]]
    if not good:
        return " ".join([words.nothing(chosen, tests), *words.not_compared()]), False
    against = {one["a"]: one for one in comparisons}
    said, significant = [words.own_figure(chosen)], False
    if chosen.role == "chance":
        said.append(f"Cross-validation chose it, although on the test part {good[0]} is better.")
    elif chosen is reference:
        said.append(words.reference_chosen(reference, against))
    else:
        sentence, significant = words.against_reference(chosen, reference, against)
        said.append(sentence)
    said += words.asides(chosen)
    return " ".join([*said, *words.not_compared()]), significant


class _Words:
    """Sentences about the contenders of one question."""

    def __init__(
        self,
        question: Question,
        entries: Sequence[Entry],
        rows: Sequence[Mapping[str, Any]],
        n_learn: int,
    ):
        self.question, self.entries, self.rows = question, entries, rows
        self.n_learn = n_learn

    # ── numbers ──

    def value(self, score: float) -> str:
        """A score as people read it: .281, or 86.9 %."""
        if self.question.lower_is_better:
            return bare(-score)
        return percent(score)

    def apart(self, difference: float) -> str:
        """A difference of scores with its sign, better is positive: +.012, or +1.5."""
        if self.question.lower_is_better:
            return f"{'-' if difference < 0 else '+'}{bare(abs(difference))}"
        return f"{100 * difference:+.1f}"

    @property
    def unit(self) -> str:
        """What differences are counted in."""
        metric = self.question.metric
        return f"in {metric}" if self.question.lower_is_better else f"points of {metric}"

    def doubt(self, test: Mapping[str, Any], n: int) -> str:
        low, high = (self.apart(end) for end in test["interval"])
        return f"(95 % {low} to {high}; {_p(test, n)})"

    # ── sentences ──

    def own_figure(self, chosen: Entry) -> str:
        """What the chosen one reaches on the test part, beside one who knows nothing."""
        blind = [one for one in self.entries if one.role == "chance" and one.tested]
        beside = [f"{blind[0].name} alone: {self.value(blind[0].test)}"] if blind else []
        details = chosen.outcome["details"] or {}
        if details.get("auc") is not None and self.question.metric != "AUC":
            beside.append(f"AUC {bare(details['auc'])}")
        if "accuracy" in details and self.question.metric != "accuracy":
            beside.append(f"{percent(details['accuracy'])} right")
        said = f" ({'; '.join(beside)})" if beside else ""
        return (
            f"{_said(chosen, 'reaches', 'reach')} {_article(self.question)} of "
            f"{self.value(chosen.test)} on the test part{said}."
        )

    def folds_of(self, chosen: Entry) -> str:
        mean = sum(chosen.scores.values()) / len(chosen.scores)
        n = len(chosen.scores)
        where = "one fold" if n == 1 else f"{n} folds"
        return (
            f"{_said(chosen, 'reaches', 'reach')} {_article(self.question)} of {self.value(mean)} "
            f"in {where} of cross-validation."
        )

    def nothing(self, chosen: Entry, tests: Sequence[Mapping[str, Any]]) -> str:
        """Where no contender is better than one that looks at nothing, for sure."""
        tested = [one for one in self.entries if one.tested and one.role != "chance"]
        blind = next(one for one in self.entries if one.tested and one.role == "chance")
        best = max(tested, key=lambda one: one.test)
        test = min(tests, key=lambda one: (one["p_adjusted"], -one["difference"]))
        left = [row for row in self.rows if row["status"] in ("unfinished", "partly")]
        doubtful = test["p_adjusted"] < _DOUBTFUL and test["difference"] > 0
        ahead = chosen.test > blind.test and _is_ahead(chosen, blind)
        if not any(one.role == "method" for one in tested):
            start = "No method was compared"
        elif any(row["role"] in ("method", "baseline") for row in left):
            start = "Nothing was found by what was compared"
        else:
            proven = "Nothing is proven here" if doubtful or ahead else ""
            start = proven or "There is nothing to find here"
        own = f"{_the(chosen)} {_verb(chosen, 'has', 'have')} {self.value(chosen.test)}"
        beside = "" if chosen is blind else f", {blind.name} alone {self.value(blind.test)}"
        said = (
            f"{start}: on the test part {own}{beside}, and none of the {len(tested)} contenders "
            "predicts better, beyond chance, than one that looks at nothing."
        )
        if best is not chosen:
            has = _verb(best, "has", "have")
            said += f" The best of them, {best.name}, {has} {self.value(best.test)}."
        if doubtful:
            said += (
                f" {_capital(test['a'])} comes nearest ({_p(test, len(tests))}); more "
                f"{self.question.unit} may tell."
            )
        elif ahead:
            said += (
                f" In all folds together {_the(chosen)} {_verb(chosen, 'is', 'are')} ahead of it; "
                f"more {self.question.unit} may tell."
            )
        return said

    def reference_chosen(self, reference: Entry, against: Mapping[str, Mapping[str, Any]]) -> str:
        who = _the(reference)
        methods = {one.name for one in self.entries if one.role == "method"}
        gains = [
            one for one in against.values()
            if one["a"] in methods and one["significant"] and one["difference"] > 0
        ]  # fmt: skip
        if gains:
            best = gains[0]
            return (
                f"It was chosen by cross-validation; on the test part {best['a']} is better, "
                f"{self.apart(best['difference'])} {self.unit} {self.doubt(best, len(against))}."
            )
        rivals = [one for one in against.values() if one["a"] in methods]
        if not rivals:
            return "No method was compared with it on the test part."
        best = max(rivals, key=lambda one: one["difference"])
        largest = (
            f"the largest difference is that of {best['a']}, {self.apart(best['difference'])} "
            f"{self.unit} {self.doubt(best, len(against))}."
        )
        if self.all_compared():
            return f"{_capital(who)} is enough: no method adds to it beyond chance; {largest}"
        return f"No method that was compared is better than {who} beyond chance; {largest}"

    def against_reference(
        self, chosen: Entry, reference: Entry, against: Mapping[str, Mapping[str, Any]]
    ) -> tuple[str, bool]:
        test = against.get(chosen.name)
        who = _the(reference)
        if test is None:
            return f"{_capital(who)} was not tested beside it.", False
        doubt = self.doubt(test, len(against))
        apart = f"{self.apart(test['difference'])} {self.unit}"
        sizes = f"with {chosen.size_words}, not {_number(chosen, reference)}"
        rows = "" if test["same_rows"] else ", the two having learned from different rows"
        if test["significant"] and test["difference"] > 0:
            return f"It is better than {who}: {apart} {doubt}, {sizes}{rows}.", chosen.role in (
                "method",
            )
        if test["significant"]:
            return (
                f"Cross-validation chose it, but on the test part it is behind {who}: "
                f"{apart} {doubt}{rows}."
            ), False
        if test["difference"] > 0:
            return (
                f"It leads {who} by {apart.lstrip('+')} there, which may be chance {doubt}, "
                f"{sizes}{rows}."
            ), False
        return (f"That is about what {who} reaches: {apart} {doubt}, {sizes}{rows}."), False

    def asides(self, chosen: Entry) -> list[str]:
        """What is to be said of the other contenders."""
        said = []
        tested = [one for one in self.entries if one.tested and one is not chosen]
        ahead = [one for one in tested if one.role == "method" and one.test > chosen.test]
        if ahead:
            distances = ", ".join(
                f"{one.name} {self.apart(one.test - chosen.test)}" for one in ahead
            )
            said.append(f"Ahead of it on the test part: {distances}.")
        said += [
            f"{one.name}, for comparison, is at {self.value(one.test)}."
            for one in tested
            if one.role == "yardstick"
        ]
        learned = {one.learned for one in self.entries if one.role != "chance" and one.tested}
        if len(learned) > 1:
            fewer = [one for one in self.entries if one.learned < max(learned) and one.tested]
            who = ", ".join(
                f"{one.name} from {one.learned:,}" for one in fewer if one.role != "chance"
            )
            said.append(f"Not all learned from the same {self.question.unit}: {who}.")
        return said

    def not_compared(self) -> list[str]:
        left = [row["name"] for row in self.rows if row["status"] == "unfinished"]
        partly = [row["name"] for row in self.rows if row["status"] == "partly"]
        said = []
        if left:
            said.append(f"Not compared: {', '.join(left)}.")
        if partly:
            said.append(f"Compared in part: {', '.join(partly)}.")
        return said

    def all_compared(self) -> bool:
        """Whether every method that applies was compared, on all rows."""
        methods = [row for row in self.rows if row["role"] in ("method", "baseline")]
        whole = all(row["status"] in ("finished", "not applicable") for row in methods)
        learned = {row["learned"] for row in methods if row["status"] == "finished"}
        return whole and learned == {self.n_learn}


def _is_ahead(one: Entry, other: Entry) -> bool:
    """Whether the folds alone speak for one, where the test part may be too small to."""
    apart = [one.scores[fold] - other.scores[fold] for fold in one.scores if fold in other.scores]
    if len(apart) < _FOLDS_TO_TELL:
        return False
    return corrected_interval(apart, judged_over_learned=1 / (len(apart) - 1)).low > 0


def _number(one: Entry, other: Entry) -> str:
    """The size of the other, by its number alone where both are made of the same."""
    (_, made_of), (number, other_made_of) = (o.size_words.split(" ", 1) for o in (one, other))
    return number if made_of == other_made_of else other.size_words


def _said(one: Entry, verb: str, plural: str) -> str:
    """Its name and the form of a verb that goes with it, as a sentence begins."""
    return f"{_capital(_the(one))} {_verb(one, verb, plural)}"


def _verb(one: Entry, verb: str, plural: str) -> str:
    return plural if one.name.endswith(("templates", "shares")) else verb


def _p(test: Mapping[str, Any], n: int) -> str:
    """p, and how many comparisons it was corrected for."""
    corrected = f" after correction for {n} comparisons" if n > 1 else ""
    return p_words(test["p_adjusted"]) + corrected


def _article(question: Question) -> str:
    metric = question.metric
    return f"{'an' if metric.startswith(('accuracy', 'AUC', 'F1')) else 'a'} {metric}"


def _the(one: Entry) -> str:
    return f"the {one.name}" if one.name.endswith("model") else one.name


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
