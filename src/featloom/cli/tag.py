"""``featloom tag MODEL FILE``: label sentences with a tagger.

Every line of the file comes out as it was, token lines with the label as one more column at the
end (line ends are written as a plain newline).  Where the file has the gold labels, the answers
are judged.  ``--proba`` writes LABEL/PROBABILITY and ``--nbest`` several answers for a sentence,
each after a line ``# rank probability``, as CRF++ does.  ``--explain`` shows instead what spoke for
each label, and against the next best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options
from featloom.cli.reasons import reason_lines, reasons_part
from featloom.data.columns import column_maker
from featloom.data.open import is_treebank, open_sentences
from featloom.data.readers.conll import DOCUMENT_START, cut, first_token, is_comment
from featloom.data.readers.lines import read_lines
from featloom.data.sentences import gold_labels, take_sentences
from featloom.discover.loading import open_model
from featloom.errors import InputError, ReadError
from featloom.learners.tagger import SequenceTagger, explain_labels
from featloom.methods.template_search.parts import new_labels
from featloom.methods.template_search.study import judge
from featloom.runs import SCHEMA, encode_result, versions, write_beside
from featloom.shown import visible_lines
from featloom.words import counted, no_such, percent

if TYPE_CHECKING:
    import numpy as np

    from featloom.data.table import NominalTable
    from featloom.learners.reasons import Reasons

_LONG_SENTENCE = 500  # tokens; a file of more without a blank line has lost its blank lines


def tag(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Folder of a run, or its model file.")
    ],
    data: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Sentences in columns, a blank line after each."),
    ],
    columns: Annotated[
        str | None,
        typer.Option(help="Names of the columns in order: word,pos,chunk; '-' leaves one out."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Column with the gold labels.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for the tagged sentences.")
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Write each label with its probability.")
    ] = False,
    nbest: Annotated[
        int | None, typer.Option(min=1, help="The N best answers for each sentence.")
    ] = None,
    explain: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Show which features spoke for the labels of the first N sentences; tagged ones "
            "to --out.",
        ),
    ] = None,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Label the tokens of sentences, on standard output or in a file."""
    import warnings

    if proba and nbest is not None:
        raise InputError("--proba and --nbest are two ways to show doubt; give one of them")
    options.file_to_write(out)
    tagger, path = load_tagger(model)
    tagger.set_params(n_jobs=jobs)
    sentences = read_to_tag(data, tagger, path, columns, target)
    table = sentences.table
    answers = tagger.predict(table)
    judged = None
    if table.labels is not None and (table.labels >= 0).all():
        judged = judge(gold_labels(table), answers)
        said = new_labels(tagger.classes_.tolist(), table)
        if said:
            warnings.warn(said, stacklevel=1)
    shares = tagger.predict_proba(table) if proba else None
    best = None if nbest is None else tagger.predict_nbest(table, nbest)
    explained = None if explain is None else _explained(sentences, tagger, explain)
    if out is not None or not (json or explained):
        text = _nbest_text(sentences, best) if best else _text(sentences, answers, shares, tagger)
        if out is not None:
            write_beside(out, text)
        else:
            typer.echo(text, nl=False)
    if json:
        typer.echo(_json(model, data, answers, shares, best, tagger, judged, explained))
        return
    if explained:
        lines = ("\n".join(_explanation(*token)) for token in chain(*explained))
        typer.echo(visible_lines("\n\n".join(lines)))
    if not quiet:
        # Beside sentences that go to a pipe, words would be taken for tokens.
        _say(table, answers, out, judged)


def _explained(
    sentences: ToTag, tagger: SequenceTagger, most: int
) -> list[list[tuple[str, Reasons]]]:
    """The lines of the first sentences' tokens, each with the reasons for its label."""
    import numpy as np

    n = min(most, len(sentences.table.bounds) - 1)
    tokens = iter(sentences.token_lines())
    reasons = explain_labels(tagger, take_sentences(sentences.table, np.arange(n)))
    return [[(next(tokens).rstrip(), why) for why in sentence] for sentence in reasons]


