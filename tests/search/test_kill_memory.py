"""A genetic search of memory settings, really killed: the end is the same.

Run as a script, ``python test_kill_memory.py JOURNAL HOLD`` is the process to be killed: it prints
a line for each evaluation, waits on its standard input after HOLD of them, and ends with what it
found as JSON.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PATIENCE = 120  # seconds that a process may take to end; none takes as many


def run(journal=None, hold=0):
    from featloom import MemorySearch

    def announce(done, total, best):
        if journal is not None:
            print(done, flush=True)
            if done and done == hold:
                sys.stdin.readline()

    rng = np.random.default_rng(5)
    X = rng.integers(0, 5, (240, 5)).astype(str)
    y = np.where(rng.random(240) < 0.2, "noise", np.char.add(X[:, 1], X[:, 3]))
    search = MemorySearch(
        strategy="genetic",
        ks=(1, 3, 5),
        options={"population": 12, "generations": 12, "mutation": 0.1},
        journal=journal,
        random_state=7,
        progress=announce,
    ).fit(X[:160], y[:160], X[160:], y[160:])
    return {
        "history": [[e.candidate, e.result] for e in search.history_],
        "best": [search.best_setting_, search.best_score_],
        "replayed": search.history_.replayed,
    }


def start(journal, hold):
    return subprocess.Popen(
        [sys.executable, __file__, str(journal), str(hold)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_memory_search_killed_three_times_ends_as_if_nothing_had_happened(tmp_path):
    undisturbed = run()
    assert len(undisturbed["history"]) > 50
    journal = tmp_path / "search.journal"
    for told in (3, 21, 47):
        process = start(journal, told)
        try:
            for line in process.stdout:
                if int(line) == told:
                    break
            else:
                pytest.fail(f"the search ended early: {process.stderr.read()}")
            process.send_signal(signal.SIGKILL)
        finally:
            process.kill()
            process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL
        assert Path(journal).exists()
    output, errors = start(journal, 0).communicate(timeout=PATIENCE)
    resumed = json.loads(output.splitlines()[-1])
    assert resumed["history"] == undisturbed["history"], errors
    assert resumed["best"] == undisturbed["best"]
    assert resumed["replayed"] == 47


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]))), flush=True)
