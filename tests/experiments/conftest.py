"""Small runs of the experiments, each done once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from small_runs import SMALL, experiment

from experiments.runner import reproduce
from featloom.runs import Run


@pytest.fixture(scope="session")
def run_of(tmp_path_factory) -> Callable[[str], Run]:
    """The folder of a small run."""
    return cache(lambda name: Run.create(tmp_path_factory.mktemp(name) / "run"))


@pytest.fixture(scope="session")
def result_of(data_folder, run_of) -> Callable[[str], dict]:
    """The result of a small run."""

    @cache
    def result(name: str) -> dict:
        of, asked = SMALL[name]
        return reproduce(experiment(of), run_of(name), **asked)

    return result
