"""Is a slope the derivative of its value? A finite-difference check for indices of users."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline.indices.contract import Index

_POINTS = np.linspace(-3.1, 3.3, 65)
_STEP = 1e-5
_TOLERANCE = 1e-4


def check_derivative(index: Index) -> None:
    """Raise where `slope` is not the derivative of `value`, or `weights` that of `combine`.

    At a kink the one-sided differences disagree and any slope between them is right.
    """
    if index.whole_sample:
        return
    value = _featured(index, index.value(_POINTS, np))
    forward = (_featured(index, index.value(_POINTS + _STEP, np)) - value) / _STEP
    backward = (value - _featured(index, index.value(_POINTS - _STEP, np))) / _STEP
    slope = _featured(index, index.slope(_POINTS, np))
    _compare(index, Rise("slope", "value", _POINTS, forward, backward), slope)

    means = np.linspace(0.3, 2.7, 7) * np.arange(1, index.n_features + 1)[:, None]
    here, weights = index.combine(means, np), index.weights(means, np)
    for feature in range(index.n_features):
        step = np.zeros_like(means)
        step[feature] = _STEP
        forward = (index.combine(means + step, np) - here) / _STEP
        backward = (here - index.combine(means - step, np)) / _STEP
        rise = Rise("weights", "combine", means[feature], forward[None], backward[None])
        _compare(index, rise, weights[None, feature])


@dataclass(frozen=True)
class Rise:
    """How fast `function` rises at `points`, forwards and backwards, (features, points)."""

    derivative: str
    function: str
    points: np.ndarray
    forward: np.ndarray
    backward: np.ndarray


def _featured(index: Index, values: np.ndarray) -> np.ndarray:
    shape = (index.n_features, _POINTS.size)
    if values.size != shape[0] * shape[1]:
        raise ValueError(
            f"index {index.name}: value and slope of scores of shape {_POINTS.shape} have shape "
            f"{values.shape}; they must keep the shape of the scores, with a leading axis of "
            f"length n_features={index.n_features} where that is more than 1."
        )
    return values.reshape(shape)


def _compare(index: Index, rise: Rise, claimed: np.ndarray) -> None:
    steepest = np.maximum(np.abs(rise.forward), np.abs(rise.backward))
    slack = _TOLERANCE * (1 + steepest)
    low = np.minimum(rise.forward, rise.backward) - slack
    high = np.maximum(rise.forward, rise.backward) + slack
    wrong = np.argwhere(~((low <= claimed) & (claimed <= high)))
    if wrong.size:
        feature, place = wrong[0]
        rate = (rise.forward[feature, place] + rise.backward[feature, place]) / 2
        raise ValueError(
            f"index {index.name}: {rise.derivative} is {claimed[feature, place]:.6g} at "
            f"{rise.points[place]:.3g}, but {rise.function} rises there at a rate of {rate:.6g}; "
            f"{rise.derivative} must be the derivative of {rise.function}."
        )
