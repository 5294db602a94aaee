"""Templates for any linear model: which columns to join, read off decision trees.

A linear model on single columns cannot learn that two values matter only together.  Entropy-guided
feature generation (Fernandes and Milidiú) grows a decision tree on the columns and takes every path
from its root as a template; all combinations of values that the training rows show in a template's
columns are features.  See :mod:`featloom.learners.tree_paths` for what is done with the paths.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from featloom.data.blocks import Blocks
from featloom.data.table import NominalTable
from featloom.errors import InputError
from featloom.features.feature_list import FeatureList
from featloom.features.plan import FeaturePlan
from featloom.features.template import Template
from featloom.features.windows import columns_of_places, sequence_templates
from featloom.formats.crfpp import template_line
from featloom.formats.vw import interaction_flags, learning_flags, write_vw
from featloom.learners.inputs import MakesFeatures, TableReader, checked_target, encode_target
from featloom.learners.tree import MultiwayTree
from featloom.learners.tree_columns import best_columns
from featloom.learners.tree_paths import (
    GROWTH,
    GrownTemplate,
    GrownTree,
    grow_trees,
    templates_of_trees,
)
from featloom.methods.tree_templates.features import HashedFeatures, SeenFeatures
from featloom.options import none, seed, settled, whole

RECOMMENDED = {"backoff": True, "singles": True, "floor": 10}
PRESETS = {"chapter": {"backoff": False, "singles": False, "floor": 0}}
_MOST_OF_WIDE = 1000  # templates that grew on a wide table
_MOST_FEATURES = 200_000_000  # of all rows, by templates that grew on any other


class TreeTemplates(MakesFeatures, BaseEstimator):
    """Find columns that matter together, and make features of their values.

    Parameters left at "auto" take the value of ``preset``, or else the recommended one.

    Parameters
    ----------
    criterion : "gain_ratio" (as in C4.5) or "information_gain", by which a tree chooses columns.
    max_length : columns of the longest template.
    backoff : whether there are also templates of paths without their root.
    singles : whether every column by itself is a template too, which linear models want.
    prune : "error" (as in C4.5), "gain" (for skewed classes) or None.
    confidence : of error pruning; a lower one prunes more.
    min_rows : rows that at least two branches of a split must have.
    floor : templates that a tree has at least, whatever is pruned.
    n_trees, columns_per_tree, forest : more trees than one, each on columns drawn at random
        ("bagged") or on the rows that the one before got wrong ("hard"); see
        :func:`~featloom.learners.tree_paths.grow_templates`.
    most : how many templates are kept, those with the highest gains; single columns come on top.
    most_columns : int, default 200, or None for all; a table of more columns is wide.  Of a wide
        table only so many columns are looked at, by trees and as single columns: those that tell
        the classes apart best by themselves, see :mod:`featloom.learners.tree_columns`.  Where
        ``most`` is None, 1,000 templates of it are kept, so that a row has at most 1,000 +
        ``most_columns`` features; of a table that is not wide as many as give all rows together
        200 million features, though never fewer than 1,000.  Columns of a wide table that matter
        only together may be missed.
    cutoff : features seen fewer times are left out.
    hashed : None, or a number of bits: features are hashed into 2**bits columns.
    preset : None, or "chapter" for the method as published.
    random_state : seed of what forests draw.

    Attributes
    ----------
    templates_ : those in use, by gain; single columns that no tree has come last.
    grown_ : the templates that grew on trees, with gain, coverage and number of trees.
    tree_, trees_ : the first tree, which can be printed, and all of them.
    plan_ : the templates as a :class:`~featloom.features.plan.FeaturePlan`.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn.

    Where no column tells the classes apart there is a warning, and single columns are the
    templates.

    Examples
    --------
    >>> from featloom.methods.tree_templates import TreeTemplates
    >>> letters = [["c", "a"], ["c", "e"], ["s", "a"], ["s", "e"]] * 5
    >>> sounds = ["K", "S", "S", "S"] * 5
    >>> templates = TreeTemplates(backoff=False).fit(letters, sounds)
    >>> [str(template) for template in templates.templates_]
    ['x0 & x1', 'x0', 'x1']
    >>> templates.transform([["c", "e"]]).shape
    (1, 8)
    """

    constraints = {
        **GROWTH,
        "max_length": whole(1) | none,
        "floor": whole(0),
        "most": whole(0) | none,
        "most_columns": whole(1) | none,
        "cutoff": whole(1),
        "hashed": whole(1, 30) | none,
        "random_state": seed,
    }
    _fitted = "templates_"

    def __init__(
        self,
        *,
        criterion="gain_ratio",
        max_length=6,
        backoff="auto",
        singles="auto",
        prune="error",
        confidence=0.25,
        min_rows=2,
        floor="auto",
        n_trees=1,
        columns_per_tree=None,
        forest="bagged",
        most=None,
        most_columns=200,
        cutoff=1,
        hashed=None,
        preset=None,
        random_state=None,
    ):
        self.criterion = criterion
        self.max_length = max_length
        self.backoff = backoff
        self.singles = singles
        self.prune = prune
        self.confidence = confidence
        self.min_rows = min_rows
        self.floor = floor
        self.n_trees = n_trees
        self.columns_per_tree = columns_per_tree
        self.forest = forest
        self.most = most
        self.most_columns = most_columns
        self.cutoff = cutoff
        self.hashed = hashed
        self.preset = preset
        self.random_state = random_state

    def fit(self, X, y=None):
        """Grow templates on rows X and their classes y (None: those that a table carries).

        X may also be :class:`~featloom.data.blocks.Blocks` of a table, which carry their classes:
        rows that need not fit in memory.
        """
        settings = self._settings()
        if isinstance(X, Blocks):
            return self._fit_blocks(X, y, settings)
        self._reader = TableReader()
        table = self._reader.fit(self, X)
        labels, self.classes_ = encode_target(table, y)
        table = labelled(table, labels, self.classes_)
        among = best_columns(table, self.most_columns)
        return self._take(table, among, self._grow(table, among), settings)

    def _fit_blocks(self, blocks: Blocks, y, settings: dict):
        if y is not None:
            raise InputError("blocks carry their classes; y must be None")
        if blocks.table is None:
            raise InputError("templates join columns, and these blocks are no rows of a table")
        self._reader = TableReader()
        self._reader.fit(self, blocks.table)
        self.classes_ = np.array(blocks.classes, dtype=object)
        among = best_columns(blocks, self.most_columns)
        return self._take(blocks.table, among, self._grow(blocks, among), settings, blocks)

    def _features_of(self, table):
        return self._features.matrix(table)

    def _names_of(self, columns):
        return self._features.names()

    def codes(self, X) -> np.ndarray:
        """The same as numbers: (rows, templates), -1 where a row has no known feature."""
        table = self._read(X)
        return self._features.codes(table)

    @property
    def tree_(self) -> MultiwayTree:
        """The first tree, pruned."""
        check_is_fitted(self, "templates_")
        return self.trees_[0]

    @property
    def plan_(self) -> FeaturePlan:
        """The templates as a plan that other methods and models can carry."""
        check_is_fitted(self, "templates_")
        return FeaturePlan(templates=tuple(self.templates_))

    def feature_list(self) -> FeatureList:
        """The output columns as a linear model carries them; hashed ones have no names."""
        check_is_fitted(self, "templates_")
        if isinstance(self._features, HashedFeatures):
            raise InputError("hashed features are not known one by one; fit without 'hashed'")
        return self._features.feature_list()

    def to_crfpp(self, columns=None) -> str:
        """The templates as a CRF++ template file.

        Columns of a window table (``word[-1]``) become offsets.  ``columns`` are those of the data
        file in order; default those that the table was made of.
        """
        check_is_fitted(self, "templates_")
        names = self._reader.table.columns
        columns = columns_of_places(names) if columns is None else tuple(columns)
        lines = [f"# column {number}: {name}" for number, name in enumerate(columns)]
        for number, template in enumerate(sequence_templates(self.templates_)):
            for name, _ in template.places:
                if name not in columns:
                    raise InputError(
                        f"template {template} looks at column {name!r}; there are "
                        f"{', '.join(columns)}"
                    )
            cells = [(offset, columns.index(name)) for name, offset in template.places]
            lines.append(str(template_line(f"U{number:02d}", cells)))
        if self._of_sentences:
            lines.append("B")
        return "\n".join(lines) + "\n"

    def to_vw(self) -> str:
        """Flags by which Vowpal Wabbit learns from the same features; see :meth:`write_vw`."""
        check_is_fitted(self, "templates_")
        columns = self._reader.table.columns
        sets = [[name for name, _ in template.places] for template in self.templates_]
        flags = learning_flags(len(self.classes_), self._features.n_features)
        return " ".join(flags + interaction_flags(sets, columns))

    def write_vw(self, path: str | os.PathLike[str], X, y=None) -> None:
        """Write rows as examples of Vowpal Wabbit, to which the flags of :meth:`to_vw` fit.

        A class is written as its number in ``classes_``, from 1.  Without y, and where X is no
        table with labels, no label is written.
        """
        table = self._read(X)
        labels = None
        if y is not None or table.labels is not None:
            labels, _ = encode_target(table, checked_target(table, y), self.classes_)
        write_vw(replace(table, labels=labels), path)

    def _grow(self, table: NominalTable | Blocks, among: np.ndarray | None) -> list[GrownTree]:
        seed = 0 if self.random_state is None else int(self.random_state)
        how = {name: getattr(self, name) for name in GROWTH}
        return grow_trees(table, among=among, random_state=seed, **how)

    def _take(
        self,
        table: NominalTable,
        among: np.ndarray | None,
        trees: list[GrownTree],
        settings: dict,
        blocks: Blocks | None = None,
    ):
        """Read templates off trees, and number their features."""
        cut = {name: settings[name] for name in ("max_length", "backoff", "floor")}
        n_rows = len(table if blocks is None else blocks)
        cut["most"] = most_templates(settings["most"], among, n_rows)
        self.grown_: list[GrownTemplate] = templates_of_trees(trees, **cut)
        self.trees_ = [one.tree for one in trees]
        self._of_sentences = table.sequence_bounds is not None
        if not self.grown_ and settings["most"] != 0:
            warnings.warn(
                "no column tells the classes apart: the templates are the single columns",
                stacklevel=3,
            )
        singles = settings["singles"] or not self.grown_
        self.templates_ = with_singles(self.grown_, columns_among(table, among) if singles else ())
        self._features: SeenFeatures | HashedFeatures
        if self.hashed is None:
            seen_in = table if blocks is None else blocks
            self._features = SeenFeatures(seen_in, self.templates_, self.cutoff)
        else:
            self._features = HashedFeatures(table, self.templates_, self.hashed)
        # Of the training rows the vocabularies alone are needed from here on.
        self._reader.table = replace(table.take(np.empty(0, dtype=np.int64)), labels=None)
        return self

    def _read(self, X) -> NominalTable:
        check_is_fitted(self, "templates_")
        return self._reader.read(self, X)

    def _settings(self) -> dict:
        """Every parameter, with "auto" replaced by the preset's or the recommended value."""
        settings = settled(self, RECOMMENDED, PRESETS)
        if settings["hashed"] is not None and settings["cutoff"] > 1:
            raise InputError("hashed features are not counted, so they cannot have a cutoff")
        return settings


