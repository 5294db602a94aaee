"""Where the templates of a tagger come from: custom, decision trees, a search.

Finding templates costs more than training with them.  Trees are grown on at most some thousand
sentences; a search looks at as many as it is likely to get through in the seconds it is given, and
ends with what it has found when they are over.  A search that is given a number of trials alone
looks at all sentences.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from featloom.compare.contenders import Setting
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

WINDOW, SEARCHED_WINDOW = 2, 3
GROWN_ON = 3_000  # sentences, at most
COLUMNS, SPELLED = "columns", "columns and spelling"
# Forests: on the columns as they are, each of which is also a template; and on the columns that
# are derived for a search, which would be too many by themselves.
SHAPES: dict[str, dict[str, Any]] = {
    "one tree": {"max_length": 3, "n_trees": 1, "most": 60},
    "six trees on forms of words": {"max_length": 3, "n_trees": 6, "most": 100, "singles": False},
}
IN_BITS, IN_NATS = "gain in bits", "taken off the loss, in nats a token"
_SEARCHED_A_SECOND = 1_200  # tokens, of a search as a whole
_MANY_LABELS = 50  # from so many on, half of the time goes into pairs of labels
_LEAST_SEARCHED = 200  # sentences, where there are so many
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

    Examples
    --------
    >>> found = TemplateSet(FeaturePlan(templates=(Template((("word", 0),)),)), "searched")
    >>> TemplateSet.from_plain(found.plain()) == found
    True
    """

    plan: FeaturePlan
    words: str = ""
    gains: Mapping[str, float] = field(default_factory=dict)
    measured: str = ""

    def plain(self) -> dict[str, Any]:
        """The set as JSON holds it."""
        return {
            "plan": json.loads(self.plan.to_json()),
            "words": self.words,
            "gains": dict(self.gains),
            "measured": self.measured,
        }

    @classmethod
    def from_plain(cls, content: Mapping[str, Any]) -> TemplateSet:
        """The set that :meth:`plain` gave."""
        plan = FeaturePlan.from_json(json.dumps(content["plan"]))
        said = {name: content[name] for name in ("words", "gains", "measured")}
        return cls(plan, **said)


def usual_window(table: NominalTable) -> int:
    """Two tokens to each side, or fewer where half of the sentences are shorter."""
    middle = int(np.median(_lengths(table)))
    return max(0, min(WINDOW, middle - 1))


def usual_names(table: NominalTable) -> tuple[str, ...]:
    """Which of the usual sets there are: spelling is left out where all of it is there already."""
    return (COLUMNS, SPELLED) if _spelling(table) else (COLUMNS,)


def usual_set(table: NominalTable, setting: Setting, seed: int, threads: int) -> TemplateSet:
    """The templates of a tagger by default, or the same with how words are spelled.

    >>> from featloom.data.sentences import table_of_sentences
    >>> table = table_of_sentences([["the", "cat"]], columns=["word"])
    >>> spelled = usual_set(table, {"templates": "columns and spelling"}, 0, 1)
    >>> [str(template) for template in spelled.plan.templates[:3]]
    ['word[-1]', 'word', 'word[+1]']
    >>> [str(template) for template in spelled.plan.templates[-3:]]
    ['word.shape[-1]', 'word.shape[+1]', '']
    """
    window = max(0, min(WINDOW, int(_lengths(table).max(initial=0)) - 1))  # as a tagger has it
    plain = default_templates(table.columns, window)
    if setting["templates"] == COLUMNS:
        return TemplateSet(FeaturePlan(templates=plain))
    makers = _spelling(table)
    places = [(maker.name, 0) for maker in makers]
    around = (-1, 1) if window else ()
    places += [(maker.name, offset) for maker in makers[:2] for offset in around]
    spelled = tuple(Template((place,)) for place in places)
    derived = tuple(maker.to_dict() for maker in fit_makers(table, makers))
    plan = FeaturePlan(derived=derived, templates=(*plain[:-1], *spelled, _PAIR))
    return TemplateSet(plan, "with the spelling of words")


