"""What the parameters of an estimator or a function can be, declared beside their signature.

A declaration is a name and a constraint, ``{"k": whole(1), "strategy": one_of(STRATEGIES)}``.  Two
things are made of it: the check, which refuses a value in the same words everywhere, and the list
of options, from which a command line can be made.  An estimator has its declarations in the class
attribute ``constraints`` and calls :func:`check` in ``fit``; a function has them in the decorator
:func:`checked`.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, TypeVar

from featloom.errors import InputError
from featloom.words import meant, shortened

_LONGEST = 60  # letters of a value that is refused

Constraints = Mapping[str, "Constraint"]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Constraint:
    """What a parameter can be; ``a | b`` is either.

    Parameters
    ----------
    words : str; what to give, as it follows "it must be".
    allows : function; from a value to whether it can be given.
    choices : tuple, default none; the values by name, where there are some.
    kind : str, default "other"; "choice", "whole", "number", "list" or "other".

    Examples
    --------
    >>> decay = number(least=0) | one_of(["scale"])
    >>> decay.fault("decay", "scale"), decay.fault("decay", -1)
    (None, "decay is -1; it must be a number, 0 or more, or 'scale'")
    """

    words: str
    allows: Callable[[Any], bool]
    choices: tuple[Any, ...] = ()
    kind: str = "other"

    def __or__(self, other: Constraint) -> Constraint:
        if self.kind == other.kind == "choice":
            return one_of(self.choices + other.choices)
        comma = "," if "," in self.words or " or " in self.words else ""
        return Constraint(
            f"{self.words}{comma} or {other.words}",
            lambda value: self.allows(value) or other.allows(value),
            self.choices + other.choices,
            self.kind if other.kind == "choice" else other.kind,
        )

    def fault(self, name: str, value: Any) -> str | None:
        """What is wrong with a value, in a sentence; None: nothing."""
        if self.allows(value):
            return None
        near = meant(value, self.choices) if isinstance(value, str) else ""
        can = "can" if self.kind == "choice" else "must"
        return f"{name} is {shortened(repr(value), _LONGEST)}; it {can} be {self.words}{near}"


def one_of(choices: Iterable[Any]) -> Constraint:
    """One of some values.

    >>> print(one_of(["guided", "local"]).fault("strategy", "lokal"))
    strategy is 'lokal'; it can be 'guided' or 'local'; did you mean 'local'?
    """
    known = tuple(choices)
    spelled = [repr(choice) for choice in known]
    words = " or ".join(filter(None, [", ".join(spelled[:-1]), spelled[-1]]))

    def is_known(value: Any) -> bool:
        return any(value is c or (isinstance(value, type(c)) and value == c) for c in known)

    return Constraint(words, is_known, known, "choice")


def whole(least: int | None = None, most: int | None = None) -> Constraint:
    """A whole number, of these bounds.

    >>> print(whole(1).fault("k", 0))
    k is 0; it must be a whole number, 1 or more
    """
    return _numbers("whole", "a whole number", Integral, least, most)


def number(
    least: float | None = None,
    most: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
) -> Constraint:
    """A finite number, of these bounds.

    >>> print(number(above=0, most=0.5).fault("confidence", 0.9))
    confidence is 0.9; it must be a number above 0 and at most 0.5
    """
    return _numbers("number", "a number", Real, least, most, above, below)


def _numbers(kind, words, of_type, least, most, above=None, below=None) -> Constraint:
    def allows(value: Any) -> bool:
        return (
            isinstance(value, of_type)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and (least is None or value >= least)
            and (most is None or value <= most)
            and (above is None or value > above)
            and (below is None or value < below)
        )

    low = f"{least:,} or more" if least is not None else "" if above is None else f"above {above:,}"
    high = f"at most {most:,}" if most is not None else "" if below is None else f"below {below:,}"
    if least is not None and most is not None:
        low, high = f"from {least:,} to {most:,}", ""
    comma = "," if least is not None and most is None else ""
    bounds = " and ".join(filter(None, [low, high]))
    return Constraint(f"{words}{comma} {bounds}".rstrip(), allows, kind=kind)


def each(of: Constraint) -> Constraint:
    """A list of different values, at least one.

    >>> print(each(whole(1)).fault("ks", (1, 3, 0)))
    ks is (1, 3, 0); it must be a list of different values, each of them a whole number, 1 or more
    """

    def allows(values: Any) -> bool:
        if isinstance(values, str) or not isinstance(values, Collection) or not len(values):
            return False
        items = list(values)
        return all(of.allows(one) and one not in items[:n] for n, one in enumerate(items))

    words = f"a list of different values, each of them {of.words}"
    return Constraint(words, allows, of.choices, "list")


none = one_of([None])
seed = whole(0, 2**32 - 1) | none
threads = whole(None, -1) | whole(1) | none
threads = replace(threads, words="a number of threads, -1 for all cores, or None")


def check(of: Any, values: Mapping[str, Any] | None = None) -> None:
    """Refuse values that parameters cannot have.

    Parameters
    ----------
    of : an estimator with ``constraints``, or these alone.
    values : by name; default the parameters of the estimator.
    """
    for name, constraint in (of if isinstance(of, Mapping) else of.constraints).items():
        value = getattr(of, name) if values is None else values[name]
        fault = constraint.fault(name, value)
        if fault is not None:
            raise InputError(fault)


def checked(**constraints: Constraint) -> Callable[[Function], Function]:
    """A function whose arguments are checked when it is called.

    >>> @checked(n_folds=whole(2))
    ... def fold_of(rows, n_folds=5):
    ...     return [row % n_folds for row in rows]
    >>> fold_of([0, 1], 1)
    Traceback (most recent call last):
    featloom.errors.InputError: n_folds is 1; it must be a whole number, 2 or more
    """

    def declare(function: Function) -> Function:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            asked = signature.bind(*given, **named).arguments
            check({name: constraints[name] for name in constraints if name in asked}, asked)
            return function(*given, **named)

        call.constraints = constraints  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return declare


def settled(
    estimator: Any,
    recommended: Mapping[str, Any],
    presets: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Every parameter of an estimator that has ``preset``, with none left at "auto", checked."""
    settings = estimator.get_params(deep=False)
    preset = settings["preset"]
    check({"preset": one_of([*presets, None])}, settings)
    for name, value in (recommended if preset is None else presets[preset]).items():
        if isinstance(settings[name], str) and settings[name] == "auto":
            settings[name] = value
    check(estimator.constraints, settings)
    return settings


