"""What the page says of relevance carried between tasks: methods, controls, curves, vouchers."""

from __future__ import annotations

import html
import re

import pytest
from featloom.report.html import report_html
from featloom.report.transfer import MOST_NAMES, summarize_transfer
from featloom.report.transfer_figures import MOST_BARS, transfer_figures
from featloom.report.transfer_types import TransferPart

from featloom.errors import InputError
from featloom.report.page import check_result

ALONE = "linear SVM"
HOSTILE = ["<script>alert(1)</script>", '"onload="x', "\u202ereversed", "a" * 3000, "", "</bdi>"]


def method(name: str, kind: str, value: float, t: float | None = None, **more) -> dict:
    found = {"name": name, "kind": kind, "protocol": "folds", "value": value, "seconds": 1.5}
    found |= {"interval": [value - 0.01, value + 0.01], "features": 12.25}
    return found | ({} if t is None else {"t": t, "p": 0.0004, "against": ALONE}) | more


@pytest.fixture
def part(transfer_result) -> dict:
    return transfer_result["transfer"]


def summary_of(part: dict) -> dict:
    summary = summarize_transfer(check_result({"transfer": part}).transfer)
    assert summary is not None
    return summary


def figures_of(part: dict) -> dict:
    drawn = transfer_figures(check_result({"transfer": part}).transfer)
    return {figure.name: figure for figure in drawn}


def lines(table: dict) -> list[dict[str, str]]:
    labels = [column["label"] for column in table["columns"]]
    return [
        dict(zip(labels, (cell["text"] for cell in row["cells"]), strict=True))
        for row in table["rows"]
    ]


def values_of(figure) -> list[dict]:
    """The rows of the layer that names them all."""
    return (figure.spec.get("data") or figure.spec["layer"][-1]["data"])["values"]


def test_methods_are_printed_in_per_cent_with_their_test_over_tasks(part):
    alone, ours, control, paper = lines(summary_of(part)["methods"])
    assert (alone["right %"], alone["t"], alone["p"]) == ("87.38", "–", "–")
    assert (ours["right %"], ours["t"], ours["p"]) == ("89.03", "+4.25", "< 0.001")
    assert ours["interval"] == "88.03 to 90.03"
    assert (control["kind"], paper["kind"]) == ("control", "as published")
    assert (paper["published %"], paper["similarity by"]) == ("85.75", "semantic + syntactic")


def test_a_note_says_what_the_tests_are_against_and_what_a_control_is(part):
    note = summary_of(part)["methods_note"]
    assert note.startswith("Random folds. t and p are paired over tasks, against linear SVM.")
    assert "a gain that it has too is no gain by transfer" in note
    assert note.endswith("Published figures are the paper’s, on its own data.")
    bare = summary_of({"methods": [method("a", "ours", 0.5)]})["methods_note"]
    assert bare == "Random folds."


def test_tests_against_several_methods_name_each():
    methods = [method("a", "ours", 0.5, 1.0), method("b", "ours", 0.5, 2.0, against="flat cost")]
    assert [one["against"] for one in lines(summary_of({"methods": methods})["methods"])] == [
        ALONE,
        "flat cost",
    ]


def test_controls_are_drawn_hollow_and_published_figures_as_marks(part):
    figure = figures_of(part)["transfer-methods-0"]
    values = values_of(figure)
    assert [value["control"] for value in values] == [False, False, True, False]
    assert [value["published"] for value in values][-1] == 85.75
    labels = [entry.label for entry in figure.legend[0]]
    assert labels == ["here, with its interval", "control", "published"]


def test_each_protocol_has_a_figure_of_its_own(part):
    methods = [*part["methods"], method(ALONE, "baseline", 0.86, protocol="documents")]
    drawn = figures_of(part | {"methods": methods})
    kinds = [one["protocol"] for one in lines(summary_of(part | {"methods": methods})["methods"])]
    assert kinds == ["random folds"] * 4 + ["whole documents held out"]
    captions = [drawn[f"transfer-methods-{j}"].caption for j in range(2)]
    assert captions == [
        "Right answers, random folds",
        "Right answers, whole documents held out",
    ]


def test_the_curve_ends_with_all_rows(part):
    table = lines(summary_of(part)["curve"])
    assert table == [
        {"rows of a task": "20", ALONE: "73.36", "with the prior": "76.43"},
        {"rows of a task": "all", ALONE: "87.38", "with the prior": "89.03"},
    ]
    figure = figures_of(part)["transfer-curve"]
    assert figure.spec["layer"][0]["encoding"]["x"]["sort"] == ["20", "all"]
    assert [entry.label for entry in figure.legend[0]] == [ALONE, "with the prior"]


def test_one_number_of_rows_makes_no_line(part):
    points = [point for point in part["curve"] if point["rows"] == 20]
    assert "transfer-curve" not in figures_of({"curve": points})
    assert summary_of({"curve": points})["curve"]


