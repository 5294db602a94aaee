"""Tickets as text, clauses of a small English, and what of a result does not hang on the clock."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

COMMAND = (sys.executable, "-m", "featloom.cli.main")
PATIENCE = 120  # seconds that a process may take to end; none takes as many
# Of a result: how long it took and how it was asked for.
ASIDE = ("timing", "command", "versions", "use", "seconds", "fit_s", "predict_s")
COLUMNS = ("area", "plan", "channel", "language")  # of tickets, before their class
NOUNS, VERBS, ADJECTIVES = ("cat", "dog", "fish", "bird"), ("saw", "ate", "bit"), ("old", "red")


def ticket_text(rows) -> str:
    """A table of tickets with a header, without the customers."""
    lines = [(*COLUMNS, "escalated"), *(row[1:] for row in rows)]
    return "".join(",".join(line) + "\n" for line in lines)


def _phrase(draw: random.Random, role: str) -> list[tuple[str, str, str]]:
    words = [(draw.choice(("the", "a")), "DET", "det")]
    words += [(draw.choice(ADJECTIVES), "ADJ", "amod")] * draw.randrange(2)
    return [*words, (draw.choice(NOUNS), "NOUN", role)]


def _trees(n: int, seed: int) -> list[list[tuple[str, str, int, str]]]:
    """the old cat saw a fish: subject and object hang on the verb, the rest on their noun."""
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        words = _phrase(draw, "nsubj")
        verb = len(words) + 1
        words += [(draw.choice(VERBS), "VERB", "root"), *_phrase(draw, "obj")]
        tokens = []
        for at, (form, tag, relation) in enumerate(words, start=1):
            noun = next((j for j in range(at, len(words) + 1) if words[j - 1][1] == "NOUN"), 0)
            head = 0 if tag == "VERB" else verb if tag == "NOUN" else noun
            tokens.append((form, tag, head, relation))
        found.append(tokens)
    return found


def treebank(n: int, seed: int = 3) -> str:
    """So many clauses in CoNLL-U's ten columns."""
    lines = []
    for tokens in _trees(n, seed):
        for at, (form, tag, head, relation) in enumerate(tokens, start=1):
            lines.append(f"{at}\t{form}\t{form}\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
        lines.append("")
    return "\n".join(lines) + "\n"


def clauses(n: int, seed: int = 3) -> list[list[tuple[str, str, str]]]:
    """The same clauses: word, tag and chunk of each token, with a full stop at their ends."""
    sentences = []
    for tokens in _trees(n, seed):
        chunks = ["B-VP" if tag == "VERB" else "B-NP" if tag == "DET" else "I-NP"
                  for _, tag, _, _ in tokens]  # fmt: skip
        words = [(form, tag, chunk) for (form, tag, *_), chunk in zip(tokens, chunks, strict=True)]
        sentences.append([*words, (".", "PUNCT", "O")])
    return sentences


def column_text(sentences, end: str = "\n") -> str:
    """A token a line, with its columns, and an empty line after each sentence."""
    lines = ["".join(" ".join(token) + end for token in sentence) for sentence in sentences]
    return end.join([*lines, ""])


def without_times(part):
    """A result without what differs from run to run."""
    if isinstance(part, dict):
        if part.get("kind") == "seconds":
            return None
        return {name: without_times(one) for name, one in part.items() if name not in ASIDE}
    if not isinstance(part, list):
        return part
    # A fact says that it is in seconds.
    return [without_times(x) for x in part if not (isinstance(x, list) and x[-1:] == ["seconds"])]


def found_in(run: Path) -> dict:
    """The result of a run, without what differs from run to run."""
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    for section in result["sections"]:
        for block in section["blocks"]:
            if block.get("title") == "Every step":
                block["rows"] = [[*row[:5], *row[6:]] for row in block["rows"]]
    return without_times(result)


def stopped_when_it_grows(
    process: subprocess.Popen, journal: Path, rows: int, by: signal.Signals = signal.SIGKILL
) -> bool:
    """Stop a process as soon as its journal has some more rows; False if it ended before."""

    def written() -> int:
        # A journal is locked, its size is not; each row takes at least a page of 4,096 bytes.
        parts = (journal, journal.with_name(journal.name + "-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    before = written()
    while process.poll() is None:
        if written() - before >= rows * 4096:
            process.send_signal(by)
            return True
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.002)
    return False
