"""The page is one file that says what the result says, whatever the result holds."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.report import Cell, check_result
from featloom.report.figures import figures, pareto_front
from featloom.report.html import report_html, write_report
from featloom.report.summarize import feature_table, summarize
from featloom.runs import Run
from featloom.shown import html_table, visible

VOID = {"meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """Tags that are left open, text by tag, and attributes that would run or fetch something."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.scripts: list[tuple[dict, str]] = []
        self.text: list[str] = []
        self.dangerous: list[tuple[str, str, str | None]] = []
        self.ids: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        for name, value in attrs:
            outside = name in ("src", "href") and not (value or "").startswith(("#", "data:,"))
            if name.startswith("on") or outside:
                self.dangerous.append((tag, name, value))
            if name == "id":
                self.ids.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.open and self.open[-1] != "style":
            self.text.append(data)


@pytest.fixture(scope="module")
def sample_page(sample_result) -> str:
    return report_html(sample_result)


@pytest.fixture(scope="module")
def hostile_page(hostile_result) -> str:
    return report_html(hostile_result)


@pytest.fixture(scope="module")
def memory_page(memory_result) -> str:
    return report_html(memory_result)


@pytest.fixture(scope="module")
def hostile_memory_page(hostile_memory_result) -> str:
    return report_html(hostile_memory_result)


def test_a_page_says_what_the_result_says(sample_page, sample_result):
    text = "".join(Page(sample_page).text)
    assert sample_result["verdict"] in text
    best = sample_result["induction"]["conjunctions"][0]
    assert best["name"] in text
    assert f"{best['score']:.4f}" in text
    assert sample_result["command"] in text
    kept = sample_result["induction"]["kept"]
    assert f"Conjunctions: the best 60 of {kept['conjunctions']} kept" in text
    assert f"Atomic features ({kept['atomic']})" in text
    assert sample_result["models"][1]["name"] in text


def test_the_drawing_library_is_in_the_page_once_and_the_page_stays_small(sample_page):
    scripts = Page(sample_page).scripts
    runnable = [body for attributes, body in scripts if "type" not in attributes]
    assert [("vegaEmbed=" in body) for body in runnable] == [True, False]
    assert len(sample_page.encode()) < 1_500_000


def test_a_page_has_a_figure_for_each_histogram_metric_and_grid(sample_result):
    drawn = [figure.name for figure in figures(check_result(sample_result))]
    assert drawn == ["scores-0", "scores-1", "models-0", "grid", "pareto"]


@pytest.mark.parametrize(
    "which", ["sample_page", "hostile_page", "memory_page", "hostile_memory_page"]
)
def test_tags_balance_nothing_runs_and_nothing_is_fetched(which, request):
    page = Page(request.getfixturevalue(which))
    assert page.open == []
    assert page.dangerous == []
    assert len(page.ids) == len(set(page.ids))
    kinds = [attributes.get("type") for attributes, _ in page.scripts]
    assert kinds.count(None) == 2
    for attributes, body in page.scripts:
        if attributes.get("type") == "application/json":
            json.loads(body)


