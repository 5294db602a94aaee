"""Small runs of the experiments, by name."""

from __future__ import annotations

from importlib import import_module

# Experiment and what is asked of it.
SMALL: dict[str, tuple[str, dict]] = {
    "memory": ("memory", {"only": "unknown", "sample": 300, "seeds": 2, "trials": 25}),
    "templates": ("templates", {"sample": 60, "seeds": 2}),
    "bosque": ("trees", {"only": "bosque", "sample": 50, "seeds": 2}),
    "tables": ("trees", {"only": "tables", "sample": 50, "seeds": 1}),
    "chunks": ("trees", {"only": "chunks", "sample": 50, "seeds": 2}),
    "table": ("transfer", {"only": "table", "sample": 4, "seeds": 2, "n_folds": 2}),
    "curve": ("transfer", {"only": "curve", "sample": 3, "seeds": 1}),
}


def experiment(name: str):
    return import_module(f"experiments.{name}").EXPERIMENT
