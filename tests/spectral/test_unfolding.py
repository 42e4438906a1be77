"""The third moment's unfolding, against the explicit (d^2, d) matrix on small tables."""

import tracemalloc

import numpy as np
import pytest

from sightline._arrays import wide_dtype
from sightline.spectral import unfolding
from sightline.spectral.unfolding import (
    contracted,
    leading_vector,
    products_are_cheaper,
    unfolding_gram,
)

MATRIX_WAYS = [unfolding._by_pairs, unfolding._by_slices]


def skewed_rows(n, d, seed=0):
    """Independent centred exponentials of growing size: every third moment differs."""
    rng = np.random.default_rng(seed)
    return (rng.exponential(size=(n, d)) - 1) * np.linspace(0.5, 2, d)


def explicit_unfolding(X):
    n, d = X.shape
    return np.einsum("ni,nj,nk->ijk", X, X, X).reshape(d * d, d) / n


@pytest.mark.parametrize("way", MATRIX_WAYS)
@pytest.mark.parametrize("n", [1, 7, 1024, 2500])
def test_gram_is_that_of_the_explicit_matrix_across_block_edges(way, n, monkeypatch):
    monkeypatch.setattr(unfolding, "_PAIR_BLOCK", 700)
    X = skewed_rows(n, 6)
    T = explicit_unfolding(X)
    np.testing.assert_allclose(way(X), T.T @ T, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("way", MATRIX_WAYS)
def test_gram_of_float32_rows_is_summed_in_the_wide_dtype(way, xp):
    X = skewed_rows(300, 5).astype(np.float32)
    T = explicit_unfolding(X.astype(np.float64))
    rows = xp.asarray(X)
    gram = way(rows)
    assert type(gram) is type(rows)
    assert gram.dtype == wide_dtype(rows)
    exact = 1e-12 if gram.dtype == xp.float64 else 1e-4
    np.testing.assert_allclose(np.asarray(gram), T.T @ T, rtol=exact)


@pytest.mark.parametrize(("n", "d"), [(40, 30), (3000, 5)])
def test_either_way_that_the_cost_chooses_is_right(n, d):
    X = skewed_rows(n, d)
    T = explicit_unfolding(X)
    np.testing.assert_allclose(unfolding_gram(X), T.T @ T, rtol=1e-10, atol=1e-12)


def test_contraction_with_a_direction():
    X = skewed_rows(200, 4)
    direction = np.array([0.1, 0.7, -0.5, 0.5])
    expected = np.einsum("ni,nj,n->ij", X, X, X @ direction) / 200
    np.testing.assert_allclose(contracted(X, direction), expected, rtol=1e-12, atol=1e-14)


def test_leading_vector_is_the_singular_vector_of_the_explicit_matrix():
    X = skewed_rows(4000, 30)
    _, _, right = np.linalg.svd(explicit_unfolding(X))
    assert abs(leading_vector(X) @ right[0]) == pytest.approx(1, abs=1e-12)


def test_leading_vector_gives_up_where_the_matrix_is_cheaper():
    # Sixty singular values within a hundredth, and T^T T by pairs costs half of one product.
    assert leading_vector(np.diag(np.linspace(1, 1.01, 60))) is None


def test_products_are_chosen_for_few_vectors_of_long_wide_tables():
    assert products_are_cheaper(10**6, 1000, 1)
    assert not products_are_cheaper(10**6, 1000, 10)  # T^T T is summed once for all ten
    assert not products_are_cheaper(5000, 300, 1)  # few pairs of rows
    assert not products_are_cheaper(10**6, 100, 1)  # few slices


@pytest.mark.parametrize("work", [*MATRIX_WAYS, leading_vector])
def test_the_unfolding_is_never_in_memory(work):
    d = 128
    X = skewed_rows(400, d)
    tracemalloc.start()
    work(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * d**3 / 3
