"""``featloom discover DATA --target COL``: try everything that applies, and say what helps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options, session

if TYPE_CHECKING:
    from featloom.discover import Discovery
    from featloom.discover.discovery import Watch

_ANEW = frozenset({"out", "quiet", "json"})
_USES = {"table": "predict", "sequence": "tag", "trees": "parse"}


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
    budget: Annotated[str, typer.Option(help="Time for all of it: 90s, 10m, 2h.")] = "10m",
    only: Annotated[
        list[str] | None, typer.Option(help="Contender to try; repeatable.  Default: all.")
    ] = None,
    on_bad_row: options.OnBadRow = "raise",
    out: options.Out = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Compare every applicable method with tuned baselines, and choose one."""
    asked = {name: value for name, value in locals().items() if name not in _ANEW}
    from featloom.runs import Timing

    timing = Timing()
    with options.run_folder(out) as run:
        if run is not None:
            session.write_request(run, "discover", asked)
        with timing.stage("read"):
            loaded = load_any(data, target=target, groups=groups, task=task, on_bad_row=on_bad_row)
            held_out = (
                None
                if test is None
                else load_any(test, target=target, groups=groups, task=task, on_bad_row=on_bad_row)
            )
        answer(
            loaded, held_out, run, timing, source=str(data), kind=kind, task=task,
            positive=positive, budget=budget, only=only or None, seed=seed, jobs=jobs,
            quiet=quiet, json=json,
        )  # fmt: skip


def answer(
    loaded: Any, held_out: Any, run, timing, *, source: str, seed: int, jobs: int, quiet: bool,
    json: bool, kind: str | None = None, task: str | None = None, positive: str | None = None,
    budget: str = "10m", only: list[str] | None = None,
) -> None:  # fmt: skip
    """Compare, write the run, and show what was found; after Ctrl-C, what was finished."""
    from featloom.discover.discovery import compare_all
    from featloom.discover.front import FOLDS, JOURNAL, ask, marks_of
    from featloom.search import Interrupted

    question, is_test, warnings = ask(
        loaded, kind=kind, task=task, test=held_out, positive=positive
    )
    if not quiet and not json:
        typer.echo(f"{source}: taken for {question.words}")
    journal = None if run is None else (run.path / JOURNAL, marks_of(question, is_test))
    with live_table(question, quiet or json) as watch:
        try:
            with timing.stage("compare"):
                found = compare_all(
                    question, budget=budget, n_folds=FOLDS[question.kind], is_test=is_test,
                    journal=journal, only=only, warnings=warnings, seed=seed, jobs=jobs,
                    watch=watch,
                )  # fmt: skip
        except Interrupted as stop:
            finish(stop.discovery, run, timing, source, seed=seed, quiet=quiet, json=json)  # type: ignore[attr-defined]
            raise
    finish(found, run, timing, source, seed=seed, quiet=quiet, json=json)


def load_any(
    data: Path, *, target: str | None, groups: str | None, task: str | None, on_bad_row: str
) -> Any:
    """What DATA names: rows of many tasks where a task is named, else a table or sentences."""
    import os

    from featloom.cli.transfer import ARCHIVES, load_rows

    if task is not None or (not os.path.exists(data) and str(data) in ARCHIVES):
        return load_rows(data, task=task, target=target, groups=groups, on_bad_row=on_bad_row)
    return options.load(data, target=target, groups=groups, on_bad_row=on_bad_row)


def live_table(question: Any, quiet: bool):
    """The scores so far, on a terminal; elsewhere nothing."""
    from contextlib import contextmanager

    from featloom.discover.discovery import Watch

    @contextmanager
    def shown():
        import sys

        if quiet or not sys.stderr.isatty():
            yield Watch()
            return
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
            yield _watching(question, live.update)

    return shown()


