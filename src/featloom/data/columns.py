"""Columns made of other columns: what a word ends in, how it is written, how common it is.

A maker is a small recipe: which column it reads and how.  It looks at each value of the
vocabulary once, never at rows, and it is written down as a dictionary, so that a plan or a model
file can carry it.

| make | settings | name | value for "McDonald-9" in column ``word`` |
|---|---|---|---|
| lower | | ``word.lower`` | mcdonald-9 |
| prefix | length | ``word.prefix3`` | McD |
| suffix | length | ``word.suffix3`` | d-9 |
| shape | full (false) | ``word.shape``, ``word.fullshape`` | XxXx-d, XxXxxxxx-d |
| flag | flag: digit, hyphen, capital, allcaps | ``word.digit`` | yes |
| coarse | length | ``word.coarse1`` | M (meant for tags: NNS is N) |
| attribute | key | ``feats.Gender`` | Masc (of "Gender=Masc|Number=Sing"; "_" without it) |
| frequent | number, otherwise | ``word.frequent100`` | the word, if one of the 100 commonest |

Unknown values stay unknown.  A word that was not seen in training is unknown once a table is
recoded, and so would be its ending: derive columns first, recode afterwards.

>>> from featloom.data.table import NominalTable
>>> table = NominalTable.from_columns({"word": ["walking", "Talking", "talk"]})
>>> table = derive(table, Suffix("word", 3))
>>> table = derive(table, {"make": "flag", "of": "word", "flag": "capital"})
>>> table.columns
('word', 'word.suffix3', 'word.capital')
>>> [table.value("word.suffix3", row) for row in range(3)]
['ing', 'ing', 'alk']
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from featloom.data.table import UNKNOWN, NominalTable
from featloom.data.vocabulary import Vocabulary, codes_in
from featloom.errors import InputError
from featloom.words import no_such

RARE = "<rare>"

_FEW_VALUES = 150  # columns of tags, which all the given ones but words are


@dataclass(frozen=True)
class ColumnMaker(ABC):
    """A recipe for one column; subclasses say what becomes of a value.

    Parameters
    ----------
    of : the column it reads.
    """

    make: ClassVar[str] = ""
    of: str

    @property
    def name(self) -> str:
        """The name of the new column."""
        return f"{self.of}.{self.make}"

    def fit(self, table: NominalTable) -> ColumnMaker:
        """The maker with what it must know of the training data; most need nothing."""
        return self

    @abstractmethod
    def codes(self, table: NominalTable) -> tuple[np.ndarray, tuple[str, ...]]:
        """Codes and vocabulary of the new column."""

    def to_dict(self) -> dict[str, Any]:
        """The recipe in plain values; ``column_maker`` reads it back.

        >>> Suffix("word", 3).to_dict()
        {'make': 'suffix', 'of': 'word', 'length': 3}
        """
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in settings.items()}
        return {"make": self.make, **plain}


class ByValue(ColumnMaker):
    """A maker that looks at one value at a time, so at each value of a vocabulary once."""

    @abstractmethod
    def value(self, symbol: str) -> str:
        """What a value of the column becomes."""

    def codes(self, table: NominalTable) -> tuple[np.ndarray, tuple[str, ...]]:
        """Codes and vocabulary of the new column."""
        j = table.column_index(self.of)
        made = Vocabulary()
        code_of = codes_in(made, list(map(self.value, table.vocabularies[j])), grow=True)
        return code_of[table.codes[:, j]], made.names


@dataclass(frozen=True)
class Lower(ByValue):
    """The value in lower case."""

    make = "lower"

    def value(self, symbol: str) -> str:
        return symbol.lower()


@dataclass(frozen=True)
class Affix(ByValue):
    """A stretch of ``length`` letters; a value that is shorter stands for itself."""

    length: int

    def __post_init__(self):
        if not isinstance(self.length, int) or self.length < 1:
            raise InputError(f"the length of a {self.make} must be 1 or more, not {self.length!r}")

    @property
    def name(self) -> str:
        return f"{self.of}.{self.make}{self.length}"


@dataclass(frozen=True)
class Prefix(Affix):
    """The first letters of the value."""

    make = "prefix"

    def value(self, symbol: str) -> str:
        return symbol[: self.length]


@dataclass(frozen=True)
class Suffix(Affix):
    """The last letters of the value."""

    make = "suffix"

    def value(self, symbol: str) -> str:
        return symbol[-self.length :]


@dataclass(frozen=True)
class Coarse(Prefix):
    """A tag cut to its first letters, which in most tag sets is the part of speech."""

    make = "coarse"


@dataclass(frozen=True)
class Shape(ByValue):
    """How the value is written: X for a capital, x for a small letter, d for a digit.

    Letters of scripts without case are c, all else stands for itself.  Runs are written once,
    unless ``full`` is true.
    """

    make = "shape"
    full: bool = False

    @property
    def name(self) -> str:
        return f"{self.of}.fullshape" if self.full else f"{self.of}.shape"

    def value(self, symbol: str) -> str:
        return word_shape(symbol, full=self.full)


@dataclass(frozen=True)
class Flag(ByValue):
    """Whether the value has a certain trait: yes or no."""

    make = "flag"
    flag: str

    def __post_init__(self):
        if self.flag not in FLAGS:
            raise InputError(no_such("flag", self.flag, FLAGS))

    @property
    def name(self) -> str:
        return f"{self.of}.{self.flag}"

    def value(self, symbol: str) -> str:
        return "yes" if FLAGS[self.flag](symbol) else "no"


@dataclass(frozen=True)
class Attribute(ByValue):
    """One attribute of a list such as CoNLL-U's features: ``Gender=Masc|Number=Sing``.

    >>> Attribute("feats", "Number").value("Gender=Masc|Number=Sing")
    'Sing'
    """

    make = "attribute"
    key: str

    @property
    def name(self) -> str:
        return f"{self.of}.{self.key}"

    def value(self, symbol: str) -> str:
        for pair in symbol.split("|"):
            key, _, value = pair.partition("=")
            if key == self.key:
                return value
        return "_"


@dataclass(frozen=True)
class Frequent(ColumnMaker):
    """The value itself if it is one of the commonest in training, else that of another column.

    Parameters
    ----------
    number : how many of the commonest values stand for themselves.
    otherwise : the column that speaks for the others; None: they are all ``<rare>``.
    values : the commonest values, in alphabetical order; None until the maker is fitted.

    Examples
    --------
    >>> table = NominalTable.from_columns({"word": ["the", "cat", "the"], "pos": ["D", "N", "D"]})
    >>> maker = Frequent("word", 1, otherwise="pos").fit(table)
    >>> maker.to_dict()["values"]
    ['the']
    >>> seen = derive(table, maker)
    >>> [seen.value(maker.name, row) for row in range(3)]
    ['the', 'N', 'the']
    """

    make = "frequent"
    number: int
    otherwise: str | None = None
    values: tuple[str, ...] | None = None

    def __post_init__(self):
        values = () if self.values is None else self.values
        if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
            raise InputError("the commonest values of a column must be text")

    @property
    def name(self) -> str:
        name = f"{self.of}.frequent{self.number}"
        return name if self.otherwise is None else f"{name}.{self.otherwise}"

    def fit(self, table: NominalTable) -> Frequent:
        """Keep the commonest values; among equals the first in the alphabet."""
        j = table.column_index(self.of)
        vocabulary = table.vocabularies[j]
        counts = np.bincount(table.codes[:, j], minlength=len(vocabulary) + 1)[1:]
        seen = np.flatnonzero(counts)
        order = sorted(seen, key=lambda code: (-counts[code], vocabulary[code]))
        commonest = sorted(vocabulary[code] for code in order[: self.number])
        return replace(self, values=tuple(commonest))

    def codes(self, table: NominalTable) -> tuple[np.ndarray, tuple[str, ...]]:
        if self.values is None:
            raise InputError(f"column {self.name!r} must be fitted on training data first")
        j = table.column_index(self.of)
        common = set(self.values)
        is_common = np.array([False, *(word in common for word in table.vocabularies[j])])
        row_is_common = is_common[table.codes[:, j]]
        # One code space for both columns: words of ``of``, then what speaks for the others.
        n_words = len(table.vocabularies[j])
        others: tuple[str, ...] = (RARE,)
        spoken_for = np.ones(len(table), dtype=np.int32)
        if self.otherwise is not None:
            k = table.column_index(self.otherwise)
            spoken_for, others = table.codes[:, k], table.vocabularies[k]
        joint = np.where(
            row_is_common,
            table.codes[:, j],
            np.where(spoken_for == UNKNOWN, UNKNOWN, spoken_for + np.int32(n_words)),
        )
        symbols = np.array([None, *table.vocabularies[j], *others], dtype=object)
        made = Vocabulary(missing=[None])
        return made.add(symbols[joint].tolist()) + np.int32(1), made.names


FLAGS = {
    "digit": lambda word: any(letter.isdigit() for letter in word),
    "hyphen": lambda word: "-" in word,
    "capital": lambda word: word[:1].isupper(),
    "allcaps": lambda word: word.isupper(),
}

MAKERS: dict[str, type[ColumnMaker]] = {
    maker.make: maker for maker in (Lower, Prefix, Suffix, Shape, Flag, Coarse, Attribute, Frequent)
}


def column_maker(spec: ColumnMaker | Mapping[str, Any]) -> ColumnMaker:
    """The maker that a dictionary describes.

    >>> column_maker({"make": "shape", "of": "word"}).name
    'word.shape'
    """
    if isinstance(spec, ColumnMaker):
        return spec
    settings = dict(spec)
    make = settings.pop("make", None)
    if make not in MAKERS:
        raise InputError(no_such("column maker", make, MAKERS))
    known = [field.name for field in fields(MAKERS[make])]
    for name in settings:
        if name not in known:
            raise InputError(f"column maker {make!r} has {no_such('setting', name, known)}")
    if isinstance(settings.get("values"), list):
        settings["values"] = tuple(settings["values"])
    try:
        return MAKERS[make](**settings)
    except TypeError:
        missing = [name for name in known if name not in settings]
        raise InputError(f"column maker {make!r} needs {', '.join(missing)}") from None


def derive(
    table: NominalTable,
    *specs: ColumnMaker | Mapping[str, Any],
) -> NominalTable:
    """The table with one more column for each maker; a later one may read what an earlier made."""
    for spec in specs:
        maker = column_maker(spec)
        codes, vocabulary = maker.codes(table)
        table = replace(
            table,
            columns=(*table.columns, maker.name),
            codes=np.asfortranarray(np.column_stack([table.codes, codes])),
            vocabularies=(*table.vocabularies, vocabulary),
        )
    return table


def fit_makers(
    table: NominalTable, specs: Iterable[ColumnMaker | Mapping[str, Any]]
) -> list[ColumnMaker]:
    """The makers with what they must know of the training data, in the order given."""
    fitted = []
    for spec in specs:
        maker = column_maker(spec).fit(table)
        table = derive(table, maker)
        fitted.append(maker)
    return fitted


def word_shape(word: str, *, full: bool = False) -> str:
    """How a word is written.

    >>> word_shape("McDonald"), word_shape("1998-99"), word_shape("McDonald", full=True)
    ('XxXx', 'd-d', 'XxXxxxxx')
    """
    signs = [_sign(letter) for letter in word]
    return "".join(signs if full else (sign for sign, _ in itertools.groupby(signs)))


def _sign(letter: str) -> str:
    if letter.isupper():
        return "X"
    if letter.islower():
        return "x"
    if letter.isdigit():
        return "d"
    return "c" if letter.isalpha() else letter


def default_makers(table: NominalTable) -> list[ColumnMaker]:
    """Columns to derive: of words their form, of tags their first letters, and both in one.

    The column with the most values is taken for the words, those with few for tags.

    >>> table = NominalTable.from_columns({"word": list("abcab"), "tag": list("NVNNV")})
    >>> [maker.name for maker in default_makers(table)][-3:]
    ['tag.coarse1', 'tag.coarse2', 'word.frequent100.tag']
    """
    sizes = [len(vocabulary) for vocabulary in table.vocabularies]
    word = table.columns[int(np.argmax(sizes))]
    tags = [
        name
        for name, size in zip(table.columns, sizes, strict=True)
        if name != word and size <= _FEW_VALUES
    ]
    makers: list[ColumnMaker] = [Lower(word)]
    makers += [Prefix(word, n) for n in (1, 2, 3, 4)]
    makers += [Suffix(word, n) for n in (1, 2, 3, 4)]
    makers += [Shape(word), *(Flag(word, flag) for flag in ("digit", "hyphen", "capital"))]
    makers += [Coarse(tag, n) for tag in tags for n in (1, 2)]
    makers += [
        Frequent(word, n, otherwise=tag)
        for tag in tags
        for n in (100, 1000)
        if n == 100 or n < max(sizes)
    ]
    return makers
