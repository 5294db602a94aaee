"""Forged models, checksums and all, are used or refused in one line, within the memory promised."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from hashlib import blake2b
from random import Random

import numpy as np
import pytest
from campaign import BESIDE, KINDS, LIMIT, outcome
from executions import memory_bounded
from targets import targets

from featloom.errors import ReadError
from featloom.formats import models
from featloom.formats.models import load_model, save_model
from featloom.learners.memory import MemoryClassifier
from featloom.learners.parser import DependencyParser
from featloom.learners.plan_model import PlanModel
from featloom.learners.tagger import SequenceTagger
from featloom.methods.transfer import RelevancePrior
from featloom.methods.transfer.task_models import TaskModels

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells how much memory there is"
)
LEARNERS = {
    "memory model": MemoryClassifier,
    "linear model": PlanModel,
    "tagger": SequenceTagger,
    "parser": DependencyParser,
    "models of tasks": TaskModels,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.featloom"


def forged(path, kind, change, seed=0):
    """A model of a kind, after a change of its description and arrays."""
    path.write_bytes(targets()[kind].seeds[seed])
    model = load_model(path)
    arrays = {name: np.array(array) for name, array in model.arrays.items()}
    change(model.description, arrays)
    save_model(path, model.kind, model.description, arrays)


def refusal(path, kind):
    """The line that a model is refused with; memory for it is bounded."""
    learner = LEARNERS[kind]
    with memory_bounded(2**26), pytest.raises(ReadError) as told:
        learner.load(path)
    assert "\n" not in str(told.value)
    return str(told.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("kind", KINDS)
def test_forged_models_take_no_more_memory_than_promised(kind, tmp_path, monkeypatch):
    target = targets()[kind]
    for sound in target.seeds:
        assert target.fault(sound, tmp_path) is None
    monkeypatch.setattr(models, "MOST_BYTES", LIMIT)
    for seed in range(25):
        found = outcome(target, target.mutated(Random(f"{kind} sample {seed}")), tmp_path)
        assert found[0] in ("loaded", "refused"), found


def test_memory_that_nobody_counted_is_noticed(tmp_path):
    target = targets()["prior"]

    def read(path):
        np.ones((LIMIT + BESIDE) // 8 + 10**7)

    grown = type(target)("prior", "p.json", target.seeds, read)
    assert outcome(grown, b"", tmp_path)[0] == "memory"


def resealed(path, change):
    """The model's archive with its members, packed as a function does it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, *change(name, content))
        archive.comment = b"featloom model " + b"0" * 64
        listed = archive.start_dir
    content = bytearray(stream.getvalue()[:-64])
    return content, listed


def seal(path, content):
    path.write_bytes(bytes(content) + blake2b(content, digest_size=32).hexdigest().encode())


def test_a_header_of_another_compression_is_refused_unread(path):
    path.write_bytes(targets()["tagger"].seeds[0])

    def change(name, content):
        if name != "model.json":
            return (content,)
        return content + b" " * 2**25, zipfile.ZIP_BZIP2

    seal(path, resealed(path, change)[0])
    assert path.stat().st_size < 10_000
    words = "'model.json' is compressed by BZIP2; members are stored or deflated"
    assert refusal(path, "tagger") == words


def test_a_header_that_is_longer_than_it_says_is_read_no_further(path):
    path.write_bytes(targets()["tagger"].seeds[0])

    def change(name, content):
        return (content + b" " * 2**27 * (name == "model.json"),)

    content, listed = resealed(path, change)
    at = content.index(b"PK\1\2", listed)
    content[at + 24 : at + 28] = (2**20).to_bytes(4, "little")
    seal(path, content)
    assert path.stat().st_size < 2**20
    assert refusal(path, "tagger") == "the model is damaged"


def test_the_relation_table_of_a_parser_is_counted(path):
    def change(description, arrays):
        description["relations"] |= {"bits": 30, "names": ["a", "b", "c"]}

    forged(path, "parser", change)
    assert refusal(path, "parser").startswith("the model takes 12,8")
    assert refusal(path, "parser").endswith(" bytes; at most 8,589,934,592 are read")


