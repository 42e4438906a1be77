"""RareClusters: small groups of rows, split off along directions that were searched for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sightline._arrays import Array, like, to_numpy
from sightline._options import as_generator, check_count, check_number
from sightline.estimators.state import FittedStateMixin, check_whitening, require_shapes
from sightline.estimators.tables import read_table
from sightline.scatter import scatter_of
from sightline.splitting import RowSplit, Splitter, distinct_rows, follow_splits
from sightline.views.weights import main_columns, standard_weights
from sightline.whitening import fit_whitening

_NAMED_COLUMNS = 5
"""Columns that the report of a cluster names."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What is known of one cluster.

    Attributes
    ----------
    label : its label.
    parent : the label of the rows that it was split off from.
    size : rows with its label now; clusters may have been split off from it later.
    direction : (d,) unit column weights; rows with <x - mean_, direction> above `threshold` were
        split off.
    threshold : where the split lies.
    separation : distance of the means of both sides along the direction, over their pooled
        standard deviation.
    p_value : of the split, after the search.
    columns : the columns that matter, most first, each with the signed weight that one standard
        deviation of it has in the standardised score.
    """

    label: int
    parent: int
    size: int
    direction: Array
    threshold: float
    separation: float
    p_value: float
    columns: tuple[tuple[Any, float], ...]


class RareClusters(FittedStateMixin, ClusterMixin, BaseEstimator):
    """Rare clusters, split off one at a time until no more is sure.

    Directions are searched on one random half of the rows; the other half, of which the search
    knows nothing, holds a mixture of two normals along them against one cluster, with normal
    scores or heavier tails (`sightline.separation`). What passes is split off, and both sides
    are searched again. Rows that are copies of each other count as one in all of this, and get
    one label.

    Parameters
    ----------
    index : what makes a direction interesting; one index or a tuple of several.
    whiten : "exact", "shrunk" or "none", of all rows; each part is whitened again. See
        `sightline.whitening.fit_whitening`.
    minimum_size : least rows of a cluster, copies not counted.
    significance : the p-value that a split needs. Where all rows are one cluster with normal
        scores along all directions, this bounds the chance that anything is split off.
    random_state : int, Generator, RandomState or None.

    Attributes
    ----------
    labels_ : (n,) 0 for the bulk, 1, 2, ... for clusters in the order found. Of two sides of a
        split the larger keeps its label.
    clusters_ : list of `Cluster`, what is known of each; empty where there is only the bulk.
    n_clusters_ : how many clusters were split off.
    mean_ : (d,) centre of the columns.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> from sightline import RareClusters
    >>> from sightline.datasets import ImbalancedClusters, make_planted
    >>> signal = ImbalancedClusters(0.05, spread=0.2)
    >>> X, direction, labels = make_planted(2000, 10, signal=signal, random_state=0)
    >>> found = RareClusters(random_state=0).fit(X)
    >>> found.n_clusters_
    1
    """

    _fitted = ("_whitening", "_splits", "labels_", "mean_", "n_clusters_", "clusters_")

    def __init__(
        self,
        index: Any = ("relu2", "skewness", "abs", "logcosh"),
        *,
        whiten: str = "exact",
        minimum_size: int = 5,
        significance: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.index = index
        self.whiten = whiten
        self.minimum_size = minimum_size
        self.significance = significance
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  (y: scikit-learn's contract)
        """Split rare clusters off the rows of `X` (n, d); `y` is ignored."""
        least = check_count("minimum_size", self.minimum_size, at_least=2)
        level = check_number(
            "significance", self.significance, low=0, high=1, open_low=True, open_high=True
        )
        rng = as_generator(self.random_state)
        rows = read_table(self, X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        self._whitening = fit_whitening(rows, self.whiten, columns=names)
        whitened = to_numpy(self._whitening.apply(rows)).astype(np.float64)
        once = whitened[distinct_rows(to_numpy(rows))]
        self._splits = Splitter(self.index, least, level, rng).split(once)
        self.labels_ = follow_splits(whitened, self._splits)
        self.mean_ = like(self._whitening.mean, rows)
        self.n_clusters_ = len(self._splits)
        labels = range(self.n_features_in_) if names is None else names
        self.clusters_ = self._report(rows, labels) if self._splits else []
        return self

    def predict(self, X: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the labels (n,) of the rows of `X`, split after split."""
        check_is_fitted(self)
        rows = read_table(self, X, reset=False)
        whitened = to_numpy(self._whitening.apply(rows)).astype(np.float64)
        return follow_splits(whitened, self._splits)

    def _check_state(self, state: dict[str, Any]) -> None:
        rank = check_whitening(state["_whitening"], state["n_features_in_"])
        for place, split in enumerate(state["_splits"], start=1):
            require_shapes((split.direction, (rank,)))
            check_number("threshold", split.threshold)
            if split.label != place or not 0 <= split.parent < place:
                raise ValueError(f"split {place} has label {split.label}, parent {split.parent}.")
        if state["n_clusters_"] != len(state["_splits"]):
            raise ValueError("n_clusters_ is not the number of splits.")

    def _report(self, rows: Array, names: Any) -> list[Cluster]:
        """Take the splits from whitened rows to columns."""
        whitened = like(np.stack([split.direction for split in self._splits]), rows)
        directions = self._whitening.column_weights(whitened)
        weights = standard_weights(directions, scatter_of(rows))
        scores = to_numpy(self._whitening.scores(rows, whitened)).astype(np.float64)
        largest = np.abs(scores).max(axis=0)  # squares of scores beyond 1e154 are infinite
        units = (scores / largest).std(axis=0) * (
            largest / to_numpy(self._whitening.apply(rows) @ whitened.T).std(axis=0)
        )
        return [
            self._cluster(split, direction, unit, weight, names)
            for split, direction, unit, weight in zip(
                self._splits, directions, units, weights, strict=True
            )
        ]

    def _cluster(
        self, split: RowSplit, direction: Array, unit: float, weights: Any, names: Any
    ) -> Cluster:
        columns = main_columns(weights, _NAMED_COLUMNS)
        return Cluster(
            split.label,
            split.parent,
            int(np.count_nonzero(self.labels_ == split.label)),
            direction,
            float(split.threshold * unit),
            split.separation,
            split.p_value,
            tuple((names[column], float(weights[column])) for column in columns),
        )
