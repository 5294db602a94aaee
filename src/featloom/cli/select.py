"""``featloom select TRAIN``: search the feature templates of a tagger, and train it with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options, session
from featloom.cli.show import show_result
from featloom.data.columns import column_maker
from featloom.data.corpora import names_corpus
from featloom.data.open import open_sentences, sentences_of_corpus
from featloom.errors import InputError
from featloom.methods.template_search import TemplateSearch
from featloom.methods.template_search.parts import sentence_parts
from featloom.methods.template_search.study import study_templates
from featloom.runs import Timing, encode_result

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
                search.set_params(progress=session.by_the_clock(progress, budget))
                study, found, tagger = study_templates(parts, search, say=say)
        study["data"]["source"] = str(data)
        study["layout"] = {
            "columns": options.named_columns(columns) or [*parts.train.columns, parts.train.target],
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
        return sentence_parts(*sentences_of_corpus(str(data)), seed=seed)
    how["columns"] = options.named_columns(how["columns"])
    first = open_sentences(data, **how)
    parts = [None if path is None else open_sentences(path, **how) for path in (valid, test)]
    return sentence_parts(first, *parts, seed=seed)


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
        files = {"templates": TEMPLATES, "model": MODEL}
        show_result(
            result, page, {} if run is None else {k: run.path / v for k, v in files.items()}
        )
