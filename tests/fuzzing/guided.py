"""Fuzzing that is guided by coverage: files that reach new places are kept, and damaged further.

Atheris notes which branches of the package a file takes, and libFuzzer chooses what to damage
next.  Kernels are left out, since numba compiles them from their own bytecode.  Files are damaged
as the target has it, and where that is by bytes also in libFuzzer's own ways; a sealed model or
JSON would not survive those.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from executions import Executions
from mutations import damaged
from targets import Target, targets

import featloom.kernels

LARGEST = 2**20  # bytes of a file


def run_guided(
    name: str, results: tuple[bytes, ...], keep: Path, seconds: float, seed: int
) -> None:
    """Fuzz a target until the time is over; this ends the process."""
    import atheris

    corpus = keep / "corpus"
    corpus.mkdir(exist_ok=True)
    # Readers import some of their parts only when they meet a file, so the hook stays.
    with atheris.instrument_imports(include=["featloom"], exclude=_kernels()):
        target = targets(results)[name]
        executions = Executions(target, keep, seconds)
        for k, content in enumerate(target.seeds):
            (corpus / f"seed-{k}").write_bytes(content)
            executions.run(content)

        def execute(content: bytes) -> None:
            if not executions.run(content):
                os._exit(0)

        def mutate(content: bytes, longest: int, seed: int) -> bytes:
            return mutated(target, content, Random(seed), longest, atheris.Mutate)

        options = {"seed": seed + 1, "max_len": LARGEST, "artifact_prefix": f"{keep}{os.sep}"}
        # Time and memory are bounded by the executions themselves, which go on after a crash.
        options |= {"rss_limit_mb": 0, "timeout": 1000, "len_control": 0, "verbosity": 0}
        arguments = [f"-{option}={value}" for option, value in options.items()]
        atheris.Setup([sys.argv[0], *arguments, str(corpus)], execute, custom_mutator=mutate)
        atheris.Fuzz()


def mutated(
    target: Target,
    content: bytes,
    random: Random,
    longest: int,
    by_bytes: Callable[[bytes, int], bytes],
) -> bytes:
    """The file with some damage more; ``by_bytes`` is libFuzzer's way."""
    if target.changed is damaged and random.random() < 0.5:
        return by_bytes(content, longest)
    try:
        found = target.changed(content, random, target.seeds)
    except Exception:  # damaged beyond what can be taken apart; atheris would not survive it
        found = target.mutated(random)
    return found if len(found) <= longest else target.mutated(random)[:longest]


def _kernels() -> list[str]:
    folder = featloom.kernels.__path__
    return [f"featloom.kernels.{module.name}" for module in pkgutil.iter_modules(folder)]
