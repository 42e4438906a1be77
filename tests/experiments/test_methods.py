"""The registry of methods: settings of the paper, unit directions, any array library."""

import inspect

import numpy as np
import pytest

from sightline.ascent import paper_step_sizes, two_step_gradient_ascent
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.experiments import METHODS, Problem, find_directions
from sightline.experiments.methods import GRADIENT, SPECTRAL, alignment

methods = pytest.mark.parametrize("name", METHODS)

EASY = {"cov4max": BernoulliRademacher(0.1), "kurtosis": BernoulliRademacher(0.1)}

BLIND = ("absmax", "cov4min", "max-skew-smallest", "approx-entropy")
"""Methods that look for something else than one small cluster, or need far more rows."""


@pytest.fixture(scope="module")
def rows():
    def drawn(signal):
        return make_planted(4000, 8, signal, random_state=5, dtype=np.float32)

    return drawn


@methods
def test_directions_are_unit_rows_on_the_host(name, rows):
    X, _, _ = rows(ImbalancedClusters(0.1))
    found = find_directions(name, X, Problem(p=0.1, seed=0, n_starts=40, n_directions=3))
    assert isinstance(found, np.ndarray)
    assert found.shape == (3, 8)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(3), abs=1e-4)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in BLIND])
def test_methods_find_what_they_are_for(name, rows):
    X, planted, _ = rows(EASY.get(name, ImbalancedClusters(0.1)))
    assert alignment(find_directions(name, X, Problem(p=0.1, seed=0)), planted) > 0.9


@methods
def test_tensors_give_the_same_directions(name, rows):
    torch = pytest.importorskip("torch")
    X, _, _ = rows(ImbalancedClusters(0.2))
    X = X[:300].astype(np.float64)
    problem = Problem(p=0.2, seed=0, n_starts=10)
    mine, theirs = (find_directions(name, x, problem) for x in (X, torch.from_numpy(X)))
    assert isinstance(theirs, np.ndarray)
    assert abs(mine[0] @ theirs[0]) == pytest.approx(1, abs=1e-6)


def test_gradient_methods_are_algorithm_2_with_the_papers_settings(rows):
    X, _, _ = rows(ImbalancedClusters(0.1))
    expected = two_step_gradient_ascent(
        X,
        index="kurtosis",
        select="abs",
        n_starts=400,
        resample="replace",
        step_sizes=paper_step_sizes(8, 0.1),
        random_state=3,
    )
    found = find_directions("kurtosis", X, Problem(p=0.1, seed=3))
    assert np.array_equal(found[0], expected.direction)


def test_families_are_those_of_the_papers_table():
    assert set(GRADIENT) == {
        *("relu2", "kurtosis", "abs", "absmax", "skewness", "approx-entropy"),
    }
    assert {"cov4max", "cov4min", "max-skew"} <= set(SPECTRAL)
    assert all(inspect.isfunction(method.find) for method in METHODS.values())
