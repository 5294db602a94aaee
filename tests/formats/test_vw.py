"""Vowpal Wabbit's examples and flags, and that it reads them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.formats.vw import (
    LETTERS,
    escaped,
    interaction_flags,
    learning_flags,
    namespaces,
    write_vw,
)


def written(tmp_path, table) -> list[str]:
    write_vw(table, tmp_path / "rows.vw")
    return (tmp_path / "rows.vw").read_text(encoding="utf-8").split("\n")[:-1]


@given(st.text(), st.text())
def test_a_value_holds_no_separator_and_no_two_values_are_written_alike(one, other):
    assert escaped(one)
    assert not set(escaped(one)) & set(" :|\t\n\r")
    assert (escaped(one) == escaped(other)) == (one == other)


def test_a_row_is_a_line_with_a_namespace_a_column(tmp_path):
    table = NominalTable.from_columns(
        {"time": ["9:30", "a|b"], "unit": ["p m", ""]}, labels=["yes", "no"]
    )
    assert written(tmp_path, table) == ["1 |a 9%3A30 |b p%20m", "2 |a a%7Cb |b %"]


def test_unknown_values_and_labels_are_left_out(tmp_path):
    table = NominalTable.from_columns({"a": ["x", None], "b": [None, None]}, labels=["K", None])
    assert written(tmp_path, table) == ["1 |a x", "|"]
    assert written(tmp_path, NominalTable.from_columns({"a": ["x"]})) == ["|a x"]


def test_templates_are_interactions_and_other_columns_are_not_linear():
    flags = interaction_flags([["w"], ["w", "t"], ["v", "t", "w"]], ["w", "t", "v"])
    assert flags == [
        "--hash", "all", "--ignore_linear", "b", "--ignore_linear", "c",
        "--interactions", "ab", "--interactions", "cba",
    ]  # fmt: skip


def test_a_table_of_weights_has_room_for_every_class():
    assert learning_flags(2, 10)[-1] == "18"
    assert learning_flags(100, 1_000_000)[-1] == "28"


def test_more_columns_than_letters_are_refused():
    assert len(set(namespaces([str(j) for j in range(62)]).values())) == len(LETTERS) == 62
    with pytest.raises(InputError, match="63 columns; Vowpal Wabbit tells 62 namespaces apart"):
        namespaces([str(j) for j in range(63)])


def test_an_empty_table_is_refused(tmp_path):
    table = NominalTable.from_columns({"a": []})
    with pytest.raises(InputError, match="no rows to write"):
        write_vw(table, tmp_path / "rows.vw")


def test_vowpal_wabbit_sees_one_feature_a_template(tmp_path):
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    random = np.random.default_rng(0)
    values = np.array(["1", "01", "a b", "c:2", "d|e", ""], dtype=object)
    rows = values[random.integers(0, 6, (50, 3))]
    table = NominalTable.from_columns(
        {name: rows[:, j].tolist() for j, name in enumerate("xyz")},
        labels=random.choice(["K", "S", "T"], 50).tolist(),
    )
    templates = [["x"], ["x", "y"], ["z", "x", "y"]]
    flags = " ".join(learning_flags(3, 500) + interaction_flags(templates, table.columns))
    wabbit = vowpalwabbit.Workspace(f"{flags} --quiet --noconstant")
    hashes: dict[tuple[str, ...], set[int]] = {}
    for line, row in zip(written(tmp_path, table), rows.tolist(), strict=True):
        example = wabbit.parse(line)
        wabbit.setup_example(example)
        wabbit.learn(example)
        assert example.get_label(vowpalwabbit.LabelType.MULTICLASS).label in (1, 2, 3)
        # One feature in each namespace; interactions are made while it learns.
        assert [example.num_features_in(ns) for ns in "abc"] == [1, 1, 1]
        assert example.get_feature_number() == 3 + 2
        hashes.setdefault(("x", row[0]), set()).add(example.feature("a", 0))
        hashes.setdefault(("y", row[1]), set()).add(example.feature("b", 0))
        wabbit.finish_example(example)
    learned = {key: wabbit.get_weight(*one) != 0 for key, one in hashes.items() if len(one) == 1}
    wabbit.finish()
    assert len({number for one in hashes.values() for number in one}) == len(hashes) == len(learned)
    # A column that is no template by itself has no weights.
    assert all(weighs == (column == "x") for (column, _), weighs in learned.items())


def test_vowpal_wabbit_learns_exclusive_or_from_an_interaction(tmp_path):
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    bits = np.random.default_rng(0).integers(0, 2, (400, 2))
    table = NominalTable.from_columns(
        {"a": bits[:, 0].astype(str).tolist(), "b": bits[:, 1].astype(str).tolist()},
        labels=np.where(bits[:, 0] == bits[:, 1], "same", "different").tolist(),
    )
    lines = written(tmp_path, table)
    right = {}
    for name, templates in {"alone": [["a"], ["b"]], "pair": [["a"], ["b"], ["a", "b"]]}.items():
        flags = " ".join(learning_flags(2, 100) + interaction_flags(templates, table.columns))
        wabbit = vowpalwabbit.Workspace(f"{flags} --quiet")
        for line in lines:
            wabbit.learn(line)
        answers = [
            wabbit.predict(line.partition("|")[1] + line.partition("|")[2]) for line in lines
        ]
        wabbit.finish()
        right[name] = np.mean(np.array(answers) - 1 == table.labels)
    assert right["pair"] == 1.0
    assert right["alone"] < 0.8
