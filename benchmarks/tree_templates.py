"""Decision trees on the edges of sentences against Weka's J48 and scikit-learn, and the parser.

``python benchmarks/tree_templates.py [--quick] [--only NAME]``; FEATLOOM_DATA names the folder with
the corpora.  Rows of the trees are edges of the Portuguese treebank UD Bosque, in the 14 columns
that the parser grows templates on.  J48 is the C4.5 of Debian's package ``weka``; where it is not
installed a line on standard error says so, and ours is measured alone.  Its time is what it prints
for building the model, from rows in memory as ours; that of its whole process, which reads the rows
from a file, stands beside it, less what it prints for a test that nobody asked for.  It grows and
prunes by the same rules (``-S``: no subtree is raised), so both should end with the same nodes and
the same errors.  scikit-learn knows splits in two alone: it is given a column for every value and
grows another tree, unpruned.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from measure import Seconds, fastest, line, peak_megabytes, run_each

from featloom.data.edges import Candidates, EdgeReader, edge_table
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.learners.edge_model import EdgeModel, ParserTraining
from featloom.learners.parser import FOREST, DependencyParser
from featloom.learners.parser_templates import edge_columns
from featloom.learners.tree import MultiwayTree, grow_tree, prune_by_error

DEPTH = 6
EDGES = {"small": 28_000, "middle": 200_000, "large": 915_000}
FEW_SENTENCES = 1_000  # that the parser is compared on with figures from elsewhere
WEKA = Path("/usr/share/java/weka.jar")
J48 = "weka.classifiers.trees.J48 -S -C 0.25 -M 2 -no-cv"
# Started in between, so that the peak of this process does not count as the peer's.
_LAUNCH = """\
import json, resource, subprocess, sys, time
begun = time.perf_counter()
subprocess.run(sys.argv[2:], check=True, stdout=open(sys.argv[1], "wb"))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.perf_counter() - begun, used.ru_utime, used.ru_maxrss / 1024]))
"""


@functools.cache
def _trees(part: str, quick: bool) -> NominalTable:
    table = load("bosque", part)
    return _first(table, 200) if quick else table


def _first(table: NominalTable, n: int) -> NominalTable:
    """The first n sentences, with their heads."""
    bounds = table.sequence_bounds[: n + 1]
    rows = np.arange(bounds[-1])
    return replace(table.take(rows), sequence_bounds=bounds, heads=table.heads[rows])


def _n_sentences(table: NominalTable) -> int:
    return len(table.sequence_bounds) - 1


def _edges(table: NominalTable) -> NominalTable:
    reader = EdgeReader.of(table, edge_columns(table))
    return edge_table(reader, reader.read(table))


def _some_edges(n: int) -> NominalTable:
    """The edges of as many sentences as have n, with the values that they have and no others."""
    table = load("bosque", "train")
    lengths = np.diff(table.sequence_bounds).astype(np.int64)
    enough = int(np.searchsorted(np.cumsum(lengths**2), n)) + 1
    edges = _edges(_first(table, enough))
    vocabularies = []
    for j, vocabulary in enumerate(edges.vocabularies):
        met, edges.codes[:, j] = np.unique(edges.codes[:, j], return_inverse=True)
        edges.codes[:, j] += met[0] > 0
        vocabularies.append(tuple(vocabulary[code - 1] for code in met if code > 0))
    return replace(edges, vocabularies=tuple(vocabularies))


def _once(work: Callable[[], Any]) -> Seconds:
    """One run: for what takes long, or must be the first of its process."""
    wall, user = time.perf_counter(), os.times().user
    value = work()
    return Seconds(time.perf_counter() - wall, os.times().user - user, value)


def _whole(quick: bool) -> list[dict]:
    """One tree on all edges of the training part."""
    edges = _edges(_trees("train", quick))
    told = {"rows": len(edges), "before_mb": round(peak_megabytes())}
    ours = fastest(lambda: grow_tree(edges, max_depth=DEPTH))
    told |= {"internal": ours.value.n_internal, "nodes": len(ours.value)}
    name = f"tree on {len(edges):,} edges × {len(edges.columns)} columns, depth {DEPTH}"
    return [line(f"{name}, 1 thread", "–", ours, None, True, **told)]


def _pruned_tree(edges: NominalTable) -> MultiwayTree:
    return prune_by_error(grow_tree(edges))


def _leaf_errors(tree: MultiwayTree) -> int:
    return int(tree.errors[tree.is_leaf].sum())


def _against_j48(size: str, quick: bool) -> list[dict]:
    """Grown and pruned; the answers agree if the two have as many nodes and make as many errors."""
    edges = _some_edges(EDGES[size] // (20 if quick else 1))
    ours = fastest(lambda: _pruned_tree(edges))
    told: dict[str, Any] = {"rows": len(edges), "peak_mb": round(peak_megabytes())}
    told |= {"internal": ours.value.n_internal, "errors": _leaf_errors(ours.value)}
    theirs, agree = None, True
    if WEKA.exists():
        theirs, more = _j48(edges)
        told |= more
        agree = all(told[key] == told[f"peer_{key}"] for key in ("internal", "errors"))
    else:
        print(f"{WEKA} is not there: apt-get install weka", file=sys.stderr)
    name = f"tree on {len(edges):,} edges, grown and pruned"
    return [line(name, "Weka J48", ours, theirs, agree, **told)]


def _j48(edges: NominalTable) -> tuple[Seconds, dict[str, Any]]:
    """Its seconds for building, with the user CPU of the whole process; and what it built."""
    with tempfile.TemporaryDirectory() as folder:
        rows, answer = Path(folder, "edges.arff"), Path(folder, "tree.txt")
        _write_arff(edges, rows)
        java = f"java -Xmx9g -XX:+UseSerialGC -cp {WEKA} {J48} -t {rows}".split()
        command = [sys.executable, "-S", "-c", _LAUNCH, str(answer), *java]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        wall, user, peak = json.loads(told)
        text = answer.read_text()
    size, leaves, build_s, test_s = (
        float(re.search(pattern, text)[1])
        for pattern in (
            r"Size of the tree :\s*(\d+)",
            r"Number of Leaves\s*:\s*(\d+)",
            r"Time taken to build model: ([\d.]+) seconds",
            r"Time taken to test model on training data: ([\d.]+) seconds",
        )
    )
    wrong = re.findall(r": \S+ \([\d.]+/([\d.]+)\)$", text, flags=re.MULTILINE)
    return Seconds(build_s, user, None), {
        "peer_internal": int(size - leaves),
        "peer_errors": round(sum(map(float, wrong))),
        "peer_process_s": round(wall - test_s, 3),
        "peer_peak_mb": round(peak),
    }


def _write_arff(edges: NominalTable, path: Path) -> None:
    """Weka's format; values are numbers, whose signs it cannot take for its own."""
    with path.open("w") as file:
        file.write("@relation edges\n")
        for j, vocabulary in enumerate(edges.vocabularies):
            values = ",".join(map(str, range(1, len(vocabulary) + 1)))
            file.write(f"@attribute c{j} {{{values}}}\n")
        file.write(f"@attribute class {{{','.join(edges.classes)}}}\n@data\n")
        for first in range(0, len(edges), 100_000):
            codes = edges.codes[first : first + 100_000].tolist()
            labels = edges.labels[first : first + 100_000].tolist()
            file.writelines(
                f"{','.join(map(str, row))},{edges.classes[label]}\n"
                for row, label in zip(codes, labels, strict=True)
            )


