"""Is a slope the derivative of its value? A finite-difference check for indices of users."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline._arrays import namespace
from sightline.indices.contract import Index, with_feature_axis
from sightline.indices.formulas import evaluate

_POINTS = np.linspace(-3.1, 3.3, 65)
_STEP = 1e-5
_TOLERANCE = 1e-4


def check_derivative(index: Index) -> None:
    """Raise where `slope` is not the derivative of `value`, or `weights` that of `combine`.

    `formulas`, where there are any, have to say the same as `value` and `slope`.

    At a kink the one-sided differences disagree and any slope between them is right.
    """
    if not index.whole_sample:
        _check_slope(index)
        _check_weights(index)
        _check_formulas(index)


@dataclass(frozen=True)
class Rise:
    """How fast `function` rises at `points`, forwards and backwards, (features, points)."""

    derivative: str
    function: str
    points: np.ndarray
    forward: np.ndarray
    backward: np.ndarray


def _check_slope(index: Index) -> None:
    xp = namespace(_POINTS)
    before, here, after = (
        with_feature_axis(index, index.value(_POINTS + step, xp), _POINTS)
        for step in (-_STEP, 0.0, _STEP)
    )
    slope = with_feature_axis(index, index.slope(_POINTS, xp), _POINTS)
    rise = Rise("slope", "value", _POINTS, (after - here) / _STEP, (here - before) / _STEP)
    _compare(index, rise, slope)


def _check_formulas(index: Index) -> None:
    if index.formulas and len(index.formulas) != index.n_features:
        raise ValueError(
            f"index {index.name} has {len(index.formulas)} formulas; it needs a pair of value and "
            f"slope for each of its {index.n_features} features."
        )
    xp = namespace(_POINTS)
    for kind, place in (("value", 0), ("slope", 1)):
        wanted = with_feature_axis(index, getattr(index, kind)(_POINTS, xp), _POINTS)
        for pair, numbers in zip(index.formulas, wanted, strict=False):
            got = evaluate(pair[place], _POINTS, xp) + np.zeros_like(_POINTS)
            wrong = np.flatnonzero(~(np.abs(got - numbers) <= _TOLERANCE * (1 + np.abs(numbers))))
            if wrong.size:
                at = wrong[0]
                raise ValueError(
                    f"index {index.name}: {kind} is {numbers[at]:.6g} at {_POINTS[at]:.3g}, but "
                    f"its formula {pair[place]!r} is {got[at]:.6g} there."
                )


def _check_weights(index: Index) -> None:
    means = np.linspace(0.3, 2.7, 7) * np.arange(1, index.n_features + 1)[:, None]
    xp = namespace(means)
    here, weights = index.combine(means, xp), index.weights(means, xp)
    for feature in range(index.n_features):
        step = np.zeros_like(means)
        step[feature] = _STEP
        forward = (index.combine(means + step, xp) - here) / _STEP
        backward = (here - index.combine(means - step, xp)) / _STEP
        rise = Rise("weights", "combine", means[feature], forward[None], backward[None])
        _compare(index, rise, weights[None, feature])


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
