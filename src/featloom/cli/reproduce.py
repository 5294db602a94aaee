"""``featloom reproduce NAME``: a paper's experiment on public data, its table beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options, session
from featloom.shown import terminal

if TYPE_CHECKING:
    from types import ModuleType

    from rich.console import Console
    from rich.table import Table

EXPERIMENTS = ("induction", "trees", "templates", "memory", "transfer")
# The options that not all experiments have, with their defaults.
_OWN: dict[str, dict[str, Any]] = {
    "induction": {"rule": "standard_error"},
    "trees": {"only": None, "sample": None, "seeds": 5},
    "templates": {"only": None, "sample": None, "seeds": 5},
    "memory": {"only": None, "sample": None, "seeds": 5, "trials": None},
    "transfer": {"only": None, "sample": None, "seeds": 5},
}


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}.")],
    rule: Annotated[
        str,
        typer.Option(help="Choice in the grid: standard_error, standard_deviation or best."),
    ] = "standard_error",
    only: Annotated[
        str | None,
        typer.Option(
            help="One part: bosque, floresta, tables or chunks of trees, english or chinese of "
            "templates, unknown, known or letters of memory, table, curve or letters of transfer."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            help="Training sentences that trees and templates draw, rows that memory does, or "
            "tasks that transfer does, for a quick look."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="How often searches and models that draw at random are repeated.")
    ] = 5,
    trials: Annotated[
        int | None, typer.Option(help="Evaluations of each search of memory; default: all it asks.")
    ] = None,
    budget: Annotated[str | None, typer.Option(hidden=True)] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the run.")] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Repeat the experiment of a paper; everything finished is kept, and resumed if stopped."""
    from featloom.errors import InputError
    from featloom.runs import Timing
    from featloom.search import Budget

    if budget is not None:
        raise InputError(f"experiments have no --budget; for {budget} evaluations say --trials")
    Budget.of(None, trials)
    given = {"rule": rule, "only": only, "sample": sample, "seeds": seeds, "trials": trials}
    name = session.FORMER_NAMES.get(experiment, experiment)
    own = _own_options(name, given)
    timing = Timing()
    asked = {"experiment": experiment, **own, "seed": seed, "jobs": jobs, "dask": dask}
    folder = out or Path("runs") / f"reproduce-{experiment}"
    module, runner = _module("tree_templates" if name == "trees" else name), _module("runner")
    with options.run_folder(folder) as run, options.workers(dask):
        assert run is not None
        session.write_request(run, "reproduce", asked)
        with session.search_progress(experiment, quiet) as (say, progress), timing.stage("search"):
            how = {**own, "jobs": jobs, "seed": seed, "say": say, "progress": progress}
            if hasattr(module, "EXPERIMENT"):
                found = runner.reproduce(module.EXPERIMENT, run, **how)
            else:
                found = getattr(module, f"reproduce_{module.__name__[12:]}")(run, **how)
        result, page = session.write_result(found, run, timing, seed)
    if json:
        from featloom.runs import encode_result

        typer.echo(encode_result(result))
    elif not quiet and hasattr(module, "EXPERIMENT"):
        runner.show(module.EXPERIMENT, result, page)
    elif not quiet:
        show(result, page)


