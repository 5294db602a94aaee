"""Text that comes from data, made safe to show on a page or a terminal.

A name or a value can hold anything: characters that move the cursor or clear the screen, marks
that turn the direction of what follows, the markup of the package that prints tables.  Whatever is
not to be seen is spelled out.
"""

from __future__ import annotations

import unicodedata
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
            self.print(text, markup=False, highlight=False, soft_wrap=True)

    return Terminal(stderr=stderr)
