"""Featloom finds the features that make small, fast, readable models accurate on symbolic data.

The public names load when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("featloom")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

_HOME = {
    "NominalTable": "featloom.data.table",
    "FeatureMatrix": "featloom.data.matrix",
    "FeaturePlan": "featloom.features.plan",
    "Template": "featloom.features.template",
    "read": "featloom.data.readers",
    "read_table": "featloom.data.readers",
    "read_conll": "featloom.data.readers",
    "read_conllu": "featloom.data.readers",
    "read_blocks": "featloom.data.blocks_parquet",
    "MatrixBlocks": "featloom.data.blocks",
    "ConjunctionInducer": "featloom.methods.induction",
    "ConjunctionSearchCV": "featloom.methods.induction",
    "TreeTemplates": "featloom.methods.tree_templates",
    "TreeTemplatesCV": "featloom.methods.tree_templates",
    "TemplateSearch": "featloom.methods.template_search",
    "SequenceTagger": "featloom.learners.tagger",
    "DependencyParser": "featloom.learners.parser",
    "MemoryClassifier": "featloom.learners.memory",
    "MemorySearch": "featloom.methods.memory_search",
    "MDLSelector": "featloom.learners.stepwise",
    "RelevancePrior": "featloom.methods.transfer",
    "TransFeat": "featloom.methods.transfer",
    "MultiTask": "featloom.methods.transfer",
    "load": "featloom.discover.loading",
    "discover": "featloom.discover.front",
    "Discovery": "featloom.discover.discovery",
}

__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'featloom' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
