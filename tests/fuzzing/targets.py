"""What is fed with damaged files: every reader, the template parser, models, journals, reports.

A target may answer, or refuse with one of the two faults that users are told about; anything else
is a crash.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from forgeries import forged_arrays, forged_journal, forged_model
from mutations import damaged, damaged_json
from scipy import sparse

from featloom.errors import InputError

NAMES = (
    "table",
    "table, bad rows skipped",
    "table in blocks",
    "conll",
    "conllu",
    "svmlight",
    "timbl",
    "sparse",
    "sparse, forged",
    "parquet",
    "parquet in blocks",
    "any file",
    "templates",
    "weights",
    "probabilities",
    "memory model",
    "memory model, forged",
    "linear model",
    "linear model, forged",
    "tagger",
    "tagger, forged",
    "parser",
    "parser, forged",
    "models of tasks",
    "models of tasks, forged",
    "prior",
    "journal",
    "journal, forged",
    "request",
    "report",
)

TREES = [[("He", "he", "PRON", "_", "_", 2, "nsubj"), ("ran", "run", "VERB", "_", "_", 0, "root")]]
SENTENCES = [["the", "x"], ["a"]]


@dataclass(frozen=True)
class Target:
    """Something that reads a file.

    Parameters
    ----------
    name : of the target.
    file : how the damaged file is called; readers look at the ending.
    seeds : sound files, which are damaged.
    read : is given the file.
    changed : how a seed is damaged.
    """

    name: str
    file: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]
    changed: Callable[[bytes, Random, tuple[bytes, ...]], bytes] = damaged

    def crash(self, content: bytes, folder: Path) -> Exception | None:
        """What went wrong with a file, if anything did that should not."""
        error = self.fault(content, folder)
        if isinstance(error, InputError):
            if "\n" not in str(error) and str(error):
                return None
            fault = AssertionError(f"a fault in more than one line: {error!r}")
            return fault.with_traceback(error.__traceback__)
        return error

    def fault(self, content: bytes, folder: Path) -> Exception | None:
        """What a file that is read and used is answered with; None: nothing is wrong with it."""
        path = folder / self.file
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.read(path)
            except Exception as error:
                return error
        return None

    def mutated(self, random: Random) -> bytes:
        return self.changed(random.choice(self.seeds), random, self.seeds)


@lru_cache
def targets(results: tuple[bytes, ...] = ()) -> dict[str, Target]:
    """All targets by name; ``results`` are of runs, for the report."""
    found = [*_readers(), *_formats(), *_models(), *_runs((*results, _comparison()))]
    return {target.name: target for target in found}


def _as_json(content: bytes, random: Random, _: tuple[bytes, ...]) -> bytes:
    return damaged_json(content, random) if random.random() < 0.8 else damaged(content, random)


def _readers() -> list[Target]:
    from featloom.data.readers import (
        read,
        read_conll,
        read_conllu,
        read_sparse,
        read_svmlight,
        read_table,
        read_timbl,
    )
    from featloom.data.readers.parquet import read_parquet
    from featloom.data.readers.tables import read_table_blocks

    csv = (
        b'letter,next,sound\nc,a,K\nc,e,S\n"c","o ""x""",K\n?,h,C\n',
        b"verb\tnoun\tprep\tclass\nate\tpizza\twith\tV\nsaw\tman\tof\tN\n",
        b"a;b;y\n1;2;x\n3;4;z\n",
    )
    conll = (
        b"The DT B-NP\ncat NN I-NP\n\nIt PRP B-NP\nran VBD B-VP\n. . O\n",
        b"-DOCSTART- -X- O\n\nJim NNP B-PER\nran VBD O\n",
    )
    conllu = (
        b"# newdoc id = a\n# sent_id = 1\n1\tHe\the\tPRON\tPRP\tCase=Nom\t2\tnsubj\t_\t_\n"
        b"2\tran\trun\tVERB\tVBD\t_\t0\troot\t_\t_\n\n"
        b"1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t0\troot\t_\t_\n"
        b"2\tle\tle\tDET\t_\t_\t1\tdet\t_\t_\n2.1\tx\tx\tX\t_\t_\t_\t_\t_\t_\n\n",
    )
    svmlight = (b"1 3:1 7:1\n-1 1:1 2:1 # a\n", b"1 qid:4 2:1\n-1 qid:5 1:1\n")
    timbl = (b"=,=,c,a,K\n=,c,a,t,S\n", b"a b c d.\ne f g h.\n")
    return [
        Target("table", "t.csv", csv, partial(read_table, target=-1)),
        Target("table, bad rows skipped", "t.csv", csv, partial(read_table, on_bad_row="skip")),
        Target("table in blocks", "t.csv", csv, lambda path: list(read_table_blocks(path))),
        Target("conll", "t.conll", conll, read_conll),
        Target("conllu", "t.conllu", conllu, read_conllu),
        Target("svmlight", "t.svm", svmlight, read_svmlight),
        Target("timbl", "t.inst", timbl, read_timbl),
        Target("sparse", "t.npz", _sparse(), read_sparse),
        Target("sparse, forged", "t.npz", _sparse(), _read_labelled, forged_arrays),
        Target("parquet", "t.parquet", _parquet(), partial(read_parquet, target="y")),
        Target("parquet in blocks", "t.parquet", _parquet(), _read_in_blocks),
        Target("any file", "t.txt", (*csv, *conll, *conllu, *svmlight, *timbl), read),
    ]


