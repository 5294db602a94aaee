"""The one-standard-error rule takes the simplest candidate that is as good as the best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featloom.errors import InputError
from featloom.evaluation.selection import one_standard_error


@st.composite
def candidates(draw):
    n = draw(st.integers(1, 12))
    n_folds = draw(st.integers(2, 6))
    # Few different values, so that there are ties.
    scores = draw(arrays(np.int64, (n, n_folds), elements=st.integers(0, 6))) / 8
    sizes = draw(arrays(np.int64, n, elements=st.integers(1, 5)))
    return scores, sizes


@given(candidates(), st.sampled_from(["standard_error", "standard_deviation"]))
@settings(deadline=None)
def test_what_is_chosen_is_within_the_margin_and_nothing_simpler_is(pair, rule):
    scores, sizes = pair
    chosen = one_standard_error(scores, sizes, rule=rule)
    means = scores.mean(axis=1)
    best = min(np.flatnonzero(means == means.max()), key=lambda place: sizes[place])
    margin = scores[best].std(ddof=1)
    if rule == "standard_error":
        margin /= np.sqrt(scores.shape[1])
    within = means >= means[best] - margin
    assert within[chosen]
    assert sizes[chosen] == sizes[within].min()
    equally_simple = np.flatnonzero(within & (sizes == sizes[chosen]))
    assert means[chosen] == means[equally_simple].max()
    assert chosen == equally_simple[means[equally_simple] == means[chosen]][0]


@given(candidates())
@settings(deadline=None)
def test_the_best_is_the_highest_then_the_simplest_then_the_first(pair):
    scores, sizes = pair
    means = scores.mean(axis=1)
    expected = min(range(len(means)), key=lambda place: (-means[place], sizes[place], place))
    assert one_standard_error(scores, sizes, rule="best") == expected


@given(candidates())
@settings(deadline=None)
def test_the_looser_reading_never_chooses_something_larger(pair):
    scores, sizes = pair
    strict = one_standard_error(scores, sizes)
    loose = one_standard_error(scores, sizes, rule="standard_deviation")
    assert sizes[loose] <= sizes[strict]


@given(candidates())
@settings(deadline=None)
def test_by_pairs_what_is_chosen_is_behind_the_best_by_no_more_than_the_doubt_about_it(pair):
    scores, sizes = pair
    chosen = one_standard_error(scores, sizes, rule="paired")
    means = scores.mean(axis=1)
    best = min(np.flatnonzero(means == means.max()), key=lambda place: sizes[place])
    behind = scores[best] - scores
    doubt = behind.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    within = behind.mean(axis=1) <= doubt
    assert within[best]
    assert within[chosen]
    assert sizes[chosen] == sizes[within].min()


@given(candidates(), st.lists(st.integers(0, 8), min_size=6, max_size=6))
@settings(deadline=None)
def test_by_pairs_hard_folds_are_no_doubt(pair, hardness):
    """What all candidates lose alike in a fold changes nothing in the choice."""
    scores, sizes = pair
    harder = scores - np.array(hardness[: scores.shape[1]]) / 8
    chosen = one_standard_error(scores, sizes, rule="paired")
    assert one_standard_error(harder, sizes, rule="paired") == chosen


def test_by_pairs_a_small_lead_in_every_fold_counts_and_one_in_the_mean_alone_does_not():
    folds = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
    steady = [folds - 0.01, folds]
    assert one_standard_error(steady, [1, 9], rule="paired") == 1
    assert one_standard_error(steady, [1, 9]) == 0
    by_one_fold = [folds, folds + np.array([0, 0, 0.05, 0, 0])]
    assert one_standard_error(by_one_fold, [1, 9], rule="paired") == 0


def test_a_candidate_that_failed_is_not_chosen():
    assert one_standard_error([[-np.inf] * 2, [0.4, 0.6]], [1, 9]) == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: one_standard_error([[1, 0], [2, 0]], [1]),
            "scores of shape (2, 2) and 1 sizes do not match",
        ),
        (
            lambda: one_standard_error([[1], [2]], [1, 1]),
            "one fold has no standard error; use at least 2 folds or rule='best'",
        ),
        (
            lambda: one_standard_error([[1, 1], [np.nan, 1]], [1, 1]),
            "a candidate's mean or simplicity is not a number",
        ),
        (lambda: one_standard_error([], []), "there are no candidates to choose from"),
        (
            lambda: one_standard_error([[1, 2]], [1], rule="simple"),
            "rule is 'simple'; it can be 'standard_error', 'paired', "
            "'standard_deviation' or 'best'",
        ),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(call, sentence):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == sentence
