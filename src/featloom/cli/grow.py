"""``featloom grow DATA --target COL``: templates read off decision trees, and what they are worth.

DATA may be a table, sentences with a label for each token, or dependency trees (``--target head``).
Templates are grown on it, and a model with them is compared with one that has none, or those that
it has by default: a logistic regression, a CRF or a dependency parser.  A folder of Parquet files
is a table in blocks, which need not fit in memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options, session
from featloom.cli.show import show_result
from featloom.data.blocks_parquet import parquet_files
from featloom.data.corpora import corpus, names_corpus
from featloom.data.open import as_table, is_treebank, open_blocks, open_file, open_sentences
from featloom.data.readers import format_of, read_conllu
from featloom.data.table import NominalTable
from featloom.data.tasks.ready import load
from featloom.errors import InputError, ReadError
from featloom.features.plan import FeaturePlan
from featloom.learners.tree import CRITERIA
from featloom.learners.tree_paths import FORESTS
from featloom.methods.tree_templates import TreeTemplates
from featloom.methods.tree_templates.parts import growth_parts, parts_of_blocks
from featloom.methods.tree_templates.study import study_table
from featloom.methods.tree_templates.study_dependencies import study_dependencies
from featloom.methods.tree_templates.study_sequences import study_sequences
from featloom.runs import Timing, encode_result

if TYPE_CHECKING:
    from featloom.methods.tree_templates.parts import GrowthParts
    from featloom.runs import Run

MODEL, PLAN, CRFPP, VW = "model.featloom", "templates.json", "templates.crfpp", "templates.vw"
HEAD = "head"
# A resumed run has the options it was begun with, but for where it lies and how it is shown.
_ANEW = frozenset({"out", "quiet", "json"})


def grow(
    data: options.Data,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column that holds the class; head: dependency trees."),
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="File to report on; default a tenth of DATA.")
    ] = None,
    valid: Annotated[
        Path | None,
        typer.Option(help="File to tune the linear models and judge single templates on."),
    ] = None,
    groups: options.Groups = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Names of the columns of sentences: word,pos,-; '-' leaves one out."),
    ] = None,
    criterion: Annotated[
        str, typer.Option(help="How trees choose columns: gain_ratio or information_gain.")
    ] = "gain_ratio",
    max_length: Annotated[int, typer.Option(min=1, help="Columns of the longest template.")] = 6,
    trees: Annotated[
        int | None, typer.Option(min=1, help="Trees to grow; default 1, for dependencies 60.")
    ] = None,
    columns_per_tree: Annotated[
        int | None, typer.Option(min=1, help="Columns that each tree sees, drawn at random.")
    ] = None,
    forest: Annotated[
        str,
        typer.Option(
            help="bagged: each tree sees other columns; hard: the rows that the one before missed."
        ),
    ] = "bagged",
    most: Annotated[
        int | None, typer.Option(min=1, help="Keep so many templates, those of highest gain.")
    ] = None,
    backoff: Annotated[
        bool, typer.Option("--backoff/--no-backoff", help="Also paths without their root.")
    ] = True,
    prune: Annotated[
        str | None,
        typer.Option(help="error, gain or none; default error, for dependencies none."),
    ] = None,
    window: Annotated[
        int, typer.Option(min=0, help="Of sentences: the farthest token that is looked at.")
    ] = 2,
    on_bad_row: options.OnBadRow = "raise",
    out: options.Out = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    memory: options.Memory = None,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Grow templates from decision trees, and test whether they help."""
    asked = {name: value for name, value in locals().items() if name not in _ANEW}

    timing = Timing()
    growth = checked_growth(
        criterion=criterion, max_length=max_length, n_trees=trees, forest=forest, most=most,
        columns_per_tree=columns_per_tree, backoff=backoff, prune=prune,
    )  # fmt: skip
    check_reading(data, memory, dask, valid=valid, test=test, columns=columns)
    with options.run_folder(out) as run, options.workers(dask):
        if run is not None:
            session.write_request(run, "grow", asked)
        with session.search_progress(f"reading {data.name}", quiet) as (say, progress):
            with timing.stage("read"):
                parts = load_parts(
                    data, valid, test, target=target, groups=groups, columns=columns,
                    on_bad_row=on_bad_row, memory=memory, seed=seed,
                )  # fmt: skip
            with timing.stage("fit"):
                study = run_study(
                    parts, growth, run, window=window, seed=seed, jobs=jobs, say=say,
                    progress=progress,
                )  # fmt: skip
        study["data"]["source"] = str(data)
        if parts.kind == "sequence":
            study["layout"] = layout(parts, columns)
        finish(study, run, timing, seed=seed, quiet=quiet, json=json)


