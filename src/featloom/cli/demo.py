"""``featloom demo``: the main job on data that comes with the package, with a report.

The question: is this c sounded K?  The letters around it decide, and mostly together: a c before
h is sounded CH, but K after s and before r.  The places where the letter stands are written as a
CSV file, as a user would have one, and ``featloom discover`` is asked which letters tell.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featloom.cli import options
from featloom.cli.main import command_named
from featloom.cli.session import REQUEST, resume_command
from featloom.data.tasks.letter_to_sound import letter_question, letter_to_sound
from featloom.errors import InputError
from featloom.runs import progress
from featloom.search import Budget

if TYPE_CHECKING:
    from featloom.data.table import NominalTable
    from featloom.runs import Run

TABLE = "letters.csv"
WORD = "word"


def demo(
    letter: Annotated[str, typer.Option(help="Letter to ask about.")] = "c",
    phoneme: Annotated[str, typer.Option(help="Sound that it may have.")] = "K",
    budget: Annotated[str, typer.Option(help="Time to compare in: 60, 60s, 10m.")] = "60s",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the run.")] = Path(
        "runs/demo"
    ),
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Ask of letters and sounds which method helps, and write a report."""
    Budget.of_time(budget)  # a wrong one is refused before anything is written
    target = f"sounded_{phoneme}"
    with options.run_folder(out) as run:
        assert run is not None
        with progress("aligning letters and sounds", quiet=quiet):
            train, _, _ = letter_to_sound(seed=seed)
            question = letter_question(train, letter, phoneme)
            table = written_once(run, as_csv(question, target))
        if not quiet and not json:
            typer.echo(f"is this {letter} sounded {phoneme}, given the letters around it?")
            options_given = f"--target {target} --groups {WORD} --positive yes --budget {budget}"
            typer.echo(f"$ featloom discover {table} {options_given} --out {out}")
        try:
            command_named("discover")(
                table, target=target, groups=WORD, positive="yes", budget=budget, out=out,
                seed=seed, jobs=jobs, quiet=quiet, json=json,
            )  # fmt: skip
        except InputError:
            if not (run.path / REQUEST).exists():  # refused, and so there is no run
                table.unlink()
            raise


def written_once(run: Run, content: str) -> Path:
    """The table in the folder of its run; in that of another run nothing is written."""
    table = run.path / TABLE
    if table.is_file() and table.read_bytes() == content.encode():
        return table
    if (run.path / REQUEST).exists():
        raise InputError(
            f"{run.path} holds another run; name another folder by --out, or go on with that run "
            f"by '{resume_command(run)}'"
        )
    return run.write(TABLE, content)


def as_csv(question: NominalTable, target: str) -> str:
    """Rows with their class and their word.

    >>> from featloom.data.table import NominalTable
    >>> question = NominalTable.from_columns(
    ...     {"next": ["a", "e"]}, labels=["yes", "no"], groups=["cat", "cell"])
    >>> as_csv(question, "sounded_K").splitlines()
    ['next,sounded_K,word', 'a,yes,Cat', 'e,no,Cell']
    """
    import csv
    import io

    assert question.groups is not None
    columns = [[question.value(name, row) for row in range(len(question))]
               for name in question.columns]  # fmt: skip
    classes = [question.classes[label] for label in question.label_codes]
    # A capital keeps the word "nan" from being read as a missing cell.
    words = [question.group_names[group].capitalize() for group in question.groups]
    stream = io.StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow([*question.columns, target, WORD])
    rows.writerows(zip(*columns, classes, words, strict=True))
    return stream.getvalue()
