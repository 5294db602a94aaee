"""Template search in comparisons of taggers.

A search looks at as many sentences as it is likely to get through in the seconds it is given, and
ends with what it has found when they are over.  One that is given a number of trials alone looks at
all sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featloom.data.columns import default_makers
from featloom.data.sentences import drawn
from featloom.data.table import NominalTable
from featloom.learners.template_sets import (
    SEARCHED,
    TemplateSet,
    fits,
    makers_not_in,
    sentence_lengths,
)
from featloom.method import Contender, Method, Setting, Unsuited
from featloom.methods.template_search.search import TemplateSearch

NAME = "template search"
SEARCHED_WINDOW = 3
IN_NATS = "taken off the loss, in nats a token"
_SEARCHED_A_SECOND = 1_200  # tokens, of a search as a whole
_MANY_LABELS = 50  # from so many on, half of the time goes into pairs of labels
_LEAST_SEARCHED = 200  # sentences, where there are so many


def of_sentences(_: NominalTable) -> list[Contender | Unsuited]:
    """A tagger with templates that were searched for."""
    return [
        Contender(
            NAME, "method",
            "a CRF on templates picked from thousands by what they take off the errors of CRFs",
            fits(searched_set, SEARCHED), SEARCHED, searches=True, cost=20.0,
        )
    ]  # fmt: skip


def searched_set(table: NominalTable, setting: Setting, seed: int, threads: int) -> TemplateSet:
    """What a search finds among all templates of the window, with forms of words and tags."""
    window = max(0, min(SEARCHED_WINDOW, int(sentence_lengths(table).max(initial=0)) - 1))
    how = {"makers": makers_not_in(default_makers(table), table)}
    return found_by_search(table, setting, seed, threads, window, "searched", how)


def n_searched(table: NominalTable, seconds: float | None) -> int:
    """How many sentences a search is likely to get through in some seconds.

    Parameters
    ----------
    table : with labels.
    seconds : that the search is given; None: as many as it takes.
    """
    lengths = sentence_lengths(table)
    if seconds is None:
        return len(lengths)
    # Scoring is a pass over tokens; a CRF also looks at pairs of labels.
    n_labels = max(len(table.classes), 1)
    tokens = seconds * _SEARCHED_A_SECOND / (1.0 + (n_labels / _MANY_LABELS) ** 2)
    by_time = int(tokens / max(float(lengths.mean()), 1.0))
    return min(len(lengths), max(_LEAST_SEARCHED, by_time))


def found_by_search(
    table: NominalTable,
    setting: Setting,
    seed: int,
    threads: int,
    window: int,
    words: str,
    how: Mapping[str, Any],
) -> TemplateSet:
    """What a search keeps, on as many sentences as there is time for."""
    seconds = setting["seconds"]
    some = drawn(table, n_searched(table, seconds), seed)
    # A place beyond the longest sentence is never there.
    window = min(window, max(0, int(sentence_lengths(some).max(initial=0)) - 1))
    search = TemplateSearch(
        window=window, budget=seconds, trials=setting.get("trials"), cutoff=setting["cutoff"],
        n_jobs=threads, random_state=seed, **how,
    ).fit(some)  # fmt: skip
    gains = {
        row["templates"][0]: float(row["gain"])
        for row in search.history_
        if row["kept"] and row["by"] == "screen"
    }
    n = len(sentence_lengths(some))
    return TemplateSet(search.plan_, f"{words} on {n:,} sentences", gains, IN_NATS)


METHOD = Method(
    "templates",
    {
        "sequence": of_sentences,
        "table": [Unsuited(NAME, "rows are not tokens of sentences")],
        "trees": [Unsuited(NAME, "it is for taggers: it judges templates by the errors of CRFs")],
        "tasks": [Unsuited(NAME, "rows are not tokens of sentences")],
    },
)
