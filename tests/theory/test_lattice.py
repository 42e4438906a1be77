"""Lattice recovery where it works, where it cannot, and never a claim of what is not there."""

import sys

import numpy as np
import pytest

from sightline.ascent import two_step_gradient_ascent
from sightline.datasets import (
    BernoulliRademacher,
    HierarchicalClusters,
    ImbalancedClusters,
    make_planted,
)
from sightline.theory import FiniteLaw, lattice_recovery

fpylll = pytest.importorskip(
    "fpylll",
    reason="lattice reduction is in the extra 'lattice': pip install 'sightline[lattice]'",
)
SEEDS = range(8)


def exact(found, direction):
    return found.found and abs(abs(found.direction @ direction) - 1) < 1e-10


@pytest.mark.parametrize(("d", "n"), [(5, 7), (10, 12), (20, 23), (40, 43), (60, 66)])
def test_clusters_are_recovered_exactly_from_few_more_rows_than_columns(d, n):
    """Measured over 30 seeds: all at d + 2 up to d = 10, 26 at d = 20; all at d + 3 up to 40."""
    for seed in SEEDS:
        X, direction, labels = make_planted(n, d, ImbalancedClusters(0.3), random_state=seed)
        found = lattice_recovery(X)
        assert exact(found, direction)
        rare = 1 if np.mean(labels) <= 0.5 else 0
        if 0 < np.mean(labels) != 0.5:
            np.testing.assert_array_equal(found.coefficients, labels == rare)


@pytest.mark.parametrize(("d", "n"), [(6, 8), (20, 23), (40, 43)])
def test_sparse_vectors_are_recovered_without_an_offset(d, n):
    for seed in SEEDS:
        X, direction, labels = make_planted(n, d, BernoulliRademacher(0.4), random_state=seed)
        found = lattice_recovery(X, offset=False)
        assert exact(found, direction)
        np.testing.assert_array_equal(np.abs(found.coefficients), labels != 0)


def test_three_evenly_spaced_values_need_no_name():
    law = FiniteLaw([-0.5, 0.25, 1.75], [0.5, 0.25, 0.25])  # steps of 0.75: 0, 1, 3
    X, direction, labels = make_planted(28, 20, law, random_state=3)
    found = lattice_recovery(X)
    assert exact(found, direction)
    assert found.direction @ direction > 0
    np.testing.assert_array_equal(found.coefficients, np.array([0, 1, 3])[labels])


def test_only_the_span_of_the_columns_matters():
    X, direction, _ = make_planted(28, 20, ImbalancedClusters(0.3), random_state=0)
    mixing = np.random.default_rng(1).standard_normal((20, 20))
    moved = (X - X.mean(axis=0)) @ mixing
    found = lattice_recovery(moved)
    back = mixing @ found.direction
    assert abs(back @ direction) / np.linalg.norm(back) == pytest.approx(1, abs=1e-9)


def test_rows_that_all_agree_are_a_direction_too():
    """Seven rows of the bulk alone: X u* is constant, which no normal table is."""
    X, direction, labels = make_planted(7, 5, ImbalancedClusters(0.1), random_state=1)
    assert not labels.any()
    found = lattice_recovery(X)
    assert exact(found, direction)
    assert not found.coefficients.any()


def test_gradient_ascent_is_blind_on_the_same_rows():
    """d = 40, n = 46: exact by lattice, below 0.9 by the two-step ascent with all its rows."""
    reached = []
    for seed in SEEDS:
        X, direction, _ = make_planted(46, 40, ImbalancedClusters(0.3), random_state=seed)
        assert exact(lattice_recovery(X), direction)
        climbed = two_step_gradient_ascent(
            X, index="relu2", resample="full", n_starts=46, random_state=seed
        )
        reached.append(abs(climbed.direction @ direction))
    assert np.mean(reached) < 0.9  # measured: 0.12


@pytest.mark.parametrize(
    "signal",
    [HierarchicalClusters(0.3), ImbalancedClusters(0.3, spread=0.01)],
    ids=["hierarchical", "spread"],
)
@pytest.mark.parametrize(("d", "n"), [(10, 13), (20, 23), (40, 46)])
def test_noise_of_any_kind_defeats_it(signal, d, n):
    for seed in SEEDS:
        X, _, _ = make_planted(n, d, signal, random_state=seed)
        found = lattice_recovery(X)
        assert not found.found
        assert found.direction is None
        assert found.coefficients is None
        assert found.evidence < 20


@pytest.mark.parametrize("offset", [True, False])
def test_normal_rows_have_no_relation(offset):
    """The evidence promises fewer than one in a million."""
    rng = np.random.default_rng(0)
    for d in (2, 5, 10):
        for _ in range(50):
            assert not lattice_recovery(rng.standard_normal((d + 3, d)), offset=offset).found


@pytest.mark.slow
def test_a_hundred_and_twenty_columns_take_seconds():
    X, direction, _ = make_planted(138, 120, ImbalancedClusters(0.1), random_state=0)
    assert exact(lattice_recovery(X), direction)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((4, 3)), {}, "X has 4 rows of 3 columns; .* at least 5"),
        (np.ones((3, 3)), {"offset": False}, "X has 3 rows of 3 columns; .* at least 4"),
        (np.ones((251, 10)), {}, r"X has 251 rows; .* such as X\[:14\]"),
        (np.ones((6, 3)), {}, "3 columns of X are linearly dependent"),
        (np.ones((6, 3), dtype=np.float32), {}, "X has dtype float32"),
        (np.full((6, 3), np.nan), {}, "X contains NaN"),
    ],
)
def test_bad_tables_are_named(X, options, message):
    with pytest.raises(ValueError, match=message):
        lattice_recovery(X, **options)


def test_without_the_extra_the_remedy_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "fpylll", None)
    X, _, _ = make_planted(23, 20, ImbalancedClusters(0.3), random_state=0)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'sightline\[lattice\]'"):
        lattice_recovery(X)
