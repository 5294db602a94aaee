"""Model files written before their parts were declared load, answer as then, and are written so.

Each learned from a handful of made-up rows; ``answers.json`` holds what it answered then.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from featloom.data.table import NominalTable
from featloom.errors import ReadError
from featloom.formats.models import load_model, save_model
from featloom.learners.memory import MemoryClassifier
from featloom.learners.parser import DependencyParser, explain_heads
from featloom.learners.plan_model import PlanModel
from featloom.learners.tagger import SequenceTagger, explain_labels
from featloom.methods.transfer import RelevancePrior
from featloom.methods.transfer.task_models import TaskModels

FOLDER = Path(__file__).parent / "written_before"
TREES = [[("He", "he", "PRON", "_", "_"), ("ran", "run", "VERB", "_", "_")]]
ROWS = {"letter": ["c", "k"], "next": ["e", "o"], "verb": ["add", "give"]}
TABLE = NominalTable.from_columns(ROWS)
SENTENCES = [["the", "x", "cat"], ["a"]]


def of_parser(path):
    parser = DependencyParser.load(path)
    why = [str(token.reasons) for token in explain_heads(parser, TREES)[0]]
    return parser, [parser.predict_trees(TREES), why]


def of_tagger(path):
    tagger = SequenceTagger.load(path)
    why = [reasons.features for reasons in explain_labels(tagger, SENTENCES)[0]]
    shares = [table.tolist() for table in tagger.predict_proba(SENTENCES)]
    return tagger, [tagger.predict(SENTENCES), shares, why]


def of_memory(path):
    memory, cases = MemoryClassifier.load(path), [["c", "x"], ["k", "a"]]
    return memory, [memory.predict(cases).tolist(), memory.predict_proba(cases).tolist()]


def of_linear(path):
    model = PlanModel.load(path)
    return model, [model.predict(TABLE).tolist(), model.scores(TABLE).tolist()]


def of_tasks(path):
    models = TaskModels.load(path)
    margins = [reasons.margin for reasons in models.explain(TABLE)]
    return models, [models.predict(TABLE).tolist(), margins, models.prior.probability().tolist()]


def of_prior(path):
    prior = RelevancePrior.load(path)
    return prior, prior.cost().tolist()


ANSWERED = {
    "memory.featloom": of_memory,
    "linear.featloom": of_linear,
    "tagger.featloom": of_tagger,
    "parser.featloom": of_parser,
    "parser_with_pilot.featloom": of_parser,
    "tasks.featloom": of_tasks,
    "prior.json": of_prior,
}


def rounded(answer):
    if isinstance(answer, float):
        return round(answer, 6)
    return [rounded(part) for part in answer] if isinstance(answer, list | tuple) else answer


@pytest.mark.parametrize("name", ANSWERED)
def test_a_file_that_was_written_before_answers_as_then(name, tmp_path):
    path = FOLDER / name
    learner, answer = ANSWERED[name](path)
    then = json.loads((FOLDER / "answers.json").read_text())
    assert rounded(answer) == rounded(then[name])
    learner.save(tmp_path / name)
    if name == "prior.json":
        assert (tmp_path / name).read_bytes() == path.read_bytes()
        return
    model, again = load_model(path), load_model(tmp_path / name)
    assert again.description == model.description
    assert again.arrays.keys() == model.arrays.keys()
    assert all(np.array_equal(again.arrays[key], model.arrays[key]) for key in model.arrays)


@pytest.mark.parametrize("name", [name for name in ANSWERED if name != "prior.json"])
def test_any_byte_that_changed_and_any_other_kind_is_noticed(name, tmp_path):
    content, path = (FOLDER / name).read_bytes(), tmp_path / name
    for place in [*range(0, len(content), 97), len(content) - 1]:
        bent = bytearray(content)
        bent[place] ^= 1 << place % 8
        path.write_bytes(bent)
        with pytest.raises(ReadError, match=f"{name}: (the model is damaged|not a featloom)"):
            ANSWERED[name](path)
    kind = load_model(FOLDER / name).kind
    save_model(path, "letters", {}, {})
    with pytest.raises(ReadError, match=f"a model of kind 'letters'; '{kind}' is expected"):
        ANSWERED[name](path)
