"""Alignment of letters with phonemes: sums and maxima over all monotone alignments.

In a monotone alignment each letter sounds as none, one or two of the phonemes that come next,
and all phonemes are used up at the last letter.  With ``p(s | c)`` the probability that letter
``c`` sounds as ``s``, and ``s(j, k)`` the ``k`` phonemes that end at place ``j``, the probability
of all alignments of the first ``i`` letters with the first ``j`` phonemes is

    F[i, j] = Σ_{k = 0, 1, 2} F[i − 1, j − k] · p(s(j, k) | c_i),      F[0, 0] = 1,

and that of the rest, from the end, is

    B[i, j] = Σ_{k = 0, 1, 2} p(s(j + k, k) | c_{i+1}) · B[i + 1, j + k],      B[I, J] = 1.

The posterior of the link of letter ``i`` to the ``k`` phonemes that end at ``j`` is then

    F[i − 1, j − k] · p(s(j, k) | c_i) · B[i, j] / F[I, J].

Each row of F is divided by its sum, and B by the same sums, so that long words do not underflow.
The best alignment replaces the sum by a maximum, in logarithms.

Sounds are numbered: 0 is silence, ``1 + a`` is phoneme ``a``, and ``1 + n + a·n + b`` is phoneme
``a`` followed by ``b``, where there are ``n`` phonemes.
"""

from __future__ import annotations

import numpy as np

from featloom.kernels.compiled import njit

# Two alignments whose log probabilities differ by less than this are as good as each other:
# sums of the same terms in another order must not decide.
_TIE = 1e-9


@njit(cache=True, nogil=True)
def sound_number(phonemes, end, length, n_phonemes):
    """The number of the sound made of the ``length`` phonemes that end before ``end``."""
    if length == 0:
        return 0
    if length == 1:
        return 1 + phonemes[end - 1]
    return 1 + n_phonemes + phonemes[end - 2] * n_phonemes + phonemes[end - 1]


@njit(cache=True, nogil=True)
def _forward(letters, phonemes, probability, n_phonemes, forward, scale):
    """Fill ``forward`` and ``scale`` for one word; whether it has any alignment."""
    n_letters, n_sounds = len(letters), len(phonemes)
    forward[0, : n_sounds + 1] = 0.0
    forward[0, 0] = 1.0
    for i in range(1, n_letters + 1):
        total = 0.0
        # Places from which the rest of the letters cannot use up the phonemes stay zero.
        first = max(0, n_sounds - 2 * (n_letters - i))
        last = min(n_sounds, 2 * i)
        forward[i, : n_sounds + 1] = 0.0
        for j in range(first, last + 1):
            value = 0.0
            for length in range(min(2, j) + 1):
                before = forward[i - 1, j - length]
                if before > 0.0:
                    sound = sound_number(phonemes, j, length, n_phonemes)
                    value += before * probability[letters[i - 1], sound]
            forward[i, j] = value
            total += value
        if total <= 0.0:
            return False
        scale[i] = total
        for j in range(first, last + 1):
            forward[i, j] /= total
    return forward[n_letters, n_sounds] > 0.0


@njit(cache=True, nogil=True)
def _backward(letters, phonemes, probability, n_phonemes, backward, scale):
    """Fill ``backward`` for one word, with the divisors of ``_forward``."""
    n_letters, n_sounds = len(letters), len(phonemes)
    backward[n_letters, : n_sounds + 1] = 0.0
    backward[n_letters, n_sounds] = 1.0
    for i in range(n_letters - 1, -1, -1):
        backward[i, : n_sounds + 1] = 0.0
        first = max(0, n_sounds - 2 * (n_letters - i))
        last = min(n_sounds, 2 * i)
        for j in range(first, last + 1):
            value = 0.0
            for length in range(min(2, n_sounds - j) + 1):
                after = backward[i + 1, j + length]
                if after > 0.0:
                    sound = sound_number(phonemes, j + length, length, n_phonemes)
                    value += after * probability[letters[i], sound]
            backward[i, j] = value / scale[i + 1]


