"""The features of templates that rows in blocks show, numbered as if all rows were in memory.

A pass over the blocks collects the combinations that the columns of each template show, in the
order in which rows first show them.  Where a template has so many values that one number cannot
tell its combinations apart, its first columns are numbered in one pass and joined with the others
in the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from featloom.cluster import reduced
from featloom.data.blocks import Blocks
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.expansion import MOST_KEYS, TemplateExpansion
from featloom.features.template import Template
from featloom.kernels.templates import number_keys

Parts = list[tuple[int, np.ndarray]]  # how many columns, and the keys that they showed


def expansion_of_blocks(
    blocks: Blocks, templates: Sequence[Template], cutoff: int = 1
) -> TemplateExpansion:
    """The expansion of some templates over all rows; parameters as in ``TemplateExpansion``.

    Templates look at a row alone, never at those around it.
    """
    table = blocks.table
    if table is None:
        raise InputError("templates join columns, and these blocks are no rows of a table")
    parts: list[Parts] = [[] for _ in templates]
    columns = [[table.column_index(name) for name, _ in template.places] for template in templates]
    while any(sum(n for n, _ in done) < len(c) for done, c in zip(parts, columns, strict=True)):
        unfinished = [t for t, c in enumerate(columns) if sum(n for n, _ in parts[t]) < len(c)]
        steps = [_Step.next(table, templates[t], columns[t], parts[t]) for t in unfinished]
        seen = reduced(_collect_run, (blocks, steps), range(blocks.n_blocks), _joined)
        for t, step, (keys, counts) in zip(unfinished, steps, seen, strict=True):
            if step.is_last and cutoff > 1:
                keys = keys[counts >= cutoff]
            parts[t].append((len(step.columns), keys))
    return TemplateExpansion.from_parts(table, templates, parts, cutoff)


@dataclass(frozen=True, eq=False)
class _Step:
    """The next columns of a template that one number can tell apart, after those that are done."""

    before: TemplateExpansion | None
    columns: list[int]
    radixes: list[int]
    is_last: bool

    @classmethod
    def next(cls, table: NominalTable, template: Template, columns, done: Parts) -> _Step:
        n_done = sum(n for n, _ in done)
        before = None
        size = 1
        if done:
            first = Template(template.places[:n_done])
            before = TemplateExpansion.from_parts(table, [first], [done])
            size = before.n_features
        taken: list[int] = []
        for column in columns[n_done:]:
            radix = len(table.vocabularies[column]) + 1
            if taken and size > MOST_KEYS // radix:
                break
            taken.append(column)
            size *= radix
        radixes = [len(table.vocabularies[column]) + 1 for column in taken]
        return cls(before, taken, radixes, n_done + len(taken) == len(columns))

    def keys(self, rows: NominalTable) -> np.ndarray:
        """The combination that each row shows, as a number; -1 where a value is unknown."""
        if self.before is None:
            keys = np.zeros(len(rows), dtype=np.int64)
        else:
            keys = self.before.apply(rows)[:, 0].astype(np.int64)
        for column, radix in zip(self.columns, self.radixes, strict=True):
            codes = rows.codes[:, column]
            keys = np.where((keys < 0) | (codes == 0), -1, keys * radix + codes)
        return keys


Seen = list[tuple[np.ndarray, np.ndarray]]  # of each template the keys, and how often each


def _collect_run(how: tuple[Blocks, list[_Step]], numbers) -> Seen:
    blocks, steps = how

    def seen_in(rows: NominalTable) -> Seen:
        found: Seen = []
        for step in steps:
            codes, keys = number_keys(step.keys(rows))
            found.append((keys, np.bincount(codes[codes >= 0], minlength=len(keys))))
        return found

    return reduce(_joined, (seen_in(blocks.rows_of_table(number)) for number in numbers))


def _joined(one: Seen, other: Seen) -> Seen:
    """What was seen first in one stays first."""
    both: Seen = []
    for (keys, counts), (more, their_counts) in zip(one, other, strict=True):
        codes, known = number_keys(np.concatenate([keys, more]))
        added = np.zeros(len(known), dtype=np.int64)
        np.add.at(added, codes, np.concatenate([counts, their_counts]))
        both.append((known, added))
    return both
