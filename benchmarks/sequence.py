"""Sequence models against CRFsuite, and the search of templates, on English chunks (CoNLL-2000).

``python benchmarks/sequence.py [--quick] [--only NAME]``; FEATLOOM_DATA names the folder with the
corpora.  26 templates (set 1 of Xu and others) and the label pair, penalty c2 = 1 as CRFsuite
counts it.  The peer is the package ``python-crfsuite``; where it is not installed a line on
standard error says so, and ours is measured alone.  Both begin with sentences in memory.  CRFsuite
is given feature strings, and making them is part of its time, as making features is of ours; they
are made template by template.  CRFsuite is trained once, ours is the fastest of three trainings.
The ratio of user CPU, which a busy machine changes less than the wall's, stands beside it.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from crfsuite_features import feature_names
from measure import Seconds, fastest, line, peak_megabytes, run_each

from featloom.data.columns import default_makers, derive, fit_makers
from featloom.data.sentences import gold_labels, split_labels, take_sentences
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.evaluation.chunks import chunk_f1, label_codes
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search import TemplateSearch
from featloom.methods.template_search.candidates import CandidateTemplates, outward
from featloom.methods.template_search.screen import PartModels, Screen

PASSES, C2, SEEDS = 10, 1.0, 5
CLOSE = 0.005  # F1 of two trainings that are the same but for chance
PEER = "CRFsuite"
TEMPLATES = Path(__file__).with_name("chunking.template").read_text().splitlines()


@functools.cache
def _chunks(quick: bool) -> tuple[NominalTable, NominalTable]:
    train, test = load("conll2000", "train"), load("conll2000", "test")
    if quick:
        train, test = take_sentences(train, np.arange(500)), take_sentences(test, np.arange(250))
    return train, test


def _tagger(threads: int = 1, seed: int = 0, **more: Any) -> SequenceTagger:
    given = more or {"templates": TEMPLATES}
    return SequenceTagger(passes=PASSES, c2=C2, n_jobs=threads, random_state=seed, **given)


def _f1(found: list[list[str]], test: NominalTable) -> float:
    return chunk_f1(*label_codes(gold_labels(test), found))


def _once(work: Callable[[], Any]) -> Seconds:
    """One run: for what takes long and has nothing to compile."""
    wall, user = time.perf_counter(), os.times().user
    value = work()
    return Seconds(time.perf_counter() - wall, os.times().user - user, value)


def _against(bench: str, ours: Seconds, theirs: Seconds | None, agree: bool, **more) -> dict:
    """A line with the ratio of user CPU as well."""
    if theirs is not None and ours.user > 0:
        more["user_ratio"] = round(theirs.user / ours.user, 2)
    return line(bench, more.pop("peer", PEER), ours, theirs, agree, **more)


def _crfsuite():
    """The peer's package; None where it is not installed."""
    try:
        import pycrfsuite
    except ImportError:
        print("python-crfsuite is not installed: pip install python-crfsuite", file=sys.stderr)
        return None
    return pycrfsuite


def _sentences(table: NominalTable) -> list[list[tuple[str, str]]]:
    """Sentences as CRFsuite's users have them: lists of words with their tags."""
    columns = [
        np.array([None, *vocabulary], dtype=object)[table.codes[:, j]].tolist()
        for j, vocabulary in enumerate(table.vocabularies)
    ]
    tokens = np.empty(len(table), dtype=object)
    tokens[:] = list(zip(*columns, strict=True))
    return split_labels(tokens, table.sequence_bounds)


def _train_crfsuite(peer, train: NominalTable, model: Path, algorithm: str, **settings) -> Seconds:
    """Feature strings and training; the value is the seconds that the strings took."""
    sentences, labels = _sentences(train), gold_labels(train)
    lines = read_templates(TEMPLATES)

    def work() -> float:
        begun = time.perf_counter()
        trainer = peer.Trainer(algorithm=algorithm, params=settings, verbose=False)
        for sentence, answer in zip(sentences, labels, strict=True):
            trainer.append(feature_names(sentence, lines), answer)
        features_s = time.perf_counter() - begun
        trainer.train(str(model))
        return features_s

    return _once(work)


def _tag_crfsuite(peer, test: NominalTable, model: Path) -> Seconds:
    """Feature strings and tagging; the value is the labels."""
    tagger = peer.Tagger()
    tagger.open(str(model))
    sentences, lines = _sentences(test), read_templates(TEMPLATES)

    def work() -> list[list[str]]:
        return [tagger.tag(feature_names(sentence, lines)) for sentence in sentences]

    return fastest(work)


def _training(quick: bool) -> list[dict]:
    """Features and training on one thread, and tagging; both tools have seen the same."""
    train, test = _chunks(quick)
    ours = fastest(lambda: _tagger().fit(train))
    tagging = fastest(lambda: ours.value.predict(test))
    n = len(test.sequence_bounds) - 1
    ours_f1, theirs, peer_tagging, told, peer_f1 = _f1(tagging.value, test), None, None, {}, None
    peer = _crfsuite()
    if peer is not None:
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder, "chunks.crfsuite")
            theirs = _train_crfsuite(peer, train, model, "l2sgd", c2=C2, max_iterations=PASSES)
            peer_tagging = _tag_crfsuite(peer, test, model)
        peer_f1 = _f1(peer_tagging.value, test)
        told = {"peer_f1": peer_f1, "peer_features_s": round(theirs.value, 3)}
    agree = peer_f1 is None or ours_f1 > peer_f1 - CLOSE
    speeds = {"sentences_a_second": round(n / tagging.wall)}
    if peer_tagging is not None:
        speeds["peer_sentences_a_second"] = round(n / peer_tagging.wall)
    return [
        _against(f"chunks, CRF, 26 templates: features and {PASSES} passes", ours, theirs, agree,
                 peer=f"{PEER}, l2sgd", f1=ours_f1, **told),
        _against(f"chunks, CRF, 26 templates: features and tagging, {n:,} sentences", tagging,
                 peer_tagging, agree, **speeds),
    ]  # fmt: skip


