"""Search by a sampler of the package Optuna, through its ask and tell.

Optuna keeps its trials in memory here; the journal is ours.  Its samplers are deterministic in
their seed and the values told, so that a search is resumed as with any other strategy.
"""

from __future__ import annotations

import random
import warnings
from typing import Any, Literal

from featloom.errors import InputError
from featloom.options import checked, one_of, whole
from featloom.search.space import SearchSpace
from featloom.search.strategies import RoundByRound
from featloom.search.strategies.changes import draw, is_valid
from featloom.search.strategies.local import Round

_DRAWS = 100  # invalid proposals in a row before one is drawn without the sampler


class OptunaSampler(RoundByRound):
    """Candidates from Optuna's samplers; needs the extra ``search``.

    Proposals that are not valid combinations are reported to the sampler as failed and asked
    for again.

    Parameters
    ----------
    space : the named choices.
    seed : of the sampler.
    trials : how many candidates to ask for, repetitions included.
    sampler : "tpe", a tree of Parzen estimators, or "random".
    """

    @checked(trials=whole(1), sampler=one_of(["tpe", "random"]))
    def __init__(
        self,
        space: SearchSpace,
        seed: int = 0,
        trials: int = 200,
        sampler: Literal["tpe", "random"] = "tpe",
    ):
        super().__init__()
        _optuna()  # said now rather than when the search begins
        self.space, self.seed, self.trials, self.sampler = space, seed, trials, sampler

    @property
    def total(self) -> int:
        return self.trials

    def rounds(self) -> Round:
        optuna = _optuna()
        study = self._study(optuna)
        # Places of values, not values: Optuna takes 1 and True for the same.
        places = {
            name: optuna.distributions.CategoricalDistribution(range(len(values)))
            for name, values in self.space.choices.items()
        }
        random_state = random.Random(self.seed)
        for _ in range(self.trials):
            for _ in range(_DRAWS):
                trial = study.ask(places)
                candidate = {
                    name: self.space.choices[name][place] for name, place in trial.params.items()
                }
                if is_valid(self.space, candidate):
                    (score,) = yield [candidate]
                    study.tell(trial, score)
                    break
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                yield [draw(self.space, random_state)]

    def _study(self, optuna: Any) -> Any:
        samplers = optuna.samplers
        kind = samplers.TPESampler if self.sampler == "tpe" else samplers.RandomSampler
        # Optuna announces every study on the terminal.
        loudness = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                return optuna.create_study(direction="maximize", sampler=kind(seed=self.seed))
        finally:
            optuna.logging.set_verbosity(loudness)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise InputError(
            'this strategy needs the package optuna: pip install "featloom[search]"'
        ) from None
    return optuna
