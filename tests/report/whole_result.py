"""A result that has everything, and the same with hostile names.

The scores are invented, in the order and of the size that real runs have: incomes are judged by
log-loss, naive Bayes is surer than right and so worse than chance, one contender had time for two
folds of five and another for a part of the rows.  The sections hold a block of every kind.
"""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from featloom.results import (
    Arcs,
    Bars,
    Code,
    Column,
    Facts,
    Histogram,
    Intervals,
    Line,
    Lines,
    Matrix,
    Point,
    Points,
    Section,
    Sentence,
    Tree,
    TreeNode,
    Words,
    grid,
)

CHOSEN, BASELINE, CHANCE = "induction", "linear model", "always the base rate"
HOSTILE_NAMES = [
    "<script>alert(1)</script>",
    "</script><script>document.title='broken'</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "<!-- ]]> -->",
    "عربي\u202eabc\u202c=עברית",
    "nul\x00 tab\t line\n separator\u2028 end",
    "x" * 500,
    "word " * 100,
    "&lt;b&gt; &amp; 'quoted' `ticks` \\u003c",
]
# Words that the program itself writes, by which parts are told apart.
OWN = {"block", "kind", "role", "status", "look", "on", "stopped", "best", "unit", "metric"}


def model(name: str, role: str, value: float, test: float | None, **more: Any) -> dict[str, Any]:
    width = 0.005
    metrics = {"log_loss": test, "auc": 0.927, "brier": 0.0898, "accuracy": 0.869}
    return {
        "name": name, "role": role, "idea": f"the idea of the {name}", "status": "finished",
        "value": value, "interval": [value - width, value + width], "n_folds": 5, "folds_of": 5,
        "test": test, "test_interval": None if test is None else [test - width, test + width],
        "metrics": None if test is None else metrics, "learned": 31_258, "fit_s": 6.1,
        "predict_s": 0.011, "size": 1_212, "size_words": "1,212 features",
    } | more  # fmt: skip


LEADERBOARD = [
    model("LightGBM", "yardstick", 0.2775, 0.2781),
    model(CHOSEN, "method", 0.2812, 0.2818, chosen=True, setting="C 0.3, 1,000 conjunctions of 2",
          settings={"C": 0.3}, more={"trees": 3}, published=0.861),
    model(BASELINE, "baseline", 0.2987, 0.2994, size=108, size_words="108 features"),
    model("memory-based learning", "method", 0.3312, 0.3330, learned=8_000),
    model("selection", "method", 0.3391, None, status="partly", n_folds=2),
    model("naive Bayes", "baseline", 0.7744, 0.7801),
    model(CHANCE, "chance", 0.5509, 0.5517),
    {"name": "memory search", "role": "method", "status": "unfinished",
     "why": "the time was over", "value": 0.3391, "share": 0.5},
    {"name": "template search", "status": "not applicable", "why": "the rows are no sentences"},
]  # fmt: skip
COMPARISONS = [
    {"a": CHOSEN, "b": BASELINE, "difference": 0.0175, "interval": [0.012, 0.023], "p": 0.0002,
     "p_adjusted": 0.0006, "significant": True, "on": "test"},
    {"a": CHOSEN, "b": "memory-based learning", "difference": -0.0349, "interval": None,
     "p": 0.03, "p_adjusted": 0.09, "significant": False, "on": "folds", "same_rows": False},
    {"a": CHOSEN, "b": CHANCE, "difference": 0.27, "interval": [0.26, 0.28], "p": 0.0,
     "p_adjusted": 0.0, "significant": True, "on": "test", "gate": True},
]  # fmt: skip
FIGURES = {
    "rows": 17_584, "log_loss": 0.2818, "base_rate_log_loss": 0.5517, "auc": 0.927,
    "brier": 0.0898, "accuracy": 0.869, "ece": 0.012, "positive": ">50K",
    "f1": {"positive": ">50K", "threshold": 0.38, "value": 0.712, "of_predictions": 0.688,
           "precision": 0.69, "recall": 0.735},
    "confusion": {"classes": ["<=50K", ">50K"], "counts": [[12_510, 914], [1_390, 2_770]]},
    "calibration": [
        {"n": 3_911, "mean": 0.012, "share": 0.011, "low": 0.007, "high": 0.015},
        {"n": 812, "mean": 0.51, "share": 0.53, "low": 0.49, "high": 0.57},
    ],
}  # fmt: skip
SECTIONS = [
    Section(
        "Features", "Features found", "Support is the number of rows that have the feature.",
        brief=5, blocks=[
            grid(
                "Conjunctions",
                {"feature": "feature", "support": "count", "K": Column("K", "count", of_data=True),
                 "lift": "number", "weight": "signed", "sure": "flag", "share": "share"},
                [[f"Prev={a} & Last={b}", 3 * i + 2, i, 1.5 + i / 8, None if i % 3 else i - 9.5,
                  i % 2 == 0, i / 40]
                 for i, (a, b) in enumerate(itertools.product("abcd", "egtu"))],
                marked=[0, 3], mark="only with the domain of the document", total=60,
            ),
            grid("Atomic features", {"feature": "feature", "p": "p", "took": "seconds",
                                     "who": "names", "between": "percents"},
                 [["Prev=a", 0.0002, 125, ["ask", "add"], (0.25, 0.5)]], folded=True),
            Histogram("Scores", "score", "features", [0.001, 0.01, 0.1, 1], [12, 3, 1]),
            Facts([("conjunctions kept", 60, "count"), ("took", None, "seconds")]),
            Words("Counts grow tenfold from line to line."),
        ],
    ),
    Section("Grid", blocks=[
        Matrix("Mean of each cell", "The chosen one is outlined.", "keep · partners",
               ["0.1", "0.2"], ["1", "2", "3"], "percent", [[0.8, 0.81, None], [0.82, 0.85, 0.84]],
               tones=[[0.0, 0.2, 0.0], [0.4, 1.0, 0.8]], chosen=(1, 1)),
        Points("Score by size", "features", "score",
               [Point(f"cell {i}", 10 * 3**i, 0.8 + 0.01 * (i % 4)) for i in range(6)],
               front=True, chosen=[3]),
        Points("Cheap model and CRF", "by the cheap model", "by the CRF",
               [Point(f"t{i}", i / 10, i * i / 100, "maxent" if i % 2 else "MEMM")
                for i in range(8)]),
        Intervals("Systems", "UAS", "percent",
                  [{"name": "manual", "value": 0.9, "interval": (0.89, 0.91), "second": 0.88}],
                  "published"),
    ]),
    Section("Search", blocks=[
        Lines("Accuracy by k", "k", "accuracy", "percent",
              [Line(f"weights: {w}", [1, 3, 5], [0.8, 0.85, 0.84 - i / 90], metric)
               for i, w in enumerate(("none", "gain ratio")) for metric in ("overlap", "MVDM")],
              best="max"),
        Lines("How each search got on", "fits", "accuracy", "percent",
              [Line(name, [1, 10 + i, 1000], [0.1, 0.8 + i / 50, 0.82 + i / 50])
               for name, i in (("genetic", 0), ("genetic", 1), ("guided", 2))], steps=True),
        Lines("Rows of a task", "rows", "right", "percent",
              [Line("alone", [5, 20, None], [0.5, 0.6, 0.7], low=[0.4, 0.5, 0.6],
                    high=[0.6, 0.7, 0.8])]),
        Lines("F1 of the experiments", "experiment", "F1", "percent",
              [Line("CRF", [0, 1, 2], [0.9, 0.91, 0.92])], names=["1", "2", "3"]),
        Bars("Time of each stage", "seconds", "seconds", ["screening", "racing"], [12.5, 130.0],
             [1], "a stage", "a stage that was cut"),
    ]),
    Section("Trees", blocks=[
        Tree("The first tree", "edges", 9, 4, 3, [
            TreeNode(0, -1, "head.upos", None, 900, "no", 300, 0.21),
            TreeNode(1, 0, "side", "NOUN", 500, "no", 50, 0.1, branches=9),
            TreeNode(2, 0, None, "VERB", 400, "yes", 100),
            TreeNode(3, 1, None, "left", 450, "no", 10),
        ], 5),
        Arcs("Sentences", [
            Sentence(["As", "águas", "são", "divisor", "."],
                     ["DET", "NOUN", "AUX", "NOUN", "PUNCT"],
                     [2, 4, 4, 0, 4], [2, 4, 4, 0, 2], ["det", "nsubj", "cop", "root", "punct"]),
            Sentence(["He", "ran"], gold=[2, 0], predicted=[2, 0]),
        ]),
    ]),
]  # fmt: skip


