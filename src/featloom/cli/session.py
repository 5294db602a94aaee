"""What commands that make a run share: the request, the progress of a search, the result.

``request.json`` holds the command and its options, so that ``featloom resume RUN`` can go on where
a run was stopped.  It holds plain JSON and only names options of commands; nothing in it runs.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from featloom.cli.recipes import lines_of_run
from featloom.errors import InputError, ReadError
from featloom.report.page import write_report
from featloom.results import SCHEMA
from featloom.runs import RESULT, encode_result, progress, versions
from featloom.search import Budget
from featloom.shown import visible
from featloom.words import shortened

REQUEST = "request.json"
# How long a run takes and what else it writes can be asked for anew; the rest makes another run.
_ANEW = frozenset({"budget", "jobs", "dask", "timbl"})
_FILES = ("data", "valid", "test")
# What experiments were called when a run may have been begun.
FORMER_NAMES = {"tree-templates": "trees", "template-search": "templates"}
_LONGEST = 60  # characters of an option that are shown


def write_request(run, command: str, options: Mapping[str, Any]) -> None:
    """Write down what was asked, before anything is done; what makes another run is refused."""
    plain = {name: str(v) if isinstance(v, Path) else v for name, v in options.items()}
    if (run.path / REQUEST).exists():
        before = _request(run)
        if difference := _difference(before, command, plain):
            raise InputError(
                f"{run.path} holds another run: {difference}; name another folder by --out, or go "
                f"on with that run by '{resume_command(run)}'"
            )
        if before["options"] == plain:
            return  # a run that is resumed keeps the words it was begun with
    elif (run.path / RESULT).exists():
        raise InputError(
            f"{run.path} holds a run without its {REQUEST}, which says what it is of; name another "
            "folder by --out"
        )
    # Files are named as they were typed, and a result is the same whether it was resumed or not.
    folder = os.getcwd()
    check_text(folder)
    request = {"command": command, "options": plain, "typed": _typed(), "folder": folder}
    run.write(REQUEST, encode_result(request))


def check_text(text: str) -> None:
    """Refuse a name that no result could hold, before any work is done.

    >>> check_text("m\N{LATIN SMALL LETTER U WITH DIAERESIS}ll.csv")
    >>> check_text("m\\udcfcll.csv")  # a byte of another encoding
    Traceback (most recent call last):
    featloom.errors.InputError: m\\udcfcll.csv is not UTF-8, as what results name must be; rename it
    """
    if "\0" in text:
        raise InputError(f"{visible(text)} names no file")
    try:
        text.encode()
    except UnicodeEncodeError:
        said = f"{visible(text)} is not UTF-8, as what results name must be; rename it"
        raise InputError(said) from None


def resume_command(run) -> str:
    """What goes on with a run.

    >>> from featloom.runs import Run
    >>> resume_command(Run(Path("my runs/tickets")))
    "featloom resume 'my runs/tickets'"
    """
    return shlex.join(["featloom", "resume", str(run.path)])


def _difference(before: dict[str, Any], command: str, options: Mapping[str, Any]) -> str:
    """What makes a command another one than the run was begun with, in words; "" if nothing."""
    if before["command"] != command:
        return f"it is of 'featloom {before['command']}', not of 'featloom {command}'"
    begun_in = before.get("folder")
    if not isinstance(begun_in, str) or not os.path.isdir(begun_in):
        begun_in = os.getcwd()
    for name, now in options.items():
        # One that is younger than the run was not asked for by anybody.
        was = before["options"].get(name, now)
        if name in _ANEW or was == now or (name in _FILES and _same_file(begun_in, was, now)):
            continue
        if name == "experiment" and FORMER_NAMES.get(was, was) == FORMER_NAMES.get(now, now):
            continue
        if name in ("data", "experiment"):
            return f"it is of {was}, not of {now}"
        return f"--{name.replace('_', '-')} was {_shown(was)} and is {_shown(now)} now"
    return ""


def _same_file(begun_in: str, was: Any, now: Any) -> bool:
    """Whether two names mean one file, the first of them as seen from another folder."""
    if not isinstance(was, str) or not isinstance(now, str):
        return False
    return os.path.realpath(os.path.join(begun_in, was)) == os.path.realpath(now)


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "not given"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return shortened(text, _LONGEST + 1)


def _typed() -> str:
    """The command as it was typed."""
    import sys

    return shlex.join(["featloom", *sys.argv[1:]])


def _begun_with(run) -> str:
    """The words that a run was begun with."""
    if run is None or not (run.path / REQUEST).exists():
        return _typed()
    return str(_request(run).get("typed") or _typed())


def read_request(run) -> tuple[str, dict[str, Any]]:
    """The command and the options of a run."""
    content = _request(run)
    for value in content["options"].values():
        check_text(str(value))
    return content["command"], content["options"]


@contextmanager
def where_it_began(run) -> Iterator[Path]:
    """Work in the folder in which a run was begun, as long as that is there: its files are named
    from there.  Yields the run's own folder as it is named from there."""
    folder = _request(run).get("folder")
    if not isinstance(folder, str) or not os.path.isdir(folder) or os.path.samefile(folder, "."):
        yield run.path
        return
    own = run.path.resolve()
    with chdir(folder):
        yield own


