"""``featloom report RUN``: write the page of a run again from its ``result.json``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featloom.cli import options
from featloom.report.page import write_report
from featloom.runs import Run


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    open_page: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the page of a run from its result, and say where it is."""
    page = write_report(Run.open(run))
    if not quiet:
        typer.echo(page)
    if open_page:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
