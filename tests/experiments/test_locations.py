"""Candidates for locations: one row for each place that a capitalised name could mean."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.gazetteer import Gazetteer, Place, world
from experiments.locations import entity_texts, locations
from featloom.data.corpora import find, how_to_get
from featloom.data.table import NominalTable
from featloom.errors import InputError

YORK = Place("York", "city", "GB", "ENG", "EU", 153_717)
NEW_YORK = Place("New York City", "city", "US", "NY", "NA", 8_804_190)
STATE = Place("New York", "state", "US", "NY", "NA", 20_201_249)
COUNTRY = Place("Georgia", "country", "GE", "", "AS", 3_731_000)
GEORGIA = Place("Georgia", "state", "US", "GA", "NA", 10_711_908)
PLACES = Gazetteer(
    [
        (YORK, ["York"]),
        (NEW_YORK, ["New York City", "New York"]),
        (STATE, ["New York"]),
        (COUNTRY, ["Georgia"]),
        (GEORGIA, ["Georgia"]),
    ],
    [(GEORGIA, ["GA"]), (COUNTRY, ["GE"])],
)


def sentence(text: str, **tags: str) -> list[tuple[str, str]]:
    return [(word, tags.get(word, "O")) for word in text.split()]


def build(*sentences, domain="news"):
    return locations([(domain, list(sentences))], gazetteer=PLACES)


def rows(matrix) -> list[tuple[str, str, str]]:
    """Mention, candidate and class of each row."""
    found = []
    for row in range(len(matrix)):
        named = dict(name.split("=", 1) for name in matrix.row_names(row))
        found.append((named["W"], named["CAND"], matrix.classes[matrix.labels[row]]))
    return found


def test_every_namesake_is_a_candidate_and_the_most_populous_is_the_chosen_one():
    matrix = build(sentence("in Georgia today", Georgia="B-LOC"))
    assert rows(matrix) == [
        ("georgia", "Georgia, GA, US", "Location"),
        ("georgia", "Georgia, GE", "Negative"),
    ]


def test_a_name_that_is_no_location_here_has_no_chosen_candidate():
    matrix = build(sentence("Georgia said so", Georgia="B-PER"))
    assert [label for _, _, label in rows(matrix)] == ["Negative", "Negative"]


def test_overlapping_names_are_all_candidates_but_only_the_annotated_one_is_right():
    words = [("in", "O"), ("New", "B-LOC"), ("York", "I-LOC")]
    matrix = build(words)
    assert rows(matrix) == [
        ("new york", "New York, NY, US", "Location"),
        ("new york", "New York City, NY, US", "Negative"),
        ("york", "York, ENG, GB", "Negative"),
    ]
    assert "INSIDE=true" in matrix.row_names(2)
    assert "INSIDE=false" in matrix.row_names(0)


@pytest.mark.parametrize("tag", ["B-LOC", "I-LOC", "B-location"])
def test_tags_may_begin_with_i_and_name_locations_in_two_ways(tag):
    assert build([("York", tag)]).labels.tolist() == [1]


def test_two_locations_side_by_side_are_two():
    matrix = build([("York", "B-LOC"), ("Georgia", "B-LOC")])
    assert matrix.labels.tolist() == [1, 1, 0]


def test_small_letters_are_no_mention_and_codes_must_be_capitals():
    with pytest.raises(InputError, match="no stretch of the text is the name of a place"):
        build(sentence("york georgia Ga ga"))
    assert [candidate for _, candidate, _ in rows(build(sentence("GA G.A.")))] == [
        "Georgia, GA, US"
    ] * 2


def test_the_features_describe_mention_context_and_candidate():
    matrix = build(sentence("He lived in Georgia , he said", Georgia="B-LOC"), domain="letters")
    names = set(matrix.row_names(0))
    assert {
        "PrevWord1=in",
        "PrevWord2=lived",
        "NextWord1=,",
        "NextWord3=said",
        "CTX=lived",
        "CTX=he",
        "SHAPE=Xx",
        "PRE3=geo",
        "SUF2=ia",
        "TYPE=state",
        "POP=1e7",
        "NoCandidates=2",
        "MOST-PROBABLE=true",
        "RANK=1",
        "DOMAIN=letters",
    } <= names
    assert {"TYPE=country", "RANK=2", "MOST-PROBABLE=false", "POP=1e6"} <= set(matrix.row_names(1))


def test_only_context_words_are_many_valued():
    matrix = build(
        sentence("They went from York to New York and to Georgia"),
        sentence("Georgia is far from York"),
    )
    many = [
        family
        for family, single in zip(matrix.families, matrix.single_valued, strict=True)
        if not single
    ]
    assert many == ["CTX"]


def test_documents_are_groups_and_sentences_are_where_there_are_none():
    table = NominalTable.from_columns(
        {"word": ["York", "York", "Georgia", "York"]},
        labels=["B-LOC", "O", "O", "O"],
        groups=["a-1", "a-1", "b-1", "b-1"],
        sequence_bounds=np.array([0, 1, 2, 4]),
    )
    matrix = locations(
        [(lambda document: document[0], table), ("c", [sentence("York"), sentence("York")])],
        gazetteer=PLACES,
    )
    assert matrix.group_names == ("1/a-1", "1/b-1", "2/sentence 1", "2/sentence 2")
    assert matrix.groups.tolist() == [0, 0, 1, 1, 1, 2, 3]
    assert "DOMAIN=b" in matrix.row_names(2)
    assert matrix.labels.tolist() == [1, 0, 0, 0, 0, 0, 0]


def test_text_without_tags_is_refused():
    table = NominalTable.from_columns({"word": ["York"]}, sequence_bounds=np.array([0, 1]))
    with pytest.raises(InputError, match="must have sentences and tags"):
        locations([("news", table)], gazetteer=PLACES)


def test_the_world_knows_namesakes_codes_and_capitals():
    if find("geonames") is None:
        pytest.skip(how_to_get("geonames"))
    assert [place.kind for place in world().candidates(["Georgia"])] == ["country", "state"]
    assert world().candidates(["U.K."])[0].name == "United Kingdom"
    assert world().candidates(["Sao", "Paulo"])[0].country == "BR"
    assert world().candidates(["Netherlands"])[0].kind == "country"
    capitals = [p.region for p in world().candidates(["Washington"]) if p.kind == "capital"]
    assert capitals == ["DC"]


def test_candidates_of_three_corpora(data_folder):
    if find("geonames") is None:
        pytest.skip(how_to_get("geonames"))
    matrix = locations(entity_texts())
    assert len(matrix) > 13_000
    assert matrix.shape[1] > 30_000
    assert 0.2 < matrix.labels.mean() < 0.3
    assert len(matrix.group_names) > 2_000
    domains = {name for name in matrix.names if name.startswith("DOMAIN=")}
    assert {"DOMAIN=wikipedia", "DOMAIN=social media", "DOMAIN=weblog"} <= domains
    # One mention has at most one right candidate.
    first = np.array(["MOST-PROBABLE=true" in matrix.row_names(r) for r in range(len(matrix))])
    assert first[matrix.labels == 1].all()


def test_unknown_entity_texts_are_told():
    with pytest.raises(InputError, match="no entity text 'gum'; there are wikigold, wnut17"):
        entity_texts(["gum"])
