"""A plain twin of templates: the feature that CRF++ makes of one at a token."""

from __future__ import annotations


def expand_line(line, sentence, i):
    """Cells before the sentence read ``_B-1``, ``_B-2``, …, those after it ``_B+1``, …, counted
    from its edge.  CRF++ itself refuses rows far off (beyond 4 or 8, by its version), which are
    expanded here all the same, and uses B lines from the second token on.
    """

    def cell(row, col):
        at = i + row
        if at < 0:
            return f"_B{at}"
        return sentence[at][col] if at < len(sentence) else f"_B+{at - len(sentence) + 1}"

    return line.name + "".join(p if isinstance(p, str) else cell(*p) for p in line.parts)
