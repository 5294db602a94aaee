"""Template search: what it finds, that it can be stopped anywhere, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from featloom.data.columns import Shape
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.formats.crfpp import read_templates
from featloom.learners.tagger import SequenceTagger
from featloom.methods.template_search import TemplateSearch
from featloom.methods.template_search.candidates import (
    CandidateTemplates,
    is_allowed,
    paper_windows,
)
from featloom.search import read_journal

QUICK = {"window": 1, "passes": 10, "random_state": 0}


def language(n: int = 120, seed: int = 0):
    """Sentences in which the label is settled by the tag here and the tag before, together."""
    random = np.random.default_rng(seed)
    sentences, labels = [], []
    for _ in range(n):
        length = int(random.integers(3, 9))
        tags = random.integers(0, 3, length)
        words = [f"{'abc'[t]}{random.integers(0, 20)}" for t in tags]
        sentences.append([(w, "XYZ"[t]) for w, t in zip(words, tags, strict=True)])
        before = [0, *tags[:-1]]
        labels.append(
            ["PQ"[int((a == b) or (a == 2 and b == 1))] for a, b in zip(before, tags, strict=True)]
        )
    return sentences, labels


SENTENCES, LABELS = language()


@pytest.fixture(scope="module")
def screened():
    return TemplateSearch(max_templates=10, **QUICK).fit(SENTENCES, LABELS)


@pytest.fixture(scope="module")
def outward():
    return TemplateSearch(strategy="outward", **QUICK).fit(SENTENCES, LABELS)


def joins_of(search) -> list[set]:
    return [set(template.places) for template in search.plan_.templates if len(template) > 1]


def test_screening_finds_that_two_neighbouring_tags_matter_together(screened):
    assert any({offset for _, offset in places} >= {-1, 0} for places in joins_of(screened))


def test_the_papers_procedure_finds_it_too(outward):
    assert any({offset for _, offset in places} >= {-1, 0} for places in joins_of(outward))


@pytest.mark.parametrize("which", ["screened", "outward"])
def test_a_plan_makes_a_tagger(which, request):
    search = request.getfixturevalue(which)
    tagger = SequenceTagger(plan=search.plan_, random_state=0).fit(SENTENCES, LABELS)
    sentences, labels = language(30, seed=9)
    assert tagger.score(sentences, labels) > 0.95
    assert FeaturePlan.from_json(search.plan_.to_json()) == search.plan_


@pytest.mark.parametrize("which", ["screened", "outward"])
def test_the_template_file_says_the_same_as_the_plan(which, request):
    search = request.getfixturevalue(which)
    lines = read_templates(search.templates_)
    derived = search.plan_.derive(NominalTable.from_columns({"0": ["a"], "1": ["X"]}))
    columns = [line.comment.split(": ")[1] for line in lines if line.comment.startswith("# column")]
    assert tuple(columns) == derived.columns
    written = [
        tuple((columns[col], row) for row, col in line.places) for line in lines if line.kind
    ]
    assert written == [template.places for template in search.plan_.templates]
    names = [line.name for line in lines if line.kind]
    assert len(set(names)) == len(names)


def test_history_has_a_row_for_each_decision(screened, outward):
    for search in (screened, outward):
        for row in search.history_:
            assert {"templates", "kept", "gain", "cost", "f1", "seconds"} <= set(row)
    kept = [name for row in outward.history_ if row["kept"] for name in row["templates"]]
    assert kept == [str(template) for template in outward.plan_.templates if template.kind == "U"]


def test_max_templates_is_the_most_templates(screened):
    assert sum(template.kind == "U" for template in screened.plan_.templates) <= 10


@pytest.mark.parametrize("strategy", ["screened", "outward"])
def test_a_search_that_was_stopped_goes_on_to_the_same_end(strategy, tmp_path, request):
    whole = request.getfixturevalue(strategy)
    budget = 10 if strategy == "screened" else None
    n_done = 0

    def stop_after_two(done, total, best):
        nonlocal n_done
        n_done = done
        if done == 2:
            raise KeyboardInterrupt

    how = {"strategy": strategy, "max_templates": budget, "journal": tmp_path / "journal", **QUICK}
    with pytest.raises(KeyboardInterrupt):
        TemplateSearch(progress=stop_after_two, **how).fit(SENTENCES, LABELS)
    assert len(read_journal(tmp_path / "journal")[0]) == 2 == n_done
    resumed = TemplateSearch(**how).fit(SENTENCES, LABELS)
    assert resumed.work_.replayed == 2
    assert resumed.plan_ == whole.plan_
    without = [{k: v for k, v in row.items() if k != "seconds"} for row in resumed.history_]
    assert without == [{k: v for k, v in row.items() if k != "seconds"} for row in whole.history_]


def test_threads_change_nothing(screened):
    threaded = TemplateSearch(max_templates=10, n_jobs=2, **QUICK).fit(SENTENCES, LABELS)
    assert threaded.plan_ == screened.plan_
    assert threaded.templates_ == screened.templates_


def test_a_journal_of_another_seed_is_refused(tmp_path):
    how = {"strategy": "outward", "journal": tmp_path / "journal", **QUICK}
    TemplateSearch(**how).fit(SENTENCES[:20], LABELS[:20])
    with pytest.raises(InputError, match="'seed' was 0, now 1"):
        TemplateSearch(**(how | {"random_state": 1})).fit(SENTENCES[:20], LABELS[:20])


GIVEN = [
    Template((("1", 0),)),
    Template((("0", 0),)),
    Template((("1", 0), ("1", -1))),
    Template((("0", -1), ("1", 1))),
    Template((), "B", "B"),
]


def test_a_list_of_templates_is_thinned():
    search = TemplateSearch(candidates=GIVEN, **QUICK).fit(SENTENCES, LABELS)
    chosen = [set(template.places) for template in search.plan_.templates if template.places]
    given = [set(template.places) for template in GIVEN]
    assert all(places in given for places in chosen)
    assert {("1", -1), ("1", 0)} in chosen
    assert {("0", -1), ("1", 1)} not in chosen
    assert search.plan_.templates[-1].kind == "B"


def test_a_search_among_joins_alone_begins_with_the_first():
    search = TemplateSearch(candidates=GIVEN[2:3], **QUICK).fit(SENTENCES, LABELS)
    assert joins_of(search) == [set(GIVEN[2].places)]


def test_a_long_template_is_screened_though_its_values_are_many():
    places = [(name, offset) for name in ("0", "1", "0.fullshape") for offset in (-1, 0, 1)]
    random = np.random.default_rng(0)
    sentences = [[(f"w{random.integers(10**6)}", w[1]) for w in s] for s in SENTENCES * 3]
    search = TemplateSearch(
        candidates=[*GIVEN, Template(tuple(places))], makers=[Shape("0", full=True)], **QUICK
    ).fit(sentences, LABELS * 3)
    assert not any(len(joined) > 3 for joined in joins_of(search))


def test_a_journal_of_other_candidates_is_refused(tmp_path):
    how = {"journal": tmp_path / "journal", "max_templates": 3, **QUICK}
    TemplateSearch(candidates=GIVEN[:3], **how).fit(SENTENCES[:20], LABELS[:20])
    for other in (GIVEN[:2], None):
        with pytest.raises(InputError, match="made by another search: its 'candidates'"):
            TemplateSearch(candidates=other, **how).fit(SENTENCES[:20], LABELS[:20])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"candidates": [Template((("2", 0),))]}, "looks at column '2'"),
        ({"candidates": [Template((("1", -2),))]}, "looks 2 tokens away .* the window is 1"),
        ({"candidates": []}, "candidates holds no template"),
        ({"candidates": [Template((("1", 0),), "B")]}, "is of kind B"),
        ({"candidates": GIVEN, "strategy": "outward"}, "for the strategy 'screened'"),
    ],
)
def test_wrong_candidates_are_named(parameters, words):
    with pytest.raises(InputError, match=words):
        TemplateSearch(**QUICK, **parameters).fit(SENTENCES[:20], LABELS[:20])


def test_the_paper_allows_three_places_one_of_them_a_word_and_no_wide_gap():
    found = [p for width in paper_windows(["word", "pos"], {"word"}, 2) for p in width]
    assert len(found) == len(set(found))
    assert all(is_allowed(places, {"word"}) for places in found)
    assert (("pos", -1), ("word", 0), ("pos", 1)) in found
    assert (("pos", 0), ("word", 0), ("word", 1)) not in found
    assert (("pos", -1), ("pos", 2)) not in found


def test_windows_move_forward_first_then_backward_then_widen():
    (two, three, *_) = paper_windows(["pos"], set(), 2)
    assert two == [((("pos", o)), ("pos", o + 1)) for o in (0, 1, -1, -2)]
    assert three[0] == (("pos", 0), ("pos", 2))


def test_a_word_is_not_joined_with_what_it_settles():
    table = NominalTable.from_columns(
        {"word": ["ab", "cb", "cd"], "last": ["b", "b", "d"], "tag": ["X", "Y", "X"]}
    )
    pairs = CandidateTemplates(table, 1).pairs()
    assert (("last", 0), ("word", 0)) not in pairs
    assert (("last", -1), ("word", 0)) in pairs
    assert (("last", 0), ("tag", 0)) in pairs


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"strategy": "random"}, "strategy is 'random'"),
        ({"proxy": "hmm"}, "proxy is 'hmm'"),
        ({"window": -1}, "window is -1"),
        ({"cutoff": 0}, "cutoff is 0"),
        ({"budget": "soon"}, "budget 'soon'"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(InputError, match=words):
        TemplateSearch(**parameters).fit(SENTENCES[:20], LABELS[:20])


def test_too_few_sentences_are_refused():
    with pytest.raises(InputError, match="3 sentences are too few"):
        TemplateSearch().fit(SENTENCES[:3], LABELS[:3])


def test_sentences_without_labels_are_refused():
    with pytest.raises(InputError, match="no labels"):
        TemplateSearch().fit(SENTENCES)
