"""The plan for ten billion rows: its arithmetic, and what it takes from the program."""

from __future__ import annotations

import dataclasses
import operator
from collections import Counter

import numpy as np
import pytest

from benchmarks.plan import Plan, Rates, rates
from featloom.cluster import Cluster
from featloom.counts.evidence import FeatureCounts, PairSums
from featloom.data.blocks_parquet import rows_of_block

MEASURED = Rates(
    first_cells=14e6, counted_cells=20e6, sparse_rows=4e6, pair_increments=10e6, tree_cells=8e6
)  # fmt: skip


def results(*, passes=6, seconds=10.0):
    parquet = {"kind": "parquet", "rows": 1000, "columns": 11, "passes": 1, "ours_user_s": 1.0}
    return [
        {"kind": "blocks", "rows": 500, "ours_user_s": 2.0},
        parquet | {"what": "first pass over Parquet text"},
        parquet | {"what": "reading and counting the same"},
        parquet | {"what": "induction from Parquet", "passes": passes, "ours_user_s": seconds},
        parquet | {"what": "tree of 6 levels from Parquet", "passes": 6},
    ]


def test_what_the_passes_take_is_not_counted_as_work_on_pairs():
    measured = rates(results())
    assert measured.first_cells == measured.counted_cells == 11_000
    assert measured.sparse_rows == 250
    assert measured.pair_increments == pytest.approx(1000 * 55 / (10 - 6))
    assert measured.tree_cells == 66_000


def test_there_are_no_rates_where_a_part_was_not_measured():
    assert all(rates(results()[:n]) is None for n in range(5))


class CountedSums(Cluster):
    """Reduces here and now, and counts the sums that are handed over."""

    def __init__(self, n_workers: int):
        self.names = [f"worker {number}" for number in range(n_workers)]
        self.handed, self.runs = 0, Counter()

    def _workers(self):
        return self.names

    def _submit(self, task, *arguments, at=None):
        self.handed += 1
        self.runs.update([] if at is None else [at])
        value = task(*[self._values(argument) for argument in arguments])
        return Now(value)

    def _values(self, argument):
        return [one.value for one in argument] if isinstance(argument, list) else argument

    def _next(self, finished, deadline=None):
        return finished.get()

    def _result(self, future):
        return future.value


@dataclasses.dataclass(eq=False)
class Now:
    value: object

    def add_done_callback(self, tell):
        tell(self)


@pytest.mark.parametrize("workers", [1, 2, 7, 64])
def test_as_many_sums_are_handed_over_as_the_reduction_makes(workers):
    cluster = CountedSums(workers)
    total = cluster.reduce(lambda _, numbers: sum(numbers), None, range(5000), operator.add)
    assert total == sum(range(5000))
    assert Plan(workers=workers).sums_handed_over == cluster.handed
    assert len(cluster.runs) == workers
    assert len(set(cluster.runs.values())) == 1, "every worker gets as many runs as the others"


def test_a_pair_and_a_count_have_the_bytes_that_the_plan_says():
    plan = Plan()
    pair = PairSums.in_order(np.array([1], np.int32), np.array([2], np.int32), np.array([[3, 4]]))
    assert sum(part.nbytes for part in (pair.parents, pair.partners, pair.sums)) == plan.pair_bytes
    counts = FeatureCounts(np.zeros(2, np.int64), np.zeros((plan.values, 2), np.int64))
    assert counts.counts.nbytes == plan.counts_bytes


def test_a_block_has_as_many_rows_as_the_reader_gives_it():
    plan = Plan()
    assert plan.rows_of_block == rows_of_block(plan.columns, plan.room)


def test_twice_the_workers_take_half_the_time():
    one, two = (Plan(workers=n).steps(MEASURED) for n in (64, 128))
    assert [a.seconds for a in one] == pytest.approx([2 * b.seconds for b in two])


def test_the_slices_of_induction_and_its_other_passes_make_up_its_time():
    few, more = (Plan(slices=n).steps(MEASURED) for n in (2, 3))
    counting, induction, further = few[1], few[2], few[3]
    pairs = 2 * (further.seconds - counting.seconds)
    assert induction.seconds == pytest.approx(6 * counting.seconds + pairs)
    # The same pairs are met, in one more pass.
    assert more[2].seconds - induction.seconds == pytest.approx(counting.seconds)
    assert more[2].moved - induction.moved == further.moved


def test_the_page_names_the_limits_that_the_program_has(request):
    plan = Plan()
    page = (request.config.rootpath / "docs" / "scale.md").read_text(encoding="utf-8")
    plain = " ".join(page.split())
    assert f"every {plan.cells_of_pass // 10**6} million take one more pass" in plain
    assert f"{plan.most_rows_of_residuals / 1e9:.1f} billion rows of one feature" in plain
    assert f"from {plan.most_rows_of_fisher // 10**7}0 million on" in plain
    assert f"from about {plan.most_values // 10**6} million values on" in plain
