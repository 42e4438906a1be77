"""A small group apart: the mixture, the antimode, and a likelihood ratio that keeps its word."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats

from sightline.covmcd.two_normals import TwoNormals
from sightline.separation import fit_mixture, log_evidence, threshold_of


def mixture(weight, means, variances):
    pairs = ([1 - weight, weight], means, variances)
    return TwoNormals(*(np.array(pair, dtype=float)[:, None] for pair in pairs))


def density(weight, means, variances):
    lower, upper = (stats.norm(m, np.sqrt(v)) for m, v in zip(means, variances, strict=True))
    return lambda t: (1 - weight) * lower.pdf(t) + weight * upper.pdf(t)


def scores(n=1000, weight=0.04, shift=7.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) < weight * n
    drawn = rng.standard_normal(n) + shift * labels
    return (drawn - drawn.mean()) / drawn.std(), labels


def test_the_mixture_is_that_of_the_planted_parts():
    standard, labels = scores()
    fitted = fit_mixture(standard, 5)
    assert_allclose(fitted.weights[:, 0], [0.96, 0.04], atol=2e-3)
    for part, mask in enumerate((~labels, labels)):
        assert_allclose(fitted.means[part, 0], standard[mask].mean(), atol=0.02)
        assert_allclose(fitted.variances[part, 0], standard[mask].var(), rtol=0.1)


def test_the_small_part_is_above_and_has_the_least_size():
    standard = scores(weight=0.01)[0]
    assert fit_mixture(standard, 5).weights[1, 0] * 1000 == pytest.approx(10, abs=0.5)
    below = fit_mixture(-standard, 5)
    assert below is None or below.means[1, 0] < 3  # the group is not above here
    larger = fit_mixture(standard, 20)
    assert larger is None or larger.weights[1, 0] * 1000 >= 20


def test_scores_with_one_heap_and_no_valley_have_no_mixture():
    quantiles = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    assert fit_mixture(quantiles / quantiles.std(), 5) is None


@pytest.mark.parametrize(
    "parts", [(0.1, (0, 5), (1, 1)), (0.02, (-1, 6), (0.5, 3)), (0.4, (0, 4), (1, 0.3))], ids=str
)
def test_the_threshold_is_the_antimode(parts):
    found = optimize.minimize_scalar(
        density(*parts), bounds=parts[1], method="bounded", options={"xatol": 1e-8}
    )
    step = (parts[1][1] - parts[1][0]) / 200
    assert_allclose(threshold_of(mixture(*parts)), found.x, atol=step)


def test_the_antimode_loses_little_to_the_point_of_equal_odds():
    weight, means, variances = 0.05, (0.0, 5.0), (1.0, 2.0)
    lower, upper = (stats.norm(m, np.sqrt(v)) for m, v in zip(means, variances, strict=True))

    def wrong(t):
        return (1 - weight) * lower.sf(t) + weight * upper.cdf(t)

    least = optimize.minimize_scalar(wrong, bounds=means, method="bounded").fun
    assert wrong(threshold_of(mixture(weight, means, variances))) < least + 0.002


def test_of_a_tail_of_the_bulk_less_is_taken_than_by_equal_odds():
    """600 gamma scores with 25 beyond: the upper normal widens to take the tail as well."""
    rng = np.random.default_rng(0)
    bulk = rng.gamma(4.0, size=600)
    drawn = np.concatenate((bulk, 18 + 2 * rng.standard_normal(25)))
    fitted = fit_mixture((drawn - drawn.mean()) / drawn.std(), 5)
    threshold = drawn.mean() + drawn.std() * threshold_of(fitted)
    grid = np.linspace(*fitted.means[:, 0], 201)
    lower, upper = fitted.log_densities(grid)[:, 0]
    equal_odds = drawn.mean() + drawn.std() * grid[np.argmax(upper >= lower)]
    assert np.sum(bulk > threshold) < 0.8 * np.sum(bulk > equal_odds)
    assert np.all(drawn[600:] > threshold)


def test_the_one_cluster_is_at_its_likeliest():
    """Against a single normal, log e is the log ratio to the best Student t; scipy fits that."""
    drawn = stats.t(3).rvs(500, random_state=0)
    normal = mixture(1e-12, (0, 1), (1, 1))
    degrees, location, scale = stats.t.fit(drawn)
    expected = (
        stats.norm.logpdf(drawn).sum() - stats.t.logpdf(drawn, degrees, location, scale).sum()
    )
    found = log_evidence(normal, drawn)
    assert expected - 1e-6 <= found < expected + 0.5  # degrees are looked for on a grid


def test_the_mean_of_e_is_at_most_one_where_there_is_one_cluster():
    """Against the true law the mean would be 1 exactly, and the likeliest takes more off."""
    rng = np.random.default_rng(0)
    for parts in ((0.2, (-0.5, 2), (1, 1)), (0.3, (-0.2, 1), (1, 2))):
        two = mixture(*parts)
        values = np.exp([log_evidence(two, rng.standard_normal(20)) for _ in range(400)])
        assert values.mean() < 1
        assert np.mean(values >= 20) <= 0.05


def test_a_group_has_evidence_and_a_heavy_tail_has_none():
    fitted_on, judged = scores(seed=1)[0], scores(seed=2)[0]
    assert log_evidence(fit_mixture(fitted_on, 5), judged) > 10
    rng = np.random.default_rng(0)
    for _ in range(5):
        tails = rng.standard_t(2, size=(2, 1000))
        tails /= tails.std(axis=1, keepdims=True)
        two = fit_mixture(tails[0], 5)
        assert two is None or log_evidence(two, tails[1]) < 1
