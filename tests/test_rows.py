"""Blocks of rows: every row once, in order, and the same sum however it is cut among threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from sightline import rows as module
from sightline._arrays import namespace, to_numpy
from sightline.rows import ROW_BLOCK, fold_rows, map_rows, row_block, row_blocks

SMALL = np.arange(12.0).reshape(4, 3)


@given(rows=st.integers(0, 5000), size=st.integers(1, 2000))
def test_every_row_is_in_one_block_in_its_order(rows, size):
    blocks = list(row_blocks(rows, size))
    assert [row for block in blocks for row in range(rows)[block]] == list(range(rows))
    assert all(block.stop - block.start == size for block in blocks[:-1])
    assert all(0 < block.stop - block.start <= size for block in blocks[-1:])


@given(rows=st.integers(1, 400), size=st.integers(1, 5))
def test_a_fold_takes_every_row_once_in_order(rows, size):
    X = np.arange(float(rows))[:, None]
    seen = fold_rows(lambda block: tuple(block[:, 0]), X, width=1, size=size)
    assert seen == tuple(range(rows))


def test_few_partial_sums_are_ever_held():
    X = np.zeros((module.ROW_BLOCK * 1000, 1))
    assert len(list(row_blocks(len(X)))) == 1000
    held = fold_rows(lambda block: Nesting(1), X, width=1)
    assert held.leaves == 1000
    assert held.width <= 64 + 16  # spans, and blocks within one of them


class Nesting:
    """Adds up, and remembers the longest run of additions onto one accumulator."""

    def __init__(self, leaves, width=1):
        self.leaves, self.width = leaves, width

    def __add__(self, other):
        return Nesting(self.leaves + other.leaves, max(self.width, other.width) + 1)


@pytest.mark.parametrize("rows", [1, ROW_BLOCK, 100 * ROW_BLOCK + 3])
def test_threads_change_no_bit_of_a_fold_or_a_map(rows):
    rng = np.random.default_rng(0)
    X, A = rng.standard_normal((rows, 30)), rng.standard_normal((30, 70))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            folded = fold_rows(lambda block: (block @ A).sum(axis=0), X, width=70)
            results.append((folded, map_rows(lambda block: block @ A, X, width=70)))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(results[0][1], X @ A, rtol=1e-12, atol=1e-12)


def test_a_map_over_blocks_is_a_map_over_the_whole(xp, monkeypatch):
    monkeypatch.setattr(module, "ROW_BLOCK", 3)
    table = xp.asarray(SMALL, dtype=xp.float32)
    mapped = map_rows(lambda block: block[:, :2] * 2, table, width=2)
    assert (namespace(mapped), mapped.dtype) == (xp, xp.float32)
    np.testing.assert_array_equal(to_numpy(mapped), SMALL[:, :2] * 2)


def test_a_device_takes_larger_blocks(monkeypatch):
    monkeypatch.setattr(module, "on_host", lambda X: False)
    assert row_block(SMALL) > 50 * ROW_BLOCK


@pytest.mark.parametrize("function", [fold_rows, map_rows])
def test_no_rows_is_an_error(function):
    with pytest.raises(ValueError, match="X has 0 rows"):
        function(lambda block: block, np.empty((0, 3)), width=3)
