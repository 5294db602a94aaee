"""How scores by one metric are printed: shares in per cent, what has a unit of its own as it is.

Accuracy, F1 and their like are shares of 1, and more is better.  Held-out log-loss,
``−1/n Σ log p(true class)``, is in nats (natural logarithms) a row, and less is better; differences
are always told so that a positive one means that the first is the better.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from featloom.shown import visible
from featloom.words import number

Interval = tuple[float | None, float | None]


@dataclass(frozen=True)
class Metric:
    """What scores are called, which direction is better, and so how they are printed.

    Parameters
    ----------
    name : name of the metric; default "score".
    lower_is_better : whether it is a loss, printed in its own unit; default False.

    Examples
    --------
    >>> accuracy, loss = Metric("accuracy"), Metric("log-loss", True)
    >>> accuracy.text(0.8691), loss.text(0.28125)
    ('86.91', '0.2812')
    >>> accuracy.head, loss.head, accuracy.gain_unit, loss.gain_unit
    ('accuracy %', 'log-loss', 'points', 'nats')
    """

    name: str = ""
    lower_is_better: bool = False

    @property
    def shown_name(self) -> str:
        return visible(self.name) or "score"

    @property
    def kind(self) -> str:
        """The kind of a column of scores."""
        return "loss" if self.lower_is_better else "percent"

    @property
    def scale(self) -> int:
        return 1 if self.lower_is_better else 100

    @property
    def places(self) -> int:
        return 4 if self.lower_is_better else 2

    @property
    def head(self) -> str:
        """The head of a column of scores."""
        return self.shown_name if self.lower_is_better else f"{self.shown_name} %"

    @property
    def axis(self) -> str:
        """The title of an axis of scores, with the direction where it is not the usual one."""
        return f"{self.shown_name} (lower is better)" if self.lower_is_better else self.shown_name

    @property
    def gain_unit(self) -> str:
        """What differences are told in."""
        if not self.lower_is_better:
            return "points"
        return "nats" if self.name == "log-loss" else "better by"

    def scaled(self, value: float | None) -> float | None:
        """A score as it is printed and drawn."""
        return None if value is None else self.scale * value

    def text(self, value: float | None, places: int | None = None) -> str:
        return number(self.scaled(value), self.places if places is None else places)

    def words(self, value: float | None) -> str:
        """A score by itself, with its unit.

        >>> Metric("accuracy").words(0.5), Metric("log-loss", True).words(0.5)
        ('50.0 %', '0.500')
        """
        return self.text(value, 3) if self.lower_is_better else f"{self.text(value, 1)} %"

    def interval_text(self, interval: Interval | None) -> str:
        """Both ends of an interval of scores; "" where there is none.

        >>> Metric("log-loss", True).interval_text((0.25, 0.3125))
        '0.2500 to 0.3125'
        """
        low, high = interval or (None, None)
        return "" if low is None or high is None else f"{self.text(low)} to {self.text(high)}"

    def best(self, scores: Iterable[float]) -> float | None:
        """The best of some scores.

        >>> Metric("accuracy").best([0.1, 0.2]), Metric("log-loss", True).best([0.1, 0.2])
        (0.2, 0.1)
        """
        return (min if self.lower_is_better else max)(scores, default=None)

    def is_worse(self, value: float, other: float) -> bool:
        return value > other if self.lower_is_better else value < other
