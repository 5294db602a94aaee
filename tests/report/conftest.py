"""Results, and a browser that opens their pages."""

from __future__ import annotations

from typing import Any

import pytest
from whole_result import everything, made_hostile

from featloom.report.page import report_html

ALL_DRAWN = "() => [...document.querySelectorAll('.chart')].every((c) => 'drawn' in c.dataset)"


@pytest.fixture
def result() -> dict[str, Any]:
    return everything()


@pytest.fixture
def hostile_result() -> dict[str, Any]:
    return made_hostile(everything())


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def visit(browser, pages):
    """Open the page of a result by its name, "everything" or "hostile".

    At the end, nothing may have been said on the console nor asked of a network.
    """
    faults: list[str] = []
    opened = []

    def open_page(name: str, width: int = 1400, scheme: str = "light"):
        file = pages / f"{name}.html"
        if not file.exists():
            found = everything() if name == "everything" else made_hostile(everything())
            file.write_text(report_html(found), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        address = file.as_uri()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.on("request", lambda request: request.url == address or faults.append(request.url))
        page.goto(address)
        page.wait_for_function(ALL_DRAWN)
        opened.append(page)
        return page

    yield open_page
    for page in opened:
        page.close()
    assert faults == []
