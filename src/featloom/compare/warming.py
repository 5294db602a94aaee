"""Every kernel that the trials of a contender may need, compiled before the first of them.

A few units are fitted with every setting and judged.  What is decided by the number of units, or by
what they are like, is done all ways meanwhile, see
:func:`~featloom.kernels.compiling.every_kernel`, so that few stand for many.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from featloom.compare.questions import Question
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.kernels.compiling import compile_time, every_kernel
from featloom.method import Contender, Setting

_UNITS = {"rows": 400, "sentences": 60}  # that kernels are compiled with
_SEARCHED_S = 0.5  # seconds of a search that is given a time
_AGAIN, _MOST = 0.05, 5  # seconds compiled, after which a search may not have got through; passes
_SHORT = 1 << 16  # numbers that go into 16 bits


def n_units(question: Question) -> int:
    """How many units kernels are compiled with."""
    return _UNITS.get(question.unit, min(_UNITS.values()))


def needs_kernels(question: Question, one: Contender) -> bool:
    """Whether a contender is to be compiled for; outside models of tables have no kernels here."""
    return one.compiles and not (one.role == "yardstick" and question.kind == "table")


def kernels_of(question: Question, one: Contender) -> str:
    """What is noted as compiled: a contender, and what of the data its kernels depend on.

    Each contender is noted by itself, for ``only`` may have asked for some.
    """
    data = getattr(question, "data", None)
    parts = [question.kind, one.name, *_forms(data)]
    labels = getattr(question, "labels", None)
    if labels is not None:
        parts.append("two classes" if _most_classes(question, labels) <= 2 else "more classes")
    if len(question) >= _SHORT:
        parts.append("many rows")
    if _n_features(data) > _SHORT:
        parts.append("many features")
    return "-".join(parts).replace(" ", "-").replace("/", "-")


def compile_kernels(one: Contender, question: Question, units: np.ndarray, seed: int) -> None:
    """Have every kernel compiled that a contender may need for a question.

    Parameters
    ----------
    units : a few of the question's.
    """
    many = _n_features(getattr(question, "data", None)) > _SHORT
    # A search takes its time with either, and looks at no features.
    for many_features in (False, True) if many and not one.searches else (False,):
        with every_kernel(len(question), many_features):
            for _ in range(_MOST):
                with compile_time(everywhere=True) as compiled:
                    _try_all(one, question, units, seed)
                if not one.searches or compiled.seconds < _AGAIN:
                    break


def _try_all(one: Contender, question: Question, units: np.ndarray, seed: int) -> None:
    settings = _settings(one)
    # Those that cannot be done with so few units must not keep the others from being tried.
    if not _tried(one, question, units, settings, seed) and len(settings) > 1:
        for setting in settings:
            _tried(one, question, units, [setting], seed)


def _settings(one: Contender) -> list[Setting]:
    """The default, and those that differ from it in one thing; searches are short."""
    settings = [one.default]
    settings += [setting for axis in one.axes for setting in one.varied(one.default, axis)]
    if "seconds" in one.axes:
        settings = [{**setting, "seconds": _SEARCHED_S} for setting in settings]
    # A search costs as much with every one of them.
    return settings[:1] if one.searches else settings


def _tried(
    one: Contender, question: Question, units: np.ndarray, settings: Sequence[Setting], seed: int
) -> bool:
    """Fit, judge and calibrate; whether nothing went wrong, which the trials would tell."""
    with suppress(Exception):
        few = question.take_for(one, units)
        for fitted in one.fit_each(few, settings, seed, 1):
            found = question.judge(units, few, fitted)
            question.judge(units, few, question.calibrated(fitted, [found.details]))
        return True
    return False


def _forms(data: Any) -> list[str]:
    """How the numbers of the data lie in memory, by which a kernel is another."""
    matrix = getattr(data, "matrix", data)
    if isinstance(matrix, FeatureMatrix):
        return ["matrix", matrix.indices.dtype.name]
    if isinstance(matrix, NominalTable):
        order = "rows" if matrix.codes.flags.c_contiguous else "columns"
        return [f"{matrix.codes.dtype.name} by {order}"]
    return []


def _most_classes(question: Question, labels: np.ndarray) -> int:
    """The most classes that are told apart at a time: among all units, or among those of a task."""
    task_of = getattr(question, "task_of", None)
    if task_of is None:
        return len(np.unique(labels))
    pairs = np.unique(np.stack([task_of, labels]), axis=1)
    return int(np.bincount(pairs[0]).max())


def _n_features(data: Any) -> int:
    matrix = getattr(data, "matrix", data)
    if isinstance(matrix, FeatureMatrix):
        return int(matrix.shape[1])
    return sum(map(len, matrix.vocabularies)) if isinstance(matrix, NominalTable) else 0
