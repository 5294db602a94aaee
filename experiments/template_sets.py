"""The templates of Xu and others: the six sets of their Table 1, the six experiments of Table 2.

Sets 1 to 3 look at words and parts of speech, ever farther from the token.  Sets 4 to 6 look at the
label before it: alone, with parts of speech nearby, and with those four tokens away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from featloom.features.template import Template
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import templates_of_lines


@dataclass(frozen=True)
class Experiment:
    """A row of Table 2: the model that stands in for the CRF, and the sets of templates."""

    id: int
    model: str
    sets: tuple[int, ...]


# Table 1; column 0 is the word, column 1 its part of speech.  P(i-1)P(i+1) is listed twice there.
SETS = {
    1: "0,0 -1,0 -2,0 1,0 2,0 0,1 -1,1 -2,1 1,1 2,1 -1,0/0,0 0,0/1,0 -1,0/1,0 -1,1/0,1 -2,1/-1,1 "
    "0,1/1,1 -1,1/1,1 -2,1/-1,1/0,1 0,1/1,1/2,1 0,0/1,1 0,0/2,1 0,1/-1,0 -2,0/-1,1/0,1 "
    "0,1/1,0/1,1 -1,1/0,0/0,1 0,1/1,0",
    2: "-3,0 3,0 -3,1 3,1 -3,0/-2,0 2,0/3,0 -3,1/-2,1 2,1/3,1",
    3: "-4,0 4,0 -4,1 4,1 -4,0/-3,0 3,0/4,0 -4,1/-3,1 3,1/4,1",
    4: "",
    5: "0,1/1,1 0,1 -1,1/0,1",
    6: "-4,1 4,1",
}
EXPERIMENTS = (
    Experiment(1, "maxent", (1,)),
    Experiment(2, "maxent", (1, 2)),
    Experiment(3, "maxent", (1, 2, 3)),
    Experiment(4, "memm", (1, 2, 4)),
    Experiment(5, "memm", (1, 2, 4, 5)),
    Experiment(6, "memm", (1, 2, 4, 5, 6)),
)
COLUMNS = ("word", "pos")


def template_text(sets: Sequence[int]) -> str:
    """The CRF++ template file of some sets of Table 1; from set 4 on they look at label pairs.

    >>> print(template_text((4, 5)))
    B
    B00:%x[0,1]/%x[1,1]
    B01:%x[0,1]
    B02:%x[-1,1]/%x[0,1]
    """
    lines: list[str] = []
    for kind, members in (("U", (1, 2, 3)), ("B", (4, 5, 6))):
        places = [place for n in members if n in sets for place in SETS[n].split()]
        if 4 in sets and kind == "B":
            lines.append("B")
        for number, place in enumerate(places):
            macros = "/".join(f"%x[{cell}]" for cell in place.split("/"))
            lines.append(f"{kind}{number:02d}:{macros}")
    return "\n".join(lines)


def templates_of(sets: Sequence[int]) -> tuple[Template, ...]:
    """The templates of some sets of Table 1.

    >>> len(templates_of([1])), len(templates_of([1, 2, 3])), len(templates_of([1, 2, 4, 5, 6]))
    (26, 42, 40)
    """
    return templates_of_lines(read_templates(template_text(sets).splitlines()), COLUMNS)


def single_additions() -> tuple[tuple[Template, ...], tuple[Template, ...]]:
    """A window of one token on both sides, and the other templates of sets 1 to 3.

    >>> base, additions = single_additions()
    >>> len(base), len(additions), str(additions[0])
    (6, 36, 'word[-2]')
    """
    every = templates_of((1, 2, 3))
    base = [t for t in every if len(t) == 1 and abs(t.places[0][1]) <= 1]
    return tuple(base), tuple(t for t in every if t not in base)