@dataclass(frozen=True)
class Option:
    """A parameter as a command line offers it.

    Parameters
    ----------
    name, default : of the signature.
    kind : str; "choice", "whole", "number", "flag", "list" or "other".
    choices : tuple; the values that have names.
    help : str; what the docstring says of it.
    """

    name: str
    default: Any
    kind: str
    choices: tuple[Any, ...]
    help: str


def options(of: Callable[..., Any]) -> list[Option]:
    """The parameters of an estimator or a function that have a default, in order.

    >>> @checked(k=whole(1), vote=one_of(["count", "inverse_distance"]))
    ... def nearest(X, k=1, vote="count", exact=False):
    ...     '''Nearest neighbours.
    ...
    ...     Parameters
    ...     ----------
    ...     X : cases.
    ...     k : how many nearest distances vote, each with all
    ...         cases that lie there.
    ...     vote, exact : as in TiMBL.
    ...     '''
    >>> for option in options(nearest):
    ...     print(option.name, option.default, option.kind, option.choices, option.help)
    k 1 whole () how many nearest distances vote, each with all cases that lie there.
    vote count choice ('count', 'inverse_distance') as in TiMBL.
    exact False flag () as in TiMBL.
    """
    start = of.__init__ if isinstance(of, type) else of  # type: ignore[misc]
    constraints = getattr(of, "constraints", None) or getattr(start, "constraints", {})
    help_of = _described(inspect.getdoc(of) or "")
    found = []
    for name, parameter in inspect.signature(of).parameters.items():
        if parameter.default is parameter.empty:
            continue
        constraint = constraints.get(name)
        kind = "flag" if isinstance(parameter.default, bool) else "other"
        choices: tuple[Any, ...] = ()
        if constraint is not None:
            kind, choices = constraint.kind, constraint.choices
        found.append(Option(name, parameter.default, kind, choices, help_of.get(name, "")))
    return found


def _described(doc: str) -> dict[str, str]:
    """What the section "Parameters" of a docstring says of each name."""
    _, _, section = doc.partition("Parameters\n----------\n")
    said: dict[str, str] = {}
    names: list[str] = []
    for line in section.partition("\n\n")[0].splitlines():
        if line.startswith(" "):
            said.update({name: f"{said[name]} {line.strip()}" for name in names})
        else:
            before, _, text = line.partition(" : ")
            names = [name.strip() for name in before.split(",")]
            said.update(dict.fromkeys(names, text))
    return said
