"""A template: which columns a feature looks at, and how far from the row it belongs to.

``Template((("word", -1), ("tag", 0)))`` looks at the word before and the tag here.  A template
has no values; every combination of values that the data shows in its places is a feature of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Template:
    """Ordered places (column, offset); kind "U" for features of a label, "B" of a label pair.

    Examples
    --------
    >>> str(Template((("word", -1), ("tag", 0))))
    'word[-1] & tag'
    """

    places: tuple[tuple[str, int], ...]
    kind: str = "U"
    name: str = ""

    def __str__(self) -> str:
        return " & ".join(
            column if offset == 0 else f"{column}[{offset:+d}]" for column, offset in self.places
        )

    def __len__(self) -> int:
        return len(self.places)