def _threads(quick: bool) -> list[dict]:
    """Two threads against one: the same weights to the last bit."""
    train, _ = _chunks(quick)
    one, two = (fastest(lambda n=n: _tagger(n).fit(train), times=2) for n in (1, 2))
    same = all(
        np.array_equal(getattr(one.value.model_, name), getattr(two.value.model_, name))
        for name in ("weights", "pair_weights")
    )
    return [line(f"chunks, CRF: features and {PASSES} passes, 2 threads", "our 1 thread", two, one,
                 same)]  # fmt: skip


def _seeds(quick: bool) -> list[dict]:
    """How good: ours with several seeds, CRFsuite's lbfgs until it ends."""
    train, test = _chunks(quick)
    _tagger().fit(take_sentences(train, np.arange(20)))  # compiles
    found = _once(lambda: [_tagger(2, seed).fit(train) for seed in range(SEEDS)])
    f1s = [_f1(tagger.predict(test), test) for tagger in found.value]
    of_one = Seconds(found.wall / SEEDS, found.user / SEEDS, None)
    told: dict[str, Any] = {"f1": float(np.mean(f1s)), "sd": float(np.std(f1s, ddof=1))}
    theirs, agree = None, True
    peer = None if quick else _crfsuite()
    if peer is not None:
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder, "chunks.crfsuite")
            theirs = _train_crfsuite(peer, train, model, "lbfgs", c2=C2)
            told["peer_f1"] = _f1(_tag_crfsuite(peer, test, model).value, test)
        agree = told["f1"] > told["peer_f1"] - CLOSE
    return [line(f"chunks, CRF: a training, 2 threads, mean of {SEEDS} seeds", f"{PEER}, lbfgs",
                 of_one, theirs, agree, **told)]  # fmt: skip


def _screening(quick: bool) -> list[dict]:
    """All places and pairs over derived columns, scored against CRFs with a window of two."""
    train, _ = _chunks(quick)
    table = derive(train, *fit_makers(train, default_makers(train)))
    base = [((name, o),) for o in outward(2) for name in train.columns]
    candidates = CandidateTemplates(table, 3)
    some = [places for places in [*candidates.atomic(), *candidates.pairs()] if places not in base]
    models = PartModels(table, seed=0, threads=1, c2=3.0)
    training = _once(lambda: models.train(base, 8))
    screen = Screen(models, 3)
    screen.gains(some[:8])  # compiles
    found = _once(lambda: screen.gains(some))
    each = {"templates": len(some), "ms_a_template": round(1000 * found.wall / len(some), 3)}
    each["models_s"] = round(training.wall, 3)
    sound = bool(np.isfinite(found.value).all())
    return [line(f"screening {len(some):,} templates, 1 thread", "–", found, None, sound, **each)]


def _search(quick: bool) -> list[dict]:
    """From nothing to a CRF on the templates found, two threads."""
    train, test = _chunks(quick)
    small = take_sentences(train, np.arange(60))
    TemplateSearch(max_templates=14, window=1, n_jobs=2).fit(small)  # compiles
    _tagger(2).fit(small)

    def work():
        most = 14 if quick else None
        search = TemplateSearch(max_templates=most, n_jobs=2, random_state=0).fit(train)
        return search, _tagger(2, plan=search.plan_).fit(train)

    found = _once(work)
    search, tagger = found.value
    by_hand = _f1(_tagger(2).fit(train).predict(test), test)
    told = {"templates": len(search.plan_.templates) - 1, "f1": _f1(tagger.predict(test), test)}
    return [line("template search and final CRF, 2 threads", "–", found, None, True,
                 **told, f1_by_hand=by_hand)]  # fmt: skip


def _memory(quick: bool) -> list[dict]:
    """The most memory of a process that reads the sentences and trains, and does nothing else."""
    # The peer comes first: a new process begins with the peak of the one that started it.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        theirs = pool.submit(_memory_of_peer, quick).result()
    train, _ = _chunks(quick)
    before = peak_megabytes()
    ours = _once(lambda: _tagger().fit(train))
    told = {"before_mb": round(before)}
    if theirs is not None:
        told |= {"peer_before_mb": round(theirs[0]), "peer_peak_mb": round(theirs[1])}
    return [line("chunks, CRF: memory of features and training", PEER, ours, None, True, **told)]


def _memory_of_peer(quick: bool) -> tuple[float, float] | None:
    """Peak megabytes before and after; passes do not change them, so one will do."""
    train, _ = _chunks(quick)
    peer = _crfsuite()
    if peer is None:
        return None
    before = peak_megabytes()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "chunks.crfsuite")
        _train_crfsuite(peer, train, model, "l2sgd", c2=C2, max_iterations=1)
    return before, peak_megabytes()


if __name__ == "__main__":
    if "FEATLOOM_DATA" not in os.environ:
        sys.exit("FEATLOOM_DATA does not name the folder with the corpora")
    run_each(
        {
            "training": _training,
            "threads": _threads,
            "seeds": _seeds,
            "screening": _screening,
            "search": _search,
            "memory": _memory,
        }
    )
