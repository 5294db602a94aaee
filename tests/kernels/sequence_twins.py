"""Plain twins of the sequence models: every label sequence is scored, in 64 bits."""

from __future__ import annotations

from itertools import product

import numpy as np

from featloom.learners.sequence_model import SequenceData, SequenceModel


def some_sentences(
    seed, n_labels, lengths, n_features=5, n_columns=2, conditioned=False, shared=False
):
    """Sentences with features at random, a tenth of which are missing.

    Every column has features of its own, as templates have, unless they are shared.
    """
    random = np.random.default_rng(seed)
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    shape = (bounds[-1], n_columns)
    features = random.integers(0, n_features, shape)
    if not shared:
        features += n_features * np.arange(n_columns)
    features[random.random(shape) < 0.1] = -1
    pairs = None
    if conditioned:
        pairs = random.integers(-1, 3, (bounds[-1], 2))
        pairs[:, 1] = np.where(pairs[:, 1] >= 0, pairs[:, 1] + 3, -1)
    labels = random.integers(0, n_labels, bounds[-1])
    return SequenceData.of(bounds, features, labels, pairs)


def some_model(kind, seed, n_labels, data, size=1.0):
    """A model with weights at random; padding labels have none."""
    random = np.random.default_rng(seed)
    n_features = int(data.features.max(initial=0)) + 1
    n_pair_features = int(data.pair_features.max(initial=0)) + 1
    model = SequenceModel.zeros(kind, n_labels, n_features, n_pair_features)
    model.weights[:, :n_labels] = random.normal(0, size, (n_features, n_labels))
    model.pair_weights[:, :, :n_labels] = random.normal(
        0, size, (n_pair_features, n_labels, n_labels)
    )
    return model


class PlainModel:
    """A model as its formulas are written, over weights of 64 bits."""

    def __init__(self, kind, n_labels, weights, pair_weights):
        self.kind, self.n_labels = kind, n_labels
        self.weights = np.array(weights, dtype=np.float64)
        self.pair_weights = np.array(pair_weights, dtype=np.float64)

    @classmethod
    def like(cls, model):
        return cls(
            model.kind,
            model.n_labels,
            model.weights[:, : model.n_labels],
            model.pair_weights[:, :, : model.n_labels],
        )

    def tables(self, data, s):
        """Emission scores and pair scores of a sentence; a MEMM's and maxent's are log P."""
        rows = range(data.bounds[s], data.bounds[s + 1])
        emission = np.array(
            [sum((self.weights[f] for f in data.features[i] if f >= 0), self._none()) for i in rows]
        ).reshape(-1, self.n_labels)
        pairs = np.zeros((len(rows), self.n_labels, self.n_labels))
        if self.kind == "maxent":
            return emission - log_sum(emission)[:, None], pairs
        for t, i in enumerate(rows):
            for f in data.pair_features[i]:
                if f >= 0:
                    pairs[t] += self.pair_weights[f]
        if self.kind == "memm":
            both = pairs + emission[:, None, :]
            first = emission[:1] - log_sum(emission[:1])[:, None]
            emission = np.concatenate([first, np.zeros_like(emission[1:])])
            pairs = both - log_sum(both)[:, :, None]
        return emission, pairs

    def _none(self):
        return np.zeros(self.n_labels)

    def score(self, data, s, path):
        return self._score(*self.tables(data, s), path)

    def _score(self, emission, pairs, path):
        steps = sum(pairs[t, path[t - 1], path[t]] for t in range(1, len(path)))
        return sum(emission[t, label] for t, label in enumerate(path)) + steps

    def log_z(self, data, s):
        """By the sums of the forward recursion, so for sentences of any length."""
        emission, pairs = self.tables(data, s)
        alpha = emission[0]
        for t in range(1, len(emission)):
            alpha = emission[t] + log_sum((alpha[:, None] + pairs[t]).T)
        return log_sum(alpha[None])[0]

    def paths(self, data, s):
        """Every label sequence of a sentence with its log probability, best first."""
        n = data.bounds[s + 1] - data.bounds[s]
        tables = self.tables(data, s)
        every = list(product(range(self.n_labels), repeat=n))
        scores = np.array([self._score(*tables, path) for path in every], dtype=np.float64)
        scores -= log_sum(scores[None])[0]
        order = np.argsort(-scores, kind="stable")
        return [(float(scores[i]), every[i]) for i in order]

    def marginals(self, data, s):
        shares = np.zeros((data.bounds[s + 1] - data.bounds[s], self.n_labels))
        for score, path in self.paths(data, s):
            shares[np.arange(len(path)), path] += np.exp(score)
        return shares

    def log_likelihood(self, data):
        """Of the labels that the sentences have, over all sentences."""
        total = 0.0
        for s in range(len(data)):
            gold = data.labels[data.bounds[s] : data.bounds[s + 1]]
            if len(gold):
                total += self.score(data, s, gold) - self.log_z(data, s)
        return total


def log_sum(scores):
    """log Σ exp over the last axis."""
    top = scores.max(axis=-1)
    return top + np.log(np.exp(scores - top[..., None]).sum(axis=-1))
