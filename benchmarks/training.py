"""How much of a CRF's score is luck: five seeds beside CRFsuite's L-BFGS, on seven texts.

``python benchmarks/training.py [--only TEXT …] [--journal FILE] [--summary]``; FEATLOOM_DATA names
the corpora's folder.  Both tools see the same templates and their penalty c2 is chosen on the
validation sentences from the same grid, ours with its first seed; the test sentences are scored
once a seed.  L-BFGS ends where its own default settings end it.  Every training is a line of the
journal, so that the run goes on where it was stopped.

Texts: English chunks (CoNLL-2000, 26 templates; the second time with twenty sentences joined into
one), entities of web text and of Wikipedia articles, and tags of three treebanks, these five with
the words around, affixes of one to four letters, and the word's shape.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from crfsuite_features import feature_names
from measure import timed

from featloom.data.sentences import gold_labels, split_labels, take_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.evaluation.chunks import chunk_f1, label_codes
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import SequenceTagger

GRID = (0.03, 0.1, 0.3, 1.0, 3.0)
SEEDS = 5
SPREAD, BELOW = 0.5, 0.3  # points: between the best seed and the worst; under the peer's
OURS, PEER = "featloom", "CRFsuite, lbfgs"

CHUNKS = Path(__file__).with_name("chunking.template").read_text()
WORDS = "\n".join(
    [f"U{n:02}:%x[{offset},0]" for n, offset in enumerate((-2, -1, 0, 1, 2))]
    + [f"U{n:02}:%x[0,{n - 4}]" for n in range(5, 14)]
    + ["B"]
)

Sentences = tuple[list[list[tuple[str, ...]]], list[list[str]]]
Parts = tuple[Sentences, Sentences, Sentences]


def shape_of(word: str) -> str:
    """Capitals, small letters and digits as A, a and 0, runs of them as one.

    >>> shape_of("McDonald's"), shape_of("1,238")
    ("AaAa'a", '0,0')
    """
    kinds = [
        "A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c for c in word
    ]
    return "".join(kind for n, kind in enumerate(kinds) if n == 0 or kind != kinds[n - 1])


def _spelled(word: str) -> tuple[str, ...]:
    affixes = [word[:n] for n in (1, 2, 3, 4)] + [word[-n:] for n in (1, 2, 3, 4)]
    return (word, *affixes, shape_of(word))


def _column(table: NominalTable, name: str) -> list[list[str]]:
    column = table.column_index(name)
    names = np.array(["_", *table.vocabularies[column]], dtype=object)
    return split_labels(names[table.codes[:, column]], table.sequence_bounds)


def _of(table: NominalTable, words: str, label: str | None) -> Sentences:
    """Sentences of spelled words with the table's labels, or one of its columns as labels."""
    sentences = [[_spelled(word) for word in sentence] for sentence in _column(table, words)]
    return sentences, gold_labels(table) if label is None else _column(table, label)


def _chunks() -> Parts:
    train, test = load("conll2000", "train"), load("conll2000", "test")
    # The corpus has no validation part: every tenth sentence of training.
    fold = np.arange(len(train.sequence_bounds) - 1) % 10
    cut = (
        take_sentences(train, np.flatnonzero(fold)),
        take_sentences(train, np.flatnonzero(fold == 0)),
    )

    def read(table: NominalTable) -> Sentences:
        words, tags = _column(table, "word"), _column(table, "pos")
        both = [list(zip(*pair, strict=True)) for pair in zip(words, tags, strict=True)]
        return both, gold_labels(table)

    return read(cut[0]), read(cut[1]), read(test)


def _joined() -> Parts:
    """Chunks, but what is learned from comes as sentences of twenty."""
    (sentences, labels), valid, test = _chunks()
    starts = range(0, len(sentences), 20)
    return (
        (
            [[token for sentence in sentences[i : i + 20] for token in sentence] for i in starts],
            [[label for sentence in labels[i : i + 20] for label in sentence] for i in starts],
        ),
        valid,
        test,
    )


