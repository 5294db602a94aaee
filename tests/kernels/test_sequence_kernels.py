"""What the sequence kernels compute is what one gets by adding up over every label sequence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sequence_twins import PlainModel, some_model, some_sentences

from featloom.kernels import decoding
from featloom.kernels.templates import find_keys, hash_keys, join_place, number_keys
from featloom.learners.sequence_model import KINDS, SequenceData, SequenceModel, Training

few = settings(max_examples=30)
kinds = st.sampled_from(list(KINDS))
seeds = st.integers(0, 10_000)
# Nine labels do not fit into one vector register of eight.
shapes = st.sampled_from([(1, (2, 1)), (2, (3, 0, 4)), (3, (1, 4)), (3, (5,)), (9, (3, 2))])


@few
@given(kinds, st.booleans(), shapes, seeds)
@example("crf", True, (9, (3, 2)), 1)
@example("crf", False, (9, (3, 2)), 1)
def test_a_step_goes_down_the_slope_of_the_loss(kind, conditioned, shape, seed):
    n_labels, lengths = shape
    data = some_sentences(seed, n_labels, lengths, conditioned=conditioned)
    model = some_model(kind, seed, n_labels, data)
    twin = PlainModel.like(model)
    before = model.copy()
    # One step over everything at rate 1 without a penalty takes off the gradient itself.
    model.train(data, Training(1, batch=len(lengths), rate=1.0, c2=0.0))
    assert model.losses[0] == pytest.approx(-twin.log_likelihood(data), rel=1e-4, abs=1e-5)
    taken = before.weights - model.weights, before.pair_weights - model.pair_weights
    for weights, step in zip((twin.weights, twin.pair_weights), taken, strict=True):
        assert not step[..., n_labels:].any(), "padding labels have no weights"
        places = list(np.ndindex(weights.shape))
        chosen = np.random.default_rng(seed).permutation(len(places))[:40]
        for place in (places[i] for i in chosen):
            slope = _slope(twin, data, weights, place)
            assert step[place] == pytest.approx(slope, abs=2e-5), (place, slope)


def _slope(twin, data, weights, place, width=1e-5):
    was = weights[place]
    losses = []
    for moved in (was + width, was - width):
        weights[place] = moved
        losses.append(-twin.log_likelihood(data))
    weights[place] = was
    return (losses[0] - losses[1]) / (2 * width)


@few
@given(kinds, st.booleans(), shapes, seeds)
def test_probabilities_and_log_z_are_sums_over_all_label_sequences(kind, conditioned, shape, seed):
    n_labels, lengths = shape
    data = some_sentences(seed, n_labels, lengths, conditioned=conditioned)
    model = some_model(kind, seed, n_labels, data, size=2.0)
    twin = PlainModel.like(model)
    shares = np.zeros((len(data.features), model.weights.shape[1]), dtype=np.float32)
    log_z = decoding.marginals(
        KINDS[kind], 0, len(data), data.bounds, data.features, data.pair_features, model.weights,
        model.pair_weights, n_labels, shares,
    )  # fmt: skip
    expected = np.concatenate([twin.marginals(data, s) for s in range(len(data)) if lengths[s]])
    assert shares[:, :n_labels] == pytest.approx(expected, abs=2e-5)
    if kind == "crf":
        parts = [twin.log_z(data, s) for s in range(len(data)) if lengths[s]]
        assert log_z == pytest.approx(sum(parts), rel=1e-5, abs=1e-4)


@few
@given(kinds, st.booleans(), shapes, seeds, st.booleans())
def test_the_best_labels_are_the_best_among_those_allowed(kind, conditioned, shape, seed, filtered):
    n_labels, lengths = shape
    data = some_sentences(seed, n_labels, lengths, conditioned=conditioned)
    model = some_model(kind, seed, n_labels, data)
    allowed = None
    if filtered:
        random = np.random.default_rng(seed)
        allowed = random.random((len(data.features), n_labels)) < 0.5
        allowed[np.arange(len(allowed)), random.integers(0, n_labels, len(allowed))] = True
    found = model.tag(data, allowed=allowed)
    twin = PlainModel.like(model)
    for s in range(len(data)):
        rows = slice(data.bounds[s], data.bounds[s + 1])
        may = np.ones((lengths[s], n_labels), bool) if allowed is None else allowed[rows]
        possible = [
            (score, path)
            for score, path in twin.paths(data, s)
            if all(may[t, label] for t, label in enumerate(path))
        ]
        score_of = {path: score for score, path in possible}
        assert score_of[tuple(found[rows].tolist())] == pytest.approx(possible[0][0], abs=1e-4)


@few
@given(kinds, st.booleans(), shapes, seeds, st.integers(1, 12))
def test_the_n_best_are_the_first_of_all_label_sequences(kind, conditioned, shape, seed, n):
    n_labels, lengths = shape
    data = some_sentences(seed, n_labels, lengths, conditioned=conditioned)
    model = some_model(kind, seed, n_labels, data)
    twin = PlainModel.like(model)
    for s, found in enumerate(model.best_paths(data, n)):
        every = twin.paths(data, s)
        score_of = {path: score for score, path in every}
        paths = [tuple(path.tolist()) for _, path in found]
        assert len(paths) == len(set(paths)) == min(n, len(every))
        scores = [score for score, _ in found]
        assert scores == pytest.approx([score for score, _ in every[:n]], abs=1e-4)
        assert scores == pytest.approx([score_of[path] for path in paths], abs=1e-4)


@pytest.mark.parametrize("conditioned", [False, True])
@pytest.mark.parametrize("size", [30.0, 300.0, 3000.0])
@pytest.mark.parametrize("kind", KINDS)
def test_very_large_weights_still_give_probabilities(kind, size, conditioned):
    data = some_sentences(3, 4, (40, 30), conditioned=conditioned)
    model = some_model(kind, 3, 4, data, size=size)
    shares = model.probabilities(data)
    assert shares.sum(axis=1) == pytest.approx(1, abs=1e-4)
    assert (shares >= 0).all()
    model.train(data, Training(2))
    assert np.isfinite(model.weights).all()
    assert np.isfinite(model.pair_weights).all()


def test_without_label_pairs_the_best_label_of_a_long_text_is_each_token_s_own():
    random = np.random.default_rng(0)
    n = 10_000
    data = SequenceData.of([0, n], np.arange(n).reshape(-1, 1))
    model = SequenceModel.zeros("maxent", 5, n)
    # All labels score high and differ by little: a sum over the text would swallow that.
    model.weights[:, :5] = 50 + 0.001 * random.random((n, 5))
    assert model.tag(data).tolist() == model.weights[:, :5].argmax(axis=1).tolist()
    crf = SequenceModel("crf", 5, model.weights, np.zeros((1, 5, 8), dtype=np.float32))
    assert crf.tag(data).tolist() == model.tag(data).tolist()


keys = st.lists(st.integers(-1, 2**62), max_size=40)


@given(keys, keys)
def test_keys_are_numbered_as_they_first_appear_and_found_again(seen, asked):
    numbers, known = number_keys(np.array(seen, dtype=np.int64))
    expected = {key: i for i, key in enumerate(dict.fromkeys(k for k in seen if k >= 0))}
    assert known.tolist() == list(expected)
    assert numbers.tolist() == [expected.get(key, -1) for key in seen]
    slots = hash_keys(known)
    found = find_keys(np.array(seen + asked, dtype=np.int64), known, slots)
    assert found.tolist() == [expected.get(key, -1) for key in seen + asked]


def test_beyond_the_ends_of_a_sentence_stand_marks_that_tell_the_distance():
    codes = np.array([1, 2, 3], dtype=np.int32)
    bounds = np.array([0, 1, 3])
    for offset, expected in [(0, [1, 2, 3]), (-1, [4, 4, 2]), (-2, [5, 5, 4]), (2, [7, 6, 7])]:
        joined = np.zeros(3, dtype=np.int64)
        join_place(joined, codes, bounds, offset, 4, 2)
        assert joined.tolist() == expected, offset
