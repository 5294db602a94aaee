"""Lemmas: the dictionary form of a word, from its letters and its tags.

A word that training shows with the same tags has the lemma that is commonest there (capitals
aside).  Any other word is changed as training words with the longest common ending were: so many
letters are stripped and others put in their place, as *-aram* becomes *-ar* in Portuguese
*falaram*, *falar*.  Words with a capital follow words with a capital, since names keep theirs and
the first word of a sentence does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from featloom.data.sentences import split_labels, table_of_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError

# What becomes of the capitals of a word, before letters are stripped.
_CASES: tuple[Callable[[str], str], ...] = (str, str.lower, str.capitalize)

Rule = tuple[int, int, str]  # which of the cases, letters to strip, letters to add


class SuffixLemmatizer(BaseEstimator):
    """The commonest lemma of a known word; for others the rule of the longest ending.

    Parameters
    ----------
    longest : letters of the longest ending that is looked at.

    Attributes
    ----------
    columns_ : the first holds the words, the others their tags.
    lemmas_ : the lemma of each word (in small letters) with its tags.
    rules_ : the rule of each ending with its tags.

    Examples
    --------
    >>> sentences = [[("falar", "V"), ("falaram", "V"), ("casas", "N")], [("andaram", "V")]]
    >>> lemmas = [["falar", "falar", "casa"], ["andar"]]
    >>> SuffixLemmatizer().fit(sentences, lemmas).predict([[("cantaram", "V"), ("Casas", "N")]])
    [['cantar', 'casa']]
    """

    def __init__(self, *, longest=8):
        self.longest = longest

    def fit(self, sentences: Any, labels: Any = None) -> SuffixLemmatizer:
        """Learn from sentences (words with tags) and the lemmas of their words."""
        table = table_of_sentences(sentences, labels)
        if table.labels is None or not len(table):
            raise InputError("there are no lemmas to learn from")
        if (table.labels < 0).any():
            raise InputError(f"token {int(np.argmin(table.labels))} has no lemma")
        self.columns_ = table.columns
        seen, counts = np.unique(
            np.column_stack([table.codes, table.labels]), axis=0, return_counts=True
        )
        lemmas: Counter[tuple[tuple, str]] = Counter()
        rules: list[tuple[tuple, Rule]] = []
        tokens = _tokens(table, seen[:, :-1])
        for (word, tags), lemma_code, count in zip(
            tokens, seen[:, -1].tolist(), counts.tolist(), strict=True
        ):
            lemma = table.classes[lemma_code]
            lemmas[(word.lower(), tags), lemma] += count
            rule = rule_of(word, lemma)
            # A frequent word says no more of other words than a rare one.
            rules += [(ending, rule) for ending in self._endings(word, tags)]
        self.lemmas_ = _commonest(lemmas)
        self.rules_ = _commonest(Counter(rules))
        return self

    def predict(self, sentences: Any) -> list[list[str]]:
        """The lemmas of the words of sentences, a list for each."""
        check_is_fitted(self, "lemmas_")
        names = None if isinstance(sentences, NominalTable) else self.columns_
        table = table_of_sentences(sentences, columns=names)
        if table.columns != self.columns_:
            raise InputError(
                f"sentences have columns {', '.join(table.columns)}, not {', '.join(self.columns_)}"
            )
        kinds, kind_of = np.unique(table.codes, axis=0, return_inverse=True)
        found = np.empty(len(kinds), dtype=object)
        found[:] = [self._lemma(word, tags) for word, tags in _tokens(table, kinds)]
        return split_labels(found[kind_of.ravel()], table.bounds)

    def _lemma(self, word: str, tags: tuple[str, ...]) -> str:
        known = self.lemmas_.get((word.lower(), tags))
        if known is not None:
            return known
        for ending in self._endings(word, tags):
            rule = self.rules_.get(ending)
            if rule is not None and rule[1] <= len(word):
                return apply_rule(word, rule)
        return word

    def _endings(self, word: str, tags: tuple[str, ...]) -> Iterator[tuple]:
        """From the most telling to the least."""
        capital, small = word[:1].isupper(), word.lower()
        for length in range(min(self.longest, len(small)), -1, -1):
            yield small[len(small) - length :], tags, capital


def rule_of(word: str, lemma: str) -> Rule:
    """The change that strips the fewest letters of a word to make its lemma.

    >>> rule_of("falaram", "falar"), rule_of("Falaram", "falar")
    ((0, 2, ''), (1, 2, ''))
    """
    best: Rule | None = None
    for case, change in enumerate(_CASES):
        changed = change(word)
        shared = _shared_letters(changed, lemma)
        if best is None or len(changed) - shared < best[1]:
            best = case, len(changed) - shared, lemma[shared:]
        if shared == len(changed):
            break
    assert best is not None
    return best


def apply_rule(word: str, rule: Rule) -> str:
    """The word, changed.

    >>> apply_rule("Cantaram", (1, 2, ""))
    'cantar'
    """
    case, strip, add = rule
    changed = _CASES[case](word)
    return changed[: len(changed) - strip] + add


def _shared_letters(one: str, other: str) -> int:
    """How many letters two words have in common from the first on."""
    for n, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return n
    return min(len(one), len(other))


def _commonest(counts: Counter[tuple[tuple, Any]]) -> dict[tuple, Any]:
    """For each key what it is counted with most often.

    Among equals the first in the alphabet, so that the order of sentences does not matter.
    """
    best: dict[tuple, tuple[int, Any]] = {}
    for (key, what), count in counts.items():
        ranked = -count, what
        if key not in best or ranked < best[key]:
            best[key] = ranked
    return {key: what for key, (_, what) in best.items()}


def _tokens(table: NominalTable, codes: np.ndarray) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Words and tags behind rows of codes; an unknown value is an empty text."""
    columns: list[Sequence[str]] = [
        np.array(["", *vocabulary], dtype=object)[codes[:, j]].tolist()
        for j, vocabulary in enumerate(table.vocabularies)
    ]
    for word, *tags in zip(*columns, strict=True):
        yield word, tuple(tags)
