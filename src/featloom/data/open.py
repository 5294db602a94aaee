"""What DATA is: the one place that asks.

A file or a folder in any format, the name of a corpus, a DataFrame, an array, lists, or what was
read already: here it becomes a table, a matrix, or rows of many tasks.  Options that do not suit
what is opened are refused in one line.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from featloom.data.blocks import Blocks
from featloom.data.blocks_parquet import parquet_files, read_blocks
from featloom.data.corpora import corpus, locate, names_corpus
from featloom.data.frames import as_frame, has_column_names, table_from_frame
from featloom.data.matrix import FeatureMatrix
from featloom.data.readers import format_of, read, read_conll, read_conllu
from featloom.data.readers.labels import no_classes, with_classes
from featloom.data.readers.task_archives import corpus_rows, is_archive, read_archive
from featloom.data.table import UNKNOWN, NominalTable
from featloom.data.task_rows import rows_of_tasks
from featloom.data.tasks.ready import load
from featloom.errors import InputError, ReadError
from featloom.words import first_few, no_such

LEFT_OUT = "-"  # stands for the name of a column that is not used


def open_any(
    data: Any,
    target: Any = None,
    groups: str | None = None,
    *,
    task: str | None = None,
    share: float = 1.0,
    seed: int = 0,
    numbers: bool = False,
    on_bad_row: str = "raise",
) -> NominalTable | FeatureMatrix:
    """Whatever may be given: a file, the name of a corpus, a DataFrame, or data that were read.

    Rows without a class stay, to be counted by whoever leaves them out.

    Parameters
    ----------
    target : name of the column with the classes, or the classes themselves.
    task : column that tells the task of a row, of a file.
    share : of the rows of a file, drawn by the seed.
    numbers : whether the target is one of numbers, of which ranges are to be made.
    """
    if holds_classes(target):
        return _with_classes(data, target, groups)
    if isinstance(data, NominalTable | FeatureMatrix):
        return data
    if not isinstance(data, str | os.PathLike):
        return _of_frame(data, target, groups)
    if share >= 1 and not numbers:
        if task is not None or is_archive(data):
            how: dict[str, Any] = {"task": task, "target": target, "groups": groups}
            return open_tasks(data, **how, on_bad_row=on_bad_row)
        return open_file(
            data, target=target, groups=groups, on_bad_row=on_bad_row, trees=True,
            keep_unlabelled=on_bad_row == "raise",
        )  # fmt: skip
    options: dict[str, Any] = {"target": target, "groups": groups}
    options = {name: value for name, value in options.items() if value is not None}
    if on_bad_row == "raise":
        options["keep_unlabelled"] = True
    else:
        options["on_bad_row"] = on_bad_row
    if share < 1:
        options |= {"share": share, "seed": seed}
    if numbers:
        # Every row may have a number of its own, which is no fault here.
        options["require_labels"] = False
    return read(data, **options)


def kind_of(data: NominalTable | FeatureMatrix, task: str | None = None) -> str:
    """What data that were read look like: "table", "sequence", "trees" or "tasks".

    >>> kind_of(NominalTable.from_columns({"letter": ["c"]}, labels=["K"]))
    'table'
    """
    if task is not None or data.tasks is not None:
        return "tasks"
    if isinstance(data, FeatureMatrix):
        return "table"
    if data.heads is not None and data.labels is None:
        return "trees"
    return "table" if data.sequence_bounds is None else "sequence"


def open_file(
    data: str | os.PathLike[str],
    *,
    target: str | None = None,
    groups: str | None = None,
    on_bad_row: str = "raise",
    trees: bool = False,
    keep_unlabelled: bool = False,
) -> NominalTable | FeatureMatrix:
    """Read what a name stands for: a file, a folder, or one of the named corpora.

    A corpus must have classes; with ``trees``, heads of words will do.  Rows of a table without a
    class are left out and counted, unless they are to be kept.
    """
    name = os.fspath(data)
    # Raising is what every reader does; not all have the choice.
    skip = None if on_bad_row == "raise" else on_bad_row
    chosen = {"target": target, "groups": groups, "on_bad_row": skip}
    given = {option: value for option, value in chosen.items() if value is not None}
    if names_corpus(data):
        return _open_corpus(name, given, trees)
    if not os.path.exists(name) and Path(name).name == name and not Path(name).suffix:
        message = "no such file, and no corpus of that name; 'featloom corpora' lists them"
        raise ReadError(message, file=name)

    found = read(data, keep_unlabelled=skip is None, **given)
    return found if keep_unlabelled or skip is not None else _told_of_classes(found)


def _told_of_classes(data: NominalTable | FeatureMatrix) -> NominalTable | FeatureMatrix:
    """The rows that have a class; those that have none are told of."""
    data, said = with_classes(data)
    if said:
        warnings.warn(f"{data.source}: {said}", stacklevel=2)
    return data


def _open_corpus(name: str, given: dict[str, str], trees: bool) -> NominalTable | FeatureMatrix:
    for option in given:
        # Classes and groups of a corpus are part of what it is.
        raise InputError(
            f"--{option.replace('_', '-')} is for files, and {name!r} is a corpus; "
            f"to choose, name one of its files in {locate(name)}"
        )
    loaded = load(name)
    if loaded.labels is None and not (trees and getattr(loaded, "heads", None) is not None):
        raise InputError(
            f"corpus {name!r} has no classes of its own; "
            f"name one of its files in {locate(name)}, and a column of it by --target"
        )
    return loaded


def open_tasks(
    data: str | os.PathLike[str],
    *,
    task: str | None,
    target: str | None,
    groups: str | None,
    on_bad_row: str = "raise",
) -> FeatureMatrix:
    """Rows of a file or a corpus, with the task of each."""
    if is_archive(data):
        return corpus_rows(os.fspath(data), task=task, target=target, groups=groups)
    if task is None:
        raise InputError("the task of a row is not known; name the column that tells it by --task")
    if os.path.exists(data) and format_of(data, columns=[target] if target else []) == "sparse":
        return read_archive(data, task=task, target=target, groups=groups)
    table = open_file(data, target=target, groups=groups, on_bad_row=on_bad_row)
    if isinstance(table, NominalTable) and table.labels is None:
        raise ReadError(no_classes(table), file=table.source)
    return rows_of_tasks(table, task)


def as_table(loaded: NominalTable | FeatureMatrix) -> NominalTable:
    """What was read, if its columns can be compared and its classes are known."""
    if not isinstance(loaded, NominalTable):
        message = "a sparse matrix; memory-based learning compares the columns of a table"
        raise ReadError(message, file=loaded.source)
    if loaded.labels is None:
        raise ReadError(no_classes(loaded), file=loaded.source)
    return loaded


def open_blocks(
    data: Path,
    *,
    target: str | None,
    groups: str | None,
    on_bad_row: str,
    memory: str | None,
    hashed: int | None,
) -> Blocks | None:
    """Parquet files in blocks: a folder of them, or one where ``memory`` or ``hashed`` is given.

    None where DATA is to be read whole.
    """
    asked = memory is not None or hashed is not None
    files = parquet_files(data) if os.path.isdir(data) or asked else []
    if not files:
        if asked:
            raise InputError(f"--memory and --hash are for Parquet files, which {data} is not")
        return None
    if target is None:
        raise InputError("the rows of Parquet files have no classes; name a column by --target")
    if groups is not None:
        raise InputError("--groups is for data that is read whole, and this comes in blocks")
    # The only bad rows there are have no class; elsewhere these are left out and counted too.
    return read_blocks(data, target=target, on_bad_row="skip", memory=memory, hashed=hashed)


def corpus_parts(name: str) -> dict[str, NominalTable | None]:
    """The validation and test part of a corpus, as far as it has them."""
    held = {file.part for file in corpus(name).files}
    # A corpus whose files are not parts is made into its three parts, or comes in one piece.
    parts = {"valid", "test"} if held == {""} else held
    return {
        part: as_table(load(name, part)) if part in parts else None for part in ("valid", "test")
    }


def sentences_of_corpus(
    name: str,
) -> tuple[NominalTable, NominalTable | None, NominalTable | None]:
    """Training, validation and test sentences of a corpus, as far as it has them."""
    first = _sentences(load(name), name)
    parts = corpus_parts(name)
    return first, parts["valid"], parts["test"]


def _sentences(loaded: Any, name: str) -> NominalTable:
    if not isinstance(loaded, NominalTable) or loaded.sequence_bounds is None:
        raise InputError(f"corpus {name!r} has no sentences, and templates are for sentences")
    if loaded.labels is None:
        raise InputError(
            f"corpus {name!r} has no labels of its own; "
            f"name one of its files in {locate(name)}, and a column of it by --target"
        )
    return loaded


def open_sentences(
    path: Path,
    *,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    on_bad_row: str = "raise",
    labelled: bool = True,
) -> NominalTable:
    """Sentences from a column file, or from a treebank, of which ``columns`` are used.

    ``labelled`` False is for sentences to tag: labels may be missing, or all the same.  A
    column named "-" is left out.
    """
    names = None if columns is None else list(columns)
    how: dict[str, Any] = {"on_bad_row": on_bad_row, "require_labels": labelled}
    if is_treebank(path):
        return _trees(path, target, names, how, labelled)
    if names is not None and target is not None and target not in names:
        raise InputError(no_such("column", target, names, " for --target"))
    given = None if names is None else [None if n == LEFT_OUT else n for n in names]
    place: str | int | None = target if target is not None else (-1 if labelled else None)
    return read_conll(path, columns=given, target=place, **how)


def is_treebank(path: Path) -> bool:
    """Whether a file holds dependency trees in CoNLL-U's ten columns."""
    if not os.path.exists(path):
        hint = "" if path.suffix else ", and no corpus of that name; 'featloom corpora' lists them"
        raise ReadError(f"no such file{hint}", file=str(path))
    return format_of(path) == "conllu"


