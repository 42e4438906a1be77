"""Values of every index at laws where they are known in closed form, on rows that are exact.

No row is drawn. A discrete law with rational weights is a table that repeats each value as often
as its weight says. The normal law is one of two such tables:

- `NODES`, Gauss and Hermite's three nodes, 0 with weight 2/3 and +-sqrt(3) with 1/6 each: its
  moments up to the fifth are those of N(0, 1), so means of polynomials up to that degree, and of
  max(0, t)^2 by symmetry, are exact.
- `bins(n)`, the mean of N(0, 1) within each of n equally likely intervals, zero being a border:
  means of piecewise linear functions with a kink at zero are exact, and for a function with
  |f''| <= c the mean is off by at most c / 2 times the variance lost within the intervals,
  1 - mean b^2, which is 2.0e-6 for n = 50 000.
"""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import norm

from sightline.indices import INDICES, LogCosh, ReLU2, make_index
from sightline.sphere import tangent
from sightline.sums import index_gradients, index_values

NODES = np.array([-math.sqrt(3), 0, 0, 0, 0, math.sqrt(3)])

FRACTIONS = [(1, 10), (1, 5), (2, 5), (2, 4)]
"""Weights p of the small cluster as fractions, from rare to balanced."""


def bins(count):
    borders = ndtri(np.arange(count + 1) / count)
    return -count * np.diff(norm.pdf(borders))


def clusters(part, whole):
    """Imbalanced clusters B(p): sqrt((1-p)/p) with weight p, else -sqrt(p/(1-p))."""
    p = part / whole
    near, far = -math.sqrt(p / (1 - p)), math.sqrt((1 - p) / p)
    return np.repeat([far, near], [part, whole - part])


def spikes(part, whole):
    """Bernoulli-Rademacher BR(p): +-1/sqrt(p) with weight p/2 each, else 0."""
    size = math.sqrt(whole / part)
    return np.repeat([-size, size, 0.0], [part, part, 2 * (whole - part)])


def beside(signal, ambient):
    """Every pair (signal, ambient) once: the planted direction is the first column."""
    return np.stack([part.ravel() for part in np.meshgrid(signal, ambient)], axis=1)


def value(index, scores):
    return float(index_values(index, np.ones((1, 1)), scores[:, None])[0])


def log_cosh(t):
    return math.log(math.cosh(t))


# The mean of log cosh over N(0, 1), by adaptive quadrature; FastICA's literature has 0.3746.
NORMAL_LOG_COSH = quad(lambda t: log_cosh(t) * norm.pdf(t), -30, 30, epsabs=1e-13)[0]


def at_clusters(p):
    """Every index at B(p), with q = 1 - p.

    Moments: E t = p sqrt(q/p) - q sqrt(p/q) = 0, E t^2 = q + p = 1,
    E t^3 = q sqrt(q/p) - p sqrt(p/q) = (q^2 - p^2) / sqrt(pq) = (1 - 2p) / sqrt(pq),
    E t^4 = q^2/p + p^2/q = (q^3 + p^3) / (pq) = 1/(pq) - 3, since p^3 + q^3 = 1 - 3pq.
    E |t| = p sqrt(q/p) + q sqrt(p/q) = 2 sqrt(pq).
    relu2 keeps the far cluster: p (q/p) = q.
    Dip: a unimodal law has an atom at its mode alone, and the jump of size min(p, q) at the other
    cluster is at least half of itself away from any continuous function; half is reached.
    """
    q = 1 - p
    third, fourth = (1 - 2 * p) / math.sqrt(p * q), 1 / (p * q) - 3
    mean_log_cosh = p * log_cosh(math.sqrt(q / p)) + q * log_cosh(math.sqrt(p / q))
    return {
        "relu2": q,
        "kurtosis": fourth,
        "abs": -2 * math.sqrt(p * q),
        "absmax": 2 * math.sqrt(p * q),
        "skewness": third,
        "approx-entropy": third**2 + (fourth - 3) ** 2,
        "logcosh": -mean_log_cosh,
        "dip": min(p, q) / 2,
    }


