"""What a memory-based learner and its searches found, as parts of a result.

One function for each thing that is shown: a setting and what it is worth, the settings feature by
feature, accuracy against the number of neighbours, how a search got on, McNemar's test of every two
settings, and the stored cases that decided a prediction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from featloom.data.class_types import type_of_values
from featloom.data.frames import table_from_frame
from featloom.data.table import NominalTable
from featloom.evaluation.objective import LEVEL
from featloom.evaluation.significance import mcnemar_of_counts
from featloom.learners.memory import Explanation, MemoryClassifier
from featloom.methods.memory_search.settings import Setting, SettingSpace
from featloom.results import Block, Column, Comparison, Grid, Line, Lines, Model, Section, grid
from featloom.search.journal import Evaluation
from featloom.words import counted

_NEIGHBOURS = 8  # stored cases that are shown for one prediction
_NOT_SEEN = "(not seen)"
_MODES = {"ignore": "ignored", "overlap": "overlap", "mvdm": "MVDM"}


def model_of(
    name: str,
    setting: Setting,
    columns: Sequence[str],
    *,
    role: str = "method",
    validation: float | None = None,
    test: float | None = None,
    fits: int | None = None,
    chosen: bool = False,
) -> Model:
    """A setting as a line of the leaderboard.

    Parameters
    ----------
    validation, test : shares of right predictions.
    fits : evaluations that the search had needed.

    Examples
    --------
    >>> setting = Setting(1, "gain_ratio", ("overlap", "ignore"))
    >>> model = model_of("default", setting, ["letter", "next"], test=0.8)
    >>> model.setting, model.settings["modes"], model.test
    ('k = 1, gain ratio, 1 of 2 features', {'letter': 'overlap', 'next': 'ignore'}, 0.8)
    """
    settings = {"k": int(setting.k), "weights": setting.weights, "vote": setting.vote}
    return Model(
        name, role, value=validation, test=test, setting=in_words(setting), chosen=chosen,
        settings=settings | {"modes": dict(zip(columns, setting.modes, strict=True))},
        more={} if fits is None else {"evaluations": fits},
    )  # fmt: skip


def in_words(setting: Setting) -> str:
    """A setting in words, all but which features it uses.

    >>> in_words(Setting(3, "none", ("mvdm",)))
    'k = 3, no weights, 1 of 1 features'
    """
    weights = "no weights" if setting.weights == "none" else setting.weights.replace("_", " ")
    vote = "" if setting.vote == "count" else f"vote by {setting.vote.replace('_', ' ')}, "
    used = sum(mode != "ignore" for mode in setting.modes)
    return f"k = {setting.k}, {weights}, {vote}{used} of {len(setting.modes)} features"


def settings_section(models: Sequence[Model]) -> Section:
    """How each setting compares the values of each feature: a line for a feature."""
    columns: dict[str, str | Column] = {"feature": Column("feature", of_data=True)}
    columns |= {one.name: "text" for one in models}
    names = list(models[0].settings["modes"])
    rows = [[name, *(_mode(one.settings["modes"][name]) for one in models)] for name in names]
    note = "Overlap: equal or not. MVDM: by how alike the classes are that two values occur with."
    return Section(
        "Settings", "The settings, feature by feature", note, [grid("", columns, rows)], brief=30
    )


def curves(history: Iterable[Evaluation], space: SettingSpace) -> Lines:
    """Accuracy against k for each weighting and metric, from settings with all features alike.

    Other settings in the history are passed over.

    >>> space = SettingSpace(["letter"], ks=[1, 3])
    >>> result = {"score": 0.9, "k": 3, "scores": [[1, 0.8], [3, 0.9]]}
    >>> drawn = curves([Evaluation(space.candidate("none", ["mvdm"]), result, 0.1, 0.1)], space)
    >>> drawn.lines[0].name, drawn.lines[0].dash, drawn.lines[0].x, drawn.lines[0].y
    ('weights: none', 'mvdm', [1, 3], [0.8, 0.9])
    """
    lines = []
    for evaluation in history:
        modes = set(space.modes_of(evaluation.candidate))
        if len(modes) > 1 or modes == {"ignore"}:
            continue
        ks, scores = zip(*evaluation.result["scores"], strict=True)
        weights = evaluation.candidate["weights"].replace("_", " ")
        lines.append(Line(f"weights: {weights}", list(ks), list(scores), modes.pop()))
    return Lines(
        "Accuracy on what was searched; the best is ringed", "k, the number of neighbours",
        "accuracy", "percent", lines, best="max",
    )  # fmt: skip


def trajectory(name: str, scores: Iterable[float | Evaluation]) -> Line:
    """The best score after so many fits, where it rises and at the end.

    ``scores`` is what a search had after each fit: its ``trajectory_`` or its ``history_``.

    >>> line = trajectory("genetic", [0.80, 0.79, 0.82, 0.81])
    >>> line.x, line.y
    ([1, 3, 4], [0.8, 0.82, 0.82])
    """
    fits: list[float | None] = []
    best: list[float | None] = []
    done = 0
    for done, one in enumerate(scores, start=1):
        score = one.score if isinstance(one, Evaluation) else float(one)
        if not best or score > (best[-1] or 0.0):
            fits.append(done)
            best.append(score)
    if fits and fits[-1] != done:
        fits.append(done)
        best.append(best[-1])
    return Line(name, fits, best)


def searches(lines: Sequence[Line]) -> Lines:
    """How searches got on."""
    title = "The best score so far, after so many fits"
    return Lines(title, "fits", "accuracy", "percent", list(lines), steps=True)


def mcnemar(
    names: Sequence[str], predictions: Sequence[Any], gold: Sequence[Any] | np.ndarray
) -> list[Comparison]:
    """McNemar's exact test of every two settings on the same rows, the later one first.

    Parameters
    ----------
    names : of the settings.
    predictions : for each setting its predictions, a row each.
    gold : the right classes.

    Examples
    --------
    >>> test, = mcnemar(["a", "b"], [list("KKSS"), list("KSSK")], list("KKSK"))
    >>> test.a, test.b, test.difference, test.p, test.test
    ('b', 'a', 0.0, 1.0, 'McNemar, 1 : 1 rows')
    """
    gold = np.asarray(gold)
    right = np.stack([np.asarray(one) == gold for one in predictions])
    tests = []
    for i, j in combinations(range(len(names)), 2):
        only_i, only_j = int((right[i] & ~right[j]).sum()), int((right[j] & ~right[i]).sum())
        p = mcnemar_of_counts(only_i, only_j, exact=True).p
        tests.append(
            Comparison(
                names[j], names[i], (only_j - only_i) / len(gold), p=p, significant=p < LEVEL,
                on="test", test=f"McNemar, {only_j:,} : {only_i:,} rows",
            )
        )  # fmt: skip
    return tests


def p_of(tests: Iterable[Comparison], one: str, other: str) -> float:
    """The p of the test of two settings."""
    return next(t.p for t in tests if {t.a, t.b} == {one, other} and t.p is not None)


def cases(classifier: MemoryClassifier, X, y=None, n: int = 10) -> Section:
    """Up to ``n`` rows of X with their predictions and the stored cases that gave them.

    Half of them are rows that got the wrong class, as far as there are any: they say most of
    what the memory lacks.  They are spread over X.  ``y`` None means the labels X carries.

    >>> memory = MemoryClassifier().fit([["c", "a"], ["c", "e"], ["s", "e"]], ["K", "S", "S"])
    >>> block, = cases(memory, [["s", "o"]], ["S"]).blocks
    >>> block.title, [cell["value"] for cell in block.rows[1][1:3]]
    ('s o → S, right', ['s', 'e'])
    """
    table = X if isinstance(X, NominalTable) else table_from_frame(X)
    gold = table.row_classes(type_of_values(classifier.classes_)) if y is None else np.asarray(y)
    rows = _wrong_and_right(classifier.predict(X) != gold, n)
    # A frame brings other names for its columns than a list of rows; both fit by their places.
    some = table.take(rows)
    asked = some if isinstance(X, NominalTable) else _take(X, rows)
    modes = getattr(classifier, "modes_", None)
    blocks: list[Block] = []
    for place, (row, explained) in enumerate(
        zip(rows, classifier.explain(asked, most=_NEIGHBOURS), strict=True)
    ):
        query = [some.value(column, place) or _NOT_SEEN for column in some.columns]
        blocks.append(_case(query, str(gold[row]), explained, some.columns, modes))
    note = (
        "Rows that the learner predicted, and the stored rows nearest to them. A value that "
        "differs from the row's is underlined; a feature that the setting ignores is struck out."
    )
    return Section("Cases", "Because of these stored cases", note, blocks)


def _case(
    query: Sequence[str], gold: str, explained: Explanation, columns: Sequence[str], modes: Any
) -> Grid:
    predicted = str(explained.answer)
    right = "right" if predicted == gold else f"wrong: {gold}"
    ignored = [mode == "ignore" for mode in modes] if modes is not None else [False] * len(query)

    def look(value: str, own: str, left_out: bool) -> str:
        return "ignored" if left_out else "" if value == own else "differs"

    rows: list[list[Any]] = [
        ["row", *({"value": one, "look": look(one, one, out)}
                  for one, out in zip(query, ignored, strict=True)), None, f"gold: {gold}"]
    ]  # fmt: skip
    for neighbour in explained.neighbours:
        values = ["" if value is None else value for value in neighbour.values]
        cells = [
            {"value": value or None, "look": look(value, own, out)}
            for value, own, out in zip(values, query, ignored, strict=True)
        ]
        classes = ", ".join(
            f"{name}: {count:,}" if count > 1 else str(name)
            for name, count in neighbour.classes.items()
        )
        rows.append([f"nearest {len(rows)}", *cells, neighbour.distance, classes])
    heads: dict[str, str | Column] = {"": "text"}
    heads |= {f" {j}": Column(name, of_data=True) for j, name in enumerate(columns)}
    title = f"{' '.join(query)} → {predicted}, {right}"
    return grid(title, heads | {"distance": "number", "classes": "text"}, rows, folded=True)


def _mode(mode: str) -> Any:
    word = _MODES.get(mode, mode)
    return {"value": word, "look": "ignored"} if mode == "ignore" else word


def _wrong_and_right(wrong: np.ndarray, n: int) -> np.ndarray:
    """Places of up to n rows, half of them wrong ones if there are so many, the wrong first."""
    bad, good = np.flatnonzero(wrong), np.flatnonzero(~wrong)
    n_bad = min(len(bad), max(n // 2, n - len(good)))
    n_good = min(len(good), n - n_bad)
    return np.concatenate([_spread(bad, n_bad), _spread(good, n_good)])


def _spread(places: np.ndarray, n: int) -> np.ndarray:
    if not n:
        return places[:0]
    return places[np.linspace(0, len(places) - 1, n).astype(int)]


def _take(X, rows: np.ndarray):
    """Rows of a list, an array or a DataFrame."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return X[rows]


def words_of_sizes(sizes: dict[str, int]) -> str:
    """How many rows each part has.

    >>> words_of_sizes({"train": 1000, "test": 1})
    '1,000 training rows, 1 test row'
    """
    names = {"train": "training row", "valid": "validation row", "test": "test row"}
    return ", ".join(counted(n, names[name]) for name, n in sizes.items())
