"""What a memory-based learner and its searches found, as parts of a result.

Plain values that JSON can hold, one function for each thing that is shown: a setting and what it is
worth, accuracy against the number of neighbours, how a search got on, McNemar's test of every two
settings, and cases with the stored ones that decided them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from featloom.data.frames import table_from_frame
from featloom.data.table import NominalTable
from featloom.evaluation.significance import mcnemar_of_counts
from featloom.learners.memory import Explanation, MemoryClassifier
from featloom.methods.memory_search.settings import Setting, SettingSpace
from featloom.search.journal import Evaluation

_NEIGHBOURS = 8  # stored cases that are shown for one answer
_NOT_SEEN = "(not seen)"


def setting_row(
    name: str,
    setting: Setting,
    *,
    method: str = "",
    features_by: str = "default",
    parameters_by: str = "default",
    validation: float | None = None,
    test: float | None = None,
    fits: int | None = None,
    published: float | None = None,
    published_setting: str = "",
) -> dict[str, Any]:
    """A setting, how it was found and what it is worth.

    Parameters
    ----------
    method : a short name for tables, such as "GA".
    features_by, parameters_by : what chose them; "default" where nothing did.
    validation, test : shares of right answers.
    fits : evaluations that the search had needed.
    published : the paper's figure, in per cent.

    Examples
    --------
    >>> row = setting_row("default", Setting(1, "gain_ratio", ("overlap", "mvdm")), test=0.8)
    >>> row["k"], row["modes"], row["features_by"], row["test"]
    (1, ['overlap', 'mvdm'], 'default', 0.8)
    """
    return {
        "name": name,
        "method": method,
        "features_by": features_by,
        "parameters_by": parameters_by,
        "k": int(setting.k),
        "weights": setting.weights,
        "modes": list(setting.modes),
        "vote": setting.vote,
        "validation": None if validation is None else float(validation),
        "test": None if test is None else float(test),
        "fits": fits,
        "published": published,
        "published_setting": published_setting,
    }


def curves(history: Iterable[Evaluation], space: SettingSpace) -> list[dict[str, Any]]:
    """Accuracy against k for each weighting and metric, from settings with all features alike.

    Other settings in the history are passed over.

    >>> space = SettingSpace(["letter"], ks=[1, 3])
    >>> result = {"score": 0.9, "k": 3, "scores": [[1, 0.8], [3, 0.9]]}
    >>> curves([Evaluation(space.candidate("none", ["mvdm"]), result, 0.1, 0.1)], space)
    [{'weights': 'none', 'metric': 'mvdm', 'k': [1, 3], 'score': [0.8, 0.9]}]
    """
    drawn = []
    for evaluation in history:
        modes = set(space.modes_of(evaluation.candidate))
        if len(modes) > 1 or modes == {"ignore"}:
            continue
        pairs = evaluation.result["scores"]
        drawn.append(
            {
                "weights": evaluation.candidate["weights"],
                "metric": modes.pop(),
                "k": [k for k, _ in pairs],
                "score": [score for _, score in pairs],
            }
        )
    return drawn


def trajectory(
    name: str, scores: Iterable[float | Evaluation], seed: int | None = None
) -> dict[str, Any]:
    """The best score after so many fits, where it rises and at the end.

    ``scores`` is what a search had after each fit: its ``trajectory_`` or its ``history_``.

    >>> trajectory("genetic", [0.80, 0.79, 0.82, 0.81])
    {'name': 'genetic', 'fits': [1, 3, 4], 'best': [0.8, 0.82, 0.82], 'seed': None}
    """
    fits: list[int] = []
    best: list[float] = []
    done = 0
    for done, one in enumerate(scores, start=1):
        score = one.score if isinstance(one, Evaluation) else float(one)
        if not best or score > best[-1]:
            fits.append(done)
            best.append(score)
    if fits and fits[-1] < done:
        fits.append(done)
        best.append(best[-1])
    return {"name": name, "fits": fits, "best": best, "seed": seed}


def mcnemar_matrix(
    names: Sequence[str], predictions: Sequence[Any], gold: Sequence[Any] | np.ndarray
) -> dict[str, Any]:
    """McNemar's test of every two settings on the same rows, exact and by chi-squared.

    Parameters
    ----------
    names : of the settings.
    predictions : for each setting its answers, a row each.
    gold : the right answers.

    Examples
    --------
    >>> matrix = mcnemar_matrix(["a", "b"], [list("KKSS"), list("KSSK")], list("KKSK"))
    >>> matrix["first_only"], matrix["p"][0]
    ([[0, 1], [1, 0]], [None, 1.0])
    """
    gold = np.asarray(gold)
    right = np.stack([np.asarray(answers) == gold for answers in predictions])
    size = range(len(names))
    only = [[int((right[i] & ~right[j]).sum()) for j in size] for i in size]

    def tests(exact: bool) -> list[list[float | None]]:
        return [
            [
                None if i == j else mcnemar_of_counts(only[i][j], only[j][i], exact=exact).p
                for j in size
            ]
            for i in size
        ]

    return {
        "names": list(names),
        "p": tests(exact=True),
        "chi2_p": tests(exact=False),
        "first_only": only,
    }


def cases(classifier: MemoryClassifier, X, y=None, n: int = 10) -> list[dict[str, Any]]:
    """Up to ``n`` rows of X with their answers and the stored cases that gave them.

    Half of them are rows that got the wrong answer, as far as there are any: they say most of
    what the memory lacks.  They are spread over X.  ``y`` None means the labels X carries.

    >>> memory = MemoryClassifier().fit([["c", "a"], ["c", "e"], ["s", "e"]], ["K", "S", "S"])
    >>> case, = cases(memory, [["s", "o"]], ["S"])
    >>> case["query"], case["answer"], case["gold"], case["neighbours"][0]["values"]
    (['s', 'o'], 'S', 'S', ['s', 'e'])
    """
    table = X if isinstance(X, NominalTable) else table_from_frame(X)
    gold = _gold(table, y)
    wrong = classifier.predict(X) != gold
    rows = _wrong_and_right(wrong, n)
    # A frame brings other names for its columns than a list of rows; both fit by their places.
    some = table.take(rows)
    asked = some if isinstance(X, NominalTable) else _take(X, rows)
    return [
        {
            "query": [some.value(column, place) or _NOT_SEEN for column in some.columns],
            "answer": str(explained.answer),
            "gold": str(gold[row]),
            "neighbours": _neighbours(explained),
        }
        for place, (row, explained) in enumerate(
            zip(rows, classifier.explain(asked, most=_NEIGHBOURS), strict=True)
        )
    ]


def _gold(table: NominalTable, y) -> np.ndarray:
    if y is not None:
        return np.asarray(y)
    return table.label_names


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


def _neighbours(explained: Explanation) -> list[dict[str, Any]]:
    return [
        {
            "values": ["" if value is None else value for value in neighbour.values],
            "classes": {str(name): count for name, count in neighbour.classes.items()},
            "distance": neighbour.distance,
        }
        for neighbour in explained.neighbours
    ]
