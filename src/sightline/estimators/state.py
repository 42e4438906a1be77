"""What `fit` has set, taken out of an estimator and put back: what a model file holds."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from sightline.whitening import Whitening


class FittedStateMixin:
    """An estimator whose fitted state can leave it and come back."""

    _fitted: ClassVar[tuple[str, ...]]
    """Attributes without which nothing works."""

    def fitted_state(self) -> dict[str, Any]:
        """Return what `fit` has set, by attribute: all that is no parameter.

        Arrays, numbers, text, lists of them, records, other estimators: what a model file holds.
        `restore_fitted_state` on an estimator with the same parameters is the way back.
        """
        check_is_fitted(self)
        parameters = self._parameters()
        left_out = {*parameters, "_stream"}  # what a stream is fed with is no part of a model
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def restore_fitted_state(self, state: dict[str, Any]) -> Self:
        """Take over a fitted state, or say what does not fit together in it."""
        parameters = self._parameters()
        for name in state:
            if hasattr(type(self), name) or name in parameters:
                raise ValueError(f"{name!r} is no fitted attribute of {type(self).__name__}.")
        for name in (*self._fitted, "n_features_in_"):
            if name not in state:
                raise ValueError(f"a fitted {type(self).__name__} has an attribute {name!r}.")
        self._check_state(state)
        self.__dict__.update(state)
        return self

    def _parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        return parameters

    def _check_state(self, state: dict[str, Any]) -> None:
        """Raise where parts of a state contradict each other."""
        raise NotImplementedError


def require_shapes(*pairs: tuple[Any, tuple[int, ...]]) -> None:
    """Raise where an array has another shape than the rest of a fitted state asks for."""
    for values, shape in pairs:
        if values.shape != shape:
            raise ValueError(
                f"the fitted arrays have unlike shapes: {values.shape} where {shape} belongs."
            )


def check_whitening(whitening: Whitening, columns: Any) -> int:
    """Return the rank of a whitening of so many columns, or raise where its parts disagree."""
    rank = whitening.rank
    require_shapes(
        (whitening.matrix, (columns, rank)),
        (whitening.mean, (columns,)),
        (whitening.exponents, (columns,)),
    )
    return rank