def test_tasks_stand_by_what_they_gain(part):
    first, second = lines(summary_of(part)["tasks"])
    assert (first["task"], first["gain"]) == ("ask", "+25.00")
    assert (second["task"], second["gain"], second["alone %"]) == ("add", "+10.00", "80.00")


def test_the_largest_cluster_comes_first_with_what_it_shares(part):
    first, second = lines(summary_of(part)["clusters"])
    assert (first["who"], first["shared features"]) == ("ask.01, tell.01", "iobj_me")
    assert second["members"] == "1"


def test_families_stand_by_rate_with_the_counts_it_rests_on(part):
    first, second = lines(summary_of(part)["families"])
    assert first == {
        "family": "dobj",
        "P(relevant) %": "3.10",
        "features": "2,000",
        "chosen": "62",
        "candidates": "2,000",
    }
    assert second["family"] == "tp"
    drawn = values_of(figures_of(part)["transfer-families"])
    assert [value["label"] for value in drawn] == ["dobj · 62 of 2,000", "tp · 120 of 30,000"]


def test_the_likeliest_of_many_families_are_drawn():
    families = [{"name": f"f{j}", "rate": j / 100} for j in range(60)] + [{"name": "no rate"}]
    figure = figures_of({"families": families})["transfer-families"]
    assert [value["family"] for value in values_of(figure)] == [
        f"f{59 - j}" for j in range(MOST_BARS)
    ]
    assert figure.caption == f"The {MOST_BARS} likeliest families"


def test_a_chosen_feature_shows_its_cost_before_and_after_and_who_vouched(part):
    summary = summary_of(part)
    money, day = lines(summary["chosen"])
    assert (money["saved, bits"], money["cost before"], money["cost after"]) == (
        "14.4",
        "16.1",
        "7.3",
    )
    assert (money["vouchers"], money["tasks that vouched"]) == ("2", "pay, lend")
    assert (day["vouchers"], day["tasks that vouched"]) == ("0", "–")
    assert summary["chosen_title"] == "What “add” chose, and who vouched for it"


def test_of_many_vouchers_the_first_are_named():
    names = [f"task{j}" for j in range(100)]
    chosen = {"task": "t", "features": [{"name": "f", "vouchers": names}]}
    (line,) = lines(summary_of({"chosen": chosen})["chosen"])
    assert line["tasks that vouched"].endswith(f"task{MOST_NAMES - 1} and 70 more")


def test_the_page_has_the_sections_that_the_result_has(part):
    page = report_html({"transfer": part})
    for place in ("methods", "curve", "tasks", "clusters", "families", "chosen"):
        assert f'id="transfer-{place}"' in page
        assert f'href="#transfer-{place}"' in page
    bare = report_html({"transfer": {"families": part["families"]}})
    assert 'id="transfer-families"' in bare
    assert 'id="transfer-methods"' not in bare


@pytest.mark.parametrize("field", TransferPart.__struct_fields__)
def test_any_field_may_be_missing_or_stand_alone(part, field):
    report_html({"transfer": {name: value for name, value in part.items() if name != field}})
    report_html({"transfer": {field: part[field]}})


@pytest.mark.parametrize("name", ["families", "methods", "curve", "per_task", "clusters"])
def test_any_field_of_an_entry_may_be_missing(part, name):
    for field in part[name][0]:
        entries = [{k: v for k, v in one.items() if k != field} for one in part[name]]
        report_html({"transfer": part | {name: entries}})
    report_html({"transfer": {name: [{}]}})


def test_nothing_at_all_shows_no_section():
    assert summarize_transfer(None) is None
    assert summarize_transfer(TransferPart()) is None
    empty = {"methods": [], "clusters": [{}], "chosen": {}}
    assert 'id="transfer"' not in report_html({"transfer": empty})


def test_names_from_data_are_shown_and_never_run():
    nan = float("nan")
    hostile = {
        "families": [{"name": name, "rate": nan, "selected": -1} for name in HOSTILE],
        "methods": [
            {"name": name, "kind": name, "protocol": name, "value": 0.5, "against": name}
            | {"setting": name, "t": nan, "p": nan, "interval": [nan, 1.0]}
            for name in HOSTILE
        ],
        "curve": [{"method": name, "rows": j, "value": 0.5} for j, name in enumerate(HOSTILE * 3)],
        "per_task": [{"name": name, "alone": nan, "helped": 1e300} for name in HOSTILE],
        "clusters": [{"name": name, "members": HOSTILE, "features": HOSTILE} for name in HOSTILE],
        "chosen": {
            "task": HOSTILE[0],
            "features": [{"name": n, "class": n, "vouchers": HOSTILE, "saved": 5} for n in HOSTILE],
        },
    }
    page = report_html({"transfer": hostile})
    shown = re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    assert HOSTILE[0] not in page
    assert html.escape(HOSTILE[0]) in shown
    assert "\u202e" not in page


def test_what_is_of_the_wrong_kind_is_refused_by_its_place():
    with pytest.raises(InputError, match=r"the result cannot be shown: .*\$\.transfer\.families"):
        check_result({"transfer": {"families": [{"rate": "much"}]}})
