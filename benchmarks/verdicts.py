"""Is what ``discover`` says true?  Choices, intervals and claims beside thousands of other rows.

``python benchmarks/verdicts.py --out FILE [--draws 40] [--first 0] [--only NAME …] [--budget 20s]``
with FEATLOOM_DATA; ``--summary`` prints what FILE holds and measures nothing, ``--json`` as JSON.

Each draw hands 2,000 rows of a data set to ``discover``; the truth is what models do on its other
rows, at most 20,000 of them.  Every contender is fitted anew with the setting it was judged with:
on all 2,000 rows, as the model that is handed over; on the rows that the test part's figure speaks
of; and on those of each fold.  FILE gets a line of JSON for each draw.  Draws that it holds are
skipped, so that a run that was stopped goes on, and two may share a file if ``--first`` or
``--only`` tell them apart.

Data sets: ``letters`` (how is this a sounded, by three letters on either side; the eight commonest
sounds), ``phishing``, ``nursery``, and ``generated``, where three classes depend on twelve columns
and on five pairs of them.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import numpy as np
from scipy.stats import norm

from featloom.data.readers import read
from featloom.data.table import NominalTable
from featloom.data.tasks.letter_to_sound import letter_question
from featloom.data.tasks.ready import load
from featloom.discover import Discovery, discover
from featloom.errors import InputError
from featloom.evaluation.probabilities import row_losses
from featloom.evaluation.selection import one_standard_error
from featloom.evaluation.verdict import choose, comparable_means

MOST_TRUE = 20_000  # rows that the truth is taken from
N_SOUNDS = 8
VALUES = (2, 2, 3, 3, 4, 5, 6, 8, 10, 12, 16, 20)
PAIRS = ((7, 9), (4, 8), (2, 6), (10, 11), (0, 5))
NEAR = (0.005, 0.01, 0.02, 0.05)


# ── data sets ──


def letters() -> NominalTable:
    table = letter_question(load("gs-cmudict", "train"), "a")
    commonest = np.argsort(-np.bincount(table.labels), kind="stable")[:N_SOUNDS]
    return of_classes(table.take(np.flatnonzero(np.isin(table.labels, commonest))))


def of_classes(table: NominalTable) -> NominalTable:
    """The table with the classes that its rows have."""
    present, labels = np.unique(table.labels, return_inverse=True)
    classes = tuple(table.classes[code] for code in present.tolist())
    return replace(table, labels=labels.astype(np.int32), classes=classes)


def of_file(name: str, target: str) -> NominalTable:
    return read(Path(os.environ["FEATLOOM_DATA"]) / "tables" / f"{name}.csv.xz", target=target)


def generated(seed: int = 0, n_rows: int = 40_000) -> NominalTable:
    """Value r of a column is drawn with a weight of 1 / r, the class by a softmax of effects.

    Those of values are normal with deviation .5, those of the pairs' values with deviation 1.

    >>> len(generated(n_rows=50).columns)
    12
    """
    rng = np.random.default_rng(seed)
    codes = []
    for n_values in VALUES:
        weights = 1 / np.arange(1, n_values + 1)
        codes.append(rng.choice(n_values, n_rows, p=weights / weights.sum()))
    scores = np.zeros((n_rows, 3))
    for n_values, column in zip(VALUES, codes, strict=True):
        scores += rng.normal(0, 0.5, (n_values, 3))[column]
    for i, j in PAIRS:
        scores += rng.normal(0, 1, (VALUES[i], VALUES[j], 3))[codes[i], codes[j]]
    labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    columns = {f"c{j}": [f"v{code}" for code in column] for j, column in enumerate(codes)}
    return NominalTable.from_columns(columns, labels=[f"y{label}" for label in labels])


DATA: dict[str, Callable[[], NominalTable]] = {
    "letters": letters,
    "phishing": lambda: of_file("phishing", "Result"),
    "nursery": lambda: of_file("nursery", "class"),
    "generated": generated,
}


# ── a draw ──


class Truth:
    """Other rows, on which any model is judged."""

    def __init__(self, rows: NominalTable, columns: Sequence[str]):
        places = [rows.column_index(name) for name in columns]
        self.rows = replace(
            rows,
            columns=tuple(columns),
            codes=np.asfortranarray(rows.codes[:, places]),
            vocabularies=tuple(rows.vocabularies[j] for j in places),
        )
        self.code_of = {str(name): code for code, name in enumerate(rows.classes)}

    def figures(self, names: Sequence[Any], p: np.ndarray, learned: int) -> dict[str, float]:
        """Log-loss, its standard error, accuracy; a class not learned has half a row's share."""
        codes = [self.code_of[str(name)] for name in names]
        unseen = 0.5 / (learned + 1)
        full = np.full((len(p), len(self.code_of)), unseen)
        full[:, codes] = p * (1 - unseen * (len(self.code_of) - len(codes)))
        losses = row_losses(self.rows.labels, full)
        return {
            "log_loss": float(losses.mean()),
            "error": float(losses.std(ddof=1) / np.sqrt(len(losses))),
            "accuracy": float((full.argmax(axis=1) == self.rows.labels).mean()),
        }

    def of(self, fitted: Any) -> dict[str, float]:
        return self.figures(*fitted.probabilities(self.rows), fitted.learned)


