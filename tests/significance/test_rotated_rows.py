"""Null tables: rotations of the centred rows keep mean and covariance."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from threadpoolctl import threadpool_limits

from null_searches import correlated
from sightline.scatter import scatter_of
from sightline.significance import rotated_rows


class TestRotatedRows:
    def test_mean_and_covariance_are_those_of_the_table(self):
        rng = np.random.default_rng(0)
        X = correlated(rng, n=50) * [1.0, 1e-200, 1e200]
        Y = rotated_rows(X).draw(rng)
        units = np.abs(X).max(axis=0)
        assert_allclose(Y.mean(axis=0) / units, X.mean(axis=0) / units, atol=1e-14)
        assert_allclose(np.cov((Y / units).T), np.cov((X / units).T), rtol=1e-12)
        assert not np.any(np.isclose(X, Y, rtol=1e-6, atol=0))

    def test_constant_and_repeated_columns_stay_so(self):
        X = correlated(np.random.default_rng(0))
        X = np.column_stack((X, np.full(30, 0.1), X[:, 0]))
        Y = rotated_rows(X).draw(np.random.default_rng(1))
        assert scatter_of(Y).constant.tolist() == [False, False, False, True, False]
        assert_allclose(Y[:, 4], Y[:, 0], rtol=1e-14)

    def test_more_columns_than_rows(self):
        X = np.random.default_rng(0).standard_normal((6, 20))
        Y = rotated_rows(X).draw(np.random.default_rng(1))
        assert_allclose(np.cov(Y.T), np.cov(X.T), atol=1e-13)

    def test_frames_are_uniform(self):
        """The squared part of a uniform unit vector of R^m along a fixed one: Beta(1/2, (m-1)/2).

        The centred, standardised columns live in m = n - 1 dimensions.
        """
        n, rng = 12, np.random.default_rng(0)
        shared = rotated_rows(rng.standard_normal((n, 2)))
        fixed = np.r_[1, -1, np.zeros(n - 2)] / np.sqrt(2)
        parts = []
        for _ in range(1000):
            column = shared.draw(rng)[:, 1]
            column -= column.mean()
            parts.append((column @ fixed) ** 2 / (column @ column))
        assert stats.kstest(parts, stats.beta(1 / 2, (n - 2) / 2).cdf).pvalue > 1e-3

    def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(self):
        X = np.random.default_rng(0).standard_normal((3000, 60))
        drawn = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                drawn.append(rotated_rows(X).draw(np.random.default_rng(1)))
        assert_array_equal(*drawn)

    def test_library_and_dtype_stay(self, xp):
        X = xp.asarray(np.random.default_rng(0).standard_normal((20, 3)).astype(np.float32))
        Y = rotated_rows(X).draw(np.random.default_rng(1))
        assert type(Y) is type(X)
        assert Y.dtype == X.dtype
