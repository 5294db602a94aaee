"""Tables that are small, wide, holey or of many classes; and machines that never ran before."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from featloom.compare import schedule
from featloom.data.table import NominalTable
from featloom.discover import Discovery, discover
from featloom.discover.discovery import compare_all
from featloom.discover.tables import TableQuestion
from featloom.errors import InputError

CHEAP = ["naive Bayes", "linear model"]


def parcels(n: int, seed: int = 0, classes: str = "ab") -> pd.DataFrame:
    """Parcels whose class follows from their size, in nine cases of ten."""
    draw = np.random.default_rng(seed)
    number = draw.integers(len(classes), size=n)
    luck = draw.integers(len(classes), size=n)
    return pd.DataFrame(
        {
            "size": [f"s{k}" for k in np.where(draw.random(n) < 0.9, number, luck)],
            "colour": draw.choice(["red", "green", "blue"], n),
            "y": np.array(list(classes))[number],
        }
    )


def quickly(data, *only: str, target: str = "y", **options) -> Discovery:
    return discover(data, target, only=only or CHEAP, **{"budget": None, "n_jobs": 1} | options)


def finished(found: Discovery) -> dict[str, dict]:
    return {row["name"]: row for row in found.leaderboard if row["status"] == "finished"}


def is_sound(found: Discovery) -> None:
    """Every figure is a number, and what is handed over gives probabilities."""
    for row in finished(found).values():
        assert np.isfinite([row["value"], row["test"], *row["folds"]]).all(), row["name"]
        if row["role"] == "chance":
            assert row["interval"] is None
        else:
            assert row["interval"][0] <= row["value"] <= row["interval"][1]
        assert row["test_interval"][0] <= row["test"] <= row["test_interval"][1]
    p = found.pipeline().predict_proba(found.question.data)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert json.loads(json.dumps(found.result["chosen_figures"], allow_nan=False))


ALL = ["naive Bayes", "linear model", "selection", "induction", "tree templates", "memory"]


def test_a_class_that_some_folds_do_not_learn_is_judged_all_the_same():
    """Two rows of a third class: the fold that judges one may learn from none."""
    frame = parcels(90)
    frame.loc[[10, 50], "y"] = "rare"
    found = quickly(frame, *ALL)
    assert set(finished(found)) == {"class shares", *ALL}
    is_sound(found)
    assert (
        "1 class has fewer than 5 rows and can hardly be learned"
        in (found.result["data"]["warnings"])
    )
    assert list(found.pipeline().classes_) == ["a", "b", "rare"]


def test_a_class_that_is_in_the_test_part_alone_is_judged_all_the_same():
    frame = parcels(80)
    test = parcels(20, seed=1)
    test.loc[3, "y"] = "new"
    found = quickly(frame, *ALL, test=test)
    is_sound(found)
    # Of a class that was never seen half a row is expected among so many.
    chance = finished(found)["class shares"]
    assert chance["test"] < np.log(2) + 1
    assert found.result["chosen_figures"]["confusion"]["classes"][-1] == "new"


def test_nineteen_classes(data_folder):
    path = data_folder / "tables" / "soybean.csv.xz"
    if not path.exists():
        pytest.skip("soybean.csv.xz is not there")
    found = quickly(path, "linear model", "naive Bayes", target="class")
    assert len(found.result["data"]["classes"]) == 19
    is_sound(found)
    rows = finished(found)
    chance = rows["class shares"]["value"]
    assert all(rows[name]["value"] < 0.25 * chance for name in CHEAP)
    assert found.significant or found.chosen in CHEAP
    figures = found.result["chosen_figures"]
    assert figures["f1"] is None
    assert figures["accuracy"] > 0.85
    assert np.sum(figures["confusion"]["counts"]) == len(found.test_rows)
    assert len(found.pipeline().classes_) == 19


def test_sixty_columns(data_folder):
    path = data_folder / "tables" / "splice.csv.xz"
    if not path.exists():
        pytest.skip("splice.csv.xz is not there")
    found = quickly(path, "naive Bayes", "memory", target="Class", budget="8s")
    assert sum("Instance_name" in said for said in found.result["data"]["warnings"]) == 1
    assert len(found.result["data"]["families"]) == 60
    is_sound(found)
    assert found.chosen == "naive Bayes"
    assert found.result["chosen_figures"]["accuracy"] > 0.9


def test_a_column_without_a_value_is_left_out_and_holes_are_values_of_their_own():
    frame = parcels(100).assign(nothing=None)
    frame.loc[frame.index % 4 == 0, "colour"] = None
    found = quickly(frame, *ALL)
    assert set(finished(found)) == {"class shares", *ALL}
    is_sound(found)
    said = "column 'nothing' has one value in all rows and is left out"
    assert said in found.result["data"]["warnings"]
    new = frame[["size", "colour"]][:6]
    model = found.pipeline()
    assert model.predict(new.assign(nothing="x")).tolist() == model.predict(new).tolist()


def test_one_group_cannot_be_held_out():
    with pytest.raises(InputError, match="group"):
        quickly(parcels(60).assign(document="d1"), groups="document")


def test_thirty_rows():
    found = quickly(parcels(30), *ALL)
    assert set(finished(found)) == {"class shares", *ALL}
    is_sound(found)
    assert (
        "the test part has 6 rows only: with so few, what is called a gain may be luck"
        in (found.result["data"]["warnings"])
    )


@pytest.mark.parametrize("n", [8, 12])
def test_a_handful_of_rows_is_compared_or_refused_in_words(n):
    found = quickly(parcels(n))
    assert found.chosen is not None
    assert all(row["why"] for row in found.leaderboard if row["status"] != "finished")
    assert not found.significant


def test_ten_seconds_are_enough_for_a_leaderboard(data_folder):
    path = data_folder / "tables" / "titanic.csv.xz"
    if not path.exists():
        pytest.skip("titanic.csv.xz is not there")
    found = discover(path, "Survived", budget="10s", n_jobs=1)
    budget, rows = found.result["budget"], finished(found)
    assert budget["seconds"] == 10
    assert budget["first_answer"] is not None
    # On a busy machine some are compared in part, but the leaders are tested.
    assert {"class shares", found.chosen} <= set(rows)
    assert len([row for row in found.leaderboard if row.get("value") is not None]) >= 4
    is_sound(found)
    assert found.result["chosen_figures"]["auc"] > 0.8
    assert rows[found.chosen]["test"] < rows["class shares"]["test"]
    assert all(row["why"] for row in found.leaderboard if row["status"] != "finished")


SCRIPT = """
import json, sys
from featloom.discover import discover
found = discover(sys.argv[1], "y", only=["naive Bayes", "linear model"], budget="60s", n_jobs=1)
print(json.dumps({
    "chosen": found.chosen,
    "rows": [[row["name"], row["status"], row.get("value"), row.get("folds"), row.get("test"),
              row.get("learned"), row.get("setting")] for row in found.leaderboard],
    "learned": found.learn_rows.tolist(),
    "compiled": found.result["budget"]["compiled"],
    "spent": found.result["budget"]["spent"],
}))
"""


def test_a_machine_that_compiles_first_finds_what_it_finds_later(tmp_path):
    """What is compiled on the first day is not charged to the budget."""
    parcels(300).to_csv(tmp_path / "parcels.csv", index=False)
    (tmp_path / "kernels").mkdir()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    told = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / "parcels.csv")],
            env=environment, capture_output=True, text=True, timeout=300, check=False,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told.append(json.loads(done.stdout.splitlines()[-1]))
    cold, warm = told
    for key in ("chosen", "rows", "learned"):
        assert cold[key] == warm[key]
    assert cold["chosen"] in CHEAP
    assert warm["compiled"] < cold["compiled"]
    assert list((tmp_path / "kernels").glob("compiled-table-*"))


class Dawdling(TableQuestion):
    """One of its contenders takes very long for all folds but the first."""

    def contenders(self):
        found = [one for one in super().contenders() if one.name in ("class shares", "naive Bayes")]
        return [*found, replace(found[-1], name="dawdler", fit_each=self.dawdle)]

    def dawdle(self, data, settings, seed, threads):
        naive_bayes = super().contenders()[1]
        assert naive_bayes.name == "naive Bayes"
        of_fold = len(data) in (76, 77)
        self.folds = getattr(self, "folds", 0) + of_fold
        while of_fold and self.folds > 1:
            sum(range(10_000))
        return naive_bayes.fit_each(data, settings, seed, threads)


def test_a_fold_that_took_too_long_is_told_of_and_not_the_time(monkeypatch):
    monkeypatch.setattr(schedule, "_LEAST_LIMIT", 0.5)
    table = NominalTable.from_columns(
        {"size": list("sl") * 60, "colour": list("rgb") * 40}, labels=list("ab") * 60
    )
    found = compare_all(Dawdling(table), budget="30s", jobs=1)
    row = {row["name"]: row for row in found.leaderboard}["dawdler"]
    assert (row["status"], found.result["budget"]["stopped"]) == ("partly", "finished")
    assert re.fullmatch(r"a fold took longer than the [\d.]+ s that it was given", row["why"])
