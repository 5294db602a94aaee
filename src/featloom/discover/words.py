"""What a comparison amounts to, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from featloom.compare.contenders import Question
from featloom.evaluation.verdict import corrected_interval
from featloom.words import bare, p_words, percent

if TYPE_CHECKING:
    from featloom.discover.leaderboard import Entry

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
