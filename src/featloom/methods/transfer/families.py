"""The family of a feature: the template that it is a value of, read off its name.

A feature that few tasks have met says little about itself, but its family says a good deal: the
direct object of a verb tells its senses apart more often than a word somewhere in the text does.
``dobj_money`` belongs to ``dobj`` and ``Prev=in`` to ``Prev``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from featloom.errors import InputError

Families = Sequence[str] | Callable[[str], str] | None


def family_of(name: str) -> str:
    """What stands before the first "=" of a name; without one, before its last "_".

    A name with neither is a family of its own.

    >>> [family_of(name) for name in ("Prev=in", "ppobj_in_house", "tp_money", "CAP")]
    ['Prev', 'ppobj_in', 'tp', 'CAP']
    """
    if "=" in name:
        return name.partition("=")[0]
    return name.rpartition("_")[0] if "_" in name else name


def family_reader(families: Families, names: Sequence[str] | None) -> Callable[[str], str]:
    """The function from a feature's name to its family.

    ``families`` is such a function, or a family for each of the names, or None:
    :func:`family_of`.  A name that is not in the list gets the family that its name tells.

    >>> reader = family_reader(["object", "object"], ["dobj_money", "iobj_me"])
    >>> reader("iobj_me"), reader("subj_bank")
    ('object', 'subj')
    """
    if families is None:
        return family_of
    if callable(families):
        return families
    if names is None:
        raise InputError("families in a list need feature_names, in the same order")
    if len(families) != len(names):
        raise InputError(f"{len(families)} families for {len(names)} feature names")
    return ListedFamilies(dict(zip(names, map(str, families), strict=True)))


@dataclass(frozen=True)
class ListedFamilies:
    """Families of the features in a list; of others, what another function says."""

    listed: Mapping[str, str]
    others: Callable[[str], str] = family_of

    def __call__(self, name: str) -> str:
        return self.listed[name] if name in self.listed else self.others(name)
