"""Rows to predict, with the columns that a model has, some thousands at a time.

Columns are found by their names; rows of TiMBL's files, which have none, by their places.  A column
that the model does without may be absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featloom.data.corpora import names_corpus
from featloom.data.readers import format_of, read, read_timbl
from featloom.data.readers.tables import read_table_blocks
from featloom.data.table import NominalTable, spelled_like
from featloom.data.tasks.ready import load
from featloom.errors import InputError, ReadError
from featloom.words import no_such

if TYPE_CHECKING:
    from featloom.cli.predictors import Predictor
    from featloom.data.matrix import FeatureMatrix


@dataclass(frozen=True)
class Block:
    """Some rows to predict.

    Parameters
    ----------
    rows : with the columns of the model.
    ids : for each column that is kept beside the answers, its values.
    """

    rows: NominalTable | FeatureMatrix
    ids: dict[str, list[str]]


def read_blocks(
    data: Path, predictor: Predictor, on_bad_row: str, ids: Sequence[str] = ()
) -> Iterator[Block]:
    """The rows of a file in blocks, where its reader can; else, and of a corpus, all in one.

    ``ids`` names columns that are kept as they are.
    """
    own = predictor.read(data)
    if own is not None:
        yield _block(own, own, ids)
        return
    if names_corpus(data):
        rows = _corpus(str(data))
        yield _block(rows, aligned(rows, predictor), ids)
        return
    how: dict[str, Any] = {"on_bad_row": on_bad_row} if on_bad_row != "raise" else {}
    named = [*predictor.columns, *([predictor.target] if predictor.target else [])]
    found = format_of(data, columns=named)
    if found == "table":
        for block in read_table_blocks(data, target=predictor.target or None, **how):
            yield _block(block, aligned(block, predictor), ids)
    elif found == "timbl" and predictor.columns:
        rows = _by_place(data, predictor, how)
        yield _block(rows, rows, ids)
    else:
        if found in ("timbl", "conll", "conllu"):
            how["require_labels"] = False
        rows = read(data, format=found, **how)
        yield _block(rows, aligned(rows, predictor), ids)


def _block(
    read: NominalTable | FeatureMatrix, rows: NominalTable | FeatureMatrix, ids: Sequence[str]
) -> Block:
    kept: dict[str, list[str]] = {}
    for name in ids:
        if not isinstance(read, NominalTable):
            raise ReadError("a sparse matrix, which has no columns for --id", file=read.source)
        if name == read.target and read.labels is not None:
            values, codes = (*read.classes, ""), read.labels
        elif name in read.columns:
            place = read.columns.index(name)
            values, codes = (*read.vocabularies[place], ""), read.codes[:, place] - 1
        else:
            known = [*read.columns, *([read.target] if read.target else [])]
            raise ReadError(
                no_such("column", name, known, " for --id"),
                file=read.source,
            )
        kept[name] = [values[code] for code in codes.tolist()]
    return Block(rows, kept)


def aligned(
    rows: NominalTable | FeatureMatrix, predictor: Predictor
) -> NominalTable | FeatureMatrix:
    """The rows with the model's columns in their order; one that it does without may be absent."""
    import numpy as np

    if not predictor.columns:
        return rows
    if not isinstance(rows, NominalTable):
        message = f"a sparse matrix; the model {predictor.does} the columns of a table"
        raise ReadError(message, file=rows.source)
    lacking = [
        name for name in predictor.columns if name not in rows.columns and name in predictor.needed
    ]
    if lacking:
        raise ReadError(
            no_such("column", lacking, rows.columns, f", which the model {predictor.does}"),
            file=rows.source,
        )
    codes = np.zeros((len(rows), len(predictor.columns)), dtype=np.int32, order="F")
    vocabularies: list[tuple[str, ...]] = []
    for j, name in enumerate(predictor.columns):
        if name in rows.columns:
            place = rows.column_index(name)
            codes[:, j] = rows.codes[:, place]
            vocabularies.append(rows.vocabularies[place])
        else:
            vocabularies.append(())
    rows = replace(rows, columns=predictor.columns, codes=codes, vocabularies=tuple(vocabularies))
    return spelled_like(rows, predictor.columns, predictor.vocabularies)


def _corpus(name: str) -> NominalTable | FeatureMatrix:
    """The test part of a corpus, or all of one that has none."""
    try:
        return load(name, "test")
    except InputError:
        return load(name)


def _by_place(
    data: Path, predictor: Predictor, how: dict[str, Any]
) -> NominalTable | FeatureMatrix:
    """Rows without names: as many values as the model has columns, or the class after them."""
    columns = predictor.columns
    rows = read_timbl(data, require_labels=False, **how)
    if len(rows.columns) == len(columns) - 1:
        rows = read_timbl(data, target=None, require_labels=False, **how)
    if len(rows.columns) != len(columns):
        gap = columns != rows.columns[: len(columns)]
        if gap and set(columns) <= set(rows.columns):
            return aligned(rows, predictor)  # the model left out a column between: the groups
        width = len(rows.columns) + (rows.labels is not None)
        raise ReadError(
            f"{width} columns; the model has {len(columns)} features, so {len(columns)} are "
            f"expected, or {len(columns) + 1} with the class",
            file=str(data),
        )
    return replace(rows, columns=columns)
