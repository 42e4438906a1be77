"""RareClusters: labels, prediction, invariances, the report of a cluster, and noise."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from sightline import RareClusters
from sightline.datasets import ImbalancedClusters

SIZES = (25, 40)


def table(n=300, d=5, seed=0):
    """Normal rows in units of their own, with a group along each of the first two columns."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    labels = np.repeat([0, 1, 2], (n - sum(SIZES), *SIZES))
    for label in (1, 2):
        rows[labels == label, label - 1] += 9.0
    order = rng.permutation(n)
    return rows[order] * np.logspace(-2, 2, d) + np.arange(d), labels[order]


def fit(X, **options):
    return RareClusters(**({"index": "relu2", "random_state": 0} | options)).fit(X)


@pytest.fixture(scope="module")
def found():
    return fit(table()[0])


def test_the_bulk_has_label_0_and_each_group_a_label_of_its_own(found):
    labels = table()[1]
    assert found.n_clusters_ == 2
    assert adjusted_rand_score(labels, found.labels_) == 1
    assert np.all(found.labels_[labels == 0] == 0)
    assert sorted(np.bincount(found.labels_)[1:].tolist()) == list(SIZES)


def test_predict_on_the_rows_of_the_fit_is_labels_and_new_rows_are_labelled_alike(found):
    assert np.array_equal(found.predict(table()[0]), found.labels_)
    X, labels = table(seed=7)
    assert adjusted_rand_score(labels, found.predict(X)) == 1
    assert np.array_equal(found.predict(X[:1]), found.predict(X)[:1])
    assert np.array_equal(fit(X).labels_, RareClusters("relu2", random_state=0).fit_predict(X))


def test_the_report_says_where_each_cluster_lies(found):
    X, _ = table()
    for cluster in found.clusters_:
        assert cluster.parent == 0
        assert cluster.size == np.count_nonzero(found.labels_ == cluster.label)
        assert_allclose(np.linalg.norm(cluster.direction), 1, rtol=1e-9)
        above = (X - found.mean_) @ cluster.direction > cluster.threshold
        assert np.array_equal(above[found.labels_ == cluster.label], np.ones(cluster.size, bool))
        assert cluster.p_value <= 0.05
        assert cluster.separation > 5
    first = (X - found.mean_) @ found.clusters_[0].direction > found.clusters_[0].threshold
    assert np.array_equal(first, found.labels_ == 1)


def test_the_columns_that_matter_come_first_by_name():
    X, labels = table()
    found = fit(pd.DataFrame(X, columns=list("abcde")))
    for cluster in found.clusters_:
        planted = "ab"[labels[found.labels_ == cluster.label][0] - 1]
        name, weight = cluster.columns[0]
        assert name == planted
        assert weight > 0  # the group is where this column is large


def test_units_offsets_and_mixing_of_columns_change_no_label(found):
    X, _ = table()
    assert np.array_equal(fit(X * 1024 - 3).labels_, found.labels_)
    assert np.array_equal(fit(X * 2.0**1000).labels_, found.labels_)
    mixed = X @ np.random.default_rng(0).standard_normal((5, 5))
    assert adjusted_rand_score(fit(mixed).labels_, found.labels_) == 1


def test_order_of_rows_and_seed_change_no_clear_cluster(found):
    X, _ = table()
    assert adjusted_rand_score(fit(X[::-1]).labels_[::-1], found.labels_) == 1
    assert adjusted_rand_score(fit(X, random_state=1).labels_, found.labels_) == 1


def test_the_same_seed_gives_the_same_bits(found):
    again = fit(table()[0])
    assert np.array_equal(again.labels_, found.labels_)
    assert [c.threshold for c in again.clusters_] == [c.threshold for c in found.clusters_]


def test_a_smaller_group_than_the_minimum_stays_in_the_bulk():
    X, labels = table()
    found = fit(X, minimum_size=30)
    assert found.n_clusters_ == 1
    assert np.array_equal(found.labels_ == 1, labels == 2)


def test_a_cluster_within_a_cluster_names_its_parent():
    """A third of the rows apart, and of these some apart from the others."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((450, 4))
    rows[:150, 0] += 30.0
    rows[:20, 1] += 9.0
    found = fit(rows)
    assert found.n_clusters_ == 2
    small = found.labels_[0]
    assert np.array_equal(found.labels_ == small, np.arange(450) < 20)
    assert sum(cluster.size for cluster in found.clusters_) == 150


def test_noise_stays_whole():
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((150, 4))
        found = fit(X, significance=0.001, random_state=seed)
        assert found.n_clusters_ == 0
        assert found.clusters_ == []
        assert not found.labels_.any()


def test_the_default_finds_a_planted_cluster_of_one_in_thirty():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    X[:, 0], labels = ImbalancedClusters(0.03, spread=0.2).sample(600, rng)
    found = RareClusters(random_state=0).fit(X)
    assert adjusted_rand_score(labels, found.labels_) > 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"minimum_size": 1}, "minimum_size=1 must be"),
        ({"significance": 0}, "significance=0 must be"),
        ({"significance": 1.0}, r"significance=1\.0 must be"),
        ({"index": "gini"}, "index='gini' is unknown"),
        ({"whiten": "auto"}, "whiten='auto' is unknown"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit(table(n=100)[0], **options)


def test_other_columns_than_those_of_the_fit_are_refused(found):
    with pytest.raises(ValueError, match="expecting 5 features"):
        found.predict(np.zeros((3, 4)))
    with pytest.raises(NotFittedError):
        RareClusters().predict(np.zeros((3, 4)))


@pytest.mark.parametrize(("shape", "copies"), [((100, 5), 5), ((60, 10), 10)])
def test_noise_in_copies_is_one_cluster(shape, copies):
    """Where copies lie in both halves, these tables are split at every seed."""
    for seed in range(3):
        X = np.repeat(np.random.default_rng(seed).standard_normal(shape), copies, axis=0)
        assert fit(X, significance=0.001, random_state=seed).n_clusters_ == 0


def test_copies_of_rows_change_no_label_of_clear_clusters(found):
    X, _ = table()
    copies = np.random.default_rng(0).integers(1, 6, size=len(X))
    again = fit(np.repeat(X, copies, axis=0))
    assert np.array_equal(again.labels_, np.repeat(found.labels_, copies))
    assert sum(cluster.size for cluster in again.clusters_) == np.count_nonzero(again.labels_)
