"""A small real result of induction, one of memory-based learning, and hostile ones.

The real one asks how the first "c" of an English word sounds (K, S or CH) from the letter before
it, the second letter after it and the last of the word (the letter right after it would tell all);
everything in it is counted or cross-validated here, in a second.  Features are chosen on all rows,
so its accuracies are too kind: the page has to show them, not to believe them.

The result of memory-based learning has the shape of the paper's (Kool, Zavrel and Daelemans 2000),
with its own published figures for two tasks beside invented ones of ours.
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


TAGGING = ["tag-2", "tag-1", "tag+1", "tag+2", "last-3", "last-2", "last-1", "hyphen", "capital"]
LETTERS = ["l3", "l2", "l1", "focus", "r1", "r2", "r3"]
STRATEGIES = {"EX": "exhaustive", "GA": "genetic", "BA": "backward", "FO": "forward"}
PUBLISHED = {
    "unknown words": [82.63, 85.43, 84.39, 84.39, 84.54, 84.88, 85.15, 84.97],
    "letter to sound": [81.62, 81.69, 81.56, 81.56, 81.62, 81.99, 81.45, 81.62],
}
WEIGHTS = ["none", "gain_ratio", "information_gain", "chi_squared", "shared_variance"]
MODES = ["overlap", "mvdm", "ignore"]


def _memory_settings(features: list[str], published: list[float]) -> list[dict]:
    names = [("DE", "default", "default"), ("EX", "default", "exhaustive")]
    searches = ("GA", "BA", "FO")
    names += [(code, STRATEGIES[code], "default") for code in searches]
    names += [(code, STRATEGIES[code], STRATEGIES[code]) for code in searches]
    settings = []
    for place, ((code, by, parameters), figure) in enumerate(zip(names, published, strict=True)):
        plain = by == "default"
        modes = [
            ("mvdm" if code == "EX" else "overlap")
            if plain
            else MODES[(place * j + j * j // 2) % 3]
            for j in range(len(features))
        ]
        scope = {"DE": "default", "EX": "exhaustive, parameters"}.get(code)
        settings.append(
            {
                "name": scope or f"{by}, {'features' if parameters == 'default' else 'all'}",
                "method": code,
                "features_by": by,
                "parameters_by": parameters,
                "k": 1 if parameters == "default" else 2 * place + 1,
                "weights": WEIGHTS[place % 5],
                "modes": modes,
                "validation": (figure + 1.23) / 100,
                "test": (figure + 0.87) / 100,
                "fits": [1, 110, 640, 63, 71, 1380, 1204, 890][place],
                "published": figure,
                "published_setting": f"k={2 * place + 1}",
            }
        )
    return settings


def _memory_curves() -> list[dict]:
    ks = list(range(1, 22, 2))
    slopes = {"none": 0.011, "overlap": 0.003, "mvdm": -0.0004}
    return [
        {
            "weights": weights,
            "metric": metric,
            "k": ks,
            "score": [
                0.83
                + 0.002 * place
                + (0.02 * (1 - 1 / k) if metric == "mvdm" else 0)
                - slopes["none" if weights == "none" and metric == "overlap" else metric] * (k - 1)
                for k in ks
            ],
        }
        for place, weights in enumerate(WEIGHTS)
        for metric in ("overlap", "mvdm")
    ]


def _memory_trajectories() -> list[dict]:
    found = []
    for place, (name, last) in enumerate(
        zip(STRATEGIES.values(), (110, 1380, 1204, 890), strict=True)
    ):
        for seed in range(5 if name == "genetic" else 1):
            fits = sorted({round(last ** (j / 12)) for j in range(13)})
            start = 0.08 if name == "forward" else 0.8
            end = 0.853 + 0.001 * place + 0.0007 * seed
            rise = [min(1.0, (1.3 * j / (len(fits) - 1)) ** 0.3) for j in range(len(fits))]
            best = [start + (end - start) * share for share in rise]
            found.append({"name": name, "fits": fits, "best": best, "seed": seed})
    return found


def _memory_matrix(names: list[str]) -> dict:
    from scipy.stats import binomtest, chi2

    size = len(names)
    only = [[0 if i == j else 60 + (37 * i * i) % 90 for j in range(size)] for i in range(size)]
    p: list = [[None] * size for _ in names]
    approximate: list = [[None] * size for _ in names]
    for i, j in itertools.permutations(range(size), 2):
        here, there = only[i][j], only[j][i]
        p[i][j] = binomtest(here, here + there).pvalue
        approximate[i][j] = chi2.sf((abs(here - there) - 1) ** 2 / (here + there), 1)
    return {"names": names, "p": p, "chi2_p": approximate, "first_only": only}


def _memory_truth(settings: list[dict]) -> dict:
    rows = [
        {"strategy": name, "seeds": 10, "found": found, "median_rank": rank, "worst_rank": 9 * rank}
        | {"median_fits": 120.5 * rank, "max_fits": 2000, "note": note}
        for name, found, rank, note in [
            ("genetic", 6, 1.0, "population 20"),
            ("backward", 0, 14.0, ""),
            ("forward", 10, 1.0, "one run: it draws no lots"),
        ]
    ]
    truth = {"settings": 120_285, "fits": 120_285, "best": 0.8581, "best_settings": settings[5:7]}
    return truth | {"rows": rows}


@pytest.fixture(scope="session")
def memory_result() -> dict:
    parts = []
    for task, features in (("unknown words", TAGGING), ("letter to sound", LETTERS)):
        settings = _memory_settings(features, PUBLISHED[task])
        names = [setting["name"] for setting in settings]
        neighbours = [
            {"values": list("plusing"), "classes": {"0z": 3, "0s": 1}, "distance": 0.0312},
            {"values": list("_musing"), "classes": {"0z": 2}, "distance": 0.1547},
        ]
        asked = {"query": list("cousing"), "answer": "0z", "neighbours": neighbours}
        cases = [asked | {"gold": "0z"}, asked | {"gold": "0s"}]
        parts.append(
            {
                "task": task,
                "features": features,
                "sizes": {"train": 69_446, "valid": 8_679, "test": 8_668},
                "settings": settings,
                "curves": _memory_curves(),
                "trajectories": _memory_trajectories(),
                "mcnemar": _memory_matrix(names),
                "truth": _memory_truth(settings) if task == "letter to sound" else None,
                "found": settings[6],
                "neighbours": cases if task == "letter to sound" else [],
            }
        )
    return {
        "schema": 1,
        "kind": "reproduction",
        "command": "featloom reproduce memory --out runs/memory",
        "verdict": "Backward search over features and parameters was best on both tasks.",
        "memory": parts,
    }


@pytest.fixture(scope="session")
def hostile_memory_result() -> dict:
    names = HOSTILE_NAMES
    features = [f"{names[j % len(names)]}{j}" for j in range(30)]
    settings = [
        {"name": name, "method": name, "features_by": name, "parameters_by": name, "weights": name}
        | {"k": -1, "modes": [*MODES, names[0], ""] * 6, "validation": float("nan"), "test": 1.0}
        | {"published": 1e9, "published_setting": name}
        for name in names
    ]
    matrix = _memory_matrix([*names, "eleventh", "twelfth"])
    matrix["chi2_p"] = [[0.2]]
    neighbour = {"values": names * 2, "classes": dict.fromkeys(names, 2), "distance": None}
    case = {"query": names, "answer": names[0], "gold": names[1], "neighbours": [neighbour]}
    part = {
        "task": names[1],
        "features": features,
        "sizes": dict.fromkeys(names, 3),
        "settings": settings,
        "curves": [
            {"weights": name, "metric": other, "k": [1, 3], "score": [None, 0.5]}
            for name, other in zip(names, reversed(names), strict=True)
        ],
        "trajectories": [{"name": name, "fits": [0, 1], "best": [None, 0.5]} for name in names],
        "mcnemar": matrix,
        "truth": {
            "best_settings": settings * 3,
            "rows": [{"strategy": name, "note": name, "found": 1, "seeds": 0} for name in names],
        },
        "found": settings[0] | {"name": names[7]},
        "neighbours": [case] * 25,
    }
    empty = {"settings": [{}], "curves": [{}], "trajectories": [{}], "neighbours": [{}]}
    return {"kind": names[0], "memory": [part, part, empty, {}]}
