"""Where the real corpora are, and a real browser; tests that need them skip with the reason where
they are absent."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes depends on what else the machine does, and says nothing of the code.
settings.register_profile("featloom", deadline=None)
settings.load_profile("featloom")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]


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


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()
