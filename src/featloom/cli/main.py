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

# What there is, in the order of the help, and in what words; the module of a command has its name
# and is loaded when it is asked for.
COMMANDS = {
    "discover": "Compare every applicable method with tuned baselines, and choose one.",
    "demo": "Ask of letters and sounds which method helps, and write a report.",
    "induce": "Select features, join them into conjunctions, and test whether they help a linear "
    "model.",
    "grow": "Grow templates from decision trees, and test whether they help.",
    "select": "Search feature templates for sentences, and train a CRF with them.",
    "memory": "Search which features count, by which metric, and with which k and weights.",
    "transfer": "Learn which features matter from many small tasks, and test whether it helps "
    "each.",
    "predict": "Predict the classes of rows, as CSV on standard output or in a file.",
    "tag": "Label the tokens of sentences, on standard output or in a file.",
    "parse": "Predict heads and relations of tokens, on standard output or in a file.",
    "reproduce": "Repeat the experiment of a paper; everything finished is kept, and resumed if "
    "stopped.",
    "resume": "Go on with a run that was stopped: what it had finished is taken from its journal.",
    "corpora": "List the named corpora: what they are, their licences, and whether they are here.",
    "report": "Write the page of a run from its result, and say where it is.",
}
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

    given = sys.argv[1:] if arguments is None else arguments
    asked = next((word for word in given if not word.startswith("-")), None)
    for name, words in COMMANDS.items():
        command = _told_in_one_line(command_named(name)) if name == asked else _named(name)
        app.command(name, help=words)(command)
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        app(arguments, prog_name="featloom")


def command_named(name: str) -> Callable[..., None]:
    """The function of a command, which has the name of its module."""
    return getattr(import_module(f"featloom.cli.{name}"), name)


def _named(name: str) -> Callable:
    """A command that is listed, and not asked for."""

    def listed() -> None:
        raise RuntimeError(f"{name} was not loaded")

    return listed


def _say_interrupted(*notes: str) -> None:
    if threading.current_thread() is threading.main_thread():
        # The program is about to end; a second time would only tear its words.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)  # over the ^C of the terminal
    _say("; ".join(dict.fromkeys(["interrupted", *notes])))


def _told_in_one_line(command: Callable) -> Callable:
    """The command, whose faults end in a line and an exit code.

    The faults are met inside the command because the command-line package has its own,
    changing ways with an interruption.
    """
    import typer

    from featloom.cli.session import check_text
    from featloom.data.pipes import kept_pipes
    from featloom.errors import InputError

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
