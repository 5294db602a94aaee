"""``featloom induce DATA --target COL``: find conjunctions, and say whether they help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from featloom.cli import options


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
    on_bad_row: options.OnBadRow = "raise",
    out: options.Out = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Select features, join them into conjunctions, and test whether they help a linear model."""
    from featloom.methods.induction import ConjunctionInducer
    from featloom.runs import Run, Timing, progress

    timing = Timing()
    run = None if out is None else Run.create(out)
    inducer = ConjunctionInducer(
        score=score,
        aggregate=aggregate,
        keep=amount(keep),
        partners=amount(partners),
        max_length=max_length,
        pairs=pairs,
        final_keep=amount(final_keep),
        min_support=amount(min_support),
        alternative=alternative,
        preset=preset,
        n_jobs=jobs,
    )
    with progress(f"reading {data.name}", quiet=quiet) as line:
        with timing.stage("read"):
            loaded = options.load(data, target=target, groups=groups, on_bad_row=on_bad_row)
        with timing.stage("fit"):
            study = run_study(loaded, inducer, positive, tuple(domain or ()), seed, line.say)
    study["data"]["source"] = str(data)
    finish(study, run, timing, seed=seed, quiet=quiet, json=json)


def run_study(loaded, inducer, positive, domain, seed, say) -> dict[str, Any]:
    """Turn a table into features and study them."""
    from featloom.data.matrix import FeatureMatrix
    from featloom.data.table import NominalTable
    from featloom.errors import InputError
    from featloom.methods.induction.study import study_induction

    matrix = FeatureMatrix.from_table(loaded) if isinstance(loaded, NominalTable) else loaded
    if matrix.labels is None:
        raise InputError("the data have no classes: name the column that holds them by --target")
    say("compiling kernels (first use only) and finding conjunctions")
    return study_induction(matrix, inducer, positive=positive, domain=domain, seed=seed, say=say)


def finish(study: dict, run, timing, *, seed: int, quiet: bool, json: bool) -> None:
    """Write the run, then show the result in the way that was asked for."""
    from featloom.runs import SCHEMA, encode_result, versions

    result = {
        "schema": SCHEMA,
        "command": options.command_line(),
        "versions": versions(),
        "seed": seed,
        "timing": timing.as_dict(),
        **study,
    }
    page = None
    if run is not None:
        from featloom.report.html import write_report

        run.write_result(result)
        page = write_report(run)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        show(result, page)


def show(result: dict, page: Path | None, most: int = 10) -> None:
    """Print the best conjunctions, the two models and the verdict."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    classes = sorted(result["data"]["classes"])
    table = Table(title=f"Best conjunctions by {result['induction']['score_label']}")
    table.add_column("conjunction", overflow="fold")
    for name in ("rows", *(classes if len(classes) <= 4 else ()), "score", "weight"):
        table.add_column(escape(str(name)), justify="right")
    for row in result["induction"]["conjunctions"][:most]:
        counts = [f"{n:,}" for n in row["class_counts"]] if len(classes) <= 4 else []
        table.add_row(
            escape(row["name"]),
            f"{row['support']:,}",
            *counts,
            f"{row['score']:.4g}",
            f"{row['weight']:+.2f}",
        )
    console.print(table)
    for model in result["models"]:
        low, high = model["interval"]
        console.print(
            f"{model['name']}: {model['metric']} {model['value']:.3f} "
            f"({low:.3f} to {high:.3f}), {model['features']:,} features",
            markup=False,
            highlight=False,
        )
    console.print(result["verdict"], markup=False, highlight=False)
    if page is not None:
        console.print(f"report: {page}", markup=False, highlight=False, soft_wrap=True)


def amount(text: str) -> float | int | str | None:
    """An amount as typed: a whole number, a share, a threshold, all, or auto.

    >>> amount("500"), amount("0.25"), amount("all"), amount(">=3"), amount("auto")
    (500, 0.25, None, '>=3', 'auto')
    """
    if text == "all":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("induce")(induce)
