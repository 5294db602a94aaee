"""From scores to a choice, an interval and a claim."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import t as student

from featloom.errors import InputError
from featloom.evaluation.probabilities import auc
from featloom.evaluation.significance import Comparison, Interval, holm
from featloom.evaluation.verdict import (
    LEVEL,
    NEAR,
    area_interval,
    beyond_chance,
    by_lot,
    choose,
    comparable_means,
    corrected_interval,
    mean_interval,
    paired_areas,
    paired_means,
    share_interval,
)

score = st.floats(0.0, 1.0).map(lambda value: round(value, 3))
full = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.lists(score, min_size=n, max_size=n), min_size=1, max_size=8)
)


def of_folds(scores):
    return [dict(enumerate(one)) for one in scores]


# ── the choice ──


@given(full, st.data())
def test_the_chosen_one_is_as_good_as_the_best_and_none_as_good_is_simpler(scores, data):
    sizes = data.draw(st.lists(st.integers(0, 9), min_size=len(scores), max_size=len(scores)))
    chance = data.draw(score)
    chosen = choose(of_folds(scores), sizes, chance)
    means = np.mean(scores, axis=1)
    margin = NEAR * max(0.0, means.max() - chance)
    assert means[chosen] >= means.max() - margin - 1e-9
    as_good = [place for place in range(len(scores)) if means[place] >= means.max() - margin + 1e-9]
    assert all(sizes[chosen] <= sizes[place] for place in as_good)


@given(full, st.data())
def test_the_choice_does_not_hang_on_the_order_of_contenders(scores, data):
    sizes = list(range(len(scores)))
    order = data.draw(st.permutations(range(len(scores))))
    chosen = choose(of_folds(scores), sizes, 0.2)
    again = choose(
        of_folds([scores[place] for place in order]), [sizes[place] for place in order], 0.2
    )
    assert order[again] == chosen


def test_of_equals_the_simplest_is_chosen_and_without_chance_the_best():
    scores = of_folds([[0.8, 0.8], [0.8, 0.8], [0.799, 0.8]])
    assert choose(scores, [30, 20, 1]) == 1
    assert choose(scores, [30, 20, 1], chance=0.5) == 2
    assert choose(scores, [30, 20, 1], chance=0.79) == 1, "a hundredth of the gain is less"


@pytest.mark.parametrize("sizes", [[1, 1], [100, 1], [1, 100]])
@pytest.mark.parametrize("chance", [None, 0.0, 0.5, 0.89])
def test_one_that_fails_in_a_fold_is_not_let_in_by_the_doubt_that_this_makes(sizes, chance):
    scores = of_folds([[0.9] * 5, [0.9] * 4 + [0.0]])
    assert choose(scores, sizes, chance) == 0
    assert choose(scores[::-1], sizes[::-1], chance) == 1


@given(st.integers(0, 4), score, st.floats(0.05, 1.0))
def test_failing_in_any_one_fold_by_more_than_the_margin_is_never_forgiven(fold, level, fall):
    sound = [level] * 5
    failed = list(sound)
    failed[fold] = level - fall
    # A fall of a twentieth in one of five folds is a hundredth of the mean.
    assert choose(of_folds([sound, failed]), [100, 1], chance=level - 0.9) == 0


def test_nothing_can_be_chosen_from_nothing():
    with pytest.raises(InputError, match="0 contenders with scores and 0 sizes"):
        choose([], [])
    with pytest.raises(InputError, match="1 contenders with scores and 2 sizes"):
        choose([{0: 0.5}], [1, 2])
    with pytest.raises(InputError, match="without any score"):
        comparable_means([{0: 0.5}, {}])


@given(full)
def test_means_on_all_folds_are_means(scores):
    np.testing.assert_allclose(comparable_means(of_folds(scores)), np.mean(scores, axis=1))


@given(full, st.data())
def test_an_easy_fold_does_not_help_whoever_was_judged_on_it_alone(scores, data):
    """Folds that are all harder by as much for everyone move means and not their order."""
    missing = data.draw(st.integers(0, len(scores) - 1))
    kept = data.draw(st.integers(0, len(scores[0]) - 1))
    entries = of_folds(scores)
    entries[missing] = {kept: scores[missing][kept]}
    before = comparable_means(entries)
    easier = [{fold: value + (fold == kept) for fold, value in one.items()} for one in entries]
    after = comparable_means(easier)
    np.testing.assert_allclose(after - before, (after - before)[0], atol=1e-9)


def test_one_judged_on_one_fold_is_placed_by_its_distance_there():
    means = comparable_means([{0: 0.8, 1: 0.6}, {1: 0.65}, {0: 0.7, 1: 0.6}])
    np.testing.assert_allclose(means, [0.7, 0.75, 0.65])


# ── intervals ──


@given(st.lists(score, min_size=2, max_size=10), st.floats(0.0, 1.0))
def test_the_interval_of_folds_holds_their_mean_and_grows_with_the_shared_rows(scores, ratio):
    found = corrected_interval(scores, judged_over_learned=ratio)
    plain = corrected_interval(scores, judged_over_learned=0.0)
    assert found.low <= found.value <= found.high
    assert found.high - found.low >= plain.high - plain.low - 1e-12
    assert found.value == pytest.approx(np.mean(scores))


def test_an_interval_of_one_fold_is_none():
    with pytest.raises(InputError, match="at least two folds"):
        corrected_interval([0.5], judged_over_learned=0.25)


def test_the_corrected_interval_holds_the_true_score_of_cross_validated_fits():
    """Each fold's rows are judged by fits that share most of their rows, which move together.

    The fit is a mean, the score the negative squared distance of new rows from it; what fits on
    so many rows reach on average is known.  The naive interval, s / √k, holds it less often.
    """
    draw = np.random.default_rng(0)
    n, k, times = 40, 5, 2_000
    learned = n - n // k
    truth = -(1.0 + 1.0 / learned)
    corrected = naive = 0
    for _ in range(times):
        rows = draw.standard_normal(n).reshape(k, -1)
        scores = [
            -np.mean((rows[fold] - np.delete(rows, fold, axis=0).mean()) ** 2) for fold in range(k)
        ]
        for_all = corrected_interval(scores, judged_over_learned=1 / (k - 1))
        too_small = corrected_interval(scores, judged_over_learned=0.0)
        corrected += for_all.low <= truth <= for_all.high
        naive += too_small.low <= truth <= too_small.high
    assert corrected / times >= 0.95
    assert naive < corrected


@pytest.mark.parametrize("rows_of_group", [1, 4])
def test_the_interval_of_a_mean_holds_the_truth_as_often_as_it_says(rows_of_group):
    """Rows of a group go together; groups are of different sizes."""
    draw = np.random.default_rng(1)
    times, held = 2_000, 0
    for _ in range(times):
        sizes = draw.integers(1, rows_of_group + 1, size=80)
        of_group = 0.5 + 0.2 * draw.standard_normal(80)
        sums = sizes * of_group + np.sqrt(sizes) * 0.1 * draw.standard_normal(80)
        found = mean_interval(np.stack([sums, sizes], axis=1))
        held += found.low <= 0.5 <= found.high
    # 0.95 ± three standard errors of 2,000 draws, and half a point for the ratio's bias.
    assert 0.93 <= held / times <= 0.965


@given(arrays.arrays(float, st.integers(1, 15), elements=st.floats(-5, 5)))
def test_groups_that_are_not_skewed_have_the_interval_of_a_t_test(values):
    values = np.concatenate([values, -values])[:, None]
    found = mean_interval(np.hstack([values, np.ones_like(values)]))
    error = values.std(ddof=1) / np.sqrt(len(values))
    reach = student.ppf(0.975, len(values) - 1) * error
    np.testing.assert_allclose([found.value, found.low, found.high], [0, -reach, reach], atol=1e-6)


@given(arrays.arrays(float, st.integers(2, 30), elements=st.floats(-5, 5)))
def test_the_interval_of_what_is_turned_round_is_turned_round(values):
    there, back = (
        mean_interval(np.stack([one, np.ones_like(one)], axis=1)) for one in (values, -values)
    )
    assert there.low <= there.value + 1e-9
    assert there.value - 1e-9 <= there.high
    np.testing.assert_allclose([there.low, there.high], [-back.high, -back.low], atol=1e-9)


@pytest.mark.parametrize(("n", "spread"), [(80, 1.0), (400, 1.5), (2000, 2.0)])
def test_intervals_of_skewed_losses_hold_the_mean_where_those_of_a_t_test_do_not(n, spread):
    """Losses as of a good model: most rows lose nothing, a few much."""
    random = np.random.default_rng(n)
    true = np.exp(spread**2 / 2)
    held = below = above = of_t = 0
    times = 2_000
    for _ in range(times):
        losses = np.exp(random.normal(0, spread, n))
        found = mean_interval(np.stack([losses, np.ones(n)], axis=1))
        below, above = below + (true < found.low), above + (true > found.high)
        held += found.low <= true <= found.high
        reach = student.ppf(0.975, n - 1) * losses.std(ddof=1) / np.sqrt(n)
        of_t += abs(losses.mean() - true) <= reach
    assert held > of_t
    assert held / times >= 0.92
    assert abs(above - below) / times <= 0.05


def test_a_single_group_says_nothing_of_others():
    found = mean_interval(np.array([[3.0, 10.0]]))
    assert (found.value, found.low, found.high) == (0.3, -np.inf, np.inf)


# ── tests ──

sums = st.integers(2, 40).flatmap(
    lambda n: st.tuples(
        arrays.arrays(float, n, elements=st.floats(-3, 3)),
        arrays.arrays(float, n, elements=st.floats(-3, 3)),
        arrays.arrays(float, n, elements=st.integers(1, 5).map(float)),
    )
)


@given(sums)
def test_a_comparison_the_other_way_round_is_the_same_with_its_sign_turned(drawn):
    first, second = (np.stack([one, drawn[2]], axis=1) for one in drawn[:2])
    there, back = paired_means(first, second), paired_means(second, first)
    assert there.difference == pytest.approx(-back.difference)
    assert there.low == pytest.approx(-back.high)
    assert there.p == pytest.approx(back.p)
    assert there.low <= there.difference <= there.high
    assert 2.0 ** (1 - len(first)) <= there.p <= 1


@given(sums)
def test_p_and_the_interval_tell_the_same_story(drawn):
    first, second = (np.stack([one, drawn[2]], axis=1) for one in drawn[:2])
    found = paired_means(first, second)
    excluded = found.low > 1e-9 or found.high < -1e-9
    if excluded and len(first) > 6:
        assert found.p <= 0.05 + 1e-9
    if found.p < 0.05 - 1e-9:
        assert excluded or found.low == found.high or abs(found.difference) < 1e-6


def test_systems_that_are_alike_differ_by_nothing():
    first = np.array([[1.0, 2], [0.5, 1], [0.2, 1]])
    found = paired_means(first, first)
    assert (found.difference, found.p) == (0.0, 1.0)


def test_the_same_units_are_needed():
    first, second = np.array([[1.0, 2], [0.5, 1]]), np.array([[1.0, 2], [0.5, 2]])
    with pytest.raises(InputError, match="not judged on the same units"):
        paired_means(first, second)
    with pytest.raises(InputError, match="not judged on the same units"):
        paired_means(first, second[:1])


def test_a_single_group_decides_nothing():
    found = paired_means(np.array([[5.0, 9]]), np.array([[1.0, 9]]))
    assert (found.p, found.low, found.high) == (1.0, -np.inf, np.inf)


def test_paired_means_are_wrong_as_often_as_the_level_says():
    draw = np.random.default_rng(2)
    times, wrong = 2_000, 0
    sizes = np.ones(60)
    for _ in range(times):
        common = draw.standard_normal(60)
        both = [
            np.stack([common + 0.3 * draw.standard_normal(60), sizes], axis=1) for _ in range(2)
        ]
        wrong += paired_means(*both).p < 0.05
    assert 0.035 <= wrong / times <= 0.065


# ── claims ──


def made_up(ps, differences=None):
    differences = [0.1] * len(ps) if differences is None else differences
    return [
        Comparison(difference, 0, 0, p, 9, 9) for p, difference in zip(ps, differences, strict=True)
    ]


@given(st.lists(st.floats(0.0, 0.05), max_size=12), st.data())
def test_whoever_is_better_than_chance_is_so_after_the_correction_for_all(ps, data):
    signs = data.draw(
        st.lists(st.sampled_from([-0.1, 0.0, 0.1]), min_size=len(ps), max_size=len(ps))
    )
    found = beyond_chance(made_up(ps, signs))
    expected = [
        p < LEVEL and sign > 0 for p, sign in zip(holm(ps) if ps else [], signs, strict=True)
    ]
    assert found == expected


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.floats(0.0, 1.0))
def test_one_more_contender_makes_no_other_one_better(ps, another):
    before = beyond_chance(made_up(ps))
    after = beyond_chance(made_up([*ps, another]))
    assert all(old or not new for old, new in zip(before, after, strict=False))


def test_where_there_is_nothing_something_is_claimed_no_more_often_than_the_level():
    draw = np.random.default_rng(3)
    times = 20_000
    claimed = sum(any(beyond_chance(made_up(draw.random(8).tolist()))) for _ in range(times))
    assert claimed / times <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / times)
    assert LEVEL == 0.01


# ── do predictions go with the classes at all? ──


@pytest.mark.parametrize("n", [60, 700])
@pytest.mark.parametrize("is_class", [False, True])
def test_predictions_that_know_nothing_are_believed_no_more_often_than_the_level(n, is_class):
    draw, level, ps = np.random.default_rng(n + is_class), 0.05, []
    for seed in range(300):
        labels = draw.choice(2 + is_class, n, p=[0.6, 0.4][:2] if not is_class else [0.5, 0.3, 0.2])
        spoken = draw.integers(0, 3, n) if is_class else draw.normal(size=n)
        ps.append(by_lot(spoken, labels, seed=seed))
    # Twice the standard deviation of 300 draws is .025.
    assert np.mean(np.array(ps) < level) < level + 0.03
    assert 0.4 < np.mean(ps) < 0.62


@pytest.mark.parametrize("is_class", [False, True])
def test_many_rows_and_few_are_told_alike(is_class):
    draw = np.random.default_rng(3)
    labels = draw.choice(2, 500)
    spoken = labels * 0.2 + draw.normal(size=500)
    if is_class:
        spoken = np.where(draw.random(500) < 0.05, labels, draw.choice(2, 500))
    dealt = by_lot(spoken, labels)
    normal = by_lot(np.append(spoken, spoken.mean().astype(spoken.dtype)), np.append(labels, 0))
    assert dealt == pytest.approx(normal, rel=0.6)


def test_one_class_or_one_prediction_tells_nothing():
    labels = np.arange(60) % 2
    assert by_lot(np.zeros(60), labels) == by_lot(np.zeros(60, dtype=int), labels) == 1.0
    assert by_lot(np.arange(60.0), np.ones(60, dtype=int)) == 1.0


# ── areas under curves ──


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=4, max_size=40))
def test_the_area_is_the_share_of_pairs_in_order(rows):
    is_positive, scores = np.array([a for a, _ in rows]), np.array([float(b) for _, b in rows])
    found = area_interval(is_positive, scores, np.arange(len(rows)))
    p = scores / 10
    expected = auc(is_positive.astype(int), np.stack([1 - p, p], axis=1))
    assert found.value == pytest.approx(0.5 if expected is None else expected)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_intervals_of_areas_hold_the_truth_as_often_as_they_say():
    """Positives are normal with mean 1, the others with mean 0: an area of Φ(1 / √2)."""
    truth, held = 0.7602499389065233, 0
    draw = np.random.default_rng(0)
    for _ in range(400):
        is_positive = draw.random(120) < 0.4
        scores = draw.normal(size=120) + is_positive
        found = area_interval(is_positive, scores, np.arange(120))
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_rows_of_a_group_count_once():
    draw = np.random.default_rng(1)
    is_positive, scores = draw.random(50) < 0.5, draw.normal(size=50)
    once = area_interval(is_positive, scores, np.arange(50))
    thrice = area_interval(np.tile(is_positive, 3), np.tile(scores, 3), np.tile(np.arange(50), 3))
    assert (thrice.value, thrice.low) == pytest.approx((once.value, once.low))


def test_a_perfect_order_is_not_certain_and_one_class_has_no_area():
    is_positive = np.arange(40) % 4 == 0
    found = area_interval(is_positive, is_positive * 1.0, np.arange(40))
    assert found.value == found.high == 1
    assert 0.6 < found.low < 0.75, "ten positive rows could well have one amiss in a quarter"
    nothing = area_interval(np.ones(5, dtype=bool), np.arange(5.0), np.arange(5))
    assert (nothing.value, nothing.low, nothing.high) == (0.5, 0.0, 1.0)


def test_areas_that_differ_by_nothing_are_called_different_as_often_as_the_level_says():
    draw, called = np.random.default_rng(2), 0
    for _ in range(400):
        is_positive = draw.random(150) < 0.3
        shared = draw.normal(size=150) + is_positive
        both = [shared + draw.normal(size=150) for _ in range(2)]
        called += paired_areas(is_positive, *both, np.arange(150)).p < 0.05
    assert 0.02 <= called / 400 <= 0.08
    assert paired_areas(is_positive, shared, shared, np.arange(150)).p == 1.0


def test_shares_of_all_or_nothing_have_an_interval():
    sure = Interval(1.0, 1.0, 1.0, 30, 0)
    assert share_interval(sure, 30, 0).low == pytest.approx(0.025 ** (1 / 30))
    assert share_interval(Interval(0.0, 0.0, 0.0, 30, 0), 0, 30).high == pytest.approx(
        1 - 0.025 ** (1 / 30)
    )
    assert share_interval(Interval(0.5, 0.4, 0.6, 30, 0), 15, 15).low == 0.4
