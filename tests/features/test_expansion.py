"""Features of templates are CRF++'s features, as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from template_twin import expand_line

from featloom.data.sentences import table_of_sentences
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features import expansion as module
from featloom.features.expansion import TemplateExpansion, check_columns, sentence_bounds
from featloom.features.template import Template
from featloom.formats.crfpp import template_line

symbols = st.sampled_from(["a", "b", "ç", "the"])
sentences = st.lists(st.lists(st.tuples(symbols, symbols), max_size=6), min_size=1, max_size=5)
places = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 1)), min_size=0, max_size=4)
# The true limit, and limits at which two places or three no longer fit into one key.
limits = st.sampled_from([1 << 62, 100, 2])


def template(cells):
    return Template(tuple((str(col), row) for row, col in cells))


def at_limit(limit, *args, **options):
    """An expansion whose keys stay below a limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_KEYS", limit)
        return TemplateExpansion(*args, **options)


def crfpp_strings(corpus, cells):
    line = template_line("U0", cells)
    return [expand_line(line, sentence, i) for sentence in corpus for i in range(len(sentence))]


@given(sentences, st.lists(places, min_size=1, max_size=3), limits)
def test_tokens_share_a_feature_if_and_only_if_crfpp_writes_the_same_string(corpus, given, limit):
    table = table_of_sentences(corpus, columns=("0", "1"))
    expansion = at_limit(limit, table, [template(cells) for cells in given])
    for t, cells in enumerate(given):
        strings = crfpp_strings(corpus, cells)
        numbers = expansion.features[:, t].tolist()
        pairs = set(zip(strings, numbers, strict=True))
        assert len(pairs) == len(set(strings)) == len(set(numbers))
        assert sorted(set(numbers)) == list(range(expansion.first[t], expansion.first[t + 1]))
    assert np.array_equal(expansion.apply(table), expansion.features)


@given(sentences, sentences, places, limits, st.integers(1, 3))
def test_in_other_sentences_a_feature_has_the_number_it_had(corpus, others, cells, limit, cutoff):
    table = table_of_sentences(corpus, columns=("0", "1"))
    expansion = at_limit(limit, table, [template(cells)], cutoff=cutoff)
    strings = crfpp_strings(corpus, cells)
    kept = dict.fromkeys(s for s in strings if strings.count(s) >= cutoff)
    number_of = {string: number for number, string in enumerate(kept)}
    assert expansion.features[:, 0].tolist() == [number_of.get(s, -1) for s in strings]
    unseen = table.recode(table_of_sentences(others, columns=("0", "1")))
    expected = [number_of.get(s, -1) for s in crfpp_strings(others, cells)]
    assert expansion.apply(unseen)[:, 0].tolist() == expected


@given(sentences, st.lists(places, min_size=1, max_size=3), limits)
def test_an_expansion_made_of_its_parts_gives_the_same_features(corpus, given, limit):
    table = table_of_sentences(corpus, columns=("0", "1"))
    templates = [template(cells) for cells in given]
    expansion = at_limit(limit, table, templates)
    again = TemplateExpansion.from_parts(table, templates, expansion.parts)
    assert again.n_features == expansion.n_features
    assert np.array_equal(again.apply(table), expansion.features)
    for feature in range(expansion.n_features):
        assert again.name(feature) == expansion.name(feature)


@settings(max_examples=60)
@given(sentences, places, places, st.integers(0, 4), limits, limits)
def test_a_shared_template_is_found_again_whatever_the_reach(
    corpus, shared, extra, reach, limit, other_limit
):
    table = table_of_sentences(corpus, columns=("0", "1"))
    far = template([(reach, 0), (-reach, 1)])
    one = at_limit(limit, table, [template(extra), template(shared)])
    two = at_limit(other_limit, table, [template(shared), far])
    found = one.same_features(two)
    for t, cells in enumerate((extra, shared)):
        mine = slice(one.first[t], one.first[t + 1])
        if template(cells) not in two.templates:
            assert (found[mine] == -1).all()
            continue
        u = two.templates.index(template(cells))
        assert found[one.features[:, t]].tolist() == two.features[:, u].tolist()