@njit(cache=True, nogil=True)
def expected_links(letters, letter_bounds, phonemes, phoneme_bounds, probability, n_phonemes):
    """The expectation step: how often each letter sounds as each sound, and the log likelihood.

    Returns (expected counts of letters × sounds, log likelihood summed over the words that have
    an alignment, number of those words).
    """
    counts = np.zeros_like(probability)
    likelihood = 0.0
    aligned = 0
    rows = np.max(np.diff(letter_bounds)) + 1
    places = np.max(np.diff(phoneme_bounds)) + 1
    forward = np.zeros((rows, places))
    backward = np.zeros((rows, places))
    scale = np.ones(rows)
    for word in range(len(letter_bounds) - 1):
        spelling = letters[letter_bounds[word] : letter_bounds[word + 1]]
        spoken = phonemes[phoneme_bounds[word] : phoneme_bounds[word + 1]]
        if not _forward(spelling, spoken, probability, n_phonemes, forward, scale):
            continue
        _backward(spelling, spoken, probability, n_phonemes, backward, scale)
        n_letters, n_sounds = len(spelling), len(spoken)
        whole = forward[n_letters, n_sounds]
        aligned += 1
        likelihood += np.log(whole)
        for i in range(1, n_letters + 1):
            likelihood += np.log(scale[i])
            letter = spelling[i - 1]
            for j in range(n_sounds + 1):
                after = backward[i, j]
                if after <= 0.0:
                    continue
                for length in range(min(2, j) + 1):
                    before = forward[i - 1, j - length]
                    if before > 0.0:
                        sound = sound_number(spoken, j, length, n_phonemes)
                        link = before * probability[letter, sound] * after
                        counts[letter, sound] += link / (scale[i] * whole)
    return counts, likelihood, aligned


@njit(cache=True, nogil=True)
def best_links(letters, letter_bounds, phonemes, phoneme_bounds, probability, n_phonemes):
    """The most probable alignment of every word.

    Among alignments that are equally probable, as for the two letters of "tt", the last letters
    sound and the first are silent.  Returns for each letter (the sound it makes, the posterior of
    that link); a word without an alignment has the sound -1 and the posterior 0.
    """
    sounds = np.full(len(letters), -1, dtype=np.int32)
    posterior = np.zeros(len(letters))
    rows = np.max(np.diff(letter_bounds)) + 1
    places = np.max(np.diff(phoneme_bounds)) + 1
    forward = np.zeros((rows, places))
    backward = np.zeros((rows, places))
    scale = np.ones(rows)
    score = np.zeros((rows, places))
    choice = np.zeros((rows, places), dtype=np.int8)
    log_probability = np.log(probability)
    for word in range(len(letter_bounds) - 1):
        begin = letter_bounds[word]
        spelling = letters[begin : letter_bounds[word + 1]]
        spoken = phonemes[phoneme_bounds[word] : phoneme_bounds[word + 1]]
        if not _forward(spelling, spoken, probability, n_phonemes, forward, scale):
            continue
        _backward(spelling, spoken, probability, n_phonemes, backward, scale)
        n_letters, n_sounds = len(spelling), len(spoken)
        score[0, : n_sounds + 1] = -np.inf
        score[0, 0] = 0.0
        for i in range(1, n_letters + 1):
            for j in range(n_sounds + 1):
                best, chosen = -np.inf, 0
                for length in range(min(2, j) + 1):
                    sound = sound_number(spoken, j, length, n_phonemes)
                    value = score[i - 1, j - length] + log_probability[spelling[i - 1], sound]
                    if value > -np.inf and value >= best - _TIE:
                        best, chosen = max(best, value), length
                score[i, j] = best
                choice[i, j] = chosen
        whole = forward[n_letters, n_sounds]
        j = n_sounds
        for i in range(n_letters, 0, -1):
            length = choice[i, j]
            sound = sound_number(spoken, j, length, n_phonemes)
            link = forward[i - 1, j - length] * probability[spelling[i - 1], sound]
            sounds[begin + i - 1] = sound
            posterior[begin + i - 1] = link * backward[i, j] / (scale[i] * whole)
            j -= length
    return sounds, posterior
