"""The figures of ``results.json`` set into the documentation.

They are a page of their own, a part of the README, two parts of the page on scale, with two
drawings, and four of the page on faults.  ``python benchmarks/render.py [RESULTS [ROOT]]`` sets the
figures of another file, into the pages of another copy of the project.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from render_door import (
    door_digest,
    door_tables,
    engine_table,
    verdict_table,
    yardstick_table,
)
from render_faults import determinism_table, fault_table, fuzzing_table, long_lines
from render_scale import drawings, plan_part, scale_tables, shown

from featloom.runs import write_beside

ROOT = Path(__file__).parent.parent


def render(results: dict, root: Path = ROOT) -> None:
    """Write the page, the drawings, and the parts of other pages between their marks."""
    figures, docs = results["results"], root / "docs"
    scale = figures.get("scale.py", [])
    drawings(scale, docs / "assets")
    write_beside(docs / "benchmarks.md", page(results))
    fill(root / "README.md", {"figures": readme_figures(figures)})
    # A table or a picture stands apart from the mark before it.
    parts = {"growth": shown(scale), "plan": plan_part(scale)}
    fill(docs / "scale.md", {name: ["", *lines, ""] for name, lines in parts.items()})
    tried = {name: table(figures.get(file, [])) for file, (name, table) in FAULTS.items()}
    fill(docs / "faults.md", {name: ["", *lines, ""] for name, lines in tried.items()})


def fill(path: Path, parts: dict[str, list[str]]) -> None:
    """Write lines between ``<!-- NAME -->`` and ``<!-- /NAME -->`` of a file."""
    text = path.read_text(encoding="utf-8")
    for name, lines in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        inner = "\n".join(["", *lines, ""])
        text = before + begin + inner + end + after
    write_beside(path, text)


def readme_figures(results: dict[str, list[dict]]) -> list[str]:
    """The figures that a newcomer should see."""
    lines = []
    if door := results.get("door.py"):
        lines += [*door_digest(door), ""]
    accuracy = [
        row
        for row in results.get("induction_accuracy.py", ())
        if row["bench"] == "nested CV, ned-gum"
    ]
    if accuracy:
        lines += [
            "Is this gazetteer candidate a location here? "
            f"{accuracy[0]['rows']:,} rows, nested cross-validation by document, every method",
            "with six settings to choose from (our defaults were found on this data, which",
            "flatters them somewhat):",
            "",
            "| method | F1 | 95 % | features |",
            "|---|---:|---|---:|",
        ]
        for row in accuracy:
            low, high = row["interval"]
            size = "–" if row["features"] is None else f"{row['features']:,}"
            lines.append(
                f"| {row['peer']} | {row['value']:.3f} | {low:.3f} to {high:.3f} | {size} |"
            )
        lines.append("")
    files = ("induction.py", "memory.py", "sequence.py", "tree_templates.py", "transfer.py")
    speed = [row for file in files for row in results.get(file, ()) if row["ratio"]]
    if speed:
        lines += [
            "Speed, ours and the peer in one run:",
            "",
            "| what | peer | ratio |",
            "|---|---|---:|",
        ]
        lines += [
            f"| {row['bench']} | {row['peer']} | {row['ratio']:,.1f}× |"
            for row in speed
            if not row["peer"].startswith("our ")
        ]
    return lines


def page(results: dict) -> str:
    """The figures as a page of the documentation."""
    lines = [
        "# Benchmarks",
        "",
        "Measured by `make bench`. Rendered from `benchmarks/results.json`.",
        "",
        f"Machine: {results['machine']}. "
        + ", ".join(f"{name} {number}" for name, number in results["versions"].items())
        + ".",
    ]
    for file, rows in results["results"].items():
        if file in FAULTS:
            continue
        lines += ["", f"## {file.removesuffix('.py').replace('_', ', ')}", ""]
        lines += TABLES.get(file, speed_table)(rows)
    return "\n".join(lines) + "\n"


def speed_table(rows: list[dict]) -> list[str]:
    """Seconds of ours and of the peer, a line a bench."""
    lines = [
        "Each bench in a process of its own, ours and the peer in one run; the fastest of several",
        "runs, wall seconds, user CPU in brackets. A ratio above 1 means that Featloom is faster.",
        "",
        "| what | peer | ours, s | peer, s | ratio | same answer | peak, MB |",
        "|---|---|---:|---:|---:|---|---:|",
    ]
    for row in rows:
        peer = "–" if row["peer_s"] is None else f"{row['peer_s']:.3g} ({row['peer_user_s']:.3g})"
        ratio = "–" if row["ratio"] is None else f"{row['ratio']:,.1f}×"
        cells = [
            row["bench"],
            row["peer"],
            f"{row['ours_s']:.3g} ({row['ours_user_s']:.3g})",
            peer,
            ratio,
            "yes" if row["agree"] else "NO",
            f"{row['peak_mb']:,}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def accuracy_tables(rows: list[dict]) -> list[str]:
    """What each method reaches in nested cross-validation, a table a set of data."""
    lines = [
        "Nested cross-validation: five outer folds, three inner ones, of whole documents or words",
        "where there are any. Every method chooses among six settings inside each outer training",
        "part and answers the test part once. Intervals (95 %) and differences are from a paired",
        "bootstrap over documents, words or rows; `*` marks p < .05, not corrected for the number",
        "of comparisons. Features: the mean over the outer folds. CPU seconds: all folds and",
        "settings; what settings share is counted once. The recommended defaults were found by",
        "trying many settings on these same data sets: their figures are somewhat too kind.",
    ]
    for bench in dict.fromkeys(row["bench"] for row in rows):
        of_bench = [row for row in rows if row["bench"] == bench]
        first = of_bench[0]
        about = (
            f"{first['rows']:,} rows, {first['all_features']:,} features, "
            f"{first['classes']} classes; {first['metric']}"
        )
        lines += [
            "",
            f"### {bench.removeprefix('nested CV, ')}",
            "",
            "; ".join(filter(None, [about, first["note"]])) + ".",
            "",
            f"| method | {first['metric']} | 95 % | features | CPU, s | minus L2 "
            "| recommended minus this | a tenth minus this |",
            "|---|---:|---|---:|---:|---|---|---|",
        ]
        for row in of_bench:
            low, high = row["interval"]
            cells = [
                row["peer"],
                f"{row['value']:.3f}",
                f"{low:.3f} to {high:.3f}",
                "–" if row["features"] is None else f"{row['features']:,}",
                f"{row['seconds']:,.0f}",
                *(gap(row[key]) for key in ("against_l2", "ours_minus_this", "tenth_minus_this")),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def truth_tables(rows: list[dict]) -> list[str]:
    """Where each strategy's answer stands among all settings, a table a set of data."""
    lines = [
        "Every setting of the simultaneous space (weights × modes × k) was evaluated, so the best",
        "one is known. Rank: settings with a better score, and one. Fits: weightings with modes",
        "that were evaluated; one fit gives all k. A strategy that no seed changes was run once.",
    ]
    for bench in dict.fromkeys(row["bench"] for row in rows):
        of_bench = [row for row in rows if row["bench"] == bench]
        first = of_bench[0]
        lines += [
            "",
            f"### {bench}",
            "",
            f"{first['settings']:,} settings judged on {first['rows']:,} validation rows; the best "
            f"scores {first['best']:.4f}.",
            "",
            f"| strategy | seeds | found the best | within {first['limit']} fits | median rank "
            "| worst rank | median fits |",
            "|---|---:|---:|---:|---:|---:|---:|",
        ]
        lines += [
            f"| {row['peer']} | {row['seeds']} | {row['found']} | {row['found_within']} "
            f"| {row['median_rank']:g} | {row['worst_rank']} | {row['median_fits']:g} |"
            for row in of_bench
        ]
    return lines


