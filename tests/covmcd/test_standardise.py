"""Standardising against its definition, at any scale and offset, and what it refuses."""

import numpy as np
import pytest

from sightline.covmcd.standardise import standardise

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).smallest_normal)
HUGE = float(np.finfo(np.float64).max)


def table(seed=0, n_rows=60, n_columns=4):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, n_columns)) @ rng.standard_normal((n_columns, n_columns))


SCALES = {
    "plain": (1.0, 0.0),
    "tiny": (1e-300, 0.0),
    "huge": (1e300, 0.0),
    "mixed": (np.array([1e-200, 1.0, 1e200, 1e-5]), 0.0),
    "denormal": (1e-315, 0.0),
    "offset": (1.0, 1e8),
}


@pytest.mark.parametrize("case", SCALES)
def test_rows_have_mean_zero_and_covariance_one(case):
    scale, offset = SCALES[case]
    rows = standardise(table() * scale + offset, EPS).rows
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(rows.T @ rows / len(rows), np.eye(4), atol=1e-13)


@pytest.mark.parametrize("case", SCALES)
def test_the_way_back(case):
    scale, offset = SCALES[case]
    X = table() * scale + offset
    standard = standardise(X, EPS)
    back = np.stack([standard.location(row) for row in standard.rows])
    lost = 1e-8 if case == "denormal" else 1e-14
    assert np.all(np.abs(back - X) <= lost * np.abs(X).max(axis=0))


@pytest.mark.parametrize("case", ["plain", "offset"])
def test_the_identity_stands_for_the_sample_covariance(case):
    scale, offset = SCALES[case]
    X = table() * scale + offset
    np.testing.assert_allclose(
        standardise(X, EPS).covariance(np.eye(4), TINY, HUGE), np.cov(X.T, ddof=0), rtol=1e-7
    )


@pytest.mark.parametrize("case", ["tiny", "huge", "mixed"])
def test_a_covariance_that_cannot_be_held(case):
    named = "0, 2" if case == "mixed" else "0, 1, 2, 3"
    with pytest.raises(ValueError, match=rf"column\(s\) {named} whose variance .*rescale"):
        standardise(table() * SCALES[case][0], EPS).covariance(np.eye(4), TINY, HUGE)


def test_a_variance_that_is_zero_can_be_held():
    X = table()
    standard = standardise(X, EPS)
    first = np.linalg.solve(standard.mixing.T, np.eye(4)[0])
    first /= np.linalg.norm(first)
    flat = np.eye(4) - np.outer(first, first)
    assert np.isfinite(standard.covariance(flat, TINY, HUGE)).all()


@pytest.mark.parametrize("case", ["plain", "tiny", "huge", "offset"])
def test_a_direction_has_the_same_scores_either_way(case):
    scale, offset = SCALES[case]
    X = table() * scale + offset
    standard = standardise(X, EPS)
    w = np.array([0.1, -0.7, 0.7, 0.1])
    (a,) = standard.directions(w[None], TINY)
    assert np.linalg.norm(a) == pytest.approx(1.0)
    scores = (X - X.mean(axis=0)) / scale @ a
    assert np.corrcoef(scores, standard.rows @ w)[0, 1] == pytest.approx(1.0, abs=1e-9)


def test_a_direction_that_a_unit_row_cannot_hold():
    standard = standardise(table() * SCALES["mixed"][0], EPS)
    with pytest.raises(ValueError, match=r"beside others, 2, .*rescale"):
        standard.directions(np.array([[0.1, -0.7, 0.7, 0.1]]), TINY)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(1, 1), (4, 4), (3, 7)])
def test_too_few_rows(n_rows, n_columns):
    with pytest.raises(ValueError, match=f"{n_rows} row.*{n_columns} column.*more rows than"):
        standardise(table(0, n_rows, n_columns), EPS)


def test_constant_columns_are_named():
    X = np.insert(table(), [1, 3], 0.1, axis=1)
    with pytest.raises(ValueError, match=r"2 column\(s\) that are constant: 1, 4\. .*drop"):
        standardise(X, EPS)


def test_many_columns_are_counted():
    X = np.hstack([table(), np.ones((60, 15))])
    with pytest.raises(ValueError, match=r"15 column.*: 4, 5, .*13 and 5 more"):
        standardise(X, EPS)


def test_a_column_lost_in_its_offset_is_named():
    X = table()
    X[:, 2] = 1e8 + 1.5e-8 * (np.arange(60) % 2)
    with pytest.raises(ValueError, match=r"constant but for rounding: 2\."):
        standardise(X, EPS)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dependent_columns_are_named(dtype, offset):
    X = (table() + offset).astype(dtype)
    combined = (X[:, 0] - 2 * X[:, 1] + offset).astype(dtype)
    X = np.insert(X, 3, combined, axis=1).astype(np.float64)
    with pytest.raises(ValueError, match=r"linear combinations of earlier ones: 3\."):
        standardise(X, float(np.finfo(dtype).eps))


def test_nearly_dependent_columns_are_accepted():
    X = table()
    X = np.insert(X, 4, X[:, 0] + 1e-9 * np.random.default_rng(1).standard_normal(60), axis=1)
    rows = standardise(X, EPS).rows
    np.testing.assert_allclose(rows.T @ rows / 60, np.eye(5), atol=1e-13)
