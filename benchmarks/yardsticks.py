"""Are the yardsticks of ``discover`` what their own users get?  Five plain lines each beside it.

``python benchmarks/yardsticks.py [--budget 2m] [--only NAME …] [--jobs 2] [--alone]
[--runs FOLDER] [--out FILE]`` with the tables in ``FEATLOOM_DATA/tables``.

A run of ``discover`` is finished first, or is one that ``door.py --keep FOLDER`` left.  Then the
file is read by pandas, strings become categories, numbers stay numbers, and LightGBM and EBM are
fitted on the very rows that the run learned from and judged on its test rows, by log-loss: once
with the setting that the run chose for its yardstick, and LightGBM once more with the package's
defaults.  Columns that the run left out (ids) are left out. ``--alone``: only the yardsticks take
part, and have all the time that they need.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from door import TARGETS
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier

from featloom.compare.questions import Question
from featloom.data.open import open_any
from featloom.discover import discover
from featloom.discover.front import FOLDS, ask
from featloom.errors import InputError
from featloom.evaluation.probabilities import row_losses
from featloom.evaluation.protocol import make_protocol

NAMES = ("LightGBM", "EBM")


def frame_of(path: Path, target: str, columns: list[str]) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns and classes as anybody would read them; rows without a class are left out."""
    frame = pd.read_csv(path, na_values="?", skipinitialspace=True, dtype={target: "str"})
    frame = frame[frame[target].notna()]
    X, y = frame[columns].copy(), frame[target].to_numpy(dtype=object)
    for name in columns:
        if not pd.api.types.is_numeric_dtype(X[name]) or X[name].dtype == bool:
            X[name] = X[name].astype("str").where(X[name].notna()).astype("category")
    return X, y


def by_lightgbm(X, y, learn, test, seed, **how):
    model = LGBMClassifier(**how, random_state=seed, verbosity=-1, n_jobs=1)
    model.fit(X.iloc[learn], y[learn])
    return model.classes_, model.predict_proba(X.iloc[test])


def by_ebm(X, y, learn, test, seed, **how):
    X = X.astype({name: object for name in X if X[name].dtype == "category"})
    model = ExplainableBoostingClassifier(**how, random_state=seed, n_jobs=1)
    model.fit(X.iloc[learn], y[learn])
    return model.classes_, model.predict_proba(X.iloc[test])


def loss_of(classes, p: np.ndarray, y: np.ndarray, known: tuple[str, ...], learned: int) -> float:
    """Log-loss; a class that was not learned has half a row's share, as ``discover`` has it."""
    code_of = {name: code for code, name in enumerate(known)}
    codes = [code_of[str(name)] for name in classes]
    unseen = 0.5 / (learned + 1)
    full = np.full((len(p), len(known)), unseen)
    full[:, codes] = p * (1 - unseen * (len(known) - len(codes)))
    return float(row_losses(np.array([code_of[one] for one in y]), full).mean())


@dataclass(frozen=True)
class Run:
    """What a run of ``discover`` asked, the rows it learned from, and what came out."""

    question: Question
    learn: np.ndarray
    test: np.ndarray
    leaderboard: list[dict[str, Any]]


def run_now(path: Path, target: str, seed: int, **how: Any) -> Run:
    found = discover(str(path), target, seed=seed, verbose=False, **how)
    return Run(found.question, found.learn_rows, found.test_rows, found.leaderboard)


def run_kept(folder: Path, path: Path, target: str) -> Run:
    """A run that is there already; its rows follow from its seed."""
    result = json.loads((folder / "result.json").read_text())
    question, _, _ = ask(open_any(str(path), target, None), target)
    parts = make_protocol(
        question.strata, question.groups, n_folds=FOLDS["table"], seed=result["seed"],
        unit=question.unit,
    )  # fmt: skip
    return Run(question, parts.learn, parts.test, result["leaderboard"])


def setting_of(words: str) -> dict[str, int]:
    """The setting that a leaderboard tells in words.

    >>> setting_of("num leaves 31, rounds 100")
    {'num_leaves': 31, 'rounds': 100}
    """
    pairs = [one.rsplit(" ", 1) for one in words.split(", ") if one]
    return {name.replace(" ", "_"): int(value) for name, value in pairs}


def lines_of(name: str, path: Path, target: str, run: Run, seed: int) -> list[dict]:
    """Each yardstick of the run, beside plain lines on the same rows."""
    question, learn, test = run.question, run.learn, run.test
    seen = question.data if question.outside is None else question.outside
    X, y = frame_of(path, target, list(seen.columns))
    there = np.array(question.classes, dtype=object)[question.labels]
    if list(y) != list(there):
        raise InputError(f"{path.name}: pandas reads other rows than the run has")
    board = {row["name"]: row for row in run.leaderboard}
    lines = []
    for one in NAMES:
        row, line = board.get(one, {}), {"table": name, "yardstick": one, "test": len(test)}
        line |= {"run": row.get("test"), "interval": row.get("test_interval"),
                 "setting": row.get("setting", ""), "why": row.get("why", "")}  # fmt: skip
        setting = setting_of(row.get("setting", ""))
        if one == "LightGBM":
            tried = {"default": {}}
            if setting:
                tuned = {"num_leaves": setting["num_leaves"], "n_estimators": setting["rounds"]}
                tried = {"same setting": tuned, **tried}
            fit = by_lightgbm
        else:
            tried, fit = {"same setting": {"outer_bags": 4}}, by_ebm
        for words, how in tried.items():
            used = process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                classes, p = fit(X, y, learn, test, seed, **how)
            line[words] = loss_of(classes, p, y[test], question.classes, len(learn))
            line[f"{words}, CPU s"] = process_time() - used
        lines.append(line)
    return lines


def shown(line: dict[str, Any]) -> str:
    def cell(value: float | None) -> str:
        return f"{value:>10.4f}" if value is not None else f"{'—':>10}"

    apart = None
    if line["run"] is not None and "same setting" in line:
        apart = line["run"] - line["same setting"]
    cells = [line["run"], line.get("same setting"), apart, line.get("default")]
    said = line["setting"] or line["why"]
    return f"{line['table']:<16}{line['yardstick']:<10}{''.join(map(cell, cells))}  {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", default="2m")
    parser.add_argument("--only", nargs="*", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--alone", action="store_true", help="yardsticks alone, without a limit")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=Path, help="folder of runs that door.py kept")
    parser.add_argument("--out", type=Path, help="file to add lines of JSON to")
    given = parser.parse_args()
    how: dict[str, Any] = {"budget": given.budget}
    if given.alone:
        how = {"budget": None, "only": NAMES}
    heads = ("run", "plain", "run-plain", "default")
    print(f"{'table':<16}{'yardstick':<10}{''.join(f'{head:>10}' for head in heads)}  setting")
    for name in given.only:
        path = Path(os.environ["FEATLOOM_DATA"]) / "tables" / f"{name}.csv.xz"
        try:
            if given.runs is not None:
                run = run_kept(given.runs / name, path, TARGETS[name])
            else:
                run = run_now(path, TARGETS[name], given.seed, n_jobs=given.jobs, **how)
            lines = lines_of(name, path, TARGETS[name], run, given.seed)
        except InputError as error:
            print(f"{name:<16}not compared: {error}", flush=True)
            continue
        for line in lines:
            if given.out is not None:
                with given.out.open("a") as file:
                    file.write(json.dumps(line | {"budget": how["budget"]}) + "\n")
            print(shown(line), flush=True)


if __name__ == "__main__":
    main()