def _against_sklearn(quick: bool) -> list[dict]:
    """Grown to the end, on the same rows; different trees, so nothing is there to agree."""
    n = EDGES["large"] // (20 if quick else 1)
    # The peer comes first: a new process begins with the peak of the one that started it.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        theirs, more = pool.submit(_sklearn, n).result()
    edges = _some_edges(n)
    ours = fastest(lambda: _pruned_tree(edges))
    told = {"rows": len(edges), "internal": ours.value.n_internal, **more}
    name = f"tree on {len(edges):,} edges, grown and pruned"
    return [line(name, "scikit-learn, one-hot, not pruned", ours, theirs, True, **told)]


def _sklearn(n: int) -> tuple[Seconds, dict[str, Any]]:
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    edges = _some_edges(n)
    ones = OneHotEncoder(dtype=np.float32).fit_transform(edges.codes).tocsc()
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0)
    found = _once(lambda: tree.fit(ones, edges.labels))
    told = {"peer_internal": int((tree.tree_.children_left >= 0).sum())}
    told["peer_peak_mb"] = round(peak_megabytes())
    return Seconds(found.wall, found.user, None), told


def _parser(**settings: Any) -> DependencyParser:
    return DependencyParser(relations=False, random_state=0, **settings)


def _scoring(quick: bool) -> list[dict]:
    """Every edge of the development part hashed, scored and decoded, on one thread."""
    few = _first(_trees("train", quick), 200)
    results = []
    for between in (False, True):
        parser = _parser(between=between, prune=0, epochs=1).fit(few)
        edges = parser._reader.read(_trees("valid", quick))
        every = Candidates.all(edges)
        ours = fastest(lambda p=parser, e=edges, c=every: p.model_.parse(e, c))
        name = f"parsing {len(edges):,} sentences, all {edges.n_edges:,} edges, "
        name += f"{len(parser.templates_)} manual templates"
        name += ", sets of tags between included" if between else ""
        told = {
            "edges_a_second": round(edges.n_edges / ours.wall),
            # Those of the modifier alone are the same for all its heads, and left out.
            "templates_that_count": len(parser.model_.templates),
        }
        results.append(line(f"{name}, 1 thread", "–", ours, None, True, **told))
    return results