def at_spikes(p):
    """Every index at BR(p).

    E t^2 = p (1/p) = 1, so relu2, its positive half, is 1/2; E |t| = p / sqrt(p) = sqrt(p);
    E t^3 = 0; E t^4 = p / p^2 = 1/p. Dip: the mode takes the atom at zero, and half of a jump of
    p/2 is left on either side.
    """
    return {
        "relu2": 1 / 2,
        "kurtosis": 1 / p,
        "abs": -math.sqrt(p),
        "absmax": math.sqrt(p),
        "skewness": 0,
        "approx-entropy": (1 / p - 3) ** 2,
        "logcosh": -p * log_cosh(1 / math.sqrt(p)),
        "dip": p / 4,
    }


# At N(0, 1): E max(0, Z)^2 = E Z^2 / 2, E Z^3 = 0, E Z^4 = 3, so that the entropy, which compares
# with these, is 0; E |Z| = 2 integral_0^inf t phi(t) dt = 2 phi(0) = sqrt(2 / pi); one mode, so
# that the dip is 0.
AT_NORMAL = {
    "relu2": 1 / 2,
    "kurtosis": 3,
    "abs": -math.sqrt(2 / math.pi),
    "absmax": math.sqrt(2 / math.pi),
    "skewness": 0,
    "approx-entropy": 0,
    "logcosh": -NORMAL_LOG_COSH,
    "dip": 0,
}

POLYNOMIAL = ("relu2", "kurtosis", "skewness", "approx-entropy")


def test_every_registered_index_has_its_references():
    for reference in (AT_NORMAL, at_clusters(0.1), at_spikes(0.1)):
        assert set(reference) == set(INDICES)


@pytest.mark.parametrize("name", INDICES)
class TestPlantedLaws:
    @pytest.mark.parametrize("fraction", FRACTIONS)
    def test_imbalanced_clusters(self, name, fraction):
        expected = at_clusters(fraction[0] / fraction[1])[name]
        assert value(make_index(name), clusters(*fraction)) == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("fraction", FRACTIONS)
    def test_bernoulli_rademacher(self, name, fraction):
        expected = at_spikes(fraction[0] / fraction[1])[name]
        assert value(make_index(name), spikes(*fraction)) == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize(("law", "reference"), [(clusters, at_clusters), (spikes, at_spikes)])
    def test_alignment_one_is_the_law_and_alignment_zero_is_normal(self, name, law, reference):
        ambient = NODES if name in POLYNOMIAL else bins(20_000)
        X = beside(law(1, 5), ambient)
        along, across = index_values(make_index(name), np.eye(2), X)
        # Repeated rows change no mean. Piecewise linear and polynomial indices are exact; log cosh
        # has f'' <= 1, and 20 000 bins lose a variance of 5.4e-6; a step function of 20 000 steps
        # is half a step from a continuous one.
        error = {"logcosh": 2.8e-6, "dip": 0.501 / 20_000}.get(name, 1e-12)
        assert along == pytest.approx(reference(0.2)[name], abs=1e-11)
        assert across == pytest.approx(AT_NORMAL[name], abs=error)


def test_the_bins_lose_as_little_variance_as_stated():
    assert 1 - np.mean(bins(50_000) ** 2) == pytest.approx(2.0e-6, rel=0.01)
    assert 1 - np.mean(bins(20_000) ** 2) == pytest.approx(5.4e-6, rel=0.01)


