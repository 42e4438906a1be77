"""scikit-learn's own checks, whole, on every estimator: no failure is expected."""

import os
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sightline import estimators
from sightline.datasets import ImbalancedClusters, make_planted

ESTIMATORS = [getattr(estimators, name)() for name in estimators.__all__]
PORTFOLIO = estimators.ProjectionPursuit("auto", n_starts=24, n_steps=8)
PURSUITS = [e for e in ESTIMATORS if hasattr(e, "transform")]


def pursuit_id(estimator):
    return type(estimator).__name__


@parametrize_with_checks([*ESTIMATORS, PORTFOLIO])
def test_scikit_learn_checks(estimator, check):
    if check.func.__name__ == "check_array_api_input" and "SCIPY_ARRAY_API" not in os.environ:
        pytest.skip("scikit-learn asks for SCIPY_ARRAY_API=1, which must be set at start-up")
    check(estimator)


def table(n=400, d=5):
    return make_planted(n, d, signal=ImbalancedClusters(0.1, spread=0.2), random_state=0)


@pytest.mark.parametrize("estimator", PURSUITS, ids=pursuit_id)
def test_components_are_unit_rows_in_column_space_and_transform_is_their_scores(estimator):
    X = table()[0] * [1, 10, 0.1, 5, 1] + [0, 5, -3, 100, 1]
    fitted = with_seed(estimator).set_params(n_components=3).fit(X)
    assert fitted.components_.shape == (3, 5)
    assert_allclose(np.linalg.norm(fitted.components_, axis=1), 1, rtol=1e-12)
    assert_allclose(fitted.mean_, X.mean(axis=0), rtol=1e-10)
    scores = (X - fitted.mean_) @ fitted.components_.T
    assert_allclose(fitted.transform(X), scores, rtol=1e-9, atol=1e-9)
    assert np.all(np.mean(scores**3, axis=0) >= -1e-9)  # the heavier tail is positive


@pytest.mark.parametrize("estimator", PURSUITS, ids=pursuit_id)
def test_names_go_in_and_out(estimator):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(table()[0], columns=list("abcde"))
    fitted = with_seed(estimator).set_params(n_components=2).set_output(transform="pandas").fit(X)
    assert fitted.feature_names_in_.tolist() == list("abcde")
    out = fitted.transform(X)
    assert list(out.columns) == [f"{type(estimator).__name__.lower()}{i}" for i in range(2)]
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(X.rename(columns={"a": "z"}))


@pytest.mark.parametrize("estimator", PURSUITS, ids=pursuit_id)
def test_pickle_and_clone(estimator):
    X = table()[0]
    fitted = with_seed(estimator).fit(X)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301  (our own bytes)
    assert np.array_equal(fitted.transform(X), again.transform(X))
    assert not hasattr(clone(fitted), "components_")


@pytest.mark.parametrize("estimator", PURSUITS, ids=pursuit_id)
def test_pipeline_and_grid_search(estimator):
    X, _, labels = table()
    search = GridSearchCV(
        make_pipeline(with_seed(estimator), LogisticRegression()),
        {f"{type(estimator).__name__.lower()}__n_components": [1, 2]},
        cv=2,
    ).fit(X, labels)
    assert search.best_score_ > 0.85


@pytest.mark.parametrize("estimator", PURSUITS, ids=pursuit_id)
def test_library_and_dtype_are_kept(estimator, xp):
    X = xp.asarray(table()[0].astype(np.float32))
    fitted = with_seed(estimator).set_params(n_components=2).fit(X)
    for state in (fitted.components_, fitted.transform(X)):
        assert type(state) is type(X)
        assert state.dtype == xp.float32
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 5 features"):
        fitted.transform(X[:, :3])


def with_seed(estimator):
    made = clone(estimator)
    if "random_state" in made.get_params():
        made.set_params(random_state=0, n_starts=50)
    return made
