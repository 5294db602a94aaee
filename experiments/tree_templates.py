"""The experiment of Fernandes and Milidiú's chapter on public data: templates grown on trees.

"Entropy-Guided Feature Generation" reads templates of a dependency parser off a decision tree.
Its Table 3.2 has three rows: templates that people wrote, templates that grew, and these with
chunk and clause as further columns.  Here the rows are repeated on two treebanks of Portuguese,
with the chapter's training and another, with templates as published and as recommended
(:mod:`~experiments.tree_systems`).  Then the same templates are tried where there is no
tree to parse: on tables of rows (:mod:`~experiments.tree_tables`) and for a tagger
(:mod:`~experiments.tree_chunks`).

Whatever is chosen is chosen on development data, for baselines as well; the test part is scored
once.  Every model that was trained is an entry of a journal, so an experiment that was stopped
goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.tree_systems import TREEBANKS
from featloom.errors import InputError
from featloom.runs import Run

PARTS = (*TREEBANKS, "tables", "chunks")
SMALLEST_SAMPLE = 50
_ELSEWHERE = ("systems", "comparisons", "templates", "tree")  # in the result


def reproduce_tree_templates(
    run: Run,
    *,
    only: str | None = None,
    sample: int | None = None,
    seeds: int = 5,
    seed: int = 0,
    jobs: int = 1,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int | None, float | None], object] = lambda *_: None,
) -> dict[str, Any]:
    """Table 3.2 of the chapter beside ours, and templates for tables and taggers.

    Parameters
    ----------
    only : "bosque" or "floresta" (parsing), "tables" (rows) or "chunks" (tagging); None: all.
    sample : training sentences that are drawn, and a quarter as many of the other parts; of
        tables twenty rows for each sentence.
    seeds : how often parsers and taggers are trained: the order of sentences and the forest.
    seed : the first of these seeds, and that of the sample.
    jobs : models trained side by side, each on one thread.
    """
    chosen = _chosen(only)
    if sample is not None and sample < SMALLEST_SAMPLE:
        raise InputError(
            f"a sample of {sample} sentences is too small; take {SMALLEST_SAMPLE} or more"
        )
    if seeds < 1:
        raise InputError(f"seeds is {seeds}; it must be at least 1")
    how = {"seeds": range(seed, seed + seeds), "sample": sample, "jobs": jobs, "say": say}
    found = {name: _part(name)(run, **how, progress=progress) for name in chosen}
    findings = [words for part in found.values() for words in part["findings"]]
    warnings = []
    if sample is not None:
        warnings.append(f"a sample of up to {sample:,} training sentences, not the whole data")
    first = found[chosen[0]]
    return {
        "kind": "tree_templates",
        "data": {
            "source": ", ".join(
                TREEBANKS[name].corpus if name in TREEBANKS else name for name in chosen
            ),
            "rows": sum(_size(part["sizes"]) for part in found.values()),
            "warnings": warnings,
        },
        "parameters": {"parts": chosen, "sample": sample, "seeds": seeds},
        "evaluations": sum(part["evaluations"] for part in found.values()),
        "trees": {
            "kind": {"tables": "table", "chunks": "sequence"}.get(chosen[0], "dependencies"),
            **_told(first),
            "systems": [row for part in found.values() for row in part["systems"]],
            "parts": {
                name: {k: v for k, v in part.items() if k not in _ELSEWHERE}
                for name, part in found.items()
            },
        },
        "comparisons": [test for part in found.values() for test in part["comparisons"]],
        "verdict": " ".join(findings),
    }


def _chosen(only: str | None) -> list[str]:
    if only is None:
        return list(PARTS)
    if only not in PARTS:
        raise InputError(f"no part {only!r}; there are {', '.join(PARTS)}")
    return [only]


def _part(name: str) -> Callable[..., dict[str, Any]]:
    if name == "tables":
        from experiments.tree_tables import learn_tables

        return learn_tables
    if name == "chunks":
        from experiments.tree_chunks import tag_chunks

        return tag_chunks
    from experiments.tree_treebanks import parse_treebank

    return lambda run, **how: parse_treebank(run, name, **how)


def _told(part: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of trees and templates: those of the first part."""
    tree = part.get("tree", {})
    told = {"rows": tree.get("rows"), "positives": tree.get("positives")}
    told |= {"tree": tree.get("shown"), "templates": part.get("templates", [])}
    return {name: value for name, value in told.items() if value is not None}


def _size(sizes: dict[str, Any]) -> int:
    """Sentences or rows of all parts together."""
    return sum(_size(one) if isinstance(one, dict) else one for one in sizes.values())
