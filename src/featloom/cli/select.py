"""``featloom select TRAIN``: search the feature templates of a tagger, and train it with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options, session
from featloom.cli.memory import by_the_clock, corpus_parts
from featloom.data.columns import column_maker
from featloom.data.corpora import locate, names_corpus
from featloom.data.readers import format_of, read_conll, read_conllu
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.errors import InputError, ReadError
from featloom.methods.template_search import TemplateSearch
from featloom.methods.template_search.parts import sentence_parts
from featloom.methods.template_search.study import study_templates
from featloom.runs import Timing, encode_result
from featloom.shown import terminal
from featloom.words import counted, no_such, percent

if TYPE_CHECKING:
    from featloom.methods.template_search.parts import SentenceParts

MODEL, TEMPLATES = "model.featloom", "templates.crfpp"
LEFT_OUT = "-"
# A resumed run has the options it was begun with, but for where it lies and how it is shown.
_ANEW = frozenset({"out", "quiet", "json"})


def select(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="TRAIN",
            help="Sentences in columns, a blank line after each; or the name of a corpus.",
        ),
    ],
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Column with the labels; default the last.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Names of the columns in order: word,pos,chunk; '-' leaves one out."),
    ] = None,
    valid: Annotated[
        Path | None,
        typer.Option(help="More sentences to search on; some of all are held out to judge by."),
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="File to report on; default a tenth of TRAIN.")
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="screened: our own; outward: the paper's.")
    ] = "screened",
    proxy: Annotated[
        str | None,
        typer.Option(
            help="Model whose F1 decides: maxent, memm or crf; default crf for screened, "
            "maxent for outward."
        ),
    ] = None,
    budget: options.SearchBudget = None,
    trials: Annotated[
        int | None, typer.Option(help="The most pieces of work: screenings and trainings.")
    ] = None,
    max_templates: Annotated[int | None, typer.Option(help="The most templates.")] = None,
    window: Annotated[int, typer.Option(min=0, help="Farthest token a template looks at.")] = 3,
    on_bad_row: options.OnBadRow = "raise",
    out: options.Out = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Search feature templates for sentences, and train a CRF with them."""
    asked = {name: value for name, value in locals().items() if name not in _ANEW}

    timing = Timing()
    search = template_search(
        strategy=strategy, proxy=proxy, budget=budget, trials=trials, max_templates=max_templates,
        window=window,
    )  # fmt: skip
    search.set_params(random_state=seed, n_jobs=jobs)
    with options.run_folder(out) as run, options.workers(dask):
        if run is not None:
            session.write_request(run, "select", asked)
            search.set_params(journal=run.path / "search.journal")
        with session.search_progress(f"reading {data.name}", quiet) as (say, progress):
            with timing.stage("read"):
                parts = load_parts(
                    data, valid, test, target=target, columns=columns, on_bad_row=on_bad_row,
                    seed=seed,
                )  # fmt: skip
            with timing.stage("fit"):
                search.set_params(progress=by_the_clock(progress, budget))
                study, found, tagger = study_templates(parts, search, say=say)
        study["data"]["source"] = str(data)
        study["layout"] = {
            "columns": named_columns(columns) or [*parts.train.columns, parts.train.target],
            "target": parts.train.target,
        }
        if run is not None:
            tagger.save(run.path / MODEL)
            run.write(TEMPLATES, template_text(found, study["verdict"]))
        finish(study, run, timing, seed=seed, quiet=quiet, json=json)


def template_search(
    *, strategy: str, proxy: str | None, budget: str | None, trials: int | None,
    max_templates: int | None, window: int,
) -> TemplateSearch:  # fmt: skip
    """The search that the options ask for; a wrong one is told before anything is read."""
    search = TemplateSearch(
        strategy=strategy, proxy=proxy, budget=budget, trials=trials, max_templates=max_templates,
        window=window,
    )  # fmt: skip
    search._check_parameters()
    return search


def load_parts(
    data: Path, valid: Path | None, test: Path | None, *, seed: int, **how: Any
) -> SentenceParts:
    """The sentences to search on and to report on: a corpus's, files, or a split."""

    if names_corpus(data):
        for name, given in {"valid": valid, "test": test, **how}.items():
            if given is not None and given != "raise":
                raise InputError(
                    f"--{name.replace('_', '-')} is for files, and {str(data)!r} is a corpus"
                )
        return sentence_parts(*corpus_sentences(str(data)), seed=seed)
    first = read_sentences(data, **how)
    parts = [None if path is None else read_sentences(path, **how) for path in (valid, test)]
    return sentence_parts(first, *parts, seed=seed)


