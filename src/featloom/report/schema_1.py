"""Results of schema 1, which each method wrote in its own way, as results of schema 2.

What every result has is taken over; what a method found becomes a section with a table for each of
its lists.  It is kept so that older runs can be opened, and goes with the next version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from featloom.results import SCHEMA

_SAME = (
    "kind", "command", "verdict", "significant", "seed", "versions", "timing", "parameters",
    "data", "protocol", "metric", "judge_by", "lower_is_better", "folds_of", "unit", "chosen",
    "chosen_why", "leaderboard", "comparisons", "chosen_figures", "curves", "errors", "use",
    "budget",
)  # fmt: skip
_PARTS = {
    "induction": "Found", "grid": "Grid", "template_search": "Templates", "trees": "Trees",
    "transfer": "Tasks",
}  # fmt: skip
_OF_MODELS = ("name", "setting", "settings", "fit_s", "predict_s", "role", "chosen")


def from_schema_1(result: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a result of schema 2.

    >>> old = {"schema": 1, "models": [{"name": "linear", "metric": "accuracy", "value": 0.8}],
    ...        "induction": {"kept": {"atomic": 3}, "atomic": [{"name": "a=1", "support": 7}]}}
    >>> new = from_schema_1(old)
    >>> new["leaderboard"], new["metric"]
    ([{'name': 'linear', 'test': 0.8}], 'accuracy')
    >>> [block["title"] for block in new["sections"][0]["blocks"]]
    ['kept', 'atomic']
    """
    found: dict[str, Any] = {"schema": SCHEMA}
    found |= {name: result[name] for name in _SAME if result.get(name) is not None}
    models = [_model(one) for one in result.get("models") or []]
    sections = []
    for part in result.get("memory") or []:
        models += [_setting(one, part.get("found")) for one in part.get("settings") or []]
        rest = {k: v for k, v in part.items() if k not in ("settings", "found", "features")}
        sections.append(_section(str(part.get("task") or "Memory"), rest))
    for name, title in _PARTS.items():
        if isinstance(part := result.get(name), Mapping):
            models += [_model(one) for one in part.get("methods") or part.get("systems") or []]
            sections.append(_section(title, part))
    for one in result.get("findings") or []:
        grid = _grid(str(one.get("title", "")), one.get("columns") or [], one.get("rows") or [])
        sections.append({"name": "Found", "title": str(one.get("method", "")), "blocks": [grid]})
    if models:
        metrics = [one.get("metric") for one in result.get("models") or [] if one.get("metric")]
        found.setdefault("metric", metrics[0] if metrics else "")
        found.setdefault("leaderboard", models)
    found["sections"] = [section for section in sections if section["blocks"]]
    return found


def _model(one: Mapping[str, Any]) -> dict[str, Any]:
    """A model of a method: its value was that on the test part."""
    model = {name: one[name] for name in _OF_MODELS if one.get(name) not in (None, "")}
    numbers = {"test": "value", "test_interval": "interval", "value": "cross_validated"}
    model |= {name: one[was] for name, was in numbers.items() if one.get(was) is not None}
    if one.get("features") is not None:
        model["size"] = one["features"]
    if one.get("published") is not None:
        model["published"] = one["published"] / 100
    return model


def _setting(one: Mapping[str, Any], found: Any) -> dict[str, Any]:
    """A setting of a memory-based learner."""
    modes = one.get("modes") or []
    words = f"k {one.get('k')}, {one.get('weights')}, {sum(m != 'ignore' for m in modes)} features"
    return _model(one) | {
        "value": one.get("validation"), "test": one.get("test"), "setting": words,
        "chosen": one == found, "more": {"evaluations": one.get("fits")},
    }  # fmt: skip


def _section(title: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values become facts, lists tables; trees and sentences are what they were."""
    facts: list[Any] = []
    blocks: list[dict[str, Any]] = []
    for name, value in part.items():
        words = name.replace("_", " ")
        if name == "tree" and isinstance(value, Mapping):
            blocks.append({"block": "tree", "title": words, **value})
        elif name == "sentences" and isinstance(value, list):
            blocks.append({"block": "arcs", "title": words, "sentences": value})
        elif isinstance(value, Mapping) and value:
            rows = [[key, *_row(one)] for key, one in value.items()]
            width = max(len(row) for row in rows)
            blocks.append(_grid(words, [words, *[""] * (width - 1)], rows))
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            heads = list(dict.fromkeys(key for one in value for key in one))
            rows = [[one.get(head) for head in heads] for one in value]
            blocks.append(_grid(words, [head.replace("_", " ") for head in heads], rows))
        elif isinstance(value, str | int | float) and value != "":
            facts.append([words, value, "text"])
    return {"name": title, "blocks": [{"block": "facts", "items": facts}] * bool(facts) + blocks}


def _row(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [f"{key}: {one}" for key, one in value.items()]
    return [value]


def _grid(title: str, heads: Sequence[Any], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    columns = [{"label": str(head)} for head in heads]
    return {"block": "grid", "title": title, "columns": columns, "rows": [list(r) for r in rows]}
