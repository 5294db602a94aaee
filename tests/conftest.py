"""Where the real corpora are, a real browser, and how a result is read; tests that need what is
absent skip with the reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
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
def rows_of() -> Callable[..., list[dict[str, Any]]]:
    """The rows of a table of a result, by the heads of its columns.

    It is the first table of the section of that name, or the one that has the title.
    """

    def rows(result: dict[str, Any], section: str, title: str | None = None):
        plain = msgspec.to_builtins(result["sections"])
        blocks = [block for one in plain if one["name"] == section for block in one["blocks"]]
        for block in blocks:
            if block["block"] == "grid" and title in (None, block.get("title", "")):
                heads = [column["label"] for column in block["columns"]]
                return [dict(zip(heads, row, strict=True)) for row in block["rows"]]
        return []

    return rows


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
