"""What parameters can be: declared once, refused in the same words, listed with their help."""

from __future__ import annotations

import inspect

import pytest

from featloom import (
    ConjunctionInducer,
    ConjunctionSearchCV,
    DependencyParser,
    MDLSelector,
    MemoryClassifier,
    MemorySearch,
    MultiTask,
    RelevancePrior,
    SequenceTagger,
    TemplateSearch,
    TransFeat,
    TreeTemplates,
    TreeTemplatesCV,
)
from featloom.errors import InputError
from featloom.learners.linear import LinearClassifier
from featloom.methods.search_cv import SearchCV
from featloom.options import each, none, number, one_of, options, whole

ESTIMATORS = [
    ConjunctionInducer, ConjunctionSearchCV, DependencyParser, LinearClassifier, MDLSelector,
    MemoryClassifier, MemorySearch, MultiTask, RelevancePrior, SearchCV, SequenceTagger,
    TemplateSearch, TransFeat, TreeTemplates, TreeTemplatesCV,
]  # fmt: skip
DECLARED = [
    (estimator, name)
    for estimator in ESTIMATORS
    for name in inspect.signature(estimator).parameters
    if name in estimator.constraints
]


@pytest.mark.parametrize(("estimator", "name"), DECLARED)
def test_a_wrong_parameter_is_refused_before_the_data_is_looked_at(estimator, name):
    tasks = {"tasks": None} if estimator is MultiTask else {}
    with pytest.raises(InputError) as error:
        estimator(**{name: object()}).fit(None, None, **tasks)
    said = str(error.value)
    assert said.startswith(f"{name} is <object")
    assert said.endswith(f"be {estimator.constraints[name].words}")


@pytest.mark.parametrize(("estimator", "name"), DECLARED)
def test_defaults_are_allowed(estimator, name):
    default = inspect.signature(estimator).parameters[name].default
    assert default == "auto" or estimator.constraints[name].fault(name, default) is None


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_option_has_its_help(estimator):
    found = options(estimator)
    assert [option.name for option in found] == list(inspect.signature(estimator).parameters)
    assert [option.name for option in found if not option.help] == []


@pytest.mark.parametrize(
    ("constraint", "right", "wrong"),
    [
        (whole(1), [1, 10**9], [0, -1, 1.0, True, "1", None, float("nan")]),
        (whole(8, 30), [8, 30], [7, 31]),
        (number(0, 1), [0, 1, 0.5], [-0.1, 1.1, float("nan"), "0", False]),
        (number(above=0, below=1), [0.5], [0, 1, float("inf")]),
        (one_of(["mi", None]), ["mi", None], ["MI", 0, ["mi"]]),
        (whole(1) | none, [None, 3], [0, "None"]),
        (each(whole(1)), [[1, 3], (5,)], [[], [1, 1], [0], 1, "1"]),
    ],
)
def test_a_constraint_allows_what_it_says(constraint, right, wrong):
    assert [constraint.allows(value) for value in right] == [True] * len(right)
    assert [constraint.allows(value) for value in wrong] == [False] * len(wrong)


def test_a_name_that_is_nearly_right_is_told():
    fault = one_of(["guided", "local", "genetic"]).fault("strategy", "genetics")
    assert fault == (
        "strategy is 'genetics'; it can be 'guided', 'local' or 'genetic'; "
        "did you mean 'genetic'?"
    )  # fmt: skip
