"""``featloom discover DATA --target COL``: try everything that applies, and say what helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options, session
from featloom.cli.recipes import lines_to_use
from featloom.cli.show import show_chosen, show_leaderboard, time_words
from featloom.data.open import open_any
from featloom.data.room import share_to_read
from featloom.discover.discovery import compare_all, time_for
from featloom.discover.front import FOLDS, JOURNAL, ask, marks_of
from featloom.discover.progress import Progress
from featloom.errors import InputError
from featloom.runs import MODEL, Timing, encode_result
from featloom.search import Interrupted
from featloom.shown import terminal

if TYPE_CHECKING:
    from featloom.discover import Discovery
    from featloom.search import Budget

_ANEW = frozenset({"out", "quiet", "json"})
_ASKED = ("kind", "task", "positive", "bins", "judge_by", "class_weight")
_IN_PYTHON = ("target", "kind", "groups", "task", "test", "positive", "bins", "sample", "trials")


def discover(
    data: options.Data,
    target: options.Target = None,
    kind: Annotated[
        str | None, typer.Option(help="table, sequence, trees or tasks; default: as recognised.")
    ] = None,
    groups: options.Groups = None,
    task: Annotated[
        str | None, typer.Option(help="Column that names the task of a row (kind tasks).")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="File to report on; default a fifth of the data.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Class whose F1 counts; default the rarer of two.")
    ] = None,
    judge_by: Annotated[
        str,
        typer.Option(help="What tables are judged by: log-loss, AUC, accuracy, F1, Brier score."),
    ] = "log-loss",
    class_weight: Annotated[
        str | None, typer.Option(help="balanced: every class of a table weighs the same.")
    ] = None,
    bins: Annotated[
        int | None, typer.Option(help="Ranges to cut a target of numbers into.")
    ] = None,
    sample: Annotated[
        float | None,
        typer.Option(help="Share of the rows to read, drawn; default all that fit into memory."),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(help="Time for all: 90, 90s, 10m, 2h; auto: 10m, or no limit with --trials."),
    ] = "auto",
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Settings of each contender to try; then no time decides."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Contender to try; repeatable.  Default: all.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Contender to leave out; repeatable.")
    ] = None,
    on_bad_row: options.OnBadRow = "raise",
    out: options.Out = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Compare every applicable method with tuned baselines, and choose one."""
    asked = {name: value for name, value in locals().items() if name not in _ANEW}

    time_for(budget, trials)  # a wrong one is refused before anything is read
    timing, begun = Timing(), monotonic()
    with options.run_folder(out) as run, options.workers(dask):
        share, noticed = share_to_read(data, sample, columns=(target, groups))
        if share < 1:
            asked["sample"] = share  # a run that is resumed reads the same rows
        if run is not None:
            session.write_request(run, "discover", asked)
        how: dict[str, Any] = {
            "target": target, "groups": groups, "task": task, "on_bad_row": on_bad_row,
        }  # fmt: skip
        with timing.stage("read"):
            loaded = open_any(data, **how, numbers=bins is not None, share=share, seed=seed)
            held_out = None if test is None else open_any(test, **how, numbers=bins is not None)
        answer(
            loaded, held_out, run, timing, source=str(data), typed=asked, noticed=noticed,
            since=begun, quiet=quiet, json=json,
        )  # fmt: skip


