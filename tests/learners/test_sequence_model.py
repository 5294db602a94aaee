"""Sequence models: threads change nothing, the weights are CRFsuite's, long texts are learned."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sequence_twins
from sequence_twins import PlainModel, some_model, some_sentences

from benchmarks.crfsuite_features import feature_names
from featloom.data.sentences import table_of_sentences
from featloom.errors import InputError
from featloom.features.expansion import TemplateExpansion
from featloom.formats.crfpp import read_templates
from featloom.learners.sequence_model import KINDS, SequenceData, SequenceModel, Training
from featloom.learners.tagger import templates_of_lines

LENGTHS = (7, 1, 0, 12, 3, 5, 30, 2, 9, 4, 4, 1, 8)


def trained(kind, data, n_labels, how, threads=1, start=None):
    model = start.copy() if start else some_model(kind, 1, n_labels, data, size=0.0)
    return model.train(data, how, threads=threads)


def same_weights(one, two):
    return np.array_equal(one.weights, two.weights) and np.array_equal(
        one.pair_weights, two.pair_weights
    )


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("conditioned", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_no_bit_of_weights_and_tags(kind, conditioned, shared):
    some = {"n_columns": 7, "conditioned": conditioned, "shared": shared}
    for n_labels in (2, 5, 9, 23):
        data = some_sentences(n_labels, n_labels, LENGTHS, **some)
        for batch in (1, 3, 5, 40):
            how = Training(3, batch=batch)
            alone = trained(kind, data, n_labels, how)
            for threads in (2, 4, 7):
                together = trained(kind, data, n_labels, how, threads)
                assert same_weights(alone, together), (n_labels, batch, threads)
                assert alone.losses == together.losses
        many = data.take(np.tile(np.arange(len(data)), 60))  # more than one block of sentences
        for threads in (2, 4):
            assert np.array_equal(alone.tag(many), alone.tag(many, threads=threads))
            shares = alone.probabilities(many), alone.probabilities(many, threads=threads)
            assert np.array_equal(*shares)


FIRST_AND_SECOND = """
import numpy as np
from sequence_twins import some_sentences
from featloom.learners.sequence_model import SequenceModel, Training
data = some_sentences(0, 11, range(1, 40), n_columns=5)
model = SequenceModel.zeros("crf", 11, 25).train(data, Training(3))
print(model.weights.tobytes().hex(), model.probabilities(data).tobytes().hex())
"""


def test_what_was_just_compiled_computes_what_the_cache_has(tmp_path):
    path = os.pathsep.join(filter(None, [str(Path(sequence_twins.__file__).parent), *sys.path]))
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    first, second = (
        subprocess.check_output([sys.executable, "-c", FIRST_AND_SECOND], env=env) for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides_the_order_and_so_the_weights(kind):
    data = some_sentences(0, 3, LENGTHS)
    one, again, other = (trained(kind, data, 3, Training(2, batch=2, seed=s)) for s in (5, 5, 6))
    assert same_weights(one, again)
    assert not same_weights(one, other)


def test_a_memm_whose_label_pairs_have_no_weight_is_a_maximum_entropy_model():
    data = some_sentences(4, 3, LENGTHS)
    memm = some_model("memm", 4, 3, data)
    memm.pair_weights[...] = 0
    maxent = SequenceModel("maxent", 3, memm.weights, memm.pair_weights)
    assert memm.tag(data).tolist() == maxent.tag(data).tolist()
    assert memm.probabilities(data) == pytest.approx(maxent.probabilities(data), abs=1e-6)


def test_sentences_of_one_token_make_all_three_models_one():
    data = some_sentences(4, 3, (1,) * 12)
    how = Training(4, batch=3)
    maxent, memm, crf = (trained(kind, data, 3, how) for kind in KINDS)
    assert np.allclose(memm.weights, maxent.weights, atol=1e-6)
    assert np.allclose(crf.weights, maxent.weights, atol=1e-5)
    assert not memm.pair_weights.any()
    assert not crf.pair_weights.any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_knows_nothing_loses_the_logarithm_of_the_labels(kind):
    data = some_sentences(0, 4, LENGTHS)
    model = trained(kind, data, 4, Training(1, batch=100))
    assert model.losses == [pytest.approx(sum(LENGTHS) * math.log(4), rel=1e-5)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_heavy_penalty_leaves_nearly_even_probabilities(kind):
    data = some_sentences(0, 3, LENGTHS)
    model = trained(kind, data, 3, Training(10, batch=2, c2=1e6))
    assert model.probabilities(data) == pytest.approx(1 / 3, abs=1e-3)


def test_the_rate_falls_evenly_to_zero_and_the_last_step_is_the_smallest():
    data = some_sentences(2, 3, LENGTHS)
    model = some_model("crf", 2, 3, data, size=0.0)
    after = [model.copy()]
    # So small a rate leaves the gradients as they are: steps differ by the rate alone.
    model.train(
        data, Training(4, batch=100, rate=1e-4, c2=0), on_pass=lambda *_: after.append(model.copy())
    )
    sizes = [np.linalg.norm(b.weights - a.weights) for a, b in pairwise(after)]
    assert [size / sizes[0] for size in sizes] == pytest.approx([1, 3 / 4, 2 / 4, 1 / 4], rel=1e-2)


def test_a_pass_that_raises_the_objective_is_undone_and_the_rate_halved():
    data = some_sentences(2, 3, LENGTHS)
    model, after = some_model("crf", 2, 3, data, size=0.0), []
    how = Training(12, batch=100, rate=3000.0, c2=0.5)
    model.train(data, how, on_pass=lambda *_: after.append(model.copy()))
    assert model.undone
    assert 0 < len(model.undone) < 12
    for n in model.undone:
        assert same_weights(after[n], after[n - 1] if n else some_model("crf", 2, 3, data, size=0))
    steady = trained("crf", data, 3, Training(100, batch=100, rate=0.1, c2=0.5))
    assert not steady.undone
    assert objective(model, data, 0.5) < 1.5 * objective(steady, data, 0.5)


def test_passes_and_rate_fit_the_text_where_they_are_not_given():
    rows = np.arange(240_000).reshape(10_000, 24) % 1000
    large = SequenceData.of(np.arange(0, 10_001, 10), np.tile(rows, (25, 1))[: 10_000 * 25])
    assert Training().passes_and_rate(SequenceData.of([0, 9], rows[:9]), 8) == (200, 2 / 24)
    assert Training().passes_and_rate(large, 64) == (10, 2 / 24)
    assert Training().passes_and_rate(SequenceData.of([0, 9], rows[:9, :2]), 8) == (200, 0.2)
    assert Training(c2=1e4).passes_and_rate(large, 64) == (10, 5e-4)
    assert Training(7, rate=0.5).passes_and_rate(large, 64) == (7, 0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_of_sentences_is_that_of_their_labels(kind):
    data = some_sentences(2, 3, LENGTHS)
    model = some_model(kind, 2, 3, data)
    likely = PlainModel.like(model).log_likelihood(data)
    assert model.loss(data) == pytest.approx(-likely, rel=1e-4)
    # A sentence with a label that is not known has no likelihood, and is left out.
    strange = SequenceData(data.bounds, data.features, data.pair_features, data.labels.copy())
    strange.labels[data.bounds[1]] = 3
    others = data.take(np.array([n for n in range(len(data)) if n != 1]))
    assert model.loss(strange) == pytest.approx(model.loss(others), rel=1e-6)


def objective(model, data, c2):
    return model.loss(data) + c2 * sum(
        float(np.sum(w**2)) for w in (model.weights, model.pair_weights)
    )


def test_training_ends_where_it_is_told_to():
    data = some_sentences(2, 3, LENGTHS)
    model, after = some_model("crf", 2, 3, data, size=0.0), []

    def on_pass(n, loss):
        after.append(model.copy())
        return n == 3

    model.train(data, Training(10), on_pass=on_pass)
    assert len(model.losses) == 3
    assert same_weights(model, after[2])


def test_taken_sentences_are_those_asked_for():
    data = some_sentences(2, 3, (2, 0, 3), conditioned=True)
    taken = data.take(np.array([2, 1, 0, 2]))
    rows = [2, 3, 4, 0, 1, 2, 3, 4]
    assert taken.bounds.tolist() == [0, 3, 3, 5, 8]
    for name in ("features", "pair_features", "labels"):
        assert np.array_equal(getattr(taken, name), getattr(data, name)[rows])


@pytest.mark.parametrize("conditioned", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", [10_000, 400, 20])
def test_a_text_that_was_never_cut_into_sentences_is_learned(kind, conditioned, cut):
    # The label is told by the token, but for every third, which has the label before.
    random = np.random.default_rng(0)
    values = random.choice(3, 10_000, p=[0.9, 0.07, 0.03])
    labels = values.copy()
    hidden = np.arange(2, 10_000, 3)
    labels[hidden] = labels[hidden - 1]
    values[hidden] = 3
    pairs = (values == 3).astype(int).reshape(-1, 1) if conditioned else None
    bounds = np.arange(0, 10_001, cut)
    data = SequenceData.of(bounds, values.reshape(-1, 1), labels, pairs)
    model = SequenceModel.zeros(kind, 3, 4, 3 if conditioned else 1)
    model.train(data, Training())
    right = np.mean(model.tag(data) == labels)
    assert np.isfinite(model.losses).all()
    # What a token hides only the label pair can tell, and the commonest label is a good guess.
    told = {"maxent": 0.95, "memm": 0.97, "crf": 0.97}[kind]
    assert right > told


def test_faults_are_told():
    with pytest.raises(InputError, match="model is 'hmm'; it can be 'maxent', 'memm' or 'crf'"):
        SequenceModel.zeros("hmm", 2, 3)
    data = some_sentences(0, 3, (2,))
    model = some_model("crf", 0, 3, data)
    with pytest.raises(InputError, match="the sentences have no labels"):
        model.train(SequenceData.of(data.bounds, data.features), Training())
    with pytest.raises(InputError, match="n is 0; it must be a whole number, 1 or more"):
        model.best_paths(data, 0)


# CRFsuite ------------------------------------------------------------------------------------

TEMPLATES = read_templates("U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nU2:%x[1,1]\nU3:%x[-2,1]\nB\n")
WORDS = {"DT": ["the", "a"], "NN": ["cat", "dog", "path:1"], "VB": ["saw", "is"], "IN": ["at"]}
CHUNKS = {"DT": "B-NP", "NN": "I-NP", "VB": "B-VP", "IN": "B-PP"}


def corpus(n=30):
    random = np.random.default_rng(1)
    sentences, labels = [], []
    for _ in range(n):
        tags = random.choice(list(WORDS), random.integers(1, 9)).tolist()
        sentences.append([(str(random.choice(WORDS[tag])), tag) for tag in tags])
        chunks = [CHUNKS[tag] for tag in tags]
        for i in range(len(tags)):  # nothing is certain
            if random.random() < 0.15:
                chunks[i] = "O"
        labels.append(chunks)
    return sentences, labels


class Shared:
    """The same sentences for CRFsuite and for a model, and CRFsuite's weights for both."""

    def __init__(self, folder, c2):
        pycrfsuite = pytest.importorskip("pycrfsuite")
        self.sentences, self.labels = corpus()
        self.names = [feature_names(sentence, TEMPLATES) for sentence in self.sentences]
        trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
        trainer.set_params(
            {
                "c1": 0,
                "c2": c2,
                "epsilon": 1e-9,
                "delta": 1e-12,
                "feature.possible_states": True,
                "feature.possible_transitions": True,
            }
        )
        for features, given in zip(self.names, self.labels, strict=True):
            trainer.append(features, given)
        trainer.train(str(folder / "crfsuite.model"))
        self.tagger = pycrfsuite.Tagger()
        self.tagger.open(str(folder / "crfsuite.model"))
        table = table_of_sentences(self.sentences, self.labels)
        self.classes = table.classes
        templates = [t for t in templates_of_lines(TEMPLATES, table.columns) if t.kind == "U"]
        self.expansion = TemplateExpansion(table, templates)
        self.data = SequenceData.of(table.sequence_bounds, self.expansion.features, table.labels)

    def twin(self):
        """CRFsuite's weights, in 64 bits."""
        info = self.tagger.info()
        n_labels = len(self.classes)
        weights = np.zeros((self.expansion.n_features, n_labels))
        every = [features for sentence in self.names for features in sentence]
        for numbers, names in zip(self.expansion.features, every, strict=True):
            for number, name in zip(numbers, names, strict=True):
                for j, label in enumerate(self.classes):
                    weights[number, j] = info.state_features[name, label]
        pairs = [[info.transitions[a, b] for b in self.classes] for a in self.classes]
        return PlainModel("crf", n_labels, weights, [pairs])


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return Shared(tmp_path_factory.mktemp("crfsuite"), c2=1.0)


