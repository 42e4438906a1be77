"""Splitting off rare clusters: what passes, what does not, and the bookkeeping of labels."""

import numpy as np
import pytest

from sightline.splitting import RowSplit, Splitter, distinct_rows, follow_splits


def splitter(seed=0, **changes):
    options = {"index": ("relu2",), "minimum_size": 5, "significance": 0.05}
    return Splitter(**(options | changes), rng=np.random.default_rng(seed))


def planted(n=400, d=5, sizes=(20, 45), shift=9.0, seed=0):
    """Normal rows and a group along each of the first columns; labels 1, 2, ... for the groups."""
    rows = np.random.default_rng(seed).standard_normal((n, d))
    labels = np.repeat(np.arange(len(sizes) + 1), (n - sum(sizes), *sizes))
    for label in range(1, len(sizes) + 1):
        rows[labels == label, label - 1] += shift
    return rows, labels


def test_labels_follow_the_splits_in_their_order():
    rows = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0]])
    x, y = np.eye(2)
    splits = [RowSplit(0, 1, x, 1.0, 9.0, 0.01), RowSplit(1, 2, y, 1.0, 9.0, 0.01)]
    assert follow_splits(rows, splits).tolist() == [0, 1, 2, 0]
    assert follow_splits(rows, []).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_split_off_and_nothing_else(seed):
    rows, labels = planted(seed=seed)
    splits = splitter(seed).split(rows)
    found = follow_splits(rows, splits)
    assert len(splits) == 2
    pairs = {(a, b) for a, b in zip(labels.tolist(), found.tolist(), strict=True)}
    assert len(pairs) == 3  # one found label for each planted one
    assert all(split.p_value <= 0.05 and split.separation > 5 for split in splits)


def test_a_group_below_the_minimum_size_stays():
    rows, _ = planted(sizes=(20,))
    assert len(splitter().split(rows)) == 1
    assert splitter(minimum_size=30).split(rows) == []


def test_few_rows_are_never_split():
    rows, _ = planted(n=19, sizes=(9,), shift=50.0)
    assert splitter().split(rows) == []


@pytest.mark.parametrize(
    "law",
    [
        lambda rng: rng.standard_normal((150, 4)),
        lambda rng: rng.standard_t(3, size=(150, 4)),
        lambda rng: rng.standard_normal((60, 15)),
    ],
    ids=["normal", "Student t(3)", "few rows"],
)
def test_one_cluster_stays_whole(law):
    for seed in range(3):
        rows = law(np.random.default_rng(seed))
        assert splitter(seed, significance=0.001).split(rows) == []


def test_rows_that_are_all_equal_stay_whole():
    assert splitter().split(np.zeros((40, 3))) == []


@pytest.mark.slow
def test_noise_is_split_no_oftener_than_the_significance_says():
    """200 normal tables at a significance of 0.2; the test is conservative, so far fewer split."""
    split = 0
    for seed in range(200):
        rows = np.random.default_rng(seed).standard_normal((120, 4))
        split += bool(splitter(seed, significance=0.2).split(rows))
    assert split <= 200 * 0.2


def test_the_same_seed_gives_the_same_bits():
    rows, _ = planted()
    first, again = (splitter(3).split(rows) for _ in range(2))
    assert [s.threshold for s in first] == [s.threshold for s in again]
    assert np.array_equal(first[0].direction, again[0].direction)


def test_rows_are_given_once_in_their_order():
    rows = np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0], [-0.0, 3.0], [2.0, 1.0]])
    assert distinct_rows(rows).tolist() == [0, 1, 4]
    assert distinct_rows(rows.astype(np.float32)[::-1]).tolist() == [0, 1, 2]