def answer(
    loaded: Any, held_out: Any, run, timing, *, source: str, typed: Mapping[str, Any],
    noticed: Sequence[str], since: float, quiet: bool, json: bool,
) -> None:  # fmt: skip
    """Compare, write the run, and show what was found; after Ctrl-C, what was finished."""
    how = {name: typed[name] for name in _ASKED if name in typed}
    question, is_test, warnings = ask(loaded, test=held_out, **how)
    warnings = [*noticed, *warnings]
    if not quiet and not json:
        terminal().say(f"{source}: taken for {question.words}")
    journal = None if run is None else (run.path / JOURNAL, marks_of(question, is_test))
    shown: dict[str, Any] = {"source": source, "typed": typed, "quiet": quiet, "json": json}
    stopped = None
    budget = time_for(typed["budget"], typed["trials"])
    with live_table(question, quiet or json, budget, since) as watch:
        try:
            with timing.stage("compare"):
                found = compare_all(
                    question, budget=budget, trials=typed["trials"],
                    n_folds=FOLDS[question.kind], is_test=is_test, journal=journal,
                    only=typed["only"] or None, drop=typed.get("drop") or (), warnings=warnings,
                    seed=typed["seed"], jobs=typed["jobs"], watch=watch, since=since,
                )  # fmt: skip
        except Interrupted as stop:
            found, stopped = stop.discovery, stop  # type: ignore[attr-defined]
    # Not before the table that grew is gone, which would take the last lines with it.
    finish(found, run, timing, **shown)
    if stopped is not None:
        raise stopped


def live_table(
    question: Any, quiet: bool, budget: Budget | None = None, since: float | None = None
) -> Progress:
    """The scores so far, on a terminal; elsewhere nothing."""
    return Progress(
        question.metric,
        lower_is_better=getattr(question, "lower_is_better", False),
        budget=budget,
        verbose=False if quiet else None,
        since=since,
    )


def finish(
    found: Discovery, run, timing, *, source: str, typed: Mapping[str, Any], quiet: bool,
    json: bool,
) -> None:  # fmt: skip
    """Write the run, then show the result in the way that was asked for."""
    import warnings

    parts = found.result
    parts["data"]["source"] = source
    try:
        if run is not None and found.fitted is not None:
            parts["files"] = found.save(run.path)
            _remove_others(run, parts["files"])
        parts["use"] = _use(found, run, source, typed)
        result, page = session.write_result(parts, run, timing, typed["seed"])
    except (InputError, KeyboardInterrupt):
        # What took minutes to find is worth more than the file it cannot be written to.
        if not quiet and not json:
            show(parts, None, None)
        raise
    for warning in result["data"]["warnings"]:
        warnings.warn(warning, stacklevel=2)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        show(result, page, run)


def _remove_others(run, files: Sequence[str]) -> None:
    """Take away what an earlier result of the run had and this one has not: it is no longer so."""
    from contextlib import suppress

    with suppress(InputError, OSError):
        for name in run.result().get("files", []):
            if name not in files and Path(name).name == name:
                (run.path / name).unlink(missing_ok=True)


def show(result: dict[str, Any], page: Path | None, run) -> None:
    """Print the leaderboard, what the chosen model is worth, and the verdict."""
    console = terminal()
    console.say(result["protocol"])
    show_leaderboard(console, result)
    if result["chosen"]:
        console.say(f"chosen: {result['chosen']}, {result['chosen_why']}")
    show_chosen(console, result)
    console.say(result["verdict"])
    for words in time_words(result):
        console.say(words)
    if run is not None and result.get("files"):
        console.say(f"model: {run.path / result['files'][0]}")
    if page is not None:
        console.say(f"report: {page}")


def _use(found: Discovery, run, source: str, typed: Mapping[str, Any]) -> list[dict[str, str]]:
    """How to use what was chosen, on the command line and in Python."""
    if found.fitted is None:
        return []
    kind = found.question.kind
    folder = "RUN" if run is None else str(run.path)
    said = []
    if MODEL in found.result.get("files", [MODEL]):
        said += lines_to_use(kind, folder, source, typed["target"])
    given = {name: typed[name] for name in _IN_PYTHON if typed[name] is not None}
    if typed.get("judge_by", "log-loss") != "log-loss":
        given["judge_by"] = typed["judge_by"]
    if typed.get("class_weight") is not None:
        given["class_weight"] = typed["class_weight"]
    arguments = [repr(source)] + [
        f"{name}={str(value)!r}" if isinstance(value, Path) else f"{name}={value!r}"
        for name, value in given.items()
    ]
    said.append(
        {
            "title": "the comparison, in Python",
            "code": "from featloom import discover\n\n"
            f"found = discover({', '.join(arguments)})\n"
            "print(found.verdict)\nmodel = found.pipeline()\n",
        }
    )
    return said
