"""What an index is: an object that sees projected scores and nothing else.

An index scores a direction u by the scores t_i = <x_i, u>. Most are a mean,

    index(u) = mean_i phi(t_i),        gradient = mean_i phi'(t_i) x_i,

and declare `value` (phi) and `slope` (phi'). Some are a function of a few means,

    index(u) = F(mean phi_1, ..., mean phi_k),
    gradient = sum_j dF_j mean_i phi_j'(t_i) x_i,

and declare `n_features`, `combine` (F) and `weights` (dF) as well. A few look at the order of all
the scores at once (`whole_sample`); they choose among directions but cannot climb.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline._arrays import Array, Namespace
from sightline.indices.formulas import Formulas
from sightline.short_runs import run_sums


class Index:
    """One feature, and its mean as the value: the base that most indices need.

    Scores arrive as an array of any shape; values and slopes leave in that shape, with a leading
    axis of length `n_features` where there is more than one feature.

    Attributes
    ----------
    name : the name in reports; for registered indices the key in `INDICES`.
    n_features : how many pointwise features it has.
    combines : whether the value is a function of the feature means; true of every index that has
        a `combine` of its own, and such a one needs `weights` too.
    whole_sample : whether it needs all scores of a direction at once (`value_of_sample`).
    even : whether u and -u always have the same value.
    selection : name of the index psi that chooses among its directions; None is the index itself.
    step_sizes : the two step sizes that suit it on whitened data.
    formulas : value and slope of each feature as text (`indices.formulas`), for accelerators;
        none where it has none.
    polish : the fixed point that sharpens its directions: "groups" where it separates two groups,
        "sparse" for anything else far from normal (`sightline.ascent.polishing`).
    seeks_modes : whether it grows where scores part in two, so that a search finds modes in noise.
    """

    name: str = ""
    n_features: int = 1
    combines: bool = False
    whole_sample: bool = False
    even: bool = False
    selection: str | None = None
    step_sizes: tuple[float, float] = (1.0, 0.25)
    polish: str = "sparse"
    seeks_modes: bool = False
    formulas: Formulas = ()

    def __init_subclass__(cls) -> None:
        """Let no class have a combination, or formulas, that another of its methods ignores."""
        cls.combines = cls.combine is not Index.combine
        own = vars(cls)
        if {"value", "slope", "value_slope"} & own.keys():  # a parent's have its formulas
            cls.write = own.get("write", Index.write)  # type: ignore[method-assign]
            cls.formulas = own.get("formulas", ())
        if {"value", "slope", "value_slope", "write"} & own.keys():
            cls.sums = own.get("sums", Index.sums)  # type: ignore[method-assign]

    def value(self, scores: Array, xp: Namespace) -> Array:
        """Return phi(t) for every score."""
        return self.value_slope(scores, xp)[0]

    def slope(self, scores: Array, xp: Namespace) -> Array:
        """Return phi'(t) for every score."""
        return self.value_slope(scores, xp)[1]

    def value_slope(self, scores: Array, xp: Namespace) -> tuple[Array, Array]:
        """Return phi(t) and phi'(t) together."""
        return self.value(scores, xp), self.slope(scores, xp)

    def write(
        self, scores: np.ndarray, value: np.ndarray | None, slope: np.ndarray | None
    ) -> None:
        """Write phi(t) and phi'(t) of NumPy scores into arrays (n_features, *scores.shape).

        None is not asked for. An index that can do so without temporaries has its own.
        """
        if value is not None and slope is not None:
            values, slopes = self.value_slope(scores, np)
            value[...] = with_feature_axis(self, values, scores)
            slope[...] = with_feature_axis(self, slopes, scores)
        elif value is not None:
            value[...] = with_feature_axis(self, self.value(scores, np), scores)
        elif slope is not None:
            slope[...] = with_feature_axis(self, self.slope(scores, np), scores)

    def sums(self, scores: np.ndarray, spare: np.ndarray, slope: np.ndarray | None) -> np.ndarray:
        """Return the sums of phi(t) over rows, (b, m) -> (n_features, m), in float64.

        They are the last that is asked of NumPy scores, which may be overwritten; `spare`
        (n_features, b, m) is memory to work in. phi'(t) is written into `slope` (n_features, b, m)
        unless that is None. An index that can do without a pass over the scores has its own.
        """
        self.write(scores, spare, slope)
        return run_sums(spare)

    def combine(self, means: Array, xp: Namespace) -> Array:  # noqa: ARG002  (xp: the contract)
        """Return F of the feature means, (n_features, m) -> (m,)."""
        return means[0, ...]

    def weights(self, means: Array, xp: Namespace) -> Array:
        """Return dF / d mean_j, (n_features, m) -> (n_features, m)."""
        return xp.ones_like(means)

    def value_of_sample(self, scores: Array, xp: Namespace) -> Array:
        """Return the value of each column of `scores` (n, m) when all rows are at hand."""
        means = xp.mean(self.value(scores, xp), axis=-2)
        return self.combine(xp.reshape(means, (self.n_features, -1)), xp)

    def __repr__(self) -> str:
        """Show the constructor call."""
        options = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({options})"

    def __eq__(self, other: object) -> bool:
        """Two indices of one class with the same options are the same index."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """Hash by class and options, as equality is."""
        return hash((type(self), tuple(sorted(vars(self).items()))))


_TRAITS = (
    *("n_features", "whole_sample", "even", "selection", "step_sizes", "polish", "seeks_modes"),
    "formulas",
)


class UserIndex(Index):
    """A user's own object, completed with the defaults for whatever it leaves undeclared."""

    def __init__(self, written: Any) -> None:
        self.written = written
        self.name = str(getattr(written, "name", "") or type(written).__name__)
        for trait in _TRAITS:
            setattr(self, trait, getattr(written, trait, getattr(Index, trait)))
        self.combines = has_method(written, "combine")

    def __repr__(self) -> str:
        """Show the user's object as it shows itself."""
        return repr(self.written)

    def value_slope(self, scores: Array, xp: Namespace) -> tuple[Array, Array]:
        """Return phi(t) and phi'(t) from whichever methods the object has."""
        if has_method(self.written, "value_slope"):
            value, slope = self.written.value_slope(scores, xp)
            return value, slope
        return self.written.value(scores, xp), self.written.slope(scores, xp)

    def value(self, scores: Array, xp: Namespace) -> Array:
        """Return phi(t), without the slope where the object can do so."""
        if has_method(self.written, "value"):
            return self.written.value(scores, xp)
        return self.value_slope(scores, xp)[0]

    def slope(self, scores: Array, xp: Namespace) -> Array:
        """Return phi'(t), without the value where the object can do so."""
        if has_method(self.written, "slope"):
            return self.written.slope(scores, xp)
        return self.value_slope(scores, xp)[1]

    def combine(self, means: Array, xp: Namespace) -> Array:
        """Return the object's F, or the plain mean."""
        return self.written.combine(means, xp) if self.combines else super().combine(means, xp)

    def weights(self, means: Array, xp: Namespace) -> Array:
        """Return the object's dF, or ones."""
        return self.written.weights(means, xp) if self.combines else super().weights(means, xp)

    def value_of_sample(self, scores: Array, xp: Namespace) -> Array:
        """Return the object's value of the whole sample, or the value by its means."""
        if has_method(self.written, "value_of_sample"):
            return self.written.value_of_sample(scores, xp)
        return super().value_of_sample(scores, xp)


