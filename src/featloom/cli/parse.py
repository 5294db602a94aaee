"""``featloom parse MODEL FILE``: predict the dependency trees of sentences.

The file comes out as it was, with head and relation of every token as the parser sees them.  It
need not have trees; where it has, ``--score`` says how many heads are right.  ``--explain`` shows
which templates spoke for each head, and against the runner-up.
"""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options
from featloom.cli.reasons import reason_lines, reasons_part
from featloom.data.readers import format_of, read_conllu
from featloom.data.readers.conllu import parse_sentence, sentence_lines
from featloom.data.sentences import take_sentences
from featloom.data.stretches import Stretches, is_long
from featloom.data.treebank import refuse_packed, write_heads
from featloom.discover.loading import open_model
from featloom.errors import ReadError
from featloom.evaluation.attachment import attachment_counts
from featloom.learners.parser import DependencyParser, LongSentence, explain_heads
from featloom.results import SCHEMA
from featloom.runs import encode_result, versions
from featloom.shown import visible_lines
from featloom.words import counted, no_such, percent

if TYPE_CHECKING:
    from featloom.data.table import NominalTable
    from featloom.learners.parser import HeadReasons

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
    explain: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Show which templates spoke for the heads in the first N sentences; trees to "
            "--out.",
        ),
    ] = None,
    on_bad_row: options.OnBadRow = "raise",
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Predict heads and relations of tokens, on standard output or in a file."""
    import warnings

    if out not in (None, STANDARD_OUTPUT):
        refuse_packed(out)
        options.file_to_write(out)
    parser = load_parser(model).set_params(n_jobs=jobs)
    table = read_to_parse(data, parser, with_heads=score, on_bad_row=on_bad_row)
    say_what_is_long(data, table, parser, with_heads=score)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LongSentence)
        trees = parser.predict_trees(table)
    judged = judge(table, trees, relations=bool(parser.relations_)) if score else None
    explained = None if explain is None else _explained(parser, table, explain)
    to_pipe = out == STANDARD_OUTPUT or (out is None and not score and not explained)
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
        typer.echo(_json(model, data, trees, judged, explained))
        return
    if explained:
        lines = ("\n".join(_explanation(*token)) for token in chain(*explained))
        typer.echo(visible_lines("\n\n".join(lines)))
    if not quiet:
        # Beside trees that go to a pipe, words would be taken for tokens.
        _say(table, trees, None if to_pipe else out, judged, err=to_pipe)


def _explained(
    parser: DependencyParser, table: NominalTable, most: int
) -> list[list[tuple[list[str], int, HeadReasons]]]:
    """For each token of the first sentences the words, its place and the reasons for its head."""
    import numpy as np

    first = take_sentences(table, np.arange(min(most, len(table.bounds) - 1)))
    bounds = first.bounds
    found = []
    for s, sentence in enumerate(explain_heads(parser, first)):
        words = [first.value("form", row) or "_" for row in range(bounds[s], bounds[s + 1])]
        found.append([(words, at, why) for at, why in enumerate(sentence, start=1)])
    return found


def _explanation(words: list[str], at: int, why: HeadReasons) -> list[str]:
    """A token with its head and the runner-up, then a line for each template that spoke.

    >>> from featloom.learners.parser import HeadReasons
    >>> from featloom.learners.reasons import Reasons
    >>> why = HeadReasons(2, 0, Reasons("2", "0", (("side=left", 1.0),)))
    >>> _explanation(["he", "ran"], 1, why)
    ['1 he  → 2 ran, against 0 (root):', '  +1.0000  side=left']
    """

    def place(number: int) -> str:
        return f"{number} {words[number - 1] if number else '(root)'}"

    against = "no other head is likely" if why.against is None else f"against {place(why.against)}"
    return [f"{place(at)}  → {place(why.head)}, {against}:", *reason_lines(why.reasons)]


def load_parser(model: Path) -> DependencyParser:
    """The parser of a run, or the one in a file."""
    return open_model(model, {"parser": DependencyParser.load})[0]


def read_to_parse(
    data: Path, parser: DependencyParser, *, with_heads: bool, on_bad_row: str
) -> NominalTable:
    """The sentences of a file, which must have the columns that the parser looks at."""
    import os

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
    if lacking := sorted(needed - derived - set(table.columns)):
        raise ReadError(
            no_such("column", lacking, table.columns, ", which the model looks at"),
            file=str(data),
        )
    return table


def say_what_is_long(
    data: Path, table: NominalTable, parser: DependencyParser, *, with_heads: bool
) -> None:
    """Warn, before the work, of sentences that are parsed in stretches: where the first begins."""
    import warnings

    import numpy as np

    long = is_long(table, parser.longest)
    if not long.any():
        return
    sentences = (
        lines
        for lines in sentence_lines(str(data))
        if parse_sentence(lines, str(data), heads=with_heads).tokens
    )
    lines = next(islice(sentences, int(np.argmax(long)), None))
    words = Stretches.of(table, parser.longest).in_words()
    warnings.warn(f"{data}:{lines[0][0]}: {words}", stacklevel=2)


def judge(
    table: NominalTable, trees: list[list[tuple[int, str]]], *, relations: bool
) -> dict[str, Any]:
    """Attachment scores of trees; that of relations only where they were predicted."""
    counts = attachment_counts(table, trees).sum(axis=0).tolist()
    right, labelled, tokens, all_right, all_tokens = counts
    judged: dict[str, Any] = {
        "uas": right / max(tokens, 1),
        "uas_punctuation": all_right / max(all_tokens, 1),
        "tokens": tokens,
        "tokens_punctuation": all_tokens,
    }
    return judged | ({"las": labelled / max(tokens, 1)} if relations else {})


def _json(model: Path, data: Path, trees, judged: dict[str, Any] | None, explained) -> bytes:
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
            "explanations": [
                [
                    {"token": words[at - 1], "head": why.head, "runner_up": why.against}
                    | reasons_part(why.reasons)
                    for words, at, why in sentence
                ]
                for sentence in explained or ()
            ],
        }
    )


def _say(table: NominalTable, trees, out: Path | None, judged: dict[str, Any] | None, *, err: bool):
    words = f"{counted(len(trees), 'sentence')}, {counted(len(table), 'token')}"
    words += "" if out is None else f", trees in {out}"
    if judged is not None:
        words += f"; UAS {percent(judged['uas'], 2)}"
        if "las" in judged:
            words += f", LAS {percent(judged['las'], 2)}"
        words += (
            f" without punctuation ({counted(judged['tokens'], 'token')}); "
            f"UAS {percent(judged['uas_punctuation'], 2)} with it"
        )
    typer.echo(words, err=err)