def checked_growth(**asked: Any) -> dict[str, Any]:
    """The settings of the trees; a wrong one is told before anything is read.

    Those that were not asked for are left out: each kind of data has its own.
    """
    allowed = {"criterion": CRITERIA, "forest": FORESTS, "prune": ("error", "gain", "none", None)}
    for name, known in allowed.items():
        if asked[name] not in known:
            words = ", ".join(one for one in known if one)
            raise InputError(f"{name} is {asked[name]!r}; it can be {words}")
    given = {name: value for name, value in asked.items() if value is not None}
    if given.get("prune") == "none":
        given["prune"] = None
    return given


def check_reading(data: Path, memory: str | None, dask: str | None, **of_whole: Any) -> None:
    """Refuse options that do not suit data in blocks, or data that is read whole."""
    import os

    in_blocks = (memory is not None or os.path.isdir(data)) and bool(parquet_files(data))
    if dask is not None and not in_blocks:
        raise InputError(
            "--dask is for data in blocks (a folder of Parquet files, or one with --memory), "
            f"which {data} is not"
        )
    for name, value in of_whole.items():
        if in_blocks and value is not None:
            raise InputError(f"--{name} is for data that is read whole, and {data} comes in blocks")


def load_parts(
    data: Path, valid: Path | None, test: Path | None, *, target: str | None, seed: int,
    memory: str | None = None, **how: Any,
) -> GrowthParts:  # fmt: skip
    """The parts of DATA: those of a corpus, those in files of their own, or a split."""

    reading = {name: how[name] for name in ("groups", "on_bad_row")}
    blocks = open_blocks(data, target=target, memory=memory, hashed=None, **reading)
    if blocks is not None:
        return parts_of_blocks(blocks)
    if names_corpus(data):
        trees = target == HEAD
        given = {"target": None if trees else target, "valid": valid, "test": test, **how}
        for name, value in given.items():
            if value is not None and value != "raise":
                raise InputError(
                    f"--{name.replace('_', '-')} is for files, and {str(data)!r} is a corpus"
                )
        kind, tables = _corpus(str(data), trees)
    else:
        kind = kind_of(data, target)
        tables = [
            None if path is None else _read(path, kind, target, **how)
            for path in (data, valid, test)
        ]
    return growth_parts(*tables, kind=kind, seed=seed)  # type: ignore[arg-type]


def kind_of(data: Path, target: str | None) -> str:
    """Whether a file is a table, sentences with labels, or dependency trees."""
    import os

    if not os.path.exists(data):
        hint = "" if data.suffix else ", and no corpus of that name; 'featloom corpora' lists them"
        raise ReadError(f"no such file{hint}", file=str(data))
    found = format_of(data, columns=[target] if target else [])
    if found in ("table", "timbl"):
        return "table"
    if found == "conll":
        return "sequence"
    if found == "conllu":
        return "dependencies" if target in (None, HEAD) else "sequence"
    raise ReadError("a sparse matrix; trees are grown on the columns of a table", file=str(data))


