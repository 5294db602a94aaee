"""TiMBL's files: three separators, the class last."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.data.readers import read_timbl
from featloom.errors import InputError, ReadError

NAME = "dimin.train"  # of a file that tests write


def rows_of(table):
    return [
        [*(table.value(c, row) for c in table.columns), table.classes[table.labels[row]]]
        for row in range(len(table))
    ]


@pytest.mark.parametrize("separator", ["\t", ",", " ", "   "])
def test_the_separator_is_found(write, separator):
    rows = [["=", "k", "T"], ["+", "fr", "E"], ["=", "fr", "T"]]
    table = read_timbl(write("".join(separator.join(row) + "\n" for row in rows)))
    assert rows_of(table) == rows
    assert (table.columns, table.target, table.classes) == (("f1", "f2"), "class", ("T", "E"))


def test_commas_among_the_tokens_of_blank_separated_text(write):
    path = write("ate , with fork V\nsaw man with dog N\nsaw , , dog N\n")
    assert read_timbl(path).columns == ("f1", "f2", "f3", "f4")


def test_a_full_stop_after_the_class_is_no_part_of_it(write):
    table = read_timbl(write("a,b,T.\na,c,E.\nd,c,T\nd,b,.\n"))
    assert table.classes == ("T", "E", ".")
    assert table.labels.tolist() == [0, 1, 0, 2]
    tabbed = read_timbl(write("a\tb\tT.\na\tc\tE.\nd\tc\tT.\n"))
    assert tabbed.classes == ("T.", "E.")


def test_question_marks_quotes_and_na_are_symbols(write):
    table = read_timbl(write('?\t"\tT\nNA\tnan\tE\n?\t"\tE\n'))
    assert rows_of(table)[0] == ["?", '"', "T"]
    assert table.value("f1", 1) == "NA"


def test_columns_can_be_named_and_one_can_be_the_group(write):
    path = write("0 join board V\n1 is chairman N\n1 named director N\n")
    table = read_timbl(path, columns=["id", "verb", "noun", "class"], groups="id")
    assert table.columns == ("verb", "noun")
    assert table.group_names == ("0", "1")


def test_ragged_instances_are_named(write):
    path = write("a,b,T\nd,c,E\na,E\n")
    with pytest.raises(ReadError, match=r"dimin.train:3: 2 columns, 3 expected"):
        read_timbl(path)
    with pytest.raises(ReadError, match=r"dimin.train:1: 3 columns, 2 expected"):
        read_timbl(path, columns=["a", "class"])
    with pytest.warns(UserWarning, match="1 row skipped"):
        assert len(read_timbl(path, on_bad_row="skip", columns=["f", "g", "class"])) == 2


def test_one_class_is_refused_also_when_a_full_stop_hid_it(write):
    with pytest.raises(ReadError, match="one class only in column 'class': 'T'"):
        read_timbl(write("a,b,T.\nd,c,T\n"))


def test_unknown_formats_are_refused(write):
    with pytest.raises(InputError, match="format is 'xml'; it must be 'auto', 'tabs', 'commas'"):
        read_timbl(write("a,b\n"), format="xml")
    with pytest.raises(ReadError, match="no rows"):
        read_timbl(write("\n \n"))


values = st.text(st.characters(exclude_characters="\0\r\n\t ,", codec="utf-8"), min_size=1)


@settings(deadline=None)
@given(
    st.lists(st.tuples(values, values, st.sampled_from(["T", "E", "J"])), min_size=2),
    st.sampled_from([("tabs", "\t"), ("commas", ","), ("blanks", " "), ("blanks", " \t  ")]),
)
def test_instances_are_read_back_as_they_were_written(folder, rows, format):
    name, separator = format
    rows = [list(row) for row in rows]
    # A row of white space, or a byte order mark at the start, could not be told from none.
    rows = [["k", "v", "T"], *(row for row in rows if "".join(row).strip())]
    path = folder / "any.train"
    text = "".join(separator.join(row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read_timbl(path, format=name, require_labels=False)
    assert rows_of(table) == rows
