"""``discover`` beside an engine's own default, on the same rows and the same test part.

``python benchmarks/engines.py [--budget 60s 4m] [--only NAME …] [--jobs 2] [--judge-by log-loss]
[--select] [--out FILE]`` with FEATLOOM_DATA.

Whoever has letters, chunks or trees can call one class without any parameter:
``MemoryClassifier()``, ``SequenceTagger()``, ``DependencyParser()``.  Does the time that
``discover`` takes buy more than that?  Both learn from the same rows, and predict the same test
part: the chosen contender's figure is that of the leaderboard, of a model that has not seen the
test part; the engine is fitted on the very rows of the learn part.  (The model that ``discover``
hands over learned from the test part too, so it cannot be judged there.)  Where time was short, the
contender learned from fewer rows than the engine: ``learned`` says from how many.

``letters``: the first 100,000 rows of gs-cmudict, a fifth of them held out; ``diminutives``: dimin;
``chunks``: CoNLL-2000; ``trees``: Bosque; these three with their own test parts.  ``--select``:
also ``featloom select`` on the training file of CoNLL-2000, which holds out a tenth of it for
itself; its tagger is scored on the same test sentences, and the contender that was chosen with the
longest budget is compared with it.

Differences are tested by a paired bootstrap over sentences or rows; for rows there is McNemar's
test too.  Engines are fitted with one thread; what is compiled meanwhile is taken off.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np

from featloom.compare.questions import Question
from featloom.data.corpora import locate_file
from featloom.data.sentences import seen_alone, take_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.discover import Discovery, discover
from featloom.errors import InputError
from featloom.evaluation.significance import mcnemar, paired_bootstrap
from featloom.kernels.compiling import compile_time
from featloom.learners.memory import MemoryClassifier
from featloom.learners.parser import DependencyParser
from featloom.learners.tagger import SequenceTagger

SELECT_BUDGET = "3m"


@dataclass(frozen=True)
class Rival:
    """A data set and the engine that is for it.

    Parameters
    ----------
    load : how many units → the data, and a test part or None.
    answers : (rows to learn from, rows to predict, seed) → predicted labels or heads.
    """

    engine: str
    load: Callable[[int | None], tuple[NominalTable, NominalTable | None]]
    answers: Callable[[NominalTable, NominalTable, int], np.ndarray]


def letters(most: int | None) -> tuple[NominalTable, None]:
    return load("gs-cmudict", "train").take(np.arange(most or 100_000)), None


def diminutives(most: int | None) -> tuple[NominalTable, NominalTable]:
    train = load("dimin", "train")
    return train.take(np.arange(min(len(train), most or len(train)))), load("dimin", "test")


def sentences(name: str) -> Callable[[int | None], tuple[NominalTable, NominalTable]]:
    def of(most: int | None) -> tuple[NominalTable, NominalTable]:
        parts = load(name, "train"), load(name, "test")
        if most is None:
            return parts
        train, test = (take_sentences(part, np.arange(most)) for part in parts)
        return train, test

    return of


def by_memory(learn: NominalTable, test: NominalTable, seed: int) -> np.ndarray:
    return MemoryClassifier().fit(learn).predict(test)


def by_tagger(learn: NominalTable, test: NominalTable, seed: int) -> np.ndarray:
    tagger = SequenceTagger(random_state=seed).fit(seen_alone(learn))
    return in_one_row(tagger.predict(test))


def by_parser(learn: NominalTable, test: NominalTable, seed: int) -> np.ndarray:
    return in_one_row(DependencyParser(random_state=seed).fit(seen_alone(learn)).predict(test))


def in_one_row(of_sentences: list[list[Any]]) -> np.ndarray:
    return np.array([one for sentence in of_sentences for one in sentence])


RIVALS = {
    "letters": Rival("MemoryClassifier()", letters, by_memory),
    "diminutives": Rival("MemoryClassifier()", diminutives, by_memory),
    "chunks": Rival("SequenceTagger()", sentences("conll2000"), by_tagger),
    "trees": Rival("DependencyParser()", sentences("pt-bosque/ud"), by_parser),
}


def codes_of(question: Question, answers: np.ndarray) -> np.ndarray:
    """Answers as the question has them: places of labels, or heads as they are."""
    if question.kind == "trees":
        return answers.astype(np.int32)
    code_of = {name: code for code, name in enumerate(question.classes)}
    return np.array([code_of[str(one)] for one in answers], dtype=np.int32)


def engine_answers(
    rival: Rival, question: Question, learn: np.ndarray, test: np.ndarray, seed: int
) -> tuple[np.ndarray, dict[str, float]]:
    """What the engine's default says of the test part, and what that took."""
    known, asked = question.take(learn), question.take(test)
    begun, used = monotonic(), process_time()
    with compile_time() as compiled:
        answers = rival.answers(known, asked, seed)
    spent = {
        "engine_wall": monotonic() - begun - compiled.seconds,
        "engine_cpu": process_time() - used - compiled.cpu,
    }
    return codes_of(question, answers), spent


def compared(
    question: Question, units: np.ndarray, first: np.ndarray, second: np.ndarray, seed: int
) -> dict[str, Any]:
    """Scores of two sets of answers on the same units, and their difference."""
    counts = [question.counts(units, answers) for answers in (first, second)]
    test = paired_bootstrap(counts[0], counts[1], question.of_counts, seed=seed)
    found: dict[str, Any] = {
        "score": float(question.of_counts(counts[0].sum(axis=0))),
        "engine_score": float(question.of_counts(counts[1].sum(axis=0))),
        "difference": test.difference, "interval": [test.low, test.high], "p": test.p,
    }  # fmt: skip
    if question.kind == "table":
        found["mcnemar_p"] = mcnemar(question.labels[units], first, second).p
    return found


