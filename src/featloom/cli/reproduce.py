"""``featloom reproduce NAME``: a paper's experiment on public data, its table beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featloom.cli import options, session

EXPERIMENTS = ("induction",)


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}.")],
    rule: Annotated[
        str,
        typer.Option(help="Choice in the grid: standard_error, standard_deviation or best."),
    ] = "standard_error",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the run.")] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Repeat the experiment of a paper; everything finished is kept, and resumed if stopped."""
    from featloom.errors import InputError
    from featloom.experiments.induction import reproduce_induction
    from featloom.runs import Run, Timing

    if experiment not in EXPERIMENTS:
        raise InputError(f"no experiment {experiment!r}; there are {', '.join(EXPERIMENTS)}")
    run = Run.create(out or Path("runs") / f"reproduce-{experiment}")
    session.write_request(
        run, "reproduce", {"experiment": experiment, "rule": rule, "seed": seed, "jobs": jobs}
    )
    timing = Timing()
    with session.search_progress(experiment, quiet) as (say, progress), timing.stage("search"):
        result = reproduce_induction(
            run, rule=rule, jobs=jobs, seed=seed, say=say, progress=progress
        )
    result = session.write_result(result, run, timing, seed)
    if json:
        from featloom.runs import encode_result

        typer.echo(encode_result(result))
    elif not quiet:
        show(result, run)


def show(result: dict, run) -> None:
    """Print the table of the paper beside ours."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    tests = {test["a"]: test for test in result["comparisons"]}
    table = Table(title=f"{result['models'][0]['metric']} on the test documents")
    for name in ("model", "setting"):
        table.add_column(name, overflow="fold")
    for name in ("features", "CV", "test", "95 %", "gain", "p", "published"):
        table.add_column(name, justify="right")
    for model in result["models"]:
        test = tests.get(model["name"])
        table.add_row(
            escape(model["name"]),
            escape(model["setting"]),
            f"{model['features']:,}",
            f"{model['cross_validated']:.3f}",
            f"{model['value']:.3f}",
            "{:.3f}–{:.3f}".format(*model["interval"]),
            "" if test is None else f"{test['difference']:+.3f}",
            "" if test is None else f"{test['p']:.3f}",
            f"{model['published']:.2f}",
        )
    console = Console()
    console.print(table)
    console.print(result["verdict"], markup=False, highlight=False)
    console.print(
        f"report: {run.path / 'report.html'}", markup=False, highlight=False, soft_wrap=True
    )


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("reproduce")(reproduce)
