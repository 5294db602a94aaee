"""Parquet files: every sound one is read; one that claims what it has not is refused in a line."""

from __future__ import annotations

import signal
import struct
import threading
import warnings
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from featloom.data.blocks_parquet import read_blocks
from featloom.data.corpora import find, how_to_get
from featloom.data.parquet_decoder import FREE_VALUES
from featloom.data.readers.parquet import open_parquet, read_parquet, read_parquet_blocks
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
    """Whether a file is let through; Polars says what is in it."""
    found = open_parquet(str(path))
    return (found.rows, found.columns) == (
        len(pl.read_parquet(path)),
        pl.read_parquet(path).columns,
    )


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
        assert open_parquet(str(path)).rows == n
        with pytest.warns(UserWarning, match="are constant"):
            table = read_parquet(path, target="y", require_labels=False)
        assert (table.codes == 1).all()
        assert len(table) == n


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


LIES = [
    {"written": thrift({1: 1, 2: [{4: "schema"}] * 20})[1][:30]},
    {"footer": {3: Long(5)}},
    {"footer": {8: {1: {}}}},
    {"group": {3: Long(-4)}},
    {"chunk": {8: {1: {}}}},
    {"chunk": {1: "elsewhere.parquet"}},
    {"about": {1: 2}},
    {"about": {5: Long(9_223_372_036)}},
    {"about": {5: Long(-1)}},
    {"about": {7: Long(2**40)}},
    {"about": {7: Long(len(half_and_half(4)) + 1)}},
    {"pages": dictionary(["K"]) + page(b"\0\6", 3) + page(b"\0\4", 2)},
    {"pages": page(b"\0\6", -3)},
    {"pages": page(b"\0\6", 4, about={5: {3: Long(5)}})},
    {"pages": page(b"\0\6", 4, packed=9)},
    {"pages": page(b"\0\6", 4, packed=-9)},
    {"pages": page(b"\0\6", 4, unpacked=2**31 - 1)},
    {"pages": dictionary(["K"], values=2_000_000_000) + page(b"\0\6", 4)},
    {"pages": dictionary(["K"])},
    {"pages": thrift({1: 9, 2: 0, 3: 0})[1]},
    {"pages": b"\x15" + b"\xff" * 40},
    {"leaf": {1: 7, 2: -1}},
    {"leaf": {1: 7, 2: 2**31 - 1}, "about": {1: 7}},
    {"schema": [{4: "schema", 5: 2_000_000_000}]},
    {"schema": [{4: "schema", 5: 1}, *[{3: 0, 4: "g", 5: 1}] * 100_000, {1: 6, 3: 0, 4: "a"}]},
    {"footer": {5: [{1: "ARROW:schema", 2: "AAAA"}]}},
]


def fault(read, path) -> str:
    """What is said of a file; nothing of one that is read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(path, target="y")
        except InputError as error:
            return str(error)
    return ""


@pytest.mark.parametrize("lie", LIES, ids=range(len(LIES)))
def test_a_file_that_claims_what_it_has_not_is_refused_or_read_without_harm(lie, tmp_path):
    path = forged(tmp_path / "p.parquet", **lie)
    for read in (read_parquet, read_blocks):
        said = fault(read, path)
        assert not said or said.startswith(f"{path}: ")
        assert "\n" not in said


def test_a_run_may_stand_for_many_values_but_not_for_any_number(tmp_path):
    path = forged(tmp_path / "p.parquet", rows=FREE_VALUES // 2)
    assert open_parquet(str(path)).rows == FREE_VALUES // 2
    path = forged(tmp_path / "p.parquet", rows=2**31 - 1)
    for read in (read_parquet, read_blocks):
        with pytest.raises(ReadError, match="it claims 2,147,483,647 rows in 241 bytes"):
            read(path, target="y")


REFUSED = r"p\.parquet: this Parquet file cannot be read: it is damaged, or unfolds to more than"


def test_rows_that_take_more_memory_than_there_may_be_are_refused(tmp_path):
    # Behind the pages so many bytes that the rows are let through.
    rows = 2**31 - 1
    path = forged(tmp_path / "p.parquet", rows=rows, pages=half_and_half(rows) + bytes(250_000))
    with pytest.raises(ReadError, match=REFUSED):
        read_parquet(path, target="y")
    assert len(next(read_parquet_blocks(path, target="y"))) == 100_000, "a part can be read"


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
    path = forged(tmp_path / "p.parquet", pages=page(body, 4, encoding))
    for read in (read_parquet, read_blocks):
        with pytest.raises(ReadError, match=r"p\.parquet: this Parquet file cannot be read: "):
            read(path, target="y")


def texts_that_go_on(n: int) -> bytes:
    """Each text is the one before and one letter more."""
    return page(differences(n, 0, 1) + differences(n, 1) + b"x" * n, n, encoding=7)


def test_texts_that_go_on_from_one_another_unfold_to_the_square_of_their_bytes(tmp_path):
    n = 3_000
    path = forged(tmp_path / "p.parquet", rows=n, pages=texts_that_go_on(n))
    assert read_parquet(path, target="y").vocabularies[0] == tuple("x" * i for i in range(1, n + 1))
    n = 200_000
    path = forged(tmp_path / "p.parquet", rows=n, pages=texts_that_go_on(n))
    with pytest.raises(ReadError, match=REFUSED):
        read_parquet(path, target="y")


# ------------------------------------------------------------------------------ the process


def test_the_process_that_decodes_has_no_secrets_and_is_replaced_when_it_ends(
    tmp_path, monkeypatch
):
    psutil = pytest.importorskip("psutil")
    monkeypatch.setenv("FEATLOOM_SECRET", "1234")

    def decoders():
        children = psutil.Process().children()
        return [one for one in children if "featloom.data.parquet_decoder" in one.cmdline()]

    for one in decoders():
        one.kill()
        one.wait()
    path = tmp_path / "p.parquet"
    FLAT.write_parquet(path)
    assert open_parquet(str(path)).rows == N
    (decoder,) = decoders()
    assert "FEATLOOM_SECRET" not in decoder.environ()
    decoder.send_signal(signal.SIGINT)  # Ctrl-C is for the program to answer
    assert open_parquet(str(path)).rows == N
    assert decoders() == [decoder]
    decoder.kill()
    decoder.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some columns are constant
        assert len(read_parquet(path, target="y")) == N


def test_a_file_may_take_so_much_time(tmp_path, monkeypatch):
    path = tmp_path / "p.parquet"
    FLAT.write_parquet(path)
    open_parquet(str(path))
    psutil = pytest.importorskip("psutil")
    (decoder,) = (one for one in psutil.Process().children() if "parquet" in str(one.cmdline()))
    decoder.suspend()  # so that it is not yet done when its time is over

    def ring():
        decoder.send_signal(signal.SIGALRM)
        with suppress(psutil.NoSuchProcess):
            decoder.resume()

    threading.Timer(0.5, ring).start()
    with pytest.raises(ReadError, match="it takes more than 60 s; write it again in smaller files"):
        open_parquet(str(path))
