"""A small real result and a hostile one.

The real one asks how the first "c" of an English word sounds (K, S or CH) from the letter before
it, the second letter after it and the last of the word (the letter right after it would tell all);
everything in it is counted or cross-validated here, in a second.  Features are chosen on all rows,
so its accuracies are too kind: the page has to show them, not to believe them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

WORDS = {
    "kitchen": {
        "K": "cake corn cup carrot cook cream crust clove curry coffee",
        "S": "rice juice spice celery cereal slice sauce citrus cinnamon",
        "CH": "chop cheese cherry chicken chilli peach lunch",
    },
    "court": {
        "K": "case claim court crime contract acquit custody clerk counsel",
        "S": "justice police sentence office evidence notice citizen",
        "CH": "charge search chief breach church",
    },
    "laboratory": {
        "K": "cold culture carbon action current cloud copper scale",
        "S": "acid cell force circuit process precise ice",
        "CH": "chart branch change batch",
    },
}
CLASSES = ["K", "S", "CH"]
HOSTILE_NAMES = [
    "<script>alert(1)</script>",
    "</script><script>document.title='broken'</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "<!-- ]]> -->",
    "عربي\u202eabc\u202c=עברית",
    "nul\x00 tab\t line\n separator\u2028 end",
    "x" * 500,
    "word " * 100,
    "&lt;b&gt; &amp; 'quoted' `ticks` \\u003c",
]


def _rows() -> list[tuple[dict[str, str], str]]:
    rows = []
    for field, sounds in WORDS.items():
        for sound, words in sounds.items():
            for word in words.split():
                place = word.index("c")
                padded = f"_{word}__"
                letters = {"Prev": padded[place], "Next2": padded[place + 3]}
                letters |= {"Last": word[-1], "Domain": field}
                rows.append((letters, sound))
    return rows


def _mutual_information(held: list[bool], sounds: list[str]) -> float:
    pairs, n = Counter(zip(held, sounds, strict=True)), len(held)
    left, right = Counter(held), Counter(sounds)
    return sum(
        count / n * math.log2(count * n / (left[a] * right[b])) for (a, b), count in pairs.items()
    )


def _found(parts: list[str], rows, weight: float | None = None) -> dict:
    held = [all(f"{p}={letters[p]}" in parts for p in _families(parts)) for letters, _ in rows]
    sounds = [sound for _, sound in rows]
    counts = Counter(sound for inside, sound in zip(held, sounds, strict=True) if inside)
    return {
        "name": " & ".join(parts),
        "parts": parts,
        "length": len(parts),
        "support": sum(held),
        "class_counts": [counts[sound] for sound in CLASSES],
        "score": _mutual_information(held, sounds),
        "weight": weight,
        "domain": any(part.startswith("Domain=") for part in parts),
        "held": held,
    }


def _families(parts: list[str]) -> list[str]:
    return [part.partition("=")[0] for part in parts]


def _histogram(features: list[dict]) -> dict:
    counts, edges = np.histogram([found["score"] for found in features], bins=20)
    return {"edges": edges, "counts": counts}


@pytest.fixture(scope="session")
def sample_result() -> dict:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict, cross_val_score

    rows = _rows()
    sounds = np.array([sound for _, sound in rows])
    names = sorted({f"{p}={letters[p]}" for letters, _ in rows for p in letters})
    atomic = [_found([name], rows) for name in names]
    pairs = [
        _found([a, b], rows)
        for a, b in itertools.combinations(names, 2)
        if _families([a]) != _families([b])
    ]
    supported = [found for found in pairs if found["support"] >= 2]
    for features in (atomic, supported):
        features.sort(key=lambda found: -found["score"])

    def matrix(features: list[dict]) -> np.ndarray:
        return np.array([found["held"] for found in features], dtype=float).T

    model = LogisticRegression()
    models, guesses = [], []
    for name, used in [
        ("logistic regression, atomic features", atomic),
        ("logistic regression, with conjunctions", atomic[:20] + supported[:20]),
    ]:
        scores = cross_val_score(model, matrix(used), sounds, cv=5)
        half = 2 * scores.std(ddof=1) / math.sqrt(len(scores))
        interval = [scores.mean() - half, scores.mean() + half]
        models.append({"name": name, "metric": "accuracy", "value": scores.mean()})
        models[-1] |= {"interval": interval, "features": len(used)}
        guesses.append(cross_val_predict(model, matrix(used), sounds, cv=5) == sounds)
    from scipy.stats import binomtest

    only_first, only_second = sum(guesses[0] & ~guesses[1]), sum(guesses[1] & ~guesses[0])
    p = binomtest(int(only_first), int(only_first + only_second) or 1).pvalue
    cells = []
    for k, l in itertools.product((0.25, 0.5, 1.0), (0, 5, 20)):  # noqa: E741
        used = atomic[: round(k * len(atomic))] + supported[:l]
        scores = cross_val_score(model, matrix(used), sounds, cv=3)
        cells.append({"k": k, "l": l, "mean": scores.mean(), "sd": scores.std()})
        cells[-1]["features"] = len(used)
    best = max(cells, key=lambda cell: cell["mean"])
    fitted = model.fit(matrix(atomic[:20] + supported[:20]), sounds)
    for found, weight in zip(supported[:20], fitted.coef_[0][20:], strict=True):
        found["weight"] = weight
    histograms = {"atomic": _histogram(atomic), "conjunctions": _histogram(supported)}
    for found in atomic + pairs:
        del found["held"]
    sizes = Counter(_families(names))
    return {
        "schema": 1,
        "kind": "induction",
        "command": "featloom induce letter-c.tsv --target sound --out runs/letter-c",
        "versions": {"featloom": "0.1.0", "python": "3.11"},
        "seed": 0,
        "timing": {"read_s": 0.01, "fit_s": 0.2, "total_s": 0.3, "user_s": 0.2},
        "data": {
            "source": "letter-c",
            "rows": len(rows),
            "features": len(names),
            "classes": {sound: int((sounds == sound).sum()) for sound in CLASSES},
            "groups": 3,
            "target": "sound",
            "families": [
                {"name": name, "features": size, "single_valued": True}
                for name, size in sizes.items()
            ],
            "warnings": ["the first c of a word only"],
        },
        "parameters": {"score": "mi", "keep": 1.0, "max_length": 2, "feature_groups": None},
        "verdict": "Conjunctions of neighbouring letters were tried on three classes.",
        "induction": {
            "score_name": "mi",
            "score_label": "mutual information (bits)",
            "histograms": histograms,
            "kept": {"atomic": len(atomic), "conjunctions": len(supported)},
            "conjunctions": supported[:60],
            "atomic": atomic,
            "dropped": [
                {
                    "reason": "pairs that hold in one row or none",
                    "count": len(pairs) - len(supported),
                }
            ],
        },
        "models": models,
        "grid": {
            "k": [0.25, 0.5, 1.0],
            "l": [0, 5, 20],
            "cells": cells,
            "chosen": {"k": best["k"], "l": best["l"]},
            "metric": "accuracy",
        },
        "comparisons": [
            {
                "a": models[1]["name"],
                "b": models[0]["name"],
                "difference": models[1]["value"] - models[0]["value"],
                "p": p,
                "significant": bool(p < 0.05),
            }
        ],
    }


@pytest.fixture(scope="session")
def hostile_result() -> dict:
    names = HOSTILE_NAMES
    pairs = list(itertools.product(names, names))
    return {
        "schema": 1,
        "kind": "induction",
        "command": f"featloom induce '{names[1]}'",
        "versions": {names[0]: names[1]},
        "seed": -1,
        "timing": {names[0]: 1.0, "total_s": None},
        "data": {
            "source": names[1],
            "rows": 0,
            "features": 10**12,
            "classes": {name: i for i, name in enumerate(names)},
            "target": names[2],
            "families": [
                {"name": f"{names[i % len(names)]}{i}", "features": i, "single_valued": None}
                for i in range(200)
            ],
            "warnings": names,
        },
        "parameters": {name: name for name in names},
        "verdict": " ".join(names),
        "induction": {
            "score_label": names[1],
            "histograms": {
                names[1]: {"edges": [0, 0], "counts": [0]},
                "atomic": {"edges": [1e-9, float("nan")], "counts": [3]},
                "conjunctions": {"edges": [], "counts": []},
            },
            "conjunctions": [
                {
                    "name": f"{a} & {b}",
                    "parts": [a, b],
                    "class_counts": list(range(len(names))),
                    "score": float("nan") if a == b else 1e-12,
                    "weight": None,
                    "domain": a == names[0],
                }
                for a, b in pairs
            ],
            "atomic": [{"name": name} for name in names],
            "dropped": [{"reason": name, "count": None} for name in names],
        },
        "models": [
            {"name": name, "metric": names[0], "value": 0.5, "interval": [float("nan"), 1.0]}
            for name in names
        ],
        "grid": {"cells": [{"k": 1, "l": 1, "mean": 0.5, "features": 0}], "metric": names[1]},
        "comparisons": [{"a": name, "b": name} for name in names],
    }
