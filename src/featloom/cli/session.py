"""What commands that make a run share: the request, the progress of a search, the result.

``request.json`` holds the command and its options, so that ``featloom resume RUN`` can go on where
a run was stopped.  It holds plain JSON and only names options of commands; nothing in it runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

REQUEST = "request.json"


def write_request(run, command: str, options: Mapping[str, Any]) -> None:
    """Write down what was asked, before anything is done."""
    from featloom.runs import encode_result

    plain = {name: str(v) if isinstance(v, Path) else v for name, v in options.items()}
    if (run.path / REQUEST).exists() and read_request(run) == (command, plain):
        return  # a run that is resumed keeps the words it was begun with
    # Files are named as they were typed, and a result is the same whether it was resumed or not.
    request = {"command": command, "options": plain, "typed": _typed(), "folder": os.getcwd()}
    run.write(REQUEST, encode_result(request))


def _typed() -> str:
    """The command as it was typed."""
    import shlex
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

    from featloom.errors import ReadError

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
    from featloom.runs import progress

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


def write_result(
    parts: Mapping[str, Any], run, timing, seed: int
) -> tuple[dict[str, Any], Path | None]:
    """The whole result and its page; both are written where there is a run."""
    from featloom.runs import SCHEMA, versions

    result = {
        "schema": SCHEMA,
        "command": _begun_with(run),
        "versions": versions(),
        "seed": seed,
        "timing": timing.as_dict(),
        **parts,
    }
    if run is None:
        return result, None
    run.write_result(result)
    return result, write_page(run)


def write_page(run) -> Path | None:
    """The report of the run; without the packages that draw it, the result stands by itself."""
    import warnings

    from featloom.errors import InputError
    from featloom.report.html import write_report

    try:
        return write_report(run)
    except InputError as error:
        if not isinstance(error.__cause__, ImportError):
            raise
        warnings.warn(f"no page beside {run.path / 'result.json'}: {error}", stacklevel=2)
        return None
