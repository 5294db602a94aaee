"""Taggers in comparisons: sets of templates, and the taggers fitted with them.

Every tagger has the same settings: the set of templates where there are several, and the penalty;
by default those of a tagger that is fitted without any.  The sets differ in where they come from.
What was searched for while a tagger was fitted can be fitted again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
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
    fit_makers,
)
from featloom.data.sentences import seen_alone
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.formats.crfpp import template_line
from featloom.learners.tagger import SequenceTagger, default_templates
from featloom.method import Setting
from featloom.results import Grid, grid
from featloom.runs import MODEL, TEMPLATES, write_beside
from featloom.search.space import json_text
from featloom.words import counted

WINDOW = 2
COLUMNS, SPELLED = "columns", "columns and spelling"
PAIR = Template((), "B", "B")
# A tagger's own penalty comes first.
TRAINING: dict[str, Sequence[Any]] = {"c2": (1.0, 0.1, 0.3, 3.0, 0.03)}
# Searched templates leave out what is seen once, as the models do that they are chosen by.
SEARCHED: dict[str, Sequence[Any]] = {"seconds": (20.0,), "cutoff": (2, 1), **TRAINING}
_OF_TEMPLATES = ("templates", "seconds", "trials", "cutoff")  # settings that features depend on
_MOST_SHOWN = 200


Find = Callable[[NominalTable, Setting, int, int], "TemplateSet"]


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
    middle = int(np.median(sentence_lengths(table)))
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
    window = max(
        0, min(WINDOW, int(sentence_lengths(table).max(initial=0)) - 1)
    )  # as a tagger has it
    plain = default_templates(table.columns, window)
    if setting["templates"] == COLUMNS:
        return TemplateSet(FeaturePlan(templates=plain))
    makers = _spelling(table)
    places = [(maker.name, 0) for maker in makers]
    around = (-1, 1) if window else ()
    places += [(maker.name, offset) for maker in makers[:2] for offset in around]
    spelled = tuple(Template((place,)) for place in places)
    derived = tuple(maker.to_dict() for maker in fit_makers(table, makers))
    plan = FeaturePlan(derived=derived, templates=(*plain[:-1], *spelled, PAIR))
    return TemplateSet(plan, "with the spelling of words")


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


def _words(table: NominalTable) -> str:
    """The column with the most values, which is taken for the words."""
    return table.columns[int(np.argmax([len(values) for values in table.vocabularies]))]


def sentence_lengths(table: NominalTable) -> np.ndarray:
    """How many tokens each sentence has."""
    return np.diff(table.bounds)


def _spelling(table: NominalTable) -> list[ColumnMaker]:
    """Columns of how words are spelled that are not there yet."""
    word = _words(table)
    makers: list[ColumnMaker] = [Lower(word), Shape(word)]
    makers += [Prefix(word, n) for n in (1, 2, 3)] + [Suffix(word, n) for n in (1, 2, 3)]
    makers += [Flag(word, flag) for flag in ("digit", "hyphen", "capital")]
    return makers_not_in(makers, table)


def makers_not_in(makers: list[ColumnMaker], table: NominalTable) -> list[ColumnMaker]:
    """Makers of columns that the table does not have yet."""
    return [maker for maker in makers if maker.name not in table.columns]


def fits(
    find: Find, axes: Mapping[str, Sequence[Any]], model: str = "crf"
) -> Callable[[NominalTable, Sequence[Setting], int, int], Iterator[FittedTagger]]:
    default = {name: values[0] for name, values in axes.items()}
    return partial(fit_taggers, find, default, model)


def fit_taggers(
    find: Find,
    default: Setting,
    model: str,
    data: NominalTable,
    settings: Sequence[Setting],
    seed: int,
    threads: int,
) -> Iterator[FittedTagger]:
    """A tagger for each setting; templates and features are found once for all that share them.

    Parameters
    ----------
    find : finds templates, unless a setting holds what was found before.
    default : what settings leave open.
    """
    table = seen_alone(data)
    first: dict[str, FittedTagger] = {}
    for given in settings:
        setting = default | given
        key = json_text({name: setting.get(name) for name in _OF_TEMPLATES})
        known = first.get(key)
        templates = known.templates if known else _templates(find, table, setting, seed, threads)
        if known:
            tagger = known.model.retrained(c2=setting["c2"])
        else:
            tagger = SequenceTagger(
                model=model, plan=templates.plan, cutoff=setting.get("cutoff", 1), n_jobs=threads,
                random_state=seed, c2=setting["c2"],
            ).fit(table)  # fmt: skip
        found = setting | {"templates": templates.plain()} if "seconds" in setting else None
        fitted = FittedTagger(tagger, templates, data.classes, found)
        first.setdefault(key, fitted)
        yield fitted


def _templates(
    find: Find, table: NominalTable, setting: Setting, seed: int, threads: int
) -> TemplateSet:
    """Those that a setting holds, or names, or those that are to be searched for."""
    held = setting.get("templates")
    if isinstance(held, Mapping):
        return TemplateSet.from_plain(held)
    return find(table, setting, seed, threads)


@dataclass(eq=False)
class FittedTagger:
    """A tagger that has learned, and where its templates are from.

    Parameters
    ----------
    classes : the labels whose places are the codes of answers.
    found : the setting by which its templates need not be searched for again.
    """

    model: SequenceTagger
    templates: TemplateSet
    classes: tuple[str, ...]
    found: Setting | None = None

    @property
    def size(self) -> int:
        return int(self.model.n_features_)

    @property
    def size_words(self) -> str:
        n = len([template for template in self.model.templates_ if template.places])
        return f"{self.size:,} features of {counted(n, 'template')}"

    @property
    def setting(self) -> str:
        words = f"c2 {self.model.c2:g}"
        words += f", features seen {self.model.cutoff} times" * (self.model.cutoff > 1)
        return f"{words}, {self.templates.words}" if self.templates.words else words

    def answers(self, data: NominalTable) -> np.ndarray:
        return codes_of_labels(self.model.predict(data), self.classes)

    def findings(self) -> list[Grid]:
        gains, measured = self.templates.gains, self.templates.measured
        of_label, _ = self.model._templates_by_kind()
        sizes = np.diff(self.model._expansion.first).tolist()
        rows: list[list[Any]] = [[str(t), n] for t, n in zip(of_label, sizes, strict=True)]
        if not measured:
            columns = {"template": "feature", "features": "count"}
            return [grid("templates", columns, rows[:_MOST_SHOWN])]
        # Templates that were there from the start have no gain of their own.
        rows.sort(key=lambda row: -gains.get(row[0], 0.0))
        shown = [[*row, _shown(gains.get(row[0]))] for row in rows[:_MOST_SHOWN]]
        columns = {"template": "feature", "features": "count", measured: "number"}
        return [grid("templates", columns, shown)]

    def save(self, folder: Path) -> list[str]:
        self.model.save(folder / MODEL)
        write_beside(folder / TEMPLATES, template_file(self.model, self.templates))
        return [MODEL, TEMPLATES]


def _shown(gain: float | None) -> float | None:
    return None if gain is None else float(f"{gain:.4g}")


def codes_of_labels(labels: Sequence[Sequence[str]], classes: Sequence[str]) -> np.ndarray:
    """The labels of all sentences, one after the other, as places in ``classes``."""
    of_tokens = [str(label) for sentence in labels for label in sentence]
    return Vocabulary(map(str, classes)).find(of_tokens)
