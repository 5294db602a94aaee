"""Where the real corpora are; tests that need them skip with the reason where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does, and says nothing of the code.
settings.register_profile("featloom", deadline=None)
settings.load_profile("featloom")


def _folder(variable: str) -> Path:
    value = os.environ.get(variable, "")
    if not value or not Path(value).is_dir():
        pytest.skip(f"{variable} does not name a folder with the corpora")
    return Path(value)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    return _folder("FEATLOOM_DATA")


@pytest.fixture(scope="session")
def conformance_folder() -> Path:
    return _folder("FEATLOOM_CONFORMANCE")