def corpus_sentences(
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


def read_sentences(
    path: Path,
    *,
    target: str | None = None,
    columns: str | None = None,
    on_bad_row: str = "raise",
    labelled: bool = True,
) -> NominalTable:
    """Sentences from a column file, or from a treebank, of which ``columns`` are used.

    ``labelled`` False is for sentences to tag: labels may be missing, or all the same.
    """
    names = named_columns(columns)
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
    import os

    if not os.path.exists(path):
        hint = "" if path.suffix else ", and no corpus of that name; 'featloom corpora' lists them"
        raise ReadError(f"no such file{hint}", file=str(path))
    return format_of(path) == "conllu"


def _trees(path: Path, target, names, how: dict[str, Any], labelled: bool) -> NominalTable:
    from dataclasses import replace

    import numpy as np

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
    places = [table.column_index(name) for name in used]
    return replace(
        table,
        columns=tuple(used),
        codes=np.asfortranarray(table.codes[:, places]),
        vocabularies=tuple(table.vocabularies[j] for j in places),
    )


def named_columns(text: str | None) -> list[str] | None:
    """The names of the columns as typed.

    >>> named_columns("word, pos,-,chunk")
    ['word', 'pos', '-', 'chunk']
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError(
            f"columns is {text!r}; names with commas are expected: word,pos,chunk "
            f"('{LEFT_OUT}' leaves one out)"
        )
    return names


def template_text(search: TemplateSearch, verdict: str) -> str:
    """The template file of a run: what it is, the columns that are derived, the templates."""
    lines = [f"# {line}" for line in (verdict, "CRF++ templates")]
    if search.plan_.derived:
        lines.append("# derived columns, which a file for another program must have:")
    lines += [f"#   {recipe_in_words(spec)}" for spec in search.plan_.derived]
    return "\n".join([*lines, search.templates_])


def recipe_in_words(spec: Mapping[str, Any]) -> str:
    """A derived column: its name, how it is made, and the short ones of its settings.

    >>> recipe_in_words({"make": "suffix", "of": "word", "length": 3})
    'word.suffix3: suffix of word, length 3'
    """
    settings = "".join(
        f", {key} {value}"
        for key, value in spec.items()
        if key not in ("make", "of") and isinstance(value, str | int) and value is not False
    )
    return f"{column_maker(spec).name}: {spec['make']} of {spec['of']}{settings}"


def finish(study: dict[str, Any], run, timing, *, seed: int, quiet: bool, json: bool) -> None:
    """Write the run, then show the result in the way that was asked for."""
    result, page = session.write_result(study, run, timing, seed)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        show(result, page, None if run is None else run.path)


def show(result: dict[str, Any], page: Path | None, folder: Path | None) -> None:
    """Print the templates with what each brought, the two taggers, and the verdict."""
    from rich.markup import escape
    from rich.table import Table

    console = terminal()
    line = console.say

    part = result["template_search"]
    words = {"train": "training", "test": "test"}
    line(", ".join(f"{n:,} {words[name]} sentences" for name, n in part["sizes"].items()))
    line(result["protocol"])
    table = Table()
    table.add_column("template", overflow="fold")
    for name in ("features", "gain"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in part["templates"]:
        gain = "" if row["gain"] is None else f"{row['gain']:.5f}"
        table.add_row(escape(row["text"]), f"{row['features']:,}", gain)
    console.print(table)
    if any(row["gain"] is not None for row in part["templates"]):
        line(f"gain: {part['gain_label']}; no gain: there from the start, or added with others")
    for model in result["models"]:
        low, high = model["interval"]
        line(
            f"{model['name']}: {model['metric']} {percent(model['value'], 2)} "
            f"({100 * low:.2f} to {100 * high:.2f}), {counted(model['features'], 'feature')}"
        )
    line(result["verdict"])
    if folder is not None:
        line(f"templates: {folder / TEMPLATES}")
        line(f"model: {folder / MODEL}")
    if page is not None:
        line(f"report: {page}")
