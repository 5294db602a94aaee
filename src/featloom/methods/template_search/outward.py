"""The procedure of the paper: templates are added outward, and stay if a cheap model improves.

Atomic templates come first: all columns at the token itself, then at the places next to it, one
side after the other, farther and farther, until neither side helps.  Then combined ones under the
paper's three restrictions: a window of two tokens is moved forward, then backward, then a wider
one, until a whole width brings nothing.  Each addition is judged by the development F1 of the
proxy, which is trained anew: a maximum-entropy model, a MEMM, or the CRF itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from featloom.methods.template_search.candidates import Places, paper_windows
from featloom.methods.template_search.decisions import StepByStep, Steps, Work, plain


class Outward(StepByStep):
    """Forward selection in the order of the paper.

    Parameters
    ----------
    columns : that templates look at; those with many values are ``words``.
    window : the largest offset.
    proxy : "maxent", "memm" or "crf".
    tolerance : what F1 must rise by for an addition to stay.
    most : how many templates there may be at most.
    """

    def __init__(
        self,
        columns: Sequence[str],
        words: set[str],
        *,
        window: int,
        proxy: str,
        tolerance: float,
        most: int | None,
        seed: int,
    ):
        super().__init__()
        self.columns, self.words, self.window = tuple(columns), words, window
        self.proxy, self.tolerance, self.most, self.seed = proxy, tolerance, most, seed
        self._f1 = 0.0

    def steps(self) -> Steps:
        yield from self._try([((name, 0),) for name in self.columns])
        for distance in range(1, self.window + 1):
            helped = False
            for offset in (-distance, distance):
                helped |= yield from self._try([((name, offset),) for name in self.columns])
            if not helped:
                break
        for windows in paper_windows(self.columns, self.words, self.window):
            helped = False
            for places in windows:
                helped |= yield from self._try([places])
            if not helped:
                break

    def _try(self, more: list[Places]):
        """Whether these templates help, together."""
        if self.most is not None and len(self.templates) + len(more) > self.most:
            return False
        with_them = [*self.templates, *more]
        (result,) = yield [self._training(with_them)]
        rise = result["score"] - self._f1
        kept = not self.templates or rise > self.tolerance
        self.decide(
            more, kept=kept, gain=rise, cost=result["features"], f1=result["score"], by=self.proxy
        )
        if kept:
            self.templates, self._f1 = with_them, result["score"]
        return kept

    def _training(self, templates: list[Places]) -> Work:
        return {
            "work": "train",
            "templates": plain(templates),
            "model": self.proxy,
            "seed": self.seed,
        }