def has_method(written: Any, name: str) -> bool:
    """Say whether an object has a method of that name: its own, not a number, not a default."""
    inherited = getattr(type(written), name, None) is getattr(Index, name)
    return callable(getattr(written, name, None)) and not inherited


def missing_methods(written: Any) -> list[str]:
    """List what an object lacks to be an index; empty when it is complete."""

    def lacks(*names: str) -> list[str]:
        return [name for name in names if not has_method(written, name)]

    if getattr(written, "whole_sample", False):
        return [f"{name}(scores, xp)" for name in lacks("value_of_sample")]
    lacking = []
    if lacks("value_slope") and lacks("value", "slope"):
        lacking.append("value_slope(scores, xp) (or both value and slope)")
    several = getattr(written, "combines", False) or getattr(written, "n_features", 1) > 1
    if several or has_method(written, "combine"):
        lacking += [f"{name}(means, xp)" for name in lacks("combine", "weights")]
    return lacking


def with_feature_axis(index: Index, values: Array, scores: Array) -> Array:
    """Return values or slopes of `scores` as (n_features, *scores.shape), or say why they are not.

    A reshape would take features on the last axis as well, and mix them up.
    """
    got, kept = tuple(getattr(values, "shape", ())), tuple(scores.shape)
    if got == (index.n_features, *kept):
        return values
    if index.n_features == 1 and got == kept:
        return values[None, ...]
    raise ValueError(
        f"index {index.name}: value and slope of scores of shape {kept} have shape {got}; they "
        "must keep the shape of the scores, with a leading axis of length "
        f"n_features={index.n_features} where that is more than 1."
    )
