"""Parser files: what is loaded answers as what was saved, and what is damaged is refused."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from featloom.errors import ReadError
from featloom.features.template import Template
from featloom.formats.models import load_model, pack_strings, save_model
from featloom.learners.parser import DependencyParser

NOUNS, VERBS, ADJECTIVES = ("cat", "dog", "fish", "bird"), ("saw", "ate", "bit"), ("old", "red")


def clause(draw: random.Random) -> list[tuple]:
    """the old cat saw a fish: subject and object hang on the verb, the rest on their noun."""
    words: list[tuple[str, str, str]] = []
    for role in ("nsubj", "obj"):
        words.append((draw.choice(("the", "a")), "DET", "det"))
        words += [(draw.choice(ADJECTIVES), "ADJ", "amod")] * draw.randrange(2)
        words.append((draw.choice(NOUNS), "NOUN", role))
        if role == "nsubj":
            words.append((draw.choice(VERBS), "VERB", "root"))
    verb = next(at for at, word in enumerate(words, start=1) if word[1] == "VERB")
    tokens = []
    for at, (form, tag, relation) in enumerate(words, start=1):
        noun = next((n for n in range(at, len(words) + 1) if words[n - 1][1] == "NOUN"), 0)
        head = 0 if tag == "VERB" else verb if tag == "NOUN" else noun
        tokens.append((form, form, tag, "_", f"Length={len(form)}", head, relation))
    return tokens


def clauses(n: int, seed: int = 1) -> list[list[tuple]]:
    draw = random.Random(seed)
    return [clause(draw) for _ in range(n)]


SETTINGS = {
    "manual": {},
    "grown": {"templates": "tree", "forest": {"n_trees": 3, "most": 20}},
    "listed": {"templates": [Template((("head.upos", 0), ("mod.upos", 0), ("side", 0)))]},
    "without pilot": {"prune": 0},
    "crossing": {"decoder": "chu-liu-edmonds", "single_root": False},
    "without relations": {"relations": False},
    "derived": {
        "derived": [{"make": "suffix", "of": "form", "length": 2}],
        "templates": "tree",
        "columns": ["head.form.suffix2", "mod.upos", "side", "head.upos[+1]"],
    },
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_a_loaded_parser_has_the_weights_and_the_answers_of_the_saved(settings, tmp_path):
    parser = DependencyParser(bits=14, epochs=2, **settings).fit(clauses(40))
    parser.save(tmp_path / "trees.featloom")
    loaded = DependencyParser.load(tmp_path / "trees.featloom")
    assert np.array_equal(loaded.model_.weights, parser.model_.weights)
    # The sums are those of the same weights in the same order.
    layouts = [loaded.model_.templates.layout, parser.model_.templates.layout]
    assert all(np.array_equal(a, b) for a, b in zip(*layouts, strict=True))
    new = [*clauses(30, seed=2), [("zebra", "zebra", "X", "_", "_", 0, "root")]]
    assert loaded.predict_trees(new) == parser.predict_trees(new)
    assert loaded.evaluate(new) == parser.evaluate(new)
    assert loaded.templates_ == parser.templates_
    assert loaded.relations_ == parser.relations_


def test_a_parser_that_was_loaded_can_be_saved_again_to_the_same_file(tmp_path):
    parser = DependencyParser(bits=12, epochs=2).fit(clauses(40))
    parser.save(tmp_path / "first.featloom")
    DependencyParser.load(tmp_path / "first.featloom").save(tmp_path / "second.featloom")
    first, second = ((tmp_path / f"{n}.featloom").read_bytes() for n in ("first", "second"))
    assert first == second


def test_only_weights_that_are_not_zero_take_room(tmp_path):
    parser = DependencyParser(bits=22, epochs=2).fit(clauses(40))
    parser.save(tmp_path / "trees.featloom")
    n_weights = sum(
        np.count_nonzero(weights)
        for weights in (
            parser.model_.weights, parser._pilot.weights, parser._relation_model.weights,
        )
    )  # fmt: skip
    assert (tmp_path / "trees.featloom").stat().st_size < 8 * n_weights + 50_000 < 2**22


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """What the file of a small parser holds."""
    path = tmp_path_factory.mktemp("parser") / "trees.featloom"
    DependencyParser(bits=12, epochs=1).fit(clauses(20)).save(path)
    return load_model(path)


def shifted(steps):
    """The last weight lies beyond its table."""
    steps = steps.astype(np.uint64)
    steps[-1] += 2**20
    return steps


def turned_back(steps):
    """The last step is -1, as numbers without a sign have it."""
    steps = steps.astype(np.uint64)
    steps[-1] = 2**64 - 1
    return steps


DAMAGE = {
    "no weights": lambda d, a: a.pop("weights"),
    "a weight too many": lambda d, a: a.update(weights=np.append(a["weights"], a["weights"][:1])),
    "a weight that is no number": lambda d, a: a.update(weights=a["weights"] * np.nan),
    "weights of another type": lambda d, a: a.update(weights=a["weights"].astype(np.float64)),
    "a weight beyond the table": lambda d, a: a.update(weights_steps=shifted(a["weights_steps"])),
    "a weight too large to add up": lambda d, a: a.update(
        pilot_weights=a["pilot_weights"] * 0 + np.finfo(np.float32).max
    ),
    "a step back": lambda d, a: a.update(weights_steps=turned_back(a["weights_steps"])),
    "a value twice": lambda d, a: a.update(
        dict(zip(("values", "value_starts"), pack_strings(["a"] * sum(d["n_values"])), strict=True))
    ),
    "two weights at one place": lambda d, a: a.update(weights_steps=a["weights_steps"] * 0),
    "a value less": lambda d, a: d["n_values"].__setitem__(0, d["n_values"][0] - 1),
    "a column of no tokens": lambda d, a: d["edge_columns"].append("head.nowhere"),
    "a template of no column": lambda d, a: d["templates"].append(["head.nowhere"]),
    "an unknown parameter": lambda d, a: d["parameters"].update(depth=3),
    "an unknown decoder": lambda d, a: d["parameters"].update(decoder="guess"),
    "a huge pilot": lambda d, a: d["pilot"].update(bits=60),
    "a relation less": lambda d, a: d["relations"]["names"].clear(),
    "an unknown maker": lambda d, a: d["makers"].append({"make": "magic", "of": "form"}),
    "no edge columns": lambda d, a: d.pop("edge_columns"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_parts_that_do_not_fit_are_refused(damage, parts, tmp_path):
    from copy import deepcopy

    forged = replace(parts, description=deepcopy(parts.description), arrays=dict(parts.arrays))
    damage(forged.description, forged.arrays)
    save_model(tmp_path / "forged.featloom", "parser", forged.description, forged.arrays)
    with pytest.raises(ReadError, match=r"forged.featloom: the model is damaged"):
        DependencyParser.load(tmp_path / "forged.featloom")
