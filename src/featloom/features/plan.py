"""A plan: what features are made of a row, written down so that it can be kept and shared.

A plan names derived columns and features (atomic ones and conjunctions).  Applied to a table or
a matrix it gives a matrix with one column a feature.  It is the currency between methods: what
one finds another can use, and a model carries it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.expand import ConjunctionTrie, padded
from featloom.features.feature import Feature


@dataclass(frozen=True)
class FeaturePlan:
    """Derived columns and features.

    Examples
    --------
    >>> from featloom.data.table import NominalTable
    >>> table = NominalTable.from_columns({"letter": ["c", "c"], "next": ["a", "e"]})
    >>> plan = FeaturePlan((Feature.from_names(["letter=c", "next=e"]),))
    >>> plan.apply(table).to_csr().toarray().tolist()
    [[0.0], [1.0]]
    >>> FeaturePlan.from_json(plan.to_json()) == plan
    True
    """

    features: tuple[Feature, ...]
    derived: tuple[dict, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        return [str(feature) for feature in self.features]

    def apply(self, data: NominalTable | FeatureMatrix) -> FeatureMatrix:
        """The plan's features of each row; a part that the data never shows never holds."""
        if isinstance(data, NominalTable):
            for spec in self.derived:
                from featloom.data.columns import derive

                data = derive(data, spec)
            data = FeatureMatrix.from_table(data)
        elif self.derived:
            raise InputError("the plan derives columns: it needs a table, not a matrix of features")
        number = {name: j for j, name in enumerate(data.names)}
        n_features = len(data.names)
        # Column n_features is one that never holds; it stands for every name the data lacks.
        conjunctions = [
            [number.get(part, n_features) for part in feature.parts] for feature in self.features
        ]
        supports = np.bincount(data.indices, minlength=n_features + 1)
        trie = ConjunctionTrie(padded(conjunctions), n_features=n_features + 1, supports=supports)
        return feature_matrix(*trie.rows(data.indptr, data.indices), self.features, like=data)

    def to_json(self) -> str:
        """The plan as JSON text."""
        features = [
            {
                "places": [list(place) for place in feature.template.places],
                "values": list(feature.values),
            }
            for feature in self.features
        ]
        return json.dumps(
            {"plan": 1, "derived": list(self.derived), "features": features}, ensure_ascii=False
        )

    @classmethod
    def from_json(cls, text: str) -> FeaturePlan:
        """The plan that :meth:`to_json` wrote."""
        from featloom.features.template import Template

        try:
            content = json.loads(text)
            if content["plan"] != 1:
                raise InputError(f"a plan of version {content['plan']}; this program reads 1")
            features = tuple(
                Feature(
                    Template(tuple((str(c), int(o)) for c, o in entry["places"])),
                    tuple(None if v is None else str(v) for v in entry["values"]),
                )
                for entry in content["features"]
            )
            return cls(features, tuple(content["derived"]))
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"not a feature plan: {error}") from None


def feature_matrix(
    indptr: np.ndarray, indices: np.ndarray, features: Sequence[Feature], like: FeatureMatrix
) -> FeatureMatrix:
    """A matrix of features, with the labels and groups of the data they were made from."""
    families: dict[str, int] = {}
    family_of = np.fromiter(
        (families.setdefault(str(f.template), len(families)) for f in features),
        np.int32,
        len(features),
    )
    columns_single = dict(zip(like.families, like.single_valued, strict=True))
    single = [
        all(columns_single.get(column, False) for column in family.split(" & "))
        for family in families
    ]
    return FeatureMatrix(
        indptr,
        indices,
        [str(feature) for feature in features],
        family_of,
        tuple(families),
        np.array(single, dtype=bool),
        labels=like.labels,
        classes=like.classes,
        target=like.target,
        groups=like.groups,
        group_names=like.group_names,
        source=like.source,
    )