def _sparse() -> tuple[bytes, ...]:
    stream = io.BytesIO()
    matrix = sparse.csr_matrix(np.array([[1, 0, 1], [0, 1, 0]], dtype=np.int8))
    arrays = {
        "data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr,
        "shape": matrix.shape, "format": b"csr", "y": np.array([0, 1]), "ys": np.array(["K", "S"]),
        "verb": np.array([0, 0]), "verbs": np.array(["ask"]),
    }  # fmt: skip
    np.savez(stream, **arrays)
    packed = io.BytesIO()
    sparse.save_npz(packed, matrix)
    return stream.getvalue(), packed.getvalue()


def _read_labelled(path: Path) -> None:
    from featloom.data.readers import read_sparse
    from featloom.data.readers.task_archives import read_archive

    if path.stat().st_size and b"verb.npy" in path.read_bytes():
        read_archive(path, task="verb", target="y", groups=None)
    else:
        read_sparse(path, labels=[0, 1])


def _parquet() -> tuple[bytes, ...]:
    """Files of two writers: texts, numbers, truth values and dates, in several codecs."""
    import polars as pl
    from pyarrow import parquet

    few = pl.DataFrame({"a": ["x", "y"], "b": [1, None], "y": ["K", "S"]})
    numbers = pl.Series("n", range(60))
    many = pl.select(
        a=pl.when(numbers % 7 > 0).then(pl.format("value {}", numbers % 5)),
        long=pl.lit("z").repeat_by(numbers * 5).list.join(""),
        b=numbers % 2 == 0,
        f=numbers / 3,
        d=pl.date(2020, 1, 1) + pl.duration(days=numbers),
        e=pl.format("{}", numbers % 3).cast(pl.Categorical),
        y=pl.when(numbers % 2 == 0).then(pl.lit("K")).otherwise(pl.lit("S")),
    )
    kinds = [("zstd", None, None), ("uncompressed", 20, 50), ("uncompressed", None, None)]
    streams = []
    for frame in (few, many):
        for codec, rows, size in kinds:
            streams.append(io.BytesIO())
            frame.write_parquet(
                streams[-1], compression=codec, row_group_size=rows, data_page_size=size
            )
    arrow = many.to_arrow(compat_level=pl.CompatLevel.oldest())
    for version in ("1.0", "2.0"):
        for codec, dictionary in (("none", True), ("none", False), ("snappy", True)):
            streams.append(io.BytesIO())
            how = {"data_page_version": version, "use_dictionary": dictionary}
            parquet.write_table(arrow, streams[-1], compression=codec, data_page_size=100, **how)
    return tuple(stream.getvalue() for stream in streams)


def _read_in_blocks(path: Path) -> None:
    from featloom.data.blocks_parquet import read_blocks

    list(read_blocks(path, target="y"))


def _formats() -> list[Target]:
    from featloom.formats.crfpp import read_templates
    from featloom.formats.timbl import read_probabilities, read_weights

    templates = (
        b"# unigrams\nU00:%x[-1,0]\nU01:%x[0,0]/%x[1,1]\n\nB\nB01:%x[0,1]\n",
        b"U:%x[0,0]\n*U:%x[0,0]/%x[0,1]\n",
    )
    weights = (b"# nw\n# Fea.\tWeight\n1\t0.25\n2\t0.5\n#\n\n# gr\n1\t0.1\n2\tIgnore\n#\n",)
    shares = (b"Targets : K,S.\n\nfeature # 1 Matrix: \nc\t0.5\t0.5\na\t1\t0\n\n",)
    return [
        Target("templates", "t.template", templates, read_templates),
        Target("weights", "t.wgt", weights, read_weights),
        Target("probabilities", "t.mat", shares, read_probabilities),
    ]


