"""Which columns must be looked at together?  A decision tree knows; a linear model takes it over.

First a table: where does German say "der"?  Before masculine nouns in the nominative, but before
feminine ones in the dative and genitive, and before all plurals in the genitive.  A linear model
that weighs gender, case and number one by one cannot learn that.  A tree asks for one column after
another; each of its paths is a template, and a linear model with a weight for every combination of
values in a template gets it right, and can still be read.

Then trees of sentences: in "sees a glass of milk" the milk belongs to the glass, in "sees a glass
with joy" the joy belongs to the seeing, and only the word before tells which.  The parser's manual
templates do not look at that word.  Named as one more column of an edge, it gets into templates by
itself, for the trees grown on the edges ask for it.
"""

from __future__ import annotations

import random

import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from featloom import TreeTemplates
from featloom.learners.parser import DependencyParser

GENDERS = ("masculine", "feminine", "neuter")
CASES = ("nominative", "accusative", "dative", "genitive")
EDGE_COLUMNS = (
    "head.upos", "mod.upos", "head.upos[+1]", "mod.upos[-1]", "mod.form[-1]", "side", "distance",
)  # fmt: skip


def nouns(n: int, seed: int) -> tuple[pl.DataFrame, list[str]]:
    """Nouns: gender, case, number and place in the sentence; and whether their article is "der"."""
    draw = random.Random(seed)
    rows, answers = [], []
    for _ in range(n):
        gender, case = draw.choice(GENDERS), draw.choice(CASES)
        number, place = draw.choice(("singular", "plural")), draw.choice(("before", "after"))
        rows.append((gender, case, number, place))
        if number == "plural":
            is_der = case == "genitive"
        elif gender == "feminine":
            is_der = case in ("dative", "genitive")
        else:
            is_der = (gender, case) == ("masculine", "nominative")
        answers.append("der" if is_der else "other")
    return pl.DataFrame(rows, ["gender", "case", "number", "place"], orient="row"), answers


def sentences(n: int, seed: int) -> list[list[tuple]]:
    """Sentences such as "the girl sees a glass of milk", with heads and relations."""
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        subject, thing = draw.choices(("girl", "dog", "cup", "glass", "king", "bottle"), k=2)
        verb = draw.choice(("sees", "takes", "wants", "drops"))
        words = [("the", "DET", 2, "det"), (subject, "NOUN", 3, "nsubj"), (verb, "VERB", 0, "root")]
        words += [("a", "DET", 5, "det"), (thing, "NOUN", 3, "obj")]
        if draw.random() < 0.8:
            # The same nouns after either preposition: they give nothing away.
            preposition = draw.choice(("of", "with"))
            head, relation = (5, "nmod") if preposition == "of" else (3, "obl")
            more = draw.choice(("milk", "joy", "gold", "water"))
            words += [(preposition, "ADP", 7, "case"), (more, "NOUN", head, relation)]
        found.append([(form, "_", upos, "_", "_", *tree) for form, upos, *tree in words])
    return found


def articles() -> None:
    rows, answers = nouns(600, seed=1)
    new_rows, new_answers = nouns(300, seed=2)
    alone = make_pipeline(OneHotEncoder(), LogisticRegression())
    together = make_pipeline(TreeTemplates(), LogisticRegression())
    for name, model in (("single columns", alone), ("templates", together)):
        score = model.fit(rows, answers).score(new_rows, new_answers)
        print(f"articles, {name:<14} {score:.3f} right")
    grown = together[0]
    print("\n" + str(grown.tree_))
    print("\ntemplates:", ", ".join(map(str, grown.templates_)), end="\n\n")


def attachment() -> None:
    train, test = sentences(300, seed=1), sentences(100, seed=2)
    manual = DependencyParser(bits=16, random_state=0)
    grown = DependencyParser(
        templates="tree", columns=EDGE_COLUMNS, forest={"n_trees": 10}, bits=16, random_state=0
    )
    for name, parser in (("manual", manual), ("grown", grown)):
        score = parser.fit(train).score(test)
        print(f"heads, {name:<6} {len(parser.templates_):>4} templates {score:.3f} right")
    words = ("the", "king", "wants", "a", "bottle", "of", "joy")
    tags = ("DET", "NOUN", "VERB", "DET", "NOUN", "ADP", "NOUN")
    sentence = [(word, "_", tag, "_", "_") for word, tag in zip(words, tags, strict=True)]
    (tree,) = grown.predict_trees([sentence])
    for word, (head, relation) in zip(words, tree, strict=True):
        print(f"  {word:<7} {relation:<6} {'-' if head == 0 else words[head - 1]}")


if __name__ == "__main__":
    articles()
    attachment()
