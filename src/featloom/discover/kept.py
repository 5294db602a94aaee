"""What a run leaves behind: the model, its features, and what other programs can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from featloom.learners.plan_model import plan_model
from featloom.runs import write_beside

MODEL = "model.featloom"
FEATURES = "features.json"
INTERACTIONS = "interactions.vw"
PRIOR = "prior.json"
PLAN = "templates.json"


def save_linear(pipeline: Any, folder: Path, learned: Any) -> list[str]:
    """A linear model over features: the model file, and the features as a plan in JSON.

    Templates that trees grew are written as interactions of Vowpal Wabbit too.  ``learned``: the
    rows that it was fitted on.
    """
    model = plan_model(pipeline, learned=learned)
    model.save(folder / MODEL)
    write_beside(folder / FEATURES, model.plan.to_json() + "\n")
    names = [MODEL, FEATURES]
    grown = pipeline[0]
    if hasattr(grown, "to_vw"):
        write_beside(folder / INTERACTIONS, grown.to_vw() + "\n")
        names.append(INTERACTIONS)
    return names


def save_memory(pipeline: Any, folder: Path, learned: Any) -> list[str]:
    """Stored cases, which are the rows that were learned, with the way they are compared."""
    getattr(pipeline[-1], "best_estimator_", pipeline[-1]).save(folder / MODEL)
    return [MODEL]


def save_tasks(models: Any, folder: Path) -> list[str]:
    """The models of all tasks, and what tasks found relevant, for tasks to come."""
    models.save(folder / MODEL)
    if models.prior is None:
        return [MODEL]
    models.prior.save(folder / PRIOR)
    return [MODEL, PRIOR]
