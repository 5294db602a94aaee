"""What the page says of templates grown from trees: a tree, the templates, and what they are worth.

A decision tree asks for one column after another; each path from its root to a question is a
template, the columns without their values (Fernandes and Milidiú's entropy-guided feature
generation).  The page shows the upper part of one tree as lines that open and close, the templates
ranked by the information they bring, the systems that were built with them, and some sentences
with the right heads and the predicted ones.

Shares of right answers are printed in per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from featloom.report.arcs import sentence_drawing
from featloom.report.cells import (
    cell,
    column,
    decimals,
    number_cell,
    per_cent_cell,
    per_cent_interval_cell,
    points_cell,
    row,
    share_cell,
    text_cell,
    without_empty_columns,
)
from featloom.report.tree_types import (
    ParsedSentence,
    ShownTree,
    TreeNode,
    TreesPart,
    TreeSystem,
    TreeTemplate,
)
from featloom.shown import visible
from featloom.words import MISSING, counted, listed, number, seconds, shortened

# A result may hold any tree; the page stays one that can be read and printed.
MOST_BRANCHES, MOST_LEVELS, MOST_NODES = 12, 8, 2_000
OPEN_LEVELS = 2
LONGEST_NAME = 60
MOST_TEMPLATES = 500
MOST_SENTENCES = 12
_ROWS = {"sequence": "tokens", "dependencies": "candidate edges"}


def summarize_trees(part: TreesPart | None) -> dict[str, Any] | None:
    """What the page places; None where there is nothing to show."""
    if part is None:
        return None
    sentences = [s for s in part.sentences if s.words or s.gold or s.predicted]
    summary: dict[str, Any] = {
        "facts": _facts(part),
        "settings": [(_words(name), _plain(value)) for name, value in part.settings.items()],
        "tree": tree_lines(part.tree) if part.tree else None,
        "tree_note": _tree_note(part.tree, part.kind) if part.tree else "",
        "templates": template_table(part.templates),
        "templates_note": _templates_note(part.templates),
        "systems": system_table(part.systems),
        "systems_note": _systems_note(part.systems, part.protocol),
        "sentences": [sentence_drawing(s, j) for j, s in enumerate(sentences[:MOST_SENTENCES])],
        "sentences_note": _sentences_note(sentences),
    }
    headings = {
        "tree": ("trees-tree", "Tree"),
        "templates": ("trees-templates", "Templates"),
        "systems": ("trees-systems", "Systems"),
        "sentences": ("trees-sentences", "Sentences"),
    }
    contents = [place for key, place in headings.items() if summary[key]]
    shown = contents or summary["facts"] or summary["settings"]
    return summary | {"contents": contents} if shown else None


def tree_lines(tree: ShownTree) -> dict[str, Any] | None:
    """The root and, nested in it, what its branches lead to; None without nodes.

    The branches of a node stand by their rows, the largest first.  Nodes that no path from the
    root leads to are left out.
    """
    below: dict[int, list[TreeNode]] = {}
    for node in tree.nodes:
        below.setdefault(node.parent, []).append(node)
    roots = below.get(-1) or tree.nodes[:1]
    if not roots:
        return None
    met = {roots[0].id}
    return _line(roots[0], below, met, 0)


def template_table(templates: Sequence[TreeTemplate]) -> dict[str, Any] | None:
    """The templates by rank, with what each brings and what it costs to do without it."""
    if not templates:
        return None
    gains = decimals([one.gain for one in templates])
    words = {True: "yes", False: "no", None: None}
    columns = [column("rank", number=True), column("template"), column("length", number=True)]
    columns += [column("gain, bits", number=True, note="information gain, summed over rows")]
    columns += [column("coverage", number=True, note="share of the rows that reach it")]
    columns += [column("in trees", number=True), column("back-off", note="a path without its root")]
    columns += [column("cost of dropping", number=True, note="points of the metric, held-out data")]
    rows = [
        row(
            number_cell(rank),
            _template_cell(one.name),
            number_cell(one.length),
            number_cell(one.gain, gains),
            share_cell(one.coverage),
            number_cell(one.trees),
            text_cell(words[one.backoff]),
            points_cell(one.drop, signed=False),
        )
        for rank, one in enumerate(ranked(templates)[:MOST_TEMPLATES], start=1)
    ]
    return without_empty_columns(columns, rows)


def ranked(templates: Sequence[TreeTemplate]) -> list[TreeTemplate]:
    """The templates by gain, the largest first; those without a gain stay in order at the end.

    >>> [one.name for one in ranked([TreeTemplate("a"), TreeTemplate("b", gain=2.0)])]
    ['b', 'a']
    """
    return sorted(templates, key=lambda one: -one.gain if one.gain is not None else 1e300)


def system_table(systems: Sequence[TreeSystem]) -> dict[str, Any] | None:
    """The systems in their order, each with its value in per cent and what it took."""
    if not systems:
        return None
    several = len({one.data for one in systems}) > 1
    alike = len({one.metric for one in systems}) == 1
    value = f"{(systems[0].metric if alike else '') or 'value'} %"
    columns = [column("system"), column("data"), column("metric")]
    columns += [column(value, number=True, of_data=True), column("interval", number=True)]
    columns += [column("published %", number=True), column("seeds", number=True)]
    columns += [column("sd", number=True, note="over seeds, in points")]
    columns += [column("templates", number=True), column("features", number=True)]
    columns += [column("seconds", number=True)]
    rows = [
        row(
            text_cell(one.name or "not named"),
            text_cell(one.data or None if several else None),
            text_cell(None if alike else one.metric or None),
            per_cent_cell(one.value),
            per_cent_interval_cell(one.interval),
            number_cell(one.published, 2),
            number_cell(one.seeds),
            per_cent_cell(one.sd),
            number_cell(one.templates),
            number_cell(one.features),
            number_cell(one.seconds, 1),
        )
        for one in systems
    ]
    return without_empty_columns(columns, rows)


def _line(
    node: TreeNode, below: dict[int, list[TreeNode]], met: set[int], level: int
) -> dict[str, Any]:
    """A node as the page prints it.  ``met`` keeps a tree that bites its tail from going round."""
    known = [child for child in below.get(node.id, []) if child.id != node.id]
    known.sort(key=lambda child: -(child.rows or 0))
    children = []
    if level < MOST_LEVELS:
        for child in known[:MOST_BRANCHES]:
            if child.id not in met and len(met) < MOST_NODES:
                met.add(child.id)
                children.append(child)
    share = None
    if node.rows and node.errors is not None:
        share = min(max(1 - node.errors / node.rows, 0.0), 1.0)
    return {
        "value": _said(node.value) or {"text": MISSING if level else "all rows", "whole": ""},
        "asked": _said(node.column),
        "answer": _said(node.answer),
        "rows": None if node.rows is None else number(node.rows),
        "share": None if share is None else f"{share:.1%}",
        "bar": None if share is None else round(100 * share, 2),
        "gain": number(node.gain, 4) if node.column is not None and node.gain is not None else None,
        "open": level < OPEN_LEVELS,
        "children": [_line(child, below, met, level + 1) for child in children],
        "more": _more(node, children, len(known)),
    }


def _more(node: TreeNode, shown: Sequence[TreeNode], known: int) -> str:
    """Words for the branches that are not shown, and the rows that take them."""
    if node.column is None and not known:
        return ""
    missing = max(node.branches or 0, known) - len(shown)
    rows = (node.rows or 0) - sum(child.rows or 0 for child in shown)
    if missing <= 0 and (node.branches is not None or (shown and rows <= 0)):
        return ""
    others = "more " if shown else ""
    if missing <= 0:
        said = f"{others}branches"
    else:
        said = counted(missing, f"{others}branch", f"{others}branches")
    with_rows = f" with {counted(rows, 'row')}" if rows > 0 else ""
    return f"{said}{with_rows}, not shown"


def _said(text: str | None) -> dict[str, str] | None:
    """A name short enough that what follows it is seen; ``whole`` has all of it if it was cut."""
    if text is None:
        return None
    shown = visible(text) or "(empty)"
    cut = len(shown) > LONGEST_NAME
    return {
        "text": shortened(shown, LONGEST_NAME),
        "whole": shown if cut else "",
    }


def _facts(part: TreesPart) -> list[tuple[str, str]]:
    facts = [(_ROWS.get(part.kind, "rows"), number(part.rows))]
    if part.positives is not None:
        facts.append(("of the commonest class", f"{part.positives:.1%}"))
    facts.append(("trees", number(part.n_trees)))
    if part.templates:
        facts.append(("templates", number(len(part.templates))))
        copies = sum(one.backoff is True for one in part.templates)
        facts.append(("of them back-off copies", number(copies or None)))
        lengths = [one.length for one in part.templates if one.length is not None]
        facts.append(("columns in the longest", number(max(lengths, default=None))))
    facts += [(_words(name), seconds(spent)) for name, spent in part.seconds.items()]
    return [(label, value) for label, value in facts if value != MISSING]


def _tree_note(tree: ShownTree, kind: str) -> str:
    counts = [(tree.n_nodes, "node"), (tree.n_internal, "question")]
    said = [counted(n, word) for n, word in counts if n is not None]
    deep = f", at most {number(tree.depth)} questions on a path" if tree.depth is not None else ""
    whole = f"The whole tree has {listed(said)}{deep}. " if said else ""
    cut = f"{number(tree.cut)} of its nodes are not shown. " if (tree.cut or 0) > 0 else ""
    rows = _ROWS.get(kind, "rows")
    return (
        f"{whole}{cut}A line gives the value that leads to it, the column that is asked next or "
        f"the answer, how many {rows} come there, the commonest class and its share, and the "
        f"information gain of the question in bits a row."
    )


def _templates_note(templates: Sequence[TreeTemplate]) -> str:
    said = []
    if len(templates) > MOST_TEMPLATES:
        said.append(f"The best {number(MOST_TEMPLATES)} of {number(len(templates))}.")
    if any(one.backoff for one in templates):
        said.append("A back-off template is a path without the column of its root.")
    if any(one.drop is not None for one in templates):
        said.append(
            "The cost of dropping is how many points of the metric are lost on held-out data when "
            "the weights of a template are taken away and nothing is trained again; below 0, the "
            "model is better without."
        )
    return " ".join(said)


def _systems_note(systems: Sequence[TreeSystem], protocol: str = "") -> str:
    data = {system.data for system in systems}
    said = [f"Data: {visible(*data)}."] if len(data) == 1 and any(data) else []
    if protocol:
        said.append(f"{visible(protocol[:1].upper() + protocol[1:])}.")
    if any(system.published is not None for system in systems):
        said.append("Published figures are the papers’, on their own data.")
    return " ".join(said)


def _sentences_note(sentences: Sequence[ParsedSentence]) -> str:
    shown = min(len(sentences), MOST_SENTENCES)
    first = f" The first {shown} of {number(len(sentences))}." if shown < len(sentences) else ""
    return (
        "Arcs go from a head to its modifier: gold arcs above the words, predicted ones below. "
        f"A difference is told as a word, its gold head, and the head that was predicted.{first}"
    )


def _template_cell(name: str) -> dict[str, Any]:
    if not name:
        return text_cell(None)
    return cell(visible(name)) | {"parts": [(visible(p), "", "") for p in name.split(" & ")]}


def _words(name: str) -> str:
    return visible(name.removesuffix("_s").replace("_", " "))


def _plain(value: Any) -> str:
    """A setting as it is written down: bare words, other values as JSON."""
    return visible(value if isinstance(value, str) else msgspec.json.encode(value).decode())
