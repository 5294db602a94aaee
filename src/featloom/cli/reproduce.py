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
    from featloom.runs import Timing

    if experiment not in EXPERIMENTS:
        raise InputError(f"no experiment {experiment!r}; there are {', '.join(EXPERIMENTS)}")
    timing = Timing()
    asked = {"experiment": experiment, "rule": rule, "seed": seed, "jobs": jobs}
    with options.run_folder(out or Path("runs") / f"reproduce-{experiment}") as run:
        assert run is not None
        session.write_request(run, "reproduce", asked)
        with session.search_progress(experiment, quiet) as (say, progress), timing.stage("search"):
            found = reproduce_induction(
                run, rule=rule, jobs=jobs, seed=seed, say=say, progress=progress
            )
        result, page = session.write_result(found, run, timing, seed)
    if json:
        from featloom.runs import encode_result

        typer.echo(encode_result(result))
    elif not quiet:
        show(result, page)


def show(result: dict, page: Path | None) -> None:
    """Print the table of the paper beside ours."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    tests = {test["a"]: test for test in result["comparisons"]}
    table = Table(title=f"{result['models'][0]['metric']} on the test documents")
    table.add_column("model", no_wrap=True)
    for name in ("k", "l", "features", "CV", "test", "gain", "p", "published"):
        table.add_column(name, justify="right", no_wrap=True)
    for model in result["models"]:
        test = tests.get(model["name"])
        table.add_row(
            escape(model["name"]),
            "" if model["keep"] is None else f"{model['keep']:.2%}",
            "" if model["partners"] is None else f"{model['partners']:.2%}",
            f"{model['features']:,}",
            f"{model['cross_validated']:.3f}",
            f"{model['value']:.3f}",
            "" if test is None else f"{test['difference']:+.3f}",
            "" if test is None else f"{test['p']:.3f}",
            f"{model['published']:.2f}",
        )
    console = Console()
    console.print(table)
    console.print(result["verdict"], markup=False, highlight=False)
    if page is not None:
        console.print(f"report: {page}", markup=False, highlight=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("reproduce")(reproduce)
