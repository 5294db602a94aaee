"""What a space offers, and when two candidates are the same."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featloom.errors import InputError
from featloom.search import SearchSpace, candidate_key

names = st.text("abcdef", min_size=1, max_size=3)
values = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.booleans()
)


@st.composite
def spaces(draw):
    choices = draw(
        st.dictionaries(
            names, st.lists(values, min_size=1, max_size=4, unique_by=json.dumps), max_size=4
        )
    )
    return SearchSpace(choices)


@given(spaces())
@settings(deadline=None)
def test_every_candidate_has_a_key_of_its_own_and_is_read_back_from_it(space):
    candidates = list(space)
    keys = [space.key(candidate) for candidate in candidates]
    assert len(set(keys)) == len(keys) == len(space)
    assert [json.loads(key) for key in keys] == candidates


def test_the_last_choice_changes_fastest():
    space = SearchSpace({"k": [1, 3], "weights": ["none", "gain_ratio"]})
    assert [tuple(candidate.values()) for candidate in space] == [
        (1, "none"),
        (1, "gain_ratio"),
        (3, "none"),
        (3, "gain_ratio"),
    ]


def test_a_condition_leaves_out_candidates_and_their_number():
    space = SearchSpace({"k": [1, 2, 3], "l": [1, 2, 3]}, valid=lambda c: c["l"] <= c["k"])
    assert len(space) == len(list(space)) == 6
    assert {"k": 1, "l": 2} not in space
    with pytest.raises(InputError, match="not a valid combination"):
        space.check({"k": 1, "l": 2})


def test_numbers_of_numpy_become_plain_numbers():
    space = SearchSpace({"k": np.arange(1, 6, 2), "decay": [np.float64(0.1)]})
    first = next(iter(space))
    assert first == {"k": 1, "decay": 0.1}
    assert type(first["k"]) is int
    assert space.key({"k": np.int64(3), "decay": 0.1}) == '{"decay":0.1,"k":3}'


def test_one_and_true_are_different_values():
    assert len(SearchSpace({"k": [1, True, 1.0]})) == 3
    assert {"k": True} not in SearchSpace({"k": [1]})


def test_the_order_of_names_does_not_change_the_key():
    assert (
        candidate_key({"k": 1, "l": "ü"}) == candidate_key({"l": "ü", "k": 1}) == '{"k":1,"l":"ü"}'
    )


@pytest.mark.parametrize(
    ("candidate", "sentence"),
    [
        ({"k": 1}, "candidate has no value for 'weights'"),
        ({"k": 2, "weights": "none"}, "'k' cannot be 2; choose from 1, 3"),
        ({"k": 1, "weights": "none", "l": 1}, "no choice 'l'; there are k, weights"),
        ({"k": {1}, "weights": "none"}, "'k' cannot be {1}: not a value that JSON can hold"),
    ],
)
def test_a_candidate_of_another_space_is_refused(candidate, sentence):
    space = SearchSpace({"k": [1, 3], "weights": ["none"]})
    with pytest.raises(InputError) as error:
        space.key(candidate)
    assert str(error.value) == sentence
    assert candidate not in space


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"k": []}, "choice 'k' has no values"),
        ({"k": [1, 3, 1]}, "choice 'k' offers 1 twice"),
        ({"k": "135"}, "choice 'k' needs a list of values, not the text '135'"),
        ({"k": [float("nan")]}, "'k' cannot be nan: not a value that JSON can hold"),
    ],
)
def test_choices_that_cannot_be_used_are_refused(choices, sentence):
    with pytest.raises(InputError) as error:
        SearchSpace(choices)
    assert str(error.value) == sentence
