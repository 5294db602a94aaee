"""The documentation site in a real browser, read from its folder, without a server or a network."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["index", "your-own-csv", "discover", "tutorial-table", "benchmarks", "tree-templates"]
PAGES += ["reference/index", "reference/discover", "reference/ConjunctionInducer"]


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The site, built as ``make docs`` builds it."""
    if find_spec("mkdocs") is None or find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed (pip install 'featloom[docs]')")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", folder]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    answer = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    return folder


@pytest.fixture
def read(site, browser):
    """Open a page of the site; nothing may be said on the console nor asked of a network."""
    faults: list[str] = []
    opened = []

    def open_page(name: str, width: int = 1400):
        page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme="light", reduced_motion="reduce"
        )
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "request",
            lambda asked: asked.url.startswith(("file:", "data:")) or faults.append(asked.url),
        )
        page.goto((site / f"{name}.html").as_uri())
        opened.append(page)
        return page

    yield open_page
    for page in opened:
        page.close()
    assert faults == []


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_wide_as_the_window(read, name, width, tmp_path):
    page = read(name, width)
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        """width => [...document.querySelectorAll('.md-content p, .md-content img, .md-content li,'
            + ' .md-content h1, .md-content h2, .md-content h3')]
            .filter((one) => one.getBoundingClientRect().right > width + 1)
            .map((one) => one.textContent.slice(0, 60))""",
        width,
    )
    assert wide == []
    # For a person who wants to look: the folder can be named from outside.
    shots = Path(os.environ.get("FEATLOOM_SCREENSHOTS", tmp_path))
    picture = shots / f"{name.replace('/', '-')}-{width}.png"
    page.screenshot(path=picture)
    assert picture.stat().st_size > 5_000


def test_a_search_finds_a_method_and_leads_to_its_page(read):
    page = read("index")
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type("conjunctions")
    results = page.locator(".md-search-result__item a")
    results.first.wait_for()
    addresses = results.evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert any("induction.html" in address for address in addresses), addresses
    results.first.click()
    page.wait_for_url(lambda address: "index.html" not in address.partition("?")[0])
    assert page.locator("h1").count() == 1


def test_the_switch_turns_the_page_dark_and_the_next_page_stays_so(read):
    page = read("index")
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(scheme) == "default"
    light = page.evaluate(background)
    page.locator("label[title=Dark]").click()
    page.wait_for_function(f"{scheme} === 'slate'")
    assert page.evaluate(background) != light
    page.reload()
    assert page.evaluate(scheme) == "slate"


def test_a_phone_reaches_every_page_by_the_menu(read):
    page = read("index", 400)
    page.locator("header label[for=__drawer]").click()
    menu = page.locator(".md-sidebar--primary")
    menu.get_by_text("Tutorials", exact=True).first.wait_for()
    menu.locator("a", has_text="Discover").first.click()
    page.wait_for_url("**/discover.html")
