"""``featloom demo``: the main job on data that comes with the package, with a report.

The question: is this c sounded K?  The letters around it decide, and mostly together: a c before
h is sounded CH, but K after s and before r.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featloom.cli import options


def demo(
    letter: Annotated[str, typer.Option(help="Letter to ask about.")] = "c",
    phoneme: Annotated[str, typer.Option(help="Sound that it may have.")] = "K",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the run.")] = Path(
        "runs/demo"
    ),
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Find conjunctions on a question of letter to sound, and write a report."""
    from featloom.cli.induce import finish, run_study
    from featloom.data.tasks.letter_to_sound import letter_question, letter_to_sound
    from featloom.methods.induction import ConjunctionInducer
    from featloom.runs import Timing, progress

    timing = Timing()
    with options.run_folder(out) as run:
        with progress(
            "aligning letters and sounds (kernels compile on first use)", quiet=quiet
        ) as line:
            with timing.stage("read"):
                train, _, _ = letter_to_sound(seed=seed)
                question = letter_question(train, letter, phoneme)
            with timing.stage("fit"):
                inducer = ConjunctionInducer(max_length=3, n_jobs=jobs)
                study = run_study(
                    question, inducer, positive="yes", seed=seed, jobs=jobs, say=line.say
                )
        finish(study, run, timing, seed=seed, quiet=quiet, json=json)


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("demo")(demo)
