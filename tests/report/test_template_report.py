"""What the page says of a template search: templates, steps, time, proxies and experiments."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featloom.report import TemplateExperiment, TemplatePart, check_result
from featloom.report.html import report_html
from featloom.report.templates import (
    proxy_words,
    rank_correlation,
    stage_seconds,
    summarize_templates,
)
from featloom.report.templates_figures import curves, lowest_shown, template_figures

FACTORS = [("maxent", [1]), ("maxent", [1, 2]), ("maxent", [1, 2, 3])]
FACTORS += [("memm", [1, 2, 4]), ("memm", [1, 2, 4, 5]), ("memm", [1, 2, 4, 5, 6])]


@pytest.fixture
def part() -> dict:
    """A screened search, and the six experiments of the paper's Table 2 with invented figures."""
    steps = [{"template": "word, pos", "kept": True, "reason": "there from the start"}]
    steps += [
        {"template": f"word[{j:+d}] & pos", "gain": 0.02 / j, "cost_s": 1.5, "kept": j < 5}
        for j in range(1, 7)
    ]
    experiments = [
        {"id": j, "model": name, "sets": sets, "f1": f1 + j / 500, "train_s": s, "tag_s": 0.1}
        for j, (model, sets) in enumerate(FACTORS, start=1)
        for name, f1, s in ((model, 0.90, 4.0), ("crf", 0.92, 40.0))
    ]
    return {
        "strategy": "screened",
        "sizes": {"train": 90, "test": 10},
        "gain_label": "nats a token",
        "steps": steps,
        "race": [{"templates": 4, "f1": 0.9}, {"templates": 6, "f1": 0.912, "kept": True}],
        "stages": {"search": 61.0, "train": 4.0},
        "proxies": [
            {"template": f"t{j}", "maxent": j, "memm": -j, "crf": j**2} for j in range(1, 5)
        ],
        "templates": [
            {"text": "word", "features": 1200},
            {"text": "word[-1] & pos", "features": 350, "gain": 0.02},
        ],
        "experiments": experiments,
    }


def summary_of(part: dict) -> dict:
    summary = summarize_templates(check_result({"template_search": part}).template_search)
    assert summary is not None
    return summary


def figures_of(part: dict) -> dict:
    checked = check_result({"template_search": part}).template_search
    return {figure.name: figure for figure in template_figures(checked)}


def texts(table: dict) -> list[list[str]]:
    return [[cell["text"] for cell in row["cells"]] for row in table["rows"]]


def test_a_template_stands_with_its_features_and_its_gain(part):
    table = summary_of(part)["templates"]
    assert texts(table) == [["word", "1,200", "–"], ["word[-1] & pos", "350", "0.02000"]]
    assert table["columns"][2]["note"] == "nats a token"


def test_steps_say_what_was_kept_and_what_it_took(part):
    summary = summary_of(part)
    assert summary["steps_note"] == "Strategy: screened. 5 of 7 steps were kept."
    first, second, *_ = texts(summary["steps"])
    assert first[1:3] == ["word, pos", "kept"]
    assert second == ["2", "word[+1] & pos", "kept", "+0.02000", "1.50", "–"]
    assert texts(summary["steps"])[-1][2] == "left out"


def test_the_size_that_was_taken_is_marked(part):
    assert texts(summary_of(part)["race"]) == [["4", "90.00", "–"], ["6", "91.20", "taken"]]


def test_gains_are_drawn_where_f1_was_not_measured(part):
    spec = figures_of(part)["templates-gain"].spec
    assert {value["step"] for value in _values(spec)} == {2, 3, 4, 5, 6, 7}
    measured = [step | {"f1": 0.9 + j / 100} for j, step in enumerate(part["steps"])]
    figure = figures_of(part | {"steps": measured})["templates-gain"]
    assert figure.caption == "F1 as templates are tried"
    assert [round(value["worth"], 6) for value in _values(figure.spec)][:2] == [90.0, 91.0]


