"""ProjectionOutliers: rows far out along directions that were searched for."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from sightline._arrays import Array, like, namespace, take_rows, to_numpy
from sightline._options import as_generator, check_choice, check_count, check_number
from sightline.deviation import Deviations, automatic_threshold, fit_outlyingness
from sightline.estimators.state import FittedStateMixin, check_whitening, require_shapes
from sightline.estimators.tables import read_table
from sightline.pooling import pool_directions
from sightline.rows import random_rows
from sightline.whitening import METHODS, Whitening, fit_whitening

_STARTS = 100
"""Starts a search: deviations need views that differ more than the best of each."""

_SEARCHES = 4
"""Searches an index, whose directions are pooled: on real tables the area of one varies by 0.04
with its starts, and its mean over starts is below that of the pool."""

_ROWS = 20_000
"""Rows that a search is given at the most, drawn anew for each; deviations are those of all."""


class ProjectionOutliers(FittedStateMixin, OutlierMixin, BaseEstimator):
    """Outliers by robust deviations along directions of large projection index.

    A row's outlyingness is sqrt(root mean square deviation along the directions * mean deviation
    over the columns), a deviation being |t - median| in robust standard deviations. Directions and
    deviations are those of the rows of `fit`, which may hold outliers.

    Parameters
    ----------
    index : what makes a direction interesting; one index or a tuple of several, whose directions
        are pooled. "abs" rewards scores of which few are far out, on either side.
    n_components : directions of each of four searches an index, or as many as there are.
    whiten : "auto" is "exact" where there are at least two rows more than columns, else "shrunk",
        which has an answer at any shape; or "exact", "shrunk" or "none"
        (`sightline.whitening.fit_whitening`).
    contamination : part of the rows that is taken for outliers, in (0, 0.5], or "auto": rows whose
        outlyingness is more than 2.5 robust standard deviations above the median.
    random_state : int, Generator, RandomState or None.

    Attributes
    ----------
    components_ : (k, d) unit rows in the space of the input's columns, search after search; what
        several searches found is there several times, and weighs as much.
    offset_ : rows with a `score_samples` below it are outliers.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sightline import ProjectionOutliers
    >>> X = np.random.default_rng(0).standard_normal((500, 10))
    >>> X[:5] += 6 / np.sqrt(10)  # six standard deviations along the diagonal
    >>> detector = ProjectionOutliers(contamination=0.02, random_state=0).fit(X)
    >>> int((detector.predict(X[:5]) == -1).sum())
    5
    """

    _fitted = ("_outlyingness", "components_", "offset_")

    def __init__(
        self,
        index: Any = "abs",
        *,
        n_components: int = 10,
        whiten: str = "auto",
        contamination: float | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.index = index
        self.n_components = n_components
        self.whiten = whiten
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  (y: scikit-learn's contract)
        """Find directions of the rows of `X` (n, d), and how rows spread along them."""
        part = None
        if self.contamination != "auto":
            part = check_number(
                "contamination", self.contamination, low=0, high=0.5, open_low=True
            )
        count = check_count("n_components", self.n_components)
        rng = as_generator(self.random_state)
        rows = read_table(self, X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        check_choice("whiten", self.whiten, ("auto", *METHODS))
        method = self.whiten
        if method == "auto":
            method = "exact" if rows.shape[0] >= rows.shape[1] + 2 else "shrunk"
        whitening = fit_whitening(rows, method, columns=names)
        directions = self._search(rows, whitening, count, rng)
        self.components_ = whitening.column_weights(directions)
        self._outlyingness = fit_outlyingness(rows, whitening, directions)
        far = self._outlyingness.of(rows)
        if part is None:
            self.offset_ = -automatic_threshold(far)
        else:
            self.offset_ = float(np.percentile(-far, 100.0 * part))
        return self

    def _search(
        self, rows: Array, whitening: Whitening, count: int, rng: np.random.Generator
    ) -> Array:
        """Return the whitened directions (k, r) of all searches."""
        found = []
        for _ in range(_SEARCHES):
            some = rows
            if rows.shape[0] > _ROWS:
                some = take_rows(rows, np.sort(random_rows(rows.shape[0], _ROWS, rng)))
            found.append(
                pool_directions(
                    some,
                    whitening,
                    self.index,
                    n_components=count,
                    random_state=rng,
                    n_starts=_STARTS,
                )
            )
        return namespace(rows).concat(found)

    def score_samples(self, X: Any) -> Array:
        """Return minus the outlyingness (n,) of the rows of `X`: the higher, the more normal."""
        check_is_fitted(self)
        rows = read_table(self, X, reset=False)
        return like(-self._outlyingness.of(rows), rows)

    def decision_function(self, X: Any) -> Array:
        """Return `score_samples` less `offset_`: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return -1 for outliers and 1 for the others, (n,)."""
        return np.where(to_numpy(self.decision_function(X)) < 0, -1, 1)

    def _check_state(self, state: dict[str, Any]) -> None:
        columns, fitted = state["n_features_in_"], state["_outlyingness"]
        rank = check_whitening(fitted.whitening, columns)
        found = fitted.directions.shape[:1]
        varying = int(np.any(fitted.whitening.matrix != 0, axis=1).sum())
        require_shapes(
            (fitted.directions, (*found, rank)),
            (state["components_"], (*found, columns)),
            *((values, found) for values in _parts(fitted.along_directions)),
            *((values, (varying,)) for values in _parts(fitted.along_columns)),
        )
        check_number("offset_", state["offset_"])


def _parts(deviations: Deviations) -> tuple[Any, Any]:
    return deviations.centre, deviations.spread
