"""``featloom predict MODEL DATA``: use what was learned.

A table is read and answered some thousands of rows at a time, so that its length does not matter.
Where the classes are there, the answers are judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options
from featloom.cli.predictors import load_predictor
from featloom.cli.rows_to_predict import read_blocks
from featloom.data.class_types import value_of
from featloom.data.row_prints import Seen
from featloom.runs import SCHEMA, encode_result, versions, write_beside
from featloom.shown import visible_lines
from featloom.words import counted, percent

if TYPE_CHECKING:
    import numpy as np

    from featloom.cli.predictors import Explained, Predictor
    from featloom.cli.rows_to_predict import Block
    from featloom.data.matrix import FeatureMatrix
    from featloom.data.table import NominalTable


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Folder of a run, or its model file.")
    ],
    data: options.Data,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="CSV file for the predictions.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of every class, or its votes.")
    ] = False,
    explain: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Show the stored cases or the features behind the first N answers; predictions "
            "to --out.",
        ),
    ] = None,
    ids: Annotated[
        list[str] | None,
        typer.Option("--id", help="Column to keep beside the predictions; repeatable."),
    ] = None,
    on_bad_row: options.OnBadRow = "raise",
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Predict the classes of rows, as CSV on standard output or in a file."""
    options.file_to_write(out)
    predictor = load_predictor(model, jobs)
    answering = Answering(predictor, proba=proba, explain=explain or 0, keeps=json)
    pieces = answering.of(read_blocks(data, predictor, on_bad_row, ids or ()))
    if out is not None:
        write_beside(out, pieces)
    else:
        for piece in pieces:
            if not (json or explain):
                typer.echo(piece, nl=False)
    if json:
        typer.echo(_json(model, data, answering))
        return
    if answering.explained:
        typer.echo(visible_lines("\n\n".join(why.lines for why in answering.explained)))
    if not quiet:
        # Beside predictions that go to a pipe, words would be taken for predictions.
        _say(answering, out, err=out is None and not answering.explained)


class Answering:
    """Answers to rows that come in blocks, and what is known when all have come.

    Parameters
    ----------
    predictor : gives the answers.
    proba : whether the shares of the classes are wanted.
    explain : how many of the first answers are explained.
    keeps : whether answers and shares are kept, beside being written.

    Attributes
    ----------
    n_rows, n_judged, n_right : rows, those with a class, and those whose answer is right.
    explained : why the first answers were given.
    seen : how many rows are among those that the model learned from.
    answers, shares, ids : those of all rows, where they are kept.
    """

    def __init__(self, predictor: Predictor, *, proba: bool, explain: int, keeps: bool):
        self.predictor, self.proba, self.explain, self.keeps = predictor, proba, explain, keeps
        self.n_rows = self.n_judged = self.n_right = 0
        self.explained: list[Explained] = []
        self.answers: list[Any] = []
        self.shares: list[list[float]] | None = [] if proba else None
        self.ids: dict[str, list[str]] = {}
        self.seen = Seen()

    def of(self, blocks: Iterable[Block]) -> Iterator[str]:
        """The answers as pieces of a CSV file: a head, then the rows block by block."""
        import numpy as np

        for block in blocks:
            rows = block.rows
            answers = self.predictor.predict(rows)
            shares = self.predictor.shares(rows) if self.proba else None
            if (wanted := self.explain - len(self.explained)) > 0:
                first = rows.take(np.arange(min(wanted, len(rows))))
                self.explained += self.predictor.explain(first)
            n_judged, n_right = judge(rows, answers, self.predictor.class_type)
            self.n_judged, self.n_right = self.n_judged + n_judged, self.n_right + n_right
            self.seen += self.predictor.seen(rows)
            head = ""
            if not self.n_rows:
                head = csv_head(self.predictor.classes if self.proba else (), block.ids)
            self.n_rows += len(rows)
            if self.keeps:
                self.answers += answers.tolist()
                for name, values in block.ids.items():
                    self.ids.setdefault(name, []).extend(values)
                if self.shares is not None and shares is not None:
                    self.shares += shares.tolist()
            yield head + csv_rows(answers, shares, [*block.ids.values()])

    @property
    def judged(self) -> dict[str, Any] | None:
        """How many answers are right, of the rows whose class is there; None where none is."""
        if not self.n_judged:
            return None
        accuracy = self.n_right / self.n_judged
        return {"rows": self.n_judged, "right": self.n_right, "accuracy": accuracy}


def judge(
    rows: NominalTable | FeatureMatrix, answers: np.ndarray, class_type: str = "str"
) -> tuple[int, int]:
    """How many rows have a class, and how many of them the right answer; 1 and 1.0 are one."""
    if rows.labels is None:
        return 0, 0
    known = rows.labels >= 0
    classes = [value_of(name, class_type) for name in rows.classes]
    right = sum(
        value_of(str(answer), class_type) == classes[label]
        for answer, label in zip(answers[known].tolist(), rows.labels[known].tolist(), strict=True)
    )
    return int(known.sum()), right


def csv_head(classes: Iterable[Any], ids: Iterable[str] = ()) -> str:
    """The names of the columns.

    >>> csv_head(["K", "S"], ["word"])
    'word,prediction,p_K,p_S\\n'
    """
    return _csv([[*ids, "prediction", *(f"p_{name}" for name in classes)]])


def csv_rows(
    answers: Iterable[Any], shares: np.ndarray | None, ids: Sequence[Sequence[str]] = ()
) -> str:
    """The answers as a column, ids before it and, where asked for, the shares of the classes.

    >>> csv_rows(["K", "S"], None)
    'K\\nS\\n'
    >>> csv_rows(["K", "S"], None, [["call", "cell"]])
    'call,K\\ncell,S\\n'
    """
    columns: list[Iterable[Any]] = [*ids, answers]
    if shares is not None:
        columns += [[f"{share:.6g}" for share in column] for column in shares.T.tolist()]
    return _csv(map(list, zip(*columns, strict=True)))


def _csv(rows: Iterable[list[Any]]) -> str:
    import csv
    import io

    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _json(model: Path, data: Path, answering: Answering) -> bytes:
    return encode_result(
        {
            "schema": SCHEMA,
            "kind": "predictions",
            "versions": versions(),
            "model": str(model),
            "data": str(data),
            "rows": answering.n_rows,
            "judged": answering.judged,
            "seen": {
                "rows": answering.seen.estimate if answering.seen.known else 0,
                "exact": answering.seen.exact,
            },
            "ids": answering.ids,
            "predictions": answering.answers,
            "classes": answering.predictor.classes,
            "shares": answering.shares,
            "explanations": [why.part for why in answering.explained],
        }
    )


def _say(answering: Answering, out: Path | None, *, err: bool) -> None:
    words = counted(answering.n_rows, "row") + ("" if out is None else f", predictions in {out}")
    if (judged := answering.judged) is not None:
        every = judged["rows"] == answering.n_rows
        of = "" if every else f" of the {judged['rows']:,} with a class"
        words += f"; accuracy {percent(judged['accuracy'], 2)} ({judged['right']:,} right{of})"
    typer.echo(words, err=err)
    if answering.seen.words:
        typer.echo(answering.seen.words, err=err)