def test_seconds_add_up_over_the_steps(part):
    values = _values(figures_of(part)["templates-cost"].spec)
    assert [value["spent"] for value in values] == [0, 1.5, 3, 4.5, 6, 7.5, 9]


def test_stages_may_be_of_several_data_sets():
    stages = [{"data": d, "name": "additions", "seconds": 2.0} for d in ("english", "chinese")]
    checked = check_result({"template_search": {"stages": stages}}).template_search
    assert stage_seconds(checked) == [("english: additions", 2.0), ("chinese: additions", 2.0)]
    assert stage_seconds(TemplatePart(stages={"search": 3.0})) == [("search", 3.0)]


def test_the_order_of_a_proxy_is_compared_with_that_of_the_crf(part):
    checked = check_result({"template_search": part}).template_search
    assert proxy_words(checked.proxies) == (
        "Rank correlation with the CRF: maximum entropy 1.00 (4 templates); "
        "MEMM −1.00 (4 templates)."
    )
    assert proxy_words([]) == ""


def test_the_four_curves_of_the_paper_are_drawn(part):
    names = [f"templates-{name}-0" for name in ("f1", "training", "tagging", "total")]
    drawn = figures_of(part)
    assert set(names) <= set(drawn)
    totals = {(v["experiment"], v["model"]): v["number"] for v in _values(drawn[names[3]].spec)}
    assert totals["1", "CRF"] == 40.1
    # Maximum entropy and MEMM are one line, as in the paper.
    assert {value["line"] for value in _values(drawn[names[0]].spec)} == {0, 1}


def test_models_of_one_experiment_keep_lines_of_their_own():
    both = [TemplateExperiment(id=1, model=model) for model in ("maxent", "memm", "crf")]
    assert curves(both) == {"maxent": "maximum entropy", "memm": "MEMM", "crf": "CRF"}


def test_two_data_sets_have_their_own_curves(part):
    twice = [one | {"data": data} for data in ("english", "chinese") for one in part["experiments"]]
    drawn = figures_of({"experiments": twice})
    assert len(drawn) == 8
    assert drawn["templates-f1-1"].caption == "chinese: F1 (%)"
    sizes = {"english": {"train": 5}, "chinese": {"train": 7}}
    facts = summary_of({"experiments": twice, "sizes": sizes})["facts"]
    assert facts[1] == ("chinese: training sentences", "7")


def test_published_figures_are_said_to_be_of_other_data(part):
    assert "on its own data" not in report_html({"template_search": part})
    part["experiments"][0]["published"] = 91.76
    page = re.sub(r"<[^>]*>", "", report_html({"template_search": part}))
    assert "Published figures are the paper’s, on its own data." in page
    assert "91.76" in page


def test_a_section_has_headings_for_what_there_is(part):
    page = report_html({"template_search": part})
    assert page.count("<h2>Feature templates</h2>") == 1
    for id, _ in summary_of(part)["contents"]:
        assert page.count(f'<h3 id="{id}"') == 1
    alone = report_html({"template_search": {"templates": part["templates"]}})
    assert "How they were found" not in alone
    assert "Feature templates" not in report_html({"template_search": {}})
    assert "Feature templates" not in report_html({})


def test_hostile_names_stay_text(part):
    evil = "</script><img src=x onerror=alert(1)>"
    part["templates"][0]["text"] = part["steps"][1]["template"] = evil
    part["proxies"][0]["template"] = part["experiments"][0]["model"] = evil
    part["stages"][evil] = 1.0
    page = report_html({"template_search": part})
    assert "<img src=x" not in page


@given(st.lists(st.integers(0, 20), min_size=2, max_size=12))
def test_ranks_know_only_order(values):
    other = [3 * value + 1 for value in values]
    found = rank_correlation(values, other)
    assert found == (None if len(set(values)) == 1 else 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_the_best_and_most_of_the_rest_are_shown(values):
    assert lowest_shown(values) <= max(values) + 1e-6
    assert sum(value >= lowest_shown(values) - 1e-6 for value in values) >= len(values) / 2


def _values(spec: dict) -> list[dict]:
    return (spec.get("data") or spec["layer"][0]["data"])["values"]
