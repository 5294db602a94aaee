"""The map of the code: public names are where they are said to be, and layers point one way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import featloom

ROOT = Path(featloom.__file__).parents[2]


@pytest.mark.parametrize("name", featloom.__all__)
def test_every_public_name_can_be_imported_and_says_what_it_is(name):
    assert getattr(featloom, name).__doc__


def test_importing_the_package_loads_nothing_heavy():
    program = "import featloom, sys; print({'numba', 'sklearn', 'polars'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.stdout == "set()\n"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Weaver'"):
        featloom.Weaver  # noqa: B018


def test_each_layer_imports_only_those_below_it():
    pytest.importorskip("importlinter")
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("the rules are in pyproject.toml, which an installed package does not have")
    program = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stdout
