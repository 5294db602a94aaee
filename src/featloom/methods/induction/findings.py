"""What a data set is and what an inducer found in it, as parts of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from featloom.data.blocks import Blocks, blocks_part
from featloom.data.matrix import FeatureMatrix
from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.methods.induction.search import ConjunctionSearchCV
from featloom.scores import LABELS

_SHOWN = 500
_SHOWN_ATOMIC = 200
_BINS = 30


def data_part(data: FeatureMatrix | Blocks) -> dict[str, Any]:
    """Rows, classes, families and groups."""
    matrix = data.like if isinstance(data, Blocks) else data
    sizes = (
        data.class_totals
        if isinstance(data, Blocks)
        else np.bincount(data.known_labels, minlength=len(data.classes))
    )
    assert sizes is not None
    features = np.bincount(matrix.family_of, minlength=len(matrix.families))
    families = [
        {"name": name, "features": int(n), "single_valued": bool(single)}
        for name, n, single in zip(matrix.families, features, matrix.single_valued, strict=True)
    ]
    return {
        "source": matrix.source,
        "rows": len(data),
        "features": matrix.shape[1],
        "target": matrix.target,
        "classes": dict(zip(matrix.classes, sizes.tolist(), strict=True)),
        "groups": matrix.n_groups,
        "families": sorted(families, key=lambda family: (-family["features"], family["name"])),
    }


def induction_part(
    inducer: ConjunctionInducer, coefficients: np.ndarray, domain: Sequence[str] = ()
) -> dict[str, Any]:
    """The features found, best first, with the weights of a linear model on them.

    ``domain`` names families (the domain of a document) whose conjunctions are pointed out.
    """
    # With two classes one weight speaks for the second; with more, the largest is shown.
    weights = coefficients[0] if len(coefficients) == 1 else coefficients.max(axis=0)
    atomic: list[dict[str, Any]] = []
    joined: list[dict[str, Any]] = []
    for induced, weight in zip(inducer.features_, weights.tolist(), strict=True):
        feature = induced.feature
        (atomic if len(feature) == 1 else joined).append(
            {
                "name": str(feature),
                "parts": list(feature.parts),
                "length": len(feature),
                "support": induced.support,
                "class_counts": list(induced.class_counts),
                "score": induced.score,
                "weight": weight,
                "domain": any(column in domain for column, _ in feature.template.places),
            }
        )
    joined.sort(key=lambda row: -row["score"])
    name = inducer.parameters_["score"]
    return {
        "score_name": name,
        "score_label": LABELS[name],
        "histograms": {
            "atomic": _histogram([row["score"] for row in atomic]),
            "conjunctions": _histogram([row["score"] for row in joined]),
        },
        "kept": {"atomic": len(atomic), "conjunctions": len(joined)},
        "conjunctions": joined[:_SHOWN],
        "atomic": atomic[:_SHOWN_ATOMIC],
        "dropped": [
            {"reason": reason, "count": count}
            for reason, count in inducer.dropped_.items()
            if count
        ],
    }


def counting_part(blocks: Blocks, inducer: ConjunctionInducer) -> dict[str, Any]:
    """How data in blocks was counted, and what was sampled or hashed."""
    part = blocks_part(blocks, inducer.sample_rows_)
    if blocks.hashed is not None:
        part |= {"hash_bits": blocks.hashed.bits, "collisions": inducer.collisions_}
    return part


def counting_notes(blocks: Blocks, inducer: ConjunctionInducer, n_fitted: int) -> list[str]:
    """What a reader should mind about data in blocks: what was sampled, what was hashed."""
    notes = []
    if n_fitted < len(blocks):
        notes.append(
            f"features were counted in all rows; the two models learned from and were judged on a "
            f"sample of {n_fitted:,} of the {len(blocks):,} rows"
        )
    if blocks.hashed is not None and inducer.collisions_ is not None:
        notes.append(
            f"features were hashed into 2^{blocks.hashed.bits}: about "
            f"{100 * inducer.collisions_:.3g} % of the names share their feature with another"
        )
    return notes


def grid_part(search: ConjunctionSearchCV) -> dict[str, Any] | None:
    """The grid as a heat map over the first two parameters that vary, the inducer's before the
    classifier's: the best mean of each cell, whatever the other parameters."""
    rows = [
        {**row, **row["cell"], **row["classifier_params"]}
        for row in search.cv_results_
        if row["cell"] is not None
    ]
    axes = [
        name for name in (*rows[0]["cell"], *rows[0]["classifier_params"]) if _varies(rows, name)
    ]
    if len(axes) < 2:
        return None
    k, l = axes[:2]  # noqa: E741
    cells: dict[tuple[float, float], dict[str, Any]] = {}
    chosen = None
    for row in rows:
        place = float(row[k]), float(row[l])
        if row["cell"] | {"classifier": row["classifier"]} == search.best_params_:
            chosen = {"k": place[0], "l": place[1]}
        if place not in cells or row["mean"] > cells[place]["mean"]:
            cells[place] = {
                "k": place[0],
                "l": place[1],
                "mean": row["mean"],
                "sd": row["std"],
                "features": round(row["features"]),
            }
    return {
        "cells": list(cells.values()),
        "chosen": chosen,
        "metric": search.objective_.name,
        "k_label": k,
        "l_label": l,
    }


def _varies(rows: Sequence[dict[str, Any]], name: str) -> bool:
    """Whether a parameter is a number in every row, and not the same one."""
    values = [row.get(name) for row in rows]
    return len(set(map(str, values))) > 1 and all(isinstance(v, int | float) for v in values)


def _histogram(scores: list[float]) -> dict[str, list]:
    counts, edges = np.histogram(scores, bins=_BINS)
    return {"edges": edges.tolist(), "counts": counts.tolist()}
