"""Is a slope the derivative of its value? A finite-difference check, for indices that users write."""

from __future__ import annotations

import numpy as np

from sightline.indices.contract import Index

_POINTS = np.linspace(-3.1, 3.3, 65)
_STEP = 1e-5
_TOLERANCE = 1e-4


def check_derivative(index: Index) -> None:
    """Raise a ValueError where `slope` is not the derivative of `value`, or `weights` of `combine`.

    At a kink the one-sided differences disagree and any slope between them is right.
    """
    if index.whole_sample:
        return
    value = _featured(index, index.value(_POINTS, np))
    forward = (_featured(index, index.value(_POINTS + _STEP, np)) - value) / _STEP
    backward = (value - _featured(index, index.value(_POINTS - _STEP, np))) / _STEP
    slope = _featured(index, index.slope(_POINTS, np))
    _compare(index, "slope", "value", _POINTS, slope, forward, backward)

    means = np.linspace(0.3, 2.7, 7) * np.arange(1, index.n_features + 1)[:, None]
    here, weights = index.combine(means, np), index.weights(means, np)
    for feature in range(index.n_features):
        step = np.zeros_like(means)
        step[feature] = _STEP
        ahead = (index.combine(means + step, np) - here) / _STEP
        behind = (here - index.combine(means - step, np)) / _STEP
        _compare(
            index,
            "weights",
            "combine",
            means[feature],
            weights[None, feature],
            ahead[None],
            behind[None],
        )


def _featured(index: Index, values: np.ndarray) -> np.ndarray:
    shape = (index.n_features, _POINTS.size)
    if values.size != shape[0] * shape[1]:
        raise ValueError(
            f"index {index.name}: value and slope of scores of shape {_POINTS.shape} have shape "
            f"{values.shape}; they must keep the shape of the scores, with a leading axis of "
            f"length n_features={index.n_features} where that is more than 1."
        )
    return values.reshape(shape)


def _compare(
    index: Index,
    derivative: str,
    function: str,
    points: np.ndarray,
    claimed: np.ndarray,
    forward: np.ndarray,
    backward: np.ndarray,
) -> None:
    slack = _TOLERANCE * (1 + np.maximum(np.abs(forward), np.abs(backward)))
    low = np.minimum(forward, backward) - slack
    high = np.maximum(forward, backward) + slack
    wrong = np.argwhere(~((low <= claimed) & (claimed <= high)))
    if wrong.size:
        feature, place = wrong[0]
        raise ValueError(
            f"index {index.name}: {derivative} is {claimed[feature, place]:.6g} at "
            f"{points[place]:.3g}, but {function} rises there at a rate of "
            f"{(forward[feature, place] + backward[feature, place]) / 2:.6g}; "
            f"{derivative} must be the derivative of {function}."
        )
