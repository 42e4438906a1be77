"""The mixture of two normals against its likelihood, scikit-learn's, and closed forms."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.mixture import GaussianMixture

from sightline.covmcd.two_normals import (
    TwoNormals,
    maximise,
    powers,
    starting_memberships,
    two_normals,
    variance_ratio,
)


def draw(weight, means, deviations, n_scores, seed):
    rng = np.random.default_rng(seed)
    second = (rng.random(n_scores) < weight).astype(int)
    return rng.normal(np.take(means, second), np.take(deviations, second))


def standardised(scores):
    return (scores - scores.mean()) / scores.std()


def half(scores):
    return (scores.size + 2) // 2


SAMPLES = {
    "two clusters": draw(0.3, [-1.0, 2.0], [0.3, 0.5], 3000, 0),
    "a rare cluster": draw(0.05, [0.0, 6.0], [1.0, 1.0], 3000, 1),
    "overlapping": draw(0.5, [-1.0, 1.0], [1.0, 1.0], 3000, 2),
    "one normal": draw(0.0, [0.0, 0.0], [1.0, 1.0], 3000, 3),
    "heavy tails": np.random.default_rng(4).standard_t(3, 3000),
    "skewed": np.random.default_rng(5).exponential(size=3000),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_step_never_lowers_the_likelihood_of_any_start(name):
    scores = standardised(SAMPLES[name])
    least = 1e-3
    features = powers(scores)
    mixtures = maximise(features, starting_memberships(scores, half(scores)), least)
    before = likelihood(mixtures, scores)
    for _ in range(60):
        mixtures = maximise(features, mixtures.memberships(features), least)
        after = likelihood(mixtures, scores)
        assert np.all(after >= before - 1e-12)
        before = after


def likelihood(mixtures, scores):
    """Mean log density of each start, by scipy's normal density."""
    deviations = np.sqrt(mixtures.variances)
    parts = mixtures.weights[..., None] * norm.pdf(
        scores, mixtures.means[..., None], deviations[..., None]
    )
    return np.log(parts.sum(axis=0)).mean(axis=-1)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_log_likelihood_is_the_mean_log_density(name):
    scores = standardised(SAMPLES[name])
    mixture = two_normals(scores, half(scores))
    np.testing.assert_allclose(
        mixture.log_likelihood(scores), likelihood(mixture, scores), rtol=1e-10
    )


def test_memberships_are_bayes_rule():
    scores = np.linspace(-3, 3, 31)
    mixture = TwoNormals(
        np.array([[0.75], [0.25]]), np.array([[0.5], [-1.0]]), np.array([[1.0], [0.1]])
    )
    first, second = 0.75 * norm.pdf(scores, 0.5), 0.25 * norm.pdf(scores, -1.0, np.sqrt(0.1))
    np.testing.assert_allclose(
        mixture.memberships(powers(scores))[0], second / (first + second), rtol=1e-10
    )


@pytest.mark.parametrize("name", ["two clusters", "a rare cluster", "heavy tails", "skewed"])
def test_the_likelihood_is_no_lower_than_scikit_learns(name):
    scores = standardised(SAMPLES[name])
    peer = GaussianMixture(2, n_init=5, max_iter=1000, tol=1e-8, random_state=0)
    theirs = peer.fit(scores[:, None]).score(scores[:, None])
    ours = two_normals(scores, half(scores)).log_likelihood(scores)[0]
    assert ours >= theirs - 1e-4


def test_a_known_mixture_is_found():
    # Standard errors at n = 20000: weight sqrt(0.3 * 0.7 / n) = 0.003, means below 0.01.
    scores = draw(0.3, [-1.0, 2.0], [0.3, 0.5], 20_000, 6)
    mixture = two_normals(scores, half(scores))
    upper = int(np.argmax(mixture.means[:, 0]))
    means = mixture.means[:, 0] * scores.std() + scores.mean()
    deviations = np.sqrt(mixture.variances[:, 0]) * scores.std()
    assert mixture.weights[upper, 0] == pytest.approx(0.3, abs=0.015)
    np.testing.assert_allclose(np.sort(means), [-1.0, 2.0], atol=0.03)
    np.testing.assert_allclose(np.sort(deviations), [0.3, 0.5], atol=0.02)


def test_the_ratio_of_two_symmetric_clusters():
    # Centres +-1 with variance v each: within v, between 1, ratio v / (1 + v).
    scores = draw(0.5, [-1.0, 1.0], [0.3, 0.3], 20_000, 7)
    assert variance_ratio(scores, half(scores)) == pytest.approx(0.09 / 1.09, rel=0.05)


def test_the_ratio_by_its_definition():
    mixture = TwoNormals(
        np.array([[0.75], [0.25]]), np.array([[0.0], [4.0]]), np.array([[1.0], [5.0]])
    )
    assert mixture.variance_ratio[0] == pytest.approx(2.0 / (2.0 + 3.0))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize(("scale", "shift"), [(-1.0, 0.0), (1e-6, 0.0), (3.0, 1e3)])
def test_the_ratio_is_invariant_to_shift_scale_and_sign(name, scale, shift):
    scores = SAMPLES[name]
    moved = variance_ratio(scale * scores + shift, half(scores))
    assert moved == pytest.approx(variance_ratio(scores, half(scores)), abs=1e-5)


def test_heavy_tails_about_one_centre_are_not_bimodal():
    scores = SAMPLES["heavy tails"]
    assert variance_ratio(np.concatenate([scores, -scores]), scores.size + 1) > 0.99


@pytest.mark.parametrize("rare", [0.02, 0.1, 0.4])
def test_two_points_are_wholly_bimodal(rare):
    scores = np.where(np.arange(1000) < 1000 * rare, 1.0, 0.0)
    assert variance_ratio(scores, 510) <= 1e-12


def test_equal_scores_are_one_cluster():
    assert variance_ratio(np.full(50, 3.0), 26) == 1.0


def test_an_emptied_component_leaves_a_finite_mixture():
    features = powers(standardised(np.arange(20.0)))
    mixture = maximise(features, np.zeros((1, 20)), 1e-3)
    assert all(np.isfinite(part).all() for part in (mixture.means, mixture.weights))
    assert mixture.variance_ratio[0] == pytest.approx(1.0)


def test_starts_split_off_the_tails_and_the_best_cut():
    scores = np.concatenate([np.linspace(-1, 1, 61), np.full(8, 9.0), np.full(6, -7.0)])
    splits = starting_memberships(scores, 38)
    above, below, outside, cut = splits.astype(bool)
    np.testing.assert_array_equal(np.flatnonzero(above), np.arange(61, 69))
    np.testing.assert_array_equal(np.flatnonzero(below), np.arange(69, 75))
    np.testing.assert_array_equal(outside, above | below)
    within = [
        scores[scores > c].var() * (scores > c).mean()
        + scores[scores <= c].var() * (scores <= c).mean()
        for c in np.unique(scores)[:-1]
    ]
    best = np.unique(scores)[int(np.argmin(within))]
    np.testing.assert_array_equal(cut, scores > best)


def test_a_start_with_an_empty_part_is_left_out():
    assert starting_memberships(np.linspace(-1, 1, 40), 40).shape == (1, 40)
