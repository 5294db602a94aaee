"""Why a parser gave a token its head: the templates that spoke for it, against the runner-up.

The score of an edge is the sum of its features' weights.  The runner-up is the head with the
highest score among the others that the token could have had; the difference of the two sums is told
template by template.  The tree as a whole can take a head that scores less than the runner-up, and
then the weights add up to less than 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featloom.data.columns import derive
from featloom.data.edges import COUNTS, DISTANCES, N_SETS, SIDES, EdgeColumn, EdgeSentences
from featloom.data.stretches import Place, Stretches
from featloom.data.trees import table_of_trees
from featloom.features.template import Template
from featloom.kernels.edges import (
    count_code,
    distance_code,
    edge_slots,
    most_slots,
    side_code,
    spread_sentence,
    tags_between,
)
from featloom.learners.parser import DependencyParser
from featloom.learners.reasons import Reasons, strongest


@dataclass(frozen=True)
class HeadReasons:
    """The head of a token, 0 for the root, the runner-up (None: there was none), and why."""

    head: int
    against: int | None
    reasons: Reasons


def explain_heads(
    parser: DependencyParser, sentences: Any, most: int | None = 5
) -> list[list[HeadReasons]]:
    """For each token of each sentence its head, and what told it from the runner-up.

    Parameters
    ----------
    parser : a fitted one.
    sentences : as it parses them.
    most : how many templates are listed for a token; None: all.

    Examples
    --------
    >>> sentence = [("He", "he", "PRON", "_", "_", 2, "nsubj"),
    ...             ("ran", "run", "VERB", "_", "_", 0, "root")]
    >>> parser = DependencyParser(bits=12, prune=0).fit([sentence] * 20)
    >>> he, ran = explain_heads(parser, [sentence])[0]
    >>> he.head, he.against, he.reasons.margin > 0
    (2, 0, True)
    """
    table = derive(table_of_trees(sentences), *parser._makers)
    stretches = Stretches.of(table, parser.longest)
    edges = parser._reader.read(stretches.table)
    candidates = parser._candidates(edges)
    heads = parser.model_.parse(edges, candidates, parser._threads())
    hashes = parser.model_.templates.hashes(edges)
    explained: list[list[HeadReasons]] = [[] for _ in stretches.bounds[1:]]
    trees = replace(edges, heads=heads).token_heads()
    places = stretches.places(trees, one_root=parser.single_root_)
    for start, tree, place in zip(edges.starts[:-1].tolist(), trees, places, strict=True):
        n = len(tree) + 1
        spread = spread_sentence(parser.model_.templates.layout, start, n, *hashes)
        sentence = _Sentence(parser, edges, start, place, *spread)
        for mod, head in enumerate(tree, start=1):
            at = start + mod
            allowed = candidates.heads[candidates.starts[at] : candidates.starts[at + 1]]
            reasons = sentence.explain(mod, head, allowed.tolist(), most)
            explained[place.sentence].append(reasons)
    return explained


class _Sentence:
    """One sentence or stretch of it, whose edges are looked at feature by feature."""

    def __init__(
        self, parser: DependencyParser, edges: EdgeSentences, start: int, place: Place, of_head,
        of_mod,
    ):  # fmt: skip
        self.parser, self.edges, self.start, self.place = parser, edges, start, place
        self.of_head, self.of_mod = of_head, of_mod
        self.model = parser.model_
        self.templates = parser.model_.templates.templates
        self.slots = np.empty(most_slots(self.model.templates.layout), dtype=np.uint64)

    def explain(self, mod: int, head: int, allowed: list[int], most: int | None) -> HeadReasons:
        spoken = self.weights(head, mod)
        others = {other: self.weights(other, mod) for other in allowed if other != head}
        against = max(others, key=lambda other: others[other].sum(), default=None)
        weights = spoken if against is None else spoken - others[against]

        def name(t: int) -> str:
            return self.name(self.templates[t], head, mod)

        own = self.place.number(head)
        other = None if against is None else self.place.number(against)
        words = None if other is None else str(other)
        return HeadReasons(own, other, strongest(str(own), words, weights, name, most))

    def weights(self, head: int, mod: int) -> np.ndarray:
        """What each template adds to the score of an edge."""
        layout, edges = self.model.templates.layout, self.edges
        n = edge_slots(
            self.slots, layout, self.start, head, mod, edges.counts, edges.tags, self.of_head,
            self.of_mod,
        )  # fmt: skip
        found = self.model.weights[self.slots[:n]].astype(np.float64)
        bounds, groups = layout.blocks, layout.groups
        of_template = np.zeros(len(self.templates))
        plain = int(groups[bounds[1]])
        of_template[:plain] = found[:plain]
        done = plain
        # A template of a set has a feature for each tag between, one tag after the other.
        for which in range(len(bounds) - 2):
            first, last = int(groups[bounds[which + 1]]), int(groups[bounds[which + 2]])
            tags = int(tags_between(edges.tags, self.start, head, mod, which)).bit_count()
            size = tags * (last - first)
            part = found[done : done + size].reshape(tags, last - first)
            of_template[first:last] = part.sum(axis=0)
            done += size
        return of_template

    def name(self, template: Template, head: int, mod: int) -> str:
        """A template with the values that an edge has."""
        kinds = {column.name: column for column in self.parser._reader.columns}
        return " & ".join(
            f"{place}={self.value(kinds[place], head, mod)}" for place, _ in template.places
        )

    def value(self, column: EdgeColumn, head: int, mod: int) -> str:
        reader, edges, start = self.parser._reader, self.edges, self.start
        which = [c.name for c in reader.of_kind(column.kind)].index(column.name)
        if column.kind == "side":
            return SIDES[side_code(head, mod) - 1]
        if column.kind == "distance":
            return DISTANCES[distance_code(head, mod) - 1]
        if column.kind == "count":
            return COUNTS[count_code(edges.counts, start, head, mod, which) - 1]
        own = reader.vocabularies[reader.token_columns.index(column.column)]
        if column.kind == "set":
            tags = int(tags_between(edges.tags, start, head, mod, which))
            return "{" + ",".join(_tags(tags, own)) + "}"
        codes = edges.head_codes[start + head] if column.kind == "head" else (
            edges.mod_codes[start + mod]
        )  # fmt: skip
        code = int(codes[which])
        return reader.values(column)[code - 1] if code else "(not seen)"


def _tags(tags: int, names: tuple[str, ...]) -> list[str]:
    """The values in a set: the rarer ones share the last number, unknown ones the first."""
    found = []
    for code in range(N_SETS):
        if tags >> code & 1:
            known = 0 < code <= len(names) and code < N_SETS - 1
            found.append(names[code - 1] if known else "…")
    return found
