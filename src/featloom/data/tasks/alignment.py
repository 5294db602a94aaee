"""Which letters of a word make which of its sounds, learned from a dictionary alone.

A pronouncing dictionary says that "cough" is K AO F, not that "gh" makes the F.  Expectation and
maximisation find it out: at first every letter may sound as anything, each word's alignments are
weighted by how probable their links are, and the weights give new probabilities

    p(sound | letter) = expected links of letter with sound / expected links of letter,

until the likelihood of the dictionary stands still.  A letter is linked to nothing (silence), to
one phoneme, or to two ("x" as K S); links never cross.  Then each word keeps its most probable
alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError
from featloom.kernels.alignment import best_links, expected_links

SILENCE = "-"


@dataclass(frozen=True, eq=False)
class Alignment:
    """Letters of words linked to sounds.

    Parameters
    ----------
    letters, phonemes : the symbols that words and pronunciations are made of.
    letter_codes, bounds : the letters of all words, one after the other, and where words begin.
    sounds : for each letter the number of its sound; -1 throughout a word that has no alignment,
        because it has more than two phonemes for each letter.
    posterior : for each letter, how probable its link is given word and pronunciation.
    probability : p(sound | letter), letters × sounds.
    likelihoods : mean log likelihood of a word before each step of expectation and maximisation.
    """

    letters: tuple[str, ...]
    phonemes: tuple[str, ...]
    letter_codes: np.ndarray
    bounds: np.ndarray
    sounds: np.ndarray
    posterior: np.ndarray
    probability: np.ndarray
    likelihoods: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def mean_posterior(self) -> float:
        """How sure the links are, on average over the letters that have one."""
        return float(self.posterior[self.sounds >= 0].mean())

    def sound_parts(self, sound: int) -> tuple[str, ...]:
        """The phonemes of a sound: none, one or two."""
        n = len(self.phonemes)
        if sound == 0:
            return ()
        if sound <= n:
            return (self.phonemes[sound - 1],)
        first, second = divmod(sound - 1 - n, n)
        return (self.phonemes[first], self.phonemes[second])

    def sound_name(self, sound: int) -> str:
        """The name of a sound: ``-``, ``K`` or ``K+S``."""
        return "+".join(self.sound_parts(sound)) or SILENCE

    def word_links(self, word: int) -> list[tuple[str, str]]:
        """Letters and sounds of one word."""
        places = range(self.bounds[word], self.bounds[word + 1])
        return [
            (self.letters[self.letter_codes[place]], self.sound_name(self.sounds[place]))
            for place in places
            if self.sounds[place] >= 0
        ]

    def rarest_links(self) -> np.ndarray:
        """For each word the smallest p(sound | letter) of its links; 0 without an alignment."""
        chance = self.probability[self.letter_codes, self.sounds]
        return np.minimum.reduceat(np.where(self.sounds < 0, 0.0, chance), self.bounds[:-1])


def align(
    spellings: Sequence[Sequence[str]],
    pronunciations: Sequence[Sequence[str]],
    *,
    max_steps: int = 40,
    tolerance: float = 1e-4,
) -> Alignment:
    """Align the letters of words with their phonemes.

    Parameters
    ----------
    spellings, pronunciations : for each word its letters and its phonemes, at least one of each.
    max_steps : the most steps of expectation and maximisation.
    tolerance : stop when a step gains less than this in mean log likelihood of a word.

    Examples
    --------
    >>> words = ["tack", "cat", "act", "tax"]
    >>> sounds = ["T AE K", "K AE T", "AE K T", "T AE K S"]
    >>> alignment = align(words, [sound.split() for sound in sounds])
    >>> alignment.word_links(3)
    [('t', 'T'), ('a', 'AE'), ('x', 'K+S')]
    """
    if len(spellings) != len(pronunciations) or not len(spellings):
        raise InputError(f"{len(spellings)} words with {len(pronunciations)} pronunciations")
    letter_codes, bounds, letters = _flatten(spellings)
    phoneme_codes, phoneme_bounds, phonemes = _flatten(pronunciations)
    n = len(phonemes)
    words = (letter_codes, bounds, phoneme_codes, phoneme_bounds)

    probability = np.full((len(letters), 1 + n + n * n), 1.0 / (1 + n + n * n))
    likelihoods: list[float] = []
    for _ in range(max_steps):
        counts, likelihood, n_aligned = expected_links(*words, probability, n)
        if n_aligned == 0:
            raise InputError("every word has more than two phonemes for each letter")
        likelihoods.append(likelihood / n_aligned)
        totals = counts.sum(axis=1, keepdims=True)
        probability = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
        if len(likelihoods) > 1 and likelihoods[-1] - likelihoods[-2] < tolerance:
            break
    sounds, posterior = best_links(*words, probability, n)
    return Alignment(
        letters,
        phonemes,
        letter_codes,
        bounds,
        sounds,
        posterior,
        probability,
        tuple(likelihoods),
    )


def _flatten(
    sequences: Sequence[Sequence[str]],
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """All symbols one after the other as codes from 0, where each sequence begins, the symbols."""
    lengths = np.fromiter((len(sequence) for sequence in sequences), np.int64, len(sequences))
    if not lengths.all():
        raise InputError(f"word {int(np.argmin(lengths))} has no letters or no phonemes")
    symbols = sorted({symbol for sequence in sequences for symbol in sequence})
    codes = Vocabulary(symbols).find([symbol for sequence in sequences for symbol in sequence])
    return codes, np.concatenate([[0], np.cumsum(lengths)]), tuple(symbols)
