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
from featloom.cli.show import show_result
from featloom.data.open import open_tasks
from featloom.methods.transfer.parts import transfer_parts
from featloom.methods.transfer.study import study_transfer
from featloom.runs import Timing, encode_result

MODEL, PRIOR = "model.featloom", "prior.json"
# A resumed run has the options it was begun with, but for where it lies and how it is shown.
_ANEW = frozenset({"out", "quiet", "json"})


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
        finish(study, run, timing, seed=seed, quiet=quiet, json=json)


def finish(study: dict[str, Any], run, timing, *, seed: int, quiet: bool, json: bool) -> None:
    """Write the run, then show the result in the way that was asked for."""
    import warnings

    result, page = session.write_result(study, run, timing, seed)
    if json or quiet:
        for warning in result["data"]["warnings"]:
            warnings.warn(warning, stacklevel=2)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        files = {} if run is None else {"prior": run.path / PRIOR, "model": run.path / MODEL}
        show_result(result, page, files)