def _request(run) -> dict[str, Any]:
    import msgspec

    path = run.path / REQUEST
    try:
        content = dict(msgspec.json.decode(path.read_bytes()))
        return content | {
            "command": str(content["command"]),
            "options": dict(content["options"]),
        }
    except FileNotFoundError:
        raise ReadError("not there; this run cannot be resumed", file=str(path)) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError(f"cannot be read: {reason}", file=str(path)) from None
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, RecursionError):
        raise ReadError("not a request; this run cannot be resumed", file=str(path)) from None


@contextmanager
def search_progress(
    description: str, quiet: bool
) -> Iterator[tuple[Callable[[str], None], Callable[[int, int | None, float | None], None]]]:
    """The progress line of a search: a way to say what is done, and one to say how far it is."""
    with progress(description, quiet=quiet) as line:
        done_before = 0

        def advance(done: int, total: int | None, best: float | None) -> None:
            nonlocal done_before
            if done < done_before:
                done_before = 0
            line.of(total)
            line.advance(done - done_before, best=best)
            done_before = done

        yield line.say, advance


def by_the_clock(progress: Callable[..., object], budget: str | None) -> Callable[..., object]:
    """Progress in seconds where the budget is a time, for then they say how much is left."""
    seconds = Budget.of_time(budget).seconds
    if seconds is None:
        return progress
    begun = monotonic()

    def advance(done: int, total: int | None, best: float | None) -> None:
        progress(min(monotonic() - begun, seconds), seconds, best)

    return advance


def write_result(
    parts: Mapping[str, Any], run, timing, seed: int
) -> tuple[dict[str, Any], Path | None]:
    """The whole result, as plain values, and its page; both are written where there is a run."""
    import msgspec

    head = {
        "schema": SCHEMA, "command": _begun_with(run), "versions": versions(), "seed": seed,
        "timing": timing.as_dict(),
    }  # fmt: skip
    result: dict[str, Any] = msgspec.json.decode(encode_result(head | dict(parts)))
    if run is None:
        return result, None
    if lines := lines_of_run(run, parts):
        result.setdefault("use", lines)
    run.write_result(result)
    return result, write_page(run)


def write_page(run) -> Path | None:
    """The report of the run; without the packages that draw it, the result stands by itself."""
    import warnings

    try:
        return write_report(run)
    except InputError as error:
        if not isinstance(error.__cause__, ImportError):
            raise
        warnings.warn(f"no page beside {run.path / 'result.json'}: {error}", stacklevel=2)
        return None
