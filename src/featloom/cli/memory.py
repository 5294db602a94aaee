"""``featloom memory DATA --target COL``: search the setting of a memory-based learner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featloom.cli import options, session
from featloom.cli.show import show_result
from featloom.data.open import as_table, corpus_parts, open_file
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.methods.memory_search import MemorySearch
from featloom.methods.memory_search.export import export_timbl
from featloom.methods.memory_search.parts import make_parts
from featloom.methods.memory_search.search import STRATEGIES
from featloom.methods.memory_search.settings import KS, SettingSpace
from featloom.methods.memory_search.study import study_memory
from featloom.runs import Timing, encode_result
from featloom.search import Budget
from featloom.shown import terminal
from featloom.words import no_such

if TYPE_CHECKING:
    from featloom.methods.memory_search.parts import Parts

MODEL = "model.featloom"
# A resumed run has the options it was begun with, but for where it lies and how it is shown.
_ANEW = frozenset({"out", "quiet", "json"})


def memory(
    data: options.Data,
    target: options.Target = None,
    strategy: Annotated[
        str,
        typer.Option(help="guided, local, genetic, forward, backward, grid, exhaustive or optuna."),
    ] = "guided",
    over: Annotated[
        str,
        typer.Option(
            help="What is searched: features and parameters together, the features alone, "
            "or the parameters alone."
        ),
    ] = "together",
    valid: Annotated[
        Path | None, typer.Option(help="File to search on; default a tenth of DATA.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="File to report on; default a tenth of DATA.")
    ] = None,
    groups: options.Groups = None,
    ks: Annotated[
        str | None, typer.Option(help="Numbers of neighbours to try: 1,3,5. Default odd, 1 to 21.")
    ] = None,
    vote: Annotated[
        str | None,
        typer.Option(
            help="count, inverse_distance, inverse_linear or exponential; default the best."
        ),
    ] = None,
    threshold: Annotated[
        int, typer.Option(help="Values seen fewer times are compared by overlap, not by MVDM.")
    ] = 1,
    compat: Annotated[
        str, typer.Option(help="timbl: its rules to the last tie; none: plain ones.")
    ] = "timbl",
    budget: options.SearchBudget = None,
    trials: Annotated[int | None, typer.Option(help="The most evaluations.")] = None,
    folds: Annotated[
        int | None, typer.Option(help="Cross-validate over so many folds; no validation part.")
    ] = None,
    timbl: Annotated[
        Path | None,
        typer.Option(help="Folder for the rows and the weights in TiMBL's own formats."),
    ] = None,
    on_bad_row: options.OnBadRow = "raise",
    out: options.Out = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    dask: options.Dask = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Search which features count, by which metric, and with which k and weights."""
    asked = {name: value for name, value in locals().items() if name not in _ANEW}
    if timbl is not None:
        asked["timbl"] = timbl = timbl.resolve()
    options.folder_to_write(timbl)

    timing = Timing()
    search = memory_search(
        strategy=strategy, over=over, ks=ks, vote=vote, threshold=threshold, compat=compat,
        budget=budget, trials=trials, folds=folds,
    ).set_params(random_state=seed, n_jobs=jobs)  # fmt: skip
    with options.run_folder(out) as run, options.workers(dask):
        if run is not None:
            session.write_request(run, "memory", asked)
            search.set_params(journal=run.path / "search.journal")
        with session.search_progress(f"reading {data.name}", quiet) as (say, progress):
            with timing.stage("read"):
                parts = load_parts(
                    data, valid, test, target=target, groups=groups, on_bad_row=on_bad_row,
                    folds=folds, seed=seed,
                )  # fmt: skip
            with timing.stage("fit"):
                search.set_params(progress=session.by_the_clock(progress, budget))
                study, found = study_memory(parts, search, say=say)
        study["data"]["source"] = str(data)
        if timbl is not None:
            study["timbl_command"] = export_timbl(timbl, found, parts.train, parts.test)
        if run is not None:
            found.save(run.path / MODEL)
        finish(study, run, timing, seed=seed, quiet=quiet, json=json)


def memory_search(*, strategy, over, ks, vote, threshold, compat, budget, trials, folds):
    """The search that the options ask for; a wrong one is told before anything is read."""
    if strategy not in STRATEGIES:
        raise InputError(no_such("strategy", strategy, STRATEGIES))
    if compat not in ("timbl", "none"):
        raise InputError(f"compat is {compat!r}; it can be timbl or none")
    if folds is not None and folds < 2:
        raise InputError(f"folds must be at least 2, not {folds}")
    Budget.of(budget, trials)
    search = MemorySearch(
        strategy=strategy,
        over=over,
        ks=KS if ks is None else numbers_of_neighbours(ks),
        vote=vote,
        mvdm_threshold=threshold,
        compat=None if compat == "none" else compat,
        budget=budget,
        trials=trials,
        cv=folds or 5,
    )
    SettingSpace(["any"], search.ks)
    search._check_parameters()
    return search


def numbers_of_neighbours(text: str) -> tuple[int, ...]:
    """The ks as typed.

    >>> numbers_of_neighbours("1,3, 5")
    (1, 3, 5)
    """
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise InputError(f"ks is {text!r}; whole numbers with commas are expected: 1,3,5") from None


def load_parts(
    data: Path, valid: Path | None, test: Path | None, *, folds: int | None, seed: int, **how
) -> Parts:
    """The parts of DATA: those of a corpus, those in files of their own, or a split."""
    import os

    first = as_table(open_file(data, **how))
    given = {"valid": valid, "test": test}
    tables: dict[str, NominalTable | None] = {
        name: None if path is None else as_table(open_file(path, **how))
        for name, path in given.items()
    }
    if not os.path.exists(data):
        for name, path in given.items():
            if path is not None:
                raise InputError(f"--{name} is for files, and {str(data)!r} is a corpus")
        tables = corpus_parts(str(data))
        if folds is not None and tables["valid"] is not None:
            raise InputError(
                f"--folds is for data without a validation part; corpus {str(data)!r} has one"
            )
    return make_parts(first, tables["valid"], tables["test"], folds=folds, seed=seed)


def finish(study: dict[str, Any], run, timing, *, seed: int, quiet: bool, json: bool) -> None:
    """Write the run, then show the result in the way that was asked for."""
    result, page = session.write_result(study, run, timing, seed)
    if json:
        typer.echo(encode_result(result))
    elif not quiet:
        show_result(result, page, {} if run is None else {"model": run.path / MODEL})
        if "timbl_command" in result:
            terminal().say(f"the same by TiMBL: {result['timbl_command']}")
