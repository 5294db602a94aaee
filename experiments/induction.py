"""The experiment of the FITSI paper on public data, with the controls it lacked.

Naive Bayes and the perceptron, four scores, the paper's grid of k and l, five folds of whole
documents; the classifiers' own parameters (smoothing, variant, epochs) are tuned in
the same cross-validation for the baseline as well; the perceptron is a plain one, not averaged, as
the paper's seems to be.  The chosen models are scored on the test
documents once, the perceptron over five seeds, and compared with the tuned baseline by a paired
bootstrap over documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from experiments.runner import Experiment, Work, table
from featloom.data.matrix import FeatureMatrix
from featloom.data.tasks.ready import load
from featloom.evaluation.objective import compare
from featloom.methods.induction import ConjunctionInducer, ConjunctionSearchCV
from featloom.methods.induction.findings import data_part, grid_part, induction_part

CORPUS = "ned-gum"
SCORES = ("mi", "ig", "su", "fisher")
SEEDS = range(5)
SHOWN = ("perceptron", "mi")  # whose grid and features the page draws
# Tables 1 and 2 of the paper: test F1, and (k, l) as shares of the features.
PUBLISHED: dict[tuple[str, str | None], tuple[float, tuple[float, float] | None]] = {
    ("naive Bayes", None): (0.54, None),
    ("naive Bayes", "mi"): (0.70, (0.25, 0.0025)),
    ("naive Bayes", "ig"): (0.70, (0.25, 0.0025)),
    ("naive Bayes", "su"): (0.70, (0.25, 0.001)),
    ("naive Bayes", "fisher"): (0.75, (0.25, 0.001)),
    ("perceptron", None): (0.79, None),
    ("perceptron", "mi"): (0.83, (0.25, 0.001)),
    ("perceptron", "ig"): (0.83, (0.25, 0.001)),
    ("perceptron", "su"): (0.80, (0.10, 0.001)),
    ("perceptron", "fisher"): (0.83, (0.10, 0.0025)),
}
FAMILIES: dict[str, tuple[dict[str, Any], dict[str, list]]] = {
    "naive Bayes": (
        {"multinomial": MultinomialNB(), "Bernoulli": BernoulliNB(binarize=None)},
        {"alpha": [0.01, 0.1, 1.0]},
    ),
    "perceptron": (
        {
            "perceptron": SGDClassifier(
                loss="perceptron", learning_rate="constant", eta0=1.0, penalty=None, tol=None
            )
        },
        {"max_iter": [5, 10, 20]},
    ),
}


def induce(work: Work) -> dict[str, Any]:
    """Tables 1 and 2 of the paper, beside the published figures.

    ``rule`` "standard_deviation" chooses as the paper does; ``grid`` replaces its k and l.  Every
    finished cell of a grid is kept in a journal of the run.
    """
    train, test = documents("train"), documents("test")
    rule = work.options["rule"]
    predictions: dict[str, list[np.ndarray]] = {}
    facts: dict[str, dict[str, Any]] = {}
    rivals: dict[str, str] = {}
    found: dict[tuple[str, str], ConjunctionSearchCV] = {}
    for family, (variants, param_grid) in FAMILIES.items():
        baseline = f"{family}, baseline"
        for score in SCORES:
            name = f"{family}, {score}"
            work.say(name)
            search = found[family, score] = ConjunctionSearchCV(
                variants,
                inducer=ConjunctionInducer(preset="paper", score=score),
                grid=work.options.get("grid"),
                param_grid=param_grid,
                positive="1",
                rule=rule,
                simplicity="keep",
                journal=work.run.path / f"{family}-{score}.journal".replace(" ", "-"),
                n_jobs=work.jobs,
                random_state=work.seeds[0],
                progress=work.progress,
            ).fit(train, train.known_labels)
            if baseline not in facts:
                predictions[baseline] = answers(search.baseline_estimator_, train, test)
                facts[baseline] = facts_of(search, "baseline", family, None, train.shape[1])
            pipeline = search.best_estimator_
            predictions[name] = answers(pipeline, train, test)
            size = len(pipeline.named_steps["features"].scores_)
            facts[name] = facts_of(search, "best", family, score, size)
            rivals[name] = baseline
    models, comparisons = compare(
        search.objective_,
        test.known_labels,
        predictions,
        baseline=rivals,
        groups=test.groups,
        seed=work.seeds[0],
    )
    shown = found[SHOWN]
    features, classifier = shown.best_estimator_.named_steps.values()
    return {
        "source": CORPUS,
        "rows": len(train),
        "findings": [verdict(comparisons)],
        "result": {
            "data": data_part(train) | {"source": CORPUS},
            "parameters": {"rule": rule, "scores": list(SCORES), "seeds": len(SEEDS)},
            "models": [model | facts[model["name"]] for model in models],
            "comparisons": comparisons,
            "grid": grid_part(shown),
            "induction": induction_part(features, classifier.coef_, domain=("DOMAIN", "GENRE")),
        },
    }


def documents(part: str) -> FeatureMatrix:
    matrix = load(CORPUS, part)
    assert isinstance(matrix, FeatureMatrix)
    return matrix


def answers(pipeline: Any, train: FeatureMatrix, test: FeatureMatrix) -> list[np.ndarray]:
    """Predictions of a chosen pipeline, one for each seed where the classifier has one."""
    features, classifier = pipeline.named_steps.values()
    seen, new = features.transform(train), features.transform(test)
    has_seed = "random_state" in classifier.get_params()
    return [
        clone(classifier).set_params(**seed).fit(seen, train.known_labels).predict(new)
        for seed in ([{"random_state": seed} for seed in SEEDS] if has_seed else [{}])
    ]


def facts_of(
    search: ConjunctionSearchCV, which: str, family: str, score: str | None, n_features: int
) -> dict[str, Any]:
    """How a model was chosen, and what the paper has for it."""
    published, setting = PUBLISHED[family, score]
    params = getattr(search, f"{which}_params_")
    chosen = [shares(params["keep"], params["partners"])] if score else []
    return {
        "features": n_features,
        "keep": params.get("keep"),
        "partners": params.get("partners"),
        "cross_validated": getattr(search, f"{which}_score_"),
        "setting": ", ".join([*chosen, params["classifier"]]),
        "published": published,
        "published_setting": "" if setting is None else shares(*setting),
    }


def shares(k: float, l: float) -> str:  # noqa: E741 (the paper's own letters)
    return f"k = {k:.2%}, l = {l:.2%}"


def verdict(comparisons: list[dict]) -> str:
    """How many models with induced features are better or worse than their baselines."""
    differences = [test["difference"] for test in comparisons if test["significant"]]
    better, n = sum(one > 0 for one in differences), len(comparisons)
    worse = sum(one < 0 for one in differences)
    if not better + worse:
        return (
            f"None of the {n} models with induced features differs from its equally tuned baseline "
            "beyond chance."
        )
    return (
        f"Of {n} models with induced features {better} are better than their equally tuned "
        f"baselines, {worse} worse, {n - better - worse} do not differ beyond chance."
    )


def show(result: dict[str, Any]) -> Iterator[Any]:
    """All models in one table, and what came out."""
    from rich import box

    tests = {test["a"]: test for test in result["comparisons"]}

    def tested(model: dict, name: str, form: str) -> str:
        return format(tests[model["name"]][name], form) if model["name"] in tests else ""

    yield table(
        result["models"],
        {
            "<model": lambda model: model["name"],
            "k": lambda model: "" if model["keep"] is None else f"{model['keep']:.2%}",
            "l": lambda model: "" if model["partners"] is None else f"{model['partners']:.2%}",
            "features": lambda model: f"{model['features']:,}",
            "CV": lambda model: f"{model['cross_validated']:.3f}",
            "test": lambda model: f"{model['value']:.3f}",
            "gain": lambda model: tested(model, "difference", "+.3f"),
            "p": lambda model: tested(model, "p", ".3f"),
            "published": lambda model: f"{model['published']:.2f}",
        },
        title=f"{result['models'][0]['metric']} on the test documents",
        box=box.HEAVY_HEAD,
        padding=(0, 1),
    )
    yield result["verdict"]


EXPERIMENT = Experiment(
    kind="induction",
    noun="data set",
    parts=(CORPUS,),
    work=induce,
    gather=lambda found: found[CORPUS]["result"],
    show=show,
)
