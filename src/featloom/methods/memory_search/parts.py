"""Who is remembered, who is searched on, who is reported on.

As in the paper, settings are searched on validation rows and reported on test rows.  Data that come
without such parts are split: 80 % to remember, 10 % to search on, 10 % to report on, the classes in
the same proportions and groups kept whole.  Where rows are few (below 2,000) a tenth of them says
little, and the search cross-validates over all but the test rows instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featloom.data.readers.labels import check_columns, check_labelled
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.evaluation.folds import make_folds

FEW_ROWS = 2_000
TENTHS = 10


@dataclass(frozen=True)
class Parts:
    """Rows to remember, to search on (None: cross-validation) and to report on; and in words how
    they were come by."""

    train: NominalTable
    valid: NominalTable | None
    test: NominalTable
    words: str

    def sizes(self) -> dict[str, int]:
        valid = {} if self.valid is None else {"valid": len(self.valid)}
        return {"train": len(self.train), **valid, "test": len(self.test)}


def make_parts(
    data: NominalTable,
    valid: NominalTable | None = None,
    test: NominalTable | None = None,
    *,
    folds: int | None = None,
    seed: int = 0,
) -> Parts:
    """The three parts; those that are not given are taken from ``data``, a tenth each.

    Parameters
    ----------
    folds : cross-validate over so many folds, whatever the size; None: only where rows are few.
    seed : of the split.

    Examples
    --------
    >>> letters = NominalTable.from_columns({"letter": list("ckcs") * 10}, labels=list("KKSS") * 10)
    >>> parts = make_parts(letters)
    >>> parts.sizes(), parts.valid
    ({'train': 36, 'test': 4}, None)
    >>> parts.words
    '10 % of the rows held out at random as test part; searched by cross-validation over the others'
    """
    if valid is not None and folds is not None:
        raise InputError("folds and a validation part are two ways to one end; give one of them")
    check_labelled(data)
    for part in (valid, test):
        if part is not None:
            check_labelled(part)
            check_columns(data, part)
            check_columns(part, data)  # no more and no fewer
    by_folds = valid is None and (folds is not None or len(data) < FEW_ROWS)
    taken = ["test"] if test is None else []
    if valid is None and not by_folds:
        taken.append("validation")
    if not taken:
        return Parts(data, valid, test, _words(taken, by_folds, data))  # type: ignore[arg-type]
    tenth_of = make_folds(
        data.label_codes, n_folds=TENTHS, groups=data.groups, seed=seed, allow_rare=True
    )
    held_out = {
        name: data.take(np.flatnonzero(tenth_of == tenth)) for tenth, name in enumerate(taken)
    }
    return Parts(
        data.take(np.flatnonzero(tenth_of >= len(taken))),
        held_out.get("validation", valid),
        held_out["test"] if test is None else test,
        _words(taken, by_folds, data),
    )


def _words(taken: list[str], by_folds: bool, data: NominalTable) -> str:
    whole = "" if data.groups is None else ", groups kept whole"
    if by_folds and not taken:
        return f"searched by cross-validation over the training part{whole}"
    if by_folds:
        return (
            f"10 % of the rows held out at random as test part{whole}; "
            "searched by cross-validation over the others"
        )
    if not taken:
        return "searched on the validation part, reported on the test part"
    if len(taken) == 2:
        return (
            "split at random into 80 % training, 10 % validation and 10 % test rows, classes in "
            f"the same proportions{whole}; searched on validation, reported on test"
        )
    return (
        f"10 % of the rows held out at random as {taken[0]} part{whole}; "
        "searched on validation, reported on test"
    )
