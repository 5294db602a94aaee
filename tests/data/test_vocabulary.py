"""A vocabulary numbers symbols as they are met, however they come."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from featloom.data.vocabulary import Vocabulary, codes_in, encode

SYMBOLS = st.lists(st.sampled_from("abcdé "))


@given(SYMBOLS, SYMBOLS)
def test_numbers_name_what_was_added_and_parts_are_numbered_as_the_whole(first, second):
    letters = Vocabulary()
    numbers = np.concatenate([letters.add(first), letters.add(second)])
    assert [letters.names[number] for number in numbers] == first + second
    assert letters.names == tuple(dict.fromkeys(first + second))
    codes, names = encode(first + second)
    assert (codes.tolist(), names) == ((numbers + 1).tolist(), letters.names)


@given(st.lists(st.integers(-1, 5)))
def test_an_array_is_numbered_as_its_list(values):
    of_list, of_array = Vocabulary(missing=[-1]), Vocabulary(missing=[-1])
    numbers = of_array.add(np.array(values, dtype=np.int32))
    assert numbers.tolist() == of_list.add(values).tolist()
    assert (of_array.names, of_array) == (of_list.names, of_list)


@given(SYMBOLS, SYMBOLS)
def test_codes_of_one_vocabulary_in_another_name_the_same_values(first, second):
    known, others = Vocabulary(), Vocabulary()
    known.add(first)
    others.add(second)
    before = known.names
    found = codes_in(known, others.names)
    assert known.names == before
    assert found.tolist() == [0, *(before.index(s) + 1 if s in before else 0 for s in others)]
    grown = codes_in(known, others.names, grow=True)
    assert [known.names[code - 1] for code in grown[1:]] == list(others.names)


def test_a_vocabulary_that_was_pickled_goes_on_counting():
    letters = Vocabulary(missing=[""])
    letters.add(["b", "", "a"])
    again = pickle.loads(pickle.dumps(letters))
    assert (again.names, again["c"], again[""]) == (("b", "a"), 2, -1)
