"""Which templates tell the phrases of a language that marks them by endings?

Makes sentences of a language in which a phrase is adjectives and a noun, and the ending of the
noun says what the phrase does: -ga the subject, -wo the object, -ni the place.  Stems are made up
anew all the time, so words tell little, and an adjective can only be labelled by the ending of a
noun that comes after it.  Somebody who writes templates for words and tags misses that.  The search
tries thousands, over forms of the words as well, and gives a plan that a tagger takes as it is.
"""

from __future__ import annotations

import random

from featloom import SequenceTagger, TemplateSearch
from featloom.evaluation.chunks import chunk_f1, label_codes

ENDINGS = {"subject": "ga", "object": "wo", "place": "ni"}
BY_HAND = """\
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[1,0]
U03:%x[-1,1]/%x[0,1]
U04:%x[0,1]/%x[1,1]
B
"""


def sentences_and_labels(n: int, seed: int) -> tuple[list, list]:
    """Sentences of words with their tags, and the phrase that each word is in."""
    draw = random.Random(seed)

    def stem() -> str:
        return "".join(draw.choice("bdhkmst") + draw.choice("aeiou") for _ in range(2))

    sentences, labels = [], []
    for _ in range(n):
        words, phrases = [], []
        for role in draw.sample(sorted(ENDINGS), k=draw.randint(1, 3)):
            adjectives = draw.randint(0, 2)
            words += [(stem() + "i", "ADJ") for _ in range(adjectives)]
            words += [(stem() + ENDINGS[role], "NOUN")]
            phrases += [f"B-{role}"] + [f"I-{role}"] * adjectives
        sentences.append([*words, (stem() + "ru", "VERB")])
        labels.append([*phrases, "O"])
    return sentences, labels


def main() -> None:
    train, train_labels = sentences_and_labels(400, seed=1)
    test, test_labels = sentences_and_labels(200, seed=2)

    def f1(tagger: SequenceTagger) -> float:
        return chunk_f1(*label_codes(test_labels, tagger.predict(test)))

    by_hand = SequenceTagger(templates=BY_HAND, random_state=0).fit(train, train_labels)
    search = TemplateSearch(max_templates=16, window=2, random_state=0).fit(train, train_labels)
    found = SequenceTagger(plan=search.plan_, random_state=0).fit(train, train_labels)
    print(f"templates by hand     F1 {f1(by_hand):.3f}")
    print(f"templates by search   F1 {f1(found):.3f}")
    print(search.templates_)


if __name__ == "__main__":
    main()
