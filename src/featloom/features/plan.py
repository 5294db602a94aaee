"""A plan: what features are made of a row, written down so that it can be kept and shared.

A plan names derived columns, features (atomic ones and conjunctions) and templates (all features
of some places).  Applied to a table or a matrix its features give a matrix with one column each;
its templates are for taggers and parsers.  It is the currency between methods: what one finds
another can use, and a model carries it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from featloom.data.columns import derive
from featloom.data.matrix import FeatureMatrix
from featloom.data.table import NominalTable
from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError
from featloom.features.feature import Feature
from featloom.features.feature_list import FeatureList
from featloom.features.template import Template


@dataclass(frozen=True)
class FeaturePlan:
    """Derived columns, features and templates.

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

    features: tuple[Feature, ...] = ()
    derived: tuple[dict, ...] = field(default=())
    templates: tuple[Template, ...] = ()

    @property
    def names(self) -> list[str]:
        return [str(feature) for feature in self.features]

    def apply(self, data: NominalTable | FeatureMatrix) -> FeatureMatrix:
        """The plan's features of each row; a part that the data never shows never holds."""
        if isinstance(data, NominalTable):
            data = FeatureMatrix.from_table(self.derive(data))
        elif self.derived:
            raise InputError("the plan derives columns: it needs a table, not a matrix of features")
        families = Vocabulary()
        family_of = families.add([str(feature.template) for feature in self.features])
        columns_single = dict(zip(data.families, data.single_valued, strict=True))
        single = [
            all(columns_single.get(column, False) for column in family.split(" & "))
            for family in families
        ]
        return FeatureMatrix(
            *self._list.rows(data),
            self.names,
            family_of,
            families.names,
            np.array(single, dtype=bool),
            **data.beside_columns,
        )

    @cached_property
    def _list(self) -> FeatureList:
        return FeatureList.of(self.features)

    def derive(self, table: NominalTable) -> NominalTable:
        """The table with the plan's derived columns."""
        for spec in self.derived:
            table = derive(table, spec)
        return table

    def to_json(self) -> str:
        """The plan as JSON text."""
        places: dict[int, list[list[Any]]] = {}  # of a template that many features have
        for feature in self.features:
            if id(feature.template) not in places:
                places[id(feature.template)] = [list(one) for one in feature.template.places]
        features = [
            {"places": places[id(feature.template)], "values": feature.values}
            for feature in self.features
        ]
        templates = [
            {"places": [list(place) for place in t.places], "kind": t.kind, "name": t.name}
            for t in self.templates
        ]
        content = {"plan": 1, "derived": list(self.derived), "features": features}
        return json.dumps(content | {"templates": templates}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> FeaturePlan:
        """The plan that :meth:`to_json` wrote."""
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
            templates = tuple(
                Template(
                    tuple((str(c), int(o)) for c, o in entry["places"]),
                    str(entry["kind"]),
                    str(entry["name"]),
                )
                for entry in content.get("templates", ())
            )
            return cls(features, tuple(content["derived"]), templates)
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"not a feature plan: {error}") from None
