"""``featloom transfer DATA --task COL --target COL``: does it help to know other tasks' features?

DATA has rows of many small tasks: one customer, site or word each.  Which features are relevant is
learned from all tasks, handed to each of them (never from itself), and compared with the same
model without it, beside controls.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from featloom.cli import options, session
from featloom.data.open import open_tasks
from featloom.methods.transfer.parts import transfer_parts
from featloom.methods.transfer.study import study_transfer
from featloom.runs import Timing, encode_result
from featloom.shown import terminal
from featloom.words import p_value

MODEL, PRIOR = "model.featloom", "prior.json"
# A resumed run has the options it was begun with, but for where it lies and how it is shown.
_ANEW = frozenset({"out", "quiet", "json"})
_SHOWN = 10


def transfer(
    data: options.Data,
    task: Annotated[
        str | None, typer.Option("--task", help="Column that tells the task of a row.")
    ] = None,
    target: options.Target = None,
    test: Annotated[
        Path | None, typer.Option(help="File to report on; default a fifth of every task.")
    ] = None,
    groups: options.Groups = None,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Learn from so many rows of each task at most.")
    ] = None,
    on_bad_row: options.OnBadRow = "raise",
    out: options.Out = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Learn which features matter from many small tasks, and test whether it helps each."""
    asked = {name: value for name, value in locals().items() if name not in _ANEW}

    timing = Timing()
    with options.run_folder(out) as run:
        if run is not None:
            session.write_request(run, "transfer", asked)

        def keep(name: str, found: Any) -> None:
            if run is not None:
                found.save(run.path / {"prior": PRIOR, "model": MODEL}[name])

        with session.search_progress(f"reading {data.name}", quiet) as (say, progress):
            with timing.stage("read"):
                how: dict[str, Any] = {"task": task, "target": target, "groups": groups}
                how["on_bad_row"] = on_bad_row
                whole = open_tasks(data, **how)
                held_out = None if test is None else open_tasks(test, **how)
                parts = transfer_parts(whole, held_out, rows=rows, seed=seed)
            with timing.stage("fit"):
                study = study_transfer(
                    whole, parts, curve=rows is None, seed=seed, jobs=jobs, say=say,
                    progress=progress, keep=keep,
                )  # fmt: skip
        study["data"]["source"] = str(data)
        study["sizes"] = {"train": len(parts.train), "test": len(parts.test)}
        finish(study, run, timing, seed=seed, quiet=quiet, json=json)


def finish(study: dict[str, Any], run, timing, *, seed: int, quiet: bool, json: bool) -> None:
    """Write the run, then show the result in the way that was asked for."""
    import warnings

    result, page = session.write_result(study, run, timing, seed)
    for warning in result["data"]["warnings"]:
        warnings.warn(warning, stacklevel=2)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        show(result, page, None if run is None else run.path)


def show(result: dict[str, Any], page: Path | None, folder: Path | None) -> None:
    """Print the methods, the likeliest families and the verdict."""
    from rich.markup import escape
    from rich.table import Table

    console = terminal()
    line = console.say

    part, sizes = result["transfer"], result["sizes"]
    line(f"{part['tasks']:,} tasks, {sizes['train']:,} training rows, {sizes['test']:,} test rows")
    line(result["protocol"])
    table = Table()
    table.add_column("method", overflow="fold")
    for name in ("right", "95 %", "t", "p", "features"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in part["methods"]:
        low, high = (100 * bound for bound in row["interval"])
        table.add_row(
            escape(row["name"]) + (" *" if row["kind"] == "control" else ""),
            f"{100 * row['value']:.2f}",
            f"{low:.2f}–{high:.2f}",
            "" if row["t"] is None else f"{row['t']:+.2f}",
            p_value(row["p"]),
            f"{row['features']:,.1f}",
        )
    console.print(table)
    line(
        "*: a control; t, p: paired over tasks, selection against one flat cost, others against "
        "the linear SVM; features: mean of a task"
    )
    families = part["families"][:_SHOWN]
    line("likeliest families: " + ", ".join(f"{f['name']} {f['rate']:.1%}" for f in families))
    line(result["verdict"])
    if folder is not None and (folder / PRIOR).exists():
        line(f"prior: {folder / PRIOR}")
        line(f"model: {folder / MODEL}")
    if page is not None:
        line(f"report: {page}")
