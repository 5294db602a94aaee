"""Method 1, induction: select features and join them into conjunctions, for any classifier."""

from featloom.methods.induction.inducer import ConjunctionInducer
from featloom.methods.induction.search import ConjunctionSearchCV

__all__ = ["ConjunctionInducer", "ConjunctionSearchCV"]
