"""``featloom parse MODEL FILE``: predict the dependency trees of sentences.

The file comes out as it was, with head and relation of every token as the parser sees them.  It
need not have trees; where it has, ``--score`` says how many heads are right.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options

if TYPE_CHECKING:
    from featloom.data.table import NominalTable
    from featloom.learners.parser import DependencyParser

STANDARD_OUTPUT = Path("-")


def parse(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Folder of a run, or its model file.")
    ],
    data: Annotated[
        Path, typer.Argument(metavar="FILE", help="Sentences in CoNLL-U or CoNLL-X columns.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File for the trees; '-' and default: standard output."),
    ] = None,
    score: Annotated[
        bool,
        typer.Option(
            "--score", help="Compare with the trees that FILE has; without --out nothing else."
        ),
    ] = False,
    on_bad_row: options.OnBadRow = "raise",
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Predict heads and relations of tokens, on standard output or in a file."""
    from featloom.data.treebank import write_heads

    parser = load_parser(model).set_params(n_jobs=jobs)
    table = read_to_parse(data, parser, with_heads=score, on_bad_row=on_bad_row)
    trees = parser.predict_trees(table)
    judged = judge(table, trees, relations=bool(parser.relations_)) if score else None
    to_pipe = out == STANDARD_OUTPUT or (out is None and not score)
    to_pipe &= not json
    if to_pipe or out not in (None, STANDARD_OUTPUT):
        write_heads(
            data,
            "-" if out is None else out,
            [[head for head, _ in tree] for tree in trees],
            [[relation for _, relation in tree] for tree in trees],
            with_heads=score,
            on_bad_row=on_bad_row,
        )
    if json:
        typer.echo(_json(model, data, trees, judged))
    elif not quiet:
        # Beside trees that go to a pipe, words would be taken for tokens.
        _say(table, trees, None if to_pipe else out, judged, err=to_pipe)


def load_parser(model: Path) -> DependencyParser:
    """The parser of a run, or the one in a file."""
    from featloom.cli.models import open_model
    from featloom.learners.parser import DependencyParser

    return open_model(model, DependencyParser.load, kind="parser", made_by="grow")[0]


def read_to_parse(
    data: Path, parser: DependencyParser, *, with_heads: bool, on_bad_row: str
) -> NominalTable:
    """The sentences of a file, which must have the columns that the parser looks at."""
    import os

    from featloom.data.readers import format_of, read_conllu
    from featloom.errors import ReadError

    if not os.path.exists(data):
        raise ReadError("no such file", file=str(data))
    if format_of(data) != "conllu":
        raise ReadError(
            "no sentences in CoNLL-U's ten columns, with the number of the token first",
            file=str(data),
        )
    table = read_conllu(data, heads=with_heads, on_bad_row=on_bad_row)
    derived = {maker.name for maker in parser._makers}
    needed = {maker.of for maker in parser._makers} | set(parser._reader.token_columns)
    for name in sorted(needed - derived):
        if name not in table.columns:
            raise ReadError(
                f"no column {name!r}, which the model looks at; "
                f"there are {', '.join(table.columns)}",
                file=str(data),
            )
    return table


def judge(
    table: NominalTable, trees: list[list[tuple[int, str]]], *, relations: bool
) -> dict[str, Any]:
    """Attachment scores of trees; that of relations only where they were predicted."""
    from featloom.evaluation.attachment import attachment_counts

    counts = attachment_counts(table, trees).sum(axis=0).tolist()
    right, labelled, tokens, all_right, all_tokens = counts
    judged: dict[str, Any] = {
        "uas": right / max(tokens, 1),
        "uas_punctuation": all_right / max(all_tokens, 1),
        "tokens": tokens,
        "tokens_punctuation": all_tokens,
    }
    return judged | ({"las": labelled / max(tokens, 1)} if relations else {})


def _json(model: Path, data: Path, trees, judged: dict[str, Any] | None) -> bytes:
    from featloom.runs import SCHEMA, encode_result, versions

    return encode_result(
        {
            "schema": SCHEMA,
            "kind": "trees",
            "versions": versions(),
            "model": str(model),
            "data": str(data),
            "sentences": len(trees),
            "tokens": sum(map(len, trees)),
            "judged": judged,
            "heads": [[head for head, _ in tree] for tree in trees],
            "relations": [[relation for _, relation in tree] for tree in trees],
        }
    )


def _say(table: NominalTable, trees, out: Path | None, judged: dict[str, Any] | None, *, err: bool):
    words = f"{len(trees):,} sentences, {len(table):,} tokens"
    words += "" if out is None else f", trees in {out}"
    if judged is not None:
        words += f"; UAS {100 * judged['uas']:.2f} %"
        if "las" in judged:
            words += f", LAS {100 * judged['las']:.2f} %"
        words += (
            f" without punctuation ({judged['tokens']:,} tokens); "
            f"UAS {100 * judged['uas_punctuation']:.2f} % with it"
        )
    typer.echo(words, err=err)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("parse")(parse)
