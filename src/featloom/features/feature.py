"""A feature: a template with values.  ``PrevWord=in & NoCandidates=1`` has two parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from featloom.data.vocabulary import column_and_value
from featloom.features.template import Template


@dataclass(frozen=True)
class Feature:
    """One value for each place of a template; None where the place is a flag that is on.

    Examples
    --------
    >>> feature = Feature.from_names(["PrevWord=in", "CAPITAL"])
    >>> str(feature)
    'PrevWord=in & CAPITAL'
    >>> str(feature.template)
    'PrevWord & CAPITAL'
    >>> len(feature)
    2
    """

    template: Template
    values: tuple[str | None, ...]

    @classmethod
    def from_names(cls, names: Sequence[str]) -> Feature:
        """A feature from the names of its parts, each ``column=value`` or the name of a flag."""
        places, values = [], []
        for name in names:
            column, value = column_and_value(name)
            places.append((column, 0))
            values.append(value)
        return cls(Template(tuple(places)), tuple(values))

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the atomic features that must all hold."""
        return tuple(
            column if value is None else f"{column}={value}"
            for (column, _), value in zip(self.template.places, self.values, strict=True)
        )

    def __str__(self) -> str:
        return " & ".join(self.parts)

    def __len__(self) -> int:
        return len(self.values)