def everything() -> dict[str, Any]:
    """A result that has every part, as a file holds it."""
    return {
        "schema": 2, "kind": "discover", "command": "featloom discover adult.csv --target income",
        "verdict": "Induction lowers log-loss by .018, beyond chance.", "significant": True,
        "seed": 0, "versions": {"featloom": "0.1.0"}, "timing": {"read_s": 0.5, "total_s": 57.2},
        "parameters": {"keep": 0.1}, "chosen": CHOSEN, "chosen_why": "the simplest of the best",
        "data": {
            "source": "adult.csv", "target": "income", "rows": 48_842, "features": 108,
            "groups": 12, "classes": {"<=50K": 37_155, ">50K": 11_687},
            "families": [{"name": "A", "features": 2, "single_valued": True},
                         {"name": "B", "features": 6, "single_valued": False}],
            "warnings": ["52 rows of the part held out are rows of the others"],
            "taken_for": "a table of 14 columns",
        },
        "protocol": "a fifth held out; five folds", "metric": "log-loss", "judge_by": "log-loss",
        "lower_is_better": True, "folds_of": 5, "unit": "rows", "leaderboard": LEADERBOARD,
        "comparisons": COMPARISONS, "chosen_figures": FIGURES,
        "curves": [
            {"method": name, "rows": rows, "value": value - rows / 1e6}
            for name, value in ((CHOSEN, 0.361), (BASELINE, 0.37), (CHANCE, 0.55))
            for rows in (500, 4_000, 31_258)
        ],
        "errors": {
            "by_class": [{"name": name, "rows": 90, "right": {CHOSEN: 80, BASELINE: 78}}
                         for name in ("<=50K", ">50K")],
            "by_group": [{"name": j, "rows": 4, "right": {CHOSEN: 3}} for j in range(30)],
        },
        "sections": msgspec.to_builtins(SECTIONS),
        "use": msgspec.to_builtins([
            Code("on the command line", "featloom predict RUN"),
            Code("in Python", "import featloom\n\nmodel = featloom.load('RUN')\n"),
        ]),
        "budget": {"seconds": 60, "spent": 57.2, "cpu": 104.0, "compiled": 21.3,
                   "first_answer": 2.1, "stopped": "budget"},
    }  # fmt: skip


def made_hostile(value: Any, names: Any = None, key: str = "") -> Any:
    """The same with a hostile name in the place of every text that may come from data."""
    names = names or itertools.cycle(HOSTILE_NAMES)
    if isinstance(value, dict):
        return {
            (next(names) + f" {j}" if key in ("classes", "right", "settings", "more") else k):
            made_hostile(v, names, k) for j, (k, v) in enumerate(value.items())
        }  # fmt: skip
    if isinstance(value, list):
        return [made_hostile(one, names, key) for one in value]
    return next(names) if isinstance(value, str) and key not in OWN else value