def _watching(question: Any, update: Callable[[Any], None]) -> Watch:
    """A table of the scores so far, with the time."""
    from time import monotonic

    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    from featloom.discover.discovery import Watch

    begun = monotonic()
    scores: dict[str, list[float]] = {}
    sizes: dict[str, str] = {}
    doing = ["comparing"]

    def draw() -> None:
        table = Table(title=None)
        table.add_column("contender", overflow="fold")
        for name in (question.metric, "trials", "size"):
            table.add_column(name, justify="right")
        ranked = sorted(scores.items(), key=lambda one: -sum(one[1]) / len(one[1]))
        for name, found in ranked:
            mean = sum(found) / len(found)
            table.add_row(escape(name), f"{100 * mean:.2f}", str(len(found)), sizes.get(name, ""))
        spent = monotonic() - begun
        update(Group(table, Text(f"{doing[0]} · {spent:.0f} s · Ctrl-C keeps what is finished")))

    def on_trial(one: Any) -> None:
        if "fault" not in one.result and one.candidate["fold"] != "test":
            scores.setdefault(one.candidate["method"], []).append(one.score)
            sizes[one.candidate["method"]] = one.result["size_words"]
        draw()

    def say(words: str) -> None:
        doing[0] = words
        draw()

    return Watch(say=say, on_trial=on_trial)


def finish(
    found: Discovery, run, timing, source: str, *, seed: int, quiet: bool, json: bool
) -> None:
    """Write the run, then show the result in the way that was asked for."""
    import warnings

    from featloom.runs import encode_result

    parts = found.result
    parts["data"]["source"] = source
    if run is not None and found.fitted is not None:
        parts["files"] = found.save(run.path)
    parts["use"] = _use(found, run, source)
    result, page = session.write_result(parts, run, timing, seed)
    for warning in result["data"]["warnings"]:
        warnings.warn(warning, stacklevel=2)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        show(result, page, run)


def show(result: dict[str, Any], page: Path | None, run) -> None:
    """Print the leaderboard and the verdict."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()

    def line(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    line(result["protocol"])
    table = Table()
    table.add_column("contender", overflow="fold")
    for name in (f"{result['metric']}, folds", "95 %", "test", "size", "fit"):
        table.add_column(escape(name), justify="right")
    rest = []
    for row in result["leaderboard"]:
        if row["status"] != "finished":
            rest.append(f"{row['name']}: {row['status']}, {row['why']}")
            continue
        low, high = (100 * bound for bound in row["interval"])
        mark = " ←" if row["chosen"] else ""
        table.add_row(
            escape(row["name"]) + mark,
            f"{100 * row['value']:.2f}",
            f"{low:.1f}–{high:.1f}",
            f"{100 * row['test']:.2f}",
            escape(row["size_words"]),
            f"{row['fit_s']:.1f} s",
        )
    console.print(table)
    for text in rest:
        line(text)
    if result["chosen"]:
        line(f"chosen: {result['chosen']}, {result['chosen_why']}")
    line(result["verdict"])
    budget = result["budget"]
    if budget["stopped"] != "finished":
        line(f"stopped after {budget['spent']:.0f} s: {budget['stopped']}")
    if run is not None and result.get("files"):
        line(f"model: {run.path / result['files'][0]}")
    if page is not None:
        line(f"report: {page}")


def _use(found: Discovery, run, source: str) -> list[dict[str, str]]:
    """How to use what was chosen, on the command line and in Python."""
    from featloom.data.corpora import names_corpus

    question = found.question
    folder = "RUN" if run is None else str(run.path)
    said = []
    if question.kind in _USES:
        command = f"featloom {_USES[question.kind]} {folder} NEW_FILE"
        said.append({"title": "on the command line", "code": command})
    target = getattr(getattr(question, "data", None), "target", "") or ""
    arguments = repr(source)
    if question.kind == "table" and not names_corpus(source):
        arguments += f", target={target!r}"
    said.append(
        {
            "title": "in Python",
            "code": "from featloom import discover\n\n"
            f"found = discover({arguments})\n"
            "print(found.verdict)\nmodel = found.pipeline()\n",
        }
    )
    return said


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("discover")(discover)
