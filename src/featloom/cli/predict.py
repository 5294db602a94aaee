"""``featloom predict MODEL DATA``: use what was learned.

Columns are found by their names; rows of TiMBL's files, which have none, by their places.  A
column that the model ignores may be absent.  Where the classes are there, the answers are judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options

if TYPE_CHECKING:
    import numpy as np

    from featloom.data.table import NominalTable
    from featloom.learners.memory import Explanation, MemoryClassifier

_NOT_KNOWN = "(not seen)"


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Folder of a run, or its model file.")
    ],
    data: options.Data,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file for the predictions.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the share of the votes of every class.")
    ] = False,
    explain: Annotated[
        int | None,
        typer.Option(
            min=1, help="Show the stored cases behind the first N answers; predictions to --out."
        ),
    ] = None,
    on_bad_row: options.OnBadRow = "raise",
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Predict the classes of rows, as CSV on standard output or in a file."""
    import numpy as np

    from featloom.runs import write_beside

    classifier = load_classifier(model).set_params(n_jobs=jobs)
    rows = read_rows(data, classifier, on_bad_row)
    answers = classifier.predict(rows)
    shares = classifier.predict_proba(rows) if proba else None
    explained = []
    if explain is not None:
        first = rows.take(np.arange(min(explain, len(rows))))
        explained = [*zip(_values(first), classifier.explain(first), strict=True)]
    judged = judge(rows, answers)
    if out is not None:
        write_beside(out, csv_text(answers, shares, classifier.classes_))
    if json:
        typer.echo(_json(model, data, answers, shares, classifier, explained, judged))
        return
    if explained:
        typer.echo("\n\n".join(_lines(values, why) for values, why in explained))
    elif out is None:
        typer.echo(csv_text(answers, shares, classifier.classes_), nl=False)
    if not quiet:
        # Beside predictions that go to a pipe, words would be taken for predictions.
        _say(rows, out, judged, err=out is None and not explained)


def load_classifier(model: Path) -> MemoryClassifier:
    """The model of a run, or the one in a file."""
    from featloom.cli.models import open_model
    from featloom.learners.memory import MemoryClassifier

    return open_model(model, MemoryClassifier.load, kind="memory", made_by="memory")[0]


def learned_table(classifier: MemoryClassifier) -> NominalTable:
    """The table that the model was fitted on: its columns and target."""
    assert classifier._reader.table is not None
    return classifier._reader.table


def read_rows(data: Path, classifier: MemoryClassifier, on_bad_row: str) -> NominalTable:
    """The rows to predict, with the columns that the model has."""
    import os

    from featloom.data.corpora import corpora
    from featloom.data.readers import format_of, read
    from featloom.data.tasks.ready import load

    if not os.path.exists(data) and str(data) in {corpus.name for corpus in corpora()}:
        from featloom.cli.memory import corpus_parts

        return aligned(corpus_parts(str(data))["test"] or load(str(data)), classifier)
    how: dict[str, Any] = {"on_bad_row": on_bad_row} if on_bad_row != "raise" else {}
    target = learned_table(classifier).target
    found = format_of(
        data, columns=[*learned_table(classifier).columns, *([target] if target else [])]
    )
    if found == "timbl":
        return _by_place(data, classifier, how)
    if found in ("table", "conll", "conllu"):
        how["require_labels"] = False
        if found == "table" and target:
            how["target"] = target
    return aligned(read(data, format=found, **how), classifier)


def _by_place(data: Path, classifier: MemoryClassifier, how: dict[str, Any]) -> NominalTable:
    """Rows without names: as many values as the model has features, or the class after them."""
    from dataclasses import replace

    from featloom.data.readers import read_timbl
    from featloom.errors import ReadError

    columns = learned_table(classifier).columns
    rows = read_timbl(data, require_labels=False, **how)
    if len(rows.columns) == len(columns) - 1:
        rows = read_timbl(data, target=None, require_labels=False, **how)
    if len(rows.columns) != len(columns):
        gap = columns != rows.columns[: len(columns)]
        if gap and set(columns) <= set(rows.columns):
            return aligned(rows, classifier)  # the model left out a column between: the groups
        width = len(rows.columns) + (rows.labels is not None)
        raise ReadError(
            f"{width} columns; the model has {len(columns)} features, so {len(columns)} are "
            f"expected, or {len(columns) + 1} with the class",
            file=str(data),
        )
    return replace(rows, columns=columns)


