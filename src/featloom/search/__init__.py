"""Searching among named choices: a space, a strategy, a loop and a journal.

A *space* names the choices, a *strategy* says which candidates to try next, the *loop*
evaluates each candidate once in its life, and the *journal* keeps every result on disk, so that
a search can be stopped at any instant and goes on to the same end.  Nothing here knows what a
candidate means: the caller gives an ``evaluate`` callable.

>>> from featloom.search import Exhaustive, SearchSpace, search
>>> space = SearchSpace({"k": [1, 3, 5], "weights": ["none", "gain_ratio"]})
>>> history = search(lambda setting: -abs(setting["k"] - 3), Exhaustive(space))
>>> history.best.candidate, history.best.score, len(history)
({'k': 3, 'weights': 'none'}, 0.0, 6)
"""

from __future__ import annotations

from featloom.search.journal import Evaluation, Journal, Stop, fingerprint, read_journal
from featloom.search.loop import Budget, History, Interrupted, search
from featloom.search.space import SearchSpace, candidate_key
from featloom.search.strategies import RoundByRound, Strategy, score_of
from featloom.search.strategies.all_at_once import AllAtOnce
from featloom.search.strategies.exhaustive import Exhaustive, Listed
from featloom.search.strategies.genetic import Genetic
from featloom.search.strategies.greedy import Greedy
from featloom.search.strategies.guided import Guided
from featloom.search.strategies.local import IteratedLocal
from featloom.search.strategies.optuna_sampler import OptunaSampler

__all__ = [
    "AllAtOnce",
    "Budget",
    "Evaluation",
    "Exhaustive",
    "Genetic",
    "Greedy",
    "Guided",
    "History",
    "Interrupted",
    "IteratedLocal",
    "Journal",
    "Listed",
    "OptunaSampler",
    "RoundByRound",
    "SearchSpace",
    "Stop",
    "Strategy",
    "candidate_key",
    "fingerprint",
    "read_journal",
    "score_of",
    "search",
]
