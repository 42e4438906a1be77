"""Ranking: exact scores, orientation, distinct lines, best first."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sightline._arrays import to_numpy
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.indices import INDICES, Abs, ReLU2, make_index
from sightline.selection import clearly_multimodal, orient, score_directions
from sightline.sphere import angle, normalise, random_directions
from sightline.sums import index_values


def rows(seed=0):
    return make_planted(800, 6, signal=ImbalancedClusters(0.1), random_state=seed)[:2]


def test_the_heavier_tail_is_on_the_positive_side(xp):
    X, direction = rows()
    both = xp.asarray(np.stack((direction, -direction)).astype(np.float32))
    turned = orient(both, xp.asarray(X.astype(np.float32)))
    assert type(turned) is type(both)
    assert turned.dtype == xp.float32
    scores = X @ to_numpy(turned).T
    assert np.all(np.mean(scores**3, axis=0) > 0)


def test_scores_without_skew_leave_the_sign_to_the_largest_entry():
    X, _ = rows()
    symmetric = np.concatenate((X, -X))
    u = random_directions(20, 6, np.random.default_rng(1))
    turned = orient(u, np.sign(symmetric))  # sums of +-1 cancel exactly: no third moment at all
    rank = np.abs(u).argmax(axis=1)
    third = np.sum((np.sign(symmetric) @ u.T) ** 3, axis=0)
    exact = third == 0
    assert np.all(turned[exact, rank[exact]] > 0)
    axes = orient(-np.eye(6), np.sign(symmetric))
    assert_allclose(axes, np.eye(6))


def test_values_are_exact_on_all_rows_and_best_first():
    X, _ = rows()
    candidates = random_directions(30, 6, np.random.default_rng(0))
    ranked = score_directions(candidates, X, ReLU2()).ranked(10)
    brute = [np.mean(np.maximum(0, X @ u) ** 2) for u in ranked.directions]
    assert_allclose(ranked.values, brute, rtol=1e-13)
    assert np.all(np.diff(ranked.values) <= 0)
    assert len(set(ranked.sources)) == 10


def test_merged_directions_keep_their_distance_and_no_better_one_is_lost():
    X, _ = rows()
    candidates = random_directions(200, 6, np.random.default_rng(0))
    ranked = score_directions(candidates, X, Abs()).ranked(200, 30)
    kept = ranked.directions
    for i in range(len(kept)):
        for j in range(i):
            assert angle(kept[i], kept[j]) >= 30 - 1e-9
    everyone = score_directions(candidates, X, Abs()).ranked(200)
    for u, value in zip(everyone.directions, everyone.values, strict=True):
        near = angle(kept, u[None, :]) <= 30 + 1e-9
        assert ranked.values[near].max() >= value - 1e-12  # dropped only beside a better one


def test_a_direction_and_its_opposite_are_one_line():
    X, direction = rows()
    ranked = score_directions(np.stack((direction, -direction)), X, ReLU2()).ranked(2, 1)
    assert len(ranked.values) == 1


@pytest.mark.parametrize("count", [1, 3])
def test_no_more_than_asked_for(count):
    X, _ = rows()
    candidates = random_directions(50, 6, np.random.default_rng(0))
    assert len(score_directions(candidates, X, Abs()).ranked(count, 20).values) == count


def test_groups_are_seen_among_many_candidates_whose_values_are_larger(monkeypatch):
    """The budget reaches for a few candidates: those with modes must be among them."""
    monkeypatch.setattr("sightline.selection._DIP_SCORES", 2**14)
    X, direction = rows()
    candidates = np.concatenate((random_directions(300, 6, np.random.default_rng(0)), [direction]))
    clear = clearly_multimodal(candidates, X, np.arange(301.0)[::-1])
    assert clear[300]
    assert clear.sum() <= 20


@pytest.mark.parametrize("name", [name for name in INDICES if name != "dip"])
def test_one_pass_turns_and_values_as_two_do(name):
    X, _ = rows()
    index = make_index(name)
    u = normalise(random_directions(40, 6, np.random.default_rng(3)))
    turned = orient(u, X)
    scored = score_directions(u, X, index)
    assert np.any(turned != u)
    assert_allclose(scored.directions, turned, rtol=1e-15)
    assert_allclose(scored.values, index_values(index, turned, X), rtol=1e-12)
