"""Places for files that tests write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """One folder for all examples of a law, each of which writes its file anew."""
    return tmp_path_factory.mktemp("examples")


@pytest.fixture
def write(request, tmp_path) -> Callable[..., Path]:
    """Write a file, called as the module says if it is not called otherwise."""

    def write(content: str | bytes, name: str = "") -> Path:
        path = tmp_path / (name or request.module.NAME)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