def _explanation(token: str, why: Reasons) -> list[str]:
    return [f"{token}  → {why.answer}, against {why.against}:", *reason_lines(why)]


def load_tagger(model: Path) -> tuple[SequenceTagger, Path]:
    """The tagger of a run, or the one in a file; and the file."""
    return open_model(model, {"tagger": SequenceTagger.load})


@dataclass(frozen=True)
class ToTag:
    """Sentences to tag: their table, and the file line by line.

    ``lines`` are (text, whether it is a token); ``separator`` stands between cells.
    """

    table: NominalTable
    lines: list[tuple[str, bool]]
    separator: str

    def token_lines(self) -> list[str]:
        return [text for text, is_token in self.lines if is_token]


def read_to_tag(
    data: Path, tagger: SequenceTagger, model: Path, columns: str | None, target: str | None
) -> ToTag:
    """The sentences of a file, with the columns that the tagger looks at."""
    import warnings

    treebank = is_treebank(data)
    names = options.named_columns(columns)
    tabs, lines = _lines(data, treebank)
    if names is None and not treebank:
        names, gold = _layout(data, _width(lines, tabs), tagger, model)
        target = target or gold
    elif target is None:
        learned = _learned_layout(model)[1]
        there = names or ("form", "lemma", "upos", "xpos", "feats", "deprel")
        target = learned if learned in there else None
    if names is not None and target is not None and target not in names and not treebank:
        raise InputError(no_such("column", target, names, " for --target"))
    table = open_sentences(data, target=target, columns=names, labelled=False)
    for name in needed_columns(tagger):
        if name not in table.columns:
            raise ReadError(
                no_such("column", name, table.columns, ", which the model looks at"),
                file=str(data),
            )
    if len(table.bounds) == 2 and len(table) > _LONG_SENTENCE:
        warnings.warn(
            f"{data.name}: no blank line between sentences; all {len(table):,} tokens are taken "
            "as one",
            stacklevel=2,
        )
    return ToTag(table, lines, "\t" if tabs else " ")


def needed_columns(tagger: SequenceTagger) -> list[str]:
    """The columns that templates look at, and those that derived ones are made of.

    >>> from featloom.learners.tagger import SequenceTagger
    >>> tagger = SequenceTagger(templates=["U0:%x[0,1]"], passes=1)
    >>> needed_columns(tagger.fit([[("a", "X"), ("b", "Y")]], [["A", "B"]]))
    ['1']
    """
    plan = tagger.plan_
    needed = {name for template in plan.templates for name, _ in template.places}
    for spec in reversed(plan.derived):
        if column_maker(spec).name in needed:
            needed |= {spec[key] for key in ("of", "otherwise") if spec.get(key)}
    return [name for name in tagger.columns_ if name in needed]


def _layout(
    data: Path, width: int, tagger: SequenceTagger, model: Path
) -> tuple[list[str], str | None]:
    """Names of the columns of a file, and which holds the gold labels.

    A file is laid out as the one that was learned from, or as that without its labels.
    """
    learned, gold = _learned_layout(model)
    if learned is None:
        learned, gold = [*tagger.columns_, _new_name(tagger.columns_)], None
        gold = learned[-1]
    if width == len(learned):
        return learned, gold
    without = [name for name in learned if name != gold]
    if width == len(without):
        return without, None
    raise ReadError(
        f"{counted(width, 'column')}; the model's sentences have {len(without)} "
        f"({', '.join(without)}), or {len(learned)} with the label; name others by --columns",
        file=str(data),
    )


def _new_name(columns: tuple[str, ...]) -> str:
    name = "label"
    while name in columns:
        name += "_"
    return name


