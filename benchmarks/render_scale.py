"""The results of ``scale.py`` as tables, as two drawings, and as the plan for ten billion rows.

The drawings are SVG files in ``docs/assets`` that load nothing: seconds and peak memory against
work, both axes logarithmic, a line a method.  Methods of one kind share a colour and differ in mark
and dash, so that the lines can be told apart without seeing colours.
"""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

from plan import Plan, Rates, rates

INK, MUTED, HAIRLINE, PAGE = "#1d2226", "#5d666d", "#dfe1dc", "#fdfdfb"
PADDING = {"left": 12, "top": 12, "bottom": 12, "right": 60}  # a browser's letters may be wider
# By the first word of a method: the colours of the reports.
COLOURS = {
    "counting": "#0d6674",
    "induction": "#b4541a",
    "pairs": "#b4541a",
    "tree": "#6c4aa5",
    "memory": "#4d7a1e",
    "CRF": "#b0274f",
}
MARKS = ("circle", "square", "triangle-up")
DASHES = ((1, 0), (6, 3), (2, 3))
DRAWINGS = {
    "growth-time": ("ours_s", "seconds (wall)", "Seconds against work"),
    "growth-memory": ("peak_mb", "peak memory, MB", "Peak memory against work"),
}
NOT_YET = "*Not measured yet: `python benchmarks/run.py --only scale.py`.*"


def scale_tables(rows: list[dict]) -> list[str]:
    """How cost grows with work; then blocks, Parquet, workers and the journal."""
    return [
        *_growth_table(rows),
        *_disk_tables(rows),
        *_workers_table(rows),
        *_journal_line(rows),
    ]


def of_kind(rows: list[dict], kind: str) -> list[dict]:
    return [row for row in rows if row.get("kind") == kind]


def drawings(rows: list[dict], folder: Path) -> None:
    """Write the two drawings, where growth was measured."""
    growth = of_kind(rows, "growth")
    if not growth:
        return
    import vl_convert

    for name, (field, axis, _) in DRAWINGS.items():
        svg = vl_convert.vegalite_to_svg(_chart(growth, field, axis).to_dict())
        (folder / f"{name}.svg").write_text(svg + "\n", encoding="utf-8")


def shown(rows: list[dict]) -> list[str]:
    """The drawings as a page shows them."""
    if not of_kind(rows, "growth"):
        return [NOT_YET]
    lines = []
    for name, (_, _, title) in DRAWINGS.items():
        lines += [f"![{title}, a line a method](assets/{name}.svg)", ""]
    return lines[:-1]


def plan_part(rows: list[dict]) -> list[str]:
    """The measured rates, and what follows from them for ten billion rows."""
    measured, plan = rates(rows), Plan()
    if measured is None:
        return [NOT_YET]
    return [*_rates_table(rows, measured), "", *_steps_table(plan, measured)]


