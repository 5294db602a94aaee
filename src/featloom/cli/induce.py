"""``featloom induce DATA --target COL``: find conjunctions, and say whether they help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from featloom.cli import options, session
from featloom.cli.show import show_result
from featloom.data.blocks import Blocks
from featloom.data.matrix import FeatureMatrix
from featloom.data.open import open_blocks, open_file
from featloom.data.table import NominalTable
from featloom.errors import InputError, ReadError
from featloom.methods.induction import ConjunctionInducer
from featloom.methods.induction.search import PAPER_GRID
from featloom.methods.induction.selection import cut
from featloom.methods.induction.study import study_induction
from featloom.runs import Timing, encode_result
from featloom.words import first_few, no_such

# A resumed run has the options it was begun with, but for where it lies and how it is shown.
MODEL = "model.featloom"
_ANEW = frozenset({"out", "quiet", "json"})


def induce(
    data: options.Data,
    target: options.Target = None,
    groups: options.Groups = None,
    positive: Annotated[
        str | None, typer.Option(help="Class whose F1 counts; default the rarer of two.")
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="Column with the domain of the document; repeatable.")
    ] = None,
    score: Annotated[
        str,
        typer.Option(
            help="residual, mi, ig, information_gain, su, fisher, chi2, gain_ratio, "
            "shared_variance; auto: the preset's."
        ),
    ] = "auto",
    aggregate: Annotated[str, typer.Option(help="Over classes: sum, max or global.")] = "sum",
    keep: Annotated[
        str, typer.Option(help="Atomic features to keep: share, number or '>=threshold'.")
    ] = "auto",
    partners: Annotated[
        str, typer.Option(help="With --pairs ranked: best features that pairs are made with.")
    ] = "0.001",
    max_length: Annotated[int, typer.Option(help="Parts of the longest conjunction.")] = 2,
    pairs: Annotated[str, typer.Option(help="all or ranked.")] = "auto",
    final_keep: Annotated[
        str, typer.Option(help="Conjunctions to keep: share, number, '>=threshold', or all.")
    ] = "auto",
    min_support: Annotated[
        str, typer.Option(help="Rows in which a conjunction must hold.")
    ] = "auto",
    alternative: Annotated[
        str, typer.Option(help="Of Fisher's test: two-sided, greater or less.")
    ] = "two-sided",
    preset: Annotated[str | None, typer.Option(help="paper: the procedure as published.")] = None,
    search: Annotated[
        bool, typer.Option("--search", help="Choose how much to keep by cross-validation.")
    ] = False,
    on_bad_row: options.OnBadRow = "raise",
    out: options.Out = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    memory: options.Memory = None,
    hash: options.Hash = None,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Select features, join them into conjunctions, and test whether they help a linear model."""
    asked = {name: value for name, value in locals().items() if name not in _ANEW}

    timing = Timing()
    inducer = ConjunctionInducer(
        score=score,
        aggregate=aggregate,
        keep=checked_amount("keep", keep),
        partners=checked_amount("partners", partners),
        max_length=max_length,
        pairs=pairs,
        final_keep=checked_amount("final_keep", final_keep),
        min_support=number(min_support),
        alternative=alternative,
        preset=preset,
        n_jobs=jobs,
    )
    with options.run_folder(out) as run, options.workers(dask):
        if run is not None:
            session.write_request(run, "induce", asked)
        with session.search_progress(f"reading {data.name}", quiet) as (say, progress):
            with timing.stage("read"):
                loaded = load_rows(
                    data, memory, hash, target=target, groups=groups, on_bad_row=on_bad_row
                )
            with timing.stage("fit"):
                study = run_study(
                    loaded,
                    inducer,
                    positive=positive,
                    domain=tuple(domain or ()),
                    seed=seed,
                    say=say,
                    grid=grid_of(preset) if search else None,
                    journal=None if run is None else run.path / "search.journal",
                    jobs=jobs,
                    progress=progress,
                    keep=lambda model: None if run is None else model.save(run.path / MODEL),
                )
        study["data"]["source"] = str(data)
        finish(study, run, timing, seed=seed, quiet=quiet, json=json)


def load_rows(data: Path, memory: str | None, hashed: int | None, **how: Any):
    """The data in blocks, where it can be read so and is asked for; else whole."""
    blocks = open_blocks(data, memory=memory, hashed=hashed, **how)
    return open_file(data, **how) if blocks is None else blocks


def grid_of(preset: str | None) -> dict[str, list]:
    """What a search chooses from: the paper's k and l, or the number of conjunctions."""
    if preset == "paper":
        return {name: list(values) for name, values in PAPER_GRID.items()}
    return {"final_keep": [250, 500, 1000, 2000, 4000]}


def run_study(loaded, inducer, *, domain=(), say, **how) -> dict[str, Any]:
    """Turn a table into features and study them; ``how`` goes to ``study_induction``."""
    if isinstance(loaded, Blocks):
        say("compiling kernels (first use only) and counting blocks")
        return study_induction(loaded, inducer, domain=domain, say=say, **how)
    if loaded.labels is None:
        message = "no classes; name the column that holds them by --target"
        if isinstance(loaded, NominalTable):
            message += f": {first_few(loaded.columns)}"
        raise ReadError(message, file=loaded.source)
    matrix = FeatureMatrix.from_table(loaded) if isinstance(loaded, NominalTable) else loaded
    for name in domain:
        if name not in matrix.families:
            raise InputError(no_such("column", name, matrix.families, " for --domain"))
    say("compiling kernels (first use only) and finding conjunctions")
    return study_induction(matrix, inducer, domain=domain, say=say, **how)


def finish(study: dict, run, timing, *, seed: int, quiet: bool, json: bool) -> None:
    """Write the run, then show the result in the way that was asked for."""
    result, page = session.write_result(study, run, timing, seed)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        show_result(result, page, {} if run is None else {"model": run.path / MODEL})


def checked_amount(name: str, text: str) -> float | int | str | None:
    """An amount as typed: a whole number, a share, a threshold, all, or auto.

    >>> [checked_amount("keep", text) for text in ("500", "0.25", "all", ">=3", "auto")]
    [500, 0.25, None, '>=3', 'auto']
    >>> checked_amount("keep", "2.5")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    featloom.errors.InputError: keep is 2.5; it must be a share above 0 and up to 1, ...
    """
    amount = None if text == "all" else number(text)
    if amount != "auto":
        # Told now rather than after a long reading; how many features there are does not matter.
        cut(name, amount, 1)
    return amount


def number(text: str) -> float | int | str:
    """A number where the text is one.

    >>> number("5"), number("0.5"), number("auto")
    (5, 0.5, 'auto')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
