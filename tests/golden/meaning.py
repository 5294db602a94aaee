"""What a run says, whatever its files look like: a flat dict from the name of a meaning to a value.

Each schema of ``result.json`` has one reader here, in :data:`READERS`; other schemas get another
function there, and the meanings stay what they are.  Files that a run leaves for other programs are
known by what is in them, not by their names.  Numbers are compared with a tolerance, and what is
hashed is discrete: classes, features, templates.  Times, versions and paths mean nothing.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

Meaning = dict[str, Any]

# What is called otherwise than when the golden meanings were written, as it was called then.
NAMES: dict[str, str] = {}
# Contenders whose packages need not be there.
OUTSIDE = {"LightGBM", "EBM"}
# Of a run, or for it alone: the model is looked at through its predictions.
NO_EXPORTS = {"result.json", "request.json", "report.html"}
_MOST_SHOWN = 200  # rows; where a longer list is cut off may hang on the last digit of a number
_DIGITS, _DIGITS_OF_P = 6, 3
_TOLERANCE, _TOLERANCE_OF_P = 1e-6, 1e-3


def meaning_of_run(folder: Path) -> Meaning:
    """What a run found, and what it left for other programs."""
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return READERS[result["schema"]](result) | meaning_of_exports(folder)


# ── schema 1 ──


def of_schema_1(result: Mapping[str, Any]) -> Meaning:
    """The meanings of a result of schema 1."""
    found = dict(_data_of_schema_1(result["data"]))
    found |= {
        name: result[name]
        for name in ("metric", "significant", "evaluations")
        if result.get(name) is not None
    }
    if result["kind"] == "discover":
        found |= dict(_discover_of_schema_1(result))
    else:
        found |= dict(_method_of_schema_1(result))
    for one in result.get("comparisons", []):
        found |= dict(_comparison_of_schema_1(one))
    return found


def _data_of_schema_1(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("rows", "sentences", "groups", "tasks", "target"):
        if data.get(name) is not None:
            yield f"data / {name}", data[name]
    if data.get("families"):
        yield "data / columns", len(data["families"])
        yield "data / values", sum(one["features"] for one in data["families"])
    for name, rows in data["classes"].items():
        yield f"data / class {name}", rows


def _discover_of_schema_1(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "chosen", _name(result["chosen"])
    yield "reference", _name(result["reference"])
    for one in result["leaderboard"]:
        if one["name"] in OUTSIDE and "value" not in one:
            continue  # whether it was dropped or is not installed
        name = f"contender / {_name(one['name'])}"
        yield f"{name} / status", one["status"]
        if "value" in one:
            yield f"{name} / setting", one["setting"]
            yield f"{name} / size", one["size"]
            yield f"{name} / learned from", one["learned"]
            yield f"{name} / cross-validation", one["value"]
            yield f"{name} / folds", one["n_folds"]
            yield f"{name} / test", one["test"]
    for one in result["findings"]:
        if len(one["rows"]) < _MOST_SHOWN:
            yield f"found / {one['title']}", hashed(row[0] for row in one["rows"])
    for one in result["errors"].get("by_class", []):
        for name, right in one["right"].items():
            yield f"right / {_name(name)} / {one['name']}", right


def _method_of_schema_1(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if result["kind"] == "induction":
        for part in ("best_setting", "baseline_setting"):
            for name, value in (result.get(part) or {}).items():
                yield f"{part.replace('_', ' ')} / {name}", _short(value)
        for part in ("best_score", "baseline_score"):
            if result.get(part) is not None:
                yield part.replace("_", " "), result[part]
    for one in result.get("models", []):
        name = f"contender / {_name(one['name'])}"
        yield f"{name} / test", one["value"]
        for part in ("setting", "features", "templates"):
            if part in one:
                yield f"{name} / {part}", one[part]
    induction, trees = result.get("induction"), result.get("trees")
    if induction:
        for part, n in induction["kept"].items():
            yield f"found / {part} / number", n
            yield f"found / {part}", hashed(one["name"] for one in induction[part])
    if trees:
        yield "found / trees", trees["n_trees"]
        yield "found / nodes of the first tree", (trees["tree"] or {}).get("n_nodes")
        yield "found / templates / number", len(trees["templates"])
        yield "found / templates", hashed(one["name"] for one in trees["templates"])
    if "template_search" in result:
        templates = result["template_search"]["templates"]
        yield "found / templates / number", len(templates)
        yield "found / templates", hashed(f"{one['text']} {one['features']}" for one in templates)
    for part in result.get("memory", []):
        yield from _memory_of_schema_1(part)
    if "transfer" in result:
        yield from _transfer_of_schema_1(result["transfer"])


def _memory_of_schema_1(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for one in part["settings"]:
        name = f"contender / {_name(one['name'])}"
        yield f"{name} / validation", one["validation"]
        yield f"{name} / test", one["test"]
        yield f"{name} / fits", one["fits"]
        yield f"{name} / setting", f"{one['k']} {one['weights']} {one['vote']}"
        for column, mode in zip(part["features"], one["modes"], strict=True):
            yield f"{name} / {column}", mode
    names = [_name(one) for one in part["mcnemar"]["names"]]
    for first, row in enumerate(part["mcnemar"]["p"]):
        for second, p in enumerate(row[:first]):
            yield f"comparison / {names[first]} / {names[second]} / p", p


def _transfer_of_schema_1(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for one in part["methods"]:
        name = f"contender / {_name(one['name'])}"
        yield f"{name} / test", one["value"]
        yield f"{name} / features", one["features"]
        if one["p"] is not None:
            yield f"{name} / p", one["p"]
    for one in part["families"]:
        yield f"found / {one['name']} / chosen by tasks", one["selected"]
    for one in part["per_task"]:
        yield f"task / {one['name']} / alone", one["alone"]
        yield f"task / {one['name']} / helped", one["helped"]
    yield "found / clusters", hashed(" ".join(one["members"]) for one in part["clusters"])


def _comparison_of_schema_1(one: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    name = f"comparison / {_name(one['a'])} / {_name(one['b'])}"
    yield f"{name} / difference", one["difference"]
    adjusted = one.get("p_adjusted")
    yield f"{name} / p", one["p"] if adjusted is None else adjusted
    yield f"{name} / significant", one["significant"]


# ── schema 2 ──

# The tables whose rows are compared by their first words, by their title or that of their section,
# and what they are called.
TABLES = {
    "conjunctions": "conjunctions",
    "atomic features": "atomic",
    "templates": "templates",
}


def of_schema_2(result: Mapping[str, Any]) -> Meaning:
    """The meanings of a result of schema 2."""
    found = dict(_data_of_schema_1(result["data"]))
    found |= {
        name: result[name]
        for name in ("metric", "significant", "evaluations")
        if result.get(name) is not None
    }
    if result["kind"] == "discover":
        tables = [block for one in result["sections"] for block in one["blocks"]]
        found |= dict(_discover_of_schema_1(dict(result) | {"findings": tables}))
    else:
        found |= dict(_method_of_schema_2(result))
    if result["kind"] == "induction":
        found.pop("significant", None)  # its one comparison tells
    for one in result.get("comparisons", []):
        if result["kind"] != "memory":
            adjusted = one["p"] if one.get("p_adjusted") is None else one["p_adjusted"]
            found |= dict(_comparison_of_schema_1(dict(one) | {"p_adjusted": adjusted}))
    return found


def _method_of_schema_2(result: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for one in result["leaderboard"]:
        yield from _model_of_schema_2(result["kind"], one)
    for one in result["comparisons"]:
        if result["kind"] == "memory":
            yield f"comparison / {_name(one['a'])} / {_name(one['b'])} / p", one["p"]
    for section in result["sections"]:
        for block in section["blocks"]:
            title = (block.get("title") or section["name"]).lower()
            if section["name"] in TRANSFERRED and block["block"] == "grid":
                yield from TRANSFERRED[section["name"]](block.get("rows", []))
            elif block["block"] == "grid" and title in TABLES:
                title, width = TABLES[title], 2 if result["kind"] == "template search" else 1
                yield f"found / {title} / number", block.get("total") or len(block["rows"])
                yield (
                    f"found / {title}",
                    hashed(" ".join(map(_feature, row[:width])) for row in block["rows"]),
                )
            elif block["block"] == "facts":
                facts = {label: value for label, value, _ in block["items"]}
                if "trees" in facts:
                    yield "found / trees", facts["trees"]
            elif block["block"] == "tree":
                yield "found / nodes of the first tree", block.get("n_nodes")


def _tasks(rows: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Any]]:
    for name, *_, alone, helped, _ in rows:
        yield f"task / {name} / alone", alone
        yield f"task / {name} / helped", helped


# Sections of transfer by name, and what their rows mean.
TRANSFERRED: dict[str, Callable[[Sequence[Sequence[Any]]], Iterable[tuple[str, Any]]]] = {
    "Tasks": _tasks,
    "Families": lambda rows: ((f"found / {row[0]} / chosen by tasks", row[3]) for row in rows),
    "Clusters": lambda rows: [("found / clusters", hashed(" ".join(row[2]) for row in rows))],
}


def _model_of_schema_2(kind: str, one: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    name = f"contender / {_name(one['name'])}"
    yield f"{name} / test", one["test"]
    if kind == "memory":
        settings = one["settings"]
        yield f"{name} / validation", one["value"]
        yield f"{name} / fits", one["more"]["evaluations"]
        yield f"{name} / setting", f"{settings['k']} {settings['weights']} {settings['vote']}"
        for column, mode in settings["modes"].items():
            yield f"{name} / {column}", mode
    elif kind == "induction":
        yield f"{name} / features", one["size"]
        if one["value"] is not None:
            which = "best" if one["chosen"] else "baseline"
            yield f"{which} score", one["value"]
            for key, value in one["settings"].items():
                yield f"{which} setting / {key}", _short(value)
    elif kind == "transfer of relevance":
        yield f"{name} / features", one["more"]["features"]
        if one["more"]["p"] is not None:
            yield f"{name} / p", one["more"]["p"]
    elif kind in ("tree templates", "template search"):
        if one["size"] is not None:
            yield f"{name} / features", one["size"]
        if one["setting"]:
            yield f"{name} / setting", one["setting"]
        if kind == "tree templates" and "templates" in one["more"]:
            yield f"{name} / templates", one["more"]["templates"]


def _feature(value: Any) -> str:
    """A feature by name: its parts may be given one by one."""
    return " & ".join(value) if isinstance(value, list) else str(value)


READERS: dict[int, Callable[[Mapping[str, Any]], Meaning]] = {1: of_schema_1, 2: of_schema_2}


# ── files ──


def meaning_of_exports(folder: Path) -> Meaning:
    """Hashes of what other programs can read."""
    found: Meaning = {}
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".") or ".journal" in path.name
        if path.is_file() and not hidden and path.name not in NO_EXPORTS:
            content = path.read_bytes()
            if not content.startswith(_MODEL):
                found |= dict(_export(content.decode().splitlines()))
    return found


_MODEL = b"PK"  # models are archives


def _export(lines: Sequence[str]) -> Iterator[tuple[str, Any]]:
    if lines[0].startswith("{"):
        content = json.loads("\n".join(lines))
        if "plan" in content:
            for part in ("features", "templates", "derived"):
                if content.get(part):
                    yield f"export / {part} of the plan / number", len(content[part])
                    yield f"export / {part} of the plan", hashed(map(_short, content[part]))
        else:
            counts = (f"{name} {_counts(one)}" for name, one in content["features"].items())
            yield "export / relevance of features", hashed(counts)
    elif lines[0].startswith("--"):
        yield "export / options of Vowpal Wabbit", hashed(lines, ordered=True)
    elif any("%x[" in line for line in lines):
        # Comments tell what templates brought, in printed numbers.
        templates = [line for line in lines if not line.startswith("#")]
        yield "export / templates of CRF++", hashed(templates, ordered=True)
    elif "\t" in lines[0]:
        size = f"{len(lines)} rows, {len(lines[0].split())} columns"
        yield f"export / table of {size}", hashed(lines, ordered=True)
    elif not lines[0].startswith("#"):  # else weights, which are printed numbers
        yield "export / templates in words", hashed(lines)


def _counts(one: Mapping[str, Any]) -> str:
    """The whole numbers and the names of tasks, in the order of their keys."""
    return _short({key: one[key] for key in sorted(one) if not isinstance(one[key], float)})


def predicted_classes(path: Path) -> Meaning:
    """Predictions for rows, from a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return meaning_of_predictions([row["prediction"] for row in csv.DictReader(file)])


