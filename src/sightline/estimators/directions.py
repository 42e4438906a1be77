"""What every estimator that finds directions shares: reading tables, scores, names."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sightline._arrays import Array, like
from sightline.estimators.state import FittedStateMixin, check_whitening, require_shapes
from sightline.estimators.tables import read_table
from sightline.rows import finished
from sightline.whitening import Whitening


class DirectionsMixin(FittedStateMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A transformer whose output is the scores along its directions.

    After `fit`, `components_` holds unit rows of column weights and `transform` returns
    (X - mean_) components_^T, computed so that columns of very different scales lose no digits.
    """

    _fitted = ("_whitening", "_directions", "components_", "mean_")

    def _keep(self, whitening: Whitening, directions: Array, X: Array) -> None:
        """Store directions found in whitened coordinates as the fitted state."""
        self._whitening = whitening
        self._directions = directions
        self.components_ = whitening.column_weights(directions)
        self.mean_ = like(whitening.mean, X)
        self._n_features_out = int(directions.shape[0])

    def transform(self, X: Any) -> Array:
        """Return the scores (n, k) of the rows of `X` along the directions.

        Those of rows that are not in memory are computed block by block; those of a Dask array or
        frame are a Dask array.
        """
        check_is_fitted(self)
        rows = read_table(self, X, reset=False, lazy=True)
        return finished(self._whitening.scores(rows, self._directions))

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether there are directions: part of a stream may not have given any yet."""
        return hasattr(self, "components_")

    def _check_state(self, state: dict[str, Any]) -> None:
        columns = state["n_features_in_"]
        rank = check_whitening(state["_whitening"], columns)
        found = state["_directions"].shape[:1]
        require_shapes(
            (state["_directions"], (*found, rank)), (state["components_"], (*found, columns))
        )


class DirectionsEstimator(DirectionsMixin, BaseEstimator):
    """The mixins in scikit-learn's order, with the tags of a float-preserving transformer."""

    def __sklearn_tags__(self) -> Any:
        """Declare that float32 and float64 leave as they came."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
