"""Neighbours by trie and by lattice, against a search through all cases."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from twins import BruteForce

from featloom.errors import InputError
from featloom.learners import cases as cases_module
from featloom.learners import comparison, lattice, neighbours
from featloom.learners.cases import Memory, Queries
from featloom.learners.comparison import MODES, VOTES, Comparison
from featloom.learners.neighbours import (
    ask,
    ask_by_votes,
    count_correct,
    count_correct_by_votes,
    distances_to_cases,
)

WEIGHTS = [0.0, 0.25, 0.5, 1.0, 1.5, 3.0]
LEVELS = [1, 2, 3, 5]


@st.composite
def problems(draw, modes=MODES, votes=VOTES, least_columns=1, rules=None):
    """Cases with classes, queries with classes, and a comparison."""
    n_columns = draw(st.integers(least_columns, 4))
    n_values = draw(st.integers(1, 5))
    n_classes = draw(st.integers(2, 3))
    n_cases, n_queries = draw(st.integers(1, 24)), draw(st.integers(1, 10))
    codes = st.integers(0, n_values)
    X = draw(arrays(np.int32, (n_cases, n_columns), elements=codes))
    y = draw(arrays(np.int64, n_cases, elements=st.integers(0, n_classes - 1)))
    Q = draw(arrays(np.int32, (n_queries, n_columns), elements=codes))
    gold = draw(arrays(np.int64, n_queries, elements=st.integers(-1, n_classes - 1)))
    chosen = draw(st.tuples(*[st.sampled_from(modes)] * n_columns))
    if all(mode == "ignore" for mode in chosen):
        chosen = (modes[-1], *chosen[1:])
    weights = draw(st.tuples(*[st.sampled_from(WEIGHTS)] * n_columns))
    look_further, exact_first = rules or (
        draw(st.booleans()),
        draw(st.sampled_from(["never", "first", "always"])),
    )
    how = Comparison(
        chosen, weights, draw(st.sampled_from(votes)), draw(st.sampled_from([0.5, 1.0, 3.0])),
        draw(st.integers(1, 3)), look_further, exact_first,
    )  # fmt: skip
    return X, y, Q, gold, how, Memory(X, y, [n_values + 1] * n_columns, n_classes)


def oracle(X, y, how):
    return BruteForce(
        X, y, how.modes, map(Fraction, how.weights), how.vote, how.decay, how.mvdm_threshold,
        how.look_further, how.exact_first,
    )  # fmt: skip


def check_against_all_cases(problem):
    X, y, Q, _, how, memory = problem
    brute = oracle(X, y, how)
    answers = ask(memory, Queries(Q), how, LEVELS)
    for level, k in enumerate(LEVELS):
        one = ask(memory, Queries(Q), how, [k], with_votes=True, with_distances=True)
        for i, query in enumerate(Q):
            expected = brute.ask(query, k)
            n = len(expected.distances)
            np.testing.assert_allclose(one.distances[i, :n], expected.distances, atol=1e-12)
            assert np.isnan(one.distances[i, n:]).all()
            # Sums of weighted votes that are equal on paper may part in the last bit.
            if how.vote == "count" or expected.is_clear:
                assert one.classes[i, 0] == answers.classes[i, level] == expected.answer
                votes = np.zeros(memory.n_classes)
                votes[list(expected.votes)] = list(expected.votes.values())
                np.testing.assert_allclose(one.votes[i], votes, rtol=1e-9, atol=1e-9)


@given(problems())
@settings(max_examples=250)
def test_the_walk_finds_what_a_look_at_every_case_finds(problem):
    check_against_all_cases(problem)


def through_all_cases(patch, chosen=True):
    """One query is answered by the walk; through all cases, or not, go the others."""
    for name, value in (("_RUNS", 1), ("_RUN", 1), ("_BY_OVERLAP", 0), ("_BY_MVDM", 0)):
        patch.setattr(neighbours, name, value if chosen else 1e9)


@given(problems())
@settings(max_examples=250)
def test_a_comparison_with_all_cases_finds_the_same(problem):
    with pytest.MonkeyPatch.context() as patch:
        through_all_cases(patch)
        check_against_all_cases(problem)


@given(problems())
@settings(max_examples=250)
def test_the_walk_and_the_comparison_with_all_cases_agree_to_the_last_bit(problem):
    X, _, Q, _, how, memory = problem
    asked = np.concatenate([Q, X])
    found = []
    for chosen in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            through_all_cases(patch, chosen)
            found.append(
                ask_by_votes(
                    memory, Queries(asked), how, LEVELS, with_votes=True, with_distances=True
                )
            )
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()


@given(problems())
@settings(max_examples=150)
def test_all_votes_at_all_levels_from_one_search_are_those_asked_for_one_by_one(problem):
    _, _, Q, gold, how, memory = problem
    together = ask_by_votes(memory, Queries(Q), how, LEVELS, VOTES, with_votes=True)
    right = count_correct_by_votes(memory, Queries(Q, gold), how, LEVELS, VOTES)
    for place, vote in enumerate(VOTES):
        for level, k in enumerate(LEVELS):
            one = ask(memory, Queries(Q), how._replace(vote=vote), [k], with_votes=True)
            assert one.classes[:, 0].tolist() == together.classes[:, place, level].tolist()
            assert one.votes.tolist() == together.votes[:, place, level].tolist()
            assert right[place, level] == (one.classes[:, 0] == gold).sum()


@given(problems(modes=("overlap", "mvdm"), votes=("count",)))
@settings(max_examples=100)
def test_and_so_it_does_where_differences_of_values_are_not_kept(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases_module, "_ROW_CELLS", -1)
        check_against_all_cases(problem)


@given(problems(modes=("overlap", "mvdm"), votes=("count",)))
@settings(max_examples=60)
def test_queries_that_are_asked_again_and_again_stay_the_same(problem):
    _, _, Q, _, how, memory = problem
    kept = Queries(Q)
    comparisons = [
        how._replace(modes=modes, mvdm_threshold=threshold)
        for threshold in (1, 2)
        for modes in (how.modes, ("mvdm",) * len(how.modes), tuple(reversed(how.modes)))
    ]
    for _ in range(2):
        for other in comparisons:
            again = ask(memory, kept, other, LEVELS, with_votes=True)
            fresh = ask(memory, Queries(Q), other, LEVELS, with_votes=True)
            assert again.classes.tolist() == fresh.classes.tolist()
            assert again.votes.tolist() == fresh.votes.tolist()


@given(problems())
@settings(max_examples=300)
def test_the_lattice_gives_the_same_answers_as_the_walk(problem):
    _, _, Q, gold, how, memory = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "_PAIRS", 1e9)  # also for so few cases
        by_lattice = count_correct(memory, Queries(Q, gold), how, LEVELS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "_BYTES", 0)
        by_walk = count_correct(memory, Queries(Q, gold), how, LEVELS)
    answers = ask(memory, Queries(Q), how, LEVELS)
    assert by_lattice.tolist() == by_walk.tolist()
    assert by_walk.tolist() == (answers.classes == gold[:, None]).sum(axis=0).tolist()


def test_the_lattice_of_all_columns_outlasts_those_of_a_few():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(1, 4, (60, 4)), rng.integers(0, 2, 60)
    memory = Memory(codes, labels, [4] * 4, 2)
    kept = Queries(codes[:20], labels[:20])
    alike = Comparison(("overlap",) * 4, (1.0,) * 4)
    count_correct(memory, kept, alike, LEVELS)
    (whole,) = kept.lattices.values()
    for column in range(4):
        modes = tuple("mvdm" if j == column else "overlap" for j in range(4))
        count_correct(memory, kept, alike._replace(modes=modes), LEVELS)
    assert any(one is whole for one in kept.lattices.values())
    assert len(kept.lattices) == 3


@given(problems(modes=("ignore", "overlap"), votes=("count",)))
@settings(max_examples=60)
def test_one_lattice_serves_every_weighting_and_every_set_of_columns(problem):
    _, _, Q, gold, how, memory = problem
    kept = Queries(Q, gold)
    count_correct(memory, kept, how, [3])
    for weights in ((1.0,) * len(how.modes), tuple(reversed(how.weights))):
        for modes in (how.modes, ("overlap",) * len(how.modes)):
            other = how._replace(weights=weights, modes=modes)
            again = count_correct(memory, kept, other, LEVELS)
            assert again.tolist() == count_correct(memory, Queries(Q, gold), other, LEVELS).tolist()


@given(problems(modes=("overlap", "mvdm"), votes=("count",)))
@settings(max_examples=100)
def test_making_alike_values_one_changes_no_answer(problem):
    X, y, Q, _, how, memory = problem
    grouped = ask(memory, Queries(Q), how, LEVELS, with_votes=True, with_distances=True)
    apart = Memory(X, y, memory.n_values, memory.n_classes)
    for column in range(len(how.modes)):
        counts = apart.counts[column]
        frequent = counts.totals >= how.mvdm_threshold
        frequent[0] = False
        apart._codings[column, how.mvdm_threshold] = cases_module.Coding(
            None, counts.start, counts.classes, counts.shares, frequent, memory.n_classes
        )
    plain = ask(apart, Queries(Q), how, LEVELS, with_votes=True, with_distances=True)
    assert grouped.classes.tolist() == plain.classes.tolist()
    assert grouped.votes.tolist() == plain.votes.tolist()
    np.testing.assert_allclose(grouped.distances, plain.distances, atol=1e-12)


@given(problems(votes=("count",)))
@settings(max_examples=60)
def test_a_query_is_answered_as_if_it_were_alone(problem):
    _, _, Q, gold, how, memory = problem
    together = ask(memory, Queries(Q), how, LEVELS, with_votes=True)
    for i in range(len(Q)):
        alone = ask(memory, Queries(Q[i : i + 1]), how, LEVELS, with_votes=True)
        assert alone.classes[0].tolist() == together.classes[i].tolist()
        assert alone.votes[0].tolist() == together.votes[i].tolist()
    right = count_correct(memory, Queries(Q, gold), how, LEVELS)
    assert right.tolist() == (together.classes == gold[:, None]).sum(axis=0).tolist()


def test_a_lattice_counts_no_case_twice_where_no_column_weighs_anything():
    X, y = np.array([[1]] * 5 + [[0]]), np.array([1, 1, 1, 0, 0, 0])
    memory = Memory(X, y, [2], 2)
    how = Comparison(("overlap",), (0.0,))
    asked = np.array([[1]])
    assert ask(memory, Queries(asked), how, [3]).classes.tolist() == [[0]]
    assert count_correct(memory, Queries(asked, np.array([0])), how, [1, 3]).tolist() == [1, 1]


def test_queries_that_the_metric_cannot_tell_apart_may_have_different_exact_matches():
    # "a" and "b" were met with the same classes; only "a x" is stored, with A alone.
    X = np.array([[1, 1], [2, 2], [1, 2], [2, 3], [3, 1], [3, 1], [4, 1]])
    y = np.array([0, 0, 1, 1, 1, 1, 1])
    how = Comparison(("mvdm", "mvdm"), (1.0, 0.0), look_further=True, exact_first="first")
    memory = Memory(X, y, [5, 4], 2)
    brute = oracle(X, y, how)
    for order in ([[1, 1], [2, 1]], [[2, 1], [1, 1]]):
        answers = ask(memory, Queries(np.array(order)), how, [1])
        assert answers.classes[:, 0].tolist() == [brute.ask(query, 1).answer for query in order]


@given(problems(votes=("count",)), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_cases_matters_for_nothing_where_classes_keep_their_numbers(problem, random):
    X, y, Q, _, how, memory = problem
    shuffled = list(range(len(X)))
    random.shuffle(shuffled)
    other = Memory(X[shuffled], y[shuffled], memory.n_values, memory.n_classes)
    one = ask(memory, Queries(Q), how, LEVELS, with_votes=True, with_distances=True)
    two = ask(other, Queries(Q), how, LEVELS, with_votes=True, with_distances=True)
    assert one.classes.tolist() == two.classes.tolist()
    assert one.votes.tolist() == two.votes.tolist()
    np.testing.assert_array_equal(one.distances, two.distances)


@given(problems(votes=("count",), rules=(True, "first")))
@settings(max_examples=60)
def test_every_case_stored_twice_votes_twice(problem):
    X, y, Q, _, how, memory = problem
    how = how._replace(mvdm_threshold=1)
    twice = Memory(np.repeat(X, 2, axis=0), np.repeat(y, 2), memory.n_values, memory.n_classes)
    one = ask(memory, Queries(Q), how, LEVELS, with_votes=True)
    two = ask(twice, Queries(Q), how, LEVELS, with_votes=True)
    assert one.classes.tolist() == two.classes.tolist()
    assert (2 * one.votes).tolist() == two.votes.tolist()


@given(problems(votes=VOTES))
@settings(max_examples=40)
def test_the_distances_shown_in_explanations_are_those_of_the_walk(problem):
    _, _, Q, _, how, memory = problem
    nearest = ask(memory, Queries(Q), how, [1], with_distances=True).distances[:, 0]
    shown = [distances_to_cases(memory, query, how).min() for query in Q]
    np.testing.assert_allclose(shown, nearest, atol=1e-12)


def random_problem(n_cases=3000, n_queries=700, n_columns=6, n_values=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_cases, n_columns)).astype(np.int32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.integers(0, 3, n_cases)) % 5
    Q = rng.integers(0, n_values, (n_queries, n_columns)).astype(np.int32)
    return Memory(X, y, [n_values] * n_columns, 5), Queries(Q, rng.integers(0, 5, n_queries))


@pytest.mark.parametrize("vote", VOTES)
@pytest.mark.parametrize("modes", [("overlap",) * 6, ("mvdm",) * 6, ("ignore", *MODES, *MODES[:2])])
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, modes, vote):
    monkeypatch.setattr(comparison, "BLOCK", 64)
    memory, queries = random_problem()
    how = Comparison(
        modes, tuple(memory.weights("gain_ratio")), vote, look_further=True, exact_first="first"
    )
    runs = [
        (
            ask(memory, queries, how, [1, 3, 7], threads=threads, with_votes=True,
                with_distances=True),
            count_correct(memory, queries, how, [1, 3, 7], threads=threads),
        )
        for threads in (1, 2, 3)
    ]  # fmt: skip
    for answers, right in runs[1:]:
        for part, expected in zip(answers, runs[0][0], strict=True):
            assert part.tobytes() == expected.tobytes()
        assert right.tobytes() == runs[0][1].tobytes()


def test_cases_that_leave_nothing_aside_are_compared_all_at_once():
    memory, queries = random_problem(n_columns=12, n_values=40)
    how = Comparison(("overlap",) * 12, (1.0,) * 12)
    steps = ask(memory, queries, how, [1, 5], with_votes=True, with_distances=True)
    with pytest.MonkeyPatch.context() as patch:
        through_all_cases(patch, chosen=False)
        walked = ask(memory, queries, how, [1, 5], with_votes=True, with_distances=True)
    for one, other in zip(steps, walked, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("block", [1, 7, 4096])
def test_how_queries_are_cut_into_blocks_changes_nothing(monkeypatch, block):
    memory, queries = random_problem(n_cases=800, n_queries=150)
    how = Comparison(("mvdm",) * 3 + ("overlap",) * 3, tuple(memory.weights("gain_ratio")))
    expected = ask(memory, queries, how, [1, 4], with_distances=True)
    monkeypatch.setattr(comparison, "BLOCK", block)
    found = ask(memory, queries, how, [1, 4], with_distances=True)
    assert found.classes.tolist() == expected.classes.tolist()
    np.testing.assert_allclose(found.distances, expected.distances, atol=1e-12)


@pytest.mark.parametrize("modes", [("overlap", "overlap"), ("mvdm", "overlap")])
@pytest.mark.parametrize("k", [4, 100, 10**9])
def test_more_neighbours_than_there_are_is_all_of_them(modes, k):
    X, y = np.array([[1, 1], [1, 2], [2, 1], [2, 2]]), np.array([0, 1, 1, 1])
    memory, how = Memory(X, y, [3, 3], 2), Comparison(modes, (1.0, 0.5), look_further=True)
    asked = Queries(X, y)
    assert ask(memory, asked, how, [k]).classes[:, 0].tolist() == [1, 1, 1, 1]
    assert count_correct(memory, asked, how, [k]).tolist() == [3]


def test_where_no_weight_is_left_all_cases_are_equally_near():
    X, y = np.array([[1, 1], [1, 2], [1, 2]]), np.array([0, 1, 1])
    memory = Memory(X, y, [2, 3], 2)
    how = Comparison(("overlap", "ignore"), tuple(memory.weights("gain_ratio")))
    assert memory.weights("gain_ratio")[0] == 0
    answers = ask(memory, Queries(X), how, [1, 3], with_votes=True, with_distances=True)
    assert answers.classes.tolist() == [[1, 1]] * 3
    assert answers.votes.tolist() == [[1, 2]] * 3
    assert answers.distances[:, 0].tolist() == [0, 0, 0]
    assert count_correct(memory, Queries(X, y), how, [1, 3]).tolist() == [2, 2]


def test_ignoring_everything_is_refused():
    memory = Memory(np.array([[1], [2]]), np.array([0, 1]), [3], 2)
    with pytest.raises(InputError) as error:
        ask(memory, Queries(np.array([[1]])), Comparison(("ignore",), (1.0,)), [1])
    assert str(error.value) == "all features are ignored; nothing is left to compare"


def test_a_memory_keeps_a_bounded_number_of_tries_and_merged_queries():
    memory, queries = random_problem(n_cases=50, n_queries=10, n_columns=8)
    for chosen in range(1, 256):
        modes = tuple("overlap" if chosen >> j & 1 else "ignore" for j in range(8))
        ask(memory, queries, Comparison(modes, (1.0,) * 8), [1])
    assert len(memory._tries) <= 64
    assert len(queries._merged) <= 64


@pytest.mark.parametrize("n_values", [60_000, 65_535, 70_000])
def test_a_column_of_very_many_values_makes_no_square_table(n_values):
    import tracemalloc

    rng = np.random.default_rng(1)
    X = np.column_stack([np.arange(1, n_values + 1), rng.integers(1, 4, n_values)]).astype(np.int32)
    y = rng.integers(0, 2, n_values)
    asked = Queries(X[-500:], y[-500:])
    tracemalloc.start()
    memory = Memory(X, y, [n_values + 1, 4], 2)
    assert memory.cases.codes.dtype == (np.uint16 if n_values < 1 << 16 else np.int32)
    for modes in (("overlap", "overlap"), ("mvdm", "overlap"), ("mvdm", "mvdm")):
        # Each first value is met once, so those of one class are alike.
        answers = ask(memory, asked, Comparison(modes, (1.0, 0.5)), [1])
        assert answers.classes[:, 0].tolist() == asked.labels.tolist()
    kept = Comparison(("mvdm", "ignore"), (1.0, 0.5), mvdm_threshold=2)
    answers = ask(memory, asked, kept, [1])
    assert answers.classes[:, 0].tolist() == asked.labels.tolist()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1000 * n_values


@pytest.mark.parametrize("n_columns", [14, 60])
def test_the_work_of_many_columns_is_bounded_by_cases_and_not_by_sets_of_columns(n_columns):
    memory, queries = random_problem(n_cases=300, n_queries=100, n_columns=n_columns, n_values=3)
    alike = Comparison(("overlap",) * n_columns, (1.0,) * n_columns)
    right = count_correct(memory, queries, alike, LEVELS)
    assert not queries.lattices
    found = ask(memory, queries, alike, LEVELS).classes
    assert right.tolist() == (found == queries.labels[:, None]).sum(axis=0).tolist()


def test_a_lattice_is_made_where_its_sets_are_few_beside_the_cases():
    memory, queries = random_problem()
    how = Comparison(("overlap",) * 6, (1.0,) * 6)
    count_correct(memory, queries, how, LEVELS)
    assert len(queries.lattices) == 1


def random_memory(n, n_columns=6, seed=0):
    random = np.random.default_rng(seed)
    X, y = random.integers(1, 5, (n, n_columns)).astype(np.int32), random.integers(0, 3, n)
    return X, y, Memory(X, y, [5] * n_columns, 3)


@pytest.mark.parametrize("at_once", [0.5, 3, 20])
def test_no_call_of_the_walk_can_take_longer_than_it_may(monkeypatch, at_once):
    """Also of the queries that are answered first, whose steps nobody knows before."""
    X, _, memory = random_memory(300)
    how = Comparison(("overlap",) * 6, (1.0,) * 6)
    expected = ask(memory, Queries(X), how, LEVELS, with_votes=True)
    width = memory.trie(range(6)).leaves.codes.size
    calls = []

    def watched(queries, which, *others):
        calls.append((len(which), real(queries, which, *others)))
        return calls[-1][1]

    real = neighbours.nearest_classes
    monkeypatch.setattr(neighbours, "_STEPS", int(at_once * width))
    monkeypatch.setattr(neighbours, "nearest_classes", watched)
    found = ask(memory, Queries(X), how, LEVELS, with_votes=True)
    assert found.classes.tolist() == expected.classes.tolist()
    assert found.votes.tolist() == expected.votes.tolist()
    steps = [steps for _, steps in calls]
    assert max(steps) <= max(width, at_once * width)
    first = calls[0][0]
    assert first <= max(1, at_once)


def test_blocks_of_the_lattice_are_bounded_by_all_that_is_done_for_a_query(monkeypatch):
    X, y, memory = random_memory(400)
    how = Comparison(("mvdm", *["overlap"] * 5), (1.0,) * 6)
    expected = count_correct(memory, Queries(X, y), how, LEVELS)
    sizes = []

    def watched(first, last, *others):
        sizes.append(last - first)
        return real(first, last, *others)

    real = lattice.lattice_classes
    monkeypatch.setattr(lattice, "lattice_classes", watched)
    assert count_correct(memory, Queries(X, y), how, LEVELS).tolist() == expected.tolist()
    (whole,) = set(sizes[:1])
    # Pairs of sets alone would allow ten queries at a time; there is more to do for each.
    monkeypatch.setattr(lattice, "_STEPS", 10 * (1 << 10))
    sizes.clear()
    assert count_correct(memory, Queries(X, y), how, LEVELS).tolist() == expected.tolist()
    assert 1 <= max(sizes) < 10 < whole
