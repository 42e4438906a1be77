import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline._arrays import like, namespace, to_numpy, wide_dtype
from sightline.moments import (
    check_scale,
    fourth_moment_matrix,
    squared_norms,
    third_moment_along,
    third_moment_vector,
    weighted_mean,
    weighted_scatter,
)
from sightline.sphere import random_directions

SEEDS = st.integers(0, 2**32)


def skewed(seed, rows, columns=4):
    return np.random.default_rng(seed).standard_exponential((rows, columns)) - 0.5


def cluster_and_signs(columns=4):
    """All rows (nu, s) with imbalanced clusters nu at p = 1/5 and all signs s, equally often.

    sqrt((1-p)/p) = 2 one time in five, -sqrt(p/(1-p)) = -1/2 four times in five.
    """
    values = [[2.0, -0.5, -0.5, -0.5, -0.5], *[[-1.0, 1.0]] * (columns - 1)]
    return np.array(list(itertools.product(*values)))


class TestAgainstTheWholeTensor:
    @given(seed=SEEDS, rows=st.integers(1, 60))
    def test_each_is_a_contraction(self, seed, rows):
        X = skewed(seed, rows)
        v = random_directions(1, 4, np.random.default_rng(seed))[0]
        third = np.einsum("ni,nj,nk->ijk", X, X, X) / rows
        fourth = np.einsum("ni,nj,nk,nl->ijkl", X, X, X, X) / rows
        close = {"rtol": 1e-11, "atol": 1e-11}
        np.testing.assert_allclose(third_moment_vector(X), np.einsum("ijj->i", third), **close)
        np.testing.assert_allclose(third_moment_along(X, v), third @ v, **close)
        np.testing.assert_allclose(fourth_moment_matrix(X), np.einsum("ijkk->ij", fourth), **close)

    @given(seed=SEEDS)
    def test_a_rotation_of_the_rows_rotates_them(self, seed):
        X = skewed(seed, 50)
        Q = np.linalg.qr(random_directions(4, 4, np.random.default_rng(seed)))[0]
        close = {"atol": 1e-10}
        np.testing.assert_allclose(third_moment_vector(X @ Q), third_moment_vector(X) @ Q, **close)
        np.testing.assert_allclose(
            third_moment_along(X @ Q, X[0] @ Q), Q.T @ third_moment_along(X, X[0]) @ Q, **close
        )
        np.testing.assert_allclose(
            fourth_moment_matrix(X @ Q), Q.T @ fourth_moment_matrix(X) @ Q, **close
        )

    def test_more_rows_than_a_block(self):
        X = skewed(0, 2500)
        weight = np.sum(X**2, axis=1)
        np.testing.assert_allclose(third_moment_vector(X), weight @ X / 2500, rtol=1e-12)
        np.testing.assert_allclose(fourth_moment_matrix(X), (X.T * weight) @ X / 2500, rtol=1e-12)


class TestClosedForms:
    # nu has mean 0, variance 1, E nu^3 = (1 - 2p) / sqrt(p (1-p)) = 3/2 and
    # E nu^4 = 1 / (p (1-p)) - 3 = 13/4 at p = 1/5; signs have s^2 = 1 and E s^3 = 0.
    def test_the_vector_points_to_the_small_cluster(self):
        # E |x|^2 nu = E nu^3 + 3 E nu, and every s is as often negative.
        np.testing.assert_allclose(
            third_moment_vector(cluster_and_signs()), [1.5, 0, 0, 0], atol=1e-14
        )

    def test_the_contraction_has_the_skewness_alone(self):
        # E <x, e_1> x x^T = diag(E nu^3, E nu, ...); along a sign, only the nu^0 s^2 nu terms: 0.
        X = cluster_and_signs()
        along, across = np.eye(4)[0], np.eye(4)[1]
        np.testing.assert_allclose(
            third_moment_along(X, along), np.diag([1.5, 0, 0, 0]), atol=1e-14
        )
        np.testing.assert_allclose(third_moment_along(X, across), np.zeros((4, 4)), atol=1e-14)

    def test_the_matrix_sets_heavy_tails_apart(self):
        # E |x|^2 nu^2 = E nu^4 + 3 = 25/4; E |x|^2 s^2 = E |x|^2 = 4.
        np.testing.assert_allclose(
            fourth_moment_matrix(cluster_and_signs()), np.diag([6.25, 4, 4, 4]), atol=1e-13
        )


class TestWeights:
    def test_weights_of_one_give_the_mean_and_the_scatter(self):
        X = skewed(0, 1500)
        np.testing.assert_allclose(
            weighted_mean(X, lambda rows: np.ones(len(rows))), X.mean(axis=0), rtol=1e-13
        )
        np.testing.assert_allclose(
            weighted_scatter(X, lambda rows: np.ones(len(rows))), X.T @ X / 1500, rtol=1e-12
        )

    def test_weights_see_wide_rows_once_each_in_order(self):
        X, seen = skewed(0, 1500).astype(np.float32), []

        def weights(rows):
            seen.append(rows)
            return np.zeros(len(rows))

        assert not np.any(weighted_mean(X, weights))
        np.testing.assert_array_equal(np.concatenate(seen), X)
        assert {rows.dtype for rows in seen} == {np.dtype(np.float64)}

    @pytest.mark.parametrize("moment", [third_moment_vector, fourth_moment_matrix])
    def test_no_rows_have_no_moment(self, moment, xp):
        with pytest.raises(ValueError, match="X has 0 rows"):
            moment(xp.zeros((0, 3)))


def test_every_moment_is_wide_in_its_library(xp):
    X = xp.asarray(skewed(0, 1100), dtype=xp.float32)
    v = like([0.5, 0.5, -0.5, 0.5], X)
    host = to_numpy(X).astype(float)
    assert squared_norms(X).dtype == xp.float32
    for moment, arguments in [
        (third_moment_vector, ()),
        (third_moment_along, (v,)),
        (fourth_moment_matrix, ()),
    ]:
        result = moment(X, *arguments)
        assert (namespace(result), result.dtype) == (xp, wide_dtype(X))
        expected = moment(host, *map(to_numpy, arguments))
        tolerance = 1e-13 if wide_dtype(X) != xp.float32 else 1e-5
        np.testing.assert_allclose(to_numpy(result), expected, rtol=tolerance, atol=tolerance)


def test_rows_that_are_not_in_memory_are_not_read_for_their_scale():
    class Unread:
        is_lazy = True

    check_scale(Unread())
    with pytest.raises(ValueError, match="every entry of X is 0"):
        check_scale(np.zeros((3, 2)))
