"""Support tickets of which two columns decide together, and a way to type a command."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from featloom.cli.main import main
from tests.cli.data import COLUMNS, ticket_text

VALUES = {
    "area": ("billing", "login", "search", "export"),
    "plan": ("free", "team", "enterprise"),
    "channel": ("mail", "chat", "phone"),
    "language": ("en", "de", "fr", "pt"),
}


@dataclass(frozen=True)
class Answer:
    """What a command left behind: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def featloom(capsys, monkeypatch) -> Callable[..., Answer]:
    """Type ``featloom …`` and get the answer, as it is written into a file."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def type_command(*words: str | Path) -> Answer:
        capsys.readouterr()
        try:
            code: int | str | None = main([str(word) for word in words])
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        assert isinstance(code, int)
        return Answer(code, out, err)

    return type_command


@pytest.fixture(scope="session")
def run_once() -> Callable[..., str]:
    """Type a command that has to succeed, for many tests to look at; what it printed."""

    def type_command(*words: str | Path) -> str:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", "120")
            with (
                redirect_stdout(StringIO()) as printed,
                redirect_stderr(StringIO()) as said,
                pytest.raises(SystemExit) as end,
            ):
                main([str(word) for word in words])
        assert (end.value.code or 0, said.getvalue()) == (0, "")
        return printed.getvalue()

    return type_command


def draw_tickets(n: int) -> list[tuple[str, ...]]:
    """Tickets of enterprises are escalated when they are about export, those of others when
    they are about login; neither column tells much alone."""
    draw = random.Random(7)
    rows = []
    for _ in range(n):
        customer = f"c{draw.randrange(60)}"
        area, plan, channel, language = (draw.choice(VALUES[name]) for name in COLUMNS)
        hot = "export" if plan == "enterprise" else "login"
        escalated = draw.random() < (0.9 if area == hot else 0.05)
        rows.append((customer, area, plan, channel, language, "yes" if escalated else "no"))
    return rows


@pytest.fixture(scope="session")
def ticket_rows() -> list[tuple[str, ...]]:
    """Four hundred tickets."""
    return draw_tickets(400)


@pytest.fixture(scope="session")
def many_tickets() -> list[tuple[str, ...]]:
    """So many that a gain shows on a fifth of them."""
    return draw_tickets(1200)


@pytest.fixture
def tickets(tmp_path, ticket_rows) -> Path:
    """The tickets as a CSV file, without the customers."""
    path = tmp_path / "tickets.csv"
    path.write_text(ticket_text(ticket_rows))
    return path
