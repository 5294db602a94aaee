"""Lines to copy: how the model that a run left behind is used, in a shell and in Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from featloom.data.corpora import names_corpus
from featloom.data.readers import format_of
from featloom.formats.models import kind_of_model
from featloom.runs import MODEL

_USES = {"table": "predict", "sequence": "tag", "trees": "parse", "tasks": "predict"}
_OF_MODELS = {
    "linear": "table", "memory": "table", "tagger": "sequence", "parser": "trees", "tasks": "tasks",
}  # fmt: skip


def lines_of_run(run: Any, result: Mapping[str, Any]) -> list[dict[str, str]]:
    """How the model of a run is used; nothing where it keeps none."""
    if run is None or not (run.path / MODEL).exists():
        return []
    kind, data = _OF_MODELS[kind_of_model(run.path / MODEL)], result["data"]
    columns = result.get("layout", {}).get("columns")
    target = data.get("target") or None
    if columns is not None and format_of_file(data["source"]) != "conll":
        columns = None
    return lines_to_use(kind, str(run.path), data["source"], target, columns)


def lines_to_use(
    kind: str, folder: str, source: str, target: str | None, columns: Sequence[str] | None = None
) -> list[dict[str, str]]:
    """How a model is used that learned from ``source``, which is the example.

    Parameters
    ----------
    kind : "table", "sequence", "trees" or "tasks".
    columns : names of the columns of sentences in a file, where they were given.
    """
    return [
        {"title": "on the command line", "code": f"featloom {_USES[kind]} {folder} NEW_FILE"},
        {"title": "in Python", "code": _loaded(kind, folder, source, target, columns)},
    ]


def format_of_file(source: str) -> str:
    """The format of a file; of a corpus none."""
    return "" if names_corpus(source) else format_of(source)


def _loaded(
    kind: str, folder: str, source: str, target: str | None, columns: Sequence[str] | None
) -> str:
    """Lines of Python that load the model and let it predict, the data being an example."""
    is_corpus = names_corpus(source)
    if os.path.isdir(source) and not os.path.exists(os.path.join(source, "X.npz")):
        # Parquet files in blocks, which are not read at once.
        lines = ["from featloom import load", "", f"model = load({folder!r})"]
        return "\n".join([*lines, "print(model.predict(rows)[:10])  # of a DataFrame", ""])
    reader, given = ("featloom", "read"), repr(source)
    if kind == "tasks" and (is_corpus or format_of(source) == "sparse"):
        reader = ("featloom.data.readers.task_archives", "archive_with_tasks")
        given += ", task=model.task_column, target=model.target"
    elif columns is not None:
        reader = ("featloom", "read_conll")
        given += f", columns={[None if name == '-' else name for name in columns]!r}"
        given += "" if target is None else f", target={target!r}"
    elif is_corpus:
        reader = ("featloom.data.tasks.ready", "load as load_corpus")
    elif kind == "sequence" and target is not None:
        given += f", target={target!r}"
    elif kind in ("table", "tasks") and target is not None:
        found = format_of(source, columns=[target])
        given += "" if found == format_of(source) else f", format={found!r}"
    lines = ["from featloom import load", f"from {reader[0]} import {reader[1]}"]
    if reader[0] == "featloom":
        lines = [f"from featloom import load, {reader[1]}"]
    said = {"table": "  # or a DataFrame", "tasks": "  # or a DataFrame"}.get(kind, "")
    if reader[1] == "archive_with_tasks" or is_corpus:
        said = ""
    lines += ["", f"model = load({folder!r})", f"rows = {reader[1].split()[-1]}({given}){said}"]
    return "\n".join([*lines, "print(model.predict(rows)[:10])", ""])
