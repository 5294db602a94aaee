"""One HTML file that opens anywhere, without a network.

The summary and the figures are set into the template of ``assets/``; style, script and the
drawing library are put inside the file once.  All data are escaped: text by the template, figures
by writing every ``<`` of their JSON as an escape, so that no name can end a script.  As a second
lock the page carries a policy that allows the scripts written here, by their hash, and no other,
and no request of any kind.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from featloom.errors import InputError
from featloom.report import Result, check_result
from featloom.report.discover_figures import discover_figures
from featloom.report.figures import figures
from featloom.report.summarize import summarize
from featloom.report.templates_figures import template_figures
from featloom.report.transfer_figures import transfer_figures
from featloom.report.trees_figures import tree_figures
from featloom.runs import REPORT, Run, encode_result

ASSETS = Path(__file__).parent / "assets"


def report_html(result: dict[str, Any]) -> str:
    """The page of a result, from the dict that ``result.json`` holds."""
    try:
        return _page(check_result(result))
    except OverflowError:
        raise InputError("the result cannot be shown: a number in it is too large") from None


def _page(checked: Result) -> str:
    with _report_packages():
        drawn = [*figures(checked), *template_figures(checked.template_search)]
        drawn += [*tree_figures(checked.trees), *transfer_figures(checked.transfer)]
        drawn += discover_figures(checked)
        library = drawing_library() if drawn else ""
        template = _template("report.html.jinja")
    scripts = [script for script in (library, _asset("page.js")) if script]
    allowed = " ".join(_fingerprint(script) for script in scripts)
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src " + allowed
    return template.render(
        summary=summarize(checked),
        figures=[(figure, _json_in_html(figure.spec)) for figure in drawn],
        style=_asset("page.css"),
        scripts=scripts,
        policy=policy,
    )


def write_report(run: Run) -> Path:
    """Write ``report.html`` beside the ``result.json`` it is made from; returns its path."""
    return run.write(REPORT, report_html(run.result()))


@lru_cache(maxsize=1)
def drawing_library() -> str:
    """The script that draws Vega-Lite figures, in the version that Altair writes."""
    import altair
    import vl_convert

    wanted = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=wanted)
    # Inside a page these would end or swallow the script; escaped they mean the same to it.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


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
