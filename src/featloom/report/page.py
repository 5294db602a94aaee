"""One HTML file that opens anywhere, without a network.

A result is checked against the types of ``results.py``; what every result says in the same way
(``comparison.py``) and what the methods show become one list of sections; tables (``grids.py``),
figures (``figures.py``) and trees, sentences and matrices (``drawings.py``) are set into the
template of ``assets/``, with style, script and the drawing library put inside the file once.  A
report reads results and never fits anything; every part of a result may be missing.

All data are escaped: text by the template, figures by writing every ``<`` of their JSON as an
escape, so that no name can end a script.  As a second lock the page carries a policy that allows
the scripts written here, by their hash, and no other, and no request of any kind.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from featloom.errors import InputError
from featloom.report.comparison import head_of, sections_after, sections_before
from featloom.report.drawings import (
    MOST_SENTENCES,
    sentence_drawing,
    shown_matrix,
    shown_tree,
)
from featloom.report.figures import drawing
from featloom.report.grids import first_of, shown_facts, shown_grid
from featloom.report.schema_1 import from_schema_1
from featloom.results import (
    SCHEMA,
    Arcs,
    Block,
    Code,
    Column,
    Data,
    Facts,
    Grid,
    Matrix,
    Result,
    Section,
    Tree,
    Words,
    grid,
)
from featloom.runs import REPORT, Run, encode_result
from featloom.shown import visible
from featloom.words import seconds

ASSETS = Path(__file__).parent / "assets"
MOST_UNSEARCHED = 12  # rows that need no search


def check_result(result: dict[str, Any]) -> Result:
    """The result as the page reads it; a part of the wrong kind is refused by its place."""
    if result.get("schema", SCHEMA) < SCHEMA:
        try:
            result = from_schema_1(result)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            message = "the result cannot be shown: its parts are not those of schema 1"
            raise InputError(message) from error
    try:
        return msgspec.json.decode(encode_result(result), type=Result)
    except msgspec.ValidationError as error:
        text = str(error)
        raise InputError(f"the result cannot be shown: {text[:1].lower()}{text[1:]}") from error


def report_html(result: dict[str, Any]) -> str:
    """The page of a result, from the dict that ``result.json`` holds."""
    try:
        return _page(check_result(result))
    except OverflowError:
        raise InputError("the result cannot be shown: a number in it is too large") from None


def write_report(run: Run) -> Path:
    """Write ``report.html`` beside the ``result.json`` it is made from; returns its path."""
    return run.write(REPORT, report_html(run.result()))


def sections_of(result: Result) -> list[Section]:
    """Everything below the verdict, in order."""
    found = [*sections_before(result), *result.sections, *sections_after(result)]
    return [_data_section(result.data), *found]


def code_lines(code: str) -> str:
    r"""Code as it is typed: its lines stay, other marks that would hide or turn it are spelled out.

    >>> code_lines("a = 1\n\tb = '\u202e'")
    "a = 1\n    b = '\\u202e'"
    """
    lines = code.replace("\r\n", "\n").expandtabs(4).strip("\n").split("\n")
    return "\n".join(visible(line) for line in lines)


@lru_cache(maxsize=1)
def drawing_library() -> str:
    """The script that draws Vega-Lite figures, in the version that Altair writes."""
    import altair
    import vl_convert

    wanted = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=wanted)
    # Inside a page these would end or swallow the script; escaped they mean the same to it.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _page(result: Result) -> str:
    with _report_packages():
        sections = _shown_sections(sections_of(result))
        library = drawing_library() if _is_drawn(sections) else ""
        template = _template("page.html.jinja")
    scripts = [script for script in (library, _asset("page.js")) if script]
    allowed = " ".join(_fingerprint(script) for script in scripts)
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src " + allowed
    significant, facts, why = head_of(result)
    return template.render(
        title=visible(result.data.source) or "a run",
        kind=visible(result.kind),
        verdict=visible(result.verdict),
        significant=significant,
        facts=shown_facts(facts),
        why=visible(why),
        taken_for=visible(result.data.taken_for).rstrip("."),
        warnings=[visible(warning) for warning in result.data.warnings],
        sections=sections,
        command=visible(result.command),
        reproduce=_reproduce(result),
        style=_asset("page.css"),
        scripts=scripts,
        policy=policy,
    )


def _shown_sections(sections: Iterable[Section]) -> list[dict[str, Any]]:
    """What the template places; ``id`` is a section's place on the page."""
    shown: list[dict[str, Any]] = []
    taken: dict[str, int] = {}
    for section in sections:
        slug = re.sub(r"[^a-z0-9]+", "-", section.name.lower()).strip("-") or "section"
        taken[slug] = taken.get(slug, 0) + 1
        slug += f"-{taken[slug]}" if taken[slug] > 1 else ""
        numbers = count(1)
        blocks = [
            {"id": f"{slug}-{next(numbers)}", **found}
            for block in section.blocks
            for found in _shown_block(block)
        ]
        if blocks or section.note or slug == "data":
            title = visible(section.title or section.name)
            words = {"name": visible(section.name), "title": title, "note": visible(section.note)}
            shown.append({"id": slug, **words, "blocks": _side_by_side(blocks)})
    return shown