def _treebank(name: str, tag: str) -> Callable[[], Parts]:
    def read() -> Parts:
        parts = [_of(load(name, part), "form", tag) for part in ("train", "valid", "test")]
        return parts[0], parts[1], parts[2]

    return read


def _turkish() -> Parts:
    from featloom.data.readers.conllu import read_conllu

    folder = Path(os.environ["FEATLOOM_DATA"], "ud_turkish_imst")
    parts = [
        _of(read_conllu(folder / f"tr_imst-ud-{part}.conllu.xz"), "form", "xpos")
        for part in ("train", "dev", "test")
    ]
    return parts[0], parts[1], parts[2]


def _web_entities() -> Parts:
    parts = [
        _of(load("uner_english_ewt", part), "word", None) for part in ("train", "valid", "test")
    ]
    return parts[0], parts[1], parts[2]


def _wiki_entities() -> Parts:
    """Every fifth document is for the test, the one after it for validation."""
    table = load("wikigold", "all")
    fold = table.groups[table.sequence_bounds[:-1]] % 5
    parts = [
        _of(take_sentences(table, np.flatnonzero(of)), "word", None)
        for of in (fold > 1, fold == 1, fold == 0)
    ]
    return parts[0], parts[1], parts[2]


TEXTS: dict[str, tuple[Callable[[], Parts], str, str]] = {
    "chunks": (_chunks, CHUNKS, "F1"),
    "chunks, joined": (_joined, CHUNKS, "F1"),
    "web entities": (_web_entities, WORDS, "F1"),
    "wiki entities": (_wiki_entities, WORDS, "F1"),
    "Chinese tags": (_treebank("ud_chinese_gsd_v1", "xpos"), WORDS, "right"),
    "Portuguese tags": (_treebank("pt-bosque/ud", "xpos"), WORDS, "right"),
    "Turkish tags": (_turkish, WORDS, "right"),
}


def score(metric: str, gold: list[list[str]], found: list[list[str]]) -> float:
    """Chunk F1 or the share of right tags, in points."""
    if metric == "F1":
        return 100.0 * chunk_f1(*label_codes(gold, found))
    pairs = [pair for row in zip(gold, found, strict=True) for pair in zip(*row, strict=True)]
    return 100.0 * sum(a == b for a, b in pairs) / len(pairs)


class Journal:
    """Lines of JSON, one a training, found again by what they are of."""

    def __init__(self, path: Path):
        self.path = path
        self.lines = []
        if path.exists():
            # A line that was being written when the run was ended is not one.
            lines = path.read_text().splitlines(keepends=True)
            self.lines = [json.loads(line) for line in lines if line.endswith("\n")]

    def found(self, key: dict) -> dict | None:
        """The line with these entries."""
        return next((line for line in self.lines if key.items() <= line.items()), None)

    def once(self, key: dict, work: Callable[[], dict]) -> dict:
        """What was found before under this key, else the work is done and written down."""
        found = self.found(key)
        if found is not None:
            return found
        found = key | work()
        self.lines.append(found)
        with self.path.open("a") as stream:
            stream.write(json.dumps(found) + "\n")
        print(json.dumps(found), file=sys.stderr, flush=True)
        return found


def peer_lines(name: str, parts: Parts, journal: Journal) -> None:
    """CRFsuite at every penalty; its features are made once."""
    import pycrfsuite

    _, templates, metric = TEXTS[name]
    lines = read_templates(templates)
    key = {"text": name, "tool": PEER}
    if all(journal.found(key | {"c2": c2}) for c2 in GRID):
        return
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for sentence, labels in zip(*parts[0], strict=True):
        trainer.append(feature_names(sentence, lines), labels)
    held_out = [[feature_names(s, lines) for s in sentences] for sentences, _ in parts[1:]]

    def work(c2: float) -> dict:
        trainer.set_params({"c1": 0.0, "c2": c2})
        with tempfile.TemporaryDirectory() as folder:
            model = str(Path(folder, "model"))
            seconds = timed(lambda: trainer.train(model))
            tagger = pycrfsuite.Tagger()
            tagger.open(model)
            valid, test = (
                score(metric, gold, [tagger.tag(sentence) for sentence in sentences])
                for sentences, (_, gold) in zip(held_out, parts[1:], strict=True)
            )
        return {"valid": valid, "test": test, "user_s": round(seconds.user, 2)}

    for c2 in GRID:
        journal.once(key | {"c2": c2}, lambda c2=c2: work(c2))


