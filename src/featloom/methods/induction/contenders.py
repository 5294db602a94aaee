"""Selection and induction in comparisons of tables."""

from __future__ import annotations

from featloom.learners.pipelines import Recipe, Table, on_features, with_linear
from featloom.method import Contender, Method, Setting, Unsuited
from featloom.methods.induction.inducer import ConjunctionInducer

SELECTION, INDUCTION = "selection", "induction"
_OF_ROWS = "it is for rows that stand by themselves; here answers must form a tree"


def of_tables(table: Table) -> list[Contender | Unsuited]:
    """Both, where a linear model of so many weights can be fitted."""
    if why := table.too_many_weights:
        return [Unsuited(name, why) for name in (SELECTION, INDUCTION)]
    return [selection(table).contender(), induction(table).contender()]


def selection(table: Table) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        selected = ConjunctionInducer(
            score="fisher", max_length=1, keep=setting["keep"], feature_groups=table.feature_groups
        )
        return with_linear(selected, setting, table.class_weight, seed, threads)

    return on_features(
        SELECTION, "method", "the values that Fisher's test finds most telling", build,
        {"keep": (0.2, 0.5, 0.05)}, 2.0,
    )  # fmt: skip


def induction(table: Table) -> Recipe:
    def build(setting: Setting, seed: int, threads: int):
        joined = ConjunctionInducer(
            final_keep=setting["conjunctions"], feature_groups=table.feature_groups, n_jobs=threads
        )
        return with_linear(joined, setting, table.class_weight, seed, threads)

    return on_features(
        INDUCTION, "method", "values, and pairs of them that tell more together", build,
        {"conjunctions": (1000, 300, 4000, 100)}, 4.0,
    )  # fmt: skip


METHOD = Method(
    "induction",
    {
        "table": of_tables,
        "sequence": [
            Unsuited(
                INDUCTION,
                "it joins features of rows that stand by themselves; here templates say which "
                "places of a sentence are joined",
            )
        ],
        "trees": [Unsuited(INDUCTION, _OF_ROWS)],
    },
)