def labelled(table: NominalTable, labels: np.ndarray, classes: np.ndarray) -> NominalTable:
    """The table with these class codes."""
    names = tuple(str(name) for name in classes.tolist())
    return replace(table, labels=labels.astype(np.int32), classes=names, class_type="str")


def columns_among(table: NominalTable, among: np.ndarray | None) -> tuple[str, ...]:
    """The names of the columns that are looked at; None: of all."""
    return table.columns if among is None else tuple(table.columns[j] for j in among)


def most_templates(most: int | None, among: np.ndarray | None, n_rows: int) -> int:
    """How many templates are kept: as many as asked, or by default as many as there is room for.

    Of a wide table these are a thousand; of any other, where rows are few, more.

    >>> most_templates(None, None, 1_000_000), most_templates(None, None, 20_000)
    (1000, 10000)
    """
    if most is not None:
        return most
    of_rows = 0 if among is not None else _MOST_FEATURES // max(n_rows, 1)
    return max(_MOST_OF_WIDE, of_rows)


def with_singles(grown: list[GrownTemplate], columns: tuple[str, ...]) -> list[Template]:
    """The templates that grew, then every column that is not yet one by itself."""
    templates = [one.template for one in grown]
    alone = {template.places for template in templates}
    singles = [Template(((name, 0),)) for name in columns]
    return templates + [single for single in singles if single.places not in alone]
