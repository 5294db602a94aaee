"""A first look at a table: what it cannot be asked, and what may mislead.

A column that names rows teaches nothing; one that alone tells the class is often a leak; a row that
is in both parts was learned by heart, not answered; a group of one class makes groups look easy.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.words import counted, percent

_TELLING = 0.99  # share of right answers by one column alone that looks like a leak
_UNIQUE = 0.95  # share of values met once by which a column names rows
_MANY_NUMBERS = 20
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_MOST_TOLD = 5
_ENOUGH_TO_DRAW = 20  # rows or groups; of fewer, a test at 1 % errs more often than that


def check_target(data: NominalTable | FeatureMatrix) -> list[str]:
    """Refuse a target that no method here can answer, and say what to do; what is odd is told."""
    name = data.target or "the target"
    if data.labels is None or not len(data):
        raise InputError("there are no rows with classes")
    labels = data.labels[data.labels >= 0]
    present = np.unique(labels)
    if len(present) < 2:
        only = f"; all rows are {str(data.classes[present[0]])!r}" if len(present) else ""
        raise InputError(f"{name!r} has fewer than two classes{only}")
    names = [str(data.classes[code]) for code in present]
    if len(names) > _MANY_NUMBERS and _share_of_numbers(names) == 1.0:
        ranges = "--bins 4 (bins=4 in Python) makes four ranges of it"
        fractions = any(not re.fullmatch(r"[+-]?\d+", one) for one in names)
        if fractions or len(names) > 0.2 * len(labels):
            raise InputError(
                f"{name!r} holds {len(names):,} different numbers in {len(labels):,} rows; only "
                f"classes can be predicted, and {ranges}"
            )
        return [f"each of the {len(names):,} numbers of {name!r} is taken as a class; {ranges}"]
    if not _share_of_numbers(names) < 1.0 and any("." in one and float(one) % 1 for one in names):
        return [
            f"{name!r} holds numbers with fractions, which scikit-learn takes for measurements; "
            "its classes are text"
        ]
    if len(names) > 0.5 * len(labels):
        raise InputError(
            f"{name!r} holds {len(names):,} different values in {len(labels):,} rows; a class "
            "must have several rows to be learned from"
        )
    return []


def in_ranges(
    data: NominalTable | FeatureMatrix, n: int, is_test: np.ndarray | None = None
) -> NominalTable | FeatureMatrix:
    """Classes that are numbers, cut into so many ranges that hold about as many rows each.

    The target is named anew, for rows to come have numbers in its column and no ranges.

    Parameters
    ----------
    is_test : rows that have no say in where the cuts are; or None.

    Examples
    --------
    >>> ages = NominalTable.from_columns({"x": list("abcd")}, labels=["7", "30", "31", "8"],
    ...     target="age")
    >>> found = in_ranges(ages, 2)
    >>> found.classes, found.labels.tolist(), found.target
    (('up to 19', 'above 19'), [0, 1, 1, 0], 'age in 2 ranges')
    """
    if n < 2:
        raise InputError(f"bins is {n}; two ranges are the fewest that can be told apart")
    name = data.target or "the target"
    for value in data.classes:
        if not _is_number(str(value)):
            raise InputError(f"{name!r} holds {str(value)!r}, and ranges are made of numbers")
    has = data.label_codes >= 0
    numbers = np.array([float(str(value)) for value in data.classes])[data.label_codes]
    learned = has if is_test is None else has & ~is_test
    if not learned.any():
        raise InputError(f"{name!r} holds no numbers")
    different = np.unique(numbers[learned])
    if len(different) < 2:
        raise InputError(f"{name!r} holds one number only, of which no ranges can be made")
    cuts = np.unique(np.quantile(numbers[learned], np.arange(1, n) / n))
    # Where most rows have the largest number, it is a range by itself.
    cuts = np.unique(np.minimum(cuts, different[-2]))
    texts = [f"{cut:.6g}" for cut in cuts]
    classes = [f"up to {texts[0]}"]
    classes += [f"{low} to {high}" for low, high in pairwise(texts)]
    classes.append(f"above {texts[-1]}")
    labels = np.where(has, np.searchsorted(cuts, numbers, side="left"), -1).astype(np.int32)
    return replace(
        data, labels=labels, classes=tuple(classes), class_type="str",
        target=f"{name} in {len(classes)} ranges",
    )  # fmt: skip


def without_idle_columns(
    table: NominalTable,
) -> tuple[NominalTable, NominalTable | None, list[str]]:
    """The table without columns that name rows or never vary, and a line about each of them.

    Numbers of which nearly every row has its own are no symbols, but outside models can use them
    as numbers; so the second table, where there is one, has these as well.

    >>> prices = [f"{7 * i % 60}.5" for i in range(60)]
    >>> table = NominalTable.from_columns({"id": [*map(str, range(60))], "price": prices,
    ...     "size": list("SM") * 30})
    >>> found, outside, said = without_idle_columns(table)
    >>> found.columns, outside.columns, len(said)
    (('size',), ('price', 'size'), 2)
    """
    kept, measures, said = [], [], []
    for j, name in enumerate(table.columns):
        codes = table.codes[:, j]
        sizes = np.bincount(codes, minlength=1)
        values = int((sizes[1:] > 0).sum())
        if values + (sizes[0] > 0) < 2:
            said.append(f"column {name!r} has one value in all rows and is left out")
        elif len(codes) >= 50 and values > _UNIQUE * len(codes):
            said.append(f"column {name!r} has {_own_values(table, j, values)}")
            if _are_measures(table.vocabularies[j], len(codes) - int(sizes[0])):
                measures.append(j)
        else:
            kept.append(j)
    if not kept:
        raise InputError("no column is left to predict from: " + "; ".join(said[:_MOST_TOLD]))
    if len(kept) == len(table.columns):
        return table, None, said
    outside = sorted(kept + measures) if measures else []
    parts = [table.select([table.columns[j] for j in places]) for places in (kept, outside)]
    return parts[0], parts[1] if measures else None, said


def _are_measures(values: tuple[str, ...], n_rows: int) -> bool:
    """Whether values that hardly recur are numbers that measure something, and no names of rows.

    Names of rows are whole numbers, each met once.
    """
    if _share_of_numbers(values) <= 0.95:
        return False
    return len(values) < n_rows or any("." in value for value in values[:200])


def _own_values(table: NominalTable, j: int, n_values: int) -> str:
    """Of a column in which nearly every row has a value of its own, what is said."""
    values = table.vocabularies[j]
    of = f"in {len(table):,} rows"
    if _are_dates(values):
        return f"{n_values:,} different dates {of} and is left out; month or weekday may help"
    if _share_of_numbers(values) > 0.95 and any("." in value for value in values[:200]):
        return f"{n_values:,} different numbers {of} and is left out; ranges of them may help"
    return f"{n_values:,} different values {of}, as an id has, and is left out"


def table_warnings(
    data: NominalTable | FeatureMatrix, labels: np.ndarray, learn: np.ndarray, test: np.ndarray
) -> list[str]:
    """What may mislead a reader of the figures, a line each."""
    found = _duplicates(data, labels, learn, test)
    if isinstance(data, NominalTable):
        found += _leaks(data, labels, learn, test)
        found += _numbers_as_symbols(data)
    if data.groups is not None:
        found += _groups_of_one_class(data.groups, labels)
    rare = np.bincount(labels)
    n_rare = int(((rare > 0) & (rare < 5)).sum())
    if n_rare:
        rare_ones = counted(n_rare, "class has", "classes have")
        found.append(f"{rare_ones} fewer than 5 rows and can hardly be learned")
    return found + _few_to_draw(data, test)


def _few_to_draw(data: NominalTable | FeatureMatrix, test: np.ndarray) -> list[str]:
    """Tests draw rows, or whole groups; of a handful all may point one way by luck."""
    what, n = "rows", len(test)
    if data.groups is not None:
        what, n = "groups", len(np.unique(data.groups[test]))
    if n >= _ENOUGH_TO_DRAW:
        return []
    return [f"the test part has {n} {what} only: with so few, what is called a gain may be luck"]


def _leaks(
    table: NominalTable, labels: np.ndarray, learn: np.ndarray, test: np.ndarray
) -> list[str]:
    """Columns by which alone nearly every test row is answered right."""
    n_classes = int(labels.max()) + 1
    chance = float((labels[test] == np.bincount(labels[learn]).argmax()).mean())
    if chance > _TELLING - 0.05:
        return []
    said = []
    for j, name in enumerate(table.columns):
        n_values = len(table.vocabularies[j]) + 1
        pair = table.codes[learn, j].astype(np.int64) * n_classes + labels[learn]
        seen, counts = np.unique(pair, return_counts=True)
        order = np.argsort(counts, kind="stable")
        answer = np.full(n_values, np.bincount(labels[learn]).argmax())
        answer[seen[order] // n_classes] = seen[order] % n_classes  # the commonest comes last
        right = float((answer[table.codes[test, j]] == labels[test]).mean())
        if right >= _TELLING:
            said.append(
                f"column {name!r} alone tells the class of {percent(right)} of the test rows: "
                "is it known before the answer is?"
            )
    return said[:_MOST_TOLD]


def _duplicates(
    data: NominalTable | FeatureMatrix, labels: np.ndarray, learn: np.ndarray, test: np.ndarray
) -> list[str]:
    keys = _row_keys(data)
    seen = np.isin(keys[test], keys[learn])
    share = float(seen.mean()) if len(test) else 0.0
    if share < 0.01:
        return []
    return [
        f"{percent(share, 0)} of the test rows are also in the part learned from, value for value; "
        "methods that remember rows look better by it than they may be on new ones"
    ]


def _row_keys(data: NominalTable | FeatureMatrix) -> np.ndarray:
    """A number for each row, the same for the same values."""
    times = np.uint64(0x9E3779B97F4A7C15)
    if isinstance(data, NominalTable):
        keys = np.zeros(len(data), dtype=np.uint64)
        for j in range(len(data.columns)):
            keys = (keys ^ data.codes[:, j].astype(np.uint64)) * times
            keys ^= keys >> np.uint64(29)
        return keys
    # A sum of spread numbers does not depend on the order of a row's features.
    spread = (np.arange(1, data.shape[1] + 1, dtype=np.uint64)) * times
    spread = (spread ^ (spread >> np.uint64(31))) * times
    sums = np.concatenate([[np.uint64(0)], np.cumsum(spread[data.indices], dtype=np.uint64)])
    return sums[data.indptr[1:]] - sums[data.indptr[:-1]]


def _groups_of_one_class(groups: np.ndarray, labels: np.ndarray) -> list[str]:
    names, sizes = np.unique(groups, return_counts=True)
    pairs = np.unique(np.stack([groups, labels], axis=1), axis=0)
    one = np.bincount(np.searchsorted(names, pairs[:, 0])) == 1
    large = one & (sizes >= 20)
    if not large.any() or one.mean() < 0.5:
        return []
    return [f"{int(one.sum()):,} of {len(names):,} groups have rows of one class only"]


def _numbers_as_symbols(table: NominalTable) -> list[str]:
    said = []
    for name, values in zip(table.columns, table.vocabularies, strict=True):
        if len(values) > _MANY_NUMBERS and _share_of_numbers(values) > 0.95:
            said.append(
                f"column {name!r} holds {len(values):,} numbers, each taken as a symbol of its "
                "own; ranges may do better"
            )
        elif len(values) > _MANY_NUMBERS and _are_dates(values):
            said.append(
                f"column {name!r} holds {len(values):,} dates, each taken as a symbol of its own; "
                "month or weekday may do better"
            )
    return said[:_MOST_TOLD]


def _are_dates(values: tuple[str, ...]) -> bool:
    some = values[:200]
    return bool(some) and sum(bool(_DATE.fullmatch(one)) for one in some) > 0.95 * len(some)


def _share_of_numbers(values) -> float:
    some = list(values[:1000])
    return sum(_is_number(one) for one in some) / max(len(some), 1)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
