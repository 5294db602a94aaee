"""Parquet files: every sound one is read; one that claims what it has not is refused in a line."""

from __future__ import annotations

import base64
import io
import struct
import warnings
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from featloom.data.blocks_parquet import read_blocks
from featloom.data.corpora import find, how_to_get
from featloom.data.readers.arrow_schema import DamagedSchema, check_arrow_schema
from featloom.data.readers.parquet import open_parquet, read_parquet
from featloom.data.readers.parquet_structure import FREE_VALUES, check_structure
from featloom.data.readers.parquet_trial import decodes
from featloom.data.readers.thrift_compact import (
    BINARY,
    BOOLEAN,
    INT32,
    INT64,
    CompactReader,
    Malformed,
)
from featloom.data.table import NominalTable
from featloom.data.tasks.letter_to_sound import letter_to_sound
from featloom.errors import InputError, ReadError

# ------------------------------------------------------------------------------ sound files

N = 120
KINDS = pl.DataFrame(
    {
        "text": [None if i % 7 == 0 else f"value {i % 5}" for i in range(N)],
        "long": ["z" * (i * 7 % 400) for i in range(N)],
        "whole": list(range(N)),
        "small": pl.Series([i % 100 for i in range(N)], dtype=pl.Int8),
        "real": [i / 3 if i % 4 else None for i in range(N)],
        "truth": [i % 3 == 0 for i in range(N)],
        "time": [datetime(2020, 1, 1) + timedelta(hours=i) for i in range(N)],
        "day": [date(2020, 1, 1)] * N,
        "decimal": [Decimal(i) / 4 for i in range(N)],
        "bytes": [bytes([97 + i % 26]) * (i % 5) for i in range(N)],
        "category": pl.Series([f"c{i % 4}" for i in range(N)], dtype=pl.Categorical),
        "missing": pl.Series([None] * N, dtype=pl.String),
        "list": [[i] * (i % 4) if i % 5 else None for i in range(N)],
        "lists": [[[1, 2], [i]] if i % 3 else [] for i in range(N)],
        "pair": pl.Series([[i, i] if i % 5 else None for i in range(N)], dtype=pl.Array(int, 2)),
        "record": [{"p": i, "q": "x" * (i % 3)} if i % 6 else None for i in range(N)],
        "y": ["KS"[i % 2] for i in range(N)],
    }
)
FLAT = KINDS.drop("list", "lists", "pair", "record")


def in_arrow(frame: pl.DataFrame) -> pa.Table:
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    n = len(table)
    table = table.append_column("fixed", pa.array([b"abcd"] * n, pa.binary(4)))
    return table.append_column("half", pa.array([1.5] * n, pa.float16()))


def is_sound(path) -> bool:
    """Whether a file is let through; Polars says how many rows it has."""
    return check_structure(str(path)).rows == pl.scan_parquet(path).select(pl.len()).collect()[0, 0]


@pytest.mark.parametrize("codec", ["zstd", "snappy", "uncompressed", "gzip", "lz4", "brotli"])
@pytest.mark.parametrize("rows", [None, 50])
def test_files_written_by_polars_are_sound(codec, rows, tmp_path):
    path = tmp_path / "p.parquet"
    for statistics in (True, False, "full"):
        for size in (None, 200):
            KINDS.write_parquet(
                path, compression=codec, row_group_size=rows, data_page_size=size,
                statistics=statistics,
            )  # fmt: skip
            assert is_sound(path)


