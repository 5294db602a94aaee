"""How much a whole column says about the class.

With n rows, n_v of value v, n_c of class c, logarithms to base 2 and no smoothing:

information gain  H(C) − Σ_v n_v/n H(C|v)
gain ratio        information gain / H(V), 0 where H(V) is 0
chi-squared       Σ_vc (n_vc − e)² / e with e = n_v n_c / n
shared variance   chi-squared / (n (min(values, classes) − 1))

The sums are taken value by value and class by class, one number after the other: that is the
order in which TiMBL takes them, and the weights agree with its own to the last digit printed.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit


@njit(cache=True, nogil=True)
def column_weights(start, classes, counts, n_classes):
    """(gain ratio, information gain, chi-squared, shared variance) of a values × classes table."""
    n_values = len(start) - 1
    of_value = np.zeros(n_values, dtype=np.int64)
    of_class = np.zeros(n_classes, dtype=np.int64)
    for v in range(n_values):
        for place in range(start[v], start[v + 1]):
            of_value[v] += counts[place]
            of_class[classes[place]] += counts[place]
    n = of_value.sum()
    entropy = 0.0
    n_classes_met = 0
    for c in range(n_classes):
        if of_class[c]:
            entropy -= of_class[c] / n * np.log2(of_class[c] / n)
            n_classes_met += 1
    within = 0.0
    split = 0.0
    chi_squared = 0.0
    n_values_met = 0
    row = np.zeros(n_classes, dtype=np.int64)
    for v in range(n_values):
        if of_value[v] == 0:
            continue
        n_values_met += 1
        split -= of_value[v] / n * np.log2(of_value[v] / n)
        of_this = 0.0
        for place in range(start[v], start[v + 1]):
            share = counts[place] / of_value[v]
            of_this += share * np.log2(share)
            row[classes[place]] = counts[place]
        within += of_this * of_value[v] / n
        for c in range(n_classes):
            if of_class[c]:
                expected = float(of_value[v]) * (of_class[c] / n)
                chi_squared += (expected - row[c]) * (expected - row[c]) / expected
                row[c] = 0
    gain = max(0.0, entropy + within)
    freedom = min(n_values_met, n_classes_met) - 1
    return (
        gain / split if split > 0 else 0.0,
        gain,
        chi_squared,
        chi_squared / (n * freedom) if freedom > 0 else 0.0,
    )
