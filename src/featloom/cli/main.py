"""The command line: one file a command, one line a fault.

Exit codes: 0 done; 1 the input is at fault, in one line that names file, line and column; 2 wrong
usage; 130 interrupted, with everything finished so far kept.
"""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = ("demo", "induce", "reproduce", "resume", "corpora", "report")


def main(arguments: list[str] | None = None) -> int:
    """Run a command; what a user can put right is said in one line."""
    import typer

    from featloom.errors import InputError

    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Finds the features that make small, fast, readable models accurate.",
    )

    @app.callback()
    def featloom() -> None:
        """Finds the features that make small, fast, readable models accurate on symbolic data."""

    for name in COMMANDS:
        import_module(f"featloom.cli.{name}").register(app)
    try:
        app(arguments, prog_name="featloom")
    except InputError as error:
        print(f"featloom: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("featloom: interrupted; everything finished so far is kept", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    return 0


if __name__ == "__main__":
    main()