def drawn(name: str, data: NominalTable, seed: int, rows: int, budget: str) -> dict[str, Any]:
    """One draw: what was said, and what is true."""
    shuffled = np.random.default_rng(seed).permutation(len(data))
    table = data.take(np.sort(shuffled[:rows]))
    begun, used = monotonic(), process_time()
    found = discover(table, budget=budget, n_jobs=1, seed=seed, verbose=False)
    line: dict[str, Any] = {
        "data": name, "seed": seed, "budget": budget, "rows": rows, "chosen": found.chosen,
        "reference": found.found.reference, "significant": found.significant,
        "verdict": found.verdict, "discover_s": monotonic() - begun,
        "discover_cpu": process_time() - used,
        "spent": found.result["budget"],
    }  # fmt: skip
    used = process_time()
    asked = data.take(np.sort(shuffled[rows : rows + MOST_TRUE]))
    truth = Truth(asked, found.question.data.columns)
    model = found.pipeline()
    line["true_rows"] = len(asked)
    line["handed_over"] = truth.figures(model.classes_, model.predict_proba(truth.rows), rows)
    line["contenders"] = [
        contender_of(found, row, truth) for row in found.leaderboard if "value" in row
    ]
    line["gains"] = [one for one in found.result["comparisons"] if not one.get("gate")]
    return line | {"truth_cpu": process_time() - used}


def contender_of(found: Discovery, row: Mapping[str, Any], truth: Truth) -> dict[str, Any]:
    """What the leaderboard says of a contender, and what is true of its models."""
    name, entry = row["name"], found.entries[row["name"]]
    kept = ("name", "role", "status", "value", "folds", "interval", "test", "test_interval",
            "setting", "learned")  # fmt: skip
    folds = sorted(entry.scores)
    line = {key: row[key] for key in kept} | {"fold_numbers": folds, "size": entry.size}
    line["true"] = truth.of(found.refitted(name))
    line["true_test"] = truth.of(found.refitted(name, "test")) if entry.tested else None
    # Outside models have intervals too, but nobody chooses by them, and they take long to fit.
    inside = row["role"] != "yardstick" and row["interval"] is not None
    of_folds = [truth.of(found.refitted(name, fold)) for fold in folds] if inside else []
    line["true_folds"] = [one["log_loss"] for one in of_folds]
    return line


# ── the summary ──


def chosen_by(line: Mapping[str, Any]) -> dict[str, str]:
    """Whom each rule of choice would have taken."""
    everyone = [one for one in line["contenders"] if one["role"] != "yardstick"]
    scores = [
        dict(zip(one["fold_numbers"], [-loss for loss in one["folds"]], strict=True))
        for one in everyone
    ]
    means = comparable_means(scores)
    best = everyone[int(means.argmax())]
    blind = [mean for one, mean in zip(everyone, means, strict=True) if one["role"] == "chance"]
    seeing = [place for place, one in enumerate(everyone) if one["role"] != "chance"]
    found = {"best mean": best["name"]}
    rules = [f"simplest within {100 * near:g} %" for near in NEAR]
    if best["role"] == "chance" or not seeing:
        return found | dict.fromkeys([*rules, "one standard error"], best["name"])
    sizes = [everyone[place]["size"] for place in seeing]
    of_seeing = [scores[place] for place in seeing]
    chance = float(blind[0]) if blind else None
    for near, rule in zip(NEAR, rules, strict=True):
        found[rule] = everyone[seeing[choose(of_seeing, sizes, chance, near=near)]]["name"]
    # The paired rule looks at the same folds of all; who has fewer takes no part.
    most = max(map(len, of_seeing))
    whole = [place for place in seeing if len(scores[place]) == most]
    if most < 2:
        return found | {"one standard error": best["name"]}
    table = [[scores[place][fold] for fold in sorted(scores[place])] for place in whole]
    place = one_standard_error(
        None, table, [everyone[place]["size"] for place in whole], rule="paired"
    )
    return found | {"one standard error": everyone[whole[place]]["name"]}


