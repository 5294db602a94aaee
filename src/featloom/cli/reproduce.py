"""``featloom reproduce NAME``: a paper's experiment on public data, its table beside ours."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from featloom.cli import options, session
from featloom.errors import InputError
from featloom.runs import Timing, encode_result
from featloom.search import Budget

EXPERIMENTS = ("induction", "trees", "templates", "memory", "transfer")
# The options that not all experiments have, with their defaults.
_PARTS: dict[str, Any] = {"only": None, "sample": None, "seeds": 5}
_OWN: dict[str, dict[str, Any]] = {
    "induction": {"rule": "standard_error"},
    "trees": _PARTS,
    "templates": _PARTS,
    "memory": {**_PARTS, "trials": None},
    "transfer": _PARTS,
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
    """Repeat the experiment of a paper; everything finished is kept, and resumed if stopped.

    The experiments come with the repository, from which featloom is then to be installed.
    """
    if budget is not None:
        raise InputError(f"experiments have no --budget; for {budget} evaluations say --trials")
    Budget.of(None, trials)
    given = {"rule": rule, "only": only, "sample": sample, "seeds": seeds, "trials": trials}
    name = session.FORMER_NAMES.get(experiment, experiment)
    own = _own_options(name, given)
    runner, one = (_beside_the_sources(module) for module in ("runner", name))
    timing = Timing()
    asked = {"experiment": experiment, **own, "seed": seed, "jobs": jobs, "dask": dask}
    folder = out or Path("runs") / f"reproduce-{experiment}"
    with options.run_folder(folder) as run, options.workers(dask):
        assert run is not None
        session.write_request(run, "reproduce", asked)
        with session.search_progress(experiment, quiet) as (say, progress), timing.stage("search"):
            how = {"jobs": jobs, "seed": seed, "say": say, "progress": progress}
            found = runner.reproduce(one.EXPERIMENT, run, **own, **how)
        result, page = session.write_result(found, run, timing, seed)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        runner.show(result, page)


def _own_options(experiment: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options of an experiment; one that belongs to another is refused."""
    if experiment not in EXPERIMENTS:
        raise InputError(f"no experiment {experiment!r}; there are {', '.join(EXPERIMENTS)}")
    for other, defaults in _OWN.items():
        for name, default in defaults.items():
            if name not in _OWN[experiment] and given[name] != default:
                raise InputError(f"--{name} is for the experiment {other!r}, not {experiment!r}")
    return {name: given[name] for name in _OWN[experiment]}


def _beside_the_sources(module: str) -> Any:
    """A module of the experiments, which are not part of the package."""
    root = Path(__file__).parents[3]
    if not (root / "experiments" / "runner.py").is_file():
        raise InputError(
            "the experiments of the papers come with the repository, not with the package: clone "
            "it and install it from there by 'pip install -e .'"
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))  # other processes of a search begin with the same
    return import_module(f"experiments.{module}")
