"""``pytest tests/golden --renew`` writes the golden files anew and says what has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.meaning import Meaning, as_text, differences

HERE = Path(__file__).parent
RENEWED = "renewed"


def pytest_addoption(parser):
    parser.addoption("--renew", action="store_true", help="write the golden files anew")


def pytest_terminal_summary(terminalreporter):
    said = [
        text
        for report in terminalreporter.stats.get("passed", [])
        for name, text in report.user_properties
        if name == RENEWED
    ]
    if said:
        terminalreporter.section("golden files written anew")
        terminalreporter.write_line("\n".join(said))


@pytest.fixture
def golden_file(request) -> Callable[[str, Meaning], None]:
    """Compare with the golden file of a name, or write it anew and leave word of what is new."""

    def compare(name: str, found: Meaning) -> None:
        path = HERE / f"{name}.json"
        expected = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        different = differences(expected, found)
        table = "\n".join([f"{name}: expected → found", *different])
        # Where all tests are run, this folder is met too late for it to have options.
        if not request.config.getoption("renew", default=False):
            if different:
                pytest.fail(table, pytrace=False)
        elif different:
            path.write_text(as_text(found), encoding="utf-8")
            request.node.user_properties.append((RENEWED, table))

    return compare
