"""Signals: moments by other roads, samples that follow them, labels that tell the parts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from sightline.datasets import (
    BernoulliRademacher,
    GaussianMixture,
    HierarchicalClusters,
    ImbalancedClusters,
)

PROBABILITIES = st.floats(1e-6, 1 - 1e-6)
SPREADS = st.floats(0, 5)
STANDARDISED = [ImbalancedClusters, BernoulliRademacher, HierarchicalClusters]
SIGNALS = [
    ImbalancedClusters(0.1),
    ImbalancedClusters(0.7, spread=0.5),
    BernoulliRademacher(0.2),
    BernoulliRademacher(0.1, spread=1.5),
    HierarchicalClusters(0.2),
    HierarchicalClusters(0.9, spread=0.3),
    GaussianMixture(),
    GaussianMixture(0.6, -2.0),
]


def dkw(n, chance=1e-9):
    """The Kolmogorov distance that n draws exceed with at most this chance (Massart 1990)."""
    return math.sqrt(math.log(2 / chance) / (2 * n))


@pytest.mark.parametrize("law", STANDARDISED)
@given(p=PROBABILITIES, spread=SPREADS)
def test_mean_is_zero_and_variance_one_at_every_spread(law, p, spread):
    signal = law(p, spread)
    assert signal.moment(0) == pytest.approx(1, rel=1e-12)
    assert abs(signal.moment(1)) < 1e-12
    assert signal.moment(2) == pytest.approx(1, rel=1e-12)


@given(p=PROBABILITIES, spread=SPREADS)
def test_cluster_moments_in_closed_form(p, spread):
    # c takes two values: E c^3 = (1-2p)/sqrt(p(1-p)), E c^4 = 1/(p(1-p)) - 3; g adds 6 tau^2 +
    # 3 tau^4 to the fourth moment of c + tau g, and nothing to the third.
    third = (1 - 2 * p) / math.sqrt(p * (1 - p))
    fourth = 1 / (p * (1 - p)) - 3
    square = spread**2
    signal = ImbalancedClusters(p, spread)
    assert signal.moment(3) == pytest.approx(third / (1 + square) ** 1.5, rel=1e-9, abs=1e-9)
    blurred = (fourth + 6 * square + 3 * square**2) / (1 + square) ** 2
    assert signal.moment(4) == pytest.approx(blurred, rel=1e-9)


@given(p=PROBABILITIES, k=st.integers(1, 6))
def test_bernoulli_rademacher_moments_in_closed_form(p, k):
    signal = BernoulliRademacher(p)
    assert signal.moment(2 * k) == pytest.approx(p ** (1 - k), rel=1e-12)
    assert signal.moment(2 * k - 1) == 0


@given(p=st.floats(1e-3, 0.999))
def test_hierarchical_moments_in_closed_form(p):
    # The mean over q in (p/2, p) of (1-2q)/sqrt(q(1-q)) is that of the derivative of
    # 2 sqrt(q(1-q)), and of 1/(q(1-q)) - 3 that of the derivative of log(q/(1-q)) - 3q.
    third = 4 / p * (math.sqrt(p * (1 - p)) - math.sqrt(p / 2 * (1 - p / 2)))
    fourth = 2 / p * math.log(2 * (1 - p / 2) / (1 - p)) - 3
    signal = HierarchicalClusters(p)
    assert signal.moment(3) == pytest.approx(third, rel=1e-9, abs=1e-9)
    assert signal.moment(4) == pytest.approx(fourth, rel=1e-9)


@pytest.mark.parametrize("k", range(9))
@pytest.mark.parametrize(("p", "spread"), [(0.05, 0.0), (0.5, 0.4), (0.95, 1.0)])
def test_hierarchical_moments_are_the_mean_of_the_clusters_moments(p, spread, k):
    def at(q):
        return ImbalancedClusters(q, spread).moment(k)

    mean, _ = integrate.quad(at, p / 2, p, epsabs=1e-13, epsrel=1e-11)
    assert HierarchicalClusters(p, spread).moment(k) == pytest.approx(mean * 2 / p, rel=1e-10)


@pytest.mark.parametrize("p", [1e-300, 1e-12, 0.5, 1 - 2**-53])
def test_hierarchical_moments_hold_at_the_ends_of_the_range(p):
    signal = HierarchicalClusters(p)
    assert abs(signal.moment(1)) < 1e-15
    assert signal.moment(2) == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("signal", [s for s in SIGNALS if hasattr(s, "components")], ids=repr)
@pytest.mark.parametrize("k", range(9))
def test_moments_are_integrals_over_the_components(signal, k):
    # Gauss-Hermite with 20 nodes is exact for polynomials up to degree 39.
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    total = sum(
        weight * np.sum(weights * (mean + deviation * nodes) ** k) / math.sqrt(2 * math.pi)
        for weight, mean, deviation in zip(*signal.components(), strict=True)
    )
    assert signal.moment(k) == pytest.approx(total, rel=1e-11, abs=1e-12)


def test_the_papers_mixture_is_not_standardised():
    signal = GaussianMixture()
    mean = signal.moment(1)
    assert mean == pytest.approx(0.5)
    assert signal.moment(2) - mean**2 == pytest.approx(1 + 0.1 * 0.9 * 25)


@pytest.mark.parametrize("signal", SIGNALS, ids=repr)
def test_sample_means_agree_with_the_moments(signal):
    # Six standard errors, from the exact moment of twice the degree: chance 2e-9 a comparison.
    n = 200_000
    values, _ = signal.sample(n, np.random.default_rng(0))
    for k in (1, 2, 3, 4):
        error = math.sqrt((signal.moment(2 * k) - signal.moment(k) ** 2) / n)
        assert abs(np.mean(values**k) - signal.moment(k)) <= 6 * error + 1e-12


@pytest.mark.parametrize("signal", [s for s in SIGNALS if hasattr(s, "components")], ids=repr)
def test_rows_of_a_label_follow_their_component(signal):
    values, labels = signal.sample(50_000, np.random.default_rng(1))
    assert values.dtype == np.float64
    assert labels.dtype == np.int64
    for label, (weight, mean, deviation) in enumerate(zip(*signal.components(), strict=True)):
        part = values[labels == label]
        assert abs(part.size - 50_000 * weight) < 6 * math.sqrt(50_000 * weight * (1 - weight))
        if deviation == 0:
            assert np.all(part == mean)
        else:
            law = stats.norm(mean, deviation)
            assert stats.kstest(part, law.cdf).statistic < dkw(part.size)


def test_labels_name_the_sides():
    values, labels = BernoulliRademacher(0.3).sample(1000, np.random.default_rng(2))
    assert np.array_equal(np.sign(values), np.array([0.0, 1.0, -1.0])[labels])
    values, labels = ImbalancedClusters(0.3).sample(1000, np.random.default_rng(2))
    assert np.array_equal(values > 0, labels == 1)


def test_hierarchical_rows_have_their_own_uniform_p():
    p, n = 0.3, 50_000
    values, labels = HierarchicalClusters(p).sample(n, np.random.default_rng(3))
    assert np.array_equal(values > 0, labels == 1)
    # A value tells its p': sqrt((1-p')/p') on the rare side, -sqrt(p'/(1-p')) on the other.
    square = values**2
    row_p = np.where(labels == 1, 1 / (1 + square), square / (1 + square))
    assert stats.kstest(row_p, stats.uniform(p / 2, p / 2).cdf).statistic < dkw(n)
    assert abs(labels.mean() - 0.75 * p) < 6 * math.sqrt(0.75 * p / n)


@pytest.mark.parametrize("law", STANDARDISED)
def test_spread_changes_neither_labels_nor_later_draws(law):
    rngs = np.random.default_rng(4), np.random.default_rng(4)
    sharp, sharp_labels = law(0.2).sample(300, rngs[0])
    blurred, blurred_labels = law(0.2, spread=1e-9).sample(300, rngs[1])
    assert np.array_equal(sharp_labels, blurred_labels)
    np.testing.assert_allclose(blurred, sharp, atol=1e-8)
    assert rngs[0].random() == rngs[1].random()


def test_a_tiny_p_does_not_overflow():
    for law in STANDARDISED:
        assert law(1e-300).moment(2) == pytest.approx(1)
    assert np.all(np.isfinite(ImbalancedClusters(1e-310).components().means))


@pytest.mark.parametrize("law", STANDARDISED)
@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, math.nan])
def test_p_must_lie_between_zero_and_one(law, p):
    with pytest.raises(ValueError, match=rf"p={p!r} must be a finite number in \(0, 1\)"):
        law(p)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ImbalancedClusters("0.1"), TypeError, r"p='0.1' must be a number"),
        (lambda: ImbalancedClusters(0.1, spread=-1), ValueError, "spread=-1"),
        (lambda: HierarchicalClusters(0.1, spread=math.inf), ValueError, "spread=inf"),
        (lambda: GaussianMixture(weight=1), ValueError, r"weight=1 .*\(0, 1\)"),
        (lambda: GaussianMixture(shift=math.nan), ValueError, "shift=nan"),
        (lambda: ImbalancedClusters(0.1).moment(-1), ValueError, "k=-1"),
        (lambda: ImbalancedClusters(0.1).moment(2.0), TypeError, "k=2.0"),
        (lambda: HierarchicalClusters(0.1).sample(0, None), ValueError, "n=0"),
        (lambda: BernoulliRademacher(0.1).sample(2.5, None), TypeError, "n=2.5"),
    ],
)
def test_errors_name_the_option_and_what_it_got(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_signals_are_values():
    assert ImbalancedClusters(0.1) == ImbalancedClusters(0.1, spread=0)
    assert hash(BernoulliRademacher(0.1)) == hash(BernoulliRademacher(0.1))
    assert repr(ImbalancedClusters(np.float64(0.25))) == "ImbalancedClusters(p=0.25, spread=0.0)"
    with pytest.raises(AttributeError):
        ImbalancedClusters(0.1).p = 0.2
