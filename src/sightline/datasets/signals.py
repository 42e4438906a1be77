"""The laws of nu along the planted direction: what there is to find.

Most are finite mixtures of normal laws, sum_j w_j N(m_j, s_j^2), so that a sample, its labels and
every moment follow from the components. `spread` (tau) blurs each centre c without touching mean
and variance,

    nu = (c + tau g) / sqrt(1 + tau^2),    g ~ N(0, 1):

after whitening the problem is that of the centres c +- tau.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.polynomial.legendre import leggauss

from sightline._options import check_count, check_number

Vector: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
Labels: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]

_gauss_legendre = cache(leggauss)

_NODES = 128
"""Gauss-Legendre nodes for the mean over p' in (p/2, p). In w = logit(p')/2 the integrand has its
nearest poles at distance pi/2 and the interval is shorter than 19, so all digits are right."""


class Signal(Protocol):
    """A law of nu: any object with this one method can be planted."""

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Vector, Labels]:
        """Draw n values of nu and the part of the law that each is from (0: the bulk)."""
        ...


class Components(NamedTuple):
    """The mixture sum_j weights_j N(means_j, deviations_j^2); part j has label j."""

    weights: Vector
    means: Vector
    deviations: Vector


class MixtureSignal(ABC):
    """A finite mixture of normal laws: the rest follows from `components`."""

    @abstractmethod
    def components(self) -> Components:
        """Return weights, means and standard deviations, the bulk first."""

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Vector, Labels]:
        """Draw n values and the component of each, (n,) and (n,)."""
        n = check_count("n", n)
        weights, means, deviations = self.components()
        uniform = rng.random(n)
        labels = np.searchsorted(np.cumsum(weights[:-1]), uniform, side="right")
        # Drawn even where no deviation uses them: what is drawn next is the same at every spread.
        noise = rng.standard_normal(n)
        return means[labels] + deviations[labels] * noise, labels.astype(np.int64)

    def moment(self, k: int) -> float:
        """Return E nu^k, in closed form."""
        weights, means, deviations = (part.tolist() for part in self.components())
        return _mixture_moment(k, weights, means, deviations)


@dataclass(frozen=True)
class ImbalancedClusters(MixtureSignal):
    """sqrt((1-p)/p) with probability p, else -sqrt(p/(1-p)): mean 0, variance 1.

    The paper's B(p). Label 1 is the positive cluster, of probability p: the rare one for p < 1/2.

    Parameters
    ----------
    p : probability of the positive cluster, in (0, 1).
    spread : tau, the width of both clusters before standardising.
    """

    p: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        _check_fields(self)

    def components(self) -> Components:
        """Return the two clusters, the one of probability 1 - p first."""
        return _blurred((1 - self.p, self.p), _centres(self.p), self.spread)


@dataclass(frozen=True)
class BernoulliRademacher(MixtureSignal):
    """+sqrt(1/p) and -sqrt(1/p) with probability p/2 each, else 0: mean 0, variance 1.

    The paper's BR(p). Labels: 0 the zeros, 1 the positive side, 2 the negative side.

    Parameters
    ----------
    p : probability of not being zero, in (0, 1).
    spread : tau, the width of all three parts before standardising.
    """

    p: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        _check_fields(self)

    def components(self) -> Components:
        """Return the zeros, the positive side, the negative side."""
        side = 1 / math.sqrt(self.p)
        weights = (1 - self.p, self.p / 2, self.p / 2)
        return _blurred(weights, (0.0, side, -side), self.spread)


@dataclass(frozen=True)
class GaussianMixture(MixtureSignal):
    """(1 - weight) N(0, 1) + weight N(shift, 1); the paper's GM is 0.9 N(0, 1) + 0.1 N(5, 1).

    As printed, it is not standardised: the mean is weight * shift and the variance
    1 + weight (1 - weight) shift^2, so the planted direction also has the largest variance.
    Label 1 is the shifted part.

    Parameters
    ----------
    weight : probability of the shifted part, in (0, 1).
    shift : its mean.
    """

    weight: float = 0.1
    shift: float = 5.0

    def __post_init__(self) -> None:
        weight = check_number("weight", self.weight, low=0, high=1, open_low=True, open_high=True)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "shift", check_number("shift", self.shift))

    def components(self) -> Components:
        """Return the standard normal part, then the shifted one."""
        return Components(
            np.array([1 - self.weight, self.weight]), np.array([0.0, self.shift]), np.ones(2)
        )


@dataclass(frozen=True)
class HierarchicalClusters:
    """The two clusters of p', with p' ~ U[p/2, p] drawn for every row: mean 0, variance 1.

    The paper's remark on noise that lattice reduction does not survive: infinitely many values
    of nu, so no finite mixture. Label 1 is the positive cluster.

    Parameters
    ----------
    p : the largest probability of the positive cluster, in (0, 1).
    spread : tau, the width of both clusters before standardising.
    """

    p: float
    spread: float = 0.0

    def __post_init__(self) -> None:
        _check_fields(self)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Vector, Labels]:
        """Draw n values and the cluster of each, (n,) and (n,)."""
        n = check_count("n", n)
        row_p = self.p * (1 + rng.random(n)) / 2
        labels = (rng.random(n) < row_p).astype(np.int64)
        bulk, rare = np.sqrt(1 - row_p), np.sqrt(row_p)
        centres = np.where(labels == 1, bulk / rare, -rare / bulk)
        blur = self.spread * rng.standard_normal(n)
        return (centres + blur) / math.hypot(1, self.spread), labels

    def quadrature(self) -> Components:
        """Return a finite mixture that has the means of smooth functions of nu, to rounding.

        It is the sum that stands for E f(nu) = (2/p) * (integral over (p/2, p) of E f at p'); the
        law itself is no finite mixture.
        """
        # At w = logit(p')/2 the centres are exp(-w) and -exp(w), and dp' = 2 p' (1 - p') dw.
        top, bottom = _half_logit(self.p), _half_logit(self.p / 2)
        nodes, node_weights = _gauss_legendre(_NODES)
        w = bottom + (top - bottom) / 2 * (1 + nodes)
        rare, bulk = 1 / (1 + np.exp(-2 * w)), 1 / (1 + np.exp(2 * w))
        density = node_weights * rare * bulk
        density /= math.fsum(density)
        weights = np.concatenate((density * rare, density * bulk))
        means = np.concatenate((np.exp(-w), -np.exp(w)))
        scale = math.hypot(1, self.spread)
        return Components(weights, means / scale, np.full(means.size, self.spread / scale))

    def moment(self, k: int) -> float:
        """Return E nu^k, to rounding."""
        weights, means, deviations = (part.tolist() for part in self.quadrature())
        return _mixture_moment(k, weights, means, deviations)


def _check_fields(signal: Any) -> None:
    p = check_number("p", signal.p, low=0, high=1, open_low=True, open_high=True)
    object.__setattr__(signal, "p", p)
    object.__setattr__(signal, "spread", check_number("spread", signal.spread, low=0))


def _centres(p: float) -> tuple[float, float]:
    """Return the clusters' centres, the bulk first; roots apart, so that no tiny p overflows."""
    bulk, rare = math.sqrt(1 - p), math.sqrt(p)
    return -rare / bulk, bulk / rare


def _half_logit(p: float) -> float:
    return (math.log(p) - math.log1p(-p)) / 2


def _blurred(weights: tuple[float, ...], centres: tuple[float, ...], spread: float) -> Components:
    scale = math.hypot(1, spread)
    return Components(
        np.array(weights), np.array(centres) / scale, np.full(len(centres), spread / scale)
    )


def _mixture_moment(
    k: int, weights: Iterable[float], means: Iterable[float], deviations: Iterable[float]
) -> float:
    """Return sum_j w_j E (m_j + s_j g)^k = sum_j w_j sum_i C(k, i) m_j^(k-i) s_j^i (i-1)!!."""
    k = check_count("k", k, at_least=0)
    evens = range(0, k + 1, 2)
    ways = [math.comb(k, i) * math.prod(range(1, i, 2)) for i in evens]
    return math.fsum(
        weight * count * mean ** (k - i) * deviation**i
        for weight, mean, deviation in zip(weights, means, deviations, strict=True)
        for i, count in zip(evens, ways, strict=True)
    )
