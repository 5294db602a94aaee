"""Files of the Tilburg Memory-Based Learner: instances out, weights in and out, probabilities in.

Instances (``-f``, ``-t``) are lines of values with the class last, between tabs (``-F Tabbed``),
commas (``-F C4.5``) or blanks (``-F Columns``).  Nothing can be quoted in them, so a value that
holds what stands between values cannot be written.

A file of weights (``-W`` writes it, ``-w FILE:NAME`` reads it) has a section for each weighting,
with one feature a line, a tab, and its weight or ``Ignore``:

    # gr
    # Fea.  Weight
    1       0.02489153561762
    2       Ignore
    #

A file of probabilities (``-U``) has for each feature and value P(class | value), the numbers
behind the modified value difference, with three decimals; a blank in a value is written ``\\_``.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from featloom.errors import InputError, ReadError
from featloom.runs import write_beside
from featloom.words import no_such

WEIGHTINGS = {
    "nw": "no weighting",
    "gr": "gain ratio",
    "ig": "information gain",
    "sv": "shared variance",
    "x2": "chi-squared",
    "sd": "standard deviation",
}
SEPARATORS = {"tabs": "\t", "commas": ",", "blanks": " "}
IGNORED = "Ignore"
_FEATURE = re.compile(r"feature # ([0-9]{1,9}) (Matrix:|Ignored,|Numeric,)")
_ESCAPED = re.compile(r"\\(.)")
_MEANT = {"_": " ", "t": "\t"}


def write_instances(
    path: str | os.PathLike[str], rows: Iterable[Sequence[str]], *, format: str = "tabs"
) -> None:
    """Write rows of values, the class last.

    Parameters
    ----------
    path : file to write.
    rows : all of the same length, at least a value and a class.
    format : "tabs", "commas" or "blanks".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "letters.txt")
    ...     write_instances(path, [("c", "a", "K"), ("c", "e", "S")], format="commas")
    ...     print(path.read_text(), end="")
    c,a,K
    c,e,S
    >>> write_instances("letters.txt", [("1,5", "A")], format="commas")
    Traceback (most recent call last):
        ...
    featloom.errors.InputError: row 1: value '1,5' holds a comma, which separates values here
    """
    if format not in SEPARATORS:
        raise InputError(f"format is {format!r}; it must be one of {', '.join(SEPARATORS)}")
    separator = SEPARATORS[format]
    lines: list[str] = []
    sound: set[str] = set()  # values come again and again, so each is looked at once
    sound_classes: set[str] = set()
    width = 0
    for number, row in enumerate(rows, start=1):
        width = width or len(row)
        if len(row) != width or width < 2:
            raise InputError(f"row {number}: {len(row)} values, {max(width, 2)} expected")
        if not sound.issuperset(row) or row[-1] not in sound_classes:
            fault = _fault(row, format)
            if fault:
                raise InputError(f"row {number}: {fault}")
            sound.update(row)
            sound_classes.add(row[-1])
        lines.append(separator.join(row))
    if not lines:
        raise InputError(f"no rows to write to {os.fspath(path)}")
    write_beside(path, "\n".join(lines) + "\n")


def read_weights(path: str | os.PathLike[str]) -> dict[str, dict[int, float]]:
    """Weights of features by TiMBL's short names of the weightings.

    Returns
    -------
    dict
        For "nw", "gr", "ig", "sv", "x2" (whichever the file has) a dict from the number of a
        feature, counted from 1, to its weight.  A feature that is ignored is not in it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "dimin.wgt")
    ...     _ = path.write_text("# gr\\n# Fea.\\tWeight\\n1\\t0.25\\n2\\tIgnore\\n3\\t0.5\\n#\\n")
    ...     read_weights(path)
    {'gr': {1: 0.25, 3: 0.5}}
    """
    file = os.fspath(path)
    found: dict[str, dict[int, float]] = {}
    expected = 1
    weights: dict[int, float] | None = None
    for number, line in _lines(file):
        if line.startswith("#"):
            name = line[1:].strip()
            if name in WEIGHTINGS:
                if name in found:
                    raise ReadError(f"{name!r} appears twice", file=file, line=number)
                weights = found[name] = {}
                expected = 1
            elif not name:
                weights = None  # a lone "#" ends a section
            continue
        if not line.strip():
            continue
        cells = line.split()
        if weights is None or len(cells) != 2:
            raise ReadError("this is not a feature and its weight", file=file, line=number)
        if cells[0] != str(expected):
            message = f"feature {cells[0]:.40}, {expected} expected"
            raise ReadError(message, file=file, line=number, column=1)
        if cells[1] != IGNORED:
            weights[expected] = _number(cells[1], file, number, 2)
        expected += 1
    if not found:
        raise ReadError("no weights: this is not a file of TiMBL's weights", file=file)
    return found


def write_weights(
    path: str | os.PathLike[str],
    weights: Mapping[str, Mapping[int, float]],
    *,
    n_features: int | None = None,
    facts: Mapping[str, object] | None = None,
) -> None:
    """Write weights as TiMBL does, with 15 significant digits.

    Parameters
    ----------
    path : file to write.
    weights : as ``read_weights`` gives them; a feature without a weight is ignored.
    n_features : how many features there are; where None, as many as the highest number.
    facts : lines for the head of the file, which TiMBL does not read: ``{"Classes": 5}``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "dimin.wgt")
    ...     write_weights(path, {"ig": {1: 1 / 3}}, n_features=2)
    ...     path.read_text().splitlines()
    ['# ig', '# Fea.\\tWeight', '1\\t0.333333333333333', '2\\tIgnore', '#']
    """
    highest = max((feature for section in weights.values() for feature in section), default=0)
    n_features = highest if n_features is None else n_features
    if not weights or n_features < 1:
        raise InputError(f"no weights to write to {os.fspath(path)}")
    lines = [f"# {name}: {value}" for name, value in (facts or {}).items()]
    if any("\n" in line or "\r" in line for line in lines):
        raise InputError("a fact for the head of a file of weights must be one line")
    for name, section in weights.items():
        if name not in WEIGHTINGS:
            raise InputError(no_such("weighting", name, WEIGHTINGS))
        for feature, weight in section.items():
            if not 1 <= feature <= n_features:
                raise InputError(f"{name}: no feature {feature}; there are {n_features}")
            if not math.isfinite(weight):
                raise InputError(f"{name}: the weight of feature {feature} is {weight}")
        lines += [f"# {name}", "# Fea.\tWeight"]
        for feature in range(1, n_features + 1):
            shown = f"{section[feature]:.15g}" if feature in section else IGNORED
            lines.append(f"{feature}\t{shown}")
        lines.append("#")
    write_beside(path, "\n".join(lines) + "\n")


@dataclass(frozen=True, eq=False)
class ValueProbabilities:
    """P(class | value) as TiMBL saved it.

    Parameters
    ----------
    classes : names of the classes.
    features : for each feature that has probabilities (by its number, from 1) and each of its
        values one number a class.  Numeric and ignored features have none.
    """

    classes: tuple[str, ...]
    features: dict[int, dict[str, np.ndarray]]


def read_probabilities(path: str | os.PathLike[str]) -> ValueProbabilities:
    """Read what ``timbl -U`` saved.

    Class names with commas cannot be told apart in such a file: it is refused.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "dimin.prob")
    ...     text = "Targets : T,E.\\n\\nfeature # 1 Matrix: \\n=\\t0.750\\t0.250\\n\\n"
    ...     _ = path.write_text(text)
    ...     read = read_probabilities(path)
    >>> read.classes, read.features[1]["="].tolist()
    (('T', 'E'), [0.75, 0.25])
    """
    file = os.fspath(path)
    lines = _lines(file)
    _, head = next(lines, (1, ""))
    if not (head.startswith("Targets : ") and head.rstrip().endswith(".")):
        message = "no line of targets: this is not a file of TiMBL's probabilities"
        raise ReadError(message, file=file, line=1)
    classes = [_unescaped(name) for name in head.rstrip()[len("Targets : ") : -1].split(",")]
    features: dict[int, dict[str, np.ndarray]] = {}
    values: dict[str, np.ndarray] | None = None
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) == 1:
            if not line.strip():
                continue
            begin = _FEATURE.match(line)
            if begin is None:
                raise ReadError("this is no value and no feature", file=file, line=number)
            values = None
            if begin[2] == "Matrix:":
                if int(begin[1]) in features:
                    message = f"feature {int(begin[1])} appears twice"
                    raise ReadError(message, file=file, line=number)
                values = features[int(begin[1])] = {}
            continue
        if len(cells) != len(classes) + 1:
            message = f"{len(cells) - 1} probabilities for {len(classes)} classes"
            raise ReadError(message, file=file, line=number)
        value = _unescaped(cells[0])
        if values is None or value in values:
            message = f"value {value!r:.40} of no feature, or a second time"
            raise ReadError(message, file=file, line=number, column=1)
        values[value] = np.array(
            [_number(cell, file, number, j) for j, cell in enumerate(cells[1:], start=2)]
        )
    return ValueProbabilities(tuple(classes), features)


def _fault(row: Sequence[str], format: str) -> str:
    """What keeps a row from being written, or nothing."""
    for value in row:
        if not value:
            return "a value is empty, and TiMBL would skip the row"
        if "\n" in value or "\r" in value or "\0" in value:
            return f"value {value!r:.60} holds a line end or a NUL"
        if format == "tabs":
            if "\t" in value:
                return f"value {value!r:.60} holds a tab, which separates values here"
        elif format == "commas":
            if "," in value:
                return f"value {value!r:.60} holds a comma, which separates values here"
            if value[0].isspace() or value[-1].isspace():
                return f"value {value!r:.60} has a blank at an end, which would be lost"
        elif any(map(str.isspace, value)):
            return f"value {value!r:.60} holds a blank, which separates values here"
    if format == "commas" and row[-1].endswith("."):
        return f"class {row[-1]!r:.60} ends in a full stop, which would be lost"
    return ""


def _number(text: str, file: str, line: int, column: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ReadError(f"{text!r:.40} is not a number", file=file, line=line, column=column)
    return number


def _unescaped(value: str) -> str:
    return _ESCAPED.sub(lambda match: _MEANT.get(match[1], match[1]), value)


def _lines(file: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line, without its end."""
    number = 0
    try:
        # Only a line feed ends a line: other line ends of Unicode can be part of a value.
        with open(file, encoding="utf-8-sig", newline="\n") as stream:
            for number, line in enumerate(stream, start=1):
                yield number, line.rstrip("\r\n")
    except FileNotFoundError:
        raise ReadError("no such file", file=file) from None
    except UnicodeDecodeError:
        raise ReadError("not UTF-8", file=file, line=number + 1) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError(f"cannot be read: {reason}", file=file) from None
