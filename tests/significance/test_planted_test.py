"""The test of one given direction: laws under the null, power, options."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from null_searches import TRIES, correlated, uniformity
from sightline._arrays import to_numpy
from sightline.datasets import make_planted
from sightline.indices import INDICES, Kurtosis, ReLU2, Skewness
from sightline.significance import planted_test


class TestPlantedTest:
    def test_the_statistic_is_the_index_of_the_standardised_scores(self):
        X = correlated(np.random.default_rng(0), n=200)
        u = np.array([0.3, -1.0, 2.0])
        z = stats.zscore(X @ u)
        half, size = np.mean(np.maximum(z, 0) ** 2), np.abs(z).mean()
        for index, value in (("relu2", half), ("abs", -size)):
            assert_allclose(planted_test(X, u, index=index).statistic, value, rtol=1e-12)

    @pytest.mark.parametrize("index", sorted(INDICES))
    def test_uniform_under_the_null_for_every_index(self, index):
        """Any mean, covariance and direction give scores of one law once standardised."""
        rng = np.random.default_rng(0)
        p_values = [
            planted_test(
                correlated(rng, n=25), TRIES[i], index=index, n_null=19, random_state=rng
            ).p_value
            for i in range(30)
            for _ in range(8)
        ]
        assert uniformity(p_values, 19) > 0.01

    def test_the_threshold_is_the_normal_approximation_for_many_rows(self):
        """For relu2 it is 1/2 + z_level sqrt((3 - 8/pi) / (4 n)).

        On standardised scores relu2 is 1/2 + mean z|z| / 2. Standardising takes away the part of
        z|z| along z, of coefficient E|z|^3 = sqrt(8/pi), and none along z^2 - 1, by symmetry. So n
        times the variance tends to (E z^4 - 8/pi) / 4. With 9999 nulls the 95 % quantile has a
        standard error of 0.022 standard deviations; four of them are allowed.
        """
        n = 2000
        X = np.random.default_rng(0).standard_normal((n, 2))
        deviation = np.sqrt((3 - 8 / np.pi) / 4 / n)
        outcome = planted_test(X, [1.0, 0.0], n_null=9999, random_state=0)
        assert abs(outcome.threshold - 0.5 - stats.norm.isf(0.05) * deviation) < 0.09 * deviation

    @pytest.mark.parametrize(("level", "n_null"), [(0.05, 19), (0.05, 20), (0.29, 99), (0.5, 4)])
    def test_p_value_threshold_and_rejection_say_the_same(self, level, n_null):
        rng = np.random.default_rng(0)
        outcomes = [
            planted_test(
                rng.standard_normal((9, 1)), [1], level=level, n_null=n_null, random_state=rng
            )
            for _ in range(60)
        ]
        assert {outcome.rejected for outcome in outcomes} == {True, False}
        for outcome in outcomes:
            assert outcome.rejected == (outcome.p_value <= level)
            assert outcome.rejected == (outcome.statistic > outcome.threshold)

    def test_scale_and_offset_of_columns_change_nothing(self):
        X, u, _ = make_planted(100, 3, random_state=0)
        powers = np.array([2.0**600, 1.0, 2.0**-600])
        plain = planted_test(X, u, random_state=0)
        scaled = planted_test(X * powers + [0, 1e4, 0], u / powers, random_state=0)
        assert_allclose(scaled.statistic, plain.statistic, rtol=1e-9)
        assert scaled.threshold == plain.threshold

    def test_sample_splitting_finds_and_confirms(self):
        X, direction, _ = make_planted(400, 5, random_state=0)
        assert planted_test(X, direction, random_state=0).rejected
        assert not planted_test(X, -direction, random_state=0).rejected  # relu2 sees one side
        assert planted_test(X, -direction, index=Skewness(), random_state=0).p_value > 0.9
        assert planted_test(X, -direction, index=Kurtosis(), random_state=0).rejected

    def test_arrays_of_other_libraries(self, xp):
        X, u, _ = make_planted(60, 3, random_state=0)
        rows, direction = xp.asarray(X), xp.asarray(u)  # float32 where there is no more
        here = planted_test(to_numpy(rows), to_numpy(direction), random_state=0)
        assert planted_test(rows, direction, random_state=0) == here

    def test_nulls_do_not_depend_on_how_many_are_drawn(self, monkeypatch):
        X, u, _ = make_planted(60, 3, random_state=0)
        whole = planted_test(X, u, index=ReLU2(), random_state=0)
        monkeypatch.setattr("sightline.significance.direction_test._DRAWS", 130)
        assert planted_test(X, u, index=ReLU2(), random_state=0) == whole

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"direction": [1.0, 0.0]}, ValueError, r"direction has shape \(2,\); it must be 3"),
            ({"direction": [0.0, 0.0, 0.0]}, ValueError, "not all zero"),
            ({"direction": [0.0, np.nan, 0.0]}, ValueError, "finite"),
            ({"direction": [0.0, 1.0, 0.0]}, ValueError, "all 30 rows of X have the same score"),
            ({"level": 0.001, "n_null": 99}, ValueError, "n_null of at least 999"),
            ({"level": 1.0}, ValueError, r"level=1\.0"),
            ({"n_null": 0}, ValueError, "n_null=0"),
            ({"index": "gini"}, ValueError, "index='gini'"),
        ],
    )
    def test_wrong_options_are_named(self, options, error, message):
        X = correlated(np.random.default_rng(0))
        X[:, 1] = 0.1
        with pytest.raises(error, match=message):
            planted_test(X, **({"direction": np.ones(3)} | options))
