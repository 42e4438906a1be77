"""Algorithm 1 beside a line-for-line transcription, and what it promises about its result."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sightline import gradient_ascent
from sightline._arrays import to_numpy
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.indices import INDICES, Dip, make_index
from sightline.sphere import random_directions

CLIMBABLE = [name for name, kind in INDICES.items() if not kind.whole_sample]


def batches(count=5, size=200, d=6, seed=0):
    X = make_planted(count * size, d, signal=ImbalancedClusters(0.2), random_state=seed)[0]
    return list(X.reshape(count, size, d))


def value(index, scores):
    return float(index.value_of_sample(scores[:, None], np)[0])


def printed_algorithm(given, starts, index, *, eta, s, rows):
    """Algorithm 1, a start at a time, its gradient by central differences of the value."""
    psi = make_index(index.selection) if index.selection else index
    best = []
    for start in starts:
        u, iterates = start, []
        for i in range(s):
            g = np.zeros_like(u)
            for k, e in enumerate(np.eye(len(u)) * 1e-6):
                up, down = given[i] @ (u + e), given[i] @ (u - e)
                g[k] = (value(index, up) - value(index, down)) / 2e-6
            g -= (g @ u) * u
            u = (u + eta * g) / np.linalg.norm(u + eta * g)
            iterates.append(u)
        best.append(max(iterates, key=lambda v: value(psi, rows @ v)))
    return np.array(best)


@pytest.mark.parametrize("name", CLIMBABLE)
def test_it_is_the_printed_algorithm(name):
    index, given = make_index(name), batches()
    starts = random_directions(4, 6, np.random.default_rng(1))
    found = gradient_ascent(given, starts, index=name, step_size=0.1, n_steps=5)
    expected = printed_algorithm(given, starts, index, eta=0.1, s=5, rows=np.concatenate(given))
    # A kink between the two points of a difference costs it about 1 / (rows x step).
    assert_allclose(found.directions, expected, atol=2e-4 if "abs" in name else 1e-6)


def test_candidates_are_compared_on_all_rows_or_on_the_first_batch():
    given = batches()
    starts = random_directions(9, 6, np.random.default_rng(1))
    options = {"index": "relu2", "step_size": 1.0, "n_steps": 5}
    on_all = gradient_ascent(given, starts, **options)
    on_first = gradient_ascent(given, starts, **options, evaluate_on="first-batch")
    on_other = gradient_ascent(given, starts, **options, evaluate_on=given[3])
    for found, rows in (
        (on_all, np.concatenate(given)),
        (on_first, given[0]),
        (on_other, given[3]),
    ):
        exact = np.mean(np.maximum(0, rows @ found.directions.T) ** 2, axis=0)
        assert_allclose(found.values, exact, rtol=1e-12)
        assert_allclose(found.values, found.history.max(axis=0))
        assert_allclose(found.best_step, found.history.argmax(axis=0) + 1)
    assert not np.array_equal(on_all.best_step, on_first.best_step)


def test_the_last_iterate_is_a_candidate_and_the_start_is_not():
    X, direction, _ = make_planted(4000, 4, signal=ImbalancedClusters(0.1), random_state=0)
    once = gradient_ascent([X], direction[None, :], index="relu2", step_size=5.0, n_steps=1)
    assert once.best_step.tolist() == [1]
    assert not np.array_equal(once.directions[0], direction)
    twice = gradient_ascent(
        [X, X],
        random_directions(30, 4, np.random.default_rng(0)),
        index="relu2",
        step_size=0.2,
        n_steps=2,
    )
    assert (twice.best_step == 2).mean() > 0.9  # on a smooth index small steps go up


def test_a_supply_is_read_as_far_as_the_steps_go():
    endless = itertools.cycle(batches())
    found = gradient_ascent(
        endless, np.eye(6), index="abs", step_size=0.1, n_steps=3, evaluate_on=batches()[0]
    )
    assert found.n_samples_used == 600
    assert next(endless) is not None
    assert "3 steps" in found.stopping_reason


def test_too_few_batches_say_how_many():
    with pytest.raises(ValueError, match=r"ended after 2 of n_steps=5.*itertools\.cycle"):
        gradient_ascent(batches(2), np.eye(6), index="abs", step_size=0.1, n_steps=5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"index": "entropy"}, "index='entropy' is unknown; choose from 'relu2'"),
        ({"select": "nothing"}, "select='nothing' is unknown"),
        ({"step_size": 0}, r"step_size=0 must be a finite number in \(0, inf"),
        ({"step_size": float("nan")}, "step_size=nan"),
        ({"n_steps": 0}, "n_steps=0 must be a whole number of at least 1"),
        ({"evaluate_on": "last-batch"}, "evaluate_on='last-batch' is unknown; choose from 'first"),
        ({"evaluate_on": np.ones((3, 2))}, "evaluate_on has 2 columns; the directions have 6"),
        ({"index": Dip()}, "index 'dip' has no slope"),
        ({"batches": [np.ones((3, 2))]}, "batch 1 has 2 columns; the directions have 6"),
        ({"batches": [np.ones(6)]}, r"batch 1 has 1 dimension.*shape \(6,\)"),
        ({"batches": [np.ones((0, 6))]}, r"batch 1 has 0 row\(s\)"),
        ({"batches": [np.full((3, 6), np.nan)]}, "batch 1 contains NaN: column 0 at row 0"),
        ({"batches": []}, "ended after 0 of n_steps=1"),
        ({"batches": [np.full((5, 6), 1e200)]}, "overflowed at step 1.*Whiten"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_wrong_options_are_named(change, message):
    options = {"index": "relu2", "step_size": 0.1, "n_steps": 1, "batches": batches(1)} | change
    with pytest.raises(ValueError, match=message):
        gradient_ascent(options.pop("batches"), np.eye(6), **options)


@pytest.mark.parametrize("name", CLIMBABLE)
def test_library_and_dtype_are_kept(name, xp):
    given = [xp.asarray(b.astype(np.float32)) for b in batches(2)]
    starts = xp.asarray(np.eye(6, dtype=np.float32))
    found = gradient_ascent(given, starts, index=name, step_size=0.1, n_steps=2)
    assert type(found.directions) is type(starts)
    assert found.directions.dtype == xp.float32
    reference = gradient_ascent(batches(2), np.eye(6), index=name, step_size=0.1, n_steps=2)
    assert_allclose(to_numpy(found.directions), reference.directions, atol=2e-5)


def test_sharing_scores_changes_nothing():
    X = np.random.default_rng(0).standard_exponential((700, 8)) - 1
    for index in CLIMBABLE:
        same = gradient_ascent([X] * 5, np.eye(8), index=index, step_size=0.2, n_steps=5)
        apart = gradient_ascent(
            [X.copy() for _ in range(5)],
            np.eye(8),
            index=index,
            step_size=0.2,
            n_steps=5,
            evaluate_on=X,
        )
        assert_allclose(same.directions, apart.directions, atol=1e-12)
        assert_allclose(same.history, apart.history, rtol=1e-12)


def test_batches_may_be_nested_lists():
    given = [batch.tolist() for batch in batches(2)]
    found, expected = (
        gradient_ascent(supply, np.eye(6), index="relu2", step_size=0.5, n_steps=2)
        for supply in (given, batches(2))
    )
    assert_array_equal(found.directions, expected.directions)


def test_a_start_without_direction_is_named():
    with pytest.raises(ValueError, match="directions: row 1 is zero, and has no direction"):
        gradient_ascent(
            batches(1), np.diag([1.0, 0, 1, 1, 1, 1]), index="relu2", step_size=1, n_steps=1
        )