def aligned(rows: Any, classifier: MemoryClassifier) -> NominalTable:
    """The rows with the model's columns in their order; an ignored one need not be there."""
    from dataclasses import replace

    import numpy as np

    from featloom.cli.induce import listed
    from featloom.data.table import NominalTable
    from featloom.errors import ReadError

    if not isinstance(rows, NominalTable):
        message = "a sparse matrix; the model compares the columns of a table"
        raise ReadError(message, file=rows.source)
    columns = learned_table(classifier).columns
    codes = np.zeros((len(rows), len(columns)), dtype=np.int32, order="F")
    vocabularies: list[tuple[str, ...]] = []
    for j, (name, mode) in enumerate(zip(columns, classifier.modes_, strict=True)):
        if name in rows.columns:
            place = rows.column_index(name)
            codes[:, j] = rows.codes[:, place]
            vocabularies.append(rows.vocabularies[place])
        elif mode == "ignore":
            vocabularies.append(())
        else:
            raise ReadError(
                f"no column {name!r}, which the model compares; there are {listed(rows.columns)}",
                file=rows.source,
            )
    return replace(rows, columns=columns, codes=codes, vocabularies=tuple(vocabularies))


def judge(rows: NominalTable, answers: np.ndarray) -> dict[str, Any] | None:
    """How many answers are right, of the rows whose class is there; None where none is."""
    if rows.labels is None or not (rows.labels >= 0).any():
        return None
    known = rows.labels >= 0
    right = sum(
        str(answer) == rows.classes[label]
        for answer, label in zip(answers[known].tolist(), rows.labels[known], strict=True)
    )
    return {"rows": int(known.sum()), "right": right, "accuracy": right / int(known.sum())}


def csv_text(answers: Iterable[Any], shares: np.ndarray | None, classes: Iterable[Any]) -> str:
    """The answers as a column with a head, and where asked for the shares of the classes.

    >>> print(csv_text(["K", "S"], None, ["K", "S"]), end="")
    prediction
    K
    S
    """
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if shares is None:
        writer.writerow(["prediction"])
        writer.writerows([answer] for answer in answers)
    else:
        writer.writerow(["prediction", *classes])
        for answer, row in zip(answers, shares.tolist(), strict=True):
            writer.writerow([answer, *(f"{share:.6g}" for share in row)])
    return stream.getvalue()


def _values(rows: NominalTable) -> list[list[str]]:
    return [
        [rows.value(column, row) or _NOT_KNOWN for column in rows.columns]
        for row in range(len(rows))
    ]


def _lines(values: Sequence[str], why: Explanation) -> str:
    """A row, its answer and the stored cases behind it, a line each and value under value."""
    total = sum(why.votes.values())
    ranked = sorted(why.votes.items(), key=lambda vote: (-vote[1], vote[0] != why.answer))
    votes = ", ".join(f"{name} {100 * vote / total:.0f} %" for name, vote in ranked[:4])
    stored = [[value or _NOT_KNOWN for value in near.values] for near in why.neighbours]
    widths = [max(map(len, column)) for column in zip(values, *stored, strict=True)]

    def beside(cells: Sequence[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))

    lines = [f"{beside(values)}  → {why.answer} ({votes}), because of these stored cases:"]
    for near, cells in zip(why.neighbours, stored, strict=True):
        classes = ", ".join(f"{name}: {count}" for name, count in near.classes.items())
        lines.append(f"{beside(cells)}  {classes}, distance {near.distance:.4f}")
    return "\n".join(lines)


def _json(model, data, answers, shares, classifier, explained, judged) -> bytes:
    from featloom.runs import SCHEMA, encode_result, versions

    return encode_result(
        {
            "schema": SCHEMA,
            "kind": "predictions",
            "versions": versions(),
            "model": str(model),
            "data": str(data),
            "rows": len(answers),
            "judged": judged,
            "predictions": answers.tolist(),
            "classes": classifier.classes_.tolist(),
            "shares": shares,
            "explanations": [
                {
                    "query": values,
                    "answer": why.answer,
                    "votes": {str(name): vote for name, vote in why.votes.items()},
                    "neighbours": [
                        {
                            "values": near.values,
                            "distance": near.distance,
                            "classes": {str(name): n for name, n in near.classes.items()},
                        }
                        for near in why.neighbours
                    ],
                }
                for values, why in explained
            ],
        }
    )


def _say(rows: NominalTable, out: Path | None, judged: dict[str, Any] | None, *, err: bool) -> None:
    words = f"{len(rows):,} rows" + ("" if out is None else f", predictions in {out}")
    if judged is not None:
        of = "" if judged["rows"] == len(rows) else f" of the {judged['rows']:,} with a class"
        words += f"; accuracy {100 * judged['accuracy']:.2f} % ({judged['right']:,} right{of})"
    typer.echo(words, err=err)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("predict")(predict)
