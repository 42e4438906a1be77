"""Rows that are read in runs: the bits of an array, each row checked, none held."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from sightline import ProjectionPursuit, resumable
from sightline._arrays import take_rows
from sightline.ascent import batches, one_run, two_step_gradient_ascent
from sightline.ascent.comparing import values_of_iterates
from sightline.datasets import make_planted
from sightline.indices import make_index
from sightline.lazy import ROW_BLOCK, UNIT, BlockRows, StoredRows, run_length, tree_sum
from sightline.rows import fold_rows, in_memory, map_rows, random_rows, row_blocks, spaced_rows
from sightline.scatter import SCATTER_BLOCK
from sightline.sphere import random_directions
from sightline.sums import index_values


class Reader:
    """Rows of an array, read on demand; remembers what was asked for."""

    def __init__(self, X):
        self.X, self.asked = X, []

    def __call__(self, start, stop):
        self.asked.append((start, stop))
        return self.X[start:stop]


def lazily(X, run_rows=UNIT, **options):
    read = Reader(X)
    rows = StoredRows(read, X.shape, X.dtype, **options)
    rows.run_rows = run_rows
    return rows, read.asked


def table(n=3 * UNIT + 77, d=5, dtype=np.float32):
    return make_planted(n, d, random_state=0)[0].astype(dtype)


@given(parts=st.integers(1, 300), power=st.integers(0, 6))
def test_a_tree_may_be_cut_at_any_power_of_two(parts, power):
    values = np.random.default_rng(parts).standard_normal(parts).astype(np.float32)
    nodes = [tree_sum(values[i : i + 2**power]) for i in range(0, parts, 2**power)]
    assert tree_sum(nodes) == tree_sum(values)
    assert tree_sum([(i,) for i in range(parts)]) == tuple(range(parts))


def test_sizes_of_blocks_divide_the_unit_and_runs_are_bounded():
    assert UNIT % ROW_BLOCK == UNIT % SCATTER_BLOCK == 0
    for columns in (1, 3, 100, 784, 10**5):
        rows = run_length(4 * columns)
        assert rows % UNIT == 0
        assert (rows // UNIT).bit_count() == 1
        assert rows * 4 * columns <= 2**24 or rows == UNIT


@pytest.mark.parametrize("run_rows", [UNIT, 2 * UNIT, 8 * UNIT])
@pytest.mark.parametrize("chunked", [False, True])
def test_folds_maps_and_takes_are_those_of_an_array(run_rows, chunked):
    X = table()
    A = np.random.default_rng(1).standard_normal((5, 40)).astype(np.float32)
    rows, _ = lazily(X, run_rows, chunked=chunked)
    positions = np.random.default_rng(2).integers(len(X), size=300)
    found = []
    for each in (X, rows):
        mapped = map_rows(lambda block: block @ A, each, width=40)
        again = map_rows(lambda block: block[:, :3] * 2, mapped, width=3)
        found.append(
            [
                fold_rows(lambda block: (block @ A).sum(axis=0), each, width=40),
                fold_rows(lambda block: block.sum(axis=0), again, width=40, size=SCATTER_BLOCK),
                in_memory(again),
                take_rows(mapped, positions),
                take_rows(again, positions),
                spaced_rows(again, 100),
                take_rows(each, positions[:0]),
            ]
        )
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_fold_reads_every_row_once_and_a_take_only_its_blocks():
    X = table()
    rows, asked = lazily(X)
    mapped = map_rows(lambda block: block * 2, rows, width=5)
    fold_rows(lambda block: block.sum(axis=0), mapped, width=5)
    assert sum(stop - start for start, stop in asked) == len(X)
    asked.clear()
    for _ in range(2):  # the second time it is remembered
        np.testing.assert_array_equal(take_rows(mapped, np.array([7, 9000])), 2 * X[[7, 9000]])
    assert sum(stop - start for start, stop in asked) == 2 * ROW_BLOCK


def test_some_blocks_are_a_table_of_their_own():
    X = table()
    rows, _ = lazily(X)
    some = BlockRows(map_rows(lambda block: block * 2, rows, width=5), np.array([1, 4, 20]))
    expected = np.concatenate([2 * X[block] for block in row_blocks(len(X))][1:21])
    expected = expected.reshape(20, ROW_BLOCK, 5)[[0, 3, 19]].reshape(-1, 5)
    np.testing.assert_array_equal(in_memory(some), expected)
    np.testing.assert_array_equal(take_rows(some, np.array([600, 3])), expected[[600, 3]])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_named_with_its_row(value):
    X = table()
    X[9001, 3] = value
    rows, _ = lazily(X, columns=list("abcde"))
    with pytest.raises(ValueError, match=r"column 'd' at row 9001 \(1 such"):
        in_memory(rows)


@pytest.mark.parametrize(("n", "count"), [(50, 50), (50, 7), (2**20 + 5, 1000)])
def test_random_rows_are_distinct_and_do_not_depend_on_how_many_follow(n, count):
    drawn = random_rows(n, count, np.random.default_rng(0))
    assert len(set(drawn.tolist())) == count
    assert 0 <= drawn.min() <= drawn.max() < n
    few = random_rows(n, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(few, drawn[:5])


def test_many_random_rows_are_uniform(monkeypatch):
    monkeypatch.setattr("sightline.rows.WHOLE_ORDER", 1)
    rng = np.random.default_rng(0)
    orders = np.array([random_rows(4, 4, rng) for _ in range(4000)])
    counts = np.array([np.bincount(column, minlength=4) for column in orders.T])
    assert np.all(np.abs(counts - 1000) < 5 * np.sqrt(4000 * 3 / 16))


def test_fresh_batches_of_many_rows_are_whole_blocks_that_no_two_share(monkeypatch):
    monkeypatch.setattr(batches, "_DRAWN", 1)
    X = np.arange(40.0 * ROW_BLOCK + 9)[:, None]
    fresh = batches.FreshRows(X, 3, 4 * ROW_BLOCK + 100, 4, np.random.default_rng(0))
    assert fresh.size == 4 * ROW_BLOCK
    seen = []
    for run in (0, 1):
        rows, parts = fresh.run(run)
        parts = [in_memory(part) for part in parts]
        assert [len(part) for part in parts] == [fresh.size] * 4
        np.testing.assert_array_equal(np.sort(np.concatenate(parts), axis=0), in_memory(rows))
        seen += parts
    assert len(np.unique(np.concatenate(seen))) == 8 * fresh.size
    assert all(np.ptp(part) > 0.6 * len(X) for part in seen)  # spread over the whole table


@pytest.mark.parametrize("drawn", [2**26, 1])
@pytest.mark.parametrize("resample", ["fresh", "replace", "full"])
def test_algorithm_2_has_the_same_bits_on_lazy_rows(resample, drawn, monkeypatch):
    monkeypatch.setattr(batches, "_DRAWN", drawn)
    X = table(n=5 * UNIT)
    options = {"n_starts": 12, "n_steps": 2, "resample": resample, "random_state": 0}
    one = two_step_gradient_ascent(X, index="relu2", **options)
    two = two_step_gradient_ascent(lazily(X)[0], index="relu2", **options)
    np.testing.assert_array_equal(one.directions, two.directions)
    np.testing.assert_array_equal(one.history, two.history)


def passes(asked, n):
    return sum(stop - start for start, stop in asked) / n


@pytest.mark.parametrize(("resample", "expected"), [("full", 11), ("fresh", 6.5), ("replace", 11)])
def test_a_fit_by_two_steps_reads_the_rows_a_counted_number_of_times(
    resample, expected, monkeypatch
):
    """Always: whitening, whether it is settled, exact values; and 3 steps in each of two runs.

    "full": 3 + 2 (1 + 3). "fresh": 3, the batches, which are a sixth each, every iterate of half
    of the blocks in one reading of all, the last values on all rows; 3 + 1 + 2 + 1 at the most.
    "replace": 3 + 2 (3 + 1): rows drawn from everywhere read everything.
    """
    monkeypatch.setattr(batches, "_DRAWN", 1)
    n = 64 * UNIT
    X = np.random.default_rng(0).standard_normal((n, 4), dtype=np.float32)
    rows, asked = lazily(X, 4 * UNIT)
    pursuit = ProjectionPursuit(
        solver="two-step", resample=resample, n_starts=5, n_steps=3, random_state=0
    )
    pursuit.fit(rows)
    assert abs(passes(asked, n) - expected) < 0.6


@pytest.mark.parametrize("index", ["relu2", "approx-entropy", "abs", "dip"])
def test_iterates_compared_at_once_have_the_bits_of_each_alone(index):
    X = table(n=2 * UNIT + 600)
    rows, asked = lazily(X)
    psi = make_index(index)
    rng = np.random.default_rng(0)
    iterates = [random_directions(7, 5, rng).astype(np.float32) for _ in range(4)]
    found = values_of_iterates(psi, iterates, rows)
    for u, values in zip(iterates, found, strict=True):
        np.testing.assert_array_equal(values, index_values(psi, u, X))
    if not psi.whole_sample:
        assert passes(asked, len(X)) == 1


def test_iterates_that_take_too_much_memory_are_compared_before_the_end(monkeypatch):
    X = table(n=5 * UNIT)
    options = {"n_starts": 12, "n_steps": 4, "resample": "replace", "random_state": 0}
    at_the_end = two_step_gradient_ascent(lazily(X)[0], index="relu2", **options)
    monkeypatch.setattr(one_run, "MOST_HELD", 2 * 12 * 5)
    two_at_a_time = two_step_gradient_ascent(lazily(X)[0], index="relu2", **options)
    np.testing.assert_array_equal(at_the_end.history, two_at_a_time.history)
    np.testing.assert_array_equal(at_the_end.directions, two_at_a_time.directions)


@pytest.mark.parametrize("death", [1, 3, 5])
def test_iterates_that_waited_when_a_search_was_killed_are_compared_by_the_next(tmp_path, death):
    X = table(n=5 * UNIT)
    options = {"n_starts": 12, "n_steps": 3, "resample": "replace", "random_state": 0}
    expected = two_step_gradient_ascent(X, index="relu2", **options)
    seen = []

    def dies(*step):
        seen.append(step)
        if len(seen) == death:
            raise InterruptedError

    path = tmp_path / "search.checkpoint"
    with pytest.raises(InterruptedError), resumable(path, every=1, progress=dies):
        two_step_gradient_ascent(lazily(X)[0], index="relu2", **options)
    with resumable(path, every=1):
        found = two_step_gradient_ascent(lazily(X)[0], index="relu2", **options)
    np.testing.assert_array_equal(found.history, expected.history)
    np.testing.assert_array_equal(found.directions, expected.directions)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_blocks_as_a_table_are_read_on_threads_with_the_same_bits(threads):
    X = table(n=40 * ROW_BLOCK)
    rows, _ = lazily(X)
    some = BlockRows(map_rows(lambda block: block * 2, rows, width=5), np.arange(0, 40, 2))
    some._at_once = 2
    with threadpool_limits(threads):
        found = in_memory(some)
        total = fold_rows(lambda block: block.sum(axis=0), some, width=5)
    expected = np.concatenate([2 * X[b] for b in list(row_blocks(len(X)))[::2]])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        total, fold_rows(lambda block: block.sum(axis=0), expected, width=5)
    )
