"""A memory-based learner for TiMBL: its cases, its weights, and the command line that asks them.

With ``compat="timbl"`` TiMBL gives the same answers; ``featloom.out`` holds ours in the form in
which TiMBL writes its own, so that ``diff`` can tell.
"""

from __future__ import annotations

import os
import shlex
from itertools import groupby
from pathlib import Path

import numpy as np

from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.formats.timbl import write_instances, write_weights
from featloom.learners.memory import MemoryClassifier

WEIGHTINGS = {
    "none": "nw",
    "gain_ratio": "gr",
    "information_gain": "ig",
    "shared_variance": "sv",
    "chi_squared": "x2",
}
VOTES = {"count": "Z", "inverse_distance": "ID", "inverse_linear": "IL"}


def export_timbl(
    folder: str | os.PathLike[str],
    classifier: MemoryClassifier,
    train: NominalTable,
    test: NominalTable,
) -> str:
    """Write ``train.tsv``, ``test.tsv``, ``weights.wgt`` and ``featloom.out``.

    Returns
    -------
    str
        The command line that has TiMBL answer the test rows with the learner's setting.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"cannot make the folder {folder}: {reason}") from None
    for name, table in (("training", train), ("test", test)):
        _check_complete(table, name)
    write_timbl(train, folder / "train.tsv")
    write_timbl(test, folder / "test.tsv")
    n_features = len(train.columns)
    write_weights(
        folder / "weights.wgt",
        {
            short: dict(enumerate(classifier._memory.weights(name).tolist(), start=1))
            for name, short in WEIGHTINGS.items()
        },
        n_features=n_features,
        facts={"Cases": len(train), "Features": n_features, "Classes": len(classifier.classes_)},
    )
    rows = zip(*_values(test), classifier.predict(test), strict=True)
    write_instances(folder / "featloom.out", rows)
    files = ["-f", folder / "train.tsv", "-t", folder / "test.tsv", "-F", "Tabbed"]
    words = ["timbl", *files, *timbl_options(classifier), "-o", folder / "timbl.out"]
    return shlex.join(map(str, words))


def timbl_options(classifier: MemoryClassifier) -> list[str]:
    """The setting of a fitted learner as TiMBL's options.

    >>> letters = [["c", "a", "x"], ["c", "e", "y"], ["s", "e", "x"]]
    >>> memory = MemoryClassifier(k=5, metric=["ignore", "overlap", "mvdm"])
    >>> " ".join(timbl_options(memory.fit(letters, ["K", "S", "S"])))
    '-a IB1 -m O:I1:M3 -w gr -k 5 -d Z -L 1'
    """
    if not isinstance(classifier.weights, str):
        raise InputError("weights that were given as numbers have no name in TiMBL")
    vote = VOTES.get(classifier.vote, f"ED:{classifier._how.decay:g}")
    return [
        "-a", "IB1",
        "-m", timbl_metric(classifier.modes_),
        "-w", WEIGHTINGS[classifier.weights],
        "-k", str(classifier.k),
        "-d", vote,
        "-L", str(classifier.mvdm_threshold),
        *(["+x"] if classifier.exact else []),
    ]  # fmt: skip


def timbl_metric(modes: tuple[str, ...]) -> str:
    """The modes of the features as TiMBL's option -m has them, features counted from 1.

    >>> timbl_metric(("ignore", "overlap", "mvdm", "mvdm", "mvdm", "ignore"))
    'O:I1,6:M3-5'
    """
    parts = ["O"]
    for mode, letter in (("ignore", "I"), ("mvdm", "M")):
        places = [j for j, one in enumerate(modes, start=1) if one == mode]
        # Places that follow one another differ from their rank by the same number.
        runs = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
        spans = [[place for _, place in run] for _, run in runs]
        shown = [str(s[0]) if len(s) == 1 else f"{s[0]}-{s[-1]}" for s in spans]
        if shown:
            parts.append(letter + ",".join(shown))
    return ":".join(parts)


def _values(table: NominalTable) -> list[list[str]]:
    """The values of each column, and the classes."""
    named = [table.values(name, unknown="").tolist() for name in table.columns]
    return [*named, table.label_names.tolist()]


def _check_complete(table: NominalTable, name: str) -> None:
    """A missing value is like no other here; TiMBL would take it for a value like any other."""
    empty = np.argwhere(table.codes == 0)
    if len(empty):
        row, column = empty[0]
        raise InputError(
            f"row {row + 1} of the {name} rows has no value in column {table.columns[column]!r}, "
            "and TiMBL knows no missing values"
        )


def write_timbl(
    table: NominalTable,
    path: str | os.PathLike[str],
    *,
    format: str = "tabs",
    unknown: str | None = None,
) -> None:
    """Write a table as TiMBL's instances: a line a row, the class last.

    Parameters
    ----------
    table : with labels.
    path : file to write.
    format : "tabs", "commas" or "blanks" (``-F Tabbed``, ``-F C4.5``, ``-F Columns``).
    unknown : what to write for unknown values and missing classes; where None, they are refused.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> table = NominalTable.from_columns({"letter": ["c", "k"]}, labels=["S", "K"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "letters.tsv")
    ...     write_timbl(table, path, format="blanks")
    ...     print(path.read_text(), end="")
    c S
    k K
    """
    if table.labels is None:
        raise InputError("a table without classes cannot be written for TiMBL")
    columns = [
        _decoded(table.codes[:, j], vocabulary, f"value in column {name!r}", unknown)
        for j, (name, vocabulary) in enumerate(zip(table.columns, table.vocabularies, strict=True))
    ]
    columns.append(_decoded(table.labels + 1, table.classes, "class", unknown))
    write_instances(path, zip(*columns, strict=True), format=format)


def _decoded(
    codes: np.ndarray, vocabulary: tuple[str, ...], what: str, unknown: str | None
) -> list[str]:
    """The values behind codes from 1."""
    if unknown is None and not codes.all():
        row = int(np.argmin(codes != 0)) + 1
        raise InputError(f"row {row} has no {what}; 'unknown' says what to write there")
    return np.array([unknown or "", *vocabulary], dtype=object)[codes].tolist()
