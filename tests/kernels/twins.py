"""Plain-Python twins of the kernels: the formulas as one would write them on paper."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, log


def fisher_p(n_rows, c_total, n, c, alternative):
    """Fisher's exact p in exact arithmetic."""
    low, high = max(0, n - (n_rows - c_total)), min(n, c_total)
    ways = {x: comb(c_total, x) * comb(n_rows - c_total, n - x) for x in range(low, high + 1)}
    if alternative == "greater":
        chosen = [w for x, w in ways.items() if x >= c]
    elif alternative == "less":
        chosen = [w for x, w in ways.items() if x <= c]
    else:
        chosen = [w for w in ways.values() if w <= ways[c]]
    return Fraction(sum(chosen), comb(n_rows, n))


def _plogp(parts):
    total = sum(parts)
    return -sum(p / total * log(p / total) for p in parts if p)


def score(name, n_rows, c_total, n, c):
    """A score of the table of feature (n rows) and class (c_total rows), c rows with both."""
    cells = [[c, n - c], [c_total - c, n_rows - n - c_total + c]]
    entropy_t, entropy_y = _plogp([n, n_rows - n]), _plogp([c_total, n_rows - c_total])
    joint = _plogp([cell for row in cells for cell in row])
    information = entropy_t + entropy_y - joint
    if name in ("mi", "information_gain"):
        return information
    if name == "su":
        return 2 * information / (entropy_t + entropy_y)
    if name == "gain_ratio":
        return information / entropy_t
    if name == "ig":
        terms = [(c, n), (c_total - c, n_rows - n)]
        return -c_total / n_rows * log(c_total / n_rows) + sum(
            both / n_rows * log(both / margin) for both, margin in terms if both
        )
    expected = [
        [margin * total / n_rows for total in (c_total, n_rows - c_total)]
        for margin in (n, n_rows - n)
    ]
    chi2 = sum((cells[i][j] - expected[i][j]) ** 2 / expected[i][j] for i in (0, 1) for j in (0, 1))
    return chi2 if name == "chi2" else chi2 / n_rows


def pair_counts(rows, labels, n_classes):
    """For each pair of features that meet, the rows of each class in which they do."""
    met: dict[tuple[int, int], Counter] = {}
    for features, label in zip(rows, labels, strict=True):
        for pair in combinations(sorted(features), 2):
            met.setdefault(pair, Counter())[label] += 1
    return {pair: [count[k] for k in range(n_classes)] for pair, count in met.items()}


def holds(rows, conjunctions):
    """For each row the conjunctions of which it has all parts."""
    return [
        [i for i, parts in enumerate(conjunctions) if set(parts) <= set(features)]
        for features in rows
    ]
