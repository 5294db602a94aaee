"""Tables: what is written is read back, and every fault has its place and its words."""

from __future__ import annotations

import gzip
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.readers import read_table
from featloom.data.readers.assembly import MISSING
from featloom.errors import InputError, ReadError

NAME = "pp.csv"  # of a file that tests write

PP = "verb,prep,class\nate,with,V\nsaw,of,N\nate,of,N\n"


def rows_of(table):
    return [[table.value(c, row) for c in table.columns] for row in range(len(table))]


def fails(path, words, **options):
    with pytest.raises(ReadError) as caught:
        read_table(path, **({"target": "class"} | options))
    assert str(caught.value) == f"{path}{words}"


def test_columns_labels_and_source(write):
    path = write(PP)
    table = read_table(path, target="class")
    assert table.columns == ("verb", "prep")
    assert rows_of(table) == [["ate", "with"], ["saw", "of"], ["ate", "of"]]
    assert (table.classes, table.labels.tolist()) == (("V", "N"), [0, 1, 1])
    assert (table.target, table.source) == ("class", str(path))
    assert table.codes.flags.f_contiguous


def test_groups_and_a_choice_of_columns(write):
    path = write("doc,verb,prep,class\nd1,ate,with,V\nd2,saw,of,N\nd1,ate,of,N\n")
    table = read_table(path, target="class", groups="doc", columns=["prep"])
    assert table.columns == ("prep",)
    assert (table.groups.tolist(), table.group_names) == ([0, 1, 0], ("d1", "d2"))


def test_without_a_target_every_column_is_a_feature(write):
    table = read_table(write(PP))
    assert table.columns == ("verb", "prep", "class")
    assert table.labels is None


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
def test_the_separator_is_found_in_the_first_line(write, separator):
    table = read_table(write(PP.replace(",", separator), "pp.txt"), target="class")
    assert table.columns == ("verb", "prep")


def test_a_tsv_is_cut_at_tabs_even_if_its_header_has_commas(write):
    text = "a,b,c\tclass\nx\tN\ny\tV\nx\tV\n"
    assert read_table(write(text, "t.tsv"), target="class").columns == ("a,b,c",)


def test_compressed_and_windows_text(write):
    plain = read_table(write(PP))
    for content, name in (
        (gzip.compress(PP.encode()), "pp.csv.gz"),
        (PP.replace("\n", "\r\n"), "windows.csv"),
        (b"\xef\xbb\xbf" + PP.encode(), "marked.csv"),
    ):
        table = read_table(write(content, name))
        assert (table.columns, rows_of(table)) == (plain.columns, rows_of(plain))


def test_without_a_header_columns_are_numbered_or_named(write):
    path = write("ate,with,V\nsaw,of,N\nate,of,N\n")
    table = read_table(path, header=False, target=-1)
    assert (table.columns, table.target, len(table)) == (("f1", "f2"), "f3", 3)
    table = read_table(path, header=False, columns=["verb", "prep", "class"], target="class")
    assert table.columns == ("verb", "prep")
    fails(path, ":1: 3 columns, 2 expected", header=False, columns=["verb", "class"])


def test_missing_cells_have_the_code_0(write):
    path = write("a,b,class\n,NA,x\nnan,NaN,y\n?,q,x\n")
    table = read_table(path, target="class")
    assert table.codes.tolist() == [[0, 0], [0, 0], [1, 1]]
    assert table.vocabularies == (("?",), ("q",))
    table = read_table(path, target="class", missing=("",))
    assert table.value("b", 0) == "NA"


def test_numbers_are_symbols(write):
    table = read_table(write("n,class\n1,a\n1.0,b\n01,a\n"), target="class")
    assert table.vocabularies == (("1", "1.0", "01"),)


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


def quoted_where_needed(cell):
    return quoted(cell) if set(cell) & set(',;\t"\r\n') else cell


cells = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=6)


