"""A linear model of edges: templates over edge columns, and one table of weights.

What templates look at falls into three parts: columns of the head, of the modifier, and of the
pair.  :class:`EdgeTemplates` lays them out so that the parts are hashed once for a token and not
once for an edge; :class:`EdgeModel` trains and parses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featloom.data.edges import N_SETS, Candidates, EdgeReader, EdgeSentences
from featloom.errors import InputError
from featloom.features.template import Template
from featloom.kernels.edges import N_COUNTS, N_DISTANCES, N_SIDES, Layout, hash_parts
from featloom.kernels.parsing import (
    likely_heads,
    parse_sentences,
    train_pilot,
    train_sentences,
)
from featloom.kernels.relations import label_sentences, train_relations
from featloom.pool import in_threads

_PIECE = 64  # sentences that a thread takes at a time
_MOST_COUNTS = 6  # the hashes of pairs are a table that each one makes four times as long
_PAIR_KINDS = ("side", "distance", "count")


class EdgeTemplates:
    """Templates over the columns of a reader, laid out for the kernels.

    A template that looks at the modifier alone says nothing about which head it has: it is left
    out, unless it is wanted for relations.  At most one place of a template may be a set.

    Parameters
    ----------
    reader : of the edge columns.
    templates : their places name edge columns, with offset 0.
    bits : the table has 2**bits slots.
    for_relations : whether templates of the modifier alone stay.

    Attributes
    ----------
    templates : those that count, in the order of the layout.
    """

    def __init__(
        self,
        reader: EdgeReader,
        templates: Sequence[Template],
        bits: int = 22,
        *,
        for_relations: bool = False,
    ):
        number_of = {
            kind: {c.name: j for j, c in enumerate(reader.of_kind(kind))}
            for kind in ("head", "mod", "count", "set")
        }
        if len(number_of["count"]) > _MOST_COUNTS:
            raise InputError(
                f"{len(number_of['count'])} columns count what lies between; {_MOST_COUNTS} are "
                "the most"
            )
        kind_of = {column.name: column.kind for column in reader.columns}
        split = []
        for template in templates:
            parts: dict[str, list[int]] = {"head": [], "mod": [], "pair": [], "set": []}
            for name, offset in template.places:
                if offset:
                    raise InputError(
                        f"template {template} has an offset; it belongs in the name of the edge "
                        "column, as in 'head.upos[-1]'"
                    )
                kind = kind_of.get(name)
                if kind is None:
                    raise InputError(f"template {template} looks at {name!r}, which is not read")
                if kind in _PAIR_KINDS:
                    fixed = {"side": 0, "distance": 1}.get(kind)
                    parts["pair"].append(2 + number_of["count"][name] if fixed is None else fixed)
                else:
                    parts[kind].append(number_of[kind][name])
            if len(parts["set"]) > 1:
                raise InputError(f"template {template} looks at two sets; one is the most")
            if for_relations or parts["head"] or parts["pair"] or parts["set"]:
                split.append((template, {k: tuple(sorted(v)) for k, v in parts.items()}))
        n_sets = len(number_of["set"])
        pairs = _numbered([parts["pair"] for _, parts in split])
        split.sort(key=lambda entry: (entry[1]["set"], pairs[entry[1]["pair"]]))
        self.templates = tuple(template for template, _ in split)
        self.bits = bits
        heads = _numbered([parts["head"] for _, parts in split])
        mods = _numbered([parts["mod"] for _, parts in split])
        self._parts = {"head": _ragged(list(heads)), "mod": _ragged(list(mods))}
        groups, pair_of, blocks = [0], [], [0]
        for block in ((), *((j,) for j in range(n_sets))):
            inside = Counter(parts["pair"] for _, parts in split if parts["set"] == block)
            for pair, n_inside in inside.items():
                groups.append(groups[-1] + n_inside)
                pair_of.append(pairs[pair])
            blocks.append(len(pair_of))
        numbers = np.array([_name_hash(t) for t in self.templates], dtype=np.uint64)
        self.layout = Layout(
            head_part=np.array([heads[p["head"]] for _, p in split], dtype=np.int32),
            mod_part=np.array([mods[p["mod"]] for _, p in split], dtype=np.int32),
            number=numbers,
            pair_part=np.array([pairs[p["pair"]] for _, p in split], dtype=np.int32),
            groups=np.array(groups, dtype=np.int32),
            pair_of=np.array(pair_of, dtype=np.int32),
            blocks=np.array(blocks, dtype=np.int32),
            pair_hashes=_pair_hashes(list(pairs), len(number_of["count"])),
            tag_hashes=hash_parts(
                np.arange(N_SETS, dtype=np.int32)[:, None], *_ragged([(0,)]), seed=5
            )[:, 0].copy(),
            shift=np.uint64(64 - bits),
        )

    def __len__(self) -> int:
        return len(self.templates)

    def hashes(self, sentences: EdgeSentences) -> tuple[np.ndarray, np.ndarray]:
        """Hashes of the head parts and of the modifier parts at every position."""
        return (
            hash_parts(sentences.head_codes, *self._parts["head"], seed=1),
            hash_parts(sentences.mod_codes, *self._parts["mod"], seed=2),
        )


@dataclass(frozen=True)
class ParserTraining:
    """How an edge model is trained.

    Parameters
    ----------
    epochs : passes over the sentences, each in another order.
    margin : by how much more the right tree must score for each wrong head of another; 0: the
        perceptron.
    most : the most that one step adds to a weight, before it is divided by the number of
        templates.
    seed : of the orders.
    """

    epochs: int = 5
    margin: float = 1.0
    most: float = 0.33
    seed: int = 0


class EdgeModel:
    """Weights of the features of edges.

    Parameters
    ----------
    templates : laid out.
    projective : whether arcs may not cross.
    single_root : whether the root has one modifier only.
    """

    def __init__(self, templates: EdgeTemplates, *, projective=True, single_root=True):
        self.templates = templates
        self.projective, self.single_root = projective, single_root
        self.weights = np.zeros(1 << templates.bits, dtype=np.float32)

    def train(
        self, sentences: EdgeSentences, candidates: Candidates, how: ParserTraining, on_epoch=None
    ) -> None:
        """Train on sentences with heads; the weights become the average over all steps.

        ``on_epoch(n, wrong heads met)`` is called after each pass.
        """
        candidates = with_gold(sentences, candidates)
        random = np.random.default_rng(how.seed)
        sums = np.zeros_like(self.weights)
        hashes = self.templates.hashes(sentences)
        step = 0
        for epoch in range(how.epochs):
            order = random.permutation(len(sentences))
            n_wrong = 0
            # In pieces, between which the interpreter can be told to stop.
            for first in range(0, len(order), _PIECE):
                step, n_missed = train_sentences(
                    order[first : first + _PIECE], self.weights, sums, step,
                    self.templates.layout, sentences.starts, candidates.starts, candidates.heads,
                    sentences.counts, sentences.tags, *hashes, sentences.heads, self.projective,
                    self.single_root, how.margin, how.most / max(len(self.templates), 1),
                )  # fmt: skip
                n_wrong += n_missed
            if on_epoch is not None:
                on_epoch(epoch + 1, n_wrong)
        if step:
            sums /= np.float32(-(step + 1))
            self.weights += sums

    def parse(
        self, sentences: EdgeSentences, candidates: Candidates, threads: int = 1
    ) -> np.ndarray:
        """The head of every position; -1 for roots."""
        heads = np.full(len(sentences.heads), -1, dtype=np.int32)
        hashes = self.templates.hashes(sentences)

        def work(first: int) -> None:
            parse_sentences(
                np.arange(first, min(first + _PIECE, len(sentences))), self.weights,
                self.templates.layout, sentences.starts, candidates.starts, candidates.heads,
                sentences.counts, sentences.tags, *hashes, self.projective, self.single_root, heads,
            )  # fmt: skip

        in_threads(work, range(0, len(sentences), _PIECE), threads)
        return heads


class Pilot:
    """A small model of heads that leaves each token the likely ones.

    Parameters
    ----------
    templates : a few, laid out.
    ratio : heads with less than this share of the likeliest head's probability are dropped.
    """

    def __init__(self, templates: EdgeTemplates, ratio: float = 0.001):
        self.templates, self.ratio = templates, ratio
        self.weights = np.zeros(1 << templates.bits, dtype=np.float32)

    def train(self, sentences: EdgeSentences, epochs: int = 3, seed: int = 0) -> None:
        """Train on sentences with heads."""
        random = np.random.default_rng(seed)
        hashes = self.templates.hashes(sentences)
        for epoch in range(epochs):
            train_pilot(
                random.permutation(len(sentences)), self.weights, self.templates.layout,
                sentences.starts, sentences.counts, *hashes, sentences.heads, 0.3 / (1 + epoch),
            )  # fmt: skip

    def candidates(self, sentences: EdgeSentences, threads: int = 1) -> Candidates:
        """The likely heads of each token."""
        hashes = self.templates.hashes(sentences)
        kept = np.zeros(len(sentences.heads), dtype=np.int64)
        firsts = range(0, len(sentences), _PIECE)
        found: list[np.ndarray] = [np.empty(0, dtype=np.int32)] * len(firsts)

        def work(first: int) -> None:
            piece = np.arange(first, min(first + _PIECE, len(sentences)))
            heads = np.empty(int(np.sum(sentences.lengths[piece] ** 2)), dtype=np.int32)
            n = likely_heads(
                piece, self.weights, self.templates.layout, sentences.starts, sentences.counts,
                *hashes, self.ratio, kept, heads,
            )  # fmt: skip
            found[first // _PIECE] = heads[:n].copy()

        in_threads(work, firsts, threads)
        starts = np.concatenate(([0], np.cumsum(kept))).astype(np.int64)
        return Candidates(starts, np.concatenate(found) if found else np.empty(0, np.int32))


class RelationModel:
    """Names the relation of each token to its head, once the tree is there.

    Parameters
    ----------
    templates : laid out for relations; their bits say how many rows the table has.
    n_relations : how many relations there are.
    """

    def __init__(self, templates: EdgeTemplates, n_relations: int):
        self.templates = templates
        self.weights = np.zeros((1 << templates.bits, n_relations), dtype=np.float32)

    def train(
        self, sentences: EdgeSentences, relations: np.ndarray, epochs: int = 5, seed: int = 0
    ) -> None:
        """Train on sentences with heads; ``relations`` holds a code a position, -1 for none."""
        random = np.random.default_rng(seed)
        sums = np.zeros_like(self.weights)
        hashes = self.templates.hashes(sentences)
        step = 0
        for _ in range(epochs):
            step, _ = train_relations(
                random.permutation(len(sentences)), self.weights, sums, step,
                self.templates.layout, sentences.starts, sentences.counts, sentences.tags, *hashes,
                sentences.heads, relations,
            )  # fmt: skip
        sums /= np.float32(-(step + 1))
        self.weights += sums

    def label(self, sentences: EdgeSentences, heads: np.ndarray, threads: int = 1) -> np.ndarray:
        """The relation of every position to its head; -1 for roots."""
        relations = np.full(len(heads), -1, dtype=np.int32)
        hashes = self.templates.hashes(sentences)

        def work(first: int) -> None:
            label_sentences(
                np.arange(first, min(first + _PIECE, len(sentences))), self.weights,
                self.templates.layout, sentences.starts, sentences.counts, sentences.tags, *hashes,
                heads, relations,
            )  # fmt: skip

        in_threads(work, range(0, len(sentences), _PIECE), threads)
        return relations


def with_gold(sentences: EdgeSentences, candidates: Candidates) -> Candidates:
    """The candidates and, where it is not among them, the right head."""
    starts, heads = candidates.starts, candidates.heads
    position = np.repeat(np.arange(len(sentences.heads)), np.diff(starts))
    has = np.zeros(len(sentences.heads), dtype=bool)
    has[position[heads == sentences.heads[position]]] = True
    missing = np.flatnonzero(~has & (sentences.heads >= 0))
    heads = np.insert(heads, starts[missing], sentences.heads[missing])
    more = np.zeros(len(starts), dtype=np.int64)
    more[missing + 1] = 1
    return Candidates(starts + np.cumsum(more), heads)


def _numbered(parts: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """The different parts in order of appearance, behind the empty one."""
    return {part: number for number, part in enumerate(dict.fromkeys([(), *parts]))}


def _ragged(parts: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Lists of columns one after the other, and where each begins."""
    starts = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
    return starts, np.array([c for part in parts for c in part], dtype=np.int64)


def _pair_hashes(pairs: Sequence[tuple[int, ...]], n_counts: int) -> np.ndarray:
    """Hashes of the pair parts for every combination of pair values, in the order of codes."""
    radix = [N_SIDES, N_DISTANCES, *[N_COUNTS] * n_counts]
    grid = np.indices(radix).reshape(len(radix), -1).T
    return hash_parts(np.ascontiguousarray(grid.astype(np.int32)), *_ragged(pairs), seed=3)


def _name_hash(template: Template) -> int:
    """A number of 64 bits from a template's places, the same in every process."""
    from hashlib import blake2b

    names = "\n".join(sorted(name for name, _ in template.places))
    return int.from_bytes(blake2b(names.encode(), digest_size=8).digest(), "little")
