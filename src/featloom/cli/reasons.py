"""How the reasons of a linear model are shown: a line for each feature, its weight before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from featloom.learners.reasons import Reasons


def reason_lines(why: Reasons) -> list[str]:
    """A line for each feature that spoke, and one for all that are not named.

    >>> from featloom.learners.reasons import Reasons
    >>> reason_lines(Reasons("K", "S", (("letter=c & next=a", 2.0), ("(every row)", -0.5)), 0.25))
    ['  +2.0000  letter=c & next=a', '  -0.5000  (every row)', '  +0.2500  (all others)']
    """
    listed = [*why.features, *([("(all others)", why.rest)] if why.rest else [])]
    return [f"  {weight:+.4f}  {name}" for name, weight in listed]


def reasons_part(why: Reasons) -> dict[str, Any]:
    """The same as a part of a JSON result."""
    return {
        "answer": why.answer,
        "against": why.against,
        "features": [{"name": name, "weight": weight} for name, weight in why.features],
        "rest": why.rest,
    }