def asked(
    name: str, data: NominalTable, test: NominalTable | None, budget: str, given: Any
) -> tuple[Discovery, dict[str, float]]:
    """``discover`` on the data, and what it took with its workers."""
    how = {"judge_by": given.judge_by} if RIVALS[name].answers is by_memory else {}
    begun, used = monotonic(), process_time()
    found = discover(
        data, test=test, budget=budget, n_jobs=given.jobs, seed=given.seed, verbose=False, **how
    )
    wall = monotonic() - begun
    # The run counts all that this process ever used.
    return found, {"wall": wall, "cpu": found.result["budget"]["cpu"] - used}


def line_of(
    name: str, found: Discovery, budget: str, spent: dict[str, float], engine: np.ndarray, seed: int
) -> tuple[dict[str, Any], np.ndarray]:
    """The chosen contender beside the engine, and what it predicts."""
    question, units = found.question, found.test_rows
    entry = found.entries[found.chosen]
    line: dict[str, Any] = {
        "data": name, "budget": budget, "chosen": found.chosen, "setting": entry.outcome["words"],
        "learned": entry.learned, "of": len(found.learn_rows), "units": len(units),
        "judged_by": question.metric, "engine": RIVALS[name].engine, "seed": seed, **spent,
    }  # fmt: skip
    if entry.tested:
        answers = question.answers_of(entry.rows)
    else:
        # There was no time for it; the same model is fitted here.
        line["tested"] = False
        answers = found.refitted(found.chosen, "test").answers(question.take(units))
    keys = ("name", "status", "value", "test", "setting", "why", "fit_s")
    line["leaderboard"] = [{key: row.get(key) for key in keys} for row in found.leaderboard]
    return line | compared(question, units, answers, engine, seed), answers


def selected(
    question: Question, units: np.ndarray, engine: np.ndarray, chosen: np.ndarray, given: Any
) -> list[dict[str, Any]]:
    """The tagger of ``featloom select`` on the test sentences, beside the engine and the chosen."""
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "run"
        command = [
            sys.executable, "-m", "featloom.cli.main", "select",
            str(locate_file("conll2000", "train.txt")), "--columns", "word,pos,chunk",
            "--budget", given.select_budget, "--jobs", str(max(given.jobs, 1)), "--seed",
            str(given.seed), "--out", str(run), "--quiet",
        ]  # fmt: skip
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), monotonic()
        subprocess.run(command, check=True, capture_output=True, text=True)
        wall, after = monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = sum(getattr(after, one) - getattr(before, one) for one in ("ru_utime", "ru_stime"))
        tagger = SequenceTagger.load(run / "model.featloom")
        (learned,) = (
            one["learned"]
            for one in json.loads((run / "result.json").read_text())["leaderboard"]
            if one["chosen"]
        )
    answers = codes_of(question, in_one_row(tagger.predict(question.take(units))))
    line = {
        "data": "chunks", "budget": given.select_budget, "chosen": "featloom select",
        "learned": learned, "units": len(units), "judged_by": question.metric,
        "engine": RIVALS["chunks"].engine, "seed": given.seed, "wall": wall, "cpu": cpu,
    }  # fmt: skip
    beside = {"chosen": f"discover, {given.budget[-1]}", "engine": "featloom select"}
    return [
        line | compared(question, units, answers, engine, given.seed),
        line | beside | compared(question, units, chosen, answers, given.seed),
    ]


def told(line: dict[str, Any], out: Path | None) -> None:
    if out is not None:
        with out.open("a") as file:
            file.write(json.dumps(line) + "\n")
    low, high = line["interval"]
    p = f"p {line['p']:.4f}"
    if "mcnemar_p" in line:
        p += f", McNemar {line['mcnemar_p']:.2g}"
    print(
        f"{line['data']}, {line['budget']}: {line['chosen']} {100 * line['score']:.2f}, "
        f"{line['engine']} {100 * line['engine_score']:.2f}, difference "
        f"{100 * line['difference']:+.2f} ({100 * low:+.2f} to {100 * high:+.2f}; {p}) on "
        f"{line['units']:,} units; learned from {line['learned']} of {line.get('of', 'all')}; wall "
        f"{line['wall']:.0f} s, CPU {line['cpu']:.0f} s, engine {line['engine_wall']:.1f} s, "
        f"{line['engine_cpu']:.1f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", nargs="*", default=["60s", "4m"])
    parser.add_argument("--only", nargs="*", choices=list(RIVALS), default=list(RIVALS))
    parser.add_argument("--judge-by", default="log-loss", help="what tables are chosen by")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, help="rows or sentences, to try things out")
    parser.add_argument("--select", action="store_true", help="also featloom select, on chunks")
    parser.add_argument("--select-budget", default=SELECT_BUDGET)
    parser.add_argument("--out", type=Path, help="file to add lines of JSON to")
    given = parser.parse_args()
    for name in given.only:
        data, test = RIVALS[name].load(given.most)
        engine: np.ndarray | None = None
        for budget in given.budget:
            try:
                found, spent = asked(name, data, test, budget, given)
            except InputError as error:
                print(f"{name}, {budget}: not compared, {error}", flush=True)
                continue
            question, learn, units = found.question, found.learn_rows, found.test_rows
            if engine is None:  # the same seed holds out the same units, whatever the budget
                engine, took = engine_answers(RIVALS[name], question, learn, units, given.seed)
            line, chosen = line_of(name, found, budget, spent | took, engine, given.seed)
            told(line, given.out)
        if name == "chunks" and given.select and engine is not None:
            for line in selected(question, units, engine, chosen, given):
                told(line | took, given.out)


if __name__ == "__main__":
    main()