def _growth_table(rows: list[dict]) -> list[str]:
    growth = of_kind(rows, "growth")
    if not growth:
        return []
    lines = [
        "Rows ×1, ×10 and ×100, each in a process of its own, on one core: the fastest of",
        "several runs. Work is counted in the data; a row of k features has k(k − 1)/2 pair",
        "increments. The exponents are those of seconds ~ work^e, wall and user CPU: 1 where cost",
        "grows as the work does. Memory before: the program and the data.",
        "",
        *shown(rows),
        "",
        "| what | rows | work | counted in | s | user CPU, s | peak, MB | before, MB | e "
        "| e, user |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    seen: set[str] = set()
    for row in growth:
        first = row["what"] not in seen
        seen.add(row["what"])
        cells = [
            row["what"] if first else "",
            f"{row['rows']:,}",
            f"{row['work']:,}",
            row["unit"] if first else "",
            f"{row['ours_s']:.3g}",
            f"{row['ours_user_s']:.3g}",
            f"{row['peak_mb']:,}",
            f"{row['before_mb']:,}",
            f"{row['exponent']:.2f}" if first else "",
            f"{row['exponent_user']:.2f}" if first else "",
        ]
        lines.append(_cells(cells))
    return [*lines, ""]


def _disk_tables(rows: list[dict]) -> list[str]:
    lines = []
    for row in of_kind(rows, "blocks"):
        lines += [
            f"### {row['bench']}",
            "",
            "Files in the page cache, one core; the same rows counted in memory, in turn with it.",
            "The first pass gathers the blocks and counts the classes.",
            "",
            "| | s | user CPU, s | rows a second | peak, MB |",
            "|---|---:|---:|---:|---:|",
            _cells(
                [
                    "first pass over the files",
                    f"{row['first_pass_s']:.3g}",
                    f"{row['first_pass_user_s']:.3g}",
                    "",
                    "",
                ]
            ),
            _cells(["counted from disk", *_spent(row, "ours", ""), f"{row['peak_mb']:,}"]),
            _cells(
                ["counted in memory", *_spent(row, "peer", "peer_"), f"{row['peer_peak_mb']:,}"]
            ),
            "",
            f"From disk at {row['peer_s'] / row['ours_s']:.2f} of the rate in memory; "
            + ("the same counts." if row["agree"] else "NOT the same counts."),
            "",
        ]
    parquet = of_kind(rows, "parquet")
    if parquet:
        lines += [
            "### Parquet",
            "",
            f"Columns of text, two classes, {parquet[0]['bytes_a_row']:g} bytes a row in the",
            'files, `memory="2GB"`, one core.',
            "",
            "| what | rows | columns | blocks | passes | s | user CPU, s | rows a second "
            "| peak, MB |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        lines += [
            _cells(
                [
                    row["what"],
                    *(f"{row[key]:,}" for key in ("rows", "columns", "blocks")),
                    f"{row['passes']:g}",
                    *_spent(row, "ours", ""),
                    f"{row['peak_mb']:,}",
                ]
            )
            for row in parquet
        ]
        lines.append("")
    return lines


def _spent(row: dict, who: str, rate: str) -> list[str]:
    return [
        f"{row[f'{who}_s']:.3g}",
        f"{row[f'{who}_user_s']:.3g}",
        f"{row[f'{rate}rows_a_second']:,}",
    ]


def _workers_table(rows: list[dict]) -> list[str]:
    workers = of_kind(rows, "workers")
    if not workers:
        return []
    lines = [
        "### Workers",
        "",
        "Wall seconds without a cluster, on a local Dask cluster of one worker, and of two: the",
        "faster of two runs, when the workers have compiled and hold what they need.",
        "",
        "| what | no cluster | one worker | two workers | two against one | two against none "
        "| same answer |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for row in workers:
        lines.append(
            _cells(
                [
                    row["what"],
                    *(f"{row[key]:.3g}" for key in ("none_s", "peer_s", "ours_s")),
                    f"{row['peer_s'] / row['ours_s']:.2f}×",
                    f"{row['none_s'] / row['ours_s']:.2f}×",
                    "yes" if row["agree"] else "NO",
                ]
            )
        )
    return [*lines, ""]


def _journal_line(rows: list[dict]) -> list[str]:
    return [
        f"Journal: {row['bench']}, {row['ours_s']:.2f} s; without, {row['peer_s']:.2f} s. Opening, "
        f"writing and closing it take {100 * row['overhead']:.2f} % of the time."
        for row in of_kind(rows, "journal")
    ]


def _rates_table(rows: list[dict], measured: Rates) -> list[str]:
    blocks = of_kind(rows, "blocks")[0]
    rate_of = {
        "first": f"{_short(measured.first_cells)} cells",
        "reading": f"{_short(measured.counted_cells)} cells",
        "induction": f"{_short(measured.pair_increments)} pair increments, beside the passes",
        "tree": f"{_short(measured.tree_cells)} cells of a pass",
    }
    lines = ["| work | measured | a core and second |", "|---|---|---:|"]
    for row in of_kind(rows, "parquet"):
        passes = f", {row['passes']:g} passes" if row["passes"] > 1 else ""
        size = f"{_short(row['rows'])} rows × {row['columns']} columns{passes}"
        said = f"{size} in {row['ours_user_s']:.2g} s"
        lines.append(_cells([row["what"], said, rate_of[row["what"].split()[0]]]))
    said = f"{_short(blocks['rows'])} rows in {blocks['ours_user_s']:.2g} s"
    name = "counting sparse blocks of a million features, 30 a row"
    lines.append(_cells([name, said, f"{_short(measured.sparse_rows)} rows"]))
    return lines


def _steps_table(plan: Plan, measured: Rates) -> list[str]:
    setting = (
        f"Take {_short(plan.rows)} rows of {plan.columns} columns with {_short(plan.values)} "
        f"values and {plan.classes} classes, {plan.row_bytes} bytes a row in Parquet "
        f"({_bytes(plan.rows * plan.row_bytes)}), and {plan.workers} workers of one core and "
        f"`--memory {plan.memory / 1e9:g}GB`."
    )
    lines = [
        *textwrap.wrap(setting, 99),
        "",
        "| step | passes | time | a sum | moved between workers, at most |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        _cells(
            [
                step.name,
                str(step.passes),
                _minutes(step.seconds),
                _bytes(step.sum_bytes),
                _bytes(step.moved),
            ]
        )
        for step in plan.steps(measured)
    ]
    parts = plan.memory_of_worker()
    together = sum(parts.values())
    rate = plan.storage_rate(measured)
    told = (
        f"The rows are {plan.rows / plan.rows_of_block:,.0f} blocks in {plan.runs} runs, and "
        f"{plan.sums_handed_over} sums are handed over in a pass. Storage has to give "
        f"{_bytes(rate)} a second to each worker, {_bytes(rate * plan.workers)} to all. A worker "
        "holds at most "
        + ", ".join(f"{name} ({_bytes(size)})" for name, size in parts.items())
        + f". Together that is {_bytes(together)} if all are at their largest at once, so there "
        f"should be {math.ceil(together / 1e9)} GB for each."
    )
    return [*lines, "", *textwrap.wrap(told, 99)]


def _cells(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _minutes(seconds: float) -> str:
    """Time as a plan gives it.

    >>> _minutes(45), _minutes(150), _minutes(9000)
    ('45 s', '2.5 min', '2.5 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.2g} min" if seconds < 5940 else f"{seconds / 3600:.2g} h"


def _short(number: float) -> str:
    """Two figures of a number.

    >>> _short(14_300_000), _short(10**10), _short(950_000)
    ('14 million', '10 billion', '950,000')
    """
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if number >= size:
            return f"{float(f'{number / size:.2g}'):g} {name}"
    return f"{float(f'{number:.2g}'):,.0f}"


def _bytes(number: float) -> str:
    """Two figures of a size.

    >>> _bytes(277_440_000), _bytes(5.456e9)
    ('280 MB', '5.5 GB')
    """
    size, name = (1e9, "GB") if number >= 9.95e8 else (1e6, "MB")
    return f"{float(f'{number / size:.2g}'):g} {name}"


def _chart(growth: list[dict], field: str, axis: str):
    import altair as alt

    names = list(dict.fromkeys(row["what"] for row in growth))
    kinds = [name.replace(",", " ").split()[0] for name in names]
    colours = [COLOURS.get(kind, MUTED) for kind in kinds]
    place = [colours[:number].count(colour) for number, colour in enumerate(colours)]
    exponent_of = {row["what"]: row["exponent"] for row in growth}
    timed = field == "ours_s"
    label = {n: f"{n}: e = {exponent_of[n]:.2f}" if timed else n for n in names}
    order = sorted(names, key=lambda n: -max(r[field] for r in growth if r["what"] == n))
    looks = {n: (c, p) for n, c, p in zip(names, colours, place, strict=True)}
    domain = [label[name] for name in order]
    values = [
        {
            "method": label[row["what"]],
            "dash": looks[row["what"]][1] % len(DASHES),
            "work": row["work"],
            "cost": row[field],
        }
        for row in growth
    ]
    colour = alt.Color(
        "method:N",
        title=None,
        scale=alt.Scale(domain=domain, range=[looks[name][0] for name in order]),
    )
    shape = alt.Shape(
        "method:N",
        title=None,
        scale=alt.Scale(domain=domain, range=[MARKS[looks[n][1] % len(MARKS)] for n in order]),
    )
    # A field of its own: in the legend, the outlines of the marks would be dashed, too.
    dash = alt.StrokeDash(
        "dash:O",
        legend=None,
        scale=alt.Scale(domain=list(range(len(DASHES))), range=[list(one) for one in DASHES]),
    )
    x = alt.X(
        "work:Q",
        title="work: non-zeros, cells, pair increments, tokens × templates",
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(format="~s", values=[10**power for power in range(3, 12)]),
    )
    y = alt.Y(
        "cost:Q",
        title=axis,
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(
            format="~r" if timed else ",d",
            values=[factor * 10.0**power for power in range(-4, 6) for factor in (1, 3)],
        ),
    )
    base = alt.Chart(alt.Data(values=values)).encode(x=x, y=y, color=colour)
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dash)
    points = base.mark_point(size=60, filled=True, opacity=1).encode(shape=shape)
    return (
        alt.layer(lines, points)
        .properties(width=400, height=340, background=PAGE, padding=PADDING)
        .configure(
            font="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
            view={"stroke": None},
            axis={
                "labelColor": MUTED,
                "titleColor": MUTED,
                "titleFontWeight": "normal",
                "labelFontSize": 11,
                "titleFontSize": 12,
                "domainColor": HAIRLINE,
                "tickColor": HAIRLINE,
                "gridColor": HAIRLINE,
            },
            legend={
                "labelColor": INK,
                "labelFontSize": 12,
                "labelLimit": 260,
                "symbolSize": 80,
                "rowPadding": 6,
                "symbolStrokeWidth": 2,
            },
        )
    )