def test_a_shared_template_is_found_where_the_columns_stand_in_another_order():
    columns = {"word": ["a", "b", "a", "c", "d"], "tag": ["X", "Y", "X", "X", "Y"]}
    both = Template((("tag", -1), ("word", 1)))
    one = TemplateExpansion(NominalTable.from_columns(columns), [both])
    turned = NominalTable.from_columns({name: columns[name] for name in ("tag", "word")})
    two = TemplateExpansion(turned, [both, Template((("tag", 3),))])
    found = one.same_features(two)
    assert [one.name(f) for f in range(5)] == [two.name(f) for f in found]


def test_names_tell_values_and_how_far_beyond_the_sentence():
    table = table_of_sentences([[("the", "DT"), ("cat", "NN")], [("Stop", "VB")]])
    templates = [
        Template((("0", -2), ("1", 0))),
        Template((("0", 1),)),
        Template((("1", 2), ("0", -1))),
    ]
    for limit in (1 << 62, 2):
        expansion = at_limit(limit, table, templates)
        names = [[expansion.name(f) for f in row] for row in expansion.features]
        assert names == [
            ["0[-2]=_B-2 & 1=DT", "0[+1]=cat", "1[+2]=_E+1 & 0[-1]=_B-1"],
            ["0[-2]=_B-1 & 1=NN", "0[+1]=_E+1", "1[+2]=_E+2 & 0[-1]=the"],
            ["0[-2]=_B-2 & 1=VB", "0[+1]=_E+1", "1[+2]=_E+2 & 0[-1]=_B-1"],
        ]


def test_an_edge_mark_is_no_word():
    table = table_of_sentences([[("_B-1",), ("x",)]])
    expansion = TemplateExpansion(table, [Template((("0", -1),))])
    assert expansion.n_features == 2


@pytest.mark.parametrize("limit", [1 << 62, 2])
def test_an_unknown_value_is_no_feature(limit):
    table = table_of_sentences([[("a", "X"), (None, "Y"), ("b", "Y")]])
    templates = [template([(0, 0)]), template([(0, 1), (-1, 0)]), template([(0, 1)])]
    expansion = at_limit(limit, table, templates)
    assert (expansion.features == -1).tolist() == [
        [False, False, False],
        [True, False, False],
        [False, True, False],
    ]
    never_seen = table.recode(table_of_sentences([[("z", "Y")]]))
    assert (expansion.apply(never_seen) == -1).tolist() == [[True, True, False]]


def test_more_values_than_a_key_of_64_bits_holds_are_told_apart():
    random = np.random.default_rng(0)
    columns = {str(j): [f"v{v}" for v in random.permutation(3000)] for j in range(8)}
    table = NominalTable.from_columns(columns)  # 3,000 values to the eighth: 92 bits
    everything = Template(tuple((name, 0) for name in columns))
    expansion = TemplateExpansion(table, [everything])
    assert len(expansion.parts[0]) == 2
    assert expansion.n_features == 3000
    assert expansion.name(7) == " & ".join(f"{name}={columns[name][7]}" for name in columns)
    swapped = {name: values[::-1] if name == "7" else values for name, values in columns.items()}
    other = table.recode(NominalTable.from_columns(swapped))
    assert (expansion.apply(other) == -1).all()


def test_a_template_without_places_is_one_feature_of_every_token():
    table = table_of_sentences([["a", "b"], ["c"]])
    expansion = TemplateExpansion(table, [Template(())])
    assert expansion.features.tolist() == [[0], [0], [0]]


def test_without_templates_or_tokens_there_are_no_features():
    table = table_of_sentences([["a", "b"], ["c"]])
    assert TemplateExpansion(table, []).features.shape == (3, 0)
    empty = table_of_sentences([[], []], columns=["0"])
    expansion = TemplateExpansion(empty, [Template((("0", 0),))])
    assert expansion.n_features == 0
    assert expansion.apply(empty).shape == (0, 1)


def test_a_table_without_bounds_is_one_sentence():
    table = NominalTable.from_columns({"word": ["a", "b"]})
    assert sentence_bounds(table).tolist() == [0, 2]


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"template tag\[-1\] looks at column 'tag'; there are 0"):
        check_columns([Template((("tag", -1),))], ["0"])
    with pytest.raises(InputError, match="no column 'tag'; there are 0"):
        TemplateExpansion(table_of_sentences([["a"]]), [Template((("tag", 0),))])
