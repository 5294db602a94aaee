"""What a run says: the types of ``result.json``, schema 2.

Every command compares some ways to predict, and most show what a method found.  So a result has the
data, a leaderboard of models, paired tests, and beyond them sections: each a heading with tables
(:class:`Grid`), figures of eight kinds, facts and words.  A method makes its sections of plain
values; how a value is printed is said by the kind of its column, and done in one place, on the page
and in the terminal alike.

Every part may be missing.  Shares lie between 0 and 1, a log-loss is in nats, times are in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

SCHEMA = 2

Interval: TypeAlias = tuple[float | None, float | None]
Name: TypeAlias = str | int | float | bool | None  # classes and groups are named by the data

# How the values of a column are printed.
KINDS = {
    "text": "words",
    "feature": "a feature, or several: joined by ' & ', or a list",
    "names": "a list of names",
    "flag": "yes or no",
    "count": "a whole number, or a mean of some",
    "number": "with as many decimals as the largest of the column needs",
    "signed": "the same, with its sign",
    "percent": "a share, in per cent",
    "share": "a share, with a bar",
    "points": "a difference of shares, in points",
    "loss": "a loss, with four decimals",
    "gain": "a difference of losses",
    "p": "a probability of chance",
    "seconds": "a time",
    "interval": "two numbers",
    "percents": "two shares, in per cent",
}


class Column(Struct, omit_defaults=True):
    """A column of a :class:`Grid`.

    Parameters
    ----------
    label : its head.
    kind : how its values are printed, one of :data:`KINDS`; default "text".
    note : what the head means, for whoever asks; default "".
    of_data : whether the head is a name from the data; default False.
    """

    label: str
    kind: str = "text"
    note: str = ""
    of_data: bool = False


class Grid(Struct, tag="grid", tag_field="block", omit_defaults=True):
    """A table of plain values; a column without any is not shown.

    A value may stand in a dict as ``value``, with words below it as ``under`` and a ``look``:
    "differs", "ignored", "good", "bad".

    Parameters
    ----------
    title, note : above the table; default "".
    columns, rows : heads, and for each row its values.
    chosen, marked : places of the rows that carry a mark: what was chosen, and what stands out
        for the reason that ``mark`` gives.
    folded : whether it is closed until somebody opens it; default False.
    total : how many rows there are where these are the first of them; default None.
    """

    title: str = ""
    columns: list[Column] = []
    rows: list[list[Any]] = []
    note: str = ""
    chosen: list[int] = []
    marked: list[int] = []
    mark: str = ""
    folded: bool = False
    total: int | None = None


class Facts(Struct, tag="facts", tag_field="block", omit_defaults=True):
    """Few values, large: a label, the value and its kind."""

    items: list[tuple[str, Any, str]] = []


class Words(Struct, tag="words", tag_field="block", omit_defaults=True):
    """A sentence or two."""

    text: str = ""


class Code(Struct, tag="code", tag_field="block", omit_defaults=True):
    """Lines to copy."""

    title: str = ""
    code: str = ""


class Histogram(Struct, tag="histogram", tag_field="block", omit_defaults=True):
    """How many things lie in each range; ``edges`` are one more than ``counts``."""

    title: str = ""
    x: str = ""
    y: str = ""
    edges: list[float | None] = []
    counts: list[float | None] = []


class Dot(Struct, omit_defaults=True):
    """A value with its interval, and a second one beside it; ``look`` is "", "chosen" or "aside".

    One that ``may_go`` is told in words where it would press the others into a corner.
    """

    name: str = ""
    value: float | None = None
    interval: Interval | None = None
    second: float | None = None
    second_interval: Interval | None = None
    look: str = ""
    may_go: bool = False


class Intervals(Struct, tag="intervals", tag_field="block", omit_defaults=True):
    """Values with intervals, one below the other; ``second`` says what the second value is."""

    title: str = ""
    x: str = ""
    kind: str = "number"
    dots: list[Dot] = []
    second: str = ""
    looks: dict[str, str] = {}


class Line(Struct, omit_defaults=True):
    """Points of a line; lines of one name share a colour, those of one ``dash`` a dash.

    An x that is None stands at the end: "all".
    """

    name: str = ""
    x: list[float | None] = []
    y: list[float | None] = []
    dash: str = ""
    low: list[float | None] = []
    high: list[float | None] = []


class Lines(Struct, tag="lines", tag_field="block", omit_defaults=True):
    """Lines over a number, or over the places of ``names``.

    Parameters
    ----------
    kind : how values are printed: "number", "percent", "loss", "seconds".
    log_x : whether the numbers below grow by factors; default False.
    steps : whether a value stays until the next; what lies far below all ends is cut off then.
    best : "max" or "min": ring the best point; default "".
    diagonal : whether the line of equal values is drawn; default False.
    marks_only : whether points are not joined; default False.
    from_zero : whether the scale begins at nothing; default False.
    """

    title: str = ""
    x: str = ""
    y: str = ""
    kind: str = "number"
    lines: list[Line] = []
    names: list[str] = []
    log_x: bool = False
    steps: bool = False
    best: str = ""
    diagonal: bool = False
    marks_only: bool = False
    from_zero: bool = False


class Point(Struct, omit_defaults=True):
    """A point; those of one ``series`` look alike."""

    name: str = ""
    x: float | None = None
    y: float | None = None
    series: str = ""


class Points(Struct, tag="points", tag_field="block", omit_defaults=True):
    """Points by two numbers; ``front`` joins those that no other beats with as small an x."""

    title: str = ""
    x: str = ""
    y: str = ""
    points: list[Point] = []
    front: bool = False
    chosen: list[int] = []


class Bars(Struct, tag="bars", tag_field="block", omit_defaults=True):
    """Names with a bar each; ``hollow`` are places of those that ``hollow_words`` tells of."""

    title: str = ""
    x: str = ""
    kind: str = "number"
    names: list[str] = []
    values: list[float | None] = []
    hollow: list[int] = []
    solid_words: str = ""
    hollow_words: str = ""


class Matrix(Struct, tag="matrix", tag_field="block", omit_defaults=True):
    """Cells by row and column.

    Parameters
    ----------
    corner : what rows and columns are.
    rows, columns : their names.
    values : what stands in each cell, of the ``kind``; None: nothing.
    under : words below each value; default none.
    tones : from −1 (worse) to 1 (better), how strongly a cell is coloured; default none.
    chosen : row and column of the cell that is outlined; default none.
    bold : places of cells in bold, such as the diagonal; default none.
    """

    title: str = ""
    note: str = ""
    corner: str = ""
    rows: list[str] = []
    columns: list[str] = []
    kind: str = "number"
    values: list[list[Any]] = []
    under: list[list[str]] = []
    tones: list[list[float]] = []
    chosen: tuple[int, int] | None = None
    bold: list[tuple[int, int]] = []


class TreeNode(Struct, omit_defaults=True):
    """A node: the value of its parent's column that leads to it, and what is asked or answered.

    ``column`` is missing at a leaf, ``parent`` is -1 for the root, ``errors`` are the rows that are
    not of the commonest class, ``gain`` is in bits a row.  ``branches`` says how many the node has
    in the whole tree, for a tree that is shown in part.
    """

    id: int = 0
    parent: int = -1
    column: str | None = None
    value: str | None = None
    rows: int | None = None
    answer: str | None = msgspec.field(default=None, name="class")
    errors: int | None = None
    gain: float | None = None
    branches: int | None = None


class Tree(Struct, tag="tree", tag_field="block", omit_defaults=True):
    """The upper part of a decision tree; ``cut`` nodes are not shown, ``unit`` is what it sorts."""

    title: str = ""
    unit: str = "rows"
    n_nodes: int | None = None
    n_internal: int | None = None
    depth: int | None = None
    nodes: list[TreeNode] = []
    cut: int | None = None


class Sentence(Struct, omit_defaults=True):
    """A sentence with two trees over it: heads are positions from 1, 0 for the root.

    ``relations`` are those of the right tree.
    """

    words: list[str] = []
    tags: list[str] = []
    gold: list[int | None] = []
    predicted: list[int | None] = []
    relations: list[str] = []


class Arcs(Struct, tag="arcs", tag_field="block", omit_defaults=True):
    """Sentences with their gold and predicted heads."""

    title: str = ""
    sentences: list[Sentence] = []


Figure: TypeAlias = Histogram | Intervals | Lines | Points | Bars | Matrix | Tree | Arcs
Block: TypeAlias = Grid | Facts | Words | Code | Figure


class Section(Struct, omit_defaults=True):
    """A heading with what stands below it.

    Parameters
    ----------
    name : one word: the place on the page, and what it is called in the list of sections.
    title : the heading; default the name.
    note : what a reader must know; default "".
    brief : rows of its first table that a terminal shows; default 0.
    """

    name: str = ""
    title: str = ""
    note: str = ""
    blocks: list[Block] = []
    brief: int = 0


class Family(Struct, omit_defaults=True):
    """Features that are values of one template or column."""

    name: str
    features: int | None = None
    single_valued: bool | None = None


class Data(Struct):
    """What was learned from; ``taken_for`` says what kind of data it was recognised as."""

    source: str = ""
    target: str = ""
    rows: int | None = None
    features: int | None = None
    groups: int | None = None
    classes: dict[str, int] = {}
    families: list[Family] = []
    warnings: list[str] = []
    taken_for: str = ""


class Metrics(Struct):
    """What else is known of a model on the part held out; ``ece`` is the calibration error."""

    log_loss: float | None = None
    auc: float | None = None
    brier: float | None = None
    accuracy: float | None = None
    f1: float | None = None
    ece: float | None = None


class Model(Struct):
    """A line of the leaderboard.

    ``role`` is "chance", "baseline", "control", "method" or "yardstick"; ``status`` is "finished",
    "partly" (some folds only), "unfinished", "not tried" or "not applicable", with the reason in
    ``why``.  ``value`` is what it was chosen by (cross-validated in ``n_folds`` folds of
    ``folds_of``, or on validation data), ``test`` is on the part held out.  ``setting`` are words,
    ``settings`` the values.  ``predict_s`` is for 1,000 units, ``learned`` how many units it
    learned from, ``share`` the part of the data that it was compared on.  ``more`` are further
    numbers, each a column of its name, printed as that kind if it is one, and as a share if it ends
    in " %"; ``published`` is a paper's figure for it, a share.
    """

    name: str = ""
    role: str = ""
    idea: str = ""
    status: str = ""
    why: str = ""
    value: float | None = None
    interval: Interval | None = None
    folds: list[float | None] = []
    n_folds: int | None = None
    folds_of: int | None = None
    test: float | None = None
    test_interval: Interval | None = None
    size: float | None = None
    size_words: str = ""
    fit_s: float | None = None
    predict_s: float | None = None
    setting: str = ""
    settings: dict[str, Any] = {}
    learned: int | None = None
    chosen: bool = False
    share: float | None = None
    metrics: Metrics | None = None
    more: dict[str, float | str | None] = {}
    published: float | None = None


class Comparison(Struct):
    """A paired test; ``difference`` is positive where ``a`` is better.

    ``gate`` marks one against the answer that looks at nothing, ``same_rows`` is false where the
    two learned from different amounts of data; ``t`` is Student's, where the test has one.
    """

    a: str
    b: str
    difference: float | None = None
    interval: Interval | None = None
    p: float | None = None
    p_adjusted: float | None = None
    significant: bool | None = None
    on: str = ""
    gate: bool = False
    same_rows: bool = True
    test: str = ""
    t: float | None = None


class Budget(Struct):
    """Seconds asked and spent; ``stopped`` is "finished", "budget" or "interrupted".

    ``spent`` leaves out ``compiled``, which is spent once on a machine; ``cpu`` is that of all
    processes; ``first_answer`` is when the first leaderboard stood.
    """

    seconds: float | None = None
    trials: int | None = None
    spent: float | None = None
    cpu: float | None = None
    compiled: float | None = None
    first_answer: float | None = None
    stopped: str = ""


class F1(Struct):
    """F1 of one class at the threshold that was tuned for it.

    ``of_predictions`` is that of the class with the highest probability, which a model predicts.
    """

    positive: Name = None
    threshold: float | None = None
    value: float | None = None
    of_predictions: float | None = None
    precision: float | None = None
    recall: float | None = None


class Confusion(Struct):
    """How often each true class (a row) was taken for each class (a column)."""

    classes: list[Name] = []
    counts: list[list[int | None]] = []


class CalibrationBin(Struct):
    """Answers of about the same probability: its mean, and the share that came true."""

    n: int | None = None
    mean: float | None = None
    share: float | None = None
    low: float | None = None
    high: float | None = None


class ChosenFigures(Struct):
    """What the chosen model is worth on the part held out, by every metric.

    ``positive`` is the class whose probability is calibrated; without one it is that of the class
    that was answered.
    """

    rows: int | None = None
    log_loss: float | None = None
    base_rate_log_loss: float | None = None
    auc: float | None = None
    brier: float | None = None
    accuracy: float | None = None
    ece: float | None = None
    f1: F1 | None = None
    confusion: Confusion | None = None
    calibration: list[CalibrationBin] = []
    positive: Name = None


class LearningPoint(Struct):
    """The score of a method that learned from so many units."""

    method: str = ""
    rows: int | None = None
    value: float | None = None


class ErrorLine(Struct):
    """Rows of a class or a group, and how many of them each method got right."""

    name: Name = ""
    rows: int | None = None
    right: dict[str, float | None] = {}


class Errors(Struct):
    """Right answers by class, and by group."""

    by_class: list[ErrorLine] = []
    by_group: list[ErrorLine] = []


class Result(Struct):
    """All of ``result.json`` that is shown.

    ``unit`` is what was held out and dealt into folds: "rows", "sentences", "tasks".  ``metric``
    names the metric of the leaderboard; ``folds_of`` is how many folds there are.
    """

    schema: int = SCHEMA
    kind: str = ""
    command: str = ""
    verdict: str = ""
    significant: bool | None = None
    seed: int | None = None
    versions: dict[str, str] = {}
    timing: dict[str, float | None] = {}
    parameters: dict[str, Any] = {}
    data: Data = msgspec.field(default_factory=Data)
    protocol: str = ""
    metric: str = ""
    judge_by: str = ""
    lower_is_better: bool = False
    folds_of: int | None = None
    unit: str = "rows"
    chosen: str | None = None
    chosen_why: str = ""
    leaderboard: list[Model] = []
    comparisons: list[Comparison] = []
    chosen_figures: ChosenFigures | None = None
    curves: list[LearningPoint] = []
    errors: Errors | None = None
    sections: list[Section] = []
    evaluations: int | None = None
    use: list[Code] = []
    budget: Budget | None = None


def grid(
    title: str, columns: Mapping[str, str | Column], rows: Sequence[Sequence[Any]], **how: Any
) -> Grid:
    """A table by the heads of its columns and their kinds.

    Parameters
    ----------
    columns : for each head the kind of its values, or the whole column.
    how : further fields of :class:`Grid`.

    Examples
    --------
    >>> table = grid("templates", {"template": "feature", "rows": "count"}, [["a & b", 12]])
    >>> [(column.label, column.kind) for column in table.columns], table.rows
    ([('template', 'feature'), ('rows', 'count')], [['a & b', 12]])
    """
    heads = [
        kind if isinstance(kind, Column) else Column(label, kind) for label, kind in columns.items()
    ]
    return Grid(title, heads, [list(row) for row in rows], **how)


def kind_of_score(lower_is_better: bool) -> str:
    """How scores by a metric are printed: a loss as it is, a share in per cent."""
    return "loss" if lower_is_better else "percent"
