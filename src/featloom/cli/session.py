"""What commands that make a run share: the request, the progress of a search, the result.

``request.json`` holds the command and its options, so that ``featloom resume RUN`` can go on where
a run was stopped.  It holds plain JSON and only names options of commands; nothing in it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REQUEST = "request.json"


def write_request(run, command: str, options: Mapping[str, Any]) -> None:
    """Write down what was asked, before anything is done."""
    from featloom.runs import encode_result

    plain = {name: _anywhere(value) for name, value in options.items()}
    if (run.path / REQUEST).exists() and read_request(run) == (command, plain):
        return  # a run that is resumed keeps the words it was begun with
    request = {"command": command, "options": plain, "typed": _typed()}
    run.write(REQUEST, encode_result(request))


def _typed() -> str:
    """The command as it was typed."""
    import shlex
    import sys

    return shlex.join(["featloom", *sys.argv[1:]])


def _begun_with(run) -> str:
    """The words that a run was begun with."""
    import msgspec

    if run is None or not (run.path / REQUEST).exists():
        return _typed()
    return str(msgspec.json.decode((run.path / REQUEST).read_bytes()).get("typed") or _typed())


def _anywhere(value: Any) -> Any:
    """A file by its full path, so that a run can be resumed from another folder."""
    if not isinstance(value, Path):
        return value
    return str(value.resolve() if value.exists() else value)


def read_request(run) -> tuple[str, dict[str, Any]]:
    """The command and the options of a run."""
    import msgspec

    from featloom.errors import ReadError

    path = run.path / REQUEST
    try:
        content = msgspec.json.decode(path.read_bytes())
        return str(content["command"]), dict(content["options"])
    except FileNotFoundError:
        raise ReadError("not there; this run cannot be resumed", file=str(path)) from None
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
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
