"""Genetic search: a population of candidates, bred for their scores.

A candidate is a string with one gene for each choice.  Parents are picked by tournament: of two
drawn at random the better one.  Two parents may exchange the genes between two cut points; each
gene of a child may then be redrawn; the best string of a generation is copied to the next.  The
defaults are those that Kool, Zavrel and Daelemans gave memory-based learning.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Sequence

from featloom.options import checked, whole
from featloom.search.space import Candidate, SearchSpace
from featloom.search.strategies import RoundByRound
from featloom.search.strategies.changes import another_value, draw, is_valid


class Genetic(RoundByRound):
    """Breed candidates by tournament, two-point crossover and mutation.

    A child that is not a valid combination is repaired: one gene after another, picked at
    random, is redrawn until it is.

    Parameters
    ----------
    space : the named choices.
    seed : of everything that is drawn.
    population : how many strings live at a time.
    crossover : the probability that two parents exchange genes.
    mutation : the probability that a gene becomes another one.
    generations : how many there are at most, after the first.
    patience : generations without a change of the best string after which the search ends.
    start : candidates of the first generation; the others are drawn.

    Examples
    --------
    >>> space = SearchSpace({name: [0, 1] for name in "abcdef"})
    >>> strategy = Genetic(space, seed=1, mutation=0.05)
    >>> while asked := strategy.ask(10):
    ...     for candidate in asked:
    ...         strategy.tell(candidate, sum(candidate.values()))
    >>> strategy.best
    ({'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1, 'f': 1}, 6.0)
    """

    @checked(population=whole(2))
    def __init__(
        self,
        space: SearchSpace,
        seed: int = 0,
        population: int = 20,
        crossover: float = 0.85,
        mutation: float = 0.006,
        generations: int = 100,
        patience: int = 20,
        start: Sequence[Candidate] = (),
    ):
        super().__init__()
        for candidate in start:
            space.check(candidate)
        self.space, self.seed, self.population = space, seed, population
        self.crossover, self.mutation = crossover, mutation
        self.generations, self.patience = generations, patience
        self.start = [dict(candidate) for candidate in start[:population]]

    def rounds(self) -> Generator[Iterable[Candidate], list[float], None]:
        random_state = random.Random(self.seed)
        strings = list(self.start)
        while len(strings) < self.population:
            strings.append(draw(self.space, random_state))
        scores = yield strings
        unchanged = 0
        for _ in range(self.generations):
            best = max(range(self.population), key=scores.__getitem__)
            children: list[Candidate] = []
            while len(children) < self.population - 1:
                one = self._tournament(strings, scores, random_state)
                other = self._tournament(strings, scores, random_state)
                children += [
                    self._repaired(self._mutated(child, random_state), random_state)
                    for child in self._crossed(one, other, random_state)
                ]
            before = scores[best]
            strings = [strings[best], *children[: self.population - 1]]
            scores = yield strings
            unchanged = 0 if max(scores) > before else unchanged + 1
            if unchanged >= self.patience:
                return

    def _tournament(
        self, strings: list[Candidate], scores: list[float], random_state: random.Random
    ) -> Candidate:
        first, second = random_state.sample(range(len(strings)), 2)
        return strings[first if scores[first] >= scores[second] else second]

    def _crossed(
        self, one: Candidate, other: Candidate, random_state: random.Random
    ) -> tuple[Candidate, Candidate]:
        names = list(self.space.choices)
        if random_state.random() >= self.crossover:
            return dict(one), dict(other)
        begin, end = sorted(random_state.sample(range(len(names) + 1), 2)) if names else (0, 0)
        exchanged = names[begin:end]
        return (
            {**one, **{name: other[name] for name in exchanged}},
            {**other, **{name: one[name] for name in exchanged}},
        )

    def _mutated(self, child: Candidate, random_state: random.Random) -> Candidate:
        return {
            name: another_value(self.space, name, gene, random_state)
            if random_state.random() < self.mutation
            else gene
            for name, gene in child.items()
        }

    def _repaired(self, child: Candidate, random_state: random.Random) -> Candidate:
        names = list(child)
        for _ in range(100 * len(names)):
            if is_valid(self.space, child):
                return child
            name = random_state.choice(names)
            child = {**child, name: random_state.choice(self.space.choices[name])}
        return draw(self.space, random_state)
