"""Data in blocks: one vocabulary for all, the numbers of the whole, bounded memory."""

from __future__ import annotations

import pickle
import random
import warnings
from itertools import chain, pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from featloom.data.blocks import MatrixBlocks, memory_size, stacked
from featloom.data.blocks_parquet import parquet_files, read_blocks, rows_of_block
from featloom.data.hashing import HashedNames, HashedValues
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers import read_table
from featloom.data.vocabulary import encode
from featloom.errors import InputError, ReadError


def tickets(n, seed=0) -> pl.DataFrame:
    draw = random.Random(seed)
    rows = [
        (
            draw.choice(["billing", "login", "export"]),
            draw.choice(["free", "team", None]),
            draw.randrange(4),
            draw.choice([0.5, 2.0, 3.0]),
            draw.choice(["no", "yes", "no"]),
        )
        for _ in range(n)
    ]
    names = ["area", "plan", "seats", "price", "escalated"]
    return pl.DataFrame(rows, schema=names, orient="row")


def written(folder, frame, cuts=(0, 7, 8, 30)):
    """The frame as several files; and as one, beside the folder."""
    files = folder / "parts"
    files.mkdir(parents=True)
    ends = [*cuts, len(frame)]
    for number, (a, b) in enumerate(pairwise(ends)):
        frame[a:b].write_parquet(files / f"part-{number}.parquet", row_group_size=5)
    frame.write_parquet(folder / "whole.parquet")
    return files, folder / "whole.parquet"


def test_blocks_of_files_have_the_numbers_of_the_whole(tmp_path):
    files, whole = written(tmp_path, tickets(60))
    matrix = FeatureMatrix.from_table(read_table(whole, target="escalated"))
    blocks = read_blocks(files, target="escalated")
    assert list(blocks.like.names) == list(matrix.names)
    assert blocks.sizes.tolist() == [7, 1, 22, 30]
    joined = stacked(list(blocks))
    assert joined.indptr.tolist() == matrix.indptr.tolist()
    assert joined.indices.tolist() == matrix.indices.tolist()
    classes = np.array(blocks.classes)[joined.labels]
    assert classes.tolist() == np.array(matrix.classes)[matrix.labels].tolist()
    assert blocks.class_totals.tolist() == np.bincount(joined.labels).tolist()


def test_blocks_go_to_another_process_and_are_the_same_there(tmp_path):
    files, _ = written(tmp_path, tickets(40))
    blocks = read_blocks(files, target="escalated")
    blocks.block(0)
    there = pickle.loads(pickle.dumps(blocks))
    assert [b.indices.tolist() for b in there] == [b.indices.tolist() for b in blocks]


def test_less_memory_makes_smaller_blocks(tmp_path):
    assert rows_of_block(10, 2 * 10**8) < rows_of_block(10, 2 * 10**9)
    frame = pl.concat([tickets(1000)] * 50)
    frame.write_parquet(tmp_path / "a.parquet")
    small = read_blocks(tmp_path, target="escalated", memory="301MB")
    large = read_blocks(tmp_path, target="escalated", memory="2GB")
    assert small.n_blocks > large.n_blocks == 1
    assert stacked(list(small)).indices.tolist() == large.block(0).indices.tolist()


def test_rows_without_a_class_are_named_or_skipped_and_counted(tmp_path):
    frame = tickets(20).with_columns(
        escalated=pl.when(pl.int_range(20) == 11).then(None).otherwise(pl.col("escalated"))
    )
    files, whole = written(tmp_path, frame, cuts=(0, 10))
    with pytest.raises(ReadError, match=r"part-1.parquet:2:5: no label in column 'escalated'"):
        read_blocks(files, target="escalated")
    with pytest.warns(UserWarning, match="1 rows without a class skipped"):
        blocks = read_blocks(files, target="escalated", on_bad_row="skip")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = FeatureMatrix.from_table(read_table(whole, target="escalated", on_bad_row="skip"))
    assert len(blocks) == 19
    assert stacked(list(blocks)).indices.tolist() == matrix.indices.tolist()


def test_a_file_that_lacks_a_column_is_named(tmp_path):
    files, _ = written(tmp_path, tickets(20), cuts=(0, 10))
    tickets(5).drop("plan").write_parquet(files / "part-9.parquet")
    with pytest.raises(ReadError, match=r"part-9.parquet: no column 'plan', which .*part-0"):
        read_blocks(files, target="escalated")


def test_a_damaged_file_is_named(tmp_path):
    files, _ = written(tmp_path, tickets(20), cuts=(0, 10))
    (files / "part-1.parquet").write_bytes(b"PAR1 and then nothing PAR1")
    with pytest.raises(ReadError, match=r"part-1.parquet: this Parquet file cannot be read"):
        read_blocks(files, target="escalated")


def test_a_folder_without_parquet_files_is_refused(tmp_path):
    with pytest.raises(ReadError, match="no Parquet file is there"):
        read_blocks(tmp_path, target="escalated")


def test_files_that_programs_leave_beside_the_data_are_passed_over(tmp_path):
    files, _ = written(tmp_path, tickets(20), cuts=(0, 10))
    (files / "_metadata.parquet").write_bytes(b"")
    (files / ".part-0.parquet").write_bytes(b"")
    assert [file[-14:] for file in parquet_files(files)] == ["part-0.parquet", "part-1.parquet"]