@pytest.mark.parametrize("codec", ["zstd", "snappy", "none", "gzip", "lz4", "brotli"])
@pytest.mark.parametrize("pages", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_files_written_by_arrow_are_sound(codec, pages, dictionary, tmp_path):
    path, table = tmp_path / "p.parquet", in_arrow(KINDS)
    table = table.append_column("map", pa.array([[("k", 1)]] * N, pa.map_(pa.string(), pa.int64())))
    for how in (
        {},
        {"row_group_size": 50, "data_page_size": 100, "write_page_index": True},
        {"write_statistics": False, "store_schema": False, "version": "1.0"},
        {"write_page_checksum": True, "data_page_size": 2**28},
        {"bloom_filter_options": {"text": {"ndv": 100}}},
    ):
        parquet.write_table(
            table, path, compression=codec, data_page_version=pages, use_dictionary=dictionary,
            **how,
        )  # fmt: skip
        assert is_sound(path)


def test_files_without_rows_or_columns_are_sound(tmp_path):
    path = tmp_path / "p.parquet"
    for frame in (KINDS.clear(), pl.DataFrame()):
        frame.write_parquet(path)
        assert is_sound(path)
        parquet.write_table(frame.to_arrow(compat_level=pl.CompatLevel.oldest()), path)
        assert is_sound(path)
    with pytest.raises(ReadError, match="no column 'y'"):
        read_parquet(path, target="y")


def test_every_kind_of_column_is_read_as_before(tmp_path):
    path = tmp_path / "p.parquet"
    FLAT.write_parquet(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some columns are constant
        table = read_parquet(path, target="y")
    first = {
        name: vocabulary[codes - 1] if codes else None
        for name, vocabulary, codes in zip(
            table.columns, table.vocabularies, table.codes[1], strict=True
        )
    }
    assert first == {
        "text": "value 1", "long": "z" * 7, "whole": "1", "small": "1", "real": repr(1 / 3),
        "truth": "False", "time": "2020-01-01 01:00:00", "day": "2020-01-01", "decimal": "0.25",
        "bytes": "b", "category": "c1", "missing": None,
    }  # fmt: skip


def test_columns_that_are_constant_take_few_bytes_and_are_sound(tmp_path):
    path, n = tmp_path / "p.parquet", 3_000_000
    frame = pl.select(a=pl.repeat("x", n), b=pl.repeat(5, n), y=pl.repeat(None, n, dtype=pl.String))
    for rows in (None, n):
        frame.write_parquet(path, row_group_size=rows)
        assert path.stat().st_size < n / 100
        assert check_structure(str(path)).rows == n


@pytest.mark.parametrize(
    ("column", "encoding"),
    [
        ("whole", "DELTA_BINARY_PACKED"),
        ("text", "DELTA_LENGTH_BYTE_ARRAY"),
        ("text", "DELTA_BYTE_ARRAY"),
        ("real", "BYTE_STREAM_SPLIT"),
        ("truth", "RLE"),
    ],
)
def test_rare_encodings_are_read(column, encoding, tmp_path):
    path = tmp_path / "p.parquet"
    FLAT.select(column, "y").write_parquet(path)
    expected = read_parquet(path, target="y")
    table = FLAT.select(column, "y").to_arrow(compat_level=pl.CompatLevel.oldest())
    parquet.write_table(table, path, use_dictionary=False, column_encoding={column: encoding})
    unfolding = frozenset({column}) if encoding.startswith("DELTA") else frozenset()
    assert check_structure(str(path)).unfolding == unfolding
    found = read_parquet(path, target="y")
    assert found.vocabularies == expected.vocabularies
    assert (found.codes == expected.codes).all()
    assert len(read_blocks(path, target="y")) == N


def texts_of(table: NominalTable) -> dict[str, list[str | None]]:
    columns = zip(table.columns, table.vocabularies, table.codes.T.tolist(), strict=True)
    return {name: [[None, *words][code] for code in codes] for name, words, codes in columns}


def test_letters_and_sounds_as_parquet_are_read(tmp_path):
    if find("letter-to-sound") is None:
        pytest.skip(how_to_get("letter-to-sound"))
    table, path = letter_to_sound(max_words=2000)[0], tmp_path / "p.parquet"
    texts, sounds = texts_of(table), [table.classes[label] for label in table.labels]
    frame = pl.DataFrame(texts | {"sound": sounds})
    frame.write_parquet(path)
    assert texts_of(read_parquet(path, target="sound", missing=())) == texts
    parquet.write_table(frame.to_arrow(), path, data_page_version="2.0", compression="gzip")
    assert texts_of(read_parquet(path, target="sound", missing=())) == texts


def test_lists_and_records_are_refused_where_they_are_wanted(tmp_path):
    path = tmp_path / "p.parquet"
    KINDS.write_parquet(path)
    read_parquet(path, target="y", columns=["text", "whole"])
    for column in ("list", "lists", "pair", "record"):
        message = f"column '{column}' holds lists or records; a cell is one symbol"
        for read in (read_parquet, read_blocks):
            with pytest.raises(ReadError, match=message):
                read(path, target="y", columns=["text", column])


def test_texts_that_are_not_utf_8_are_refused(tmp_path):
    path = tmp_path / "p.parquet"
    texts = pl.DataFrame({"text": ["c-one", "c-two"] * 5, "y": ["K", "S"] * 5})
    for kind in (pl.Binary, pl.Categorical, pl.String):
        frame = texts.with_columns(pl.col("text").cast(kind))
        frame.write_parquet(path, compression="uncompressed", statistics=False)
        path.write_bytes(path.read_bytes().replace(b"c-one", b"c-\xff\xffe"))
        for read in (read_parquet, read_blocks):
            with pytest.raises(ReadError, match=r"p\.parquet: .*(?i:utf-?8)"):
                read(path, target="y")


def test_a_date_that_is_none_is_refused(tmp_path):
    path = tmp_path / "p.parquet"
    days = pl.Series("day", [0, 50_000_000], dtype=pl.Int32).cast(pl.Date)
    pl.DataFrame([days, pl.Series("y", ["K", "S"])]).write_parquet(path)
    for read in (read_parquet, read_blocks):
        with pytest.raises(ReadError, match=r"p\.parquet: this Parquet file cannot be read: "):
            read(path, target="y")


# ------------------------------------------------------------------------------ forged files


class Long(int):
    """A number that Thrift writes as one of 64 bits; others have 32."""


def unsigned(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def signed(number: int) -> bytes:
    return unsigned(number << 1 if number >= 0 else (-number << 1) - 1)


def thrift(value) -> tuple[int, bytes]:
    """A value in the compact protocol; a struct is a dict of its fields by their numbers."""
    if isinstance(value, bool):
        return (1 if value else 2), b""
    if isinstance(value, int):
        return (6 if isinstance(value, Long) else 5), signed(value)
    if isinstance(value, str | bytes):
        text = value.encode() if isinstance(value, str) else value
        return 8, unsigned(len(text)) + text
    if isinstance(value, list):
        items = [thrift(item) for item in value]
        kind = items[0][0] if items else 12
        short = len(items) < 15
        head = bytes([len(items) << 4 | kind] if short else [0xF0 | kind])
        size = b"" if short else unsigned(len(items))
        return 9, head + size + b"".join(item for _, item in items)
    found, last = b"", 0
    for number, field in sorted(value.items()):
        kind, written = thrift(field)
        found += bytes([(number - last) << 4 | kind]) + written
        last = number
    return 12, found + b"\0"


def page(body: bytes, values: int, encoding: int = 8, **claims) -> bytes:
    about = {1: values, 2: encoding, 3: 3, 4: 3} | claims.get("about", {})
    header = {1: 0, 2: claims.get("unpacked", len(body)), 3: claims.get("packed", len(body))}
    return thrift(header | {5: about})[1] + body


def dictionary(words: list[str], **claims) -> bytes:
    body = b"".join(struct.pack("<I", len(word)) + word.encode() for word in words)
    about = {1: claims.get("values", len(words)), 2: 0}
    return thrift({1: 2, 2: len(body), 3: len(body), 7: about})[1] + body


def half_and_half(rows: int) -> bytes:
    """A dictionary of two texts, the first for half of the rows: a few bytes for any number."""
    first = rows // 2
    runs = unsigned(first << 1) + b"\0" + unsigned((rows - first) << 1) + b"\1"
    return dictionary(["K", "S"]) + page(b"\1" + runs, rows)


def forged(path, rows: int = 4, **claims):
    """A file of the texts ``a`` and ``y``; claims say what is said otherwise of ``a``."""
    pages = {"a": claims.get("pages", half_and_half(rows)), "y": half_and_half(rows)}
    content, chunks = b"PAR1", []
    for name, written in pages.items():
        about = {
            1: 6, 2: [8], 3: [name], 4: 0, 5: Long(rows), 6: Long(len(written)),
            7: Long(len(written)), 9: Long(len(content)), 11: Long(len(content)),
        }  # fmt: skip
        about |= claims.get("about", {}) if name == "a" else {}
        chunk = {2: Long(len(content)), 3: about}
        chunks.append(chunk | (claims.get("chunk", {}) if name == "a" else {}))
        content += written
    leaf = {1: 6, 3: 0, 4: "a", 6: 0} | claims.get("leaf", {})
    schema = claims.get("schema", [{4: "schema", 5: 2}, leaf, {1: 6, 3: 0, 4: "y", 6: 0}])
    group = {1: chunks, 2: Long(9), 3: Long(rows)} | claims.get("group", {})
    footer = {1: 1, 2: schema, 3: Long(rows), 4: [group]} | claims.get("footer", {})
    written = claims.get("written", thrift(footer)[1])
    path.write_bytes(content + written + struct.pack("<I", len(written)) + b"PAR1")
    return path


def test_a_forged_file_that_tells_the_truth_is_read(tmp_path):
    table = read_parquet(forged(tmp_path / "p.parquet", rows=1000), target="y")
    assert table.codes[:, 0].tolist() == [1] * 500 + [2] * 500
    assert len(read_blocks(tmp_path / "p.parquet", target="y")) == 1000


LIES = {
    "its footer ends too early": {"written": thrift({1: 1, 2: [{4: "schema"}] * 20})[1][:30]},
    "its row groups have other rows than it says": {"footer": {3: Long(5)}},
    "it is encrypted": {"footer": {8: {1: {}}}},
    "a row group has a wrong number of rows or columns": {"group": {3: Long(-4)}},
    "column 'a' is encrypted": {"chunk": {8: {1: {}}}},
    "column 'a' is in another file": {"chunk": {1: "elsewhere.parquet"}},
    "column 'a' is of another type than it says": {"about": {1: 2}},
    "column 'a' has 9,223,372,036 values for 4 rows": {"about": {5: Long(9_223_372_036)}},
    "column 'a' has -1 values for 4 rows": {"about": {5: Long(-1)}},
    "column 'a' lies outside the file": {"about": {7: Long(2**40)}},
    "two of its columns share bytes": {"about": {7: Long(len(half_and_half(4)) + 1)}},
    "column 'a' has 5 values in its pages, and says 4": {
        "pages": dictionary(["K"]) + page(b"\0\6", 3) + page(b"\0\4", 2)
    },
    "column 'a' has a page of -3 values with 0 missing": {"pages": page(b"\0\6", -3)},
    "column 'a' has a page of 4 values with 5 missing": {
        "pages": page(b"\0\6", 4, about={5: {3: Long(5)}})
    },
    "column 'a' has a page that is longer than the column": {"pages": page(b"\0\6", 4, packed=9)},
    "column 'a' has a page of negative size": {"pages": page(b"\0\6", 4, packed=-9)},
    "column 'a' claims 2,147,483,647 bytes in 2": {"pages": page(b"\0\6", 4, unpacked=2**31 - 1)},
    "column 'a' has a dictionary of 2,000,000,000 values in 5 bytes": {
        "pages": dictionary(["K"], values=2_000_000_000) + page(b"\0\6", 4)
    },
    "column 'a' ends before its values do": {"pages": dictionary(["K"])},
    "column 'a' has a page of no known type": {"pages": thrift({1: 9, 2: 0, 3: 0})[1]},
    "column 'a' has a page header in which a number does not end": {
        "pages": b"\x15" + b"\xff" * 40
    },
    "column 'a' has values of -1 bytes": {"leaf": {1: 7, 2: -1}},
    "column 'a' claims 8,589,934,588 bytes in": {"leaf": {1: 7, 2: 2**31 - 1}, "about": {1: 7}},
    "its schema does not fit together": {"schema": [{4: "schema", 5: 2_000_000_000}]},
    "its Arrow schema is damaged": {"footer": {5: [{1: "ARROW:schema", 2: "AAAA"}]}},
}


@pytest.mark.parametrize("message", LIES)
def test_a_file_that_claims_what_it_has_not_is_refused(message, tmp_path):
    path = forged(tmp_path / "p.parquet", **LIES[message])
    for read in (read_parquet, read_blocks):
        with pytest.raises(ReadError) as caught:
            read(path, target="y")
        assert str(caught.value).startswith(f"{path}: this Parquet file cannot be read: {message}")
        assert "\n" not in str(caught.value)


def test_a_schema_as_deep_as_no_stack_is_is_refused(tmp_path):
    for depth, message in ((20, "a row group has"), (100_000, "its schema does not")):
        deep = [{4: "schema", 5: 1}, *[{3: 0, 4: "g", 5: 1}] * depth, {1: 6, 3: 0, 4: "a"}]
        path = forged(tmp_path / "p.parquet", schema=deep)
        with pytest.raises(ReadError, match=message):
            check_structure(str(path))


def test_a_run_may_stand_for_many_values_but_not_for_any_number(tmp_path):
    path = forged(tmp_path / "p.parquet", rows=FREE_VALUES // 2)
    assert check_structure(str(path)).rows == FREE_VALUES // 2
    path = forged(tmp_path / "p.parquet", rows=2**31 - 1)
    message = "column 'a' claims 2,147,483,647 values in 57 bytes"
    for read in (read_parquet, read_blocks):
        with pytest.raises(ReadError, match=message):
            read(path, target="y")


def test_rows_that_fit_into_no_memory_are_refused_before_they_are_decoded(tmp_path):
    # Behind the pages so many bytes that the rows are let through.
    rows = 2**31 - 1
    path = forged(tmp_path / "p.parquet", rows=rows, pages=half_and_half(rows) + bytes(500_000))
    file = open_parquet(str(path))
    file.check(["a", "y"], [(0, 1_000), (1_000, 1_000)])
    with pytest.raises(ReadError, match="1,125,899,906,842,624 rows take 45,035,996 GB at least"):
        file.check(["a", "y"], [(0, 2**50)])


def test_bytes_that_serve_two_row_groups_are_refused(tmp_path):
    pages = half_and_half(4)
    about = {1: 6, 2: [8], 3: ["y"], 4: 0, 5: Long(4), 6: Long(len(pages)), 7: Long(len(pages))}
    group = {1: [{2: Long(4), 3: about | {9: Long(4), 11: Long(4)}}], 2: Long(9), 3: Long(4)}
    schema = [{4: "schema", 5: 1}, {1: 6, 3: 0, 4: "y", 6: 0}]
    path = tmp_path / "p.parquet"
    for times in (1, 2):
        footer = thrift({1: 1, 2: schema, 3: Long(4 * times), 4: [group] * times})[1]
        path.write_bytes(b"PAR1" + pages + footer + struct.pack("<I", len(footer)) + b"PAR1")
        if times == 1:
            assert check_structure(str(path)).rows == 4
    with pytest.raises(ReadError, match="two of its columns share bytes"):
        check_structure(str(path))


def test_an_encrypted_file_is_refused(tmp_path):
    path = tmp_path / "p.parquet"
    path.write_bytes(b"PARE" + b"\0" * 40 + b"PARE")
    with pytest.raises(ReadError, match="cannot be read: it is encrypted"):
        read_parquet(path, target="y")


# ------------------------------------------------------------------------------ what unfolds


def differences(count: int, first: int, step: int = 0) -> bytes:
    """So many numbers, each by the same step above the one before."""
    blocks = -(-(count - 1) // 128)
    head = unsigned(128) + unsigned(4) + unsigned(count) + signed(first)
    return head + (signed(step) + b"\0" * 4) * blocks


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        # The lengths of texts of 2^50 bytes, of which three are there.
        (6, differences(4, 2**50) + b"abc"),
        # What each text shares with the one before: 2^50 bytes.
        (7, differences(4, 2**50) + differences(4, 0) + b"abc"),
        # A block of 2^50 lengths.
        (6, unsigned(2**50) + unsigned(1) + unsigned(2**50) + b"\0" * 3),
    ],
)
def test_pages_that_would_end_the_decoder_end_another_process(encoding, body, tmp_path):
    written = page(body, 4, encoding)
    path = forged(tmp_path / "p.parquet", pages=written)
    assert check_structure(str(path)).unfolding == {"a"}
    for read in (read_parquet, read_blocks):
        with pytest.raises(ReadError, match="column 'a' is damaged, or unfolds to more than it"):
            read(path, target="y")


def test_texts_that_go_on_from_one_another_unfold_to_the_square_of_their_bytes(tmp_path):
    n = 3_000
    body = differences(n, 0, 1) + differences(n, 1) + b"x" * n
    path = forged(tmp_path / "p.parquet", rows=n, pages=page(body, n, encoding=7))
    assert read_parquet(path, target="y").vocabularies[0] == tuple("x" * i for i in range(1, n + 1))
    for spans in ([(0, n)], [(0, 1_000), (1_000, n - 1_000)]):
        assert decodes(str(path), 0, spans, most=n**2)
        assert not decodes(str(path), 0, spans, most=n**2 // 4)


# ------------------------------------------------------------------------------ Arrow's schema


def written_by_arrow(kind: pa.DataType) -> bytearray:
    return bytearray(pa.schema([("a", kind), ("y", pa.string())]).serialize().to_pybytes())


def nested(depth: int, around) -> pa.DataType:
    kind = pa.int64()
    for _ in range(depth):
        kind = around(kind)
    return kind


def with_children_shared(data: bytearray, depth: int) -> bytearray:
    """A chain of records of two fields, the first made to be the second: 2^depth columns."""

    def follow(place: int) -> int:
        return place + struct.unpack_from("<I", data, place)[0]

    def slot(table: int, number: int) -> int:
        slots = table - struct.unpack_from("<i", data, table)[0]
        return table + struct.unpack_from("<H", data, slots + 4 + 2 * number)[0]

    # Behind eight bytes of the stream: a message, its schema, its first column.
    schema = follow(slot(follow(8), 2))
    field = follow(follow(slot(schema, 1)) + 4)
    for _ in range(depth):
        children = follow(slot(field, 5))
        field = follow(children + 8)
        struct.pack_into("<I", data, children + 4, field - children - 4)
    return data


def test_an_arrow_schema_may_be_nested_but_not_without_end():
    check_arrow_schema(base64.b64encode(written_by_arrow(nested(40, pa.list_))))
    with pytest.raises(DamagedSchema):
        check_arrow_schema(base64.b64encode(written_by_arrow(nested(300, pa.list_))))


def test_an_arrow_schema_may_not_unfold():
    def record(kind):
        return pa.struct([("p", pa.int64()), ("q", kind)])

    sound = written_by_arrow(nested(30, record))
    check_arrow_schema(base64.b64encode(sound))
    with pytest.raises(DamagedSchema):
        check_arrow_schema(base64.b64encode(with_children_shared(sound, 30)))


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_a_damaged_arrow_schema_is_let_through_or_refused(at, change):
    data = written_by_arrow(nested(3, pa.list_))
    at %= len(data)
    data[at : at + len(change)] = change
    with suppress(DamagedSchema):
        check_arrow_schema(base64.b64encode(data))


# ------------------------------------------------------------------------------ the protocol

FIELDS = {1: ("number", INT32), 3: ("long", INT64), 4: ("text", BINARY), 40: ("truth", BOOLEAN)}
FIELDS[5] = ("items", [{1: ("number", INT32)}])
STRUCTS = st.fixed_dictionaries(
    {},
    optional={
        1: st.integers(-(2**31), 2**31 - 1),
        3: st.integers(-(2**63), 2**63 - 1).map(Long),
        4: st.binary(max_size=200),
        5: st.lists(st.fixed_dictionaries({1: st.integers(0, 99)}), max_size=20),
        6: st.lists(st.integers(0, 99), max_size=20),  # no table names this
        7: st.fixed_dictionaries({1: st.lists(st.binary(max_size=3), max_size=3)}),
    },
)


@given(STRUCTS)
def test_what_is_written_is_read(value):
    written = thrift(value)[1]
    reader = CompactReader(written + b"and more")
    expected = {FIELDS[number][0]: value[number] for number in value if number in FIELDS}
    if "items" in expected:
        expected["items"] = [{"number": item[1]} for item in expected["items"]]
    assert reader.struct(FIELDS) == expected
    assert reader.at == len(written)
    for end in range(len(written)):
        with pytest.raises(IndexError):
            CompactReader(written[:end]).struct(FIELDS)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    reader = CompactReader(data)
    try:
        reader.struct(FIELDS)
    except (IndexError, Malformed):
        return
    assert reader.at <= len(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (thrift({1: Long(1)})[1], "field 1 is of another kind"),
        (b"\x15\xff\xff\xff\xff\x1f\0", "a number is too large"),
        (b"\x15" + b"\xff" * 12, "a number does not end"),
        (b"\x15\x02\x05\x02\x02\0", "number is given twice"),
        (b"\x9c" + b"\x1c" * 100, "it is nested too deeply"),
        (b"\x99" + b"\x19" * 100, "it is nested too deeply"),
        (b"\x9f", "a value is of no known kind"),
    ],
)
def test_what_is_wrong_with_a_struct_is_said(data, message):
    with pytest.raises(Malformed, match=message):
        CompactReader(data).struct(FIELDS)


# ------------------------------------------------------------------------------ small damage


@lru_cache
def small_files() -> tuple[bytes, ...]:
    found = []
    for codec, statistics in (("zstd", True), ("uncompressed", False)):
        stream = io.BytesIO()
        frame = FLAT.select("text", "whole", "truth", "y").head(20)
        frame.write_parquet(stream, compression=codec, statistics=statistics)
        found.append(stream.getvalue())
    for pages in ("1.0", "2.0"):
        stream = io.BytesIO()
        parquet.write_table(
            in_arrow(FLAT.select("real", "y").head(20)), stream, data_page_version=pages
        )
        found.append(stream.getvalue())
    return tuple(found)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 3), st.integers(0, 10**6), st.binary(min_size=1, max_size=5))
def test_a_few_changed_bytes_end_no_process(tmp_path_factory, number, at, change):
    content = bytearray(small_files()[number])
    at %= len(content)
    content[at : at + len(change)] = change
    path = tmp_path_factory.mktemp("damaged") / "p.parquet"
    path.write_bytes(content)
    for read in (read_parquet, read_blocks):
        fault = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(path, target="y")
            except InputError as error:
                fault = str(error)
        assert "\n" not in fault
