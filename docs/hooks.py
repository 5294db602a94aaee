"""The reference pages of the site, written from the code while the site is built.

Each public name of ``featloom`` gets a page: its signature, and its docstring in numpy's style
with parameters and attributes as tables and examples as code.  The pages exist in the built site
alone, so they cannot fall behind the code.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from mkdocs.structure.files import File

import featloom

FOLDER = "reference"
PIPE = "\\|"  # in a cell of a table
# The layer that a name lives in, and what a reader would call it.
GROUPS = {
    "discover": "All methods at once",
    "methods": "Methods",
    "learners": "Models",
    "data": "Data",
    "features": "Templates and plans",
}
_SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)$")
# Code between double backticks, a role such as :class:`~featloom.features.plan.FeaturePlan`, or a
# sign that means something in Markdown.
_MARKED = re.compile(r"``(.+?)``|:\w+:`~?([\w.]+)`|([\\*_\[\]<`])", re.DOTALL)


def on_config(config: Any) -> Any:
    """Put the pages below "Reference" in the navigation."""
    (entry,) = (entry for entry in config.nav if "Reference" in entry)
    entry["Reference"] = [f"{FOLDER}/index.md"]
    for words, names in grouped_names().items():
        entry["Reference"].append({words: [{name: f"{FOLDER}/{name}.md"} for name in names]})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each public name, and one that lists them."""
    pages = {name: page_of(name) for name in featloom.__all__}
    for name, text in {**pages, "index": index_page()}.items():
        files.append(File.generated(config, f"{FOLDER}/{name}.md", content=text))
    return files


def grouped_names() -> dict[str, list[str]]:
    """The public names by what they are: methods, models, data."""
    found: dict[str, list[str]] = {words: [] for words in GROUPS.values()}
    for name in featloom.__all__:
        layer = featloom._HOME[name].split(".")[1]
        found.setdefault(GROUPS.get(layer, layer.capitalize()), []).append(name)
    return {words: names for words, names in found.items() if names}


def public(name: str) -> Any:
    return getattr(import_module(featloom._HOME[name]), name)


def index_page() -> str:
    """All names with the first line of their docstrings."""
    lines = ["# Reference", "", "Every name here can be imported from `featloom` itself.", ""]
    for words, names in grouped_names().items():
        said = [(inspect.getdoc(public(name)) or "").partition("\n\n")[0] for name in names]
        linked = [f"[`{name}`]({name}.md)" for name in names]
        lines += [f"## {words}", "", *table(["name", "what it is"], zip(linked, said, strict=True))]
    return "\n".join(lines)


def page_of(name: str) -> str:
    """The page of one name."""
    thing = public(name)
    lines = [f"# {name}", "", f"`from featloom import {name}`", "", code(signature(name, thing))]
    lines += documentation(thing, defaults_of(thing), level=2)
    if inspect.isclass(thing):
        lines += members(thing)
    return "\n".join(lines) + "\n"


def members(thing: type) -> list[str]:
    """Public methods and properties that Featloom wrote; others are named in a line."""
    own: dict[str, Any] = {}
    others: set[str] = set()
    for owner in reversed(thing.__mro__):
        names = [n for n in vars(owner) if not n.startswith("_")]
        if owner.__module__.startswith("featloom."):
            own |= {n: vars(owner)[n] for n in names if inspect.getdoc(getattr(thing, n, None))}
        elif owner is not object:
            others |= {n for n in names if inspect.isfunction(vars(owner)[n])}
    # scikit-learn hangs request methods on every class; they are no functions of its own.
    methods = [n for n, m in own.items() if inspect.isfunction(m) or isinstance(m, classmethod)]
    properties = [n for n, m in own.items() if isinstance(m, property)]
    lines = ["## Methods", ""] if methods else []
    for name in methods:
        method = getattr(thing, name)
        lines += [f"### {name}", "", code(signature(name, method))]
        lines += documentation(method, defaults_of(method), level=4)
    if properties:
        said = [(f"`{name}`", inspect.getdoc(own[name]) or "") for name in properties]
        lines += ["## Properties", "", *table(["name", "what it is"], said)]
    inherited = ", ".join(f"`{name}`" for name in sorted(others - set(own)))
    return [*lines, f"From scikit-learn it has {inherited}." if inherited else "", ""]


def documentation(thing: Any, defaults: dict[str, str], level: int) -> list[str]:
    """A docstring as Markdown."""
    # Behind the words before the first section, titles and bodies take turns.
    before, *rest = _SECTION.split(inspect.getdoc(thing) or "")
    lines = [markdown(before.strip()), ""]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        lines += ["#" * level + f" {title}", ""]
        if title == "Examples":
            lines += [code(body.strip(), "pycon")]
        elif title in ("Parameters", "Attributes"):
            lines += entries(body, defaults if title == "Parameters" else {})
        else:
            lines += [markdown(inspect.cleandoc(body)), ""]
    return lines


def entries(body: str, defaults: dict[str, str]) -> list[str]:
    """Entries such as ``k : how many`` as a table; words that are no entry stand below."""
    found: list[list[str]] = []
    below: list[str] = []
    for line in body.strip("\n").splitlines():
        entry = _ENTRY.match(line)
        if entry:
            names = entry[1].split(", ")
            given = [defaults[name] for name in names if name in defaults]
            cells = [", ".join(f"`{text}`" for text in texts) for texts in (names, given)]
            found.append([*cells[: 1 + bool(defaults)], entry[2]])
        elif line.startswith(" ") and found and not below:
            found[-1][-1] += " " + line.strip()
        else:
            below.append(line)
    head = ["name", "default", "says"] if defaults else ["name", "says"]
    return [*table(head, found), markdown("\n".join(below).strip()), ""]


def table(head: list[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows whose last cell is words of a docstring."""
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for *cells, said in rows:
        cells.append(markdown(" ".join(said.split())))
        lines.append(f"| {' | '.join(cell.replace('|', PIPE) for cell in cells)} |")
    return [*lines, ""]


def signature(name: str, thing: Any) -> str:
    """The call, a parameter a line where it would be long."""
    shown: list[str] = []
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        # Annotations are kept as text, which would be shown in quotes.
        text = str(parameter.replace(default=parameter.empty)).replace("'", "")
        equals = "=" if parameter.annotation is parameter.empty else " = "
        given = parameter.default is not parameter.empty
        shown.append(text + equals + value(parameter.default) if given else text)
    shown = [text for text in shown if text != "self"]
    line = f"{name}({', '.join(shown)})"
    return line if len(line) <= 80 else f"{name}(\n    " + ",\n    ".join(shown) + ",\n)"


def defaults_of(thing: Any) -> dict[str, str]:
    """The defaults of a call by the names of its parameters."""
    parameters = inspect.signature(thing).parameters.values()
    return {p.name: value(p.default) for p in parameters if p.default is not p.empty}


def value(default: Any) -> str:
    """A default as one would write it."""
    return json.dumps(default, ensure_ascii=False) if isinstance(default, str) else repr(default)


def code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```\n"


def markdown(text: str) -> str:
    """Words of a docstring as Markdown: code stays code, public names become links."""

    def marked(found: re.Match[str]) -> str:
        code, role, sign = found.groups()
        name = code or (role or "").rpartition(".")[2]
        shown = f"[`{name}`]({name}.md)" if role and name in featloom.__all__ else f"`{name}`"
        return f"\\{sign}" if sign else shown

    return _MARKED.sub(marked, text)
