"""What the other tasks found, to look at: families, clusters of senses, and one task's features.

It is learned from all rows, and nothing is tested on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from experiments.transfer_tasks import Tasks
from featloom.data.matrix import FeatureMatrix
from featloom.learners.stepwise import BITS_OF_A_WEIGHT, MDLSelector, candidates
from featloom.methods.transfer import RelevancePrior, TransFeat

MOST_FAMILIES = 60
MOST_CLUSTERS = 40
MOST_FEATURES = 30


class ShowTrials:
    """Learns from all rows; picklable, so that a journal can ask for it."""

    def __init__(self, data: Tasks, rounds: int):
        self.data, self.rounds = data, rounds

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        parts = self.data.by_task(np.arange(len(self.data)))
        tasks: dict[Hashable, tuple[Any, Any]] = {
            name: (self.data.X[rows], self.data.label[rows]) for name, rows in parts.items()
        }
        prior = RelevancePrior(feature_names=self.data.names, rounds=self.rounds).fit(tasks)
        sizes = sorted(parts, key=lambda name: (len(parts[name]), name))
        return {
            "score": 0.0,
            "families": _families(prior),
            "clusters": _clusters(TransFeat(feature_names=self.data.names).fit(tasks)),
            "chosen": _chosen(prior, self.data, parts, sizes[len(sizes) // 2]),
        }


def _families(prior: RelevancePrior) -> list[dict[str, Any]]:
    """Families by what their features were selected for, the most relevant first."""
    families = np.array(prior.families_)
    selected, met = prior.selected_counts(), prior.candidate_counts()
    rows: list[dict[str, Any]] = []
    for name, rate in prior.family_rates().items():
        inside = families == name
        rows.append(
            {
                "name": name,
                "features": int(inside.sum()),
                "rate": rate,
                "selected": int(selected[inside].sum()),
                "candidates": int(met[inside].sum()),
            }
        )
    # Many prepositions make a family each; those that were met most say most.
    kept = sorted(rows, key=lambda row: -row["candidates"])[:MOST_FAMILIES]
    return sorted(kept, key=lambda row: -row["rate"])


def _clusters(model: TransFeat) -> list[dict[str, Any]]:
    members: dict[int, list[Any]] = {}
    for sense, cluster in model.clusters_.items():
        if cluster >= 0:
            members.setdefault(cluster, []).append(sense)
    rows = []
    for cluster, senses in sorted(members.items()):
        shared = Counter(
            model.feature_names_[j]
            for sense in senses
            for j in model.first_selections_[sense].features.tolist()
        )
        rows.append(
            {
                "name": f"cluster {cluster + 1}",
                "members": [str(sense.label) for sense in senses],
                "features": [name for name, n in shared.most_common(8) if n > 1],
            }
        )
    return sorted(rows, key=lambda row: -len(row["members"]))[:MOST_CLUSTERS]


def _chosen(
    prior: RelevancePrior, data: Tasks, parts: Mapping[str, np.ndarray], task: str
) -> dict[str, Any]:
    """What one task selects at the costs that the others gave, and who vouches for it."""
    rows = parts[task]
    matrix = FeatureMatrix.from_csr(data.X[rows], names=data.names)
    after = prior.cost(task)
    selector = MDLSelector(cost=after).fit(matrix, data.label[rows])
    alike = float(np.log2(max(int(candidates(matrix, selector.min_rows).sum()), 1)))
    number = {name: j for j, name in enumerate(data.names)}
    features = [
        {
            "name": one.name,
            "class": str(one.target),
            "saved": one.saved,
            "cost_before": alike + BITS_OF_A_WEIGHT,
            "cost_after": float(after[number[one.name]]),
            "vouchers": [str(other) for other in prior.vouchers(one.name, task)],
        }
        for one in selector.features_[:MOST_FEATURES]
    ]
    return {"task": task, "features": features}