def test_with_the_same_weights_the_likelihood_is_that_of_crfsuite(shared):
    twin = shared.twin()
    expected = []
    for features, given in zip(shared.names, shared.labels, strict=True):
        shared.tagger.set(features)
        expected.append(math.log(shared.tagger.probability(given)))
    # CRFsuite tells its weights to six digits; the twin computes in 64 bits.
    assert twin.log_likelihood(shared.data) == pytest.approx(sum(expected), rel=1e-6)
    model = SequenceModel.zeros("crf", twin.n_labels, *map(len, (twin.weights, twin.pair_weights)))
    model.weights[:, : twin.n_labels] = twin.weights
    model.pair_weights[:, :, : twin.n_labels] = twin.pair_weights
    # The kernels compute in 32 bits; the loss of one pass in one step is that of these weights.
    one_step = model.copy().train(shared.data, Training(1, batch=100, rate=1e-9, c2=0))
    assert one_step.losses[0] == pytest.approx(-sum(expected), rel=1e-5)
    path = model.tag(shared.data)
    for s, features in enumerate(shared.names):
        mine = path[shared.data.bounds[s] : shared.data.bounds[s + 1]]
        assert [shared.classes[label] for label in mine] == shared.tagger.tag(features)
        for i in range(len(features)):
            shares = [shared.tagger.marginal(label, i) for label in shared.classes]
            row = shared.data.bounds[s] + i
            assert model.probabilities(shared.data)[row] == pytest.approx(shares, abs=1e-5)


def test_training_goes_where_crfsuite_goes(shared):
    def objective(plain):
        squares = (plain.weights**2).sum() + (plain.pair_weights**2).sum()
        return -plain.log_likelihood(shared.data) + 1.0 * squares

    best = objective(shared.twin())
    model = SequenceModel.zeros("crf", len(shared.classes), shared.expansion.n_features)
    model.train(shared.data, Training(300, batch=8, rate=0.1, c2=1.0))
    assert best - 1e-3 < objective(PlainModel.like(model)) < best * 1.001
