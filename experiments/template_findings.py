"""What the experiment on feature templates found, in plain words and in one number a proxy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.template_sets import EXPERIMENTS

SIGNIFICANT = 0.05
NAMES = {"maxent": "ME", "memm": "MEMM", "crf": "CRF"}
PROXIES = {
    "maxent": "ME, F1",
    "maxent_loss": "ME, log-loss",
    "memm": "MEMM, F1",
    "screen": "screening",
    "crf_once": "CRF, one seed",
}


def rank_agreement(rows: Sequence[dict[str, Any]], proxy: str) -> float | None:
    """Spearman's correlation of a proxy with the CRF's F1; None where either is the same all over.

    A CRF of one seed is compared with those of the other seeds.

    >>> rows = [{"maxent": .5, "crf": .6}, {"maxent": .6, "crf": .8}, {"maxent": .7, "crf": .7}]
    >>> rank_agreement(rows, "maxent")
    0.5
    """
    from scipy.stats import spearmanr

    truth = [row["crf_others" if proxy == "crf_once" else "crf"] for row in rows]
    given = [-row[proxy] if proxy == "maxent_loss" else row[proxy] for row in rows]
    if None in truth or len(set(truth)) < 2 or len(set(given)) < 2:
        return None
    return round(float(spearmanr(given, truth).statistic), 12)


def finding(title: str, experiments: list[dict], agreement: list[dict]) -> str:
    """What a data set says of the paper's claims, in plain words."""
    pairs = [
        (next(r for r in experiments if r["id"] == e.id and r["model"] == e.model),
         next(r for r in experiments if r["id"] == e.id and r["model"] == "crf"))
        for e in EXPERIMENTS
    ]  # fmt: skip
    sentences = [f"{title}: {_ahead(pairs[:3])}, {_ahead(pairs[3:])}."]
    maxent, memm = pairs[1][0]["f1"], pairs[3][0]["f1"]
    gap = 100 * (memm - maxent)
    word = "raises" if gap > 0 else "lowers"
    sentences.append(
        f"On the same observations the label before {word} a local model by {abs(gap):.2f} points "
        f"(ME {100 * maxent:.2f}, MEMM {100 * memm:.2f})."
    )
    for what, word in (("train", "Training"), ("tag", "Tagging")):
        shares = [
            f"with {NAMES[group[0][0]['model']]} "
            + _span([cheap[f"{what}_cpu_s"] / crf[f"{what}_cpu_s"] for cheap, crf in group])
            for group in (pairs[:3], pairs[3:])
        ]
        sentences.append(f"{word} takes {_listed(shares)} of the CRF's CPU time.")
    ranks = [
        f"{row['title']} {row['spearman']:.2f}" for row in agreement if row["spearman"] is not None
    ]
    if ranks:
        sentences.append(f"Rank agreement with the CRF over single additions: {'; '.join(ranks)}.")
    return " ".join(sentences)


def _ahead(pairs: list[tuple[dict, dict]]) -> str:
    """Whether the CRF is ahead of the model it is compared with, beyond chance."""
    name = NAMES[pairs[0][0]["model"]]
    tests = [crf["ahead"] for _, crf in pairs]
    points = _span([100 * test["difference"] for test in tests], signed=True)
    beyond = [test["p"] < SIGNIFICANT for test in tests]
    if all(beyond) and all(test["difference"] > 0 for test in tests):
        return f"the CRF is ahead of {name} in all three experiments ({points} points)"
    if all(beyond) and all(test["difference"] < 0 for test in tests):
        return f"the CRF is behind {name} in all three experiments ({points} points)"
    wins = sum(b and test["difference"] > 0 for b, test in zip(beyond, tests, strict=True))
    losses = sum(b and test["difference"] < 0 for b, test in zip(beyond, tests, strict=True))
    return (
        f"the CRF is ahead of {name} beyond chance in {wins} of three experiments and behind in "
        f"{losses} ({points} points)"
    )


def _span(values: Sequence[float], signed: bool = False) -> str:
    low, high = (f"{value:{'+' if signed else ''}.2f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
