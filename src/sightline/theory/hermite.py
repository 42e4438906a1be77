"""Hermite coefficients of a law: how it differs from the standard normal, degree by degree.

    c_j = E h_j(nu),    h_j = He_j / sqrt(j!),    so that E h_i(g) h_j(g) = [i = j], g ~ N(0, 1).

They are returned as log c_j^2, since nu = p^(-1/2) takes c_60 past any float for small p.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from sightline.datasets.signals import Components
from sightline.theory.laws import components_of, is_exact, is_mixture

_ROUNDING = Fraction(1, 10**12)
"""How far rounding of given moments may carry a coefficient, relative to max(1, |c_j|)."""


_EPSILON = float(np.finfo(np.float64).eps)


def log_squared_coefficients(signal: Any, degree: int) -> np.ndarray:
    """Return log c_j^2 for j = 0 .. degree, shape (degree + 1,); -inf where c_j is 0.

    Parameters
    ----------
    signal : a signal or a law with a mixture, or at least `moment(k)`.
    degree : the largest j.
    """
    if is_mixture(signal):
        return _of_mixture(components_of(signal), degree)
    if callable(getattr(signal, "moment", None)):
        return _of_moments(signal, degree)
    raise TypeError(
        f"signal={signal!r} must be a signal of sightline.datasets, a FiniteLaw or a MomentLaw, "
        "or have a method components() or moment(k)."
    )


def _of_mixture(components: Components, degree: int) -> np.ndarray:
    """Sum the coefficients of normal laws N(m, s^2).

    For each of them, with e_j = E h_j,

        e_{j+1} = (m e_j - (1 - s^2) sqrt(j) e_{j-1}) / sqrt(j + 1).

    The recursion is stable; each e_j carries a factor scale^j that keeps it inside the floats.
    """
    weights, means, deviations = components
    scale = 1 / max(1.0, float(np.max(np.abs(means))), float(np.max(deviations)))
    step = means * scale
    back = (1 - deviations**2) * scale**2
    before, here = np.zeros_like(means), np.ones_like(means)
    coefficients = []
    for j in range(degree + 1):
        coefficient = math.fsum(weights * here)
        # What rounding leaves of a coefficient that is 0 would be seen at n = 10^30.
        rounding = 4 * (j + 1) * _EPSILON * math.fsum(weights * np.abs(here))
        coefficients.append(coefficient if abs(coefficient) > rounding else 0.0)
        before, here = here, (step * here - back * math.sqrt(j) * before) / math.sqrt(j + 1)
    with np.errstate(divide="ignore"):  # log 0 is -inf, which says what is meant
        logs = np.log(np.abs(coefficients)) - math.log(scale) * np.arange(degree + 1)
    return np.asarray(2 * logs)


def _of_moments(law: Any, degree: int) -> np.ndarray:
    """Sum He_j's terms exactly, and raise where the moments' own rounding is too much for c_j."""
    moments = [law.moment(k) for k in range(degree + 1)]
    exact = [Fraction(moment) for moment in moments]
    errors = [
        Fraction(0) if is_exact(moment) else abs(value) * Fraction(2) ** -51
        for moment, value in zip(moments, exact, strict=True)
    ]
    logs = []
    for j in range(degree + 1):
        terms = _hermite_terms(j)
        value = sum((term * exact[k] for k, term in terms.items()), Fraction(0))
        error = sum((abs(term) * errors[k] for k, term in terms.items()), Fraction(0))
        if error**2 > _ROUNDING**2 * max(Fraction(math.factorial(j)), value**2):
            raise ValueError(
                f"degree={degree} is beyond what moments in floating point carry: they leave too "
                f"few digits at degree {j}. Give moments as fractions.Fraction, a FiniteLaw, or a "
                f"degree of at most {j - 1}."
            )
        logs.append(_log(value**2 / math.factorial(j)))
    return np.array(logs)


def _hermite_terms(j: int) -> dict[int, int]:
    """Return the whole coefficients of He_j by power: He_j = sum_k terms[k] x^k."""
    return {
        j - 2 * i: (-1) ** i
        * math.factorial(j)
        // (2**i * math.factorial(i) * math.factorial(j - 2 * i))
        for i in range(j // 2 + 1)
    }


def _log(value: Fraction) -> float:
    if value == 0:
        return -math.inf
    return math.log(value.numerator) - math.log(value.denominator)
