"""Which method helps here, if any?  One question where one does, one where nothing can.

First a table of verbs of a made-up language: the vowel of the past ending agrees with the stem's
if both are front vowels or both are back vowels, so neither vowel tells anything alone.  Methods
that join columns find it, the linear model does not, and the verdict says by how much.

Then the same rows with the answers shuffled.  Some contender always comes out on top by luck; an
honest comparison says that there is nothing to find.
"""

from __future__ import annotations

import random

import polars as pl

from featloom import discover

FRONT, BACK = "eiy", "aou"
CONTENDERS = ["linear model", "induction", "tree templates", "memory"]


def verbs(n: int, seed: int) -> pl.DataFrame:
    """Stems and endings with their vowels, and whether a speaker accepts the form."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        stem, ending = draw.choice(FRONT + BACK), draw.choice(FRONT + BACK)
        final, speaker = draw.choice("ptkmn"), f"speaker {draw.randrange(20)}"
        agrees = (stem in FRONT) == (ending in FRONT)
        accepted = "yes" if agrees != (draw.random() < 0.05) else "no"
        rows.append((stem, final, ending, speaker, accepted))
    names = ["stem vowel", "final", "ending vowel", "speaker", "accepted"]
    return pl.DataFrame(rows, names, orient="row")


def main() -> None:
    table = verbs(600, seed=1)
    shuffled = table.with_columns(table["accepted"].shuffle(seed=1))
    for words, data in (("vowels that agree", table), ("answers shuffled", shuffled)):
        # Speakers are groups: those that are tested were not learned from.
        found = discover(
            data, "accepted", groups="speaker", positive="yes", only=CONTENDERS, budget=None,
            n_jobs=1,
        )  # fmt: skip
        print(f"{words}: {found.verdict}")
        for row in found.leaderboard:
            if row["status"] == "finished":
                low, high = row["test_interval"]
                print(f"  {row['name']:<15} {row['test']:.3f} ({low:.3f} to {high:.3f})")
        if found.significant:
            new = [["e", "k", "i"], ["e", "k", "u"]]
            print(f"  {found.chosen} answers {new}: {found.pipeline().predict(new).tolist()}")
        print()


if __name__ == "__main__":
    main()