def _models() -> list[Target]:
    from featloom.data.table import NominalTable
    from featloom.learners.memory import MemoryClassifier
    from featloom.learners.parser import DependencyParser, explain_heads
    from featloom.learners.plan_model import PlanModel
    from featloom.learners.tagger import SequenceTagger, explain_labels
    from featloom.methods.transfer import RelevancePrior
    from featloom.methods.transfer.task_models import TaskModels

    columns = {"letter": ["c", "k"], "next": ["e", "o"], "verb": ["add", "give"]}
    table = NominalTable.from_columns(columns)

    # What is loaded must also answer, and say why: a part that does not fit may be met only then.
    def remember(path: Path) -> None:
        memory = MemoryClassifier.load(path)
        memory.predict([["c", "x"]])
        memory.explain([["c", "x"], ["k", "a"]])

    def classify(path: Path) -> None:
        model = PlanModel.load(path)
        model.predict(table)
        model.explain(table)

    def tag(path: Path) -> None:
        tagger = SequenceTagger.load(path)
        tagger.predict(SENTENCES)
        tagger.predict_nbest(SENTENCES, 2)
        explain_labels(tagger, SENTENCES)

    def parse(path: Path) -> None:
        parser = DependencyParser.load(path)
        parser.predict_trees(TREES)
        explain_heads(parser, TREES)

    def answer(path: Path) -> None:
        models = TaskModels.load(path)
        models.predict(table)
        models.explain(table)
        if models.prior is not None:
            models.prior.family_rates()

    def weigh(path: Path) -> None:
        prior = RelevancePrior.load(path)
        prior.probability(names=["dobj_a", "new_b"])
        prior.family_rates()

    with TemporaryDirectory() as folder:
        seeds = {
            "memory model": (_memories(Path(folder)), remember),
            "linear model": (_linear_models(Path(folder)), classify),
            "tagger": (_taggers(Path(folder)), tag),
            "parser": (_parsers(Path(folder)), parse),
            "models of tasks": (_task_models(Path(folder)), answer),
        }
        prior = _prior()
        prior.save(Path(folder) / "prior")
        texts = ((Path(folder) / "prior").read_bytes(),)
    found = []
    for name, (contents, use) in seeds.items():
        found.append(Target(name, "m.featloom", contents, use))
        found.append(Target(f"{name}, forged", "m.featloom", contents, use, forged_model))
    return [*found, Target("prior", "p.json", texts, weigh, _as_json)]


def _files(folder: Path, models: Iterable[Any]) -> tuple[bytes, ...]:
    """The models as the program writes them."""
    contents = []
    for model in models:
        model.save(folder / "model")
        contents.append((folder / "model").read_bytes())
    return tuple(contents)


def _memories(folder: Path) -> tuple[bytes, ...]:
    from featloom.learners.memory import MemoryClassifier

    rows, sounds = [["c", "a"], ["c", "e"], ["k", "a"]], ["K", "S", "K"]
    weighted = {"weights": [0.5, 0.25], "smoothing": 0.2, "vote": "inverse_distance"}
    models = [
        MemoryClassifier(k=1).fit(rows, sounds),
        MemoryClassifier(k=2, metric="mvdm", compat="timbl").fit(rows, [1, 2, 1]),
        MemoryClassifier(**weighted).fit(rows, np.array(sounds)),
    ]
    return _files(folder, models)


