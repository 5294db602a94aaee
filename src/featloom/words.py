"""How numbers and lists are spelled to people, in messages, in the terminal and on pages.

Thousands are grouped, a p below .001 is said to be so, a thing counted once stands in the singular,
and a name that is not there comes with those that are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

MISSING = "–"


# ── numbers ──


def number(value: float | None, places: int = 0, *, signed: bool = False) -> str:
    """A number as it is printed: grouped, with a true minus sign.

    >>> number(55268), number(-0.12345, 3), number(None), number(0.5, 1, signed=True)
    ('55,268', '−0.123', '–', '+0.5')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    smallest, largest = 10.0**-places / 2, 1e15
    if (value and places and abs(value) < smallest) or abs(value) >= largest:
        text = f"{value:+.0e}" if signed else f"{value:.0e}"
    else:
        text = f"{value:+,.{places}f}" if signed else f"{value:,.{places}f}"
    return text.replace("-", "−")


def bare(value: float | None, places: int = 3) -> str:
    """A number below one as it is printed where there is little room, without its zero.

    >>> bare(0.2812), bare(1.5), bare(-0.25, 2), bare(None)
    ('.281', '1.500', '−.25', '–')
    """
    text = number(value, places)
    return text.replace("0.", ".", 1) if text.startswith(("0.", "−0.")) else text


def percent(share: float, places: int = 1) -> str:
    """A share of one in per cent.

    >>> percent(0.869), percent(0.93, 2)
    ('86.9 %', '93.00 %')
    """
    return f"{100 * share:.{places}f} %"


def points(difference: float, places: int = 1, *, signed: bool = True) -> str:
    """A difference of two shares of one.

    >>> points(0.0131), points(-0.005, 2), points(0.0131, signed=False)
    ('+1.3 points', '-0.50 points', '1.3 points')
    """
    return f"{100 * difference:{'+' if signed else ''}.{places}f} points"


def interval_of_points(interval: Iterable[float], places: int = 1) -> str:
    """Where a difference of two shares lies.

    >>> interval_of_points([-0.005, 0.0131])
    '95 % -0.5 to +1.3'
    """
    low, high = (f"{100 * bound:+.{places}f}" for bound in interval)
    return f"95 % {low} to {high}"


def p_value(p: float | None, *, zero: bool = False) -> str:
    """A probability to three places, in a table; with its zero where all numbers have theirs.

    >>> p_value(0.0312), p_value(0.00001), p_value(0.0312, zero=True), p_value(None)
    ('.031', '< .001', '0.031', '')
    """
    if p is None:
        return ""
    text = "< 0.001" if p < 0.001 else f"{p:.3f}"
    return text if zero else text.replace("0.", ".", 1)


def p_words(p: float) -> str:
    """The same in a sentence.

    >>> p_words(0.0312), p_words(0.00001), p_words(1.0)
    ('p = .031', 'p < .001', 'p = 1.000')
    """
    return f"p {'' if p < 0.001 else '= '}{p_value(p)}"


def seconds(value: float | None, places: int | None = None) -> str:
    """A span of time; below a minute to so many places, where it is not said to what is seen.

    >>> seconds(0.0421), seconds(3.25), seconds(125), seconds(600), seconds(7300)
    ('0.042 s', '3.2 s', '2 min 5 s', '10 min', '2 h 1 min')
    >>> seconds(3.25, 0), seconds(59.7, 0)
    ('3 s', '1 min')
    """
    if value is None:
        return MISSING
    if places is None:
        places = 1 if value >= 1 else 3
    if round(value, places) < 60:
        return f"{value:.{places}f} s"
    minutes, left = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {left} s" if left else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def about(span: float) -> str:
    """A span of time that is a guess.

    >>> about(4.2), about(200)
    ('4 s', '3 min')
    """
    return f"{span:.0f} s" if span < 90 else f"{span / 60:.0f} min"


# ── things ──


def plural(n: int, one: str, many: str = "") -> str:
    """The word for so many of something.

    >>> plural(1, "row"), plural(0, "row"), plural(2, "branch", "branches")
    ('row', 'rows', 'branches')
    """
    return one if n == 1 else many or f"{one}s"


def counted(n: int, one: str, many: str = "") -> str:
    """So many of something.

    >>> counted(1, "row"), counted(2_000, "row"), counted(2, "class has", "classes have")
    ('1 row', '2,000 rows', '2 classes have')
    """
    return f"{n:,} {plural(n, one, many)}"


def parts_in_words(sizes: Mapping[str, int], unit: str = "row") -> str:
    """How much each part of the data has.

    >>> parts_in_words({"train": 1000, "test": 1}), parts_in_words({"valid": 9}, "sentence")
    ('1,000 training rows, 1 test row', '9 validation sentences')
    """
    words = {"train": "training", "valid": "validation", "test": "test"}
    return ", ".join(counted(n, f"{words[name]} {unit}") for name, n in sizes.items())


# ── lists ──


def listed(words: Sequence[str]) -> str:
    """All of a short list.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def first_few(words: Sequence[str], most: int = 20) -> str:
    """The first of a list that may be long.

    >>> first_few(["area", "plan", "channel"], 2), first_few(["area", "plan"], 2)
    ('area, plan, …', 'area, plan')
    """
    return ", ".join([*words[:most], *(["…"] if len(words) > most else [])])


def first_and_more(words: Sequence[str], most: int) -> str:
    """The first of a list, and how many more there are.

    >>> first_and_more(["area", "plan", "channel"], 2), first_and_more(["area", "plan"], 2)
    ('area, plan and 1 more', 'area, plan')
    """
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more:,} more" if more > 0 else "")


def shortened(text: str, longest: int) -> str:
    """Text for a place that has no room for more.

    >>> shortened("abcdef", 5), shortened("short", 5)
    ('abcd…', 'short')
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# ── names that are not there ──


def meant(name: str, known: Iterable[str]) -> str:
    """What to add to an error about a name that is none of those there are.

    >>> meant("survived", ["PassengerId", "Survived"]), meant("late", ["area", "plan"])
    ("; did you mean 'Survived'?", '')
    """
    by_letters = {one.casefold(): one for one in map(str, known)}
    near = get_close_matches(str(name).casefold(), by_letters, n=1, cutoff=0.75)
    return f"; did you mean {by_letters[near[0]]!r}?" if near else ""


def no_such(what: str, names: Any, known: Iterable[Any], note: str = "") -> str:
    """A name, or a list of several, that are none of those there are.

    >>> print(no_such("column", "plam", ["area", "plan"], " for --target"))
    no column 'plam' for --target; there are area, plan; did you mean 'plan'?
    >>> print(no_such("column", ["tax", "age"], ["area", "plan"]))
    no columns 'tax', 'age'; there are area, plan
    """
    lacking = names if isinstance(names, list) else [names]
    there = list(map(str, known))
    near = meant(lacking[0], there) if len(lacking) == 1 else ""
    word = plural(len(lacking), what)
    return f"no {word} {', '.join(map(repr, lacking))}{note}; there are {first_few(there)}{near}"
