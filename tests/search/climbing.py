"""A search whose questions depend on the answers, for tests; run as a script it is a process
that tests can kill.

``python climbing.py JOURNAL JOBS`` prints a line for each evaluation and, at the end, the
history as JSON.  With a third argument it stops after so many evaluations and waits for a line
on its standard input.
"""

from __future__ import annotations

import json
import random
import sys

from featloom.search import (
    Interrupted,
    Journal,
    RoundByRound,
    SearchSpace,
    candidate_key,
    search,
)

SPACE = SearchSpace(
    {
        "k": [1, 3, 5, 7, 9, 11],
        "weights": ["none", "gain_ratio", "chi_squared"],
        "mode": ["ignore", "overlap", "mvdm"],
        "decay": [0.1, 0.3, 1.0],
    },
    valid=lambda c: not (c["mode"] == "ignore" and c["weights"] == "chi_squared"),
)
BELONGS_TO = {"data": "letters", "search": {"metric": "accuracy", "space": SPACE.describe()}}


class Climb(RoundByRound):
    """Steepest ascent over single changes; a random restart where nothing is better."""

    def __init__(self, space: SearchSpace, seed: int = 0, climbs: int = 4):
        super().__init__()
        self.space, self.seed, self.climbs = space, seed, climbs

    def rounds(self):
        random_state = random.Random(self.seed)
        everything = list(self.space)
        for _ in range(self.climbs):
            here = random_state.choice(everything)
            (height,) = yield [here]
            while True:
                around = [
                    {**here, name: value}
                    for name, values in self.space.choices.items()
                    for value in values
                    if value != here[name] and {**here, name: value} in self.space
                ]
                heights = yield around
                if max(heights) <= height:
                    break
                height = max(heights)
                here = around[heights.index(height)]


def evaluate(candidate: dict) -> dict:
    """A rugged score that takes some arithmetic to find, and has digits to the last bit."""
    x = 0.5 + 0.4 / (1 + sum(map(ord, candidate_key(candidate))) % 97)
    total = 0.0
    for _ in range(50_000):
        x = 3.9 * x * (1 - x)
        total += x
    bonus = {"none": 0.0, "gain_ratio": 0.3, "chi_squared": 0.2}[candidate["weights"]]
    return {"score": total / 50_000 + bonus / candidate["k"], "last": x}


def main(path: str, jobs: str, hold_after: str = "0") -> int:
    n_told = 0

    def announce(evaluation):
        nonlocal n_told
        n_told += 1
        print(n_told, flush=True)
        if n_told == int(hold_after):
            sys.stdin.readline()

    with Journal(path, **BELONGS_TO) as journal:
        try:
            history = search(
                evaluate, Climb(SPACE), journal=journal, jobs=int(jobs), on_result=announce
            )
        except Interrupted as interrupted:
            print(f"{interrupted}; {interrupted.history.stopped}", flush=True)
            return 130
    print(json.dumps([[e.candidate, e.result] for e in history]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
