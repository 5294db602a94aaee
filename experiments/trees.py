"""The experiment of Fernandes and Milidiú's chapter on public data: templates grown on trees.

"Entropy-Guided Feature Generation" reads templates of a dependency parser off a decision tree.
Its Table 3.2 compares templates that people wrote (manual) with templates that a tree grew (EFG),
both with a structured perceptron; then EFG with chunk and clause as further columns.  Here the rows
are repeated on two treebanks of Portuguese, each with the chapter's training and with MIRA; EFG
comes as published (one tree on all edges, pruned as C4.5 prunes) and as recommended (a forest).
Beside it stands a control: as many templates of columns drawn at random.  Then the same templates
are tried where there is no tree to parse (:mod:`experiments.trees_elsewhere`).

What a treebank gives by hand a parser of new text must predict.  So columns beyond McDonald's come
twice: gold, which is an upper bound, and predicted, jackknifed on the training sentences
(:mod:`experiments.jackknife`).  A predicted column is named ``lemma.predicted``.

Whatever is chosen is chosen on development data, for baselines as well; the test part is scored
once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np

from experiments.jackknife import PredictedColumn, values_of, with_column
from experiments.lemmas import SuffixLemmatizer
from experiments.runner import (
    METRICS,
    Experiment,
    Work,
    compared,
    finding,
    marks_of,
    parts_of,
    size_of,
    system_row,
    systems_section,
    table,
)
from experiments.trees_elsewhere import forest_templates, learn_tables, tag_chunks
from featloom.data.columns import derive
from featloom.data.edges import EdgeReader, edge_table
from featloom.data.table import NominalTable
from featloom.data.vocabulary import encode
from featloom.evaluation.attachment import attachment_counts
from featloom.features.template import Template
from featloom.formats.packing import packed, unpacked
from featloom.learners.parser import FOREST, DependencyParser
from featloom.learners.parser_templates import (
    TokenColumns,
    between_templates,
    edge_columns,
    edge_template,
)
from featloom.learners.tree_paths import grow_templates
from featloom.methods.tree_templates.findings import template_rows, tree_of
from featloom.results import Block, Facts, Section, Tree, Words
from featloom.words import parts_in_words

VERSION = 2  # of what an entry holds
TRAININGS = {"perceptron": "perceptron", "mira": "MIRA"}  # the chapter's, and ours
PERCEPTRON_EPOCHS = 3
GENERATIONS = {"manual": "manual", "chapter": "EFG published", "tree": "EFG", "random": "random"}
BASICS = {
    "first": "1st order",
    "chunks": "+ck+clause predicted",
    "chunks-gold": "+ck+clause gold",
    "wide": "29 columns predicted",
    "wide-gold": "31 columns gold",
}
# The tree of the chapter; the longest template is chosen on development data, as it asks.
CHAPTER: dict[str, Any] = {"n_trees": 1, "prune": "error", "backoff": False, "floor": 0}
CHAPTER |= {"most": None, "max_length": None}
LENGTHS = (2, 3, 4, 5, 6, 8)
MOST_SHOWN = 100  # templates that an entry tells of
NOTE = (
    "Table 3.2 of the chapter: UAS on test, without punctuation, and of all tokens; means over "
    "seeds and their sd. Gain and p: against manual templates with the same training, by a paired "
    "bootstrap over sentences. Published: the chapter's, on the Portuguese of CoNLL-2006 with a "
    "perceptron; how it came by chunk and clause it does not say."
)
SEEN_BY_TAGGERS = ("form", "xpos")
# Edge columns of UD Bosque with suffixes, lemma, morphology and wider neighbours: of both ends, and
# of the pair.
WIDE = (
    *("form", "lemma", "xpos", "upos", "form.suffix3", "form.suffix2"),
    *("feats", "feats.Gender", "feats.Number", "xpos[-1]", "xpos[+1]", "xpos[-2]", "xpos[+2]"),
)
BETWEEN = tuple(f"between.upos={tags}" for tags in ("VERB,AUX", "PUNCT", "CCONJ,SCONJ"))
CHUNKED = ("chunk", "chunk[-1]", "chunk[+1]", "clause")


@dataclass(frozen=True)
class System:
    """A row of the table: which basic features, which templates, which training."""

    basic: str
    generation: str
    training: str
    published: float | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """What the row is called where rows are compared.

        >>> System("first", "tree", "mira").name
        'EFG, MIRA'
        >>> System("chunks", "tree", "perceptron").name
        'EFG, +ck+clause predicted, perceptron'
        """
        basic = [] if self.basic == "first" else [BASICS[self.basic]]
        return ", ".join([GENERATIONS[self.generation], *basic, TRAININGS[self.training]])

    @property
    def baseline(self) -> System:
        """Manual templates with the same training."""
        return System("first", "manual", self.training)


@dataclass(frozen=True)
class Treebank:
    """A treebank and the rows of its table.

    ``derived`` is made of its own columns before others are ``predicted``.
    """

    title: str
    corpus: str
    systems: tuple[System, ...]
    predicted: tuple[str, ...]
    derived: tuple[dict[str, Any], ...] = ()


def first_order(training: str) -> list[System]:
    figures = {"manual": 90.06, "chapter": 90.28, "tree": 90.28}
    return [System("first", name, training, figure) for name, figure in figures.items()]


TREEBANKS = {
    "bosque": Treebank(
        "UD Bosque",
        "bosque",
        (
            *first_order("perceptron"),
            *first_order("mira"),
            System("first", "random", "mira"),
            System("wide", "tree", "mira"),
            System("wide-gold", "tree", "mira"),
            System("wide-gold", "random", "mira"),
        ),
        predicted=("lemma", "feats.Gender", "feats.Number"),
        derived=(
            {"make": "suffix", "of": "form", "length": 2},
            {"make": "suffix", "of": "form", "length": 3},
            {"make": "attribute", "of": "feats", "key": "Gender"},
            {"make": "attribute", "of": "feats", "key": "Number"},
        ),
    ),
    "floresta": Treebank(
        "Floresta",
        "floresta",
        tuple(
            system
            for training in TRAININGS
            for system in (
                *first_order(training),
                System("chunks", "tree", training, 92.66),
                System("chunks-gold", "tree", training, 92.66),
            )
        ),
        predicted=("chunk", "clause"),
    ),
}


def wide_columns(predicted: bool) -> list[str]:
    """The edge columns of UD Bosque; with predictions without the whole morphology, which is dear.

    >>> len(wide_columns(predicted=False)), len(wide_columns(predicted=True))
    (31, 29)
    """
    own = [name for name in WIDE if not (predicted and name == "feats")]
    told = TREEBANKS["bosque"].predicted if predicted else ()
    return [*of_both_ends(own, told), "side", "distance", *BETWEEN]


def chunk_columns(basic: Sequence[str], predicted: bool) -> list[str]:
    """The given edge columns, and chunk and clause of head and modifier.

    >>> chunk_columns(["side"], predicted=True)[1:3]
    ['head.chunk.predicted', 'head.chunk.predicted[-1]']
    """
    return [*basic, *of_both_ends(CHUNKED, TREEBANKS["floresta"].predicted if predicted else ())]


def of_both_ends(names: Sequence[str], predicted: Sequence[str]) -> list[str]:
    """Columns of head and modifier, where they are predicted by the names of the predictions."""
    own = []
    for name in names:
        column, bracket, offset = name.partition("[")
        own.append(f"{column}.predicted{bracket}{offset}" if column in predicted else name)
    return [f"{end}.{name}" for end in ("head", "mod") for name in own]


@dataclass
class Trials:
    """Grows the chapter's tree, predicts a column, or trains a parser: an entry of a journal.

    A choice is judged on development sentences alone, a row on the test sentences as well.

    Parameters
    ----------
    parts : "train", "valid" and "test".
    seed : of the folds that are jackknifed.
    chapter : the columns of each template of the chapter's tree.
    """

    parts: dict[str, NominalTable]
    seed: int = 0
    chapter: Sequence[Sequence[str]] = field(default_factory=list)

    def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked["part"] == "grow":
            return self.grow()
        return self.predict(asked["column"]) if asked["part"] == "column" else self.parse(asked)

    def grow(self) -> dict[str, Any]:
        """The chapter's tree, on all edges of the training sentences."""
        train = self.parts["train"]
        reader = EdgeReader.of(train, edge_columns(train))
        begun = time.perf_counter()
        rows = edge_table(reader, reader.read(train))
        grown, tree = grow_templates(rows, **CHAPTER)
        return {
            "score": float(len(grown)),
            "templates": [[name for name, _ in one.template.places] for one in grown],
            "edges": len(rows),
            "positives": 1 - float(tree.errors[0] / max(tree.rows[0], 1)),
            "shown": msgspec.to_builtins(tree_of(tree, "candidate edges")),
            "seconds": time.perf_counter() - begun,
        }

    def predict(self, column: str) -> dict[str, Any]:
        """A column as taggers predict it, and how often they are right."""
        make = SuffixLemmatizer if column == "lemma" else None
        predicted = PredictedColumn(column, of=SEEN_BY_TAGGERS, make_tagger=make, seed=self.seed)
        found = {"train": predicted.fit_transform(self.parts["train"])}
        for part in ("valid", "test"):
            found[part] = predicted.transform(self.parts[part])
        right, columns = {}, {}
        for part, told in found.items():
            values = values_of(told, column)
            pairs = zip(values_of(self.parts[part], column), values, strict=True)
            right[part] = float(np.mean([a == b for a, b in pairs]))
            codes, vocabulary = encode(values)
            columns[part] = {"values": list(vocabulary), "codes": packed(codes)}
        return {"score": right["valid"], "right": right, "columns": columns}

    def add(self, column: str, entry: Mapping[str, Any]) -> None:
        """Give each part a predicted column as a journal has it."""
        for part, kept in entry["columns"].items():
            values = np.array(["", *kept["values"]], dtype=object)[unpacked(kept["codes"])]
            name = f"{column}.predicted"
            self.parts[part] = with_column(self.parts[part], name, values.tolist())

    def parse(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        parser = self.parser(asked)
        begun = time.perf_counter()
        parser.fit(self.parts["train"])
        seconds = time.perf_counter() - begun
        found: dict[str, Any] = {
            "templates": len(parser.templates_),
            "features": int(np.count_nonzero(parser.model_.weights)),
            "seconds": seconds,
        }
        for part in ("valid",) if asked["part"] == "choice" else ("valid", "test"):
            counts = attachment_counts(self.parts[part], parser.predict_trees(self.parts[part]))
            found[part] = {"right": packed(counts[:, 0]), "all_right": packed(counts[:, 3])}
            right, tokens = counts[:, [0, 2]].sum(axis=0).tolist()
            found[f"uas_{part}"] = right / max(tokens, 1)
        if asked["generation"] == "tree":
            found["grown"] = template_rows(parser.grown_[:MOST_SHOWN])
        return {"score": found["uas_valid"], **found}

    def parser(self, asked: Mapping[str, Any]) -> DependencyParser:
        more: dict[str, Any] = {"training": asked["training"]}
        if asked["training"] == "perceptron":
            more["epochs"] = PERCEPTRON_EPOCHS
        if asked["generation"] == "chapter":
            more["templates"] = self.chapter_templates(asked["length"])
        elif asked["generation"] == "random":
            more["templates"] = self.random_templates(asked["basic"], asked["seed"])
        else:
            more["templates"] = asked["generation"]
            more["columns"] = self.columns(asked["basic"])
        return DependencyParser(relations=False, random_state=asked["seed"], **more)

    def chapter_templates(self, length: int) -> list[Template]:
        """Those of the chapter's tree up to a length, and what all systems see between."""
        own = [edge_template(*names) for names in self.chapter if len(names) <= length]
        return own + between_templates(TokenColumns.of(self.parts["train"]))

    def random_templates(self, basic: str, seed: int) -> list[Template]:
        """As many templates as a forest gives, of two to six columns each, and the same between."""
        columns = self.columns(basic) or edge_columns(self.parts["train"])
        random = np.random.default_rng(seed)
        drawn: dict[frozenset[str], Template] = {}
        while len(drawn) < FOREST["most"]:
            size = int(random.integers(2, 7))
            names = random.choice(columns, size=size, replace=False).tolist()
            drawn.setdefault(frozenset(names), edge_template(*names))
        return [*drawn.values(), *between_templates(TokenColumns.of(self.parts["train"]))]

    def columns(self, basic: str) -> list[str] | None:
        """Edge columns; None: those that the parser asks by itself."""
        predicted = not basic.endswith("-gold")
        if basic.startswith("wide"):
            return wide_columns(predicted)
        if basic.startswith("chunks"):
            return chunk_columns(edge_columns(self.parts["train"]), predicted)
        return None


def distinct_lengths(chapter: Sequence[Sequence[str]]) -> list[int]:
    """The lengths to choose from that differ in what they keep.

    >>> distinct_lengths([["side"], ["side", "distance"], ["side", "head.xpos", "mod.xpos"]])
    [2, 3]
    """
    kept: dict[int, int] = {}
    for length in LENGTHS:
        kept.setdefault(sum(len(names) <= length for names in chapter), length)
    return sorted(kept.values())


def parse_treebank(work: Work) -> dict[str, Any]:
    """Table 3.2 on one treebank: columns are predicted, the tree grown, parsers trained."""
    treebank = TREEBANKS[work.name]
    title = treebank.title
    work.say(f"{title}: reading")
    parts = work.drawn(parts_of(treebank.corpus))
    about = {
        "version": VERSION,
        "chapter": CHAPTER,
        "epochs": PERCEPTRON_EPOCHS,
        # An entry holds for the parser as it was: other defaults make another experiment.
        "parser": {k: repr(v) for k, v in DependencyParser().get_params().items()},
        "forest": FOREST,
        "folds": work.seeds[0],
    }
    marks = marks_of(parts.values())
    trials = Trials(
        {part: derive(table, *treebank.derived) for part, table in parts.items()}, work.seeds[0]
    )
    with work.journaled(work.name, marks, experiment="tree-templates", data=work.name, **about):
        work.say(f"{title}: growing the chapter's tree")
        (grown,) = work.ask(trials, [{"part": "grow"}])
        tree = grown.result
        trials.chapter = tree["templates"]
        work.say(f"{title}: predicting columns")
        asked = [{"part": "column", "column": column} for column in treebank.predicted]
        predicted = {one.candidate["column"]: one.result for one in work.ask(trials, asked)}
        for column, entry in predicted.items():
            trials.add(column, entry)
        work.say(f"{title}: choosing the longest template")
        choice: dict[str, Any] = {"part": "choice", "basic": "first", "generation": "chapter"}
        choice["seed"] = work.seeds[0]
        asked = [
            choice | {"training": training, "length": length}
            for training in TRAININGS
            for length in distinct_lengths(trials.chapter)
        ]
        best = work.best(trials, asked, by="training")
        lengths = {training: one.candidate["length"] for training, one in best.items()}
        work.say(f"{title}: parsing")
        results = work.contend(
            trials, {system: asked_of(system, lengths) for system in treebank.systems}
        )
    sizes = {part: size_of(table) for part, table in parts.items()}
    tokens = {part: tokens_of(table) for part, table in parts.items()}
    counts = {system: counts_of(own, tokens) for system, own in results.items()}
    rows = {system: row_of(title, system, counts[system], own) for system, own in results.items()}
    tests = {
        system: compared(
            title,
            "UAS",
            (system.name, counts[system]["test"]),
            (system.baseline.name, counts[system.baseline]["test"]),
        )
        for system in treebank.systems
        if system.generation != "manual"
    }
    return {
        "source": treebank.corpus,
        "rows": sum(sizes.values()),
        "comparisons": list(tests.values()),
        "sections": [
            systems_section(
                title,
                list(rows.values()),
                list(tests.values()),
                note=f"{parts_in_words(sizes, 'sentence')}. {NOTE}",
            ),
            choices_section(title, lengths, predicted),
            tree_section(title, tree),
            forest_templates(title, results[System("first", "tree", "mira")][0]["grown"]),
        ],
        "findings": [
            finding(
                title,
                rows[System("first", "manual", training)],
                [
                    (rows[system], test)
                    for system, test in tests.items()
                    if system.training == training
                ],
            )
            for training in TRAININGS
        ],
    }


def choices_section(
    title: str, lengths: Mapping[str, int], predicted: Mapping[str, Mapping[str, Any]]
) -> Section:
    """What was chosen on development data, and how well columns were predicted."""
    chosen = ", ".join(f"{TRAININGS[name]} {length}" for name, length in lengths.items())
    columns: dict[str, Any] = {"column": ("feature", lambda one: one[0])}
    columns |= {
        f"{part} %": ("percent", lambda one, part=part: one[1]["right"][part])
        for part in ("train", "valid", "test")
    }
    words = Words(f"Columns of the longest template of EFG published: {chosen}.")
    right = table("Predicted columns, how often they are right", predicted.items(), columns)
    return Section("Choices", f"{title}: what was chosen and predicted", blocks=[words, right])


def tree_section(title: str, tree: Mapping[str, Any]) -> Section:
    """The tree of the chapter as an entry has it."""
    facts = [
        ("candidate edges", tree["edges"], "count"),
        ("of the commonest class", tree["positives"], "share"),
        ("grown in", tree["seconds"], "seconds"),
    ]
    blocks: list[Block] = [Facts(facts), msgspec.convert(tree["shown"], Tree)]
    return Section("Tree", f"{title}: the tree of the chapter", blocks=blocks)


def asked_of(system: System, lengths: Mapping[str, int]) -> dict[str, Any]:
    """What a row asks of its trials."""
    asked: dict[str, Any] = {
        "part": "row",
        "basic": system.basic,
        "generation": system.generation,
        "training": system.training,
    }
    return asked | ({"length": lengths[system.training]} if system.generation == "chapter" else {})


def tokens_of(table: NominalTable) -> np.ndarray:
    """Tokens of each sentence: without punctuation, and all."""
    heads, bounds = table.tree_heads.tolist(), table.bounds.tolist()
    trees = [[(head, "_") for head in heads[a:b]] for a, b in pairwise(bounds)]
    return attachment_counts(table, trees)[:, [2, 4]]


def counts_of(
    results: Sequence[Mapping[str, Any]], tokens: Mapping[str, np.ndarray]
) -> dict[str, list[np.ndarray]]:
    """Right heads and tokens of each sentence, a seed each; "test_all" is with punctuation."""

    def pairs(part: str, right: str, place: int) -> list[np.ndarray]:
        return [
            np.stack([unpacked(one[part][right]), tokens[part][:, place]], axis=1)
            for one in results
        ]

    return {
        f"{part}{which}": pairs(part, right, place)
        for part in ("valid", "test")
        for place, (which, right) in enumerate((("", "right"), ("_all", "all_right")))
    }


def row_of(
    title: str,
    system: System,
    counts: Mapping[str, Sequence[np.ndarray]],
    results: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    means = {
        name: float(np.mean([METRICS["UAS"](one.sum(axis=0)) for one in own]))
        for name, own in counts.items()
    }
    return system_row(
        system.name,
        title,
        "UAS",
        counts["test"],
        valid=means["valid"],
        with_punctuation=means["test_all"],
        templates=int(np.median([result["templates"] for result in results])),
        features=int(np.median([result["features"] for result in results])),
        seconds=float(np.mean([result["seconds"] for result in results])),
        published=None if system.published is None else system.published / 100,
    )


def gather(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The sections and tests of all parts."""
    return {
        name: [one for part in found.values() for one in part[name]]
        for name in ("sections", "comparisons")
    }


def part_of_chapter(work: Work) -> dict[str, Any]:
    """Parsing on a treebank, or templates where nothing is parsed."""
    elsewhere = {"tables": learn_tables, "chunks": tag_chunks}
    return elsewhere.get(work.name, parse_treebank)(work)


EXPERIMENT = Experiment(
    kind="tree_templates",
    noun="part",
    parts=(*TREEBANKS, "tables", "chunks"),
    work=part_of_chapter,
    gather=gather,
)
