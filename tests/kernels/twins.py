"""Plain-Python twins of the kernels: the formulas as one would write them on paper."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, exp, log
from typing import NamedTuple


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


def value_difference(column, labels, u, v, threshold=1):
    """How differently two values are spread over the classes, exactly; code 0 is unknown."""
    if u == v and u != 0:
        return Fraction(0)
    spread = [Counter(c for x, c in zip(column, labels, strict=True) if x == w) for w in (u, v)]
    if 0 in (u, v) or min(s.total() for s in spread) < max(1, threshold):
        return Fraction(1)
    shares = [{c: Fraction(n, s.total()) for c, n in s.items()} for s in spread]
    return sum(abs(shares[0].get(c, 0) - shares[1].get(c, 0)) for c in set(labels)) / 2


class Vote(NamedTuple):
    """An answer, its votes, the distances asked for, and whether rounding could change it."""

    answer: int
    votes: dict[int, float]
    distances: list[float]
    is_clear: bool


class BruteForce:
    """A memory that compares a query with every case, by the rules as they are written.

    Weights should be binary fractions: then sums that are equal on paper are equal.
    """

    def __init__(self, cases, labels, modes, weights, vote="count", decay=1.0, threshold=1,
                 look_further=False, exact_first="never"):  # fmt: skip
        self.cases, self.labels = [tuple(map(int, case)) for case in cases], list(map(int, labels))
        self.modes, self.weights = modes, [Fraction(w) for w in weights]
        self.vote, self.decay, self.threshold = vote, decay, threshold
        self.look_further, self.exact_first = look_further, exact_first
        self.columns = list(zip(*self.cases, strict=True))
        self.in_training = Counter(self.labels)
        self.known: dict[tuple[int, int, int], Fraction] = {}

    def difference(self, j, u, v):
        if self.modes[j] == "ignore":
            return Fraction(0)
        if self.modes[j] == "overlap":
            return Fraction(int(u != v or u == 0))
        if (j, u, v) not in self.known:
            self.known[j, u, v] = value_difference(
                self.columns[j], self.labels, u, v, self.threshold
            )
        return self.known[j, u, v]

    def distance(self, query, case):
        return sum(w * self.difference(j, query[j], case[j]) for j, w in enumerate(self.weights))

    def classes_by_distance(self, query):
        found: dict[Fraction, Counter] = {}
        for case, label in zip(self.cases, self.labels, strict=True):
            found.setdefault(self.distance(query, case), Counter())[label] += 1
        return sorted(found.items())

    def tally(self, nearest):
        """Votes of the classes at the given distances."""
        votes: dict[int, float] = {}
        first, last = nearest[0][0], nearest[-1][0]
        for distance, classes in nearest:
            weight = {
                "count": lambda d: 1.0,
                "inverse_distance": lambda d: 1 / (float(d) + 2.0**-52),
                "inverse_linear": lambda d: float((last - d) / (last - first)) if last > first
                else 1.0,
                "exponential": lambda d: exp(-self.decay * float(d)),
            }[self.vote](distance)  # fmt: skip
            for label, n in classes.items():
                votes[label] = votes.get(label, 0.0) + weight * n
        return votes

    def winners(self, votes):
        most = max(votes.values())
        tied = [label for label, n in votes.items() if n == most]
        return sorted(tied, key=lambda label: (-self.in_training[label], label))

    def ask(self, query, k) -> Vote:
        query = tuple(map(int, query))
        found = self.classes_by_distance(query)
        distances = [float(d) for d, _ in found[:k]]
        votes, more = self.tally(found[:k]), self.tally(found[: k + 1])
        is_clear = all(self._no_near_tie(v) for v in (votes, more))
        compared = [j for j, mode in enumerate(self.modes) if mode != "ignore"]
        exact: Counter = Counter(
            label
            for case, label in zip(self.cases, self.labels, strict=True)
            if all(case[j] == query[j] != 0 for j in compared)
        )
        alone = self.exact_first == "always" or (self.exact_first == "first" and k == 1)
        if exact and alone:
            votes = self.tally([(Fraction(0), exact)])
        tied = self.winners(votes)
        looks = self.look_further and not (exact and self.exact_first == "always")
        if len(tied) > 1 and looks and len(self.winners(more)) == 1:
            votes = more
            tied = self.winners(more)
        return Vote(tied[0], votes, distances, is_clear)

    @staticmethod
    def _no_near_tie(votes):
        first, *others = sorted(votes.values(), reverse=True)
        return not others or first - others[0] > 1e-9 * first
