"""What ten billion rows would take on a cluster, computed from what was measured on one core.

Nothing here is measured: :func:`rates` takes the figures of ``scale.py``, and :class:`Plan` does
the arithmetic.  Sizes are those of the program, taken from it where it has a name for them:

* **runs and sums.**  The blocks of a pass are cut into four runs for each worker.  Each run ends in
  one sum, and four sums at a time are added up on a worker, then four of those, until one is left,
  which goes to the machine that began it: 256 + 64 + 16 + 4 + 1 sums for 64 workers.  At most each
  is handed over once, so ``moved`` is their number times the bytes of the largest.
* **bytes of a sum.**  Counts: 8 for each feature and class.  Marks by which equal features are
  found: 16 a feature.  Work of each feature as a parent: 8.  Pairs: 4 + 4 for the two features and
  8 a class.  Cells of a level of trees: three whole numbers, 24.  Values: their text and about 15
  bytes more, 25 for a word of ten letters.
* **how many pairs or cells a pass has.**  Half of the room (what ``--memory`` leaves beside the
  program) divided by the bytes that one takes while it is sorted and added.
* **time of induction.**  Four passes beside the slices: counts, marks, work, and the counts of what
  was kept.  Each costs what reading and counting costs; what was measured beyond that is due to the
  pairs and grows with the pair increments, k(k − 1)/2 for rows of k columns.  As many pairs are
  taken to be spared by their bounds as in what was measured.
* **time of a tree.**  As many passes as levels, each at the measured cost a cell.
* **memory of a worker.**  The program, the vocabulary, the counts, one block (a quarter of the
  room), the pairs of a slice (half of it), and the sums of its four runs that wait to be added.
"""

from __future__ import annotations

from dataclasses import dataclass

from featloom.cluster import _JOINED, _RUNS
from featloom.counts.blocks import _COPIES
from featloom.data.blocks import _PROGRAM, room_in
from featloom.data.blocks_parquet import _CELL, _COUNT, _VALUE
from featloom.kernels.gradients import ONE
from featloom.learners.tree_blocks import _CELL as _CELL_OF_TREE

OTHER_PASSES = 4  # of induction, beside the slices
TEXT_OF_VALUE = 25  # bytes on the way between workers
CELL_SENT = 24
MARK_SENT = 16
WORK_SENT = 8
TABLE_OF_FISHER = 8  # bytes a row


@dataclass(frozen=True)
class Rates:
    """What one core does in a second of user CPU."""

    first_cells: float
    counted_cells: float
    sparse_rows: float
    pair_increments: float
    tree_cells: float


def pairs_of(columns: int) -> int:
    """Pair increments of a row of so many features."""
    return columns * (columns - 1) // 2


def rates(rows: list[dict]) -> Rates | None:
    """The rates behind the results of ``scale.py``; None where some were not measured."""
    parquet = {row["what"].split()[0]: row for row in rows if row.get("kind") == "parquet"}
    blocks = next((row for row in rows if row.get("kind") == "blocks"), None)
    if blocks is None or not {"first", "reading", "induction", "tree"} <= set(parquet):
        return None

    def cells_a_second(row: dict) -> float:
        return row["passes"] * row["rows"] * row["columns"] / row["ours_user_s"]

    induction, counted = parquet["induction"], cells_a_second(parquet["reading"])
    cells = induction["rows"] * induction["columns"]
    # What the passes over the rows take is never all of it.
    for_pairs = max(
        induction["ours_user_s"] - induction["passes"] * cells / counted,
        induction["ours_user_s"] / 10,
    )
    return Rates(
        first_cells=cells_a_second(parquet["first"]),
        counted_cells=counted,
        sparse_rows=blocks["rows"] / blocks["ours_user_s"],
        pair_increments=induction["rows"] * pairs_of(induction["columns"]) / for_pairs,
        tree_cells=cells_a_second(parquet["tree"]),
    )


@dataclass(frozen=True)
class Step:
    """A piece of work: user seconds of each worker, bytes of one sum, bytes moved at most."""

    name: str
    passes: int
    seconds: float
    sum_bytes: float
    moved: float


