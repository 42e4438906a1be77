"""Directions of several indices over the same rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sightline.datasets import ImbalancedClusters, make_planted
from sightline.pooling import pool_directions
from sightline.pursuit import pursue
from sightline.whitening import fit_whitening


def pool(X, indices, count=2, seed=0, **options):
    return pool_directions(
        X,
        fit_whitening(X),
        indices,
        n_components=count,
        random_state=np.random.default_rng(seed),
        **({"n_starts": 40} | options),
    )


def table(d=6):
    return make_planted(500, d, signal=ImbalancedClusters(0.1, spread=0.2), random_state=0)[0]


def test_one_index_is_a_pursuit():
    X = table()
    rng = np.random.default_rng(0)
    expected = pursue(
        X, fit_whitening(X), index="relu2", n_components=2, n_starts=40, random_state=rng
    )
    assert np.array_equal(pool(X, "relu2"), expected.directions)
    assert np.array_equal(pool(X, ("relu2",)), expected.directions)


def test_several_indices_are_stacked_in_their_order():
    X = table()
    both = pool(X, ["relu2", "abs"])
    assert np.array_equal(both[:2], pool(X, "relu2"))
    assert both.shape == (4, 6)
    assert_allclose(np.linalg.norm(both, axis=1), 1, rtol=1e-9)


def test_fewer_directions_are_no_news():
    assert len(pool(table(), "relu2", count=50)) <= 6
    assert len(pool(table(d=2), "relu2", minimum_angle=89)) == 1


def test_no_index_is_an_error():
    with pytest.raises(ValueError, match=r"index=\(\) names no index"):
        pool(table(), ())
