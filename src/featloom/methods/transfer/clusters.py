"""Foreground and background: cohesive groups, and everything that is like nothing else.

Most word senses resemble no other sense, and a clustering that puts each somewhere makes groups
that mean nothing.  Here rows are joined by average linkage on the cosine of their vectors as long
as two groups are similar enough (``threshold``).  Of the rows, the share ``background`` that fits
its group least is then taken out, together with all that stayed alone.

After Kandylas, Upham and Ungar, "Finding cohesive clusters for analyzing knowledge communities"
(2007), with the linkage above in the place of their own search.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin

from featloom.data.vocabulary import Vocabulary
from featloom.errors import InputError
from featloom.options import check, number

BACKGROUND = -1


class ForegroundClustering(ClusterMixin, BaseEstimator):
    """Cohesive clusters of similar rows; the rest is background, labelled -1.

    Parameters
    ----------
    threshold : cosine from which on two groups are joined.
    background : the share of rows that is put in the background at least, least cohesive first.

    Attributes
    ----------
    labels_ : the cluster of each row, 0, 1, … in the order of their first rows; -1 is background.
    cohesion_ : mean cosine of each row with the others of its group, 0 for a row alone.
    n_clusters_ : number of clusters in the foreground.

    Examples
    --------
    >>> X = [[1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]]
    >>> ForegroundClustering(threshold=0.5, background=0.2).fit_predict(X).tolist()
    [0, -1, 0, -1]
    """

    constraints = {"threshold": number(above=0, most=1), "background": number(0, below=1)}

    def __init__(self, *, threshold: float = 0.2, background: float = 0.2):
        self.threshold = threshold
        self.background = background

    def fit(self, X, y=None) -> ForegroundClustering:
        """Cluster the rows of a dense or sparse matrix of numbers not below 0."""
        check(self)
        similar = cosines(X)
        groups = _linked(similar, self.threshold)
        self.cohesion_ = _cohesion(similar, groups)
        n_out = int(np.ceil(self.background * len(groups)))
        out = np.argsort(self.cohesion_, kind="stable")[:n_out]
        kept = self.cohesion_ > 0
        kept[out] = False
        # A row whose fellows all went to the background is alone too.
        sizes = np.bincount(groups[kept], minlength=groups.max() + 1)
        kept &= sizes[groups] > 1
        self.labels_ = _numbered(np.where(kept, groups, BACKGROUND))
        self.n_clusters_ = int(self.labels_.max(initial=BACKGROUND)) + 1
        return self


def cosines(X) -> np.ndarray:
    """The cosine of every two rows; a row of zeros is like nothing."""
    X = sparse.csr_matrix(X, dtype=np.float64)
    if X.shape[0] == 0:
        raise InputError("there are no rows to cluster")
    lengths = np.sqrt(X.multiply(X).sum(axis=1)).A1
    scale = sparse.diags(1 / np.where(lengths > 0, lengths, 1))
    X = scale @ X
    return np.clip((X @ X.T).toarray(), 0.0, 1.0)


def _linked(similar: np.ndarray, threshold: float) -> np.ndarray:
    """Groups by average linkage, joined while their mean cosine is at least the threshold."""
    if len(similar) == 1:
        return np.zeros(1, dtype=np.int64)
    distance = 1 - similar
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average")
    return fcluster(tree, 1 - threshold + 1e-12, criterion="distance") - 1


def _cohesion(similar: np.ndarray, groups: np.ndarray) -> np.ndarray:
    together = groups[:, None] == groups[None, :]
    np.fill_diagonal(together, False)
    fellows = together.sum(axis=1)
    return (similar * together).sum(axis=1) / np.maximum(fellows, 1)


def _numbered(groups: np.ndarray) -> np.ndarray:
    """Groups by the order of their first rows; the background stays what it is."""
    return Vocabulary(missing=[BACKGROUND]).add(groups).astype(np.int64)
