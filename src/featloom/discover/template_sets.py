"""Where the templates of a tagger come from: custom, decision trees, a search.

Finding templates costs more than training with them, so trees are grown and searches done on at
most some thousand sentences, drawn from those given.  A set is found once; which one is used and
how its tagger learns is settled afterwards on held-out sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from featloom.data.columns import (
    ColumnMaker,
    Flag,
    Lower,
    Prefix,
    Shape,
    Suffix,
    column_maker,
    derive,
    fit_makers,
)
from featloom.data.table import NominalTable
from featloom.discover.sentences import drawn
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.features.windows import sequence_templates, window_table
from featloom.formats.crfpp import template_line
from featloom.learners.tagger import SequenceTagger, default_templates
from featloom.methods.template_search import TemplateSearch
from featloom.methods.template_search.candidates import default_makers
from featloom.methods.tree_templates import TreeTemplates

WINDOW = 2
GROWN_ON, SEARCHED_ON = 3_000, 1_000  # sentences, at most
# Forests: on the columns as they are, each of which is also a template; and on the columns that
# are derived for a search, which would be too many by themselves.
SHAPES: dict[str, dict[str, Any]] = {
    "one tree": {"max_length": 3, "n_trees": 1, "most": 60},
    "six trees on forms of words": {"max_length": 3, "n_trees": 6, "most": 100, "singles": False},
}
IN_BITS, IN_NATS = "gain in bits", "taken off the loss, in nats a token"
_PAIR = Template((), "B", "B")


@dataclass(frozen=True)
class TemplateSet:
    """Templates with the columns they derive.

    Parameters
    ----------
    plan : what a tagger takes.
    words : what sets it apart, for the line of settings.
    gains : what each template was found to bring, by name.
    measured : in what; "" where nothing was measured.
    """

    plan: FeaturePlan
    words: str = ""
    gains: Mapping[str, float] = field(default_factory=dict)
    measured: str = ""


def usual_window(table: NominalTable) -> int:
    """Two tokens to each side, or fewer where half of the sentences are shorter."""
    assert table.sequence_bounds is not None
    middle = int(np.median(np.diff(table.sequence_bounds)))
    return max(0, min(WINDOW, middle - 1))


def usual_sets(table: NominalTable, seed: int, threads: int) -> list[TemplateSet]:
    """The templates of a tagger by default, and the same with how words are spelled.

    >>> from featloom.data.sentences import table_of_sentences
    >>> table = table_of_sentences([["the", "cat"]], columns=["word"])
    >>> plain, spelled = usual_sets(table, 0, 1)
    >>> [str(template) for template in spelled.plan.templates[:3]]
    ['word[-1]', 'word', 'word[+1]']
    >>> [str(template) for template in spelled.plan.templates[-3:]]
    ['word.shape[-1]', 'word.shape[+1]', '']
    """
    window = usual_window(table)
    plain = default_templates(table.columns, window)
    sets = [TemplateSet(FeaturePlan(templates=plain))]
    word = _words(table)
    makers: list[ColumnMaker] = [Lower(word), Shape(word)]
    makers += [Prefix(word, n) for n in (1, 2, 3)] + [Suffix(word, n) for n in (1, 2, 3)]
    makers += [Flag(word, flag) for flag in ("digit", "hyphen", "capital")]
    makers = _new(makers, table)
    places = [(maker.name, 0) for maker in makers]
    around = (-1, 1) if window else ()
    places += [(maker.name, offset) for maker in makers[:2] for offset in around]
    if makers:
        spelled = tuple(Template((place,)) for place in places)
        derived = tuple(maker.to_dict() for maker in fit_makers(table, makers))
        plan = FeaturePlan(derived=derived, templates=(*plain[:-1], *spelled, _PAIR))
        sets.append(TemplateSet(plan, "with the spelling of words"))
    return sets


def grown_sets(table: NominalTable, seed: int, threads: int) -> list[TemplateSet]:
    """Paths of decision trees, of each shape."""
    some = drawn(table, GROWN_ON, seed)
    return [_grown(some, shape, seed) for shape in SHAPES]


def thinned_sets(table: NominalTable, seed: int, threads: int) -> list[TemplateSet]:
    """Of the templates that the larger forest grew those that a search keeps."""
    grown = _grown(drawn(table, GROWN_ON, seed), [*SHAPES][-1], seed)
    candidates = [template for template in grown.plan.templates if template.places]
    found = _search(table, seed, threads, candidates=candidates, makers=list(grown.plan.derived))
    return [_of_search(found, f"{len(candidates)} templates thinned")]


def searched_sets(table: NominalTable, seed: int, threads: int) -> list[TemplateSet]:
    """What a search finds among all templates of the window, with forms of words and tags."""
    makers = _new(default_makers(table), table)
    return [_of_search(_search(table, seed, threads, makers=makers))]


def template_file(tagger: SequenceTagger, found: TemplateSet) -> str:
    """The templates in the format of CRF++; comments name columns, and say what each brought.

    >>> tagger = SequenceTagger().fit([[("the", "DT"), ("cat", "NN")]], [["B", "I"]])
    >>> print(template_file(tagger, TemplateSet(tagger.plan_)).splitlines()[:3])
    ['# column 0: 0', '# column 1: 1', 'U00:%x[-1,0]']
    """
    columns = [*tagger.columns_, *(column_maker(spec).name for spec in found.plan.derived)]
    lines = [f"# column {number}: {name}" for number, name in enumerate(columns)]
    templates = [template for template in tagger.templates_ if template.places]
    for number, template in enumerate(templates):
        gain = found.gains.get(str(template))
        if gain is not None:
            lines.append(f"# {template}: {gain:.5g} {found.measured}")
        cells = [(offset, columns.index(name)) for name, offset in template.places]
        lines.append(str(template_line(f"{template.kind}{number:02d}", cells)))
    return "\n".join([*lines, "B"]) + "\n"


def _grown(table: NominalTable, shape: str, seed: int) -> TemplateSet:
    settings = SHAPES[shape]
    derives = not settings.get("singles", True)
    makers = fit_makers(table, _new(default_makers(table), table) if derives else [])
    around = window_table(derive(table, *makers), usual_window(table))
    trees = TreeTemplates(**settings, random_state=seed).fit(around)
    templates = sequence_templates(trees.templates_)
    used = {name for template in templates for name, _ in template.places}
    plan = FeaturePlan(
        derived=tuple(maker.to_dict() for maker in makers if maker.name in used),
        templates=(*templates, _PAIR),
    )
    grown = sequence_templates([one.template for one in trees.grown_])
    gains = {
        str(template): float(one.gain) for template, one in zip(grown, trees.grown_, strict=True)
    }
    return TemplateSet(plan, shape, gains, IN_BITS)


def _search(table: NominalTable, seed: int, threads: int, **how: Any) -> TemplateSearch:
    some = drawn(table, SEARCHED_ON, seed)
    return TemplateSearch(
        window=usual_window(table), n_jobs=threads, random_state=seed, **how
    ).fit(some)  # fmt: skip


def _of_search(search: TemplateSearch, words: str = "") -> TemplateSet:
    gains = {
        row["templates"][0]: float(row["gain"])
        for row in search.history_
        if row["kept"] and row["by"] == "screen"
    }
    return TemplateSet(search.plan_, words, gains, IN_NATS)


def _words(table: NominalTable) -> str:
    """The column with the most values, which is taken for the words."""
    return table.columns[int(np.argmax([len(values) for values in table.vocabularies]))]


def _new(makers: list[ColumnMaker], table: NominalTable) -> list[ColumnMaker]:
    """Makers of columns that the table does not have yet."""
    return [maker for maker in makers if maker.name not in table.columns]