def _trees(path: Path, target, names, how: dict[str, Any], labelled: bool) -> NominalTable:
    if target is None and labelled:
        raise ReadError(
            "a treebank has several columns that could be labels; name one by --target: "
            "upos, xpos, …",
            file=str(path),
        )
    table = read_conllu(path, target=target, heads=False, **how)
    if names is None:
        return table
    used = [name for name in names if name not in (target, LEFT_OUT)]
    for name in used:
        if name not in table.columns:
            raise ReadError(no_such("column", name, table.columns), file=str(path))
    return table.select(used)


def holds_classes(target: Any) -> bool:
    """Whether a target is the classes themselves and no name of a column.

    >>> holds_classes("sound"), holds_classes(["K", "S"]), holds_classes(None)
    (False, True, False)
    """
    return not isinstance(target, str | int | None)


def _with_classes(data: Any, y: Any, groups: str | None) -> NominalTable | FeatureMatrix:
    """X and y; a column of X may name the document."""
    if isinstance(data, str | os.PathLike | FeatureMatrix):
        raise InputError(
            "the classes are given beside a file or rows that have theirs; name their column, or "
            "give a DataFrame, an array or lists"
        )
    name = getattr(y, "name", None)
    if hasattr(y, "columns") and len(y.columns) == 1:
        name, y = y.columns[0], np.asarray(y)[:, 0]
    target = "class" if name is None else str(name)
    if sparse.issparse(data):
        if groups is not None:
            raise InputError("groups names a column, and a sparse matrix has none")
        of_rows = table_from_frame(np.zeros((len(y), 1)), y, target=target)
        if data.shape[0] != len(of_rows):
            raise InputError(f"{len(of_rows)} labels for {data.shape[0]} rows")
        return FeatureMatrix.from_csr(
            data, labels=of_rows.labels, classes=of_rows.classes, target=target,
            class_type=of_rows.class_type,
        )  # fmt: skip
    table = table_from_frame(data, y, target=target)
    return table if groups is None else _grouped(table, groups)


def _of_frame(data: Any, target: Any, groups: str | None) -> NominalTable:
    """A DataFrame's columns; one of them is the class, another may be the document."""
    if not has_column_names(data):
        raise InputError(
            "the columns have no names, so give the classes beside them: discover(X, y)"
        )
    table = table_from_frame(data)
    if target is None:
        raise InputError(
            f"name the column that holds the classes by target: {first_few(table.columns)}"
        )
    table.column_index(str(target))  # told before the other, if it is not there
    if groups is not None:
        table = _grouped(table, groups)
    frame = as_frame(data)
    if frame is None:
        y = [row.get(target) for row in data]
    else:
        name = next(one for one in frame.columns if str(one) == str(target))
        y = frame.get_column(name).to_list()
    return table_from_frame(table.without(str(target)), y, target=str(target))


def _grouped(table: NominalTable, name: str) -> NominalTable:
    """The table with one of its columns as documents."""
    place = table.column_index(name)
    codes = table.codes[:, place]
    if (codes == UNKNOWN).any():
        raise InputError(f"row {int(np.argmax(codes == UNKNOWN)) + 1} has no {name}")
    names = table.vocabularies[place]
    return replace(table.without(name), groups=codes - np.int32(1), group_names=names)
