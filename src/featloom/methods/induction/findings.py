"""What a data set is and what an inducer found in it, as parts of a result.

One function for each thing that is shown: the features with their rows, scores and weights, how
scores are spread, what was dropped and why, the grid of a search, how blocks were counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from featloom.data.blocks import Blocks, blocks_part
from featloom.data.matrix import FeatureMatrix
from featloom.methods.induction.inducer import ConjunctionInducer, InducedFeature
from featloom.methods.induction.search import ConjunctionSearchCV
from featloom.results import (
    Block,
    Column,
    Facts,
    Grid,
    Histogram,
    Matrix,
    Point,
    Points,
    Section,
    Words,
    grid,
)
from featloom.scores import LABELS
from featloom.words import counted, number

_SHOWN = 500
_SHOWN_ATOMIC = 200
_BINS = 30
_MOST_CLASS_COLUMNS = 4
_MAIN_CLASSES = 3


def data_part(data: FeatureMatrix | Blocks) -> dict[str, Any]:
    """Rows, classes, families and groups."""
    matrix = data.like if isinstance(data, Blocks) else data
    sizes = (
        data.class_totals
        if isinstance(data, Blocks)
        else np.bincount(data.known_labels, minlength=len(data.classes))
    )
    assert sizes is not None
    features = np.bincount(matrix.family_of, minlength=len(matrix.families))
    families = [
        {"name": name, "features": int(n), "single_valued": bool(single)}
        for name, n, single in zip(matrix.families, features, matrix.single_valued, strict=True)
    ]
    return {
        "source": matrix.source,
        "rows": len(data),
        "features": matrix.shape[1],
        "target": matrix.target,
        "classes": dict(zip(matrix.classes, sizes.tolist(), strict=True)),
        "groups": matrix.n_groups,
        "families": sorted(families, key=lambda family: (-family["features"], family["name"])),
    }


def features_section(
    inducer: ConjunctionInducer,
    coefficients: np.ndarray,
    classes: Mapping[str, int],
    domain: Sequence[str] = (),
) -> Section:
    """The features found with the weights of a linear model on them, conjunctions best first.

    The lift of a feature is the share of a class among its rows, divided by the share of that
    class among all rows; the class for which it is largest is the one that it leans to.

    Parameters
    ----------
    classes : rows of each class, in the order of the data.
    domain : families (the domain of a document) whose conjunctions are marked.
    """
    # With two classes one weight speaks for the second; with more, the largest is shown.
    weights = coefficients[0] if len(coefficients) == 1 else coefficients.max(axis=0)
    weighed = list(zip(inducer.features_, weights.tolist(), strict=True))
    atomic = [pair for pair in weighed if len(pair[0].feature) == 1]
    joined = [pair for pair in weighed if len(pair[0].feature) > 1]
    joined.sort(key=lambda pair: -pair[0].score)
    name = LABELS[inducer.parameters_["score"]]
    best: Block = Words("No conjunction was kept.")
    if joined:
        best = _features("Conjunctions", joined, classes, name, most=_SHOWN, domain=domain)
    rest = _features("Atomic features", atomic, classes, name, most=_SHOWN_ATOMIC)
    rest.folded = bool(joined)
    note = (
        f"The best by {name}. Rows are those that have the feature. Lift is how many times as "
        "often a class occurs among those rows as among all rows."
    )
    title = f"Best conjunctions by {name}" if joined else "Features found"
    return Section("Features", title, note, [best, rest], brief=10)


def _features(
    title: str,
    found: Sequence[tuple[InducedFeature, float]],
    classes: Mapping[str, int],
    score: str,
    *,
    most: int,
    domain: Sequence[str] = (),
) -> Grid:
    present = [(place, name) for place, (name, rows) in enumerate(classes.items()) if rows]
    narrow = len(present) <= _MOST_CLASS_COLUMNS
    weight = f"weight for {present[1][1]}" if len(present) == 2 else "largest weight"
    columns = [
        Column("conjunction" if title == "Conjunctions" else "feature", "feature"),
        Column("rows", "count"), Column("score", "number", score),
        Column(weight, "signed", "in the linear model"),
    ]  # fmt: skip
    if narrow:
        columns += [Column(name, "count", "rows of this class", True) for _, name in present]
    else:
        columns.append(Column("classes", note="the commonest of its rows"))
    columns += [Column("leans to"), Column("lift", "number"), Column("length", "count")]
    rows: list[list[Any]] = []
    for one, its_weight in found[:most]:
        rows_of = [one.class_counts[place] for place, _ in present]
        words = [_main_classes(rows_of, [name for _, name in present])]
        rows.append(
            [list(one.feature.parts), one.support, one.score, its_weight]
            + (rows_of if narrow else words)
            + [*_lift(rows_of, present, classes), len(one.feature)]
        )
    marked = [
        place for place, (one, _) in enumerate(found[:most])
        if any(column in domain for column, _ in one.feature.template.places)
    ]  # fmt: skip
    mark = "only with the domain of the document" if marked else ""
    return Grid(title, columns, rows, marked=marked, mark=mark, total=len(found))


def _main_classes(rows: Sequence[int], names: Sequence[str]) -> str:
    """The commonest classes of a feature's rows, where there are too many for columns.

    >>> _main_classes([0, 12, 3, 1, 1], list("abcde"))
    'b: 12 · c: 3 · d: 1 · 1 more'
    """
    known = sorted((-n, place) for place, n in enumerate(rows) if n)
    shown = [f"{names[place]}: {number(-n)}" for n, place in known[:_MAIN_CLASSES]]
    more = len(known) - len(shown)
    return " · ".join([*shown, f"{more} more"] if more else shown)


def _lift(
    rows: Sequence[int], present: Sequence[tuple[int, str]], classes: Mapping[str, int]
) -> tuple[str | None, float | None]:
    """The class with the largest lift, and that lift.

    >>> _lift([30, 10], [(0, "no"), (1, "yes")], {"no": 90, "yes": 10})
    ('yes', 2.5)
    """
    if not sum(rows):
        return None, None
    whole, support = sum(classes.values()), sum(rows)
    lifts = [(n / support * whole / classes[name], name)
             for n, (_, name) in zip(rows, present, strict=True)]  # fmt: skip
    lift, name = max(lifts, key=lambda pair: pair[0])
    return name, round(lift, 4)


def scores_section(inducer: ConjunctionInducer) -> Section:
    """How many features have which score, atomic ones and conjunctions each by themselves."""
    label = LABELS[inducer.parameters_["score"]]
    blocks: list[Block] = []
    for title, is_joined in (("Atomic features", False), ("Conjunctions", True)):
        scores = [o.score for o in inducer.features_ if (len(o.feature) > 1) is is_joined]
        if scores:
            counts, edges = np.histogram(scores, bins=_BINS)
            blocks.append(Histogram(title, label, "features", edges.tolist(), counts.tolist()))
    note = "How many features have which score. Counts grow tenfold from line to line."
    return Section("Scores", note=note, blocks=blocks)


def dropped_section(inducer: ConjunctionInducer) -> Section:
    """How many features were dropped, and why."""
    dropped = {reason: n for reason, n in inducer.dropped_.items() if n}
    whole = sum(dropped.values())
    columns = {"reason": "text", "features": "count", "share": "share"}
    rows = [[reason, n, n / whole] for reason, n in dropped.items()]
    return Section("Dropped", "What was dropped", blocks=[grid("", columns, rows)] if rows else [])


def blocks_section(blocks: Blocks, inducer: ConjunctionInducer) -> Section:
    """How data in blocks was counted, and what was sampled or hashed."""
    part = blocks_part(blocks, inducer.sample_rows_)
    facts = [
        ("blocks", part["blocks"], "count"), ("rows of the largest", part["largest"], "count"),
        ("memory, bytes", part["memory"], "count"),
        ("rows that models learned from", part["sample_rows"], "count"),
    ]  # fmt: skip
    if blocks.hashed is not None:
        facts += [("bits of a hash", blocks.hashed.bits, "count")]
        facts += [("names that share a feature, %", inducer.collisions_, "percent")]
    return Section("Blocks", "How the data was counted", blocks=[Facts(facts)])


def counting_notes(blocks: Blocks, inducer: ConjunctionInducer, n_fitted: int) -> list[str]:
    """What a reader should mind about data in blocks: what was sampled, what was hashed."""
    notes = []
    if n_fitted < len(blocks):
        notes.append(
            f"features were counted in all rows; the two models learned from and were judged on a "
            f"sample of {n_fitted:,} of the {len(blocks):,} rows"
        )
    if blocks.hashed is not None and inducer.collisions_ is not None:
        notes.append(
            f"features were hashed into 2^{blocks.hashed.bits}: about "
            f"{100 * inducer.collisions_:.3g} % of the names share their feature with another"
        )
    return notes


def grid_section(search: ConjunctionSearchCV, metric: str) -> Section:
    """The grid over the first two parameters that vary, the inducer's before the classifier's.

    A cell is the best mean of those that agree in the two, whatever the other parameters; beside
    it, what so many features can reach.
    """
    rows = [
        {**row, **row["cell"], **row["classifier_params"]}
        for row in search.cv_results_
        if row["cell"] is not None
    ]
    axes = [
        name for name in (*rows[0]["cell"], *rows[0]["classifier_params"]) if _varies(rows, name)
    ]
    if len(axes) < 2:
        return Section()
    k, l = axes[:2]  # noqa: E741
    best: dict[tuple[float, float], dict[str, Any]] = {}
    chosen = None
    for row in rows:
        place = float(row[k]), float(row[l])
        if row["cell"] | {"classifier": row["classifier"]} == search.best_params_:
            chosen = place
        if place not in best or row["mean"] > best[place]["mean"]:
            best[place] = row
    across, down = _ends(place[0] for place in best), _ends(place[1] for place in best)[::-1]
    means = [row["mean"] for row in best.values()]
    spread = (max(means) - min(means)) or 1.0

    def cells(shown: Any, empty: Any) -> list[list[Any]]:
        lines = [[best.get((x, y)) for x in across] for y in down]
        return [[empty if one is None else shown(one) for one in line] for line in lines]

    def under(row: dict[str, Any]) -> str:
        return f"± {number(100 * row['std'], 1)} · {number(round(row['features']))}"

    matrix = Matrix(
        f"Mean {metric} of each cell of the grid",
        f"In per cent; below it the standard deviation over folds, in points, and the features. "
        f"{'The chosen cell is outlined.' if chosen else ''}".strip(),
        f"{l} ↓ · {k} →", [f"{y:g}" for y in down], [f"{x:g}" for x in across], "percent",
        cells(lambda one: one["mean"], None),
        cells(under, ""),
        cells(lambda one: (one["mean"] - min(means)) / spread, 0.0),
        None if chosen is None else (down.index(chosen[1]), across.index(chosen[0])),
    )  # fmt: skip
    points = [
        Point(f"{k} {x:g}, {l} {y:g}", round(one["features"]), one["mean"])
        for (x, y), one in best.items()
    ]
    front = Points(
        f"The best mean {metric} with at most so many features", "features", f"mean {metric}",
        points, front=True, chosen=[] if chosen is None else [list(best).index(chosen)],
    )  # fmt: skip
    return Section("Grid", "The grid that was searched", blocks=[matrix, front])


def in_words(setting: Mapping[str, Any]) -> str:
    """Parameters as one reads them.

    >>> in_words({"final_keep": 500, "C": 1.0})
    'final_keep 500, C 1.0'
    """
    return ", ".join(f"{name} {value}" for name, value in setting.items())


def words_of_sizes(learn: int, test: int) -> str:
    """How many rows each part has.

    >>> words_of_sizes(1000, 1)
    '1,000 training rows, 1 test row'
    """
    return f"{counted(learn, 'training row')}, {counted(test, 'test row')}"


def _ends(values: Iterable[float]) -> list[float]:
    return sorted(set(values))


def _varies(rows: Sequence[dict[str, Any]], name: str) -> bool:
    """Whether a parameter is a number in every row, and not the same one."""
    values = [row.get(name) for row in rows]
    return len(set(map(str, values))) > 1 and all(isinstance(v, int | float) for v in values)
