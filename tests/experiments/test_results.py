"""What the experiments find on small samples, and how it is shown."""

from __future__ import annotations

import json

import pytest
from small_runs import SMALL, experiment

from experiments.memory import METHODS as SEARCHES
from experiments.runner import reproduce, show
from experiments.templates import PROXIES, TEXTS
from experiments.transfer import COLD, CURVE, CURVE_ROWS, METHODS, PROTOCOLS, WORLD_WORDS
from experiments.trees import TREEBANKS, System
from featloom.errors import InputError
from featloom.report.page import check_result
from featloom.results import Grid, Intervals
from featloom.runs import Run


@pytest.mark.parametrize("name", SMALL)
def test_tables_fit_into_eighty_columns(name, result_of, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    show(result_of(name), tmp_path / "report.html")
    out = capsys.readouterr().out
    # Words are one line each where nobody sees them; tables have columns.
    assert all(len(line) <= 80 for line in out.splitlines() if "  " in line or "──" in line)
    assert "…" not in out
    assert {
        "memory": "GU ",
        "templates": " screening",
        "bosque": "31 columns gold",
        "tables": "LightGBM",
        "chunks": "grown, thinned",
        "table": "TransFeat, syntactic",
        "curve": "rows a task",
    }[name] in out


@pytest.mark.parametrize("name", SMALL)
def test_a_sample_is_said_to_be_one(name, result_of):
    result, sample = result_of(name), SMALL[name][1]["sample"]
    unit = {"memory": "rows"}.get(name, "sentences")
    said = f"a sample of up to {sample} training {unit}, not the whole data"
    if name in ("table", "curve"):
        said = f"a sample of {sample} tasks, not all of them"
    assert result["data"]["warnings"][0] == said
    if name == "memory":
        assert result["data"]["warnings"][1] == "searches were stopped after 25 evaluations"


@pytest.mark.parametrize("name", SMALL)
def test_the_page_reads_the_result(name, result_of):
    result = result_of(name)
    read = check_result(result)
    assert read.kind == result["kind"] == experiment(SMALL[name][0]).kind
    assert read.verdict
    assert [one.name for one in read.sections] == [one.name for one in result["sections"]]


@pytest.mark.parametrize("name", ["chunks", "table"])
def test_a_finished_run_is_read_from_its_journal(name, result_of, run_of):
    of, asked = SMALL[name]
    assert reproduce(experiment(of), run_of(name), **asked) == result_of(name)


def test_a_journal_of_other_folds_is_refused(result_of, run_of):
    result_of("table")
    with pytest.raises(InputError, match=r"other data|journal"):
        reproduce(experiment("transfer"), run_of("table"), **SMALL["table"][1] | {"n_folds": 3})


def test_a_stopped_run_goes_on_to_the_same_end(result_of, tmp_path):
    def stop(done, *_):
        if done == 9:
            raise TimeoutError("stopped")

    run, (of, asked) = Run.create(tmp_path / "run"), SMALL["curve"]
    with pytest.raises(TimeoutError):
        reproduce(experiment(of), run, **asked, progress=stop)
    begun = []
    found = reproduce(experiment(of), run, **asked, progress=lambda done, *_: begun.append(done))
    for part in ("comparisons", "verdict", "evaluations"):
        assert found[part] == result_of("curve")[part]
    assert found["evaluations"] == begun[-1]


def rows_of(grid) -> list[dict]:
    """The rows of a table, by the heads of its columns."""
    heads = [column.label for column in grid.columns]
    plain = [[c["value"] if isinstance(c, dict) else c for c in row] for row in grid.rows]
    return [dict(zip(heads, row, strict=True)) for row in plain]


def table_of(result: dict, name: str, title: str = "") -> list[dict]:
    """The rows of a table in the section with this name or title."""
    (section,) = [one for one in result["sections"] if name in (one.name, one.title)]
    (found,) = [b for b in section.blocks if isinstance(b, Grid) and b.title == title]
    return rows_of(found)


class TestMemory:
    @pytest.fixture
    def section(self, result_of):
        (section,) = result_of("memory")["sections"]
        return section

    @pytest.fixture
    def rows(self, section):
        return rows_of(section.blocks[0])

    def test_the_table_has_the_shape_of_the_paper(self, section, rows):
        assert [row["method"] for row in rows] == ["DE", "EX", *SEARCHES, *SEARCHES]
        published = [round(100 * row["paper %"], 2) for row in rows if row["paper %"]]
        assert published == [82.63, 85.43, 84.39, 84.39, 84.54, 84.88, 85.15, 84.97]
        assert section.title.endswith("(pos-unknown, 300 / 37 / 37 rows)")
        assert [len(figure.lines) for figure in section.blocks[1:3]] == [10, 8]

    def test_features_alone_are_searched_with_the_default_parameters(self, rows):
        for row in rows:
            if row["searched"] in ("", "features"):
                assert (row["k"], row["weights"]) == (1, "gain ratio")

    def test_the_exhaustive_search_is_the_best_of_its_curves(self, section, rows):
        best = max(score for line in section.blocks[1].lines for score in line.y)
        assert next(row for row in rows if row["method"] == "EX")["valid %"] == best

    def test_our_search_begins_with_the_grid_and_cannot_end_below_it(self, rows):
        of = {(row["method"], row["searched"]): row["valid %"] for row in rows}
        assert of["GU", "both"] >= of["EX", "parameters"]


class TestTemplates:
    @pytest.mark.parametrize("text", [title for title, *_ in TEXTS.values()])
    def test_the_table_has_the_shape_of_the_paper(self, text, result_of):
        result = result_of("templates")
        rows = table_of(result, text, "F1")
        assert [row["experiment"] for row in rows] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
        assert [row["model"] for row in rows] == ["ME", "CRF"] * 3 + ["MEMM", "CRF"] * 3
        assert [row["templates"] for row in rows[::2]] == [26, 34, 42, 35, 38, 40]
        assert all(0.5 < row["F1 %"] < 1 for row in rows)
        # The plain label pair is always in the CRF.
        assert rows[3]["F1 %"] == rows[7]["F1 %"]
        drawn = [b for s in result["sections"] if s.title == text for b in s.blocks[:4]]
        assert [[len(line.x) for line in figure.lines] for figure in drawn] == [[6, 6]] * 4
        ranked = f"{text}: does a cheap model tell what a CRF would?"
        titles = [row["one template more, ranked by"] for row in table_of(result, ranked)]
        assert titles == [title for _, title in PROXIES.values()]
        (section,) = [one for one in result["sections"] if one.title == ranked]
        assert len(section.blocks[0].points) == 2 * 36


class TestTrees:
    def test_the_table_has_the_rows_of_the_chapter(self, result_of):
        result = result_of("bosque")
        rows = table_of(result, "UD Bosque")
        systems = TREEBANKS["bosque"].systems
        assert [row["system"] for row in rows] == [system.name for system in systems]
        assert all(0.3 < row["UAS %"] < 1 for row in rows)
        published = [s.published and s.published / 100 for s in systems]
        assert [row["published %"] for row in rows] == published
        assert {r["seeds"] for r in table_of(result, "UD Bosque", "What they took")} == {2}
        (figure,) = [b for b in result["sections"][0].blocks if isinstance(b, Intervals)]
        assert all(dot.interval[0] <= dot.value <= dot.interval[1] for dot in figure.dots)
        assert [dot.second for dot in figure.dots] == published
        tests = {test["a"]: test["b"] for test in result["comparisons"]}
        manual = System("first", "manual", "mira").name
        assert tests["UD Bosque: EFG, MIRA"] == f"UD Bosque: {manual}"
        assert len(tests) == len(rows) - 2

    def test_three_tables_have_a_linear_model_with_and_without_templates(self, result_of):
        result = result_of("tables")
        for title in ("letter to sound", "PP attachment", "chunk labels in windows"):
            own = {row["system"]: row for row in table_of(result, title, "What they took")}
            basic, joined = own["linear, basic"], own["linear, templates"]
            assert basic["templates"] <= joined["templates"]
            assert basic["features"] <= joined["features"]
            assert all(0.3 < row["accuracy %"] <= 1 for row in table_of(result, title))
        assert all(test["b"].endswith("linear, basic") for test in result["comparisons"])

    def test_templates_of_a_tagger_are_thinned(self, result_of):
        result = result_of("chunks")
        rows = {row["system"]: row for row in table_of(result, "English chunks", "What they took")}
        assert rows["grown, thinned"]["templates"] <= rows["grown"]["templates"]
        assert all(0.5 < row["F1 %"] < 1 for row in table_of(result, "English chunks"))
        plans = {one.title: one.code for one in result["sections"][-1].blocks}
        grown, thinned = (
            {frozenset(map(tuple, t["places"])) for t in json.loads(plans[name])["templates"]}
            for name in ("grown", "grown, thinned")
        )
        assert thinned <= grown


class TestTransfer:
    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_every_method_answers_in_both_protocols(self, protocol, result_of, rows_of):
        rows = rows_of(result_of("table"), "table", PROTOCOLS[protocol])
        names = [row["method"]["value"] for row in rows]
        assert names == [method.name for method in METHODS.values()]
        for row in rows:
            low, high = (float(end) for end in row["right"]["under"].split(" to "))
            assert 0 < low <= 100 * row["right"]["value"] + 0.01 <= high + 0.02 <= 100.02

    def test_the_papers_figures_stand_beside_ours(self, result_of, rows_of):
        result = result_of("table")
        published = {
            row["method"]["value"]: (row["paper"]["value"], row["paper"]["under"])
            for row in rows_of(result, "table", "folds by sense")
        }
        shares = {name: (round(100 * one, 2), under) for name, (one, under) in published.items()
                  if one is not None}  # fmt: skip
        assert shares["TransFeat"] == (85.75, "")
        assert shares["MDL selection"] == (83.50, "83.09 / 83.34")
        assert shares["alternating structure (Ando)"] == (85.94, "85.00 / 85.51")
        assert "+2.25" in result["verdict"]

    def test_what_transfers_is_tested_against_its_control(self, result_of):
        pairs = {
            tuple(name.partition(": ")[2] for name in (test["a"], test["b"]))
            for test in result_of("table")["comparisons"]
        }
        ours = "relevance prior + linear SVM"
        assert {
            (ours, "linear SVM"),
            (ours, "shuffled prior + linear SVM"),
            ("relevance prior + MDL selection", "MDL selection, flat cost tuned"),
            ("TransFeat", "TransFeat without clusters"),
        } <= pairs

    def test_families_and_features_are_there_to_look_at(self, result_of, rows_of):
        result = result_of("table")
        assert {"dobj", "tp"} <= {row["family"] for row in rows_of(result, "Families")}
        titles = {section.name: section.title for section in result["sections"]}
        assert titles["table"].startswith("table: 4 tasks, ")
        for row in rows_of(result, "Vouchers"):
            assert not any(f"“{task}”" in titles["Vouchers"] for task in row["tasks that vouched"])

    @pytest.mark.parametrize(("world", "methods"), [("small", CURVE), ("cold", COLD)])
    def test_the_curve_has_both_worlds(self, world, methods, result_of, rows_of):
        rows = rows_of(result_of("curve"), "curve", WORLD_WORDS[world])
        cold = ", cold start" if world == "cold" else ""
        assert {row["rows a task"] for row in rows} == {METHODS[m].name + cold for m in methods}
        sizes = ["all" if size is None else str(size) for size in CURVE_ROWS]
        assert [*rows[0]][1:] == sizes[: len(sizes) - (world == "cold")]
