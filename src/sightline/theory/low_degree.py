"""The low-degree likelihood ratio of the testing problem, exactly.

Null: n rows N(0, I_d). Planted: u uniform on the sphere, rows N(nu_i u, I - u u^T). Of all
polynomials of degree D in the rows the best test has the squared norm

    ||L^{<=D}||^2 = sum_{k <= D} E <u, u'>^k  [t^k] (sum_j c_j^2 t^j)^n,

with c_j the Hermite coefficients of nu (`hermite`) and, for even k (odd ones vanish),

    E <u, u'>^k = prod_{i < k/2} (2 i + 1) / (d + 2 i).

While it stays bounded no such polynomial tells planted from null (paper, Theorem on the low-degree
lower bound). All terms are positive, so nothing cancels; logarithms keep them inside the floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from sightline._options import check_count, check_number
from sightline.theory.hermite import log_squared_coefficients

_LARGEST = 10**300
"""Beyond this many rows a threshold is not looked for."""


def low_degree_norm(signal: Any, n: int, d: int, degree: int) -> float:
    """Return ||L^{<=D}||^2: 1 at n = 0, growing with n and D.

    Parameters
    ----------
    signal : the law of nu: a signal of `sightline.datasets`, a `FiniteLaw`, a `MomentLaw`.
    n, d : rows and columns.
    degree : D.
    """
    log_norm = log_low_degree_norm(signal, n, d, degree)
    try:
        return math.exp(log_norm)
    except OverflowError:
        raise OverflowError(
            f"the norm at n={n}, d={d}, degree={degree} is exp({log_norm:.6g}), beyond the "
            "largest float; use log_low_degree_norm."
        ) from None


def log_low_degree_norm(signal: Any, n: int, d: int, degree: int) -> float:
    """Return log ||L^{<=D}||^2, for norms of any size; see `low_degree_norm`."""
    d, degree = _checked(d, degree)
    n = check_count("n", n, at_least=0)
    return _log_norm(log_squared_coefficients(signal, degree), n, d)


def low_degree_threshold(signal: Any, d: int, degree: int | None = None, level: float = 2) -> int:
    """Return the least n at which ||L^{<=D}||^2 passes `level`.

    Parameters
    ----------
    signal, d : as for `low_degree_norm`.
    degree : D; None is `default_degree(d)`.
    level : the bound that the norm passes, over 1; the paper's is 2.
    """
    d, degree = _checked(d, default_degree(d) if degree is None else degree)
    goal = math.log(check_number("level", level, low=1, open_low=True))
    coefficients = log_squared_coefficients(signal, degree)
    enough = 1
    while _log_norm(coefficients, enough, d) <= goal:
        enough *= 2
        if enough > _LARGEST:
            raise ValueError(
                f"polynomials of degree={degree} see nothing of {signal!r} at any n: its moments "
                f"up to {degree - degree % 2} are those of the normal law. Use a higher degree."
            )
    below = enough // 2
    while enough - below > 1:
        middle = (below + enough) // 2
        if _log_norm(coefficients, middle, d) <= goal:
            below = middle
        else:
            enough = middle
    return enough


def default_degree(d: int) -> int:
    """Return D = ceil(log(d)^1.1), as in the paper's theorem, and at least 6.

    Below 6 the third moment of imbalanced clusters, from which d^1.5 p comes, is not seen: it
    enters as c_3^4 E <u, u'>^6.
    """
    degree: int = math.ceil(math.log(check_count("d", d)) ** 1.1)
    return max(6, degree)


@dataclass(frozen=True, slots=True)
class Exponents:
    """The law n = constant * d^dimension * p^fraction that was fitted to thresholds.

    Attributes
    ----------
    dimension, fraction : the exponents of d and p.
    constant : the factor before them.
    worst_ratio : the largest factor between a threshold and the fit, either way.
    """

    dimension: float
    fraction: float
    constant: float
    worst_ratio: float


def low_degree_exponents(
    signal_of: Callable[[float], Any],
    dimensions: Sequence[int],
    powers: Sequence[float],
    degree: int,
    level: float = 2,
) -> Exponents:
    """Fit the thresholds of `signal_of(p)` over all d and p = d^power by least squares of logs.

    Parameters
    ----------
    signal_of : the signal at a fraction p, such as `ImbalancedClusters`.
    dimensions : d, at least two different ones.
    powers : log p / log d, at least two different ones, below 0.
    degree, level : as for `low_degree_threshold`; one degree for all d, since a threshold jumps
        where the degree does.
    """
    grid = [
        (check_count("dimensions", d), d ** check_number("powers", power, high=0, open_high=True))
        for d in dimensions
        for power in powers
    ]
    logs = np.log([[math.e, d, p] for d, p in grid])
    if np.linalg.matrix_rank(logs) < 3:
        raise ValueError(
            f"dimensions={dimensions!r} and powers={powers!r} do not determine two exponents; "
            "give at least two different values of each."
        )
    thresholds = [low_degree_threshold(signal_of(p), d, degree, level) for d, p in grid]
    targets = np.array([math.log(n) for n in thresholds])
    (constant, dimension, fraction), *_ = np.linalg.lstsq(logs, targets)
    worst = float(np.max(np.abs(logs @ np.array([constant, dimension, fraction]) - targets)))
    return Exponents(float(dimension), float(fraction), math.exp(constant), math.exp(worst))


def _checked(d: int, degree: int) -> tuple[int, int]:
    return check_count("d", d), check_count("degree", degree, at_least=0)


def _log_norm(coefficients: np.ndarray, n: int, d: int) -> float:
    """Return log(1 + the terms of even k >= 2), with log1p so that a small excess keeps digits."""
    if n == 0 or len(coefficients) < 3:
        return 0.0
    log_power = _log_power(coefficients, n)[2::2]
    i = np.arange(len(log_power))
    log_inner = np.cumsum(np.log((2 * i + 1) / (float(d) + 2 * i)))
    return float(np.logaddexp(0.0, logsumexp(log_power + log_inner)))


def _log_power(log_series: np.ndarray, n: int) -> np.ndarray:
    """Return the logs of the first coefficients of f^n, f = 1 + sum_j exp(log_series_j) t^j.

    By repeated squaring. In t / sigma with n f_j sigma^j <= 1 no coefficient of any power of f up
    to n is over e; that of t^0 stays exactly 1, so relative errors grow with k, never with n.
    """
    k = np.arange(len(log_series))
    log_sigma = float(np.min(-(math.log(n) + log_series[1:]) / k[1:]))
    if log_sigma == math.inf:  # the law is normal as far as the series goes
        return np.where(k == 0, 0.0, -np.inf)
    base = np.where(k == 0, 1.0, np.exp(log_series + k * log_sigma))
    power = np.where(k == 0, 1.0, 0.0)
    while n:
        if n & 1:
            power = np.convolve(power, base)[: len(k)]
        base = np.convolve(base, base)[: len(k)]
        n >>= 1
    with np.errstate(divide="ignore"):  # a coefficient of 0 has the log -inf
        return np.asarray(np.log(power) - k * log_sigma)
