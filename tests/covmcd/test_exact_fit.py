"""Half of the rows on a hyperplane: an answer, never an error, never NaN."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sightline.covmcd import covmcd, covmcd_directions
from sightline.datasets import ImbalancedClusters, make_planted


def test_two_point_clusters_are_an_exact_fit():
    X, planted, labels = make_planted(1500, 30, signal=ImbalancedClusters(0.1), random_state=0)
    directions = covmcd_directions(X)
    assert abs(directions.directions[0] @ planted) == pytest.approx(1.0, abs=1e-12)
    assert directions.bimodality[0] < 1e-12
    found = covmcd(X)
    assert found.exact_fit
    np.testing.assert_array_equal(found.support, labels == 0)
    np.testing.assert_array_equal(np.isinf(found.distances), labels == 1)
    assert not np.isnan(found.distances).any()
    np.testing.assert_allclose(found.covariance @ planted, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.covariance, np.cov(X[labels == 0].T, ddof=0), atol=1e-12)
    np.testing.assert_allclose(found.location, X[labels == 0].mean(axis=0), atol=1e-12)


def test_directions_go_on_after_an_exact_fit():
    X, planted, _ = make_planted(1500, 10, signal=ImbalancedClusters(0.1), random_state=1)
    found = covmcd_directions(X, 10)
    assert abs(found.directions[0] @ planted) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.matrix_rank(found.directions) == 10


def test_an_exact_fit_found_later_is_one_all_the_same():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 4))
    X[:60, 0] = 8.0 + 0.1 * X[:60, 0]
    X[100:, 1] = 0.25
    found = covmcd(X)
    assert found.exact_fit
    np.testing.assert_array_equal(found.support, X[:, 1] == 0.25)
    assert np.isfinite(found.covariance).all()


def test_most_rows_on_one_point_are_an_exact_fit():
    X = np.random.default_rng(3).standard_normal((50, 3))
    X[:35] = [1.0, 2.0, 3.0]
    found = covmcd(X)
    assert found.exact_fit
    assert not np.isnan(found.distances).any()
    assert np.isfinite(covmcd_directions(X, 3).directions).all()


@settings(max_examples=60, deadline=None)
@given(
    arrays(
        np.float64, st.tuples(st.integers(4, 14), st.integers(1, 3)), elements=st.integers(-2, 2)
    )
)
def test_tables_full_of_ties_give_an_answer_or_an_error(X):
    if min(len(X) - 1, np.linalg.matrix_rank(X - X.mean(axis=0))) < X.shape[1]:
        with pytest.raises(ValueError, match="column"):
            covmcd(X)
        return
    found = covmcd(X)
    assert np.isfinite(found.location).all()
    assert np.isfinite(found.covariance).all()
    assert not np.isnan(found.distances).any()
    assert found.support.sum() >= (sum(X.shape) + 1) // 2
    assert np.isfinite(found.distances[found.support]).all()
    assert found.exact_fit == (np.linalg.matrix_rank(found.covariance) < X.shape[1])
    assert np.isfinite(covmcd_directions(X, X.shape[1]).bimodality).all()
