"""A way to predict that takes part in comparisons, and all that the house knows of a method.

A :class:`Contender` is fitted on some units with one of its settings and becomes a :class:`Fitted`.
A :class:`Method` declares its contenders for each kind of data; commands, comparisons and pages
read it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from featloom.results import Grid

Setting: TypeAlias = dict[str, Any]


class Fitted(Protocol):
    """A model that was fitted."""

    @property
    def size(self) -> int:
        """How many features or stored cases it is made of; fewer is simpler."""
        ...

    @property
    def size_words(self) -> str:
        """The same in words: "3,100 features"."""
        ...

    @property
    def setting(self) -> str:
        """What was tuned, in words: "C 0.3, 1,000 conjunctions"."""
        ...

    @property
    def model(self) -> Any:
        """The estimator that a user gets: a Pipeline, a tagger, a parser."""
        ...

    def answers(self, data: Any) -> np.ndarray:
        """An int code for every row or token of the data, in order."""
        ...

    def findings(self) -> list[Grid]:
        """What can be read off the model."""
        ...

    def save(self, folder: Path) -> list[str]:
        """Write the model (model.featloom) and exports; names of the files."""
        ...


@dataclass(frozen=True)
class Contender:
    """One way to predict.

    Parameters
    ----------
    name : as the leaderboard has it.
    role : "chance", "baseline", "method" or "yardstick".
    idea : what it does, in a line.
    fit_each : (data, settings, seed, threads) → a :class:`Fitted` for each setting, in order; what
        the settings have in common is done once.
    axes : what can be set, each with its values, the default first; tuned one after the other.
    searches : whether it searches for its setting while it is fitted; it then comes last, and a
        fitted one may say in ``found`` with which setting the search need not be done again.  A
        setting may then have ``trials``, the most that the search may do, and ``seconds`` None.
    cost : a first guess of its seconds beside the others', for the order in which they are tried.
    compiles : whether its first use compiles kernels, which is not to be timed.
    costs_like : another contender, and how many times its cost this one's is about, for one that is
        too slow to be tried unless it can be afforded; ("", 0): it is tried.

    Examples
    --------
    >>> one = Contender("linear model", "baseline", "", lambda *_: iter(()), {"C": (1.0, 0.1)})
    >>> one.default, one.varied(one.default, "C")
    ({'C': 1.0}, [{'C': 0.1}])
    """

    name: str
    role: str
    idea: str
    fit_each: Callable[[Any, Sequence[Setting], int, int], Iterator[Fitted]]
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    searches: bool = False
    cost: float = 1.0
    compiles: bool = True
    costs_like: tuple[str, float] = ("", 0.0)

    @property
    def default(self) -> Setting:
        """The setting that is tried first."""
        return {name: values[0] for name, values in self.axes.items()}

    def varied(self, setting: Setting, axis: str) -> list[Setting]:
        """The settings that differ from one in a single axis."""
        return [setting | {axis: value} for value in self.axes[axis] if value != setting.get(axis)]

    def fit(self, data: Any, setting: Setting, seed: int, threads: int) -> Fitted:
        """Fit one setting."""
        return next(iter(self.fit_each(data, [setting], seed, threads)))


@dataclass(frozen=True)
class Unsuited:
    """What takes no part, by the name that the leaderboard has, and why, in a sentence."""

    name: str
    why: str


Contenders: TypeAlias = Sequence[Contender | Unsuited]


@dataclass(frozen=True)
class Method:
    """A method: its name, and who takes part for it in comparisons.

    Parameters
    ----------
    name : of its folder.
    contenders : for each kind of data ("table", "sequence", "trees", "tasks") who takes part and
        who does not; or a function that says so of what is asked.

    Examples
    --------
    >>> one = Method("memory", {"trees": [Unsuited("memory", "it is for rows")]})
    >>> one.contenders_for("trees", None)[0].why, one.contenders_for("table", None)
    ('it is for rows', [])
    """

    name: str
    contenders: Mapping[str, Contenders | Callable[[Any], Contenders]]

    def contenders_for(self, kind: str, asked: Any) -> list[Contender | Unsuited]:
        """Who takes part for it on data of a kind, and who does not."""
        found = self.contenders.get(kind, ())
        return list(found(asked) if callable(found) else found)
