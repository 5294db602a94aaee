"""``featloom corpora``: which data sets there are, and which of them lie on this machine."""

from __future__ import annotations

from dataclasses import asdict

import typer

from featloom.data import corpora as corpus_list
from featloom.data.corpora import how_to_get
from featloom.shown import terminal


def corpora(
    json: bool = typer.Option(False, "--json", help="Print the list as JSON."),
    verify: bool = typer.Option(False, "--verify", help="Check the files that are here."),
    fetch: str | None = typer.Option(
        None, "--fetch", metavar="NAME", help="Download one corpus into the cache folder first."
    ),
) -> None:
    """List the named corpora: what they are, their licences, and whether they are here."""
    if fetch is not None:
        corpus_list.fetch(fetch)
    folders = {corpus.name: corpus_list.find(corpus.name) for corpus in corpus_list.corpora()}
    faults = {
        name: corpus_list.verify(name) if verify else []
        for name, folder in folders.items()
        if folder is not None
    }
    if json:
        _print_json(corpus_list.corpora(), folders, faults, verify)
    else:
        _print_table(corpus_list.corpora(), folders, faults, verify)
    if any(faults.values()):
        raise typer.Exit(1)


def _print_json(entries, folders, faults, verified) -> None:
    from json import dumps

    rows = []
    for corpus in entries:
        folder = folders[corpus.name]
        row = {**asdict(corpus), "folder": None if folder is None else str(folder)}
        if folder is None:
            row["how_to_get"] = how_to_get(corpus.name)
        elif verified:
            row["faults"] = faults[corpus.name]
        rows.append(row)
    typer.echo(dumps(rows, indent=2, ensure_ascii=False))


def _print_table(entries, folders, faults, verified) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table("name", "what", "rows", "licence", "here")
    table.columns[0].no_wrap = True
    table.columns[-1].overflow = "fold"
    for corpus in entries:
        folder = folders[corpus.name]
        if folder is None:
            here = "no"
        elif faults[corpus.name]:
            here = "; ".join(faults[corpus.name])
        else:
            here = f"{'checked' if verified else 'yes'}: {folder}"
        cells = (corpus.name, corpus.what, corpus.rows, corpus.licence, here)
        table.add_row(*map(escape, cells))
    console = terminal()
    console.print(table)
    for corpus in entries:
        if folders[corpus.name] is None:
            console.print(
                f"{corpus.name}: {how_to_get(corpus.name)}", markup=False, highlight=False
            )