def _shown_block(block: Block) -> Iterator[dict[str, Any]]:
    kind = block.__struct_config__.tag
    shown: Any
    if isinstance(block, Grid):
        shown = shown_grid(block)
        if shown:
            shown["searched"] = len(shown["rows"]) > MOST_UNSEARCHED
    elif isinstance(block, Facts):
        shown = shown_facts(block)
    elif isinstance(block, Words):
        shown = visible(block.text)
    elif isinstance(block, Code):
        shown = {"title": visible(block.title), "code": code_lines(block.code)}
    elif isinstance(block, Matrix):
        shown = shown_matrix(block)
    elif isinstance(block, Tree):
        shown = shown_tree(block)
    elif isinstance(block, Arcs):
        sentences = [one for one in block.sentences if one.words or one.gold or one.predicted]
        kept = sentences[:MOST_SENTENCES]
        shown = {
            "title": visible(block.title),
            "note": first_of(len(sentences), len(kept)),
            "sentences": [sentence_drawing(one, j) for j, one in enumerate(kept)],
        } if sentences else None  # fmt: skip
    else:
        kind, figure = "figure", drawing(block)
        shown = figure and {
            "caption": figure.caption, "legend": figure.legend, "spec": _json_in_html(figure.spec),
        }  # fmt: skip
    if shown:
        yield {"kind": kind, "shown": shown}


def _side_by_side(blocks: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Figures that follow one another share a line where there is room."""
    rows: list[list[dict[str, Any]]] = []
    for block in blocks:
        if rows and block["kind"] == rows[-1][-1]["kind"] == "figure":
            rows[-1].append(block)
        else:
            rows.append([block])
    return rows


def _is_drawn(sections: list[dict[str, Any]]) -> bool:
    return any(
        block["kind"] == "figure"
        for section in sections
        for row in section["blocks"]
        for block in row
    )


def _data_section(data: Data) -> Section:
    facts = [
        ("rows", data.rows, "count"), ("features", data.features, "count"),
        ("classes", len(data.classes) or None, "count"),
        ("families", len(data.families) or None, "count"), ("groups", data.groups, "count"),
    ]  # fmt: skip
    blocks: list[Block] = [Facts(facts)] if any(value is not None for _, value, _ in facts) else []
    if data.classes:
        whole = sum(data.classes.values()) or 1
        rows: list[list[Any]] = [[name, n, n / whole] for name, n in data.classes.items()]
        columns = {"class": "text", "rows": "count", "share": "share"}
        blocks.append(grid("Classes", columns, rows, folded=True))
    if data.families:
        kinds = {True: "one a row", False: "several a row", None: None}
        ordered = sorted(data.families, key=lambda family: -(family.features or 0))
        whole = sum(family.features or 0 for family in ordered) or 1
        note = "how many of its values a row can have"
        heads: dict[str, str | Column] = {
            "family": "text", "features": "count", "values": Column("values", note=note),
            "share": "share",
        }  # fmt: skip
        rows = [
            [one.name, one.features, kinds[one.single_valued],
             None if one.features is None else one.features / whole]
            for one in ordered
        ]  # fmt: skip
        blocks.append(grid("Families of features", heads, rows, folded=True))
    return Section("Data", blocks=blocks)


def _reproduce(result: Result) -> list[dict[str, Any]]:
    """Named lists of settings: what to repeat, with what, and how long it took."""
    lists = [
        (
            "parameters",
            [(k, msgspec.json.encode(v).decode()) for k, v in result.parameters.items()],
        ),
        ("versions", list(result.versions.items())),
        ("timing", [(_stage(k), seconds(v)) for k, v in result.timing.items()]),
    ]
    if result.seed is not None:
        lists[0][1].append(("seed", str(result.seed)))
    return [
        {"title": title, "items": [(visible(str(k)), visible(v)) for k, v in items]}
        for title, items in lists
        if items
    ]


def _stage(name: str) -> str:
    return {"total_s": "total", "user_s": "total, user CPU"}.get(
        name, name.removesuffix("_s").replace("_user", ", user CPU").replace("_", " ")
    )


def _template(name: str):
    import jinja2

    loader = jinja2.FileSystemLoader(ASSETS)
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


@contextmanager
def _report_packages() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise InputError(
            f"a report needs the package {error.name}: pip install 'featloom[report]'"
        ) from error


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _json_in_html(spec: dict[str, Any]) -> str:
    return encode_result(spec).decode().replace("<", "\\u003c")


def _fingerprint(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