def _epoch(quick: bool) -> list[dict]:
    """One pass of training: over all edges, and over those that the pilot leaves."""
    train, once = _trees("train", quick), ParserTraining(epochs=1)
    results = []
    for prune in (0, DependencyParser().prune):
        parser = _parser(prune=prune, epochs=1)
        parser.fit(_first(train, 50))  # compiles
        found = _once(lambda p=parser: p.fit(train))
        edges = parser._reader.read(train)
        candidates = parser._candidates(edges)
        model = EdgeModel(parser.model_.templates, single_root=parser.single_root_)
        ours = _once(lambda m=model, e=edges, c=candidates: m.train(e, c, once))
        told = {"edges": len(candidates.heads), "fit_s": round(found.wall, 3)}
        name = f"one epoch of MIRA, {len(edges):,} sentences, {len(candidates.heads):,} edges"
        results.append(line(name + (" left by the pilot" if prune else ""), "–", ours, None, True,
                            **told))  # fmt: skip
    return results


def _start_to_end(quick: bool) -> list[dict]:
    """What a user waits for: read, train, parse the test part, in a process that does only this."""

    def work() -> DependencyParser:
        parser = _parser(epochs=3).fit(_trees("train", quick))
        return parser, parser.score(_trees("test", quick))

    ours = _once(work)
    return [line("parser from files: 3 epochs, then the test part, 1 thread", "–", ours, None,
                 True, uas=ours.value[1])]  # fmt: skip


def _few(quick: bool) -> list[dict]:
    """A small training set, many passes: there are figures of MSTParser for the same."""
    train, parts = _trees("train", quick), ("valid", "test")
    few = _first(train, FEW_SENTENCES)
    _parser(epochs=1).fit(_first(train, 50))  # compiles
    ours = _once(lambda: _parser(epochs=10).fit(few))
    told = {f"uas_{part}": ours.value.score(_trees(part, quick)) for part in parts}
    name = f"parser: {_n_sentences(few):,} sentences, 10 epochs, 1 thread"
    return [line(name, "–", ours, None, True, **told)]


def _forest(quick: bool) -> list[dict]:
    """The templates that the parser grows where it is told to, and it trained with them."""
    train, test = _trees("train", quick), _trees("test", quick)
    _parser(templates="tree", epochs=1).fit(_first(train, 50))  # compiles
    reached: dict[tuple[str, int], float] = {}

    def note(what: str, done: int, _: int) -> None:
        reached.setdefault((what, done), time.perf_counter())

    parser = _parser(templates="tree", progress=note)
    ours = _once(lambda: parser.fit(train))
    grow_s = reached["training", 1] - reached["growing templates", 0]
    told = {"templates": len(parser.templates_), "grow_and_first_epoch_s": round(grow_s, 3)}
    name = f"parser with templates of {FOREST['n_trees']} trees, grown and trained, 1 thread"
    return [line(name, "–", ours, None, True, **told, uas_test=parser.score(test))]


def _threads(quick: bool) -> list[dict]:
    """Two threads against one: the same heads."""
    parser = _parser(epochs=1).fit(_trees("train", quick))
    test = _trees("test", quick)

    def parse(threads: int) -> list[list[int]]:
        return parser.set_params(n_jobs=threads).predict(test)

    one, two = (fastest(lambda n=n: parse(n)) for n in (1, 2))
    n = _n_sentences(test)
    told = {"sentences_a_second": round(n / two.wall)}
    return [line(f"parsing {n:,} sentences with the pilot, 2 threads", "our 1 thread", two, one,
                 one.value == two.value, **told)]  # fmt: skip


def _file(quick: bool) -> list[dict]:
    """The model file: how large, and how soon it is loaded."""
    parser = DependencyParser(random_state=0, epochs=5).fit(_trees("train", quick))
    test = _trees("test", quick)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "parser.featloom")
        saving = fastest(lambda: parser.save(path), times=1)
        ours = fastest(lambda: DependencyParser.load(path))
        size = path.stat().st_size / 2**20
    same = ours.value.predict_trees(test) == parser.predict_trees(test)
    told = {"file_mb": round(size, 1), "save_s": round(saving.wall, 3)}
    return [line(f"parser with relations, loaded from {size:.1f} MB", "–", ours, None, same,
                 **told)]  # fmt: skip


if __name__ == "__main__":
    if "FEATLOOM_DATA" not in os.environ:
        sys.exit("FEATLOOM_DATA does not name the folder with the corpora")
    run_each(
        {
            "whole": _whole,
            **{f"j48_{size}": functools.partial(_against_j48, size) for size in EDGES},
            "sklearn": _against_sklearn,
            "scoring": _scoring,
            "epoch": _epoch,
            "start_to_end": _start_to_end,
            "few": _few,
            "forest": _forest,
            "threads": _threads,
            "file": _file,
        }
    )
