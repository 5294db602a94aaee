"""A dependency parser whose features are templates of edges.

The score of a tree is the sum of the scores of its edges, and the best tree is found exactly.
Templates can be those that people wrote, those read off decision trees grown on the edges, or any
list; training, pruning and decoding are the same for all of them.

Why a token has its head (``explain_heads``): the runner-up is the head with the highest score among
the others that the token could have had, and the difference of the two sums is told template by
template.  The tree as a whole can take a head that scores less than the runner-up, and then the
weights add up to less than 0.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from featloom.data.columns import column_maker, derive, fit_makers
from featloom.data.edges import (
    COUNTS,
    DISTANCES,
    N_SETS,
    SIDES,
    Candidates,
    EdgeColumn,
    EdgeReader,
    EdgeSentences,
    edge_table,
)
from featloom.data.sentences import table_of_trees, take_sentences
from featloom.data.stretches import Place, Stretches, first_words, is_long
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.evaluation.attachment import attachment_counts
from featloom.features.template import Template
from featloom.formats.models import Fact, Layout, NotZero, Parameters, Room, Vocabularies
from featloom.kernels.edges import (
    N_COUNTS,
    N_DISTANCES,
    N_SIDES,
    count_code,
    distance_code,
    edge_slots,
    most_slots,
    side_code,
    spread_sentence,
    tags_between,
)
from featloom.learners.edge_model import (
    EdgeModel,
    EdgeTemplates,
    ParserTraining,
    Pilot,
    RelationModel,
    with_gold,
)
from featloom.learners.parser_templates import (
    TokenColumns,
    between_templates,
    edge_columns,
    manual_templates,
    pilot_templates,
    relation_templates,
)
from featloom.learners.reasons import Reasons, strongest
from featloom.learners.tree_paths import grow_templates
from featloom.options import Constraint, check, none, number, one_of, seed, threads, whole
from featloom.pool import number_of_workers
from featloom.words import no_such

DECODERS = ("eisner", "chu-liu-edmonds")
TRAININGS = ("mira", "perceptron")
# The trees that edge templates are grown from: chosen on the development data of UD Bosque.
FOREST: dict[str, Any] = {"n_trees": 60, "prune": None, "backoff": False, "most": 500}
LONGEST = 500  # tokens: a tenth of a second to parse
_PILOT_BITS, _RELATION_BITS = 20, 17
# Parameters that neither templates nor the heads that are looked at depend on.
_OF_TRAINING = ("training", "epochs", "margin", "step", "decoder")
_GOLD = "the trees to learn from have no heads"


def _are_templates(value: Any) -> bool:
    given = isinstance(value, Sequence) and not isinstance(value, str)
    return given and all(isinstance(template, Template) for template in value)


class LongSentence(UserWarning):
    """A sentence was so long that it was parsed in stretches."""


class DependencyParser(BaseEstimator):
    """First-order dependency parsing.

    Parameters
    ----------
    templates : "manual" (McDonald's first-order set), "tree" (grown on the edges of the training
        sentences), or a list of templates over edge columns (:mod:`featloom.data.edges`).
    columns : edge columns that trees are grown on; default McDonald's basic features.
    derived : recipes of token columns to make first (:mod:`featloom.data.columns`), for suffixes,
        genders and the like.
    forest : settings of the trees, see :func:`featloom.learners.tree_paths.grow_templates`.
    between : whether "manual" and "tree" also look at each tag between head and modifier.
    training : "mira", or "perceptron"; both are averaged.
    epochs : passes over the training sentences.
    margin : of "mira": by how much more the right tree must score for each head that is wrong.
    step : of "mira": the most that a step adds to a weight, times the number of templates.
    decoder : "eisner" (arcs do not cross), or "chu-liu-edmonds" (they may).
    single_root : whether each sentence has one root; default: whether the training sentences do.
    prune : heads with less than this share of the likeliest head's probability, by a pilot model,
        are not looked at; 0: all are.
    relations : whether relations are learned; default: where the training sentences have them.
    longest : sentences with more tokens are not learned from, and are parsed in stretches of at
        most so many; a warning tells of them.  Time grows with the third power of the length.
    bits : weights lie in a table of 2**bits.
    n_jobs : threads; they change the time and nothing else.
    random_state : seed of the order of sentences and of the forest.
    progress : called with (what is done, how many passes, of how many).

    Attributes
    ----------
    templates_ : the templates.
    grown_, tree_ : with "tree", what grew: templates with their gains, and the first tree.
    relations_ : names of the relations; empty where they are not learned.

    Examples
    --------
    >>> sentence = [("He", "he", "PRON", "_", "_", 2, "nsubj"),
    ...             ("ran", "run", "VERB", "_", "_", 0, "root")]
    >>> parser = DependencyParser(bits=12).fit([sentence] * 20)
    >>> parser.predict([sentence])
    [[2, 0]]
    >>> parser.predict_trees([[("She", "she", "PRON", "_", "_"), ("ran", "run", "VERB", "_", "_")]])
    [[(2, 'nsubj'), (0, 'root')]]
    """

    constraints = {
        "templates": one_of(["manual", "tree"]) | Constraint("a list of Template", _are_templates),
        "forest": Constraint(
            "a dict of settings of the trees", lambda given: isinstance(given, Mapping)
        )
        | none,
        "training": one_of(TRAININGS),
        "epochs": whole(1, 10_000),
        "margin": number(above=0),
        "step": number(above=0),
        "decoder": one_of(DECODERS),
        "prune": number(0, below=1),
        "longest": whole(10, 5_000),
        "bits": whole(8, 30),
        "n_jobs": threads,
        "random_state": seed,
    }

    def __init__(
        self,
        *,
        templates="manual",
        columns=None,
        derived=(),
        forest=None,
        between=True,
        training="mira",
        epochs=5,
        margin=1.0,
        step=0.33,
        decoder="eisner",
        single_root=None,
        prune=0.003,
        relations=None,
        longest=LONGEST,
        bits=22,
        n_jobs=None,
        random_state=None,
        progress=None,
    ):
        self.templates = templates
        self.columns = columns
        self.derived = derived
        self.forest = forest
        self.between = between
        self.training = training
        self.epochs = epochs
        self.margin = margin
        self.step = step
        self.decoder = decoder
        self.single_root = single_root
        self.prune = prune
        self.relations = relations
        self.longest = longest
        self.bits = bits
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(self, sentences: Any, y: Any = None) -> DependencyParser:
        """Learn from trees.

        Parameters
        ----------
        sentences : a CoNLL-U or CoNLL-X file; a table with heads; or a list of sentences, a token
            being (form, lemma, upos, xpos, feats, head, deprel).
        y : not used.
        """
        self._check_parameters()
        table = table_of_trees(sentences)
        if table.heads is None:
            raise InputError(_GOLD)
        if not len(table):
            raise InputError("there are no trees to learn from")
        table = self._short_enough(table)
        self._makers = fit_makers(table, self.derived)
        table = derive(table, *self._makers)
        self.single_root_ = _has_single_roots(table) if self.single_root is None else bool(
            self.single_root
        )  # fmt: skip
        tokens = TokenColumns.of(table)
        columns = list(self.columns) if self.columns else edge_columns(table, tokens)
        self._reader, parts = self._read_columns(table, tokens, columns)
        edges = self._reader.read(table)
        seed = 0 if self.random_state is None else int(self.random_state)
        self._pilot: Pilot | None = None
        if self.prune:
            self._say("pruning heads", 0, self.epochs)
            layout = EdgeTemplates(self._reader, parts["pilot"], _PILOT_BITS)
            self._pilot = Pilot(layout, self.prune)
            self._pilot.train(edges, seed=seed)
        candidates = self._candidates(edges)
        if self.templates == "tree":
            self._say("growing templates", 0, self.epochs)
            parts["own"] = self._grow(table, edges, candidates, columns, seed)
        self._template_parts = parts
        self.templates_ = [*parts["own"], *parts["between"]]
        self._trained_on: tuple[EdgeSentences, Candidates] | None = (edges, candidates)
        self._train(edges, candidates)
        self._fit_relations(table, edges, parts["relations"], seed)
        return self

    def retrained(self, **settings) -> DependencyParser:
        """Another parser, trained on the same sentences and templates with other settings.

        It equals one that is fitted anew, and heads need not be pruned nor templates grown again.

        Parameters
        ----------
        settings : of ``training``, ``epochs``, ``margin``, ``step`` and ``decoder`` those that
            differ.

        Examples
        --------
        >>> sentence = [("He", "he", "PRON", "_", "_", 2, "nsubj"),
        ...             ("ran", "run", "VERB", "_", "_", 0, "root")]
        >>> parser = DependencyParser(bits=12).fit([sentence] * 20)
        >>> parser.retrained(training="perceptron").predict([sentence])
        [[2, 0]]
        """
        check_is_fitted(self, "model_")
        if self._trained_on is None:
            raise InputError("a parser that was loaded has no sentences to be trained on again")
        for name in settings:
            if name not in _OF_TRAINING:
                raise InputError(
                    f"{name} cannot be set anew without new edges; {', '.join(_OF_TRAINING)} can"
                )
        other = copy(self).set_params(**settings)
        other._check_parameters()
        other._train(*self._trained_on)
        return other

    def _train(self, edges: EdgeSentences, candidates: Candidates) -> None:
        """Learn weights of the templates."""
        layout = EdgeTemplates(self._reader, self.templates_, self.bits)
        if not len(layout):
            raise InputError("there are no templates to parse by: none looks at a head")
        self.model_ = EdgeModel(
            layout, projective=self.decoder == "eisner", single_root=self.single_root_
        )
        margin = float(self.margin) if self.training == "mira" else 0.0
        seed = 0 if self.random_state is None else int(self.random_state)
        how = ParserTraining(self.epochs, margin, self.step, seed)
        self.model_.train(
            edges, candidates, how, on_epoch=lambda n, _: self._say("training", n, self.epochs)
        )

    def predict(self, sentences: Any) -> list[list[int]]:
        """The heads of each sentence's tokens: positions from 1, 0 for the root."""
        return self._parse(sentences)[1]

    def predict_trees(self, sentences: Any) -> list[list[tuple[int, str]]]:
        """Head and relation of each token; "_" where relations were not learned."""
        edges, heads = self._parse(sentences)
        if self._relation_model is None:
            return [[(head, "_") for head in sentence] for sentence in heads]
        flat = np.full(len(edges.heads), -1, dtype=np.int32)
        flat[_is_token(edges)] = [head for sentence in heads for head in sentence]
        codes = self._relation_model.label(edges, flat, number_of_workers(self.n_jobs))
        names = np.array(self.relations_, dtype=object)[codes[_is_token(edges)]].tolist()
        found = iter(names)
        return [[(head, next(found)) for head in sentence] for sentence in heads]

    def score(self, sentences: Any, y: Any = None) -> float:
        """The share of tokens with the right head, punctuation left out."""
        return self.evaluate(sentences)["uas"]

    def evaluate(self, sentences: Any) -> dict[str, float]:
        """Attachment scores of sentences with trees.

        ``uas`` is the share of tokens with the right head, ``las`` with the right relation too,
        both without tokens of punctuation alone; ``uas_punctuation`` counts all tokens.
        """
        table = table_of_trees(sentences)
        counts = attachment_counts(table, self.predict_trees(table))
        right, labelled, tokens, all_right, all_tokens = counts.sum(axis=0).tolist()
        scores = {"uas": right / max(tokens, 1), "uas_punctuation": all_right / max(all_tokens, 1)}
        if self.relations_:
            scores["las"] = labelled / max(tokens, 1)
        return scores

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the parser to a file, without the trees that its templates grew on.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> sentence = [("He", "he", "PRON", "_", "_", 2, "nsubj"),
        ...             ("ran", "run", "VERB", "_", "_", 0, "root")]
        >>> parser = DependencyParser(bits=12).fit([sentence] * 20)
        >>> with TemporaryDirectory() as folder:
        ...     parser.save(Path(folder, "trees.featloom"))
        ...     loaded = DependencyParser.load(Path(folder, "trees.featloom"))
        >>> loaded.predict_trees([sentence])
        [[(2, 'nsubj'), (0, 'root')]]
        """
        check_is_fitted(self, "model_")
        reader, pilot, relations = self._reader, self._pilot, self._relation_model
        state = {
            "parameters": self.get_params(deep=False),
            "templates_from": self.templates if isinstance(self.templates, str) else None,
            "grown_on": None if self.columns is None else list(self.columns),
            "makers": [maker.to_dict() for maker in self._makers],
            "edge_columns": [column.name for column in reader.columns],
            "token_columns": reader.token_columns,
            "vocabularies": reader.vocabularies,
            "single_root": self.single_root_,
            "templates": _names(self.templates_),
            "weights": self.model_.weights,
            "pilot": pilot and {
                "templates": _names(self._template_parts["pilot"]),
                "bits": pilot.templates.bits,
                "ratio": float(pilot.ratio),
            },
            "pilot_weights": pilot and pilot.weights,
            "relations": relations and {
                "templates": _names(self._template_parts["relations"]),
                "bits": relations.templates.bits,
                "names": self.relations_,
            },
            "relation_weights": relations and relations.weights,
        }  # fmt: skip
        LAYOUT.save(path, state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DependencyParser:
        """The parser that :meth:`save` wrote; nothing in the file is run."""
        with LAYOUT.reading(path) as (state, room):
            named = state["templates_from"]
            parser = cls(
                **state["parameters"],
                templates=_templates(state["templates"]) if named is None else named,
                columns=state["grown_on"],
                derived=state["makers"],
            )
            parser._check_parameters()
            parser._makers = [column_maker(maker) for maker in state["makers"]]
            columns = tuple(map(EdgeColumn.of, state["edge_columns"]))
            if any(column.column not in ("", *state["token_columns"]) for column in columns):
                raise InputError("an edge column is of no column that tokens have")
            reader = EdgeReader(columns, state["token_columns"], state["vocabularies"])
            parser._reader, parser._trained_on = reader, None
            parser.single_root_, parser._template_parts = state["single_root"], {}
            parser.templates_, layout = _laid_out(room, reader, state["templates"], parser.bits)
            parser.model_ = EdgeModel(
                layout, projective=parser.decoder == "eisner", single_root=parser.single_root_
            )
            NotZero.fill(parser.model_.weights, state["weights"])
            parser._pilot, parser._relation_model, parser.relations_ = None, None, ()
            if (pilot := state["pilot"]) is not None:
                own, layout = _laid_out(room, reader, pilot.templates, pilot.bits)
                parser._template_parts["pilot"] = own
                parser._pilot = Pilot(layout, pilot.ratio)
                NotZero.fill(parser._pilot.weights, state["pilot_weights"])
            if (relations := state["relations"]) is not None:
                parser.relations_, n = relations.names, len(relations.names)
                own, layout = _laid_out(room, reader, relations.templates, relations.bits, n)
                parser._template_parts["relations"] = own
                parser._relation_model = RelationModel(layout, n)
                NotZero.fill(parser._relation_model.weights, state["relation_weights"])
            return parser

    def _read_columns(
        self, table: NominalTable, tokens: TokenColumns, columns: Sequence[str]
    ) -> tuple[EdgeReader, dict[str, list[Template]]]:
        """The reader of all edge columns that anything looks at, and the templates by use."""
        own: list[Template] = []
        if self.templates == "manual":
            own = manual_templates(tokens)
        elif self.templates != "tree":
            own = list(self.templates)
        given = not isinstance(self.templates, str)
        parts = {
            "own": own,
            "between": between_templates(tokens) if self.between and not given else [],
            "pilot": pilot_templates(tokens, columns) if self.prune else [],
            "relations": relation_templates(tokens) if self._wants_relations(table) else [],
        }
        names = [
            name for part in parts.values() for template in part for name, _ in template.places
        ]
        if self.templates == "tree":
            names = [*columns, *names]
        return EdgeReader.of(table, names), parts

    def _grow(
        self, table: NominalTable, edges: EdgeSentences, candidates: Candidates, columns, seed: int
    ) -> list[Template]:
        reader = EdgeReader.of(table, columns)
        rows = edge_table(reader, reader.read(table), with_gold(edges, candidates))
        settings = FOREST | {"random_state": seed} | (self.forest or {})
        self.grown_, self.tree_ = grow_templates(rows, **settings)
        return [grown.template for grown in self.grown_]

    def _candidates(self, edges: EdgeSentences) -> Candidates:
        if self._pilot is None:
            return Candidates.all(edges)
        return self._pilot.candidates(edges, number_of_workers(self.n_jobs))

    def _fit_relations(
        self, table: NominalTable, edges: EdgeSentences, templates: list[Template], seed: int
    ) -> None:
        self.relations_: tuple[str, ...] = ()
        self._relation_model = None
        if not self._wants_relations(table):
            return
        j = table.column_index("deprel")
        self.relations_ = table.vocabularies[j]
        codes = np.full(len(edges.heads), -1, dtype=np.int32)
        codes[_is_token(edges)] = table.codes[:, j] - 1
        layout = EdgeTemplates(self._reader, templates, _RELATION_BITS, for_relations=True)
        self._relation_model = RelationModel(layout, len(self.relations_))
        self._relation_model.train(edges, codes, seed=seed)

    def _wants_relations(self, table: NominalTable) -> bool:
        there = "deprel" in table.columns and any(
            value != "_" for value in table.vocabularies[table.column_index("deprel")]
        )
        if self.relations and not there:
            raise InputError("the trees to learn from have no relations")
        return there if self.relations is None else bool(self.relations)

    def _short_enough(self, table: NominalTable) -> NominalTable:
        """The sentences that are learned from."""
        long = is_long(table, self.longest)
        if not long.any():
            return table
        if long.all():
            raise InputError(
                f"every sentence to learn from has more than {self.longest} tokens (longest); "
                "blank lines part sentences"
            )
        bounds, first = table.bounds, int(np.argmax(long))
        warnings.warn(
            f"{long.sum():,} of {len(long):,} sentences not learned from, for they have more than "
            f"{self.longest} tokens (longest); the first has "
            f"{bounds[first + 1] - bounds[first]:,} ('{first_words(table, int(bounds[first]))} …')",
            stacklevel=3,
        )
        return take_sentences(table, np.flatnonzero(~long))

    def _parse(self, sentences: Any) -> tuple[EdgeSentences, list[list[int]]]:
        check_is_fitted(self, "model_")
        table = derive(table_of_trees(sentences), *self._makers)
        stretches = Stretches.of(table, self.longest)
        edges = self._reader.read(stretches.table)
        is_cut = len(edges) > len(stretches.bounds) - 1
        if is_cut:
            warnings.warn(stretches.in_words(), LongSentence, stacklevel=3)
        heads = self.model_.parse(edges, self._candidates(edges), number_of_workers(self.n_jobs))
        found = replace(edges, heads=heads).token_heads()
        if not is_cut:
            return edges, found
        return self._reader.read(table), stretches.joined(found, one_root=self.single_root_)

    def _say(self, what: str, done: int, of: int) -> None:
        if self.progress is not None:
            self.progress(what, done, of)

    def _check_parameters(self) -> None:
        check(self)
        known = inspect.signature(grow_templates).parameters.keys() - {"table"}
        for name in self.forest or {}:
            if name not in known:
                raise InputError(no_such("setting of forest", name, sorted(known)))


def _has_single_roots(table: NominalTable) -> bool:
    roots = np.concatenate(([0], np.cumsum(table.tree_heads == 0)))[table.bounds]
    return bool((np.diff(roots) <= 1).all())


def _is_token(edges: EdgeSentences) -> np.ndarray:
    token = np.ones(len(edges.heads), dtype=bool)
    token[edges.starts[:-1]] = False
    return token


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
    heads = parser.model_.parse(edges, candidates, number_of_workers(parser.n_jobs))
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


class _Pilot(msgspec.Struct):
    templates: list[list[str]]
    bits: int
    ratio: float


class _Relations(msgspec.Struct):
    templates: list[list[str]]
    bits: int
    names: tuple[str, ...]


# The tables of weights have a slot for every hash and are mostly zeros.  What the templates look at
# is written as it was given to the layout, in the same order: a parser that was loaded adds up the
# same numbers in the same order, and answers bit for bit as the one that was saved.
LAYOUT = Layout(
    "parser",
    {
        # Threads and progress are of the machine; the others are written in another form.
        "parameters": Parameters(
            ("n_jobs", "progress", "random_state", "templates", "columns", "derived")
        ),
        "templates_from": Fact(str | None),
        "grown_on": Fact(list[str] | None),
        "makers": Fact(list[dict[str, Any]]),
        "edge_columns": Fact(list[str]),
        "token_columns": Fact(tuple[str, ...]),
        "vocabularies": Vocabularies("token_columns"),
        "single_root": Fact(bool),
        "templates": Fact(list[list[str]]),
        "weights": NotZero(),
        "pilot": Fact(_Pilot | None),
        "pilot_weights": NotZero(optional=True),
        "relations": Fact(_Relations | None),
        "relation_weights": NotZero(optional=True),
    },
)
# What the layout of a template takes, beside the hashes of its pair part.
_OF_TEMPLATE = 4096


def _laid_out(
    room: Room,
    reader: EdgeReader,
    names: Sequence[Sequence[str]],
    bits: int,
    n_relations: int | None = None,
) -> tuple[list[Template], EdgeTemplates]:
    """Templates and how they look into a table of weights, once there is room for both."""
    if not 8 <= bits <= 30:
        raise InputError(f"a table of 2**{bits} weights")
    if n_relations == 0:
        raise InputError("there are no relations")
    n_pairs = N_SIDES * N_DISTANCES * N_COUNTS ** len(reader.of_kind("count"))
    # At most one pair part a template, with a hash for all that a pair can be.
    room.take(((n_relations or 1) << bits) * 4 + (len(names) + 1) * (_OF_TEMPLATE + 8 * n_pairs))
    templates = _templates(names)
    return templates, EdgeTemplates(reader, templates, bits, for_relations=bool(n_relations))


def _names(templates: Sequence[Template]) -> list[list[str]]:
    """The edge columns of each template."""
    return [[name for name, _ in template.places] for template in templates]


def _templates(names: Sequence[Sequence[str]]) -> list[Template]:
    return [Template(tuple((name, 0) for name in one)) for one in names]