def _linear_models(folder: Path) -> tuple[bytes, ...]:
    """From weights, from an induction plan, and from a selection by description length."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from featloom.data.table import NominalTable
    from featloom.features.feature_list import FeatureList
    from featloom.learners.plan_model import PlanModel, plan_model
    from featloom.methods.induction import ConjunctionInducer

    induced = make_pipeline(ConjunctionInducer(), LogisticRegression())
    letters = {"letter": list("cckk") * 5, "next": list("aeae") * 5}
    induced.fit(NominalTable.from_columns(letters), list("KSKK") * 5)
    bare = FeatureList.of_matrix(["letter=c", "next=e"], np.array([[0, 1], [1, -1]]))
    weights = np.array([[2.0, 1.0], [-1.0, 0.5], [0.0, 0.3]], dtype=np.float32)
    models = [
        PlanModel.of(_joined(), ["letter", "next"], [[2.0, -1.0]], [0.5], ["K", "S"]),
        plan_model(induced),
        PlanModel.of(bare, [], weights, [0.5, 0.0, -0.5], ["K", "S", "C"], probabilistic=False),
    ]
    return _files(folder, models)


def _joined() -> list[Any]:
    from featloom.features.feature import Feature

    return [Feature.from_names(["letter=c", "next=e"]), Feature.from_names(["letter=k"])]


def _taggers(folder: Path) -> tuple[bytes, ...]:
    from featloom.features.plan import FeaturePlan
    from featloom.features.template import Template
    from featloom.learners.tagger import SequenceTagger

    common = {"make": "frequent", "of": "0", "number": 1, "otherwise": "0.suffix1"}
    derived = ({"make": "suffix", "of": "0", "length": 1}, common | {"values": ("the",)})
    plan = FeaturePlan(derived=derived, templates=(Template((("0.suffix1", 0), ("0", -1))),))
    lines = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B", "B1:%x[0,0]"]
    taggers = [
        SequenceTagger(templates=["U0:%x[0,0]", "B"], random_state=0),
        SequenceTagger(templates=lines, candidates=0.9, passes=2),
        SequenceTagger(templates=lines, model="memm", passes=2),
        SequenceTagger(plan=plan, model="maxent", passes=2),
    ]
    sentences, labels = [["the", "cat"], ["a", "dog"]], [["DT", "NN"], ["DT", "NN"]]
    return _files(folder, [tagger.fit(sentences, labels) for tagger in taggers])


def _parsers(folder: Path) -> tuple[bytes, ...]:
    from featloom.data.sentences import table_of_trees
    from featloom.learners.parser import DependencyParser

    trees = table_of_trees(TREES * 3)
    grown = {"templates": "tree", "forest": {"n_trees": 2, "most": 5}}
    derived = [{"make": "suffix", "of": "form", "length": 2}]
    parsers = [
        DependencyParser(epochs=1, bits=12),
        DependencyParser(epochs=1, bits=10, prune=0, relations=False, derived=derived, **grown),
        DependencyParser(epochs=1, bits=10, decoder="chu-liu-edmonds", single_root=False),
    ]
    return _files(folder, [parser.fit(trees) for parser in parsers])


def _prior() -> Any:
    from featloom.methods.transfer import RelevancePrior

    X = sparse.csr_matrix(np.array([[1, 0, 1], [0, 1, 1]] * 6))
    prior = RelevancePrior(feature_names=["dobj_a", "dobj_b", "tp_c"])
    return prior.fit({"add": (X, ["x", "y"] * 6), "give": (X, ["y", "x"] * 6)})


def _task_models(folder: Path) -> tuple[bytes, ...]:
    from featloom.features.feature_list import FeatureList
    from featloom.methods.transfer.task_models import TaskModels

    features = FeatureList.of(_joined(), ["letter", "next"])
    weights = {"add": ([[1.0, 0.0], [0.0, 2.0]], [0.5, 0.0], ["x", "y"])}
    biases = {"add": np.array([0.1, 0.2]), "give": np.array([0.3, 0.0])}
    shared = TaskModels.shared(
        features, [[1.0, 0.5], [0.0, 2.0]], ["x", "y"], biases, np.zeros(2), "verb", "sense"
    )
    models = [TaskModels.of(features, weights, "verb", "sense", _prior()), shared]
    return _files(folder, models)


def _comparison() -> bytes:
    """The result of a small comparison of methods."""
    from featloom.data.table import NominalTable
    from featloom.discover.front import discover
    from featloom.runs import encode_result

    letters = [(a, b) for a in "ckg" for b in "aeio"] * 5
    table = NominalTable.from_columns(
        {"letter": [a for a, _ in letters], "next": [b for _, b in letters]},
        labels=["S" if b in "ei" and a == "c" else "K" for a, b in letters],
    )
    only = ["linear model", "induction", "memory"]
    found = discover(table, only=only, budget=None, n_jobs=1)
    head = {"schema": 2, "command": "featloom discover x.csv", "versions": {}, "seed": 0}
    return encode_result({**head, "timing": {"total_s": 1.0}, **found.result})


def _runs(results: tuple[bytes, ...]) -> list[Target]:
    from featloom.cli.session import read_request
    from featloom.report.page import report_html
    from featloom.runs import Run, read_result
    from featloom.search import Journal, fingerprint

    with TemporaryDirectory() as folder:
        path = Path(folder) / "j"
        with Journal(path, data=fingerprint("d"), search={"m": 1}) as journal:
            for k in range(3):
                journal.append({"k": k}, {"score": k / 3}, seconds=0.1, elapsed=0.1 * k)
            journal.record_stop(3, "budget")
        journal_bytes = path.read_bytes()

    def opened(path: Path) -> None:
        for beside in path.parent.glob(f"{path.name}-*"):
            beside.unlink()
        with Journal(path, data=fingerprint("d"), search={"m": 1}) as journal:
            scores = [evaluation.score for evaluation in journal]
            journal.append({"k": "new"}, sum(scores, 0.0), seconds=0.1, elapsed=journal.elapsed)

    def request(path: Path) -> None:
        read_request(Run(path.parent))

    asked = (b'{"command": "memory", "options": {"data": "x.csv", "budget": 3}}',)
    return [
        Target("journal", "s.journal", (journal_bytes,), opened),
        Target("journal, forged", "s.journal", (journal_bytes,), opened, forged_journal),
        Target("request", "request.json", asked, request, _as_json),
        Target(
            "report", "result.json", results,
            lambda path: report_html(read_result(path)),
            lambda content, random, _: damaged_json(content, random),
        ),
    ]  # fmt: skip
