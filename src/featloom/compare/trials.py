"""One trial of a contender: some of its settings, fitted on some units and judged on others.

What a trial costs is told in seconds of CPU time, compilation taken off, so that plans are the same
on a machine that is busy and on its first day.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

from featloom.compare.questions import Question
from featloom.errors import InputError
from featloom.evaluation.protocol import TEST, Protocol
from featloom.kernels.compiling import compile_time
from featloom.method import Contender

_WARM_UP = 60


@dataclass
class Trials:
    """Answers "how good is this contender with these settings, learned from these units?".

    A candidate names the ``method``, the ``fold`` (or "test"), how many ``units`` it learns from
    (None: all), its ``settings`` and the ``limit`` in seconds that they may take.
    """

    question: Question
    protocol: Protocol
    contenders: Mapping[str, Contender]
    _warm: set[str] = field(default_factory=set)

    def __call__(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        with warnings.catch_warnings():
            # A draw may have a class a row, a solver may stop at its last step: the score tells.
            warnings.simplefilter("ignore")
            return self._trial(candidate)

    def limit(self, candidate: Mapping[str, Any]) -> float | None:
        """Seconds that a trial may take."""
        return candidate.get("limit")

    def past_limit(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        """What is made of a trial that took longer."""
        limit = float(candidate["limit"])
        said = f"it took longer than the {limit:g} s that it was given"
        return _fault(said, limit, limit) | {"over": True}

    def died(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        """What is made of a trial with which its process died, and again when it was alone."""
        limit = float(candidate.get("limit") or 0.0)
        return _fault("it ended its process twice, as too little memory does", limit, limit)

    def _trial(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        contender = self.contenders[candidate["method"]]
        learned, judged = self.protocol.parts(candidate["fold"], candidate["units"])
        begun, used = perf_counter(), process_time()
        outcomes: list[dict[str, Any]] = []
        try:
            with compile_time() as before:
                self._warm_up(contender, learned)
            warm, warm_since = process_time(), perf_counter()
            with compile_time() as compiled:
                for outcome in self._outcomes(contender, candidate, learned, judged):
                    outcomes.append(outcome)
        except Exception as error:
            # What ends a trial from outside within the call of a kernel is the cause of another.
            cause = error.__cause__
            if cause is not None and not isinstance(cause, Exception):
                raise cause from None
            # A method that cannot do with such data says so, or fails; the others go on.
            said = str(error) if isinstance(error, InputError) else ""
            fault = said or f"it failed: {type(error).__name__}: {error}"
            return _fault(fault.splitlines()[0], process_time() - used, perf_counter() - begun)
        return {
            "score": max(one["score"] for one in outcomes),
            "outcomes": outcomes,
            "learned": len(learned),
            "judged": len(judged),
            "cpu_s": max(0.0, process_time() - warm - compiled.cpu),
            "wall_s": perf_counter() - begun,
            "work_s": max(0.0, perf_counter() - warm_since - compiled.seconds),
            "compiled_s": before.seconds + compiled.seconds,
        }

    def _outcomes(self, contender: Contender, candidate: Mapping[str, Any], learned, judged):
        question, seed = self.question, self.protocol.seed
        known, asked_for = (question.take_for(contender, part) for part in (learned, judged))
        keep = candidate["fold"] == TEST
        calibration = candidate.get("calibration")
        begun = process_time()
        for setting, fitted in zip(
            candidate["settings"],
            contender.fit_each(known, candidate["settings"], seed, 1),
            strict=True,
        ):
            fit_s = process_time() - begun
            if calibration is not None:
                fitted = question.calibrated(fitted, calibration)
            asked = process_time()
            found = question.judge(judged, asked_for, fitted, keep)
            outcome = {
                "setting": setting,
                "score": found.score,
                "details": found.details,
                "rows": found.rows,
                "fit_s": fit_s,
                "predict_s": process_time() - asked,
                "size": int(fitted.size),
                "size_words": fitted.size_words,
                "words": fitted.setting,
            }
            if (again := getattr(fitted, "found", None)) is not None:
                outcome["found"] = again
            yield outcome
            begun = process_time()

    def _warm_up(self, contender: Contender, learned) -> None:
        """The first fit in a process loads kernels, or compiles them; it is not to be timed."""
        if contender.name in self._warm or not contender.compiles or contender.searches:
            return
        self._warm.add(contender.name)
        warm_up(contender, self.question, learned[:_WARM_UP], self.protocol.seed)


def warm_up(contender: Contender, question: Question, units, seed: int) -> None:
    """Fit a few units with the default setting and judge them, whatever comes of it."""
    # So few units may have one class; what is at fault with all of them, the trial finds.
    with suppress(Exception):
        few = question.take_for(contender, units)
        question.judge(units, few, contender.fit(few, contender.default, seed, 1))


def _fault(words: str, cpu: float, wall: float) -> dict[str, Any]:
    return {"score": float("-inf"), "fault": words, "cpu_s": cpu, "wall_s": wall}