def test_only_the_scripts_written_here_may_run(hostile_page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', hostile_page)[1]
    script_sources = policy.split("script-src")[1]
    assert "default-src &#39;none&#39;" in policy
    assert script_sources.count("sha256-") == 2
    assert "unsafe" not in script_sources


@pytest.mark.parametrize("which", ["hostile_page", "hostile_memory_page"])
def test_names_from_data_are_shown_and_never_read_as_html(which, request):
    hostile_page = request.getfixturevalue(which)
    text = "".join(Page(hostile_page).text)
    assert "<script>alert(1)</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "\\u202e" in text
    assert "\u202e" not in hostile_page
    assert "\x00" not in hostile_page


def test_every_part_of_a_result_may_be_missing(sample_result):
    for part in ("data", "induction", "models", "grid", "comparisons"):
        partial = {name: value for name, value in sample_result.items() if name != part}
        assert Page(report_html(partial)).open == []
    for part in ("kind", "command", "versions", "seed", "timing", "parameters", "verdict"):
        assert Page(report_html({part: sample_result[part]})).open == []
    for part in sample_result["induction"]:
        induction = {n: v for n, v in sample_result["induction"].items() if n != part}
        assert Page(report_html({"induction": induction})).open == []
    for part in sample_result["data"]:
        data = {name: value for name, value in sample_result["data"].items() if name != part}
        assert Page(report_html({"data": data})).open == []
    assert Page(report_html({})).open == []


def test_every_part_of_memory_based_learning_may_be_missing(memory_result):
    whole = memory_result["memory"][1]
    for part in whole:
        some = {name: value for name, value in whole.items() if name != part}
        assert Page(report_html({"memory": [some]})).open == []
        assert Page(report_html({"memory": [{part: whole[part]}]})).open == []
    assert Page(report_html({"memory": [{}, whole]})).open == []


def test_a_result_of_another_kind_still_has_a_page():
    page = report_html({"kind": "memory", "data": {"source": "dimin", "rows": 2999}})
    assert "2,999" in page
    assert "vegaEmbed=" not in page


def test_a_part_of_the_wrong_kind_is_refused_by_its_place():
    with pytest.raises(InputError, match=r"expected `int \| null`, got `str` - at `\$.data.rows`"):
        report_html({"data": {"rows": "many"}})


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_number_that_is_none_to_a_computer_is_refused(number):
    with pytest.raises(InputError) as caught:
        report_html({"timing": {"total_s": 1.0}, "data": {"rows": number}})
    assert str(caught.value) == "the result cannot be shown: a number in it is too large"


def test_two_metrics_get_a_chart_each():
    models = [{"name": "a", "metric": m, "value": 0.5} for m in ("F1", "accuracy", "F1")]
    drawn = figures(check_result({"models": models}))
    assert [(figure.caption, figure.name) for figure in drawn] == [
        ("F1", "models-0"),
        ("accuracy", "models-1"),
    ]


def test_edges_that_grow_by_a_factor_are_drawn_on_a_logarithmic_axis():
    def scale(edges):
        counts = [1] * (len(edges) - 1)
        result = {"induction": {"histograms": {"atomic": {"edges": edges, "counts": counts}}}}
        return figures(check_result(result))[0].spec["encoding"]["x"]["scale"]["type"]

    assert scale([0.001, 0.01, 0.1, 1]) == "log"
    assert scale([0, 1, 2, 3]) == "linear"


def test_scores_share_a_scale_unless_one_kind_would_vanish_on_it():
    def domains(highest):
        atomic = {"edges": [0, 1], "counts": [5]}
        conjunctions = {"edges": [0, highest], "counts": [5]}
        result = {"histograms": {"atomic": atomic, "conjunctions": conjunctions}}
        drawn = figures(check_result({"induction": result}))
        return [figure.spec["encoding"]["x"]["scale"]["domain"] for figure in drawn]

    assert domains(2) == [[0, 2], [0, 2]]
    assert domains(100) == [[0, 1], [0, 100]]


def test_a_table_with_many_classes_names_the_most_frequent():
    features = check_result(
        {"induction": {"conjunctions": [{"name": "Next=e", "class_counts": [0, 9, 1, 0, 30, 2]}]}}
    ).induction.conjunctions
    table = feature_table(features, list("abcdef"), [10] * 6)
    labels = [column["label"] for column in table["columns"]]
    cells = dict(zip(labels, table["rows"][0]["cells"], strict=True))
    assert cells["classes"]["text"] == "e: 30 · b: 9 · f: 2 · 1 more"
    assert cells["leans to"]["text"] == "e"
    assert "weight" not in labels


def test_lift_is_the_share_among_the_rows_with_the_feature_over_the_share_among_all():
    features = check_result(
        {"induction": {"conjunctions": [{"name": "A=1 & B=2", "class_counts": [10, 30]}]}}
    ).induction.conjunctions
    table = feature_table(features, ["no", "yes"], [900, 100])
    assert [cell["text"] for cell in table["rows"][0]["cells"]] == [
        "A=1 & B=2",
        "10",
        "30",
        "yes",
        "7.5",
    ]


def test_families_are_listed_from_the_largest():
    families = [{"name": "A", "features": 2, "single_valued": True}]
    families += [{"name": "B", "features": 6, "single_valued": False}]
    table = summarize(check_result({"data": {"families": families}}))["families"]
    assert [[cell["text"] for cell in row["cells"]] for row in table["rows"]] == [
        ["B", "6", "several a row", "75.0%"],
        ["A", "2", "one a row", "25.0%"],
    ]


@given(
    st.lists(
        st.builds(
            Cell,
            k=st.just(1.0),
            l=st.just(1.0),
            mean=st.floats(0, 1),
            features=st.integers(1, 100),
        ),
        min_size=1,
    )
)
def test_no_cell_beats_the_front_with_as_few_features(cells):
    front = pareto_front(cells)
    sizes, means = [c.features for c in front], [c.mean for c in front]
    assert sizes == sorted(set(sizes))
    assert means == sorted(set(means))
    for cell in cells:
        assert any(c.features <= cell.features and c.mean >= cell.mean for c in front)


@given(st.text())
def test_visible_text_holds_nothing_that_hides_or_turns(text):
    shown = visible(text)
    assert not set(shown) & set("\x00\n\t\r\u202e\u2066\u2028")
    assert visible(shown) == shown


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_fragment_for_a_notebook_holds_any_name(name):
    page = Page(html_table(["feature", name], [[name, "0.5"]]))
    assert page.open == []
    assert page.scripts == []
    assert visible(name) in "".join(page.text)


def test_a_fragment_counts_what_it_does_not_show():
    fragment = html_table(["feature", "rows"], [[f"x{j}", "3"] for j in range(10)], more=20)
    assert fragment.count("<tr>") == 11
    assert "and 20 more" in fragment


def test_the_report_of_a_run_lies_beside_its_result(tmp_path, sample_result):
    run = Run.create(tmp_path / "run")
    run.write_result(sample_result)
    assert write_report(run) == tmp_path / "run" / "report.html"
    again = write_report(run).read_text(encoding="utf-8")
    assert again == report_html(run.result())


def test_the_command_writes_the_page_and_says_where(tmp_path, sample_result):
    import typer
    from typer.testing import CliRunner

    from featloom.cli.report import report

    app = typer.Typer()
    app.callback()(lambda: None)
    app.command()(report)
    run = Run.create(tmp_path / "run")
    run.write_result(sample_result)
    done = CliRunner().invoke(app, ["report", str(run.path)])
    assert done.exit_code == 0
    assert done.output.strip().replace("\n", "") == str(run.path / "report.html")
    assert CliRunner().invoke(app, ["report", str(run.path), "--quiet"]).output == ""
    refused = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception) == f"{tmp_path} is not a featloom run"
