"""The experiment on induction: what it says and shows of models that are made up."""

from __future__ import annotations

from experiments.induction import FAMILIES, PUBLISHED, SCORES, models_section, verdict
from experiments.runner import show
from featloom.results import Comparison, Model


def test_the_paper_has_a_figure_for_each_score_and_baseline():
    assert set(PUBLISHED) == {(family, score) for family in FAMILIES for score in (None, *SCORES)}


def test_what_lies_beyond_chance_is_counted():
    tests = [
        Comparison("a", "b", difference, significant=significant)
        for significant, difference in ((True, 0.2), (True, -0.1), (False, 0.1))
    ]
    assert verdict(tests) == (
        "Of 3 models with induced features 1 are better than their equally tuned baselines, "
        "1 worse, 1 do not differ beyond chance."
    )
    assert verdict(tests[2:]).startswith("None of the 1 models with induced features differs")


def test_the_published_figures_stand_beside_ours(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    facts = {"keep": None, "partners": None, "features": 55_268, "cross_validated": 0.818}
    facts |= {"classifier": "perceptron", "published": 0.79, "published_setting": ""}
    induced = facts | {"keep": 0.25, "partners": 0.001, "published": 0.83}
    names = ("perceptron, baseline", "perceptron, mi")
    section = models_section(
        [Model(name, test=test) for name, test in zip(names, (0.793, 0.819), strict=True)],
        [Comparison(names[1], names[0], 0.026, p=0.155)],
        dict(zip(names, (facts, induced), strict=True)),
        "F1 of 1",
    )
    show({"data": {}, "sections": [section], "verdict": "One model."}, None)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "F1 of 1 on the test documents"
    assert lines[-3:] == [
        "perceptron, baseline – – 55,268 81.80 79.30 – – 79.00",
        "perceptron, mi 25.00 0.10 55,268 81.80 81.90 +2.60 0.155 83.00",
        "One model.",
    ]
