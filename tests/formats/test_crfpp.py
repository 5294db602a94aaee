"""CRF++'s template files: read as they are found, and meant as CRF++ means them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from template_twin import expand_line

from featloom.errors import InputError, ReadError
from featloom.formats.crfpp import (
    TemplateLine,
    read_templates,
    template_line,
)

SENTENCE = [("He", "PRP"), ("reckons", "VBZ"), ("the", "DT")]

FOUND = (
    "\ufeff# Unigram\r\n"
    "U00:%x[-2,0]\r\n"
    "U05:%x[-1,0]/%x[0,0]  \r\n"
    "U05:%x[0,0]/%x[1,0]\r\n"
    "\r\n"
    "   \t\r\n"
    "U:%x[0,0]\r\n"
    "U06 : %x[0,1]|%x[1,1]~~%x[2,1]\r\n"
    "  U07:w=%x[-0,0]#x\r\n"
    "U08\r\n"
    "#U09:%q[0]\r\n"
    "B01:%x[0,1]\r\n"
    "B"
)


def one(text: str) -> TemplateLine:
    return read_templates([text])[0]


def test_a_file_is_read_as_it_is_found(tmp_path):
    path = tmp_path / "template"
    path.write_bytes(FOUND.encode())
    lines = read_templates(path)
    assert [(line.kind, line.name, line.places) for line in lines if line.kind] == [
        ("U", "U00", ((-2, 0),)),
        ("U", "U05", ((-1, 0), (0, 0))),
        ("U", "U05", ((0, 0), (1, 0))),
        ("U", "U", ((0, 0),)),
        ("U", "U06", ((0, 1), (1, 1), (2, 1))),
        ("U", "U07", ((0, 0),)),
        ("U", "U08", ()),
        ("B", "B01", ((0, 1),)),
        ("B", "B", ()),
    ]
    assert [line.comment for line in lines if not line.kind] == [
        "# Unigram",
        "",
        "   \t",
        "#U09:%q[0]",
    ]


places = st.lists(st.tuples(st.integers(-8, 8), st.integers(0, 5)), max_size=4)
names = st.from_regex(r"[UB][0-9A-Za-z_]{0,4}", fullmatch=True)
separators = st.text(
    st.characters(exclude_characters="%\n\r", exclude_categories=["Cs"]), max_size=3
)


@given(st.lists(st.tuples(names, places, separators), min_size=1))
def test_templates_come_back_from_their_text(drawn):
    lines = [template_line(name, cells, separator=between) for name, cells, between in drawn]
    text = "".join(f"{line}\n" for line in lines)
    again = read_templates(text)
    assert [(line.kind, line.name, line.places) for line in again] == [
        (line.kind, line.name, line.places) for line in lines
    ]
    assert "".join(f"{line}\n" for line in again) == text


@pytest.mark.parametrize(
    ("template", "i", "feature"),
    [
        ("U01:%x[0,0]", 1, "U01:reckons"),
        ("U02:%x[-1,1]/%x[0,1]", 1, "U02:PRP/VBZ"),
        ("U:%x[-2,0]", 0, "U:_B-2"),
        ("U:%x[-2,0]", 1, "U:_B-1"),
        ("U:%x[1,1]", 2, "U:_B+1"),
        ("U:%x[3,1]", 1, "U:_B+2"),
        ("U06:a%x[0,0]b%x[1,0]c ", 0, "U06:aHebreckonsc "),
        ("U07%x[0,0]", 0, "U07He"),
        ("B", 1, "B"),
        ("B01:%x[0,1]", 2, "B01:DT"),
    ],
)
def test_features_are_those_of_crfpp(template, i, feature):
    assert expand_line(one(template), SENTENCE, i) == feature


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("X00:%x[0,0]", 1, "this is no template: it begins with 'X', not U or B"),
        ("  %x[0,0]", 3, "this is no template: it begins with '%', not U or B"),
        ("U1:%x[0]", 4, r"'%x\[0\]' is not %x\[row,col\] with two whole numbers"),
        ("U1:%x[0,-1]", 4, "two whole numbers"),
        ("U1:%x[+1,0]", 4, "two whole numbers"),
        ("U1:%x[0, 1]", 4, "two whole numbers"),
        ("U1:%x[a,0]", 4, "two whole numbers"),
        ("U1:%x[0,0]/%x[1,0", 12, "two whole numbers"),
        ("U1:%x", 4, "two whole numbers"),
        ("U1:%y[0,0]", 4, "unknown macro '%y'"),
        ("U1:100%", 7, "unknown macro '%'"),
        ('U1:%x[0,0]/%t[0,0,"^A"]', 12, r"'%t' \(a test\) is a pattern that only Wapiti knows"),
        ('  *1:%m[0,0,"..$"]', 6, r"'%m' \(a match\) is a pattern that only Wapiti knows"),
        ("u1:%X[0,0]", 4, r"'%X' \(lower case\) is a pattern that only Wapiti knows"),
        ("u1:%x[@1,0]", 4, "a place that only Wapiti knows"),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path, line, column, words):
    path = tmp_path / "template"
    path.write_text(f"# words\nU0:%x[0,0]\n{line}\n")
    with pytest.raises(ReadError, match=words) as raised:
        read_templates(path)
    assert str(raised.value).startswith(f"{path}:3:{column}: ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "template: no templates"),
        (b"# words only\n\n", "template: no templates"),
        (b"U0:%x[0,0]\n# caf\xe9\n", "template:2: not UTF-8"),
    ],
)
def test_a_file_without_templates_is_refused(tmp_path, content, words):
    path = tmp_path / "template"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=words):
        read_templates(str(path))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ReadError, match="nowhere: no such file"):
        read_templates(tmp_path / "nowhere")


def test_plain_patterns_of_wapiti_are_read():
    lines = read_templates("*:%x[0,0]\nu1:%x[-1,0]  # before\nb\nU2:%x[1,0]\n")
    assert [(line.name, line.kinds) for line in lines] == [
        ("*", ("U", "B")),
        ("u1", ("U",)),
        ("b", ("B",)),
        ("U2", ("U",)),
    ]
    assert lines[1].comment == "  # before"
    assert expand_line(lines[1], SENTENCE, 1) == "u1:He"


def test_with_one_id_two_places_make_one_feature():
    before, here = read_templates("U:%x[-1,0]\nU:%x[0,0]\n")
    assert expand_line(before, SENTENCE, 1) == expand_line(here, SENTENCE, 0) == "U:He"


def test_the_letter_of_a_name_is_its_kind():
    with pytest.raises(InputError, match="name 'U1' of a template must begin with B"):
        TemplateLine("B", "U1")
    with pytest.raises(InputError, match="kind is 'X'"):
        TemplateLine("X", "X1")