class TestNormalLaw:
    @pytest.mark.parametrize("name", POLYNOMIAL)
    def test_means_of_polynomials_on_the_nodes(self, name):
        assert value(make_index(name), NODES) == pytest.approx(AT_NORMAL[name], abs=1e-14)

    @pytest.mark.parametrize("name", ["abs", "absmax"])
    def test_means_of_the_absolute_value_on_the_bins(self, name):
        assert value(make_index(name), bins(1000)) == pytest.approx(AT_NORMAL[name], rel=1e-13)

    @pytest.mark.parametrize("sign", [-1, 1])
    @pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
    def test_log_cosh_on_the_bins(self, sign, scale):
        # f'' = scale sech^2 <= scale, and f is convex: the bins give too little, by at most that.
        expected = quad(lambda t: log_cosh(scale * t) / scale * norm.pdf(t), -30, 30)[0]
        short = expected - sign * value(LogCosh(sign, scale), bins(50_000))
        assert -1e-12 <= short <= scale / 2 * 2.1e-6

    def test_log_cosh_of_the_literature(self):
        assert pytest.approx(0.3746, abs=5e-5) == NORMAL_LOG_COSH

    def test_the_fourth_moments_of_a_mixture_along_every_alignment(self):
        # t = a nu + b z with b^2 = 1 - a^2: E t^3 = a^3 E nu^3, E t^4 = a^4 E nu^4 + 6 a^2 b^2 +
        # 3 b^4, and therefore E t^4 - 3 = a^4 (E nu^4 - 3): both cumulants scale by their power.
        X, reference = beside(clusters(1, 5), NODES), at_clusters(0.2)
        for a in (0.0, 0.1, 0.5, math.sqrt(0.5), 0.9, 1.0):
            u = np.array([[a, math.sqrt(1 - a**2)]])
            third, excess = a**3 * reference["skewness"], a**4 * (reference["kurtosis"] - 3)
            for name, expected in [
                ("skewness", third),
                ("kurtosis", 3 + excess),
                ("approx-entropy", third**2 + excess**2),
            ]:
                got = index_values(make_index(name), u, X)[0]
                assert got == pytest.approx(expected, abs=1e-12)


def climb(a, p):
    """Return the population gradient of relu2 along u* at alignment a, for clusters B(p).

    With t = a nu + b z, b = sqrt(1 - a^2), the tangent part of phi'(t) x along u* is
    phi'(t) (nu - a t) = 2 max(0, t) (b^2 nu - a b z). Given nu, with m = a nu and Phi, phi of N(0,
    1): E max(0, m + bz) = m Phi(m/b) + b phi(m/b), and by Stein's lemma E z max(0, m + bz) =
    b P(t > 0) = b Phi(m/b).
    """
    b = math.sqrt(1 - a**2)
    total = 0.0
    for nu, weight in ((math.sqrt((1 - p) / p), p), (-math.sqrt(p / (1 - p)), 1 - p)):
        m = a * nu
        above = norm.cdf(m / b)
        positive_part = m * above + b * norm.pdf(m / b)
        total += weight * 2 * (b**2 * nu * positive_part - a * b**2 * above)
    return total


@pytest.mark.parametrize("a", [0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("fraction", [(1, 10), (1, 5), (2, 5)])
class TestPopulationGradient:
    def test_the_closed_form_is_the_integral(self, a, fraction):
        b = math.sqrt(1 - a**2)
        integral = 0.0
        for nu in clusters(*fraction):
            kink = -a * nu / b

            def integrand(z, nu=nu):
                t = a * nu + b * z
                return 2 * max(0.0, t) * (nu - a * t) * norm.pdf(z)

            integral += quad(integrand, max(-12.0, kink), max(12.0, kink))[0] / fraction[1]
        assert climb(a, fraction[0] / fraction[1]) == pytest.approx(integral, abs=1e-8)

    def test_the_kernel_gives_it(self, a, fraction):
        X = beside(clusters(*fraction), bins(50_000))
        u = np.array([[a, math.sqrt(1 - a**2)]])
        gradient = tangent(u, index_gradients(ReLU2(), u, X))
        # In z the integrand is quadratic with |f''| = 4 a b^2 above a kink at which its slope
        # changes by at most 2 b |nu|: half of the former times the lost variance of 2.0e-6, and
        # the latter times the width of one bin, under 0.35, on one row in 50 000.
        b = math.sqrt(1 - a**2)
        error = 2 * a * b**2 * 2.1e-6 + 2 * b * np.abs(X[:, 0]).max() * 0.35 / 50_000
        expected = climb(a, fraction[0] / fraction[1])
        assert gradient[0, 0] == pytest.approx(expected, abs=error)
        # What is tangent at u in the plane has no other part: g = g_1 (e_1 - (a / b) e_2).
        assert gradient[0, 1] == pytest.approx(-a / b * gradient[0, 0], abs=1e-12)

    def test_it_leads_to_the_planted_direction(self, a, fraction):
        assert climb(a, fraction[0] / fraction[1]) > 0