def predicted_labels(path: Path) -> Meaning:
    """Labels of tokens, from the last column of tagged sentences."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return meaning_of_predictions([line.split()[-1] for line in lines if line])


def predicted_heads(path: Path) -> Meaning:
    """Relations to heads, from the ten columns of trees."""
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t") for line in lines if line and not line.startswith("#")]
    found = meaning_of_predictions([one[7] for one in cells])
    return found | {"predictions / heads": hashed((one[6] for one in cells), ordered=True)}


def meaning_of_predictions(predicted: Sequence[str]) -> Meaning:
    """How many there are of each, and which."""
    found: Meaning = {"predictions": hashed(predicted, ordered=True)}
    for name, n in Counter(predicted).items():
        found[f"predictions / {name}"] = n
    return found


def without_names(meaning: Meaning) -> Meaning:
    """The same, without the names that a corpus has for its classes."""
    of_classes = {
        key: value
        for key, value in meaning.items()
        if key.startswith(("data / class ", "predictions / "))
    }
    rest = {key: value for key, value in meaning.items() if key not in of_classes}
    return rest | {"classes": hashed(f"{key} {value}" for key, value in of_classes.items())}


def hashed(lines: Iterable[str], ordered: bool = False) -> str:
    """Sixteen hexadecimal digits of lines; their order counts only if it has a meaning.

    >>> hashed(["a", "b"]) == hashed(["b", "a "]), hashed("ab", True) == hashed("ba", True)
    (True, False)
    """
    kept = [line.strip() for line in lines]
    return sha256("\n".join(kept if ordered else sorted(kept)).encode()).hexdigest()[:16]


def _short(value: Any) -> Any:
    """A value that is no list, or a list as one line."""
    return value if isinstance(value, str | int | float | None) else json.dumps(value)


def _name(name: str | None) -> str | None:
    return None if name is None else NAMES.get(name, name)


# ── comparing and writing ──


def differences(expected: Meaning, found: Meaning) -> list[str]:
    """A line for each meaning that is another, or that one side has not.

    >>> differences({"rows": 9, "test": 0.81, "x / p": 0.03}, {"rows": 9, "test": 0.8100004})
    ['x / p  0.03 → —']
    """
    missing = "—"
    rows = [
        (key, expected.get(key, missing), found.get(key, missing))
        for key in sorted(expected.keys() | found.keys())
    ]
    rows = [row for row in rows if not same(*row)]
    width = max((len(key) for key, _, _ in rows), default=0)
    return [f"{key:<{width}}  {_printed(old)} → {_printed(new)}" for key, old, new in rows]


def same(key: str, first: Any, second: Any) -> bool:
    """Whether two values mean the same; numbers that are no counts may differ a little.

    >>> same("test", 0.5, 0.5000005), same("test", 0.5, 0.50001), same("a / b / p", 0.5, 0.5008)
    (True, False, True)
    """
    if isinstance(first, float) or isinstance(second, float):
        if not isinstance(first, float | int) or not isinstance(second, float | int):
            return False
        tolerance = _TOLERANCE_OF_P if _is_p(key) else _TOLERANCE
        return abs(first - second) <= tolerance * max(1.0, abs(first))
    return first == second


def as_text(meaning: Meaning) -> str:
    """The meanings as a file holds them."""
    kept = {
        key: round(value, _DIGITS_OF_P if _is_p(key) else _DIGITS)
        if isinstance(value, float)
        else value
        for key, value in meaning.items()
    }
    return json.dumps(kept, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _is_p(key: str) -> bool:
    return key.endswith(" / p")


def _printed(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)