def test_names_count_as_what_python_makes_of_them(path, monkeypatch):
    def change(description, arrays):
        arrays["classes"] = np.full(2_000_000, ord("a"), np.uint8)
        arrays["class_starts"] = np.arange(2_000_001)
        arrays["weights"] = np.zeros((0, 2_000_000), np.float32)

    forged(path, "tagger", change, seed=3)
    monkeypatch.setattr(models, "MOST_BYTES", LIMIT)
    assert refusal(path, "tagger").startswith("the model takes 5")
    assert refusal(path, "tagger").endswith(" bytes; at most 268,435,456 are read")


def test_the_pairs_of_many_labels_are_counted(path):
    def change(description, arrays):
        n = 100_000
        arrays["classes"], arrays["class_starts"] = np.full(n, ord("a"), np.uint8), np.arange(n + 1)
        arrays["weights"] = np.zeros((2, n), np.float32)

    forged(path, "tagger", change, seed=3)
    assert refusal(path, "tagger").startswith("the model takes 40,")


def test_classes_of_one_width_are_counted(path):
    def change(description, arrays):
        letters = np.full(2**20 + 60_000, ord("a"), np.uint8)
        arrays["classes"], arrays["labels"] = letters, np.arange(60_001, dtype=np.uint16)
        arrays["class_starts"] = np.append(np.arange(60_001), len(letters))
        arrays["codes"] = np.ones((60_001, 2), np.uint8)

    forged(path, "memory model", change, seed=2)
    assert refusal(path, "memory model").startswith("the model takes 251,")


def test_a_prior_of_many_tasks_is_counted(tmp_path, monkeypatch):
    path = tmp_path / "prior.json"
    content = json.loads(targets()["prior"].seeds[0])
    path.write_text(json.dumps(content | {"tasks": list(range(300_000))}))
    monkeypatch.setattr(models, "MOST_BYTES", LIMIT)
    with pytest.raises(
        ReadError, match=r"the prior takes 3\d\d,\d+,\d+ bytes; at most 268,435,456"
    ):
        RelevancePrior.load(path)
    path.write_text(" " * 2**25)
    with pytest.raises(ReadError, match="the prior takes 268,435,488 bytes; at most 268"):
        RelevancePrior.load(path)


FITS = "the model is damaged: its parts do not fit"
SHAPES = {
    "keys in a column": (
        "tagger", lambda d, a: a.update(keys_0_0=a["keys_0_0"][:, None]),
        "array 'keys_0_0' has 2 dimensions",
    ),
    "starts that wrap around": (
        "models of tasks", lambda d, a: a.update(starts=a["starts"].astype(np.int8)),
        "array 'starts' is of type int8",
    ),
    "weights that are no numbers": (
        "tagger", lambda d, a: a.update(weights=a["weights"] * np.nan),
        "array 'weights' holds a number that is not finite, or too large to add up",
    ),
    "weights without end": (
        "tagger", lambda d, a: a["pair_weights"].fill(np.inf),
        "array 'pair_weights' holds a number that is not finite, or too large to add up",
    ),
    "an array that no tagger has": (
        "tagger", lambda d, a: a.update(more=a["weights"]),
        "array 'more' is none of a model of kind 'tagger'",
    ),
    "labels that differ in number": (
        "tagger", lambda d, a: a.update(pair_weights=a["pair_weights"][:, :, :1]),
        "array 'pair_weights' has a length of 1",
    ),
    "columns that are a number": (
        "memory model", lambda d, a: d.update(columns=3),
        "Expected `array`, got `int` - at `$.columns`",
    ),
    "no codes": ("memory model", lambda d, a: a.pop("codes"), "no array 'codes'"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "change", "words"), SHAPES.values(), ids=SHAPES)
def test_arrays_are_what_the_kind_declares(path, kind, change, words):
    forged(path, kind, change)
    assert refusal(path, kind) == f"{FITS}: {words}"