@dataclass(frozen=True)
class Plan:
    """Rows, and the cluster that counts them; ``memory`` is what ``--memory`` allows a worker.

    >>> plan = Plan()
    >>> plan.runs, plan.sums_handed_over, round(plan.pairs_of_slice / 1e6, 1)
    (256, 341, 11.6)
    """

    rows: int = 10**10
    columns: int = 14
    values: int = 10**6
    classes: int = 2
    row_bytes: int = 30
    workers: int = 64
    memory: int = 4 * 10**9
    slices: int = 2
    levels: int = 6

    @property
    def room(self) -> int:
        return room_in(self.memory)

    @property
    def runs(self) -> int:
        return _RUNS * self.workers

    @property
    def sums_handed_over(self) -> int:
        """Those of all runs, and all that are added up of them."""
        handed, left = self.runs, self.runs
        while left > 1:
            left = -(-left // _JOINED)
            handed += left
        return handed

    @property
    def counts_bytes(self) -> int:
        return 8 * self.classes * self.values

    @property
    def pair_bytes(self) -> int:
        return 4 + 4 + 8 * self.classes

    @property
    def pairs_of_slice(self) -> int:
        return self.room // 2 // (_COPIES * (24 + 8 * self.classes))

    @property
    def cells_of_pass(self) -> int:
        return self.room // 2 // _CELL_OF_TREE

    @property
    def rows_of_block(self) -> int:
        return self.room // 4 // (_CELL * (self.columns + 1))

    @property
    def most_values(self) -> int:
        """Values that the vocabulary can have before it is refused."""
        return self.room // (_VALUE + _COUNT * max(2, self.classes))

    @property
    def most_rows_of_fisher(self) -> int:
        """Rows for which the table of log factorials fits into the room."""
        return self.room // TABLE_OF_FISHER

    @property
    def most_rows_of_residuals(self) -> int:
        """Rows of one feature on which residuals of a whole one each fit into 64 bits."""
        return 2**63 // ONE

    def memory_of_worker(self) -> dict[str, float]:
        """Bytes, each part at its largest."""
        return {
            "the program": _PROGRAM,
            "the vocabulary": _VALUE * self.values,
            "its counts": _COUNT * self.classes * self.values,
            "one block": self.room / 4,
            "the pairs of a slice": self.room / 2,
            "sums that wait to be added": _RUNS * self.pair_bytes * self.pairs_of_slice,
        }

    def storage_rate(self, measured: Rates) -> float:
        """Bytes a second that one worker asks for in its fastest pass."""
        return measured.counted_cells / self.columns * self.row_bytes

    def steps(self, measured: Rates) -> list[Step]:
        cells = self.rows * self.columns / self.workers  # of one worker
        reading = cells / measured.counted_cells
        pairs = self.rows / self.workers * pairs_of(self.columns) / measured.pair_increments
        counts, slice_bytes = self.counts_bytes, self.pair_bytes * self.pairs_of_slice
        others = 2 * counts + (MARK_SENT + WORK_SENT) * self.values
        in_tree = CELL_SENT * self.cells_of_pass
        handed = self.sums_handed_over
        text = TEXT_OF_VALUE * self.values
        return [
            Step(
                "vocabulary, once",
                1,
                cells / measured.first_cells,
                text,
                (handed + self.workers) * text,
            ),
            Step("atomic counts", 1, reading, counts, handed * counts),
            Step(
                f"induction in {self.slices} slices",
                OTHER_PASSES + self.slices,
                (OTHER_PASSES + self.slices) * reading + pairs,
                slice_bytes,
                handed * (others + self.slices * slice_bytes),
            ),
            Step(
                "a further slice of pairs",
                1,
                reading + pairs / self.slices,
                slice_bytes,
                handed * slice_bytes,
            ),
            Step(
                f"a tree of {self.levels} levels",
                self.levels,
                self.levels * cells / measured.tree_cells,
                in_tree,
                self.levels * handed * in_tree,
            ),
        ]
