"""Taggers: a label for every token of a sentence, by features that templates name.

Three log-linear models share features and training (see :mod:`featloom.kernels.sequence`):
maximum entropy looks at each token alone, a MEMM also at the label before it, a CRF at all labels
of the sentence together.  The templates are CRF++'s.

Why a token has its label (``explain_labels``): the label is set against the likeliest other one,
all other labels of the sentence staying as they are.  What differs are the weights of the token's
features, and those of the pairs that it forms with its neighbours: of a CRF with both, of a MEMM
with the one before.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from featloom.data.columns import column_maker
from featloom.data.sentences import split_labels, table_of_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.expansion import TemplateExpansion, check_columns
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.formats.crfpp import TemplateLine, read_templates
from featloom.formats.models import (
    Fact,
    Layout,
    Model,
    Numbers,
    Parameters,
    Part,
    Texts,
    Vocabularies,
)
from featloom.learners.reasons import Reasons, strongest
from featloom.learners.sequence_model import KINDS, SequenceData, SequenceModel, Training
from featloom.options import check, none, number, one_of, seed, threads, whole
from featloom.pool import number_of_workers

# Parameters that features do not depend on.
_OF_TRAINING = (
    "model", "passes", "batch", "rate", "c2", "candidates", "random_state",
)  # fmt: skip


class SequenceTagger(BaseEstimator):
    """A maximum-entropy model, a MEMM or a CRF over templates.

    Parameters
    ----------
    model : "maxent", "memm" or "crf".
    templates : a CRF++ template file (its name, its text, or a list of its lines), or
        :class:`Template` objects; U templates look at observations, B templates at pairs of
        labels.  The plain label pair is always part of a CRF and a MEMM.  None: every column in a
        window of two, and pairs of neighbours.
    plan : a :class:`FeaturePlan` with templates, and the derived columns they look at; it is
        applied by itself to whatever is tagged.
    passes, batch, rate, c2 : of the training, see :class:`Training`; the penalty is c2 |w|², as in
        crfsuite.
    cutoff : features seen fewer times are left out.
    candidates : keep for each token the likeliest labels that together have this probability by
        a maximum-entropy model, and decode among these; None: all labels.
    patience : with validation sentences, passes without a likelier labelling of these before
        training ends; the weights of the best pass are kept.
    n_jobs : threads; they change the time and nothing else.
    random_state : seed of the order of the sentences.

    Attributes
    ----------
    classes_ : the labels.
    templates_ : the templates in use.
    n_features_ : how many features there are.
    model_ : the weights, a :class:`SequenceModel`.

    Examples
    --------
    >>> sentences = [[("the", "DT"), ("cat", "NN"), ("sleeps", "VBZ")],
    ...              [("a", "DT"), ("dog", "NN"), ("barks", "VBZ")]]
    >>> labels = [["B-NP", "I-NP", "B-VP"]] * 2
    >>> tagger = SequenceTagger(templates=["U00:%x[0,1]", "U01:%x[-1,1]/%x[0,1]", "B"])
    >>> tagger.fit(sentences, labels).predict([[("the", "DT"), ("fish", "NN")]])
    [['B-NP', 'I-NP']]
    """

    constraints = {
        "model": one_of(KINDS),
        "passes": whole(1) | none,
        "batch": whole(1),
        "rate": number(above=0) | none,
        "c2": number(0),
        "cutoff": whole(1),
        "candidates": number(0, 1) | none,
        "patience": whole(1) | none,
        "n_jobs": threads,
        "random_state": seed,
    }

    def __init__(
        self,
        *,
        model="crf",
        templates=None,
        plan=None,
        passes=None,
        batch=32,
        rate=None,
        c2=1.0,
        cutoff=1,
        candidates=None,
        patience=None,
        n_jobs=None,
        random_state=None,
    ):
        self.model = model
        self.templates = templates
        self.plan = plan
        self.passes = passes
        self.batch = batch
        self.rate = rate
        self.c2 = c2
        self.cutoff = cutoff
        self.candidates = candidates
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, sentences, labels=None, valid=None, valid_labels=None, start=None):
        """Learn from sentences and their labels (None: those that a table carries).

        ``valid`` sentences say when to stop (see ``patience``); ``start`` is a fitted tagger whose
        weights are taken over where features are the same.
        """
        self._check_parameters()
        table = table_of_sentences(sentences, labels)
        if not len(table.known_labels):
            raise InputError("there are no labels to learn from")
        if len(table.classes) < 2:
            raise InputError(f"all tokens have the label {table.classes[0]!r}")
        self.columns_, self.classes_ = table.columns, np.array(table.classes, dtype=object)
        self._plan = self.plan or FeaturePlan(templates=self._templates(table))
        if not self._plan.templates:
            raise InputError("there are no templates")
        self._table = self._plan.derive(table)
        check_columns(self._plan.templates, self._table.columns)
        _check_offsets(self._plan.templates, table)
        self._expand()
        self._learn(valid, valid_labels, start)
        return self

    def retrained(self, **settings) -> SequenceTagger:
        """Another tagger, trained on the same sentences and features with other settings.

        It equals one that is fitted anew, and features need not be found again.

        Parameters
        ----------
        settings : of ``model``, ``passes``, ``batch``, ``rate``, ``c2``, ``candidates`` and
            ``random_state`` those that differ.

        Examples
        --------
        >>> tagger = SequenceTagger().fit([["the", "cat"]] * 9, [["DT", "NN"]] * 9)
        >>> tagger.retrained(c2=0.1).predict([["the", "cat"]])
        [['DT', 'NN']]
        """
        check_is_fitted(self, "model_")
        if not len(self._table):
            raise InputError("a tagger that was loaded has no sentences to be trained on again")
        for name in settings:
            if name not in _OF_TRAINING:
                raise InputError(
                    f"{name} cannot be set anew without new features; {', '.join(_OF_TRAINING)} can"
                )
        other = copy(self).set_params(**settings)
        other._check_parameters()
        other._learn(None, None, None)
        return other

    def _learn(self, valid, valid_labels, start) -> None:
        """Train on the features that were found."""
        data = SequenceData.of(
            self._table.bounds, self._expansion.features, self._table.labels,
            self._pair_expansion.features,
        )  # fmt: skip
        self.model_ = self._new_model(self.model, start)
        self._train(self.model_, data, valid, valid_labels)
        self._filter = None
        if self.candidates is not None:
            self._filter = self._new_model("maxent", None)
            self._filter.train(data, self._training(), threads=number_of_workers(self.n_jobs))

    def predict(self, sentences) -> list[list[str]]:
        """The labels of sentences, a list for each."""
        data, bounds = self._read(sentences)
        path = self.model_.tag(
            data, threads=number_of_workers(self.n_jobs), allowed=self._allowed(data)
        )
        return split_labels(self.classes_[path], bounds)

    def predict_proba(self, sentences) -> list[np.ndarray]:
        """For each sentence an array (tokens, labels) of probabilities; columns as ``classes_``."""
        data, bounds = self._read(sentences)
        shares = self.model_.probabilities(data, threads=number_of_workers(self.n_jobs))
        return [shares[bounds[i] : bounds[i + 1]] for i in range(len(bounds) - 1)]

    def predict_nbest(self, sentences, n=5) -> list[list[tuple[float, list[str]]]]:
        """For each sentence up to ``n`` label sequences with their log probability, best first."""
        data, _ = self._read(sentences)
        return [
            [(score, self.classes_[path].tolist()) for score, path in found]
            for found in self.model_.best_paths(data, n)
        ]

    def score(self, sentences, labels=None) -> float:
        """The share of tokens with the right label."""
        table = table_of_sentences(sentences, labels)
        gold = table.label_names
        found = [label for sentence in self.predict(table) for label in sentence]
        return float(np.mean(gold == np.array(found, dtype=object)))

    def save(self, path: str | os.PathLike[str], *, threshold: float = 0.0) -> None:
        """Write the tagger to a file, all of it or nothing.

        Columns that no template looks at are left out.

        Parameters
        ----------
        path : file to write.
        threshold : features none of whose weights is further from 0 are left out; with 0 the
            tagger that is loaded answers as this one.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> tagger = SequenceTagger(templates=["U0:%x[0,0]", "B"], passes=3)
        >>> tagger = tagger.fit([["the", "cat"], ["a", "dog"]], [["DT", "NN"], ["DT", "NN"]])
        >>> with TemporaryDirectory() as folder:
        ...     tagger.save(Path(folder, "tags.featloom"))
        ...     loaded = SequenceTagger.load(Path(folder, "tags.featloom"))
        >>> loaded.predict([["the", "dog"]])
        [['DT', 'NN']]
        """
        check_is_fitted(self, "model_")
        if not threshold >= 0:
            raise InputError(f"threshold is {threshold}; it must not be below 0")
        n, pairs = self.model_.n_labels, self.model_.pair_weights
        tables = [model.weights[:, :n] for model in (self.model_, self._filter) if model]
        used = _is_used(tables, threshold)
        used_pairs = _is_used([pairs[1:, :, :n]], threshold)
        looked_at = {name for template in self._plan.templates for name, _ in template.places}
        columns = [name for name in self._table.columns if name in looked_at]
        vocabularies = dict(zip(self._table.columns, self._table.vocabularies, strict=True))
        state = {
            "parameters": self.get_params(deep=False),
            "plan": self._plan.to_json(),
            "input_columns": self.columns_,
            "columns": columns,
            "vocabularies": [vocabularies[name] for name in columns],
            "classes": self.classes_.tolist(),
            "weights": tables[0][used],
            "candidate_weights": tables[1][used] if self._filter else None,
            "pair_weights": None,
            "keys": _used_parts(self._expansion, used),
            "pair_keys": _used_parts(self._pair_expansion, used_pairs),
        }
        if self.model_.kind != "maxent":
            state["pair_weights"] = pairs[:, :, :n][np.append(True, used_pairs)]
        LAYOUT.save(path, state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SequenceTagger:
        """The tagger that :meth:`save` wrote; nothing in the file is run."""
        with LAYOUT.reading(path) as (state, room):
            plan = FeaturePlan.from_json(state["plan"])
            columns, classes = state["columns"], state["classes"]
            for spec in plan.derived:
                column_maker(spec)  # refuses what is none
            if any(abs(offset) >= _FARTHEST for one in plan.templates for _, offset in one.places):
                raise InputError("a template looks beyond every sentence")
            tagger = cls(**state["parameters"], plan=plan)
            tagger._check_parameters()
            tagger._plan, tagger.columns_ = plan, state["input_columns"]
            tagger.classes_ = np.array(classes, dtype=object)
            # A table without rows knows columns, vocabularies and classes.
            tagger._table = NominalTable(
                columns, np.empty((0, len(columns)), dtype=np.int32, order="F"),
                state["vocabularies"], labels=np.empty(0, dtype=np.int32), classes=classes,
            )  # fmt: skip
            tagger._expansion, tagger._pair_expansion = (
                TemplateExpansion.from_parts(tagger._table, templates, state[keys], tagger.cutoff)
                for templates, keys in zip(
                    tagger._templates_by_kind(), ("keys", "pair_keys"), strict=True
                )
            )
            # Rows of weights are as wide as vector registers, and every model has a table of pairs.
            width = -(-len(classes) // 8) * 8
            n_pairs = 1 + tagger._pair_expansion.n_features
            rows = tagger._expansion.n_features + n_pairs * len(classes)
            room.take((1 if tagger.candidates is None else 2) * 4 * rows * width)
            tagger.model_, tagger._filter = tagger._new_model(tagger.model, None), None
            _fill(tagger.model_.weights, state["weights"])
            if tagger.model != "maxent":
                _fill(tagger.model_.pair_weights, state["pair_weights"])
            if tagger.candidates is not None:
                tagger._filter = tagger._new_model("maxent", None)
                _fill(tagger._filter.weights, state["candidate_weights"])
            return tagger

    @property
    def templates_(self) -> tuple[Template, ...]:
        check_is_fitted(self, "model_")
        return self._plan.templates

    @property
    def plan_(self) -> FeaturePlan:
        """Derived columns and templates, for another tagger."""
        check_is_fitted(self, "model_")
        return self._plan

    @property
    def n_features_(self) -> int:
        check_is_fitted(self, "model_")
        return self._expansion.n_features

    def _templates_by_kind(self) -> tuple[list[Template], list[Template]]:
        """Templates of a label, and those of a label pair that look at observations."""
        templates = self._plan.templates
        of_pair = [template for template in templates if template.kind == "B" and template.places]
        return [template for template in templates if template.kind == "U"], of_pair

    def _expand(self) -> None:
        of_label, of_pair = self._templates_by_kind()
        self._expansion = TemplateExpansion(
            self._table, of_label, self.cutoff, number_of_workers(self.n_jobs)
        )
        self._pair_expansion = TemplateExpansion(self._table, of_pair, self.cutoff)

    def _new_model(self, kind: str, start) -> SequenceModel:
        model = SequenceModel.zeros(
            kind,
            len(self.classes_),
            self._expansion.n_features,
            1 + self._pair_expansion.n_features,
        )
        if start is not None:
            self._take_over(model, start)
        return model

    def _take_over(self, model: SequenceModel, start: SequenceTagger) -> None:
        """Begin with the weights of another tagger, where it has the same features."""
        check_is_fitted(start, "model_")
        theirs = dict(zip(start._table.columns, start._table.vocabularies, strict=True))
        mine = dict(zip(self._table.columns, self._table.vocabularies, strict=True))
        shared = theirs.keys() & mine.keys()
        if (
            not shared
            or any(theirs[name] != mine[name] for name in shared)
            or not np.array_equal(start.classes_, self.classes_)
        ):
            raise InputError("the tagger to start from was fitted on other sentences")
        there = self._expansion.same_features(start._expansion)
        model.weights[there >= 0] = start.model_.weights[there[there >= 0]]
        if start.model_.kind != "maxent":
            model.pair_weights[0] = start.model_.pair_weights[0]
            pairs = self._pair_expansion.same_features(start._pair_expansion)
            known = np.flatnonzero(pairs >= 0)
            model.pair_weights[1 + known] = start.model_.pair_weights[1 + pairs[known]]

    def _train(self, model: SequenceModel, data: SequenceData, valid, valid_labels) -> None:
        how = self._training()
        if valid is None:
            model.train(data, how, threads=number_of_workers(self.n_jobs))
            self._warn_of_undone(model)
            return
        held_out, _ = self._read(valid, valid_labels)
        if not len(held_out.features):
            raise InputError("validation sentences have no tokens")
        best = (np.inf, model.copy(), 0)

        def on_pass(n: int, loss: float) -> bool:
            nonlocal best
            loss = model.loss(held_out)
            if loss < best[0]:
                best = (loss, model.copy(), n)
            return self.patience is not None and n - best[2] >= self.patience

        model.train(data, how, threads=number_of_workers(self.n_jobs), on_pass=on_pass)
        self._warn_of_undone(model)
        model.weights[...], model.pair_weights[...] = best[1].weights, best[1].pair_weights

    def _warn_of_undone(self, model: SequenceModel) -> None:
        n, rate = len(model.undone), "the default rate" if self.rate is None else f"{self.rate:g}"
        if n and n == len(model.losses):
            warnings.warn(
                f"no pass lowered the objective: {rate} is too high, or these data teach nothing; "
                "give a lower rate or a higher c2",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _training(self) -> Training:
        seed = 0 if self.random_state is None else self.random_state
        return Training(self.passes, self.batch, self.rate, self.c2, seed)

    def _read(self, sentences, labels=None):
        check_is_fitted(self, "model_")
        columns = None if isinstance(sentences, NominalTable) else self.columns_
        table = table_of_sentences(sentences, labels, columns=columns)
        table = self._table.recode(self._plan.derive(table))
        pairs = self._pair_expansion.apply(table)
        features = self._expansion.apply(table)
        return SequenceData.of(table.bounds, features, table.labels, pairs), table.bounds

    def _allowed(self, data: SequenceData) -> np.ndarray | None:
        """Which labels each token may have: the likeliest, up to the one that crosses T."""
        if self._filter is None or self.candidates == 1:
            return None
        shares = self._filter.probabilities(data, threads=number_of_workers(self.n_jobs))
        order = np.argsort(-shares, axis=1, kind="stable")
        ranked = np.take_along_axis(shares, order, axis=1)
        before = np.cumsum(ranked, axis=1) - ranked
        allowed = np.zeros_like(shares, dtype=np.bool_)
        np.put_along_axis(allowed, order, before <= self.candidates, axis=1)
        return allowed

    def _templates(self, table: NominalTable) -> tuple[Template, ...]:
        if self.templates is None:
            return default_templates(table.columns, min(2, _longest(table) - 1))
        given = self.templates
        if isinstance(given, os.PathLike):
            given = os.fspath(given)
        if not isinstance(given, str) and all(isinstance(t, Template) for t in given):
            return tuple(given)
        lines = given if _are_lines(given) else read_templates(given)
        return templates_of_lines(lines, table.columns)

    def _check_parameters(self) -> None:
        check(self)
        if self.templates is not None and self.plan is not None:
            raise InputError("give templates or a plan, not both")


def default_templates(columns: Sequence[str], window: int = 2) -> tuple[Template, ...]:
    """Every column at every offset of the window, pairs of neighbours, and the label pair.

    >>> [str(template) for template in default_templates(["word"], window=1)]
    ['word[-1]', 'word', 'word[+1]', 'word[-1] & word', 'word & word[+1]', '']
    """
    places = [((name, offset),) for name in columns for offset in range(-window, window + 1)]
    pairs = [((name, o), (name, o + 1)) for name in columns for o in (-1, 0) if window > 0]
    return (*(Template(place) for place in [*places, *pairs]), Template((), "B", "B"))


def templates_of_lines(
    lines: Sequence[TemplateLine], columns: Sequence[str]
) -> tuple[Template, ...]:
    """CRF++'s lines as templates over named columns; comments are left out.

    >>> templates_of_lines(read_templates(["U01:%x[-1,0]"]), ["word"])
    (Template(places=(('word', -1),), kind='U', name='U01'),)
    """
    templates = []
    for line in lines:
        for _, col in line.places:
            if col >= len(columns):
                raise InputError(
                    f"template {str(line).strip()!r} looks at column {col}; "
                    f"there are {len(columns)}, from 0 to {len(columns) - 1}"
                )
        places = tuple((columns[col], row) for row, col in line.places)
        templates += [Template(places, kind, line.name) for kind in line.kinds]
    return tuple(templates)


def _are_lines(given: Any) -> bool:
    return not isinstance(given, str) and all(isinstance(line, TemplateLine) for line in given)


def _longest(table: NominalTable) -> int:
    return int(np.diff(table.bounds).max(initial=0))


def _check_offsets(templates: Sequence[Template], table: NominalTable) -> None:
    longest = _longest(table)
    for template in templates:
        for _, offset in template.places:
            if abs(offset) >= max(longest, 1):
                raise InputError(
                    f"template {template.name or template} looks {abs(offset)} tokens away; "
                    f"the longest sentence has {longest}"
                )


def explain_labels(
    tagger: SequenceTagger, sentences: Any, most: int | None = 5
) -> list[list[Reasons]]:
    """For each token of each sentence its label, and what told it from the next best.

    Parameters
    ----------
    tagger : a fitted one.
    sentences : as it tags them.
    most : how many features are listed for a token; None: all.

    Examples
    --------
    >>> tagger = SequenceTagger(templates=["U0:%x[0,0]"], model="maxent", random_state=0)
    >>> tagger = tagger.fit([["the", "cat"], ["the", "dog"]], [["DT", "NN"], ["DT", "NN"]])
    >>> why = explain_labels(tagger, [["the"]])[0][0]
    >>> why.answer, why.against, [name for name, weight in why.features]
    ('DT', 'NN', ['0=the'])
    """
    data, bounds = tagger._read(sentences)
    threads = number_of_workers(tagger.n_jobs)
    path = tagger.model_.tag(data, threads=threads, allowed=tagger._allowed(data))
    shares = tagger.model_.probabilities(data, threads=threads).copy()
    shares[np.arange(len(path)), path] = -1
    others = shares.argmax(axis=1) if len(path) else path
    names = tagger.classes_.tolist()
    table, pairs = tagger.model_.weights, tagger.model_.pair_weights
    explained = []
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        sentence = []
        for at in range(begin, end):
            label, other = int(path[at]), int(others[at])
            own = _known(data.features[at])
            words = [tagger._expansion.name(feature) for feature in own.tolist()]
            weights = [table[own, label] - table[own, other]]
            if tagger.model != "maxent" and at > begin:
                own, before = _known(data.pair_features[at]), int(path[at - 1])
                words += _pair_names(tagger, own, f"(after {names[before]})")
                weights.append(pairs[own, before, label] - pairs[own, before, other])
            if tagger.model == "crf" and at + 1 < end:
                # The features of a pair are those of its second token.
                own, after = _known(data.pair_features[at + 1]), int(path[at + 1])
                words += _pair_names(tagger, own, f"(before {names[after]})")
                weights.append(pairs[own, label, after] - pairs[own, other, after])
            together = np.concatenate(weights).astype(np.float64)
            sentence.append(
                strongest(names[label], names[other], together, words.__getitem__, most)
            )
        explained.append(sentence)
    return explained


def _known(features: np.ndarray) -> np.ndarray:
    return features[features >= 0]


def _pair_names(tagger: SequenceTagger, features: np.ndarray, neighbour: str) -> list[str]:
    """Number 0 is the pair of labels by itself."""
    name = tagger._pair_expansion.name
    return [f"{name(n - 1)} {neighbour}" if n else neighbour for n in features.tolist()]


class _Keys(Part):
    """For each template the parts that it is joined in: how many places, and the keys seen.

    A feature is written as a number, the joined codes of its values, so a file holds each value
    once: in the vocabulary of its column.
    """

    def __init__(self, places: str):
        self.places = places

    def facts(self, name: str) -> dict[str, tuple[Any, ...]]:
        return {self.places: (list[list[int]],)}

    def arrays(self, name: str) -> dict[str, Numbers]:
        # As numbers of 64 bits, and the table that finds them.
        keys = Numbers("u1 u2 u4 u8", "*", optional=True, makes=24, becomes="i8")
        return {f"{name}_*": keys}

    def write(self, name: str, value: Any, model: Model) -> None:
        model.description[self.places] = [[n for n, _ in parts] for parts in value]
        (numbers,) = self.arrays(name).values()
        for t, parts in enumerate(value):
            for p, (_, keys) in enumerate(parts):
                numbers.write(f"{name}_{t}_{p}", keys, model)

    def read(self, name: str, model: Model) -> Any:
        (numbers,) = self.arrays(name).values()
        return [
            [(n, numbers.read(f"{name}_{t}_{p}", model)) for p, n in enumerate(places)]
            for t, places in enumerate(model.description[self.places])
        ]


LAYOUT = Layout(
    "tagger",
    {
        # Threads are of the machine, templates in the plan; earlier taggers averaged their weights.
        "parameters": Parameters(("n_jobs", "templates", "plan", "random_state"), ("average",)),
        "plan": Fact(str),
        "input_columns": Fact(tuple[str, ...]),
        "columns": Fact(tuple[str, ...]),
        "vocabularies": Vocabularies(),
        "classes": Texts("classes", "class_starts", least=2, distinct=False),
        "weights": Numbers("f4", "features", "classes"),
        "candidate_weights": Numbers("f4", "features", "classes", optional=True),
        "pair_weights": Numbers("f4", "pairs", "classes", "classes", optional=True),
        "keys": _Keys("parts"),
        "pair_keys": _Keys("pair_parts"),
    },
)
_FARTHEST = 10**6  # tokens away


def _is_used(tables: list[np.ndarray], threshold: float) -> np.ndarray:
    """Which features have a weight further from 0 than the threshold, in any of the tables."""
    used = np.zeros(len(tables[0]), dtype=np.bool_)
    for weights in tables:
        largest = np.abs(weights).max(axis=tuple(range(1, weights.ndim)), initial=0)
        used |= largest > threshold
    return used


def _used_parts(expansion: TemplateExpansion, used: np.ndarray) -> Any:
    """The parts of an expansion without the features that are not used."""
    parts = [list(parts) for parts in expansion.parts]
    for t, (*_, (n, keys)) in enumerate(parts):
        parts[t][-1] = n, keys[used[expansion.first[t] : expansion.first[t + 1]]]
    return parts


def _fill(padded: np.ndarray, weights: np.ndarray) -> None:
    """Put weights where they belong in rows that are as wide as vector registers."""
    if weights.shape[:-1] != padded.shape[:-1]:
        raise InputError("weights and features differ in number")
    padded[..., : weights.shape[-1]] = weights