def grown_set(table: NominalTable, setting: Setting, seed: int, threads: int) -> TemplateSet:
    """Paths of decision trees, of one of the shapes."""
    return _grown(drawn(table, GROWN_ON, seed), setting["templates"], seed)


def thinned_set(table: NominalTable, setting: Setting, seed: int, threads: int) -> TemplateSet:
    """Of the templates that the larger forest grew those that a search keeps."""
    grown = _grown(drawn(table, GROWN_ON, seed), [*SHAPES][-1], seed)
    candidates = [template for template in grown.plan.templates if template.places]
    how = {"candidates": candidates, "makers": list(grown.plan.derived)}
    window = usual_window(table)
    return _searched(table, setting, seed, threads, window, f"{len(candidates)} thinned", how)


def searched_set(table: NominalTable, setting: Setting, seed: int, threads: int) -> TemplateSet:
    """What a search finds among all templates of the window, with forms of words and tags."""
    window = max(0, min(SEARCHED_WINDOW, int(_lengths(table).max(initial=0)) - 1))
    how = {"makers": _new(default_makers(table), table)}
    return _searched(table, setting, seed, threads, window, "searched", how)


def n_searched(table: NominalTable, seconds: float | None) -> int:
    """How many sentences a search is likely to get through in some seconds.

    Parameters
    ----------
    table : with labels.
    seconds : that the search is given; None: as many as it takes.
    """
    lengths = _lengths(table)
    if seconds is None:
        return len(lengths)
    # Scoring is a pass over tokens; a CRF also looks at pairs of labels.
    n_labels = max(len(table.classes), 1)
    tokens = seconds * _SEARCHED_A_SECOND / (1.0 + (n_labels / _MANY_LABELS) ** 2)
    by_time = int(tokens / max(float(lengths.mean()), 1.0))
    return min(len(lengths), max(_LEAST_SEARCHED, by_time))


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


def _searched(
    table: NominalTable,
    setting: Setting,
    seed: int,
    threads: int,
    window: int,
    words: str,
    how: Mapping[str, Any],
) -> TemplateSet:
    """What a search keeps, on as many sentences as there is time for."""
    seconds = setting["seconds"]
    some = drawn(table, n_searched(table, seconds), seed)
    # A place beyond the longest sentence is never there.
    window = min(window, max(0, int(_lengths(some).max(initial=0)) - 1))
    search = TemplateSearch(
        window=window, budget=seconds, trials=setting.get("trials"), cutoff=setting["cutoff"],
        n_jobs=threads, random_state=seed, **how,
    ).fit(some)  # fmt: skip
    gains = {
        row["templates"][0]: float(row["gain"])
        for row in search.history_
        if row["kept"] and row["by"] == "screen"
    }
    n = len(_lengths(some))
    return TemplateSet(search.plan_, f"{words} on {n:,} sentences", gains, IN_NATS)


def _words(table: NominalTable) -> str:
    """The column with the most values, which is taken for the words."""
    return table.columns[int(np.argmax([len(values) for values in table.vocabularies]))]


def _lengths(table: NominalTable) -> np.ndarray:
    """How many tokens each sentence has."""
    return np.diff(table.bounds)


def _spelling(table: NominalTable) -> list[ColumnMaker]:
    """Columns of how words are spelled that are not there yet."""
    word = _words(table)
    makers: list[ColumnMaker] = [Lower(word), Shape(word)]
    makers += [Prefix(word, n) for n in (1, 2, 3)] + [Suffix(word, n) for n in (1, 2, 3)]
    makers += [Flag(word, flag) for flag in ("digit", "hyphen", "capital")]
    return _new(makers, table)


def _new(makers: list[ColumnMaker], table: NominalTable) -> list[ColumnMaker]:
    """Makers of columns that the table does not have yet."""
    return [maker for maker in makers if maker.name not in table.columns]
