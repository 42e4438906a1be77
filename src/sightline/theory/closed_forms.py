"""Population gradients in closed form, for the two indices that the paper's theorems use."""

from __future__ import annotations

import math
from typing import Any

from scipy.special import ndtr

from sightline.theory.laws import components_of
from sightline.theory.population import checked_alignment


def relu2_gradient(signal: Any, alignment: float) -> float:
    """Return 2 E t_+ (nu - a t) for phi = max(0, t)^2.

    For a part N(m, s^2) of nu, with q = a m, v = a^2 s^2 + 1 - a^2, P = Phi(q / sqrt v) and
    f = sqrt(v) * density(q / sqrt v),

        E t_+ = q P + f,    E t_+^2 = (q^2 + v) P + q f,    E nu t_+ = m E t_+ + a s^2 P.
    """
    a = checked_alignment("alignment", alignment)
    terms = []
    for weight, m, s in zip(*components_of(signal), strict=True):
        q, v = a * m, a * a * s * s + (1 - a) * (1 + a)
        if v > 0:
            positive = float(ndtr(q / math.sqrt(v)))
            edge = math.sqrt(v / (2 * math.pi)) * math.exp(-q * q / (2 * v))
        else:
            positive, edge = float(q > 0), 0.0
        half_line, square = q * positive + edge, (q * q + v) * positive + q * edge
        terms.append(2 * weight * (m * half_line + a * s * s * positive - a * square))
    return math.fsum(terms)


def kurtosis_gradient(signal: Any, alignment: float) -> float:
    """Return 4 E t^3 (nu - a t) for phi = t^4; nu needs `moment(2)` and `moment(4)` only.

    With b^2 = 1 - a^2, m_k = E nu^k, this is 4 a b^2 (a^2 m_4 + 3 (b^2 - a^2) m_2 - 3 b^2), which
    for m_2 = 1 is 4 a^3 (1 - a^2) (m_4 - 3).
    """
    a = checked_alignment("alignment", alignment)
    m2, m4 = float(signal.moment(2)), float(signal.moment(4))
    square, rest = a * a, (1 - a) * (1 + a)
    return 4 * a * rest * (square * m4 + 3 * (rest - square) * m2 - 3 * rest)
