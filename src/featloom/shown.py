"""Text that comes from data, made safe to show on a page or a terminal.

A name or a value can hold anything: characters that move the cursor or clear the screen, marks
that turn the direction of what follows, the markup of the package that prints tables.  Whatever is
not to be seen is spelled out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

# Marks that turn the direction of what follows; joiners stay, for scripts need them.
DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


def visible(text: str) -> str:
    r"""Text with control characters and direction marks spelled out.

    >>> visible("tab\there, \u202eturned")
    'tab\\there, \\u202eturned'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode()
        if char in DIRECTION_MARKS or unicodedata.category(char) in ("Cc", "Cs")
        else char
        for char in text
    )


def visible_lines(text: str) -> str:
    r"""The same for each line of a text.

    >>> visible_lines("red \x1b[31m\nagain")
    'red \\x1b[31m\nagain'
    """
    return "\n".join(map(visible, text.split("\n")))


def wrapped(text: str, width: int) -> str:
    r"""A line broken between words; a path that is too long stays in one piece, to be copied.

    >>> wrapped("model: /a/long/path/model.featloom is there", 20)
    'model:\n/a/long/path/model.featloom\nis there'
    """
    return fill(text, width, break_long_words=False, break_on_hyphens=False)


def terminal(stderr: bool = False) -> Any:
    """A console of rich that shows text from data as it is, with ``say(text)`` for plain lines."""
    from rich.console import Console
    from rich.segment import Segment

    class Terminal(Console):
        def render(self, renderable, options=None):
            # What the package itself has to tell the terminal comes apart, as control or style.
            for segment in super().render(renderable, options):
                text = segment.text if segment.control else visible_lines(segment.text)
                yield segment if text == segment.text else Segment(text, segment.style)

        def say(self, text: str) -> None:
            # A terminal would break words; where nobody sees it a line stays one.
            line = wrapped(text, self.width) if self.is_terminal else text
            self.print(line, markup=False, highlight=False, soft_wrap=True)

    return Terminal(stderr=stderr)


@dataclass(frozen=True)
class TableColumn:
    """A column of a table in a terminal.

    Parameters
    ----------
    head : its head, of one line or several.
    is_number : whether it stands to the right; default True.
    goes : the column with the largest goes first where there is no room; default 0, never.
    """

    head: str
    is_number: bool = True
    goes: int = 0


LEAST_NAME = 16  # characters of a name before a column goes
MOST_NAME = 48  # a longer word, which no sensible name has, is broken


def table_for(width: int, columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> Any:
    """A table of rich that fits into a width without breaking a word.

    The first column wraps between words; where that is not enough, other columns go, in the order
    that they say.

    >>> columns = [TableColumn("name", False), TableColumn("score"), TableColumn("time", goes=1)]
    >>> rows = [["linear model", ".2981", "0.4 s"]]
    >>> [len(table_for(width, columns, rows).columns) for width in (80, 24)]
    [3, 2]
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = [[visible(text) for text in row] for row in rows]
    texts = [
        [*columns[j].head.split("\n"), *(row[j] for row in shown)] for j in range(len(columns))
    ]
    widths = [max(Text(text).cell_len for text in column) for column in texts]
    words = [Text(word).cell_len for text in texts[0] for word in text.split()]
    least = min(widths[0], max(LEAST_NAME, min(max(words, default=0), MOST_NAME)))
    kept = list(range(len(columns)))

    def needed() -> int:
        return least + sum(widths[j] + 2 for j in kept[1:])

    while needed() > width and (leaving := [j for j in kept if columns[j].goes]):
        kept.remove(max(leaving, key=lambda j: columns[j].goes))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for j in kept:
        table.add_column(
            Text(columns[j].head),
            justify="right" if columns[j].is_number else "left",
            no_wrap=j > 0,
            overflow="fold",
        )
    for row in shown:
        table.add_row(*(Text(row[j]) for j in kept))
    return table


def html_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], n_names: int = 1, more: int = 0
) -> str:
    """A table for a notebook, without script: first columns of names, then columns of numbers.

    >>> table = html_table(["feature", "rows"], [["Prev=in & <b>", "12"]])
    >>> "Prev=in &amp; &lt;b&gt;" in table and "<script" not in table
    True
    """
    head = "".join(f"<th>{escape(visible(title))}</th>" for title in titles)
    lines = []
    for row in rows:
        cells = (
            f'<td style="text-align:{"left" if j < n_names else "right"}">{escape(visible(text))}'
            for j, text in enumerate(row)
        )
        lines.append(f"<tr>{'</td>'.join(cells)}</td></tr>")
    below = f"<p>and {more:,} more</p>" if more > 0 else ""
    return (
        '<div class="featloom-features" style="overflow-x:auto">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{below}</div>"
    )