def _read(
    path: Path,
    kind: str,
    target: str | None,
    *,
    groups: str | None,
    columns: str | None,
    on_bad_row: str,
) -> NominalTable:
    for name, value, allowed in (("groups", groups, "table"), ("columns", columns, "sequence")):
        if value is not None and kind != allowed:
            words = {"table": "tables", "sequence": "sentences with labels"}[allowed]
            raise InputError(f"--{name} is for {words}, and {path} is none")
    if kind == "table":
        return as_table(open_file(path, target=target, groups=groups, on_bad_row=on_bad_row))
    if kind == "sequence":
        return open_sentences(
            path, target=target, columns=options.named_columns(columns), on_bad_row=on_bad_row
        )
    if not is_treebank(path):
        raise ReadError("no dependency trees in CoNLL-U's ten columns", file=str(path))
    return read_conllu(path, on_bad_row=on_bad_row)


def _corpus(name: str, trees: bool) -> tuple[str, list[NominalTable | None]]:
    """What kind a corpus is of, and its parts as far as it has them."""
    first = load(name)
    if not isinstance(first, NominalTable):
        raise InputError(f"corpus {name!r} is a sparse matrix; trees are grown on columns")
    kind = "dependencies" if trees or (first.labels is None and first.heads is not None) else (
        "table" if first.sequence_bounds is None else "sequence"
    )  # fmt: skip
    if kind == "dependencies" and first.heads is None:
        raise InputError(f"corpus {name!r} has no dependency trees, so --target cannot be head")
    held = {file.part for file in corpus(name).files}
    # A corpus whose files are not parts is made into its three parts, or comes in one piece.
    there = {"valid", "test"} if held == {""} else held
    rest = [load(name, part) if part in there else None for part in ("valid", "test")]
    return kind, [first, *rest]  # type: ignore[list-item]


def run_study(
    parts: GrowthParts, growth: dict[str, Any], run: Run | None, *, window, seed, jobs, say,
    progress,
) -> dict[str, Any]:  # fmt: skip
    """The study that suits the kind of data; what it finishes is kept at once."""

    def keep(name: str, found: Any) -> None:
        if run is not None and name == "model":
            found.save(run.path / MODEL)
        elif run is not None:
            write_templates(run, found)

    if parts.kind == "dependencies":
        return study_dependencies(
            parts, growth, seed=seed, jobs=jobs, say=say, progress=progress, keep=keep
        )
    templates = TreeTemplates(**growth, random_state=seed)
    templates._settings()
    if parts.kind == "table":
        return study_table(parts, templates, seed=seed, jobs=jobs, say=say, keep=keep)
    return study_sequences(
        parts, templates, window=window, seed=seed, jobs=jobs, say=say, keep=keep
    )


def write_templates(run: Run, found: Any) -> None:
    """The templates in the forms that other programs read; those of edges as a plan alone."""
    if not isinstance(found, TreeTemplates):
        plan = FeaturePlan(templates=tuple(found.templates_))
        run.write(PLAN, plan.to_json() + "\n")
        return
    run.write(PLAN, found.plan_.to_json() + "\n")
    run.write(CRFPP, found.to_crfpp())
    try:
        run.write(VW, found.to_vw() + "\n")
    except InputError as error:
        import warnings

        warnings.warn(f"no {VW}: {error}", stacklevel=2)


def layout(parts: GrowthParts, columns: str | None) -> dict[str, Any]:
    """How the file of sentences was laid out, for ``featloom tag``."""
    names = options.named_columns(columns) or [*parts.train.columns, parts.train.target]
    return {"columns": names, "target": parts.train.target}


def finish(study: dict[str, Any], run, timing, *, seed: int, quiet: bool, json: bool) -> None:
    """Write the run, then show the result in the way that was asked for."""
    result, page = session.write_result(study, run, timing, seed)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        files = {"templates": PLAN, "model": MODEL}
        show_result(
            result, page, {} if run is None else {k: run.path / v for k, v in files.items()}
        )
