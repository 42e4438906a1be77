"""ProjectionOutliers: scikit-learn's outlier contract, what it sees, and its invariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from sightline import ProjectionOutliers


def hidden(n=600, d=8, out=18, seed=0):
    """Strongly correlated columns, and rows that break the correlation: no column shows them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[:out, 1] = X[:out, 0] + 0.8 * rng.choice([-1, 1], size=out)
    return X, np.arange(n) < out


def fit(X, **options):
    return ProjectionOutliers(**({"random_state": 0} | options)).fit(X)


def test_rows_that_no_column_shows_are_found():
    X, out = hidden()
    alone = max(roc_auc_score(out, np.abs(column)) for column in X.T)
    far = -fit(X).score_samples(X)
    assert alone < 0.7
    assert roc_auc_score(out, far) > 0.97


def test_rows_that_columns_show_are_found_too():
    X = np.random.default_rng(0).standard_normal((400, 6))
    X[:8] *= 5
    assert roc_auc_score(np.arange(400) < 8, -fit(X).score_samples(X)) > 0.97


def test_scores_decisions_and_predictions_agree():
    X, _ = hidden()
    detector = fit(X, contamination=0.05)
    scores = detector.score_samples(X)
    assert np.array_equal(detector.decision_function(X), scores - detector.offset_)
    assert np.array_equal(detector.predict(X) == -1, scores < detector.offset_)
    assert np.count_nonzero(detector.predict(X) == -1) == 30
    assert np.array_equal(detector.fit_predict(X), detector.predict(X))


def test_the_automatic_threshold_takes_few_of_normal_rows():
    for n, d in ((300, 2), (1000, 10)):
        X = np.random.default_rng(0).standard_normal((n, d))
        assert 0 < np.mean(fit(X).predict(X) == -1) < 0.05


def test_a_crowd_of_outliers_does_not_hide_itself():
    """One row in seven far out on one side: the mean and the covariance lean over to them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 5))
    X[:100, 0] += 12
    assert roc_auc_score(np.arange(700) < 100, -fit(X).score_samples(X)) > 0.99


def test_units_and_offsets_of_columns_do_not_matter():
    """Powers of two change no digit; other units turn the axes that random starts are drawn on.

    Then the search ends at other directions, as it does with another seed.
    """
    X, out = hidden()
    plain = fit(X).score_samples(X)
    binary = 2.0 ** np.arange(-20, 20, 5)
    assert_allclose(fit(X * binary).score_samples(X * binary), plain, rtol=1e-9)
    moved = X * np.logspace(-6, 6, 8) + np.logspace(-6, 6, 8)
    areas = [roc_auc_score(out, -scores) for scores in (plain, fit(moved).score_samples(moved))]
    assert abs(areas[0] - areas[1]) < 0.02


def test_new_rows_are_judged_by_the_rows_of_the_fit():
    """Ten new tables; on the rows of the fit, which the search saw, the area is 0.98."""
    detector = fit(hidden()[0])
    areas = []
    for seed in range(1, 11):
        X, out = hidden(seed=seed)
        scores = detector.score_samples(X)
        areas.append(roc_auc_score(out, -scores))
        assert_allclose(detector.score_samples(X[3:4]), scores[3:4], rtol=1e-9)
    assert np.mean(areas) > 0.95


def test_the_same_seed_gives_the_same_bits():
    X, _ = hidden()
    assert np.array_equal(fit(X).score_samples(X), fit(X).score_samples(X))


@pytest.mark.parametrize("d", [40, 59, 60, 150])
def test_tables_of_more_columns_than_rows_have_an_answer(d):
    """Exact whitening leaves such rows all equally far out; rows ten times as long still show."""
    X = np.random.default_rng(0).standard_normal((60, d)) * np.linspace(1, 3, d)
    X[:3] *= 10
    assert roc_auc_score(np.arange(60) < 3, -fit(X).score_samples(X)) == 1
    assert fit(X, n_components=2).components_.shape == (8, d)


def test_many_rows_are_searched_a_part_at_a_time():
    """20 of 30,000 rows along the diagonal: a search sees two thirds of them, all are judged."""
    X = np.random.default_rng(0).standard_normal((30_000, 4))
    X[:20] += 4
    out = np.arange(len(X)) < 20
    assert roc_auc_score(out, -fit(X, n_components=2).score_samples(X)) > 0.999


def test_new_rows_are_ranked_alike_whatever_the_seed():
    """Of noise, ten directions of one search rank new rows with 0.54 to 0.76 between seeds."""
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((400, 40)), rng.standard_normal((500, 40))
    scores = [fit(X, random_state=seed).score_samples(new) for seed in range(3)]
    assert spearmanr(scores, axis=1).statistic.min() > 0.8


def test_components_are_unit_rows_of_each_search_of_each_index():
    X, _ = hidden()
    found = fit(X, index=("abs", "relu2"), n_components=3).components_
    assert found.shape == (4 * 2 * 3, 8)
    assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-9)


def test_library_and_dtype_are_kept():
    xp = pytest.importorskip("array_api_strict")
    X = xp.asarray(hidden(n=200)[0].astype(np.float32))
    detector = fit(X)
    for state in (detector.components_, detector.score_samples(X), detector.decision_function(X)):
        assert type(state) is type(X)
        assert state.dtype == xp.float32
    assert isinstance(detector.predict(X), np.ndarray)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contamination": 0.0}, r"contamination=0\.0 must be"),
        ({"contamination": 0.6}, r"contamination=0\.6 must be"),
        ({"n_components": 0}, "n_components=0 must be"),
        ({"index": "gini"}, "index='gini' is unknown"),
        ({"index": ()}, r"index=\(\) names no index"),
        ({"whiten": "zca"}, "whiten='zca' is unknown; choose from 'auto', 'exact'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit(hidden(n=100)[0], **options)


def test_scores_before_a_fit_and_other_columns_are_refused():
    with pytest.raises(NotFittedError):
        ProjectionOutliers().score_samples(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="expecting 8 features"):
        fit(hidden(n=100)[0]).predict(np.zeros((3, 2)))
