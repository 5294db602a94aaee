"""Which neighbours decide how a consonant sounds, and which stored words say so?

Makes words of a language in which consonants are soft before front vowels.  A memory-based learner
stores every consonant with the letters around it.  Taken as mere symbols, a front vowel that was
not met after a consonant tells nothing; compared by the value difference metric, it is like the
other front vowels.  A search finds which letters to look at and how, and each answer can be
traced to the stored cases it came from.
"""

from __future__ import annotations

import random

from featloom import MemoryClassifier, MemorySearch

COLUMNS = ("before2", "before1", "letter", "after1", "after2")
CONSONANTS, FRONT, BACK = "cdgklnrst", "eiyéèê", "aouáóû"


def letters_and_sounds(n_words: int) -> tuple[list[list[str]], list[str]]:
    """The consonants of some words, with two letters on both sides, and their sounds."""
    draw = random.Random(1)
    rows, sounds = [], []
    for _ in range(n_words):
        word = "".join(draw.choice(CONSONANTS) + draw.choice(FRONT + BACK) for _ in range(3))
        padded = f"__{word}__"
        for place in range(0, len(word), 2):
            rows.append(list(padded[place : place + 5]))
            sounds.append(f"soft {word[place]}" if word[place + 1] in FRONT else word[place])
    return rows, sounds


def main() -> None:
    rows, sounds = letters_and_sounds(n_words=400)
    train, rest = slice(0, 300), slice(300, None)

    plain = MemoryClassifier().fit(rows[train], sounds[train])
    search = MemorySearch(cv=4, trials=60, random_state=0).fit(rows[train], sounds[train])
    setting = search.best_setting_
    print(f"all letters as symbols  {plain.score(rows[rest], sounds[rest]):.3f}")
    print(f"as the search has them  {search.score(rows[rest], sounds[rest]):.3f}")
    print(f"k = {setting['k']}, weights: {setting['weights']}, {len(search.history_)} evaluations")
    for column, mode in zip(COLUMNS, setting["modes"].values(), strict=True):
        print(f"  {column:8} {mode}")

    explained = search.best_estimator_.explain([list("nádêr")], most=3)[0]
    print(f"the d of nádêr sounds like {explained.answer}, because of")
    for neighbour in explained.neighbours:
        print(f"  {''.join(neighbour.values)}  at {neighbour.distance:.3f}: {neighbour.classes}")


if __name__ == "__main__":
    main()
