"""The experiment on induction: what it says and shows of models that are made up."""

from __future__ import annotations

from experiments.induction import EXPERIMENT, FAMILIES, PUBLISHED, SCORES, verdict
from experiments.runner import show


def test_the_paper_has_a_figure_for_each_score_and_baseline():
    assert set(PUBLISHED) == {(family, score) for family in FAMILIES for score in (None, *SCORES)}


def test_what_lies_beyond_chance_is_counted():
    tests = [
        {"significant": significant, "difference": difference}
        for significant, difference in ((True, 0.2), (True, -0.1), (False, 0.1))
    ]
    assert verdict(tests) == (
        "Of 3 models with induced features 1 are better than their equally tuned baselines, "
        "1 worse, 1 do not differ beyond chance."
    )
    assert verdict(tests[2:]).startswith("None of the 1 models with induced features differs")


def test_the_published_figures_stand_beside_ours(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    baseline = {"name": "perceptron, baseline", "metric": "F1 of 1", "value": 0.793}
    baseline |= {"keep": None, "partners": None, "features": 55_268, "cross_validated": 0.818}
    induced = baseline | {"name": "perceptron, mi", "keep": 0.25, "partners": 0.001}
    result = {
        "data": {},
        "models": [baseline | {"published": 0.79}, induced | {"published": 0.83, "value": 0.819}],
        "comparisons": [{"a": "perceptron, mi", "difference": 0.026, "p": 0.155}],
        "verdict": "One model.",
    }
    show(EXPERIMENT, result, None)
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    assert [" ".join(filter(None, row)) for row in cells] == [
        "perceptron, baseline 55,268 0.818 0.793 0.79",
        "perceptron, mi 25.00% 0.10% 55,268 0.818 0.819 +0.026 0.155 0.83",
    ]
    assert lines[-1] == "One model."