@pytest.mark.parametrize("size", ["much", "2 XB", "-1GB"])
def test_a_size_that_is_none_is_refused(size):
    with pytest.raises(InputError, match="a size is written like 2GB"):
        memory_size(size)


def test_less_memory_than_the_program_takes_is_refused():
    with pytest.raises(InputError, match="the program alone takes about 300 MB"):
        memory_size("100MB")


def test_a_vocabulary_that_does_not_fit_is_told(tmp_path):
    names = [f"n{number}" for number in range(120_000)]
    pl.DataFrame({"name": names, "y": ["a", "b"] * 60_000}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"120,000 features of 2 classes take about .*--hash 20"):
        read_blocks(tmp_path, target="y", memory="301MB")
    hashed = read_blocks(tmp_path, target="y", memory="301MB", hashed=10)
    assert hashed.n_features == 1024


@given(st.integers(1, 60), st.integers(1, 80))
@settings(max_examples=25, deadline=None)
def test_a_sample_is_spread_evenly_and_whole_where_it_may_be(n_rows, sample_rows):
    X = sparse.csr_matrix(np.ones((n_rows + 1, 1)))
    labels = np.arange(n_rows + 1) % 2
    matrix = FeatureMatrix.from_csr(X, names=["a"], labels=labels, classes=("no", "yes"))
    blocks = MatrixBlocks.of(
        [matrix.take(np.arange(a, min(a + 7, n_rows + 1))) for a in range(0, n_rows + 1, 7)],
        sample_rows=sample_rows,
    )
    rows = blocks.sampled_rows()
    assert len(blocks.sample()) == len(set(rows.tolist())) == min(sample_rows, n_rows + 1)
    gaps = np.diff(rows)
    assert gaps.max(initial=1) - gaps.min(initial=gaps.max(initial=1)) <= 1


@given(st.integers(2, 40), st.integers(2, 6))
@settings(max_examples=25, deadline=None)
def test_rows_held_out_and_the_others_are_all_rows(n_rows, every):
    X = sparse.csr_matrix(np.eye(n_rows))
    names = [f"r={row}" for row in range(n_rows)]
    matrix = FeatureMatrix.from_csr(
        X, names=names, labels=np.arange(n_rows) % 2, classes=("no", "yes")
    )
    parts = [matrix.take(np.arange(a, min(a + 3, n_rows))) for a in range(0, n_rows, 3)]
    blocks = MatrixBlocks.of(parts)
    held_out = blocks.part(held_out=True, every=every)
    others = blocks.part(held_out=False, every=every)
    assert [len(b) for b in held_out] == held_out.sizes.tolist()
    assert [len(b) for b in others] == others.sizes.tolist()
    found = [b.indices.tolist() for part in (held_out, others) for b in part]
    assert sorted(chain(*found)) == list(range(n_rows))
    assert [row for b in held_out for row in b.indices.tolist()] == list(range(0, n_rows, every))


def test_functions_load_blocks_of_matrices_with_names_of_their_own():
    def load(names, rows, classes):
        return FeatureMatrix.from_csr(
            sparse.csr_matrix(rows), names=names, labels=np.array([0, 1]), classes=classes
        )

    blocks = MatrixBlocks.of(
        [
            lambda: load(["a=x", "b=y"], [[1, 1], [0, 1]], ("yes", "no")),
            lambda: load(["b=z", "a=x"], [[1, 1], [0, 1]], ("no", "yes")),
        ]
    )
    assert blocks.like.families == ("a", "b")
    assert [block.row_names(0) for block in blocks] == [["a=x", "b=y"], ["a=x", "b=z"]]
    assert [block.labels.tolist() for block in blocks] == [[1, 0], [0, 1]]


def test_what_is_no_matrix_is_refused():
    with pytest.raises(InputError, match="a block must be a FeatureMatrix, not list"):
        MatrixBlocks.of([[1, 0]])
    with pytest.raises(InputError, match="there are no blocks"):
        MatrixBlocks.of([])


def test_hashed_features_are_found_again_by_their_names(tmp_path):
    files, _ = written(tmp_path, tickets(40))
    blocks = read_blocks(files, target="escalated", hashed=12)
    assert isinstance(blocks.like.names, HashedNames)
    numbers = np.unique(np.concatenate([block.indices for block in blocks]))
    blocks.name_features(numbers)
    names = {blocks.like.names[int(number)] for number in numbers}
    assert {"area=login", "plan=team", "seats=3", "price=0.5"} <= names
    assert blocks.like.names[int((numbers[0] + 1) % 4096)].startswith(("hash", "area", "p", "s"))
    assert blocks.like.names.shared(numbers) == 0


def test_names_that_share_a_hash_are_counted():
    values = [f"v{number}" for number in range(200)]
    hashed = HashedValues(4)
    names = HashedNames(16)
    names.add(hashed.names_of(np.arange(16), ["a"], [encode(values)]))
    assert names.shared(range(16)) == 16
    assert sum(len(names.found[number]) for number in range(16)) == 200


def test_a_hash_spreads_names_evenly():
    numbers = HashedValues(8).numbers("word", [str(number) for number in range(25_600)])
    counts = np.bincount(numbers, minlength=256)
    assert counts.min() > 50
    assert counts.max() < 160


@pytest.mark.parametrize("bits", [0, 3, 40])
def test_too_few_or_too_many_bits_are_refused(bits):
    with pytest.raises(InputError, match="4 to 28 can be"):
        HashedValues(bits)
