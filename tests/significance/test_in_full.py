"""The error rates of both tests over many tables: minutes of work."""

import numpy as np
import pytest
from scipy import stats

from null_searches import correlated, uniformity
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.estimators import ProjectionPursuit


def errors_of_planted_test(n, p, alignment=0.9, samples=4000):
    """The least sum of both errors over all thresholds, from scores a nu + sqrt(1 - a^2) g."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((2, n, samples))
    nu = ImbalancedClusters(p).sample(n * samples, rng)[0].reshape(n, samples)
    planted = alignment * nu + np.sqrt(1 - alignment**2) * noise[1]
    null, alternative = (
        np.sort(np.mean(np.maximum(stats.zscore(z, axis=0), 0) ** 2, axis=0))
        for z in (noise[0], planted)
    )
    thresholds = np.concatenate((null, alternative))
    first = 1 - np.searchsorted(null, thresholds) / samples
    return np.min(first + np.searchsorted(alternative, thresholds) / samples)


@pytest.mark.slow
class TestInFull:
    @pytest.mark.parametrize(
        "options",
        [
            {"solver": "two-step", "whiten": "exact"},
            {"solver": "two-step", "whiten": "shrunk"},
            {"solver": "two-step", "whiten": "none", "index": "abs"},
        ],
    )
    def test_uniform_over_500_null_tables(self, options):
        rng = np.random.default_rng(0)
        search = ProjectionPursuit(n_starts=20, n_steps=4, **options)
        first = [
            search.set_params(random_state=rng, significance=19)
            .fit(correlated(rng, n=60, d=4))
            .p_values_[0]
            for _ in range(500)
        ]
        assert uniformity(first, 19) > 0.01

    def test_uniform_where_the_whitening_is_chosen_anew_for_each_table(self):
        rng = np.random.default_rng(0)
        search = ProjectionPursuit(n_starts=20, n_steps=4, significance=9, random_state=rng)
        first = [search.fit(correlated(rng, n=60, d=4)).p_values_[0] for _ in range(100)]
        assert uniformity(first, 9) > 0.01

    def test_power_is_near_one_where_recovery_begins(self):
        """Clusters of p = 0.1 at d = 32 are recovered from about 91 rows on."""
        aligned, significant = [], []
        for seed in range(10):
            X, direction, _ = make_planted(91, 32, ImbalancedClusters(0.1), random_state=seed)
            fitted = ProjectionPursuit(significance=19, random_state=seed).fit(X)
            aligned.append(abs(fitted.components_[0] @ direction) > 0.9)
            significant.append(fitted.p_values_[0] == 1 / 20)
        assert np.mean(aligned) >= 0.9
        assert np.mean(significant) >= 0.9

    @pytest.mark.parametrize("p", [0.125, 0.3])
    def test_both_errors_of_the_planted_test_fall_exponentially_in_the_rows(self, p):
        """The corollary says exp(-Theta(n / d)); here per n / d at d = 64."""
        rows = np.array([16, 32, 48, 64]) * (1 if p < 0.2 else 3)
        sums = np.array([errors_of_planted_test(n, p) for n in rows])
        rates = -np.diff(np.log(sums)) / np.diff(rows / 64)
        assert np.all(rates > 1)
        assert rates.max() < 2 * rates.min()
