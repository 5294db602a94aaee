"""Templates grown from decision trees in comparisons: of tables, taggers and parsers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from featloom.data.columns import default_makers, derive, fit_makers
from featloom.data.matrix import FeatureMatrix
from featloom.data.sentences import drawn
from featloom.data.table import NominalTable
from featloom.features.plan import FeaturePlan
from featloom.features.windows import sequence_templates, window_table
from featloom.learners.parser import DependencyParser
from featloom.learners.parser_templates import TokenColumns, between_templates, manual_templates
from featloom.learners.parsers import fit_parsers, parser_axes
from featloom.learners.pipelines import Recipe, Table, on_features, weights_grid, with_linear
from featloom.learners.template_sets import (
    PAIR,
    TRAINING,
    TemplateSet,
    fits,
    makers_not_in,
    usual_window,
)
from featloom.method import Contender, Method, Setting, Unsuited
from featloom.methods.tree_templates.family_templates import FamilyTemplates
from featloom.methods.tree_templates.tree_templates import TreeTemplates
from featloom.results import Grid, grid

NAME = "tree templates"
GROWN_ON = 3_000  # sentences, at most
IN_BITS = "gain in bits"
# Forests: on the columns as they are, each of which is also a template; and on the columns that
# are derived for a search, which would be too many by themselves.
SHAPES: dict[str, dict[str, Any]] = {
    "one tree": {"max_length": 3, "n_trees": 1, "most": 60},
    "six trees on forms of words": {"max_length": 3, "n_trees": 6, "most": 100, "singles": False},
}
# Trees that templates are grown from: one, pruned where a split gains little; or those that did
# best on another treebank.
ONE_TREE: dict[str, Any] = {"n_trees": 1, "prune": "gain", "backoff": True, "most": 500}
MANY_TREES: dict[str, Any] = {}
FEW_TREES: dict[str, Any] = {"n_trees": 20, "most": 100}


def of_tables(table: Table) -> list[Contender | Unsuited]:
    """A linear model on templates of a table's columns."""
    why = table.too_many_weights
    data = table.data
    if not why and isinstance(data, FeatureMatrix) and not data.single_valued.any():
        why = "no family has one value a row"
    return [Unsuited(NAME, why) if why else on_table(table).contender()]


def of_sentences(_: NominalTable) -> list[Contender | Unsuited]:
    """A tagger on templates grown on windows."""
    axes = {"templates": tuple(SHAPES), **TRAINING}
    return [
        Contender(
            "templates from trees", "method",
            "a CRF on templates that are paths of decision trees grown on windows",
            fits(grown_set, axes), axes, cost=3.0,
        )
    ]  # fmt: skip


def of_trees(table: NominalTable) -> list[Contender | Unsuited]:
    """Parsers on templates grown on pairs of words."""
    axes = parser_axes(table)
    return [
        Contender(
            "parser, templates from a tree", "method",
            "the same parser on templates that are paths of a decision tree grown on pairs of "
            "words",
            partial(fit_parsers, partial(grown, ONE_TREE)), axes, cost=2.0,
        ),
        Contender(
            "parser, manual templates and trees'", "method",
            "the same parser on the templates of experts and 100 more of decision trees",
            partial(fit_parsers, partial(added, FEW_TREES)), axes, cost=2.0,
        ),
        Contender(
            "parser, templates from trees", "method",
            "the same parser on 500 templates that are paths of many decision trees; as many "
            "drawn at random did as well in our experiments",
            partial(fit_parsers, partial(grown, MANY_TREES)), axes, cost=3.0,
        ),
    ]  # fmt: skip


def on_table(table: Table) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        grown: Any = TreeTemplates(
            max_length=setting["max_length"], n_trees=1, columns_per_tree=None, random_state=seed
        )
        if table.feature_groups is not None:
            grown = FamilyTemplates(grown, feature_groups=table.feature_groups)
        return with_linear(grown, setting, table.class_weight, seed, threads)

    return replace(
        on_features(
            NAME, "method", "columns joined along the paths of decision trees", build,
            {"max_length": (3, 2, 6)}, 5.0,
        ),
        found=_templates_and_weights,
    )  # fmt: skip


def _templates_and_weights(model: Any, most: int) -> list[Grid]:
    grown = model[0]
    templates = getattr(grown, "grown_", None) or grown.templates_.grown_
    rows = [
        [str(one.template), round(float(one.gain), 1), round(float(one.coverage), 4)]
        for one in templates[:most]
    ]
    columns = {"columns joined": "feature", "gain in bits": "number", "share of rows": "share"}
    found = grid("templates", columns, rows)
    return [found, *weights_grid(model, most)]


def grown_set(table: NominalTable, setting: Setting, seed: int, threads: int) -> TemplateSet:
    """Paths of decision trees, of one of the shapes."""
    return grown_templates(drawn(table, GROWN_ON, seed), setting["templates"], seed)


def grown_templates(table: NominalTable, shape: str, seed: int) -> TemplateSet:
    settings = SHAPES[shape]
    derives = not settings.get("singles", True)
    makers = fit_makers(table, makers_not_in(default_makers(table), table) if derives else [])
    around = window_table(derive(table, *makers), usual_window(table))
    trees = TreeTemplates(**settings, random_state=seed).fit(around)
    templates = sequence_templates(trees.templates_)
    used = {name for template in templates for name, _ in template.places}
    plan = FeaturePlan(
        derived=tuple(maker.to_dict() for maker in makers if maker.name in used),
        templates=(*templates, PAIR),
    )
    grown = sequence_templates([one.template for one in trees.grown_])
    gains = {
        str(template): float(one.gain) for template, one in zip(grown, trees.grown_, strict=True)
    }
    return TemplateSet(plan, shape, gains, IN_BITS)


def grown(
    forest: Mapping[str, Any], table: NominalTable, how: Mapping[str, Any]
) -> DependencyParser:
    """A parser with paths of decision trees, grown with such settings."""
    return DependencyParser(templates="tree", forest=forest, **how).fit(table)


def added(
    forest: Mapping[str, Any], table: NominalTable, how: Mapping[str, Any]
) -> DependencyParser:
    """A parser with the templates of experts, and those of trees that are not among them."""
    # Trees grow on the heads that a pilot leaves, which a parser alone knows; one pass is enough.
    first = grown(forest, table, {**how, "epochs": 1, "relations": False})
    tokens = TokenColumns.of(table)
    by_experts = [*manual_templates(tokens), *between_templates(tokens)]
    there = {frozenset(one.places): one for one in first.templates_}
    there |= {frozenset(one.places): one for one in by_experts}
    parser = DependencyParser(templates=list(there.values()), **how).fit(table)
    parser.grown_ = first.grown_
    return parser


METHOD = Method(
    "trees",
    {
        "table": of_tables,
        "sequence": of_sentences,
        "trees": of_trees,
        "tasks": [Unsuited(NAME, "tasks have too few rows for it, each by itself")],
    },
)