@settings(deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8
        )
    ),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([quoted, quoted_where_needed]),
)
def test_a_csv_file_is_read_back_as_it_was_written(folder, rows, separator, end, guard):
    path = folder / "any.csv"
    header = [f"c{j}" for j in range(len(rows[0]))]
    lines = (separator.join(map(guard, row)) + end for row in [header, *rows])
    path.write_text("".join(lines), encoding="utf-8", newline="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read_table(path, separator=separator, quote='"', missing=("",))
    assert rows_of(table) == [[cell or None for cell in row] for row in rows]


plain_cells = st.text(st.characters(exclude_characters='\0\r\n\t"', codec="utf-8"), min_size=1)


@settings(deadline=None)
@given(st.lists(st.tuples(plain_cells, plain_cells), min_size=1, max_size=9))
def test_a_tab_separated_file_is_read_back_as_it_was_written(folder, rows):
    path = folder / "any.tsv"
    text = "".join(f"{a}\t{b}\n" for a, b in [("one", "two"), *rows])
    path.write_text(text, encoding="utf-8", newline="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read_table(path, missing=())
    assert rows_of(table) == [list(row) for row in rows]


def test_in_tab_separated_text_a_lone_quote_is_a_token(write):
    path = write('word\tclass\n"\tQ\nsays\tV\n"\tQ\n"a ""b"""\tV\n', "t.tsv")
    assert [row[0] for row in rows_of(read_table(path, target="class"))] == [
        '"',
        "says",
        '"',
        'a "b"',
    ]
    assert rows_of(read_table(path, target="class", quote=None))[3] == ['"a ""b"""']


def test_faults_in_a_quoted_file_name_the_line_the_row_begins_at(write):
    fails(write('a,class\n"x\ny",N\nz,V\n1,2,3\n'), ":5: 3 columns, 2 expected")
    fails(write('a,class\n"x\ny",N\n\n"p\nq"r,V\n'), ":5: text after the closing quote of a cell")
    words = ":3: a quoted cell opens in this row and does not close"
    fails(write('a,class\nx,N\n"y,V\nz,V\n'), words)
    fails(write('a,class\nx,N\n"y,V\nz,V\n'), words, on_bad_row="skip")


def test_a_row_with_too_few_or_too_many_cells_is_named(write):
    fails(write(PP + "one\n"), ":5: 1 column, 3 expected")
    fails(write(PP + "1,2,3,4\nate,of,N\n"), ":5: 4 columns, 3 expected")


def test_blank_lines_are_no_rows(write):
    table = read_table(write("\n" + PP.replace("saw", "\n\nsaw") + "\n\n"), target="class")
    assert len(table) == 3


def test_a_duplicate_column_is_named(write):
    words = ":1:3: column 'a' appears twice (is the first line a header?)"
    fails(write("a,b,a\n1,2,3\n"), words)


def test_a_missing_target_column_lists_those_there_are(write):
    fails(write(PP), ": no column 'sense'; there are verb, prep, class", target="sense")
    fails(write(PP), ": no column number 7; there are 3 columns", target=7)
    fails(write(PP), ": no column 'noun'; there are verb, prep, class", columns=["noun"])


@pytest.mark.parametrize("cell", MISSING)
def test_a_row_without_a_label_is_named(write, cell):
    fails(write(PP + f"ate,on,{cell}\n"), ":5:3: no label in column 'class'")


def test_a_row_without_a_group_is_named(write):
    path = write("doc,a,class\nd,x,N\n,y,V\n")
    fails(path, ":3:1: no group in column 'doc'", groups="doc")


def test_targets_that_cannot_be_learned_are_refused(write):
    one = "a,class\nx,N\ny,N\n"
    fails(write(one), ": one class only in column 'class': 'N'; two are needed")
    own = "a,class\nx,p\ny,q\nx,r\n"
    fails(write(own), ": every row has a class of its own in column 'class'; it is not a target")
    fails(
        write("a,class\nx,1\ny,2\nx,3.5\n"),
        ": every row has a number of its own in column 'class'; only classes can be predicted, and "
        "'featloom discover --bins 4' makes four ranges of it",
    )
    assert read_table(write(one), target="class", require_labels=False).classes == ("N",)


def test_data_to_predict_on_may_lack_labels(write):
    table = read_table(write(PP + "ate,on,\n"), target="class", require_labels=False)
    assert table.labels.tolist() == [0, 1, 1, -1]
    table = read_table(write("verb,prep\nate,of\n"), target="class", require_labels=False)
    assert table.labels is None


def test_files_without_rows(write):
    fails(write("verb,prep,class\n"), ": no rows")
    fails(write("\n\n"), ": no rows")
    fails(write(""), ": the file is empty")
    fails(write("class\nN\nV\nV\n"), ": no columns beside the target")


def test_a_constant_column_is_a_warning_that_names_it(write):
    path = write("a,b,c,class\nx,1,,N\nx,2,,V\nx,1,,V\n")
    with pytest.warns(UserWarning, match=r"columns 'a', 'c' are constant"):
        read_table(path, target="class")
    path = write("a,b,class\nx,1,N\nx,2,V\n,1,V\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(path, target="class")


def test_skipped_rows_are_counted_with_the_first_fault(write):
    path = write((PP + "1,2\nate,on,\nsaw,to,V\n").encode() + b"caf\xe9,of,N\n")
    with pytest.warns(UserWarning, match="3 rows skipped; the first: .*:5: 2 columns, 3 expected"):
        table = read_table(path, target="class", on_bad_row="skip")
    assert len(table) == 4
    assert table.value("verb", 3) == "saw"
    path = write("a,class\nx,\ny,NA\n")
    fails(path, ": no row can be used", on_bad_row="skip")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a,b,N", "a,b", "c,d,V", "a,b,c,d", "e,f,"]), max_size=12))
def test_skipping_keeps_exactly_the_good_rows(folder, lines):
    path = folder / "skip.csv"
    lines = ["x,y,class", "a,b,N", "c,d,V", "a,d,V", *lines]
    path.write_text("\n".join(lines) + "\n")
    good = [line for line in lines[1:] if line in ("a,b,N", "c,d,V", "a,d,V")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read_table(path, target="class", on_bad_row="skip")
    assert [",".join(row) for row in rows_of(table)] == [line[:3] for line in good]
    assert [table.classes[label] for label in table.labels] == [line[4] for line in good]


def test_a_bad_option_is_named(write):
    with pytest.raises(InputError, match="on_bad_row is 'ignore'; it must be 'raise' or 'skip'"):
        read_table(write(PP), on_bad_row="ignore")
    with pytest.raises(InputError, match="separator is 'ab'"):
        read_table(write(PP), separator="ab")
    with pytest.raises(InputError, match="cannot be both target and groups"):
        read_table(write(PP), target="class", groups="class")


def test_encoding_faults_pass_through(write):
    fails(write(PP.encode() + b"\xff,of,N\n"), ":5:1: byte 0xff is not UTF-8")
    fails(write(PP + "a\rb,of,N\n"), ":5:2: carriage return inside a line")


def test_many_blocks_give_the_same_codes_as_one_encoding(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "a": [f"v{k}" for k in rng.integers(0, 5000, 150_000)],
            "b": [f"é{k}" for k in rng.integers(0, 9, 150_000)],
            "class": [f"c{k}" for k in rng.integers(0, 3, 150_000)],
        }
    )
    frame.write_csv(tmp_path / "big.csv")
    frame.write_csv(tmp_path / "quoted.csv", quote_style="always")
    frame.write_parquet(tmp_path / "big.parquet")
    one, two, three = (
        read_table(tmp_path / name, target="class")
        for name in ("big.csv", "quoted.csv", "big.parquet")
    )
    for other in (two, three):
        assert np.array_equal(one.codes, other.codes)
        assert np.array_equal(one.labels, other.labels)
        assert one.vocabularies == other.vocabularies
    assert [one.value("a", row) for row in range(0, 150_000, 997)] == frame["a"][::997].to_list()


def test_parquet_numbers_become_their_text(tmp_path):
    path = tmp_path / "n.parquet"
    pl.DataFrame(
        {
            "whole": [1, 2, None],
            "real": [1.0, 0.5, float("nan")],
            "flag": [True, False, None],
            "class": ["N", "V", "N"],
        }
    ).write_parquet(path)
    table = read_table(path, target="class")
    assert rows_of(table) == [["1", "1", "True"], ["2", "0.5", "False"], [None, None, None]]


def test_parquet_faults(tmp_path):
    path = tmp_path / "p.parquet"
    pl.DataFrame({"a": ["x", "y", "x"], "class": ["N", None, "V"]}).write_parquet(path)
    fails(path, ":2:2: no label in column 'class'")
    fails(path, ": no column 'sense'; there are a, class", target="sense")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read_table(path, target="class", on_bad_row="skip")
    constant, skipped = (str(warning.message) for warning in caught)
    assert constant == f"{path}: column 'a' is constant and can tell no classes apart"
    assert skipped.startswith(f"{path}: 1 row skipped; the first: {path}:2:2: no label")
    assert {warning.filename for warning in caught} == {__file__}
    assert (table.vocabularies, table.labels.tolist()) == ((("x",),), [0, 1])
    path.write_bytes(b"PAR1 and then nothing")
    fails(path, ": this is not a Parquet file, or it is cut short")
    fails(tmp_path / "gone.parquet", ": no such file")
    fails(tmp_path, ": this is a folder, not a file")
