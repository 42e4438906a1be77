"""What every estimator that finds directions shares: reading tables, scores, names."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sightline._arrays import Array, like
from sightline.estimators.tables import read_table
from sightline.whitening import Whitening


class DirectionsMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A transformer whose output is the scores along its directions.

    After `fit`, `components_` holds unit rows of column weights and `transform` returns
    (X - mean_) components_^T, computed so that columns of very different scales lose no digits.
    """

    def _keep(self, whitening: Whitening, directions: Array, X: Array) -> None:
        """Store directions found in whitened coordinates as the fitted state."""
        self._whitening = whitening
        self._directions = directions
        self.components_ = whitening.column_weights(directions)
        self.mean_ = like(whitening.mean, X)
        self._n_features_out = int(directions.shape[0])

    def transform(self, X: Any) -> Array:
        """Return the scores (n, k) of the rows of `X` along the directions."""
        check_is_fitted(self)
        rows = read_table(self, X, reset=False)
        return self._whitening.scores(rows, self._directions)

    def fitted_state(self) -> dict[str, Any]:
        """Return what `fit` has set, by attribute: all that is no parameter.

        Arrays, numbers, text, lists of them, `Whitening`, other estimators: what a model file
        holds. `restore_fitted_state` on an estimator with the same parameters is the way back.
        """
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        return {name: value for name, value in vars(self).items() if name not in parameters}

    def restore_fitted_state(self, state: dict[str, Any]) -> Self:
        """Take over a fitted state, or say what does not fit together in it."""
        for name in state:
            if hasattr(type(self), name) or name in self.get_params(deep=False):
                raise ValueError(f"{name!r} is no fitted attribute of {type(self).__name__}.")
        for name in ("_whitening", "_directions", "components_", "n_features_in_"):
            if name not in state:
                raise ValueError(f"a fitted {type(self).__name__} has an attribute {name!r}.")
        whitening = state["_whitening"]
        columns, rank = whitening.matrix.shape
        found = state["_directions"].shape[:1]
        if (
            state["n_features_in_"] != columns
            or whitening.mean.shape != (columns,)
            or whitening.exponents.shape != (columns,)
            or state["_directions"].shape != (*found, rank)
            or state["components_"].shape != (*found, columns)
        ):
            raise ValueError("directions, components_ and the whitening have unlike shapes.")
        self.__dict__.update(state)
        return self


class DirectionsEstimator(DirectionsMixin, BaseEstimator):
    """The mixins in scikit-learn's order, with the tags of a float-preserving transformer."""

    def __sklearn_tags__(self) -> Any:
        """Declare that float32 and float64 leave as they came."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