def _learned_layout(model: Path) -> tuple[list[str] | None, str | None]:
    """The columns of the file that a run learned from, and its target; of a lone file unknown."""
    import msgspec

    path = model.with_name("result.json")
    if not path.exists():
        return None, None
    try:
        layout = msgspec.json.decode(path.read_bytes()).get("layout")
    except (msgspec.DecodeError, AttributeError):
        raise ReadError("not a result", file=str(path)) from None
    if not isinstance(layout, dict):
        return None, None
    return [str(name) for name in layout["columns"]], str(layout["target"])


def _lines(data: Path, treebank: bool) -> tuple[bool, list[tuple[str, bool]]]:
    """Whether tabs separate cells; and every line, with whether it is a token."""
    tabs, _ = first_token(str(data), None)
    lines = []
    for _, line in read_lines(data):
        if treebank:
            is_token = line.partition("\t")[0].isdigit()
        else:
            is_token = bool(line.strip()) and not line.startswith(DOCUMENT_START)
            is_token &= not (line.startswith("#") and is_comment(line, tabs, None))
        lines.append((line, is_token))
    return tabs, lines


def _width(lines: list[tuple[str, bool]], tabs: bool) -> int:
    return next((len(cut(line, tabs)) for line, is_token in lines if is_token), 0)


def _text(
    sentences: ToTag,
    answers: list[list[str]],
    shares: list[np.ndarray] | None,
    tagger: SequenceTagger,
) -> str:
    labels = [label for sentence in answers for label in sentence]
    if shares is not None:
        number = {name: j for j, name in enumerate(tagger.classes_.tolist())}
        of_token = (row for sentence in shares for row in sentence)
        labels = [
            f"{name}/{row[number[name]]:.6f}" for name, row in zip(labels, of_token, strict=True)
        ]
    following = iter(labels)
    return "".join(
        (_with(line, next(following), sentences.separator) if is_token else line) + "\n"
        for line, is_token in sentences.lines
    )


def _nbest_text(sentences: ToTag, best: list[list[tuple[float, list[str]]]]) -> str:
    """The answers for each sentence one after the other, best first; comments are left out."""
    return "".join(f"{line}\n" for line in _nbest_lines(sentences, best))


def _nbest_lines(sentences: ToTag, best) -> Iterator[str]:
    from math import exp

    tokens = sentences.token_lines()
    bounds = sentences.table.bounds
    for s, found in enumerate(best):
        for rank, (score, labels) in enumerate(found):
            yield f"# {rank} {exp(score):.6f}"
            mine = tokens[bounds[s] : bounds[s + 1]]
            for line, label in zip(mine, labels, strict=True):
                yield _with(line, label, sentences.separator)
            yield ""


def _with(line: str, label: str, separator: str) -> str:
    return f"{line.rstrip(' ') if separator == chr(9) else line.rstrip()}{separator}{label}"


def _json(model, data, answers, shares, best, tagger, judged, explained) -> bytes:
    from math import exp

    ranked = best and [
        [{"probability": exp(score), "labels": labels} for score, labels in found] for found in best
    ]
    return encode_result(
        {
            "schema": SCHEMA,
            "kind": "tags",
            "versions": versions(),
            "model": str(model),
            "data": str(data),
            "sentences": len(answers),
            "tokens": sum(map(len, answers)),
            "judged": judged,
            "labels": answers,
            "classes": tagger.classes_.tolist(),
            "shares": shares,
            "nbest": ranked,
            "explanations": [
                [{"token": token, **reasons_part(why)} for token, why in sentence]
                for sentence in explained or ()
            ],
        }
    )


def _say(
    table: NominalTable, answers: list[list[str]], out: Path | None, judged: dict[str, Any] | None
) -> None:
    words = f"{counted(len(answers), 'sentence')}, {counted(len(table), 'token')}"
    words += "" if out is None else f", tagged in {out}"
    if judged is not None:
        words += f"; {judged['metric']} {percent(judged['value'], 2)}"
        if judged["metric"] != "token accuracy":
            words += f", token accuracy {percent(judged['accuracy'], 2)}"
    typer.echo(words, err=out is None)
