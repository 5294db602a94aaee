"""Templates of edges that people wrote, and the edge columns that are asked by default.

The manual set is that of McDonald, Crammer and Pereira (2005) for first-order parsing: words and
tags of head and modifier alone and crossed, tags around both, each also with side and distance,
and the tags between the two.  It is written for a word column, a fine and a coarse tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.template import Template

# What verbs, punctuation and conjunctions are called in Universal Dependencies, in the Floresta
# and in the Penn Treebank.
_COUNTED = (
    ("VERB", "AUX", "v", "VB", "VBD", "VBZ", "VBP", "VBN", "VBG", "MD"),
    ("PUNCT", "punc", ",", ".", ":", "``", "''"),
)
_SIDE = ("side", "distance")


@dataclass(frozen=True)
class TokenColumns:
    """Which columns of the tokens are word, tag and coarse tag.

    >>> TokenColumns.of(NominalTable.from_columns({"form": ["a"], "upos": ["X"], "xpos": ["_"]}))
    TokenColumns(word='form', tag='upos', coarse='upos')
    """

    word: str
    tag: str
    coarse: str

    @classmethod
    def of(cls, table: NominalTable) -> TokenColumns:
        """CoNLL's names where they are there and say something, else the first columns."""

        def says_something(name: str) -> bool:
            return name in table.columns and len(table.vocabularies[table.columns.index(name)]) > 1

        names = [name for name in table.columns if name != "deprel"]
        if not names:
            raise InputError("there are no columns to parse by")
        word = "form" if "form" in names else names[0]
        others = [name for name in names if name != word] or [word]
        tag = next((n for n in ("xpos", "upos") if says_something(n)), others[0])
        return cls(word, tag, "upos" if says_something("upos") else tag)


def edge_columns(table: NominalTable, tokens: TokenColumns | None = None) -> list[str]:
    """McDonald's basic features of an edge: 14 columns where word, tag and coarse tag differ."""
    tokens = tokens or TokenColumns.of(table)
    own = [tokens.word, tokens.tag, tokens.coarse, f"{tokens.tag}[-1]", f"{tokens.tag}[+1]"]
    names = [f"{end}.{column}" for end in ("head", "mod") for column in dict.fromkeys(own)]
    values = table.vocabularies[table.column_index(tokens.coarse)]
    for tags in _COUNTED:
        # A comma separates the values in a column's name, so it cannot be one.
        there = [tag for tag in tags if tag in values and tag != ","]
        if there:
            names.append(f"between.{tokens.coarse}={','.join(there)}")
    return [*names, *_SIDE]


def manual_templates(tokens: TokenColumns) -> list[Template]:
    """The first-order set: 104 templates where word, tag and coarse tag differ.

    >>> templates = manual_templates(TokenColumns("form", "xpos", "upos"))
    >>> len(templates), str(templates[1])
    (104, 'head.form & side & distance')
    """
    head, mod = f"head.{tokens.tag}", f"mod.{tokens.tag}"
    before, after = f"{head}[-1]", f"{head}[+1]"
    mod_before, mod_after = f"{mod}[-1]", f"{mod}[+1]"
    word, mod_word = f"head.{tokens.word}", f"mod.{tokens.word}"
    coarse, mod_coarse = f"head.{tokens.coarse}", f"mod.{tokens.coarse}"
    crossed = [
        *_alone_and_crossed(word, head, mod_word, mod),
        *_alone_and_crossed(word, coarse, mod_word, mod_coarse),
        (word, head, mod_coarse),
        (coarse, mod_word, mod),
    ]
    around = [
        places
        for h, m in ((head, mod), (coarse, mod_coarse))
        for places in (
            (h, after, mod_before, m),
            (before, h, mod_before, m),
            (h, after, m, mod_after),
            (before, h, m, mod_after),
            (h, after, m),
            (before, h, m),
            (h, mod_before, m),
            (h, m, mod_after),
        )
    ]
    more = [
        (before, after, head, mod),
        (head, mod_before, mod, mod_after),
        (head, after, mod_before),
        (before, mod_before, mod),
        (after, mod_before, mod),
        (before, head, mod_before),
        (before, head, mod_after),
    ]
    return _with_side([*crossed, *around, *more])


def between_templates(tokens: TokenColumns) -> list[Template]:
    """Each tag between the two with their own tags; what manual and grown sets share."""
    sets = [
        (f"head.{tag}", f"between.{tag}", f"mod.{tag}")
        for tag in dict.fromkeys((tokens.tag, tokens.coarse))
    ]
    return _with_side(sets)


def pilot_templates(tokens: TokenColumns, columns: Sequence[str]) -> list[Template]:
    """The few templates of the pilot."""
    head, mod = f"head.{tokens.tag}", f"mod.{tokens.tag}"
    counts = [name for name in columns if name.startswith("between.") and "=" in name]
    return [
        edge_template(head, mod, *_SIDE),
        edge_template(f"head.{tokens.word}", mod, "side"),
        edge_template(head, f"mod.{tokens.word}", *_SIDE),
        edge_template(head, f"{head}[+1]", f"{mod}[-1]", mod, "side"),
        edge_template(f"{head}[-1]", head, mod, f"{mod}[+1]", "side"),
        edge_template(head, mod, "side", *counts[:2]),
    ]


def relation_templates(tokens: TokenColumns) -> list[Template]:
    """What tells the relation of a modifier to its head."""
    head, mod = f"head.{tokens.tag}", f"mod.{tokens.tag}"
    word, mod_word = f"head.{tokens.word}", f"mod.{tokens.word}"
    return [
        edge_template(*places)
        for places in (
            (mod, "side"),
            (mod_word, "side"),
            (head, "side"),
            (head, mod, "side"),
            (head, mod, "side", "distance"),
            (head, mod_word, "side"),
            (word, mod, "side"),
            (word, mod_word),
            (mod_word, mod),
            (word, head, mod, "side"),
            (f"{mod}[-1]", mod, head, "side"),
            (mod, f"{mod}[+1]", head, "side"),
            (f"{mod}[-1]", mod, f"{mod}[+1]"),
            (f"{head}[-1]", head, mod, "side"),
            (head, f"{head}[+1]", mod, "side"),
        )
    ]


def edge_template(*names: str) -> Template:
    """A template over edge columns."""
    return Template(tuple((name, 0) for name in dict.fromkeys(names)))


def _alone_and_crossed(word: str, tag: str, mod_word: str, mod_tag: str) -> list[tuple[str, ...]]:
    return [
        (word,),
        (tag,),
        (word, tag),
        (mod_word,),
        (mod_tag,),
        (mod_word, mod_tag),
        (word, tag, mod_word, mod_tag),
        (tag, mod_word, mod_tag),
        (word, mod_word, mod_tag),
        (word, tag, mod_tag),
        (word, tag, mod_word),
        (tag, mod_tag),
        (word, mod_word),
        (word, mod_tag),
        (tag, mod_word),
    ]


def _with_side(places: Sequence[tuple[str, ...]]) -> list[Template]:
    """Each once as it is and once with side and distance; the same places are taken once."""
    distinct: dict[frozenset[str], tuple[str, ...]] = {}
    for names in places:
        distinct.setdefault(frozenset(names), names)
    return [edge_template(*names, *more) for names in distinct.values() for more in ((), _SIDE)]
