"""What a step costs, in counts: products, rows, memory."""

import tracemalloc

import numpy as np
from threadpoolctl import threadpool_limits

from sightline.indices import Abs, ApproxEntropy, Kurtosis, LogCosh, ReLU2
from sightline.kernels import host
from sightline.kernels.buffers import Buffers
from sightline.rows import ROW_BLOCK
from sightline.sphere import random_directions
from sightline.sums import index_gradients, index_values


def table(rows=4 * ROW_BLOCK, columns=40, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns), dtype=np.float32)


def starts(count=100, columns=40):
    return random_directions(count, columns, np.random.default_rng(1)).astype(np.float32)


def flops(monkeypatch, task):
    """Return the multiply-adds of all products while `task` runs."""
    counted, product = [], np.matmul

    def counting(a, b, **options):
        counted.append(a.shape[0] * a.shape[1] * b.shape[1])
        return product(a, b, **options)

    monkeypatch.setattr(host.np, "matmul", counting)
    task()
    monkeypatch.undo()
    return sum(counted)


def test_a_gradient_is_two_products_and_a_value_is_one(monkeypatch):
    X, u = table(), starts()
    one = X.size * len(u)
    assert flops(monkeypatch, lambda: index_gradients(ReLU2(), u, X)) == 2 * one
    assert flops(monkeypatch, lambda: index_values(ReLU2(), u, X)) == one
    # Two features share the scores.
    assert flops(monkeypatch, lambda: index_gradients(ApproxEntropy(), u, X)) == 3 * one


def test_a_second_step_allocates_no_scores():
    X, u = table(), starts(400)
    scores = ROW_BLOCK * len(u) * 4
    for index in (ReLU2(), Abs(), Kurtosis(), LogCosh()):
        with threadpool_limits(1, user_api="blas"):
            index_gradients(index, u, X)
            tracemalloc.start()
            index_gradients(index, u, X)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 0.5 * scores, index


def test_results_of_two_steps_share_no_memory():
    X, u = table(), starts()
    first = index_gradients(ReLU2(), u, X)
    kept = first.copy()
    second = index_gradients(Kurtosis(), u, X)
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, kept)


def test_buffers_come_back_and_are_bounded():
    buffers = Buffers()
    first = buffers.take((3, 4), np.float32)
    assert buffers.take((3, 4), np.float32) is not first
    buffers.give(first)
    assert buffers.take((3, 4), np.float64) is not first
    assert buffers.take((3, 4), np.float32) is first
    large = [np.empty(2**24, np.uint8) for _ in range(6)]
    for array in large:
        buffers.give(array)
    assert buffers._kept <= 2**26
    assert buffers.take((2**24,), np.uint8) is large[-1]
    buffers.give(np.empty(2**26 + 1, np.uint8))
    assert buffers._kept == 0


def test_gradients_are_laid_out_by_rows_in_the_dtype_of_the_data():
    for index in (ReLU2(), ApproxEntropy()):
        for dtype in (np.float32, np.float64):
            gradient = index_gradients(index, starts().astype(dtype), table().astype(dtype))
            assert gradient.dtype == dtype
            assert gradient.flags.c_contiguous
            assert gradient.flags.owndata


def test_directions_and_rows_of_two_dtypes():
    X, u = table(), starts()
    exact = index_gradients(ReLU2(), u.astype(float), X.astype(float))
    mixed = index_gradients(ReLU2(), u.astype(float), X)
    assert mixed.dtype == np.float32
    np.testing.assert_allclose(mixed, exact, atol=1e-6)
