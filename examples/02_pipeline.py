"""Conjunctions as one step of a scikit-learn pipeline, chosen anew in every fold.

A flag that is set when exactly one of two others is cannot be learned by a linear model; with
conjunctions of two it can.  Because the conjunctions are found inside the pipeline, the scores of
cross-validation are honest: no fold has seen the rows it is tested on.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from featloom import ConjunctionInducer


def main() -> None:
    draw = np.random.default_rng(1)
    X = draw.choice(np.array(["low", "high"], dtype=object), size=(400, 8))
    y = np.where((X[:, 0] == "high") != (X[:, 1] == "high"), "alarm", "quiet")
    noisy = draw.random(len(y)) < 0.05
    y[noisy] = np.where(y[noisy] == "alarm", "quiet", "alarm")

    plain = make_pipeline(OneHotEncoder(), LogisticRegression())
    woven = make_pipeline(ConjunctionInducer(final_keep=10), LogisticRegression())
    for name, model in (("columns alone", plain), ("with conjunctions", woven)):
        print(f"{name:18} accuracy {cross_val_score(model, X, y).mean():.3f}")

    names = woven.fit(X, y).named_steps["conjunctioninducer"].get_feature_names_out()
    print("among them:", ", ".join(name for name in names if "x0=" in name and "x1=" in name))


if __name__ == "__main__":
    main()
