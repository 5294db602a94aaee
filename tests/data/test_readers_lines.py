"""Files are opened in one way: plain or compressed, UTF-8, line by line, with faults in place."""

from __future__ import annotations

import gzip
import lzma
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.readers.lines import read_blocks, read_lines
from featloom.errors import ReadError


def lines_of(path, **options):
    return [text for _, text in read_lines(path, **options)]


def test_plain_xz_and_gz_files_read_alike(tmp_path):
    content = "één\ntwee\n".encode()
    for name, packed in (
        ("a.txt", content),
        ("a.txt.xz", lzma.compress(content)),
        ("a.txt.gz", gzip.compress(content)),
        ("no_ending", lzma.compress(content)),
    ):
        (tmp_path / name).write_bytes(packed)
        assert list(read_lines(tmp_path / name)) == [(1, "één"), (2, "twee")]


def test_a_byte_order_mark_and_carriage_returns_are_no_part_of_the_text(tmp_path):
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\r\ntwo\r\n")
    assert lines_of(path) == ["one", "", "two"]


def test_only_line_feeds_end_lines(tmp_path):
    path = tmp_path / "odd.txt"
    path.write_text("a\u2028b\x0bc\x85d\nlast", encoding="utf-8")
    assert lines_of(path) == ["a\u2028b\x0bc\x85d", "last"]


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n\0", codec="utf-8")), min_size=1),
    st.sampled_from(["", "\n"]),
)
def test_what_is_written_line_by_line_is_read_back(folder, lines, end):
    if not "".join(lines).removeprefix("\ufeff"):
        lines = [*lines, "x"]
    path = folder / "lines.txt"
    path.write_text("\n".join(lines) + end, encoding="utf-8", newline="")
    lines[0] = lines[0].removeprefix("\ufeff")
    if not end and not lines[-1]:
        lines.pop()  # nothing follows the last line feed
    assert lines_of(path) == lines


def test_a_wrong_byte_is_named_with_line_and_byte(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\ncaf\xe9 au lait\n")
    with pytest.raises(ReadError) as caught:
        lines_of(path)
    assert str(caught.value) == f"{path}:2:4: byte 0xe9 is not UTF-8"


def test_a_nul_byte_is_named_with_line_and_byte(tmp_path):
    path = tmp_path / "nul.txt"
    path.write_bytes(b"a\nb\0c\n")
    with pytest.raises(ReadError, match=r"nul.txt:2:2: NUL byte; this is not a text file"):
        lines_of(path)


def test_lines_before_a_fault_come_first(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"one\ntwo\n\xff\nfour\n")
    lines = read_lines(path)
    assert [next(lines), next(lines)] == [(1, "one"), (2, "two")]
    with pytest.raises(ReadError, match=":3:1:"):
        next(lines)


def test_bad_lines_can_be_left_out_and_numbers_stay_true(tmp_path):
    path = tmp_path / "mixed.txt"
    path.write_bytes(b"one\n\xff\nthree\n" + b"x" * 50 + b"\nfive\n\0\n")
    faults = []
    lines = list(read_lines(path, longest=20, on_bad_line=faults.append))
    assert lines == [(1, "one"), (3, "three"), (5, "five")]
    assert [fault.line for fault in faults] == [2, 4, 6]


def test_utf_16_is_named(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_bytes("a,b\n".encode("utf-16"))
    with pytest.raises(ReadError, match=r"wide.txt:1:1: this is UTF-16 text; save it as UTF-8"):
        lines_of(path)


def test_a_line_of_a_hundred_megabytes_is_refused_without_reading_it_whole(tmp_path):
    path = tmp_path / "long.txt.xz"
    with lzma.open(path, "wb", preset=0) as packed:
        packed.write(b"short\n")
        for _ in range(100):
            packed.write(b"a" * 2**20)
    tracemalloc.start()
    with pytest.raises(ReadError, match=r"long.txt.xz:2: line longer than 16 MiB"):
        lines_of(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.integers(4, 25))
def test_a_line_is_refused_exactly_when_it_is_longer_than_allowed(folder, sizes, longest):
    path = folder / "sizes.txt"
    path.write_text("".join("a" * size + "\n" for size in [1, *sizes]))
    faults = []
    lines = list(read_lines(path, longest=longest, on_bad_line=faults.append))
    expected = [(k, "a" * s) for k, s in enumerate([1, *sizes], start=1)]
    assert lines == [(k, line) for k, line in expected if len(line) <= longest]
    assert [fault.line for fault in faults] == [k for k, line in expected if len(line) > longest]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "the file is empty"), (b"\xef\xbb\xbf", "the file is empty")],
)
def test_an_empty_file_is_an_error(tmp_path, content, words):
    path = tmp_path / "empty.txt"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=f"empty.txt: {words}"):
        lines_of(path)


def test_what_cannot_be_opened_is_one_clear_error(tmp_path):
    with pytest.raises(ReadError, match=r"gone.txt: no such file"):
        lines_of(tmp_path / "gone.txt")
    with pytest.raises(ReadError, match="this is a folder, not a file"):
        lines_of(tmp_path)
    with pytest.raises(ReadError, match="this cannot be the name of a file"):
        lines_of("a\0b")


def test_a_file_without_line_ends_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "bomb.txt.xz"
    path.write_bytes(lzma.compress(b"ok\n" + b"a" * 2**23))
    skipped = []
    with pytest.raises(ReadError, match=r"xz:2: line longer than 64,000 bytes; this is no text"):
        lines_of(path, longest=1000, on_bad_line=skipped.append)
    assert [str(error) for error in skipped] == [f"{path}:2: line longer than 1,000 bytes"]


def test_damaged_compression_is_one_clear_error(tmp_path):
    whole = lzma.compress(b"a line\n" * 1000)
    (tmp_path / "cut.xz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"a line\n" * 1000)[:20])
    for name in ("cut.xz", "cut.gz"):
        with pytest.raises(ReadError, match=f"{name}: the compressed data is damaged or cut short"):
            lines_of(tmp_path / name)
    (tmp_path / "plain.xz").write_text("not compressed\n")
    with pytest.raises(ReadError, match=r"not a compressed file, though it ends in \.xz"):
        lines_of(tmp_path / "plain.xz")


def test_blocks_join_up_to_the_whole_text(tmp_path):
    path = tmp_path / "many.txt"
    lines = [f"line {k} " + "x" * (k % 100) for k in range(60_000)]
    path.write_text("\n".join(lines) + "\n")
    blocks = list(read_blocks(path))
    assert len(blocks) > 2
    assert "\n".join(text for _, text in blocks).split("\n") == lines
    assert [first for first, _ in blocks][1] == 1 + blocks[0][1].count("\n") + 1
