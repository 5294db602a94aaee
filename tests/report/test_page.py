"""The page is one file that says what the result says, whatever the result holds."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.report.page import check_result, code_lines, report_html, write_report
from featloom.results import Result
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
        self.links: list[str] = []
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
            if name == "href" and (value or "").startswith("#"):
                self.links.append(value[1:])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.open and self.open[-1] != "style":
            self.text.append(data)


def words_of(result: dict) -> str:
    return " ".join(" ".join(Page(report_html(result)).text).split())


def test_a_page_says_what_the_result_says_in_its_order(result):
    page = report_html(result)
    parsed = Page(page)
    names = [
        "data", "leaderboard", "chosen", "not-compared", "tests", "curves", "features", "grid",
        "search", "trees", "errors", "use", "time", "reproduce",
    ]  # fmt: skip
    assert [link for link in parsed.links if link != "content"] == names
    assert [one for one in parsed.ids if one in names] == names
    text = "".join(parsed.text)
    for words in (
        result["verdict"], "The difference is significant.", result["chosen_why"],
        "a table of 14 columns", "52 rows of the part held out", "A fifth held out; five folds.",
        "Conjunctions", "The first 16 of 60.", "1 of 5 heads differs.", result["command"],
    ):  # fmt: skip
        assert words in text
    assert page.index('class="verdict"') < page.index('class="warned"')


def test_a_section_of_a_name_that_is_taken_gets_a_place_of_its_own(result):
    twice = {"name": "Leaderboard", "note": "another"}
    ids = Page(report_html(result | {"sections": [twice, {"name": "!", "note": "x"}]})).ids
    assert [one for one in ids if one.startswith(("leaderboard", "section"))][-2:] == [
        "leaderboard-2", "section",
    ]  # fmt: skip


def test_the_drawing_library_is_in_the_page_once_and_the_page_stays_small(result):
    page = report_html(result)
    runnable = [body for attributes, body in Page(page).scripts if "type" not in attributes]
    assert [("vegaEmbed=" in body) for body in runnable] == [True, False]
    assert len(page.encode()) < 1_500_000


def test_a_page_without_figures_has_no_drawing_library():
    page = report_html({"kind": "memory", "data": {"source": "dimin", "rows": 2999}})
    assert "2,999" in page
    assert "vegaEmbed=" not in page


@pytest.mark.parametrize("which", ["result", "hostile_result"])
def test_tags_balance_nothing_runs_and_nothing_is_fetched(which, request):
    page = Page(report_html(request.getfixturevalue(which)))
    assert page.open == []
    assert page.dangerous == []
    assert len(page.ids) == len(set(page.ids))
    assert set(page.links) <= set(page.ids)
    kinds = [attributes.get("type") for attributes, _ in page.scripts]
    assert kinds.count(None) == 2
    for attributes, body in page.scripts:
        if attributes.get("type") == "application/json":
            json.loads(body)


def test_only_the_scripts_written_here_may_run(hostile_result):
    page = report_html(hostile_result)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    script_sources = policy.split("script-src")[1]
    assert "default-src &#39;none&#39;" in policy
    assert script_sources.count("sha256-") == 2
    assert "unsafe" not in script_sources


def test_names_from_data_are_shown_and_never_read_as_html(hostile_result):
    page = report_html(hostile_result)
    text = "".join(Page(page).text)
    assert "<script>alert(1)</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "\\u202e" in text
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "<img src" not in re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)


FIELDS = [name for name in Result.__struct_fields__ if name != "schema"]


@pytest.mark.parametrize("field", FIELDS)
def test_any_part_may_be_missing_or_stand_alone(result, field):
    alone = {field: result.pop(field, None)}
    for one in (result, {k: v for k, v in alone.items() if v is not None}):
        page = Page(report_html(one))
        assert page.open == []
        assert set(page.links) <= set(page.ids)


@pytest.mark.parametrize("part", ["leaderboard", "comparisons", "curves", "sections", "use"])
def test_any_field_of_an_entry_may_be_missing(result, part):
    for field in sorted({field for entry in result[part] for field in entry} - {"a", "b"}):
        entries = [{k: v for k, v in one.items() if k != field} for one in result[part]]
        report_html(result | {part: entries})


def test_any_field_of_a_block_may_be_missing(result):
    blocks = [block for section in result["sections"] for block in section["blocks"]]
    for block in blocks:
        for field in set(block) - {"block"}:
            some = {k: v for k, v in block.items() if k != field}
            assert Page(report_html({"sections": [{"name": "s", "blocks": [some]}]})).open == []


def test_nothing_at_all_is_a_page_that_says_so():
    assert "The result does not describe its data." in words_of({})


def test_a_part_of_the_wrong_kind_is_refused_by_its_place():
    with pytest.raises(InputError, match=r"expected `int \| null`, got `str` - at `\$.data.rows`"):
        report_html({"data": {"rows": "many"}})
    with pytest.raises(InputError, match=r"the result cannot be shown: .*\$\.leaderboard\[0\]"):
        check_result({"leaderboard": [{"value": "much"}]})


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_number_that_is_none_to_a_computer_is_refused(number):
    with pytest.raises(InputError) as caught:
        report_html({"timing": {"total_s": 1.0}, "data": {"rows": number}})
    assert str(caught.value) == "the result cannot be shown: a number in it is too large"


OLD = {
    "schema": 1, "kind": "induction", "command": "featloom induce words.tsv",
    "verdict": "Conjunctions add 3 points.", "data": {"source": "words.tsv", "rows": 80},
    "models": [{"name": "linear", "metric": "F1 of S", "value": 0.8, "interval": [0.7, 0.9],
                "features": 30, "cross_validated": 0.79, "published": 71.5}],
    "comparisons": [{"a": "joined", "b": "linear", "difference": 0.03, "p": 0.01,
                     "significant": True}],
    "induction": {"score_label": "mutual information", "kept": {"atomic": 2},
                  "histograms": {"atomic": {"edges": [0, 1], "counts": [2]}},
                  "conjunctions": [{"name": "Prev=a & Last=e", "support": 7, "score": 0.25}]},
    "memory": [{"task": "letters", "settings": [
        {"name": "default", "k": 1, "weights": "gain_ratio", "modes": ["overlap", "ignore"],
         "validation": 0.7, "test": 0.71, "fits": 1}]}],
    "trees": {"tree": {"n_nodes": 3, "nodes": [{"id": 0, "parent": -1, "column": "side"}]},
              "sentences": [{"words": ["He", "ran"], "gold": [2, 0], "predicted": [2, 0]}]},
    "findings": [{"method": "linear", "title": "weights", "columns": ["feature", "weight"],
                  "rows": [["Last=e", 1.5]]}],
}  # fmt: skip


def test_a_result_of_schema_1_still_opens():
    text = words_of(OLD)
    for words in (
        "Conjunctions add 3 points.", "linear", "80.00", "70.00 to 90.00", "71.50", "joined",
        "Prev = a & Last = e", "default", "k 1, gain_ratio, 1 features", "None of 2 heads differs.",
        "The whole tree has 3 nodes", "Last = e", "mutual information",
    ):  # fmt: skip
        assert words in text.replace("=", " = ").replace("  ", " ") or words in text


@pytest.mark.parametrize("part", sorted(set(OLD) - {"schema"}))
@pytest.mark.parametrize("value", [3, "x", [3], [[]], {"a": 3}, [{"published": "x"}], {"tree": 3}])
def test_a_part_of_schema_1_that_is_none_is_shown_or_refused(part, value):
    with suppress(InputError):
        assert Page(report_html(OLD | {part: value})).open == []


def test_code_keeps_its_lines(result):
    assert code_lines("a\r\nb\x00\u202e") == "a\nb\\x00\\u202e"
    assert "import featloom\n\nmodel = featloom.load(&#39;RUN&#39;)" in report_html(result)


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


def test_the_report_of_a_run_lies_beside_its_result(tmp_path, result):
    run = Run.create(tmp_path / "run")
    run.write_result(result)
    assert write_report(run) == tmp_path / "run" / "report.html"
    again = write_report(run).read_text(encoding="utf-8")
    assert again == report_html(run.result())


def test_the_command_writes_the_page_and_says_where(tmp_path, result):
    import typer
    from typer.testing import CliRunner

    from featloom.cli.report import report

    app = typer.Typer()
    app.callback()(lambda: None)
    app.command()(report)
    run = Run.create(tmp_path / "run")
    run.write_result(result)
    done = CliRunner().invoke(app, ["report", str(run.path)])
    assert done.exit_code == 0
    assert done.output.strip().replace("\n", "") == str(run.path / "report.html")
    assert CliRunner().invoke(app, ["report", str(run.path), "--quiet"]).output == ""
    refused = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert isinstance(refused.exception, InputError)
    assert str(refused.exception) == f"{tmp_path} is not a featloom run"