def gap(test: dict | None) -> str:
    """A difference with its interval, in a cell of a table."""
    if test is None:
        return "–"
    low, high = test["interval"]
    mark = " *" if test["p"] < 0.05 else ""
    return f"{test['difference']:+.3f} ({low:+.3f} to {high:+.3f}){mark}"


def chunk_table(rows: list[dict]) -> list[str]:
    """F1 of taggers with different templates."""
    lines = [
        "CoNLL-2000, test F1 in per cent: mean and deviation of five seeds, and mean weights.",
        "Differences from the 26 templates made by hand: a paired bootstrap over sentences.",
        "",
        "| templates | number | features | F1 | mean weights | minus by hand |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        gain, low, high, _ = row.get("minus by hand (26)", {}).get("seeds", [None] * 4)
        gap = "–" if gain is None else f"{100 * gain:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"
        lines.append(
            f"| {row['peer']} | {row['templates']} | {row['features']:,} "
            f"| {100 * row['value']:.2f} ± {100 * row['deviation']:.2f} "
            f"| {100 * row['averaged']:.2f} | {gap} |"
        )
    return lines


def training_table(rows: list[dict]) -> list[str]:
    """Five seeds beside the peer's optimum, a line a text and a penalty."""
    heads = (
        "text", "c2", "mean", "highest − lowest", "CRFsuite (its c2)", "difference", "passes",
        "user CPU, s", "CRFsuite, s",
    )  # fmt: skip
    lines = [
        "Test score of a CRF with five seeds, in points (F1 of chunks, share of right tags), and",
        "CRFsuite's L-BFGS on the same templates; c2 of both is chosen on validation sentences",
        "from the same grid, and the second line of a text is with a tagger's own c2 = 1. User",
        "CPU of one training; CRFsuite's is without making its feature strings.",
        "",
        f"| {' | '.join(heads)} |",
        "|---" + "|---:" * (len(heads) - 1) + "|",
    ]
    for row in rows:
        gap = row["mean"] - row["peer_test"]
        cells = (
            row["bench"], f"{row['c2']:g}", f"{row['mean']:.2f}", f"{row['spread']:.2f}",
            f"{row['peer_test']:.2f} ({row['peer_c2']:g})", f"{gap:+.2f}", str(row["passes"]),
            f"{row['user_s']:.1f}", f"{row['peer_user_s']:.0f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def tree_tables(rows: list[dict]) -> list[str]:
    """Decision trees with their peers, then the parser."""
    lines = [
        "Trees on edges of UD Bosque, 14 columns; the fastest of several runs, wall seconds, user",
        "CPU in brackets. J48 and scikit-learn ran once. J48: the seconds that it prints for",
        "building the model, from rows in memory as ours, then those of its whole process, whose",
        "user CPU is in brackets. Inner nodes: the questions of the tree; J48's answers are the",
        "same if it has as many and makes as many errors. scikit-learn splits in two and does not",
        "prune, so its tree is another. Peak: of a process that reads the treebank and does this.",
        "",
        "| what | peer | ours, s | peer, s | whole process, s | ratio | same answer | inner nodes "
        "| peer's | peak, MB | peer's |",
        "|---|---|---:|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    trees = [row for row in rows if "internal" in row]
    lines += [f"| {' | '.join(_tree_cells(row))} |" for row in trees]
    lines += [
        "",
        "The parser on UD Bosque; heads alone unless relations are named. Loading and parsing are",
        "the fastest of several runs, training ran once, after compilation; from files, the time",
        "is that of all there is to do.",
        "",
        "| what | peer | s | user CPU, s | ratio | peak, MB | |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        if "internal" in row:
            continue
        cells = [
            row["bench"],
            row["peer"],
            f"{row['ours_s']:.3g}",
            f"{row['ours_user_s']:.3g}",
            "–" if row["ratio"] is None else f"{row['ratio']:,.1f}×",
            f"{row['peak_mb']:,}",
            "; ".join([*_told(row), *([] if row["agree"] else ["NOT the same answer"])]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _tree_cells(row: dict) -> list[str]:
    """A tree and its peer's; a dash where there is nothing to compare."""

    def number(key: str) -> str:
        return "–" if row.get(key) is None else f"{row[key]:,}"

    peer, process = "–", "–"
    if "peer_process_s" in row:
        peer = f"{row['peer_s']:.3g}"
        process = f"{row['peer_process_s']:.3g} ({row['peer_user_s']:.3g})"
    elif row["peer_s"] is not None:
        peer = f"{row['peer_s']:.3g} ({row['peer_user_s']:.3g})"
    same = "–"
    if "peer_errors" in row:
        same = "yes" if row["agree"] else "NO"
    return [
        row["bench"],
        row["peer"],
        f"{row['ours_s']:.3g} ({row['ours_user_s']:.3g})",
        peer,
        process,
        "–" if row["ratio"] is None else f"{row['ratio']:,.1f}×",
        same,
        *map(number, ("internal", "peer_internal", "peak_mb", "peer_peak_mb")),
    ]


def _told(row: dict) -> list[str]:
    """What else a bench of the parser says, in words."""
    words = {
        "edges_a_second": "{:,} edges a second",
        "sentences_a_second": "{:,} sentences a second",
        "fit_s": "{:.3g} s with reading columns, pilot and epoch",
        "templates": "{} templates",
        "grow_and_first_epoch_s": "{:.3g} s until the first epoch ended",
        "uas": "test UAS {:.2%}",
        "uas_valid": "development UAS {:.2%}",
        "uas_test": "test UAS {:.2%}",
        "save_s": "saved in {:.2g} s",
    }
    return [text.format(row[key]) for key, text in words.items() if key in row]


def transfer_tables(rows: list[dict]) -> list[str]:
    """Selection for many targets: milliseconds of one target, and the true features found."""
    lines = [
        "1,000 made-up rows of 10,000 binary features, 200 in a row; a target depends on 5. Time",
        "of one target in milliseconds, wall, user CPU in brackets; the fastest of several runs,",
        "abess and OMP once. Ours is told nothing. A Lasso solver is told the penalty that keeps",
        "as many features as ours, OMP and abess that number. F1: true features among the chosen,",
        "on the targets that the peer got.",
        "",
        "| what | peer | ours, ms | peer, ms | ratio | F1 | peer's | features | peer's |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        if "peer_f1" not in row:
            continue
        cells = [
            f"{row['bench']} ({row['peer_targets']} measured)",
            row["peer"],
            *(
                f"{1000 * row[f'{who}_s']:.3g} ({1000 * row[f'{who}_user_s']:.3g})"
                for who in ("ours", "peer")
            ),
            f"{row['ratio']:,.1f}×",
            *(f"{row[key]:.3f}" for key in ("f1", "peer_f1")),
            *(f"{row[key]:.1f}" for key in ("features", "peer_features")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "All targets at once, and the verbs as tasks: seconds of everything.",
        "",
        "| what | peer | s | user CPU, s | ratio | peak, MB | |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    words = {"f1": "F1 {:.3f}", "accuracy": "accuracy {:.2%}", "targets": "{:,} targets"}
    for row in rows:
        if "peer_f1" in row:
            continue
        said = [text.format(row[key]) for key, text in words.items() if key in row]
        cells = [
            row["bench"],
            row["peer"],
            f"{row['ours_s']:.3g}",
            f"{row['ours_user_s']:.3g}",
            "–" if row["ratio"] is None else f"{row['ratio']:,.1f}×",
            f"{row['peak_mb']:,}",
            "; ".join([*said, *([] if row["agree"] else ["NOT the same answer"])]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


TABLES = {
    "door.py": door_tables,
    "yardsticks.py": yardstick_table,
    "engines.py": engine_table,
    "verdicts.py": verdict_table,
    "scale.py": scale_tables,
    "induction_accuracy.py": accuracy_tables,
    "memory_truth.py": truth_tables,
    "sequence_accuracy.py": chunk_table,
    "training.py": training_table,
    "tree_templates.py": tree_tables,
    "transfer.py": transfer_tables,
}

# What the page on faults shows: the name of the part, and what makes it.
FAULTS = {
    "faults.py": ("faults", fault_table),
    "long_discover.py": ("long", long_lines),
    "determinism.py": ("determinism", determinism_table),
    "fuzz.py": ("fuzzing", fuzzing_table),
}

if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    source = given[0] if given else Path(__file__).parent / "results.json"
    render(json.loads(source.read_text()), *given[1:])
