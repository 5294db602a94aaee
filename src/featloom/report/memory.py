"""What the page says of memory-based learning: settings, tests and the cases behind an answer.

A memory-based learner stores its training rows and answers with the class of the nearest ones.
A setting is a number of neighbours *k*, a weighting of the features, and a mode for each feature:
ignored, compared by overlap (equal or not) or by the modified value difference metric.  The tables
have the shapes of Kool, Zavrel and Daelemans (2000): accuracy by "are the features all there or
optimised?" and "are the parameters the default or optimised?" (their Tables 3 to 5), and the
settings that each method found, feature by feature (Tables 6 to 8).

Accuracies come as shares of right answers and are printed in per cent, as the paper does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featloom.report import (
    Case,
    Curve,
    Matrix,
    MemoryPart,
    MemorySetting,
    Neighbour,
    Trajectory,
    Truth,
)
from featloom.report.cells import (
    cell,
    column,
    number_cell,
    row,
    text_cell,
    without_empty_columns,
)
from featloom.shown import visible
from featloom.words import MISSING, number, p_value, shortened

METHODS = {
    "DE": "default",
    "EX": "exhaustive search",
    "GA": "genetic algorithm",
    "BA": "backward elimination",
    "FO": "forward selection",
    "GU": "guided search",
}
LETTERS = {"ignore": MISSING, "overlap": "O", "mvdm": "M"}
MOST_CASES = 20
MOST_CASE_CLASSES = 4
MOST_BEST_SETTINGS = 20
SIGNIFICANT = 0.05


def summarize_memory(parts: Sequence[MemoryPart]) -> list[dict[str, Any]]:
    """What the template places for each data set that has something; what it lacks is None."""
    summaries = [_part(part, position) for position, part in enumerate(parts)]
    return [summary for summary in summaries if summary["facts"] or summary["contents"]]


def per_cent(share: float | None, places: int = 2) -> str:
    """A share of right answers as the paper prints it.

    >>> per_cent(0.8543), per_cent(None)
    ('85.43', '–')
    """
    return number(None if share is None else 100 * share, places)


def spoken(name: str) -> str:
    """The name of an option as words.

    >>> spoken("gain_ratio")
    'gain ratio'
    """
    return visible(name.replace("_", " "))


def accuracy_table(settings: Sequence[MemorySetting]) -> dict[str, Any] | None:
    """Accuracies by features (all, optimised) and parameters (default, optimised).

    A line of a cell is the method, our accuracy and the published one; the best is marked.
    """
    shown = [s for s in settings if s.test is not None or s.published is not None]
    if not shown:
        return None
    best = max((s.test for s in shown if s.test is not None), default=None)
    places: dict[tuple[bool, bool], list[dict[str, Any]]] = {}
    for setting in shown:
        code = setting.method or setting.name or "setting"
        line = {
            "code": visible(code),
            "method": METHODS.get(code, visible(setting.name)),
            "test": per_cent(setting.test),
            "published": None if setting.published is None else number(setting.published, 2),
            "published_setting": visible(setting.published_setting),
            "best": best is not None and setting.test == best,
        }
        places.setdefault((_optimised_features(setting), _optimised_parameters(setting)), [])
        places[_optimised_features(setting), _optimised_parameters(setting)].append(line)
    names = {False: "All features", True: "Optimised features"}
    codes = dict.fromkeys(s.method for s in shown if s.method in METHODS)
    return {
        "rows": [
            {"name": name, "cells": [places.get((key, other), []) for other in (False, True)]}
            for key, name in names.items()
            if any(features == key for features, _ in places)
        ],
        "codes": [(code, METHODS[code]) for code in codes],
        "published": any(s.published is not None for s in shown),
    }


def setting_table(
    settings: Sequence[MemorySetting],
    features: Sequence[str],
    found: MemorySetting | None = None,
) -> dict[str, Any] | None:
    """Settings as rows, a cell with a letter for the mode of each feature; ``found`` is marked."""
    if not settings:
        return None
    width = max(len(features), *(len(s.modes) for s in settings))
    named = [visible(name) for name in features]
    named += [f"feature {j + 1}" for j in range(len(named), width)]
    before = [column("k", number=True), column("weights")]
    after = [column("validation %", number=True), column("test %", number=True)]
    after += [column("fits", number=True), column("paper %", number=True)]
    after += [column("paper's setting")]
    rows = []
    for setting in settings:
        rows.append(
            {
                "name": _name(setting),
                "found": setting is found,
                "before": row(number_cell(setting.k), text_cell(spoken(setting.weights) or None)),
                "modes": [_mode(mode) for mode in setting.modes]
                + [_mode(None)] * (width - len(setting.modes)),
                "after": row(
                    _accuracy(setting.validation),
                    _accuracy(setting.test),
                    number_cell(setting.fits),
                    number_cell(setting.published, 2),
                    text_cell(setting.published_setting or None),
                ),
            }
        )
    return {
        "features": named,
        "tall": any(len(name) > 2 for name in named),
        "before": _side(before, rows, "before"),
        "after": _side(after, rows, "after"),
        "rows": rows,
    }


def mcnemar_table(matrix: Matrix) -> dict[str, Any] | None:
    """Every two settings: p, whether the row's setting is the better one, and the rows that decide.

    ``level`` grows with the evidence: 0 for none, then below .05, .01 and .001.
    """
    if len(matrix.names) < 2:
        return None
    size = range(len(matrix.names))
    names = [visible(name) for name in matrix.names]
    pairs_of = [[None if i == j else _pair(matrix, i, j) for j in size] for i in size]
    pairs = [pair for line in pairs_of for pair in line if pair]
    return {
        "names": names,
        "rows": [{"name": names[i], "cells": pairs_of[i]} for i in size],
        "disputed": any(pair["disputed"] for pair in pairs),
        "counted": any(pair["counts"] for pair in pairs),
    }


def truth_table(truth: Truth, features: Sequence[str]) -> dict[str, Any]:
    """How near each strategy came to the best setting where all settings are known."""
    facts = [("settings, all tried", number(truth.settings)), ("fits", number(truth.fits))]
    facts += [("best validation accuracy %", per_cent(truth.best))]
    columns = [column("strategy"), column("found the best", number=True, note="of its seeds")]
    columns += [column("median rank", number=True, note="1 is the best setting")]
    columns += [column("worst rank", number=True), column("median fits", number=True)]
    columns += [column("most fits", number=True), column("note")]
    ranks = _places([line.median_rank for line in truth.rows])
    spent = _places([line.median_fits for line in truth.rows])
    rows = [
        row(
            text_cell(line.strategy),
            _found_of(line.found, line.seeds),
            number_cell(line.median_rank, ranks),
            number_cell(line.worst_rank),
            number_cell(line.median_fits, spent),
            number_cell(line.max_fits),
            text_cell(line.note or None),
        )
        for line in truth.rows
    ]
    best = truth.best_settings
    return {
        "facts": [(label, value) for label, value in facts if value != MISSING],
        "strategies": without_empty_columns(columns, rows) if rows else None,
        "best": setting_table(best[:MOST_BEST_SETTINGS], features),
        "n_best": number(len(best)),
        "best_left_out": max(len(best) - MOST_BEST_SETTINGS, 0),
    }


def case_table(case: Case, features: Sequence[str], modes: Sequence[str] = ()) -> dict[str, Any]:
    """A question, its answer, and its stored neighbours, value by value.

    A value of a neighbour carries whether it is the question's own; a feature that the setting
    ignores is marked, for a difference there counts for nothing.
    """
    width = max(len(features), len(case.query), *(len(n.values) for n in case.neighbours), 0)
    named = [visible(name) for name in features]
    named += [f"feature {j + 1}" for j in range(len(named), width)]
    query = [visible(value) for value in case.query] + [MISSING] * (width - len(case.query))
    right = case.answer == case.gold if case.gold else None
    return {
        "features": [
            {"name": name, "ignored": j < len(modes) and modes[j] == "ignore"}
            for j, name in enumerate(named)
        ],
        "asked": _shortened(case.query),
        "query": query,
        "answer": visible(case.answer),
        "gold": visible(case.gold),
        "right": right,
        "neighbours": [_neighbour(neighbour, case.query, width) for neighbour in case.neighbours],
    }


def _part(part: MemoryPart, position: int) -> dict[str, Any]:
    settings = list(part.settings)
    found = part.found
    if found is not None:
        same = [s for s in settings if s == found]
        found = same[0] if same else found
        settings = settings if same else [found, *settings]
    modes = found.modes if found else []
    cases = [case_table(case, part.features, modes) for case in part.neighbours[:MOST_CASES]]
    summary: dict[str, Any] = {
        "id": f"memory-{position}",
        "title": visible(part.task) or "Memory-based learning",
        "facts": _facts(part),
        "table": accuracy_table(part.table or part.settings),
        "settings": setting_table(settings, part.features, found),
        "curves": _curves_note(part.curves),
        "search": _search_note(part.trajectories),
        "tests": mcnemar_table(part.mcnemar) if part.mcnemar else None,
        "truth": truth_table(part.truth, part.features) if part.truth else None,
        "cases": cases,
        "n_cases": number(len(part.neighbours)),
    }
    words = {
        "table": "Accuracy",
        "settings": "Settings",
        "curves": "Neighbours",
        "search": "Search",
        "tests": "Tests",
        "truth": "Truth",
        "cases": "Cases",
    }
    summary["contents"] = [
        (f"{summary['id']}-{name}", word) for name, word in words.items() if summary[name]
    ]
    return summary


def _facts(part: MemoryPart) -> list[tuple[str, str]]:
    names = {"train": "training rows", "valid": "validation rows", "test": "test rows"}
    facts = [(names.get(name, visible(name)), number(n)) for name, n in part.sizes.items()]
    if part.features:
        facts.append(("features", number(len(part.features))))
    found = part.found
    if found:
        used = sum(mode != "ignore" for mode in found.modes)
        facts += [("of them used", number(used if found.modes else None))]
        facts += [("k found", number(found.k)), ("weights found", spoken(found.weights) or MISSING)]
        facts += [("test accuracy %", per_cent(found.test))]
    return [(label, value) for label, value in facts if value != MISSING]


def _curves_note(curves: Sequence[Curve]) -> str | None:
    """The best point of all curves in words; None where there is nothing to draw."""
    points = [
        (score, -k, curve)
        for curve in curves
        for k, score in zip(curve.k, curve.score, strict=False)
        if score is not None
    ]
    if not points:
        return None
    score, k, curve = max(points, key=lambda point: point[:2])
    return (
        f"The best of them, ringed: {per_cent(score)} % with k = {-k},"
        f" {spoken(curve.metric) or 'one metric'} and weights {spoken(curve.weights) or MISSING}."
    )


def _search_note(trajectories: Sequence[Trajectory]) -> str | None:
    drawn = [t for t in trajectories if any(best is not None for best in t.best) and t.fits]
    if not drawn:
        return None
    note = "The best score on the validation rows so far, after so many fits."
    if len({t.name for t in drawn}) < len(drawn):
        note += " A strategy with several seeds has a thin line for each."
    return note


def _optimised_features(setting: MemorySetting) -> bool:
    return setting.features_by not in ("", "default")


def _optimised_parameters(setting: MemorySetting) -> bool:
    return setting.parameters_by not in ("", "default")


def _name(setting: MemorySetting) -> str:
    return visible(setting.name or setting.method or "setting")


def _mode(mode: str | None) -> dict[str, str]:
    if mode is None:
        return {"name": "", "letter": "", "word": "not said"}
    name = mode if mode in LETTERS else "other"
    letter = LETTERS.get(mode) or visible(mode)[:1].upper() or "?"
    words = {"ignore": "ignored"}
    return {"name": name, "letter": letter, "word": words.get(mode, visible(mode))}


def _accuracy(share: float | None) -> dict[str, Any]:
    return cell(per_cent(share), share, empty=share is None)


def _side(columns: list[dict], rows: list[dict], side: str) -> list[dict]:
    """The columns on one side of the features that some setting has a value for."""
    return without_empty_columns(columns, [line[side] for line in rows])["columns"]


def _at(table: Sequence[Sequence[Any]], i: int, j: int) -> Any:
    return table[i][j] if i < len(table) and j < len(table[i]) else None


def _pair(matrix: Matrix, i: int, j: int) -> dict[str, Any]:
    p, chi2 = _at(matrix.p, i, j), _at(matrix.chi2_p, i, j)
    only_row, only_column = _at(matrix.first_only, i, j), _at(matrix.first_only, j, i)
    counted = only_row is not None and only_column is not None
    lead = (only_row > only_column) - (only_row < only_column) if counted else 0
    level = 0 if p is None else sum(p < bound for bound in (SIGNIFICANT, 0.01, 0.001))
    return {
        "p": MISSING if p is None else p_value(p, zero=True),
        "level": level,
        "stars": "*" * level,
        "direction": {1: "better", -1: "worse", 0: ""}[lead],
        "arrow": {1: "▲", -1: "▼", 0: "=" if counted else ""}[lead],
        "counts": f"{only_row:,} : {only_column:,}" if counted else "",
        "chi2": number(chi2, 3) if chi2 is not None else "",
        "disputed": None not in (p, chi2) and (p < SIGNIFICANT) != (chi2 < SIGNIFICANT),
    }


def _found_of(found: int | None, seeds: int | None) -> dict[str, Any]:
    if found is None:
        return text_cell(None)
    if not seeds:
        return number_cell(found)
    share = found / seeds
    return cell(f"{number(found)} of {number(seeds)}", share) | {"bar": round(100 * share, 2)}


def _places(values: Sequence[float | None]) -> int:
    """A median of counts is whole or lies halfway between two."""
    return 0 if all(value is None or float(value).is_integer() for value in values) else 1


def _shortened(values: Sequence[str], most: int = 15, longest: int = 24) -> list[str]:
    """The values of a question in one line, cut where they are many or long."""
    shown = [visible(value) for value in values[:most]]
    shown = [shortened(text, longest) for text in shown]
    return [*shown, "…"] if len(values) > most else shown


def _neighbour(neighbour: Neighbour, query: Sequence[str], width: int) -> dict[str, Any]:
    values = [
        {"text": visible(value), "same": j < len(query) and value == query[j]}
        for j, value in enumerate(neighbour.values)
    ]
    values += [{"text": MISSING, "same": False}] * (width - len(values))
    ranked = sorted(neighbour.classes.items(), key=lambda item: -item[1])
    classes = [f"{visible(name)}: {number(n)}" for name, n in ranked[:MOST_CASE_CLASSES]]
    rest = len(ranked) - MOST_CASE_CLASSES
    return {
        "values": values,
        "classes": " · ".join([*classes, f"{rest} more"] if rest > 0 else classes) or MISSING,
        "distance": number(neighbour.distance, 4),
    }
