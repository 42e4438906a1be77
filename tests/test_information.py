"""Information gain of a threshold: closed forms, brute force, and a tree of one split."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import mutual_info_score
from sklearn.tree import DecisionTreeClassifier

from sightline.information import best_thresholds, information_gain


def table(seed=0, n=200, m=3, k=4):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return rng.standard_normal((n, m)) + 0.5 * labels[:, None], labels


def test_a_threshold_that_tells_half_of_the_labels_gains_one_bit():
    labels = np.repeat(["a", "b", "c", "d"], 10)
    scores = np.repeat([0.0, 1.0, 5.0, 6.0], 10)[:, None]
    assert best_thresholds(scores, labels).tolist() == [3.0]
    assert information_gain(scores, labels, [3.0]).tolist() == [1.0]
    assert information_gain(scores, labels, [-1.0]).tolist() == [0.0]


def test_a_rare_label_gains_its_own_entropy():
    labels = np.arange(100) < 3
    gain = information_gain(labels[:, None].astype(float), labels, [0.5])
    assert_allclose(gain, -(0.03 * np.log2(0.03) + 0.97 * np.log2(0.97)), rtol=1e-12)


def test_the_gain_is_the_mutual_information_of_labels_and_side():
    scores, labels = table()
    thresholds = np.array([0.1, 0.9, 2.0])
    expected = [
        mutual_info_score(labels, column > cut) / np.log(2)
        for column, cut in zip(scores.T, thresholds, strict=True)
    ]
    assert_allclose(information_gain(scores, labels, thresholds), expected, atol=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_the_threshold_is_that_of_a_tree_with_one_split(ties):
    scores, labels = table(seed=1)
    if ties:
        scores = np.round(scores, 1)
    for column in range(scores.shape[1]):
        one = scores[:, [column]]
        tree = DecisionTreeClassifier(criterion="entropy", max_depth=1).fit(one, labels)
        gains = information_gain(
            np.repeat(one, 2, axis=1),
            labels,
            [best_thresholds(one, labels)[0], tree.tree_.threshold[0]],
        )
        assert_allclose(gains[0], gains[1], rtol=1e-12)


def test_order_of_rows_names_of_labels_and_sign_do_not_matter():
    scores, labels = table(seed=2)
    best = best_thresholds(scores, labels)
    gains = information_gain(scores, labels, best)
    order = np.random.default_rng(0).permutation(len(labels))
    assert np.array_equal(best_thresholds(scores[order], 10 - labels[order]), best)
    assert_allclose(information_gain(-scores, labels, -best), gains, rtol=1e-12)


def test_equal_scores_gain_nothing():
    labels = np.arange(10) % 2
    scores = np.full((10, 1), 0.1)
    assert information_gain(scores, labels, best_thresholds(scores, labels)).tolist() == [0.0]


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"shape \(10,\) and labels \(10,\)"):
        best_thresholds(np.zeros(10), np.zeros(10))
    with pytest.raises(ValueError, match=r"shape \(10, 2\) and labels \(9,\)"):
        information_gain(np.zeros((10, 2)), np.zeros(9), [0, 0])
