"""What every result says in the same way: who won, by how much, and how sure that is.

The leaderboard (score it was chosen by, score on the part held out, size, setting, time), what the
chosen model is worth by every metric, what was not compared and why, the paired tests, what more
data would bring, where the chosen one errs beside the baseline, and what the run took: each becomes
a section of tables and figures, like those that the methods make themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from featloom.report.grids import plain_text
from featloom.report.metric import Metric
from featloom.results import (
    KINDS,
    Block,
    Budget,
    ChosenFigures,
    Column,
    Comparison,
    Confusion,
    Dot,
    ErrorLine,
    Facts,
    Grid,
    Intervals,
    Line,
    Lines,
    Matrix,
    Metrics,
    Model,
    Name,
    Result,
    Section,
    Words,
    grid,
)
from featloom.words import number, shortened

STOPPED = {
    "finished": "everything that applies was compared",
    "budget": "the time was up",
    "trials": "as many settings were tried as was asked for",
    "interrupted": "it was interrupted",
    "left": "what is not compared would not have ended in time",
    "asked": "everything that was asked for was compared",
}
LEAST_COMPILED = 0.5  # seconds that are worth a word
MOST_RIGHT, MOST_CLASSES, LONGEST_CLASS = 6, 12, 20
NOT_NAMED = "not named"
COMPARED = ("finished", "partly", "")
ASIDE = ("yardstick", "chance")


def metric_of(result: Result) -> Metric:
    """The metric of the leaderboard."""
    return Metric(result.metric or result.judge_by, result.lower_is_better)


def head_of(result: Result) -> tuple[bool | None, Facts, str]:
    """Below the verdict: whether it is beyond chance, the chosen model beside the others, why."""
    behind = [
        test.significant for test in result.comparisons
        if test.a == result.chosen and (test.difference or 0.0) < 0
    ]  # fmt: skip
    significant = True if any(behind) else result.significant
    return significant, _head_facts(result), result.chosen_why


def sections_before(result: Result) -> list[Section]:
    """What stands before that which the methods show."""
    sections = [
        _leaderboard(result), _chosen_model(result.chosen_figures, result.unit), _aside(result),
        _tests(result), _curves(result),
    ]  # fmt: skip
    return [section for section in sections if section.blocks]


def sections_after(result: Result) -> list[Section]:
    """What stands after it."""
    sections = [
        _errors(result),
        Section("Use", "How to use it", blocks=[*result.use]),
        _time(result.budget, result.leaderboard),
    ]
    return [section for section in sections if section.blocks]


def split_leaderboard(board: Sequence[Model]) -> tuple[list[Model], list[Model]]:
    """Those that were compared, and those that were not; the chosen one is always compared."""
    ranked = [one for one in board if one.chosen or one.status in COMPARED]
    return ranked, [one for one in board if not one.chosen and one.status not in COMPARED]


def leaderboard_grid(
    ranked: Sequence[Model], metric: Metric, unit: str = "rows", n_folds: int | None = None
) -> Grid:
    """The compared models in the order of the result, the chosen one marked.

    >>> table = leaderboard_grid([Model("induction", value=0.91, chosen=True)], Metric("accuracy"))
    >>> table.rows[0][0]["value"], table.rows[0][2]["value"], table.chosen
    ('induction', 0.91, [0])
    """
    held = "held out" if metric.lower_is_better else "held out %"
    kind, besides = metric.kind, _besides(metric)
    more = list(dict.fromkeys(name for one in ranked for name in one.more))
    columns = [
        Column("model"), Column("role"),
        Column(metric.head, kind, "what it was chosen by: cross-validated, or on validation data",
               of_data=True),
        Column(held, kind, "on the part held out for the end"),
        *(Column(label, form, note) for _, label, form, note in besides),
        Column("published %", "percent", "the paper's, on its own data"),
        Column("size", "count"), Column("setting"),
        *(Column(name, _kind_of_more(name)) for name in more),
        Column("fits in", "seconds"), Column("predicts in", "seconds", "1,000 predictions"),
    ]  # fmt: skip
    if all(isinstance(one.size, int | float) and not one.size_words for one in ranked):
        size = {id(one): one.size for one in ranked}
    else:
        columns[4 + len(besides) + 1] = Column("size")
        size = {id(one): _size_words(one) for one in ranked}  # type: ignore[misc]
    amounts = {one.learned for one in ranked if one.learned is not None}
    whole = max(amounts) if len(amounts) > 1 else None
    rows = [
        [
            {"value": one.name or NOT_NAMED, "under": _under(one, unit, whole, n_folds)},
            one.role or None,
            {"value": one.value, "under": metric.interval_text(one.interval)},
            {"value": one.test, "under": metric.interval_text(one.test_interval)},
            *(getattr(one.metrics or Metrics(), field) for field, *_ in besides),
            one.published,
            size[id(one)],
            one.setting or None,
            *(one.more.get(name) for name in more),
            one.fit_s,
            one.predict_s,
        ]
        for one in ranked
    ]
    return Grid("Leaderboard", columns, rows, chosen=[i for i, one in enumerate(ranked)
                                                      if one.chosen])  # fmt: skip


def comparison_grid(tests: Sequence[Comparison], metric: Metric, title: str) -> Grid:
    """Paired tests in points or nats, with p as it is and adjusted for how many tests there are."""
    words = {True: "significant", False: "not significant", None: None}
    gain = "a is better by, nats" if metric.gain_unit == "nats" else f"a − b, {metric.gain_unit}"
    columns = {
        "a": "text", "b": "text", gain: "gain" if metric.lower_is_better else "points",
        "interval": "interval" if metric.lower_is_better else "percents", "t": "signed", "p": "p",
        "adjusted p": Column("adjusted p", "p", "for how many tests there are"),
        "verdict": "text", "on": "text", "test": "text",
    }  # fmt: skip
    rows = [
        [
            test.a,
            {"value": test.b, "under": "" if test.same_rows else "learned from other amounts"},
            test.difference, test.interval, test.t, test.p, test.p_adjusted,
            words[test.significant],
            {"test": "held out"}.get(test.on, test.on) or None, test.test or None,
        ]
        for test in tests
    ]  # fmt: skip
    return grid(title, columns, rows)


def confusion_matrix(confusion: Confusion | None) -> Matrix | None:
    """Counts by true and predicted class, each with its share of the true class.

    >>> matrix = confusion_matrix(Confusion(["no", "yes"], [[90, 10], [5, 15]]))
    >>> matrix.values, matrix.under[1], matrix.tones[1]
    ([[90, 10], [5, 15]], ['25.0%', '75.0%'], [-0.25, 0.75])
    """
    if confusion is None or not confusion.classes:
        return None
    shown, other, counts = gathered(confusion)
    labels = [class_name(name) for name in shown]
    labels += [f"the other {number(other)}"] if other else []
    under, tones = [], []
    for i, line in enumerate(counts):
        shares = [count / sum(line) if sum(line) else 0.0 for count in line]
        under.append([f"{share:.1%}" if share else "" for share in shares])
        # Among the classes that are summed, right and wrong answers cannot be told apart.
        summed = other and i == len(labels) - 1
        tones.append(
            [0.0 if summed and j == i else share if j == i else -share
             for j, share in enumerate(shares)]
        )  # fmt: skip
    note = "Below a count stands its share of the true class. Right answers lie on the diagonal."
    if other:
        note += f" The {number(len(shown))} commonest of {number(len(shown) + other)} classes."
    return Matrix(
        "What does it take for what?", note, "true ↓ · predicted →", labels, labels, "count",
        counts, under, tones, bold=[(i, i) for i in range(len(shown))],
    )  # fmt: skip


def gathered(
    confusion: Confusion, most: int = MOST_CLASSES
) -> tuple[list[Name], int, list[list[int]]]:
    """The commonest classes, how many others there are, and the counts with those others summed.

    >>> gathered(Confusion(["a", "b", "c"], [[1, 0, 1], [2, 5, 0], [0, 0, 4]]), most=1)
    (['b'], 2, [[5, 2], [0, 6]])
    """
    size = len(confusion.classes)
    counts = [
        [(line[j] if j < len(line) else None) or 0 for j in range(size)]
        for line in (*confusion.counts, *([[]] * size))
    ][:size]
    order = list(range(size))
    if size > most:
        order.sort(key=lambda i: -sum(counts[i]))
    kept, rest = order[:most], order[most:]

    def summed(line: Sequence[int]) -> list[int]:
        return [line[j] for j in kept] + ([sum(line[j] for j in rest)] if rest else [])

    lines = [summed(counts[i]) for i in kept]
    if rest:
        lines.append(summed([sum(counts[i][j] for i in rest) for j in range(size)]))
    return [confusion.classes[i] for i in kept], len(rest), lines


def class_name(name: Name) -> str:
    """A class as it is shown.

    >>> class_name("yes"), class_name(3), class_name("")
    ('yes', '3', '(empty)')
    """
    return str(plain_text(name))


def why_stopped(stopped: str, statuses: Iterable[str]) -> str:
    """Why a comparison ended, in words: nothing was left only if every contender was compared.

    >>> why_stopped("finished", ["finished", "not applicable"])
    'everything that applies was compared'
    >>> why_stopped("finished", ["finished", "partly"])
    'what is not compared would not have ended in time'
    >>> why_stopped("finished", ["finished", "not asked"])
    'everything that was asked for was compared'
    """
    seen = set(statuses)
    if stopped == "finished" and seen & {"unfinished", "partly"}:
        stopped = "left"
    elif stopped == "finished" and "not asked" in seen:
        stopped = "asked"
    return STOPPED.get(stopped, stopped)


# ── the sections ──


def _leaderboard(result: Result) -> Section:
    ranked, _ = split_leaderboard(result.leaderboard)
    metric = metric_of(result)
    if not ranked:
        return Section()
    protocol = result.protocol[:1].upper() + result.protocol[1:].rstrip(".")
    note = " ".join([*([f"{protocol}."] if protocol else []), *_notes(ranked, result, metric)])
    board = leaderboard_grid(ranked, metric, result.unit, result.folds_of)
    blocks: list[Block] = [board]
    if len(ranked) > 1:
        blocks.insert(0, _scores(ranked, metric))
    return Section("Leaderboard", note=note, blocks=blocks)


def _scores(ranked: Sequence[Model], metric: Metric) -> Intervals:
    """Scores with their intervals; for what is no better than chance there may be no room."""
    by_chance = metric.best(
        one.value for one in ranked if one.role == "chance" and one.value is not None
    )

    def is_blind(one: Model) -> bool:
        if one.role == "chance" or by_chance is None or one.value is None:
            return one.role == "chance"
        return metric.is_worse(one.value, by_chance)

    dots = [
        Dot(
            one.name, one.value, one.interval, one.test, one.test_interval,
            "chosen" if one.chosen else "aside" if one.role in (*ASIDE, "control") else "",
            may_go=not one.chosen and is_blind(one),
        )
        for one in ranked
    ]  # fmt: skip
    second = "on the part held out"
    if all(one.value is None for one in ranked):
        for dot in dots:
            dot.value, dot.interval, dot.second, dot.second_interval = (
                dot.second, dot.second_interval, None, None,
            )  # fmt: skip
    looks = {"chosen": "chosen", "": "the others"}
    looks["aside"] = "yardsticks, controls and chance, never chosen"
    return Intervals("Scores", metric.axis, metric.kind, dots, second, looks)


def _chosen_model(figures: ChosenFigures | None, unit: str) -> Section:
    if figures is None:
        return Section()
    blocks: list[Block] = [Facts(_figures(figures))] if _figures(figures) else []
    if calibration := _calibration(figures):
        blocks.append(calibration)
    if words := _f1_words(figures):
        blocks.append(Words(words))
    if matrix := confusion_matrix(figures.confusion):
        blocks.append(matrix)
    if calibration:
        blocks.append(_calibration_grid(figures))
    note = ""
    if figures.rows is not None:
        note = f"{number(figures.rows)} {unit}, which no choice has looked at."
    return Section("Chosen", "The chosen model on the part held out", note, blocks)


def _figures(figures: ChosenFigures) -> list[tuple[str, Any, str]]:
    base = figures.base_rate_log_loss
    loss = "log-loss" if base is None else f"log-loss (base rate {number(base, 3)})"
    f1 = figures.f1
    named = "F1" if f1 is None or f1.positive is None else f"F1 of {class_name(f1.positive)}"
    shown = [
        (loss, number(figures.log_loss, 3), "text"), ("AUC", number(figures.auc, 3), "text"),
        ("accuracy", figures.accuracy, "share"), ("Brier score", number(figures.brier, 3), "text"),
        ("calibration error", number(figures.ece, 3), "text"),
        (named, None if f1 is None else f1.value, "share"),
    ]  # fmt: skip
    return [one for one in shown if one[1] not in (None, number(None))]


def _calibration(figures: ChosenFigures) -> Lines | None:
    """Predicted probabilities against what came true; on the diagonal they can be believed."""
    bins = [one for one in figures.calibration if one.mean is not None and one.share is not None]
    if not bins:
        return None
    if figures.positive is None:
        across, up = "probability of the class predicted (%)", "right predictions"
    else:
        short = shortened(class_name(figures.positive), LONGEST_CLASS)
        across, up = f"predicted probability of {short} (%)", f"rows that are {short}"
    line = Line(
        "the chosen model, with intervals", [100 * (one.mean or 0) for one in bins],
        [one.share for one in bins], low=[one.low for one in bins],
        high=[one.high for one in bins],
    )  # fmt: skip
    title = "Can its probabilities be believed?"
    return Lines(title, across, up, "percent", [line], diagonal=True)


def _calibration_grid(figures: ChosenFigures) -> Grid:
    columns = {"predicted %": "percent", "came true %": "percent", "interval": "percents"}
    rows = [[one.mean, one.share, (one.low, one.high), one.n] for one in figures.calibration]
    return grid("The numbers of the curve", columns | {"rows": "count"}, rows, folded=True)


def _aside(result: Result) -> Section:
    _, aside = split_leaderboard(result.leaderboard)
    metric = metric_of(result)
    so_far = "score so far" if metric.lower_is_better else "score so far %"
    columns = {
        "model": "text", "what became of it": "text", "why": "text", so_far: metric.kind,
        "of the data %": "percent",
    }  # fmt: skip
    rows = [
        [{"value": one.name or NOT_NAMED, "under": one.idea}, one.status, one.why or None,
         one.value, one.share]
        for one in aside
    ]  # fmt: skip
    table = grid("", columns, rows)
    return Section("Not compared", "Not compared, and why", blocks=[table] if aside else [])


def _tests(result: Result) -> Section:
    tests = [one for one in result.comparisons if not one.gate]
    gate = [one for one in result.comparisons if one.gate]
    metric = by_chance = metric_of(result)
    figures = result.chosen_figures
    if figures is not None and figures.log_loss is not None:
        # Tables are held against chance by log-loss, whatever else they are judged by.
        by_chance = Metric("log-loss", lower_is_better=True)
    blocks: list[Block] = []
    if tests:
        blocks.append(comparison_grid(tests, metric, ""))
    if gate:
        table = comparison_grid(gate, by_chance, "Against an answer that looks at nothing")
        table.folded = True
        blocks.append(table)
    return Section("Tests", "Paired tests", blocks=blocks)


def _curves(result: Result) -> Section:
    metric = metric_of(result)
    # Chance learns nothing, and may lie so far below that the others could not be told apart.
    blind = {one.name for one in result.leaderboard if one.role == "chance"}
    points = [one for one in result.curves if one.value is not None and (one.rows or 0) > 0]
    names = list(dict.fromkeys(point.method for point in points))
    names.sort(key=lambda name: name != result.chosen)  # the first look is the accent
    value = {(point.rows, point.method): point.value for point in points}
    sizes = sorted({point.rows or 0 for point in points})
    if not points:
        return Section()
    lines = [
        Line(name, [float(size) for size in sizes], [value.get((size, name)) for size in sizes])
        for name in names
        if name not in blind
    ]
    figure = Lines(
        "What each model reaches as it learns from more", f"{result.unit} learned from",
        metric.axis, metric.kind, lines, log_x=True,
    )  # fmt: skip
    columns: dict[str, str | Column] = {f"{result.unit} learned from": "count"}
    columns |= {name: Column(name or NOT_NAMED, metric.kind, of_data=True) for name in names}
    rows = [[size, *(value.get((size, name)) for name in names)] for size in sizes]
    numbers = grid("The numbers", columns, rows, folded=True)
    return Section("Curves", "Would more data help?", blocks=[figure, numbers])


def _errors(result: Result) -> Section:
    errors = result.errors
    lines = {"class": errors.by_class, "group": errors.by_group} if errors else {}
    tables = [_error_grid(some, what, _order(result)) for what, some in lines.items() if some]
    note = "Shares of right answers on the part held out. The gain is that of the first over the"
    note += " second."
    return Section("Errors", "Where it is right and where it errs", note, [*tables])


def _error_grid(lines: Sequence[ErrorLine], what: str, order: Sequence[str]) -> Grid:
    """Shares of right answers by class or group, a bar for each model, and the gain."""
    present = list(dict.fromkeys(name for line in lines for name in line.right))
    names = [name for name in order if name in present]
    names = (names + [name for name in present if name not in names])[:MOST_RIGHT]
    columns: dict[str, str | Column] = {what: Column(what), "rows": "count"}
    columns |= {name: Column(name or NOT_NAMED, "share", of_data=True) for name in names}
    columns["gain, points"] = "points"
    rows = []
    for line in lines:
        shares = [_share(line.right.get(name), line.rows) for name in names]
        pair = [share for share in shares[:2] if share is not None]
        gain = pair[0] - pair[1] if len(pair) == 2 else None
        rows.append([class_name(line.name), line.rows, *shares, gain])
    return grid(f"By {what}", columns, rows)


def _time(budget: Budget | None, board: Sequence[Model]) -> Section:
    if budget is None:
        return Section()
    compiled = budget.compiled if (budget.compiled or 0.0) > LEAST_COMPILED else None
    spans = [
        ("spent", budget.spent, "seconds"), ("asked for", budget.seconds, "seconds"),
        ("first leaderboard after", budget.first_answer, "seconds"),
        ("of all processors", budget.cpu, "seconds"), ("compiled, once", compiled, "seconds"),
    ]  # fmt: skip
    why = why_stopped(budget.stopped, [one.status for one in board])
    if why == STOPPED["finished"] and all(span is None for _, span, _ in spans):
        return Section()
    blocks: list[Block] = [Facts(spans)]
    if why:
        blocks.append(Words(f"It stopped because {why}."))
    return Section("Time", blocks=blocks)


# ── words and small parts ──


def _head_facts(result: Result) -> Facts:
    """The chosen model and its score, beside the best baseline and chance."""
    chosen = next((one for one in result.leaderboard if one.chosen), None)
    found: list[tuple[str, Any, str]] = []
    if name := result.chosen or (chosen and chosen.name):
        found.append(("chosen", name, "text"))
    held = any(one.test is not None for one in result.leaderboard)
    metric = metric_of(result)
    where = "on the part held out" if held else "cross-validated"
    labels = {
        "": f"{metric.shown_name} {where}", "baseline": "best baseline", "chance": "chance",
    }  # fmt: skip
    for role, label in labels.items():
        rivals = [
            one for one in result.leaderboard
            if (one.chosen if not role else one.role == role and not one.chosen)
        ]  # fmt: skip
        scores = [one.test if held else one.value for one in rivals]
        best = metric.best(score for score in scores if score is not None)
        if best is not None:
            found.append((label, metric.words(best), "text"))
    return Facts(found)


def _notes(ranked: Sequence[Model], result: Result, metric: Metric) -> list[str]:
    said = []
    if metric.lower_is_better:
        said.append(f"{metric.shown_name[:1].upper()}{metric.shown_name[1:]}: lower is better.")
    if any(one.interval or one.test_interval for one in ranked):
        said.append(
            "Below a score stands its interval: intervals of folds allow for the rows that fits "
            "share; those of the part held out are of its rows."
        )
    if any(one.metrics for one in ranked):
        said.append("AUC, accuracy and Brier score are those on the part held out.")
    if any(one.role == "yardstick" for one in ranked):
        said.append("A yardstick is there to compare with and is never chosen.")
    if any(one.role == "control" for one in ranked):
        said.append(
            "A control has as much of everything except what the method knows: a gain that it "
            "has too is no gain by the method."
        )
    if any(one.share is not None and one.share < 1 for one in ranked):
        said.append(
            f"Some had time for a part of the {result.unit} only: their scores may be too low."
        )
    elif len({one.learned for one in ranked if one.learned is not None}) > 1:
        said.append(f"Some learned from a part of the {result.unit}, for want of time.")
    return said


def _under(one: Model, unit: str, whole: int | None, n_folds: int | None) -> str:
    """Below a name: its idea, and what it was compared on where that is not everything."""
    under = [one.idea]
    if one.share is not None and one.share < 1 and one.status in COMPARED:
        under.append(f"compared on {_part(one.share)} of the data")
    if whole is not None and one.learned is not None and one.learned < whole:
        under.append(f"learned from {number(one.learned)} of {number(whole)} {unit}")
    of = one.folds_of or n_folds
    if one.n_folds is not None and of is not None and one.n_folds < of:
        under.append(f"in {number(one.n_folds)} of {number(of)} folds")
    return " · ".join(word for word in under if word)


def _kind_of_more(name: str) -> str:
    return name if name in KINDS else "percent" if name.endswith(" %") else "text"


def _part(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{share:.2%}"


def _size_words(one: Model) -> str | None:
    if one.size_words:
        return shortened(one.size_words, 40)
    return None if one.size is None else number(one.size)


def _besides(metric: Metric) -> list[tuple[str, str, str, str]]:
    """Fields, heads, kinds and notes of the metrics beside the one that is judged by."""
    every = [
        ("log_loss", "log-loss", "loss", "on the part held out; lower is better"),
        ("auc", "AUC", "number", "on the part held out: area under the ROC curve"),
        ("accuracy", "accuracy %", "percent", "on the part held out"),
        ("brier", "Brier", "loss", "on the part held out: mean squared error of probabilities"),
    ]
    return [one for one in every if one[1].removesuffix(" %") != metric.name]


def _f1_words(figures: ChosenFigures) -> str:
    """At which threshold F1 was counted, and of what it is made."""
    f1 = figures.f1
    if f1 is None or f1.value is None:
        return ""
    said = f"F1 of {class_name(f1.positive)}: {number(100 * f1.value, 1)} %"
    if f1.threshold is not None:
        said += f" where {class_name(f1.positive)} is predicted from a probability of"
        said += f" {number(f1.threshold, 2)} on, tuned in the folds"
    parts = {"precision": f1.precision, "recall": f1.recall}
    shown = [f"{name} {number(100 * v, 1)} %" for name, v in parts.items() if v is not None]
    said += (f" ({', '.join(shown)})" if shown else "") + "."
    if f1.of_predictions is not None:
        said += f" The model's own predictions have {number(100 * f1.of_predictions, 1)} %."
    return said


def _order(result: Result) -> list[str]:
    """The chosen model first, then the rest as the leaderboard has them, baselines before."""
    first = [result.chosen] if result.chosen else []
    roles = {"baseline": 0, "method": 1, "control": 2, "yardstick": 3, "chance": 4}
    rest = sorted(result.leaderboard, key=lambda one: roles.get(one.role, 1))
    return list(dict.fromkeys(first + [one.name for one in rest]))


def _share(right: float | None, rows: int | None) -> float | None:
    return None if right is None or not rows else right / rows
