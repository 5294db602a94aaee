"""Features as people read them in notebooks: a small table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

from featloom.shown import visible


def features_html(
    features: Iterable[tuple[str, float, int, Sequence[int]]],
    classes: Sequence[str],
    *,
    total: int,
    most: int = 50,
) -> str:
    """Features as a table without script: (name, score, support, counts of the classes) each.

    >>> table = features_html([("Prev=in & <b>", 0.5, 12, (2, 10))], ["no", "yes"], total=1)
    >>> "Prev=in &amp; &lt;b&gt;" in table and "<script" not in table
    True
    """
    titles = ["feature", "score", "rows", *(f"class {name}" for name in classes)]
    head = "".join(f"<th>{escape(visible(title))}</th>" for title in titles)
    rows = []
    for name, score, support, counts in islice(features, most):
        numbers = [f"{score:.4g}", f"{support:,}", *(f"{count:,}" for count in counts)]
        cells = "".join(f'<td style="text-align:right">{text}</td>' for text in numbers)
        name_cell = f'<td style="text-align:left">{escape(visible(name))}</td>'
        rows.append(f"<tr>{name_cell}{cells}</tr>")
    more = f"<p>and {total - most:,} more</p>" if total > most else ""
    return (
        '<div class="featloom-features" style="overflow-x:auto">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}</div>"
    )