def regret_of(line: Mapping[str, Any], name: str) -> tuple[float, float]:
    """Hundredths of log-loss, and points of accuracy, behind the best contender of each."""
    true = {one["name"]: one["true"] for one in line["contenders"] if one["role"] != "yardstick"}
    best = min(one["log_loss"] for one in true.values())
    most = max(one["accuracy"] for one in true.values())
    return 100 * (true[name]["log_loss"] - best), 100 * (most - true[name]["accuracy"])


def true_gain(line: Mapping[str, Any], gain: Mapping[str, Any]) -> float:
    """How much better one truly is than the other, of the models that were compared."""
    true = {one["name"]: one["true_test"] for one in line["contenders"]}
    return true[gain["b"]]["log_loss"] - true[gain["a"]]["log_loss"]


def summary(name: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """What the draws of a data set say together."""
    print(f"\n{name}: {len(lines)} draws of {lines[0]['rows']:,} rows, {lines[0]['budget']} each")
    counts = counted([line["chosen"] for line in lines])
    print("  chosen: " + ", ".join(f"{name} {n}" for name, n in counts.items()))
    print("  regret, ×100 log-loss (mean, worst) and points of accuracy (mean, worst), size")
    by_rule = {"as chosen": [line["chosen"] for line in lines]}
    for found in map(chosen_by, lines):
        for rule, chosen in found.items():
            by_rule.setdefault(rule, []).append(chosen)
    for rule, names in by_rule.items():
        losses, rights = np.transpose(
            [regret_of(line, one) for line, one in zip(lines, names, strict=True)]
        )
        sizes = [size_of(line, one) for line, one in zip(lines, names, strict=True)]
        print(
            f"    {rule:<22} {losses.mean():6.2f} {losses.max():6.2f}   {rights.mean():6.2f} "
            f"{rights.max():6.2f}   {np.median(sizes):8,.0f}"
        )
    behind = [100 * (line["handed_over"]["log_loss"] - outside_of(line)) for line in lines
              if outside_of(line) is not None]  # fmt: skip
    if behind:
        print(f"  behind the best yardstick, ×100 log-loss: {np.mean(behind):.2f} (mean), "
              f"{np.max(behind):.2f} (worst), {len(behind)} draws")  # fmt: skip
    tests, folds = intervals_of(lines)
    for who, keep in (("the chosen", True), ("all", False)):
        mine = [one for one in tests if one["chosen"] or not keep]
        print(
            f"  test interval, {who}: {share([one['holds'] for one in mine])} hold the truth "
            f"(of intervals that are right, {expected(mine)}), "
            f"{share([one['holds_handed'] for one in mine])} that of the fit on all rows"
        )
    for who, keep in (("the chosen", True), ("all", False)):
        mine = [one for one in folds if one["chosen"] or not keep]
        print(f"  cross-validation interval, {who}: {share([one['holds'] for one in mine])} hold "
              f"the truth, {share([one['holds_handed'] for one in mine])} that of the fit on all "
              "rows")  # fmt: skip
    claims(lines)


def digest(name: str, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of a data set that the documentation shows."""
    losses, points = np.transpose([regret_of(line, line["chosen"]) for line in lines])
    tests, folds = intervals_of(lines)
    held = {
        key: [sum(one["holds"] for one in found if one["chosen"]),
              sum(one["chosen"] for one in found)]
        for key, found in (("test_intervals", tests), ("fold_intervals", folds))
    }  # fmt: skip
    gains = [
        true_gain(line, gain)
        for line in lines
        for gain in line["gains"]
        if gain["significant"] and gain["difference"] > 0
    ]
    return {
        "data": name, "draws": len(lines), "rows": lines[0]["rows"], "budget": lines[0]["budget"],
        "regret_points": [float(points.mean()), float(points.max())],
        "regret_loss": [float(losses.mean()), float(losses.max())], **held,
        "gains": len(gains), "false_gains": sum(true <= 0 for true in gains),
    }  # fmt: skip


def counted(names: Sequence[str]) -> dict[str, int]:
    return dict(sorted(((one, names.count(one)) for one in set(names)), key=lambda one: -one[1]))


def size_of(line: Mapping[str, Any], name: str) -> int:
    return next(one["size"] for one in line["contenders"] if one["name"] == name)


def outside_of(line: Mapping[str, Any]) -> float | None:
    """The true log-loss of the best outside model."""
    found = [one["true"]["log_loss"] for one in line["contenders"] if one["role"] == "yardstick"]
    return min(found, default=None)


def intervals_of(lines: Sequence[Mapping[str, Any]]) -> tuple[list[dict], list[dict]]:
    """Every interval of the test part and of cross-validation, and whether it holds the truth."""
    tests, folds = [], []
    for line in lines:
        for one in line["contenders"]:
            is_chosen, handed = one["name"] == line["chosen"], one["true"]["log_loss"]
            if one["test_interval"] is not None and one["true_test"] is not None:
                low, high = one["test_interval"]
                true = one["true_test"]
                tests.append({
                    "chosen": is_chosen, "holds": low <= true["log_loss"] <= high,
                    "holds_handed": low <= handed <= high, "own": (high - low) / 2 / 1.96,
                    "error": true["error"],
                })  # fmt: skip
            if one["interval"] is not None and one["true_folds"]:
                low, high = one["interval"]
                true_mean = float(np.mean(one["true_folds"]))
                folds.append({
                    "chosen": is_chosen, "holds": low <= true_mean <= high,
                    "holds_handed": low <= handed <= high,
                })  # fmt: skip
    return tests, folds


def share(marks: Sequence[bool]) -> str:
    return f"{100 * np.mean(marks):.1f} % of {len(marks)}" if marks else "none"


def expected(tests: Sequence[Mapping[str, float]]) -> str:
    """How many intervals would hold the truth if they were right: it has an error of its own."""
    if not tests:
        return "none"
    own, error = (np.array([one[name] for one in tests]) for name in ("own", "error"))
    reach = 1.96 * own / np.sqrt(own**2 + error**2)
    return f"{100 * np.mean(2 * norm.cdf(reach) - 1):.1f} %"


def claims(lines: Sequence[Mapping[str, Any]]) -> None:
    """Gains that were claimed and are none, in comparisons and in verdicts."""
    gains = [(gain, true_gain(line, gain)) for line in lines for gain in line["gains"]]
    said = [(gain, true) for gain, true in gains if gain["significant"]]
    up = [true for gain, true in said if gain["difference"] > 0]
    down = [true for gain, true in said if gain["difference"] < 0]
    inside = [gain["interval"][0] <= true <= gain["interval"][1] for gain, true in gains]
    print(f"  comparisons with the reference: {len(gains)}; their intervals hold the true "
          f"difference: {share(inside)}")  # fmt: skip
    print(f"  called a gain: {len(up)}, of which none truly: {sum(true <= 0 for true in up)}; "
          f"called a loss: {len(down)}, of which none truly: {sum(true >= 0 for true in down)}; "
          f"true gains: {sum(true > 0 for _, true in gains)}")  # fmt: skip
    verdicts = [line for line in lines if line["significant"]]
    false = 0
    for line in verdicts:
        true = {one["name"]: one["true"]["log_loss"] for one in line["contenders"]}
        false += true[line["chosen"]] >= true[line["reference"]]
    print(f"  verdicts that a method is a gain: {len(verdicts)}, of which the model that was "
          f"handed over is none: {false}")  # fmt: skip


# ── all of it ──


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The draws that a file holds; one that was broken off while it was written is not there."""
    if not path.exists():
        return []
    found = []
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return found


def add_line(path: Path, line: Mapping[str, Any]) -> None:
    """Append a whole line at once, so that processes can share the file."""
    text = (json.dumps(line) + "\n").encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, text)
    finally:
        os.close(descriptor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="file of lines of JSON")
    parser.add_argument("--draws", type=int, default=40, help="how many of each data set")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first")
    parser.add_argument("--only", nargs="*", choices=list(DATA), default=list(DATA))
    parser.add_argument("--budget", default="20s", help="time for each draw")
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--summary", action="store_true", help="print only")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each data set")
    given = parser.parse_args()
    key = (given.budget, given.rows)
    if not given.summary and not given.json:
        for name in given.only:
            data = DATA[name]()
            for seed in range(given.first, given.first + given.draws):
                done = {(one["data"], one["seed"], one["budget"], one["rows"])
                        for one in lines_of(given.out)}  # fmt: skip
                if (name, seed, *key) in done:
                    continue
                try:
                    line = drawn(name, data, seed, given.rows, given.budget)
                except InputError as error:
                    print(f"{name}, seed {seed}: not counted, {error}", flush=True)
                    continue
                add_line(given.out, line)
                regret = regret_of(line, line["chosen"])
                print(
                    f"{name}, seed {seed}: {line['chosen']}, log-loss "
                    f"{line['handed_over']['log_loss']:.4f} on {line['true_rows']:,} rows, "
                    f"{regret[0]:.2f} / 100 behind the best; discover "
                    f"{line['discover_s']:.0f} s, truth {line['truth_cpu']:.0f} s of CPU",
                    flush=True,
                )
    kept = [one for one in lines_of(given.out) if (one["budget"], one["rows"]) == key]
    for name in given.only:
        if lines := [one for one in kept if one["data"] == name]:
            if given.json:
                print(json.dumps(digest(name, lines)))
            else:
                summary(name, lines)


if __name__ == "__main__":
    main()
