"""The command line: one file a command, one line a fault.

Exit codes: 0 done; 1 the input is at fault, in one line that names file, line and column; 2 wrong
usage; 130 interrupted, with everything finished so far kept.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from shutil import get_terminal_size

from featloom.shown import visible, wrapped

COMMANDS = (
    "discover", "demo", "induce", "grow", "select", "memory", "transfer", "predict", "tag", "parse",
    "reproduce", "resume", "corpora", "report",
)  # fmt: skip
# The last bits of a sum depend on how many threads share it, and results do not.
ONE_THREAD_FOR_LINEAR_ALGEBRA = {
    "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run a command; what a user can put right is said in one line."""
    os.environ.update(ONE_THREAD_FOR_LINEAR_ALGEBRA)  # before anything loads it
    try:
        _run(arguments)
    except KeyboardInterrupt:
        _say_interrupted("nothing was begun")
        sys.exit(130)
    return 0


def _run(arguments: list[str] | None) -> None:
    import warnings

    import typer

    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Finds the features that make small, fast, readable models accurate.",
    )

    @app.callback()
    def featloom(
        version: bool = typer.Option(
            False, "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ) -> None:
        """Finds the features that make small, fast, readable models accurate on symbolic data."""

    for name in COMMANDS:
        import_module(f"featloom.cli.{name}").register(app)
    for command in app.registered_commands:
        command.callback = _told_in_one_line(command.callback)
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        app(arguments, prog_name="featloom")


def _say_interrupted(*notes: str) -> None:
    if threading.current_thread() is threading.main_thread():
        # The program is about to end; a second time would only tear its words.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)  # over the ^C of the terminal
    _say("; ".join(dict.fromkeys(["interrupted", *notes])))


def _told_in_one_line(command: Callable | None) -> Callable:
    """The command, whose faults end in a line and an exit code.

    The faults are met inside the command because the command-line package has its own,
    changing ways with an interruption.
    """
    import typer

    from featloom.cli.session import check_text
    from featloom.data.pipes import kept_pipes
    from featloom.errors import InputError

    assert command is not None

    @wraps(command)
    def guarded(*args, **options):
        try:
            for value in options.values():
                for one in value if isinstance(value, list) else [value]:
                    check_text(str(one))
            with kept_pipes():
                return command(*args, **options)
        except InputError as error:
            _say(str(error))
            raise typer.Exit(1) from None
        except MemoryError as error:
            _say(f"not enough memory: {error}" if str(error) else "not enough memory")
            raise typer.Exit(1) from None
        except KeyboardInterrupt as stop:
            _say_interrupted(*getattr(stop, "__notes__", []))
            raise typer.Exit(130) from None

    return guarded


def _warn(message, category, filename, lineno, file=None, line=None) -> None:
    """What readers warn of, in one line and without the place in the program."""
    _say(f"warning: {message}")


def _say(text: str) -> None:
    line = f"featloom: {visible(' '.join(text.splitlines()))}"
    if sys.stderr.isatty():
        line = wrapped(line, get_terminal_size().columns)
    print(line, file=sys.stderr)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        import typer

        typer.echo(f"featloom {version('featloom')}")
        raise typer.Exit


if __name__ == "__main__":
    main()
