"""What a comparison amounts to, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from featloom.discover.contenders import Question

if TYPE_CHECKING:
    from featloom.discover.verdict import Standing


def why_chosen(chosen: Standing, best: Standing) -> str:
    if chosen is best:
        return "the best cross-validated score"
    return (
        f"the simplest within a standard error of {best.name}, which has the best "
        f"cross-validated score ({_size(chosen)}, not {_size(best)})"
    )


def _size(one: Standing) -> str:
    return str(one.trial["size_words"])


def _number(one: Standing, other: Standing) -> str:
    """The size of the other, by its number alone where both are made of the same."""
    (_, made_of), (number, other_made_of) = (_size(o).split(" ", 1) for o in (one, other))
    return number if made_of == other_made_of else _size(other)


def _said(one: Standing, verb: str, plural: str) -> str:
    """Its name and the form of a verb that goes with it, as a sentence begins."""
    return f"{_capital(one.name)} {plural if one.name.endswith('templates') else verb}"


def verdict_words(
    question: Question,
    chosen: Standing,
    reference: Standing,
    something: bool,
    comparisons: Sequence[Mapping[str, Any]],
    finished: Sequence[Standing],
    rows: Sequence[Mapping[str, Any]],
) -> tuple[str, bool]:
    """What a reader may conclude, and whether a method is a gain over the reference."""
    n = sum(one["b"] == reference.name for one in comparisons)
    if not something and _stands_out(chosen, rows):
        board = {row["name"]: row for row in rows}
        low, high = (100 * end for end in board[chosen.name]["interval"])
        words = (
            f"{_said(chosen, 'leads', 'lead')} in cross-validation ({low:.1f} to {high:.1f} "
            f"{question.metric}), but the test part is too small to confirm that anything can be "
            "found here. More data would tell."
        )
        return " ".join([words, *_not_compared(rows)]), False
    if not something:
        tried = any(one.contender.role == "method" for one in finished)
        start = "There is nothing to find here" if tried else "No method was compared"
        words = (
            f"{start}: by {question.metric}, none of the {len(finished)} contenders can be said to "
            "answer better than one that looks at nothing."
        )
        return " ".join([words, *_not_compared(rows)]), False
    against = {one["a"]: one for one in comparisons if one["b"] == reference.name}
    test = against.get(chosen.name)
    significant = False
    if test is None:
        words = _nothing_better(question, reference, against)
    elif test["significant"] and test["difference"] > 0:
        significant = True
        words = (
            f"{_said(chosen, 'adds', 'add')} {_points(test['difference'])} points of "
            f"{question.metric} to {_the(reference)} {_doubt(test, n)}, with {_size(chosen)} "
            f"instead of {_number(chosen, reference)}."
        )
    elif test["significant"]:
        words = (
            f"{_said(chosen, 'was', 'were')} chosen by cross-validation, but on the test part "
            f"{_points(-test['difference'])} points of {question.metric} behind "
            f"{_the(reference)} {_doubt(test, n)}."
        )
    elif chosen.trial["size"] < reference.trial["size"]:
        words = (
            f"{_said(chosen, 'does', 'do')} about as well as {_the(reference)} with "
            f"{_size(chosen)} instead of {_number(chosen, reference)}: "
            f"{100 * test['difference']:+.1f} points of {question.metric} {_doubt(test, n)}."
        )
    else:
        words = (
            f"{_said(chosen, 'leads', 'lead')} in cross-validation, but the test part does not "
            f"confirm a gain over {_the(reference)}: {100 * test['difference']:+.1f} points of "
            f"{question.metric} {_doubt(test, n)}."
        )
    return " ".join([words, *_asides(question, chosen, finished, rows)]), significant


def _stands_out(chosen: Standing, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether its interval in cross-validation lies above that of the answer by chance."""
    board = {row["name"]: row for row in rows if row["status"] == "finished"}
    blind = [row["interval"][1] for row in board.values() if row["role"] == "chance"]
    return bool(blind) and board[chosen.name]["interval"][0] > max(blind)


def _nothing_better(
    question: Question, reference: Standing, against: Mapping[str, Mapping[str, Any]]
) -> str:
    gains = [one for one in against.values() if one["significant"] and one["difference"] > 0]
    start = f"{_capital(_the(reference))} is enough: "
    if gains:
        best = gains[0]
        return (
            f"{_capital(_the(reference))} was chosen as the simplest that is near the best; on the "
            f"test part {best['a']} is {_points(best['difference'])} points of {question.metric} "
            f"ahead of it {_doubt(best, len(against))}."
        )
    if not against:
        return start + "nothing else was compared with it."
    best = max(against.values(), key=lambda one: one["difference"])
    return (
        start + f"no method adds to it beyond chance. The largest difference is that of "
        f"{best['a']}, {100 * best['difference']:+.1f} points of {question.metric} "
        f"{_doubt(best, len(against))}."
    )


def _asides(
    question: Question,
    chosen: Standing,
    finished: Sequence[Standing],
    rows: Sequence[Mapping[str, Any]],
) -> list[str]:
    """What is to be said of the other contenders."""
    said = []
    behind = [
        one
        for one in finished
        if one is not chosen
        and one.contender.role in ("method", "baseline")
        and _value(one) < _value(chosen)
    ]
    behind.sort(key=_value, reverse=True)
    if behind:
        said.append(f"Behind it on the test part, in points: {_apart(behind, chosen)}.")
    ahead = [
        one for one in finished if one.contender.role == "method" and _value(one) > _value(chosen)
    ]
    if ahead:
        said.append(f"Ahead of it on the test part: {_apart(ahead, chosen)}.")
    for one in finished:
        if one.contender.role == "yardstick":
            said.append(
                f"{one.name}, for comparison, is at {100 * (_value(one) - _value(chosen)):+.1f}."
            )
    return said + _not_compared(rows)


def _not_compared(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    unfinished = [row["name"] for row in rows if row["status"] == "unfinished"]
    return [f"Not compared in the time there was: {', '.join(unfinished)}."] if unfinished else []


def _apart(others: Sequence[Standing], chosen: Standing) -> str:
    """How far each is from the chosen one on the test part."""
    return ", ".join(f"{one.name} {100 * (_value(one) - _value(chosen)):+.1f}" for one in others)


def _value(one: Standing) -> float:
    """Its score on the test part."""
    return float(one.trial["score"])


def _doubt(test: Mapping[str, Any], n: int) -> str:
    low, high = (100 * bound for bound in test["interval"])
    p = test["p_adjusted"]
    shown = "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)
    corrected = f" after correction for {n} comparisons" if n > 1 else ""
    return f"(95 % {low:+.1f} to {high:+.1f}; {shown}{corrected})"


def _points(difference: float) -> str:
    return f"{100 * difference:.1f}"


def _the(one: Standing) -> str:
    return f"the {one.name}" if one.name.endswith("model") else one.name


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