def our_lines(name: str, parts: Parts, journal: Journal) -> None:
    """Every penalty with the first seed; then the best on validation with the others."""
    _, templates, metric = TEXTS[name]
    train, valid, test = parts

    def work(c2: float, seed: int) -> dict:
        tagger = SequenceTagger(templates=templates, c2=c2, random_state=seed)
        seconds = timed(lambda: tagger.fit(*train))
        return {
            "valid": score(metric, valid[1], tagger.predict(valid[0])),
            "test": score(metric, test[1], tagger.predict(test[0])),
            "user_s": round(seconds.user, 2),
            "passes": len(tagger.model_.losses),
        }

    key = {"text": name, "tool": OURS}
    for c2 in GRID:
        journal.once(key | {"c2": c2, "seed": 0}, lambda c2=c2: work(c2, 0))
    best = chosen(journal, name, OURS)["c2"]
    for c2 in {best, 1.0}:  # 1.0 is what one gets without looking
        for seed in range(1, SEEDS):
            journal.once(key | {"c2": c2, "seed": seed}, lambda c=c2, s=seed: work(c, s))


def chosen(journal: Journal, name: str, tool: str) -> dict:
    """The line whose penalty did best on validation, of the first seed."""
    lines = [
        line for line in journal.lines
        if line["text"] == name and line["tool"] == tool and line.get("seed", 0) == 0
    ]  # fmt: skip
    return max(lines, key=lambda line: line["valid"], default=None)


def summary(journal: Journal, names: list[str]) -> list[dict]:
    """For each text two rows: with the penalty that validation chose, and with a tagger's own."""
    rows = []
    for name in names:
        peer, best = chosen(journal, name, PEER), chosen(journal, name, OURS)
        if peer is None or best is None:
            print(f"{name}: not run", file=sys.stderr)
            continue
        for c2 in dict.fromkeys((best["c2"], 1.0)):
            ours = [
                line for line in journal.lines
                if {"text": name, "tool": OURS, "c2": c2}.items() <= line.items()
            ]  # fmt: skip
            tests = [line["test"] for line in ours]
            mean, spread = float(np.mean(tests)), max(tests) - min(tests)
            rows.append(
                {
                    "bench": name, "metric": TEXTS[name][2], "c2": c2, "chosen": c2 == best["c2"],
                    "tests": tests, "mean": mean, "spread": spread, "passes": ours[0]["passes"],
                    "user_s": round(float(np.mean([line["user_s"] for line in ours])), 2),
                    "peer": PEER, "peer_c2": peer["c2"], "peer_test": peer["test"],
                    "peer_user_s": peer["user_s"],
                    "agree": spread <= SPREAD and mean >= peer["test"] - BELOW,
                    "ratio": None,
                }
            )  # fmt: skip
    return rows


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--only", nargs="+", choices=list(TEXTS), default=list(TEXTS))
    asked.add_argument("--journal", type=Path, default=Path("runs/training.jsonl"))
    asked.add_argument("--tool", choices=(OURS, PEER), help="one of the two alone")
    asked.add_argument("--summary", action="store_true", help="of the journal as it is")
    options = asked.parse_args()
    options.journal.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(options.journal)
    if not options.summary:
        for name in options.only:
            parts = TEXTS[name][0]()
            if options.tool != PEER:
                our_lines(name, parts, journal)
            if options.tool != OURS:
                peer_lines(name, parts, journal)
    if options.tool:
        return 0
    rows = summary(journal, options.only)
    for row in rows:
        print(json.dumps(row))
    return 0 if all(row["agree"] for row in rows if row["chosen"]) else 1


if __name__ == "__main__":
    sys.exit(main())