def _own_options(experiment: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options of an experiment; one that belongs to another is refused."""
    from featloom.errors import InputError

    if experiment not in EXPERIMENTS:
        raise InputError(f"no experiment {experiment!r}; there are {', '.join(EXPERIMENTS)}")
    for other, defaults in _OWN.items():
        for name, default in defaults.items():
            if name not in _OWN[experiment] and given[name] != default:
                raise InputError(f"--{name} is for the experiment {other!r}, not {experiment!r}")
    return {name: given[name] for name in _OWN[experiment]}


def _module(name: str) -> ModuleType:
    """A module of the experiments, which lie beside the sources."""
    import sys
    from importlib import import_module

    import featloom
    from featloom.errors import InputError

    root = Path(featloom.__file__).parents[2]
    if not (root / "experiments" / "__init__.py").is_file():
        raise InputError(
            "the experiments of the papers are not part of the package; they come with its "
            "repository, for whoever installs it from there by 'pip install -e .'"
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))  # processes that are started inherit it
    return import_module(f"experiments.{name}")


def show(result: dict, page: Path | None) -> None:
    """Print the table of the paper beside ours."""
    console = terminal()
    if result["kind"] == "tree_templates":
        _show_tree_templates(console, result)
    else:
        from featloom.cli.transfer_tables import show_transfer

        show_transfer(console, result)
    if page is not None:
        console.print(f"report: {page}", markup=False, highlight=False, soft_wrap=True)


def _show_tree_templates(console: Console, result: dict) -> None:
    """Table 3.2 of the chapter with our figures, and the other tables that templates serve."""
    trees = result["trees"]
    tests: dict[str, dict] = {}
    for test in result["comparisons"]:
        tests.setdefault(test["a"], test)  # the first is the one against the baseline
    for warning in result["data"]["warnings"]:
        console.print(warning, markup=False, highlight=False)
    for title in dict.fromkeys(row["data"] for row in trees["systems"]):
        rows = [row for row in trees["systems"] if row["data"] == title]
        console.print(title, style="italic", markup=False, highlight=False)
        make = _attachment_table if rows[0]["metric"] == "UAS" else _systems_table
        console.print(make(rows, tests))
    for part in trees["parts"].values():
        for words in part["findings"]:
            console.print(words, "\n", sep="", markup=False, highlight=False)
    if any(row["metric"] == "UAS" for row in trees["systems"]):
        console.print(
            "Table 3.2 of the chapter: UAS on test in per cent, without punctuation, and of all"
            f" tokens; mean of {result['parameters']['seeds']} seeds and their sd.  gain and p:"
            " against manual templates with the same training, by a paired bootstrap over"
            " sentences.  chapter: its figures, on the Portuguese of CoNLL-2006 with a"
            " perceptron; how it came by chunk and clause it does not say.",
            markup=False, highlight=False,
        )  # fmt: skip
    if any(row["metric"] != "UAS" for row in trees["systems"]):
        console.print(
            "gain and p: against the first row of a table, by McNemar's test of rows or a paired"
            " bootstrap of chunks over sentences.  Features of LightGBM are the leaves of its"
            " trees.  Seconds are those of one training on one thread.",
            markup=False, highlight=False,
        )  # fmt: skip


def _attachment_table(rows: list[dict], tests: dict[str, dict]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("basic features", no_wrap=True)
    table.add_column("generation", no_wrap=True)
    for name in ("UAS", "sd", "all", "gain", "p", "sets", "chapter"):
        table.add_column(name, justify="right", no_wrap=True)
    before = None
    for row in rows:
        if row["training"] != before:
            if before is not None:
                table.add_section()
            table.add_row(f"[italic]{row['training']}[/italic]")
            before = row["training"]
        test = tests.get(f"{row['data']}: {row['name']}")
        table.add_row(
            row["basic"],
            row["generation"],
            f"{100 * row['value']:.2f}",
            "" if row["sd"] is None else f"{100 * row['sd']:.2f}",
            f"{100 * row['with_punctuation']:.2f}",
            "" if test is None else f"{100 * test['difference']:+.2f}",
            "" if test is None else _p(test["p"]),
            f"{row['templates']:,}",
            "" if row["published"] is None else f"{row['published']:.2f}",
        )
    return table


def _systems_table(rows: list[dict], tests: dict[str, dict]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("", no_wrap=True)
    for name in (rows[0]["metric"], "95 %", "gain", "p", "templates", "features", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        test = tests.get(f"{row['data']}: {row['name']}")
        table.add_row(
            row["name"],
            f"{100 * row['value']:.2f}",
            "–".join(f"{100 * bound:.1f}" for bound in row["interval"]),
            "" if test is None else f"{100 * test['difference']:+.2f}",
            "" if test is None else _p(test["p"]),
            "" if row["templates"] is None else f"{row['templates']:,}",
            f"{row['features']:,}",
            f"{row['seconds']:.1f}",
        )
    return table


def _p(p: float | None) -> str:
    return "" if p is None else "<.001" if p < 0.001 else f"{p:.3f}"


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("reproduce")(reproduce)
