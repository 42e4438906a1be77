"""Values of a table and slopes on rows drawn from it: the same as from two calls, one product."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sightline.drawn import DrawnRows, are_drawn_from, as_array, draw
from sightline.indices import Abs, AbsMax, ApproxEntropy, Dip, Kurtosis, LogCosh, ReLU2
from sightline.kernels import host
from sightline.lazy import StoredRows
from sightline.rows import ROW_BLOCK
from sightline.sphere import random_directions
from sightline.sums import drawn_gradients, index_gradients, index_values, values_and_gradients

ROWS, COLUMNS = 3 * ROW_BLOCK + 70, 12


def table(dtype=np.float64):
    return np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(dtype)


def starts(count, dtype=np.float64):
    return random_directions(count, COLUMNS, np.random.default_rng(1)).astype(dtype)


def drawn(X, size=400, rows=ROWS):
    return draw(X, np.random.default_rng(2).integers(rows, size=size))


def test_a_batch_is_its_rows_in_the_order_drawn():
    X = table()
    batch = draw(X, np.array([5, 700, 5, 0]))
    assert (batch.ndim, batch.shape) == (2, (4, COLUMNS))
    np.testing.assert_array_equal(as_array(batch), X[[5, 700, 5, 0]])
    assert as_array(X) is X
    assert are_drawn_from(batch, X)
    assert not any(are_drawn_from(other, X) for other in (X, X[:5], None, drawn(X.copy())))


@pytest.mark.parametrize("rows", [10, 10**6])  # counted, and sorted
def test_each_row_is_there_once_with_how_often(rows):
    X = np.broadcast_to(np.float32(1), (rows, 2))
    batch = DrawnRows(X, np.array([7, 3, 7, 7, 0]))
    assert batch.distinct.tolist() == [0, 3, 7]
    assert batch.times.tolist() == [1, 1, 3]
    assert batch.times.dtype == np.float32
    assert batch.inside(slice(3, 7)) == slice(1, 2)
    assert batch.inside(slice(4, 7)) == slice(2, 2)


@pytest.mark.parametrize("count", [1, 7, 600])  # 600 starts are two pieces
@pytest.mark.parametrize("size", [1, 400, 9000])  # blocks without a row, and every row many times
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_the_value_of_all_and_the_gradient_of_the_batch(count, size, dtype):
    X, u = table(dtype), starts(count, dtype)
    batch = drawn(X, size)
    values, gradients = values_and_gradients(LogCosh(), Kurtosis(), u, X, batch)
    rows = as_array(batch).astype(float)
    tolerance = 3e-5 if dtype == np.float32 else 1e-11
    exact = index_gradients(Kurtosis(), u.astype(float), rows)
    np.testing.assert_array_equal(values, index_values(LogCosh(), u, X))
    np.testing.assert_allclose(gradients, exact, atol=tolerance * np.abs(exact).max())
    assert gradients.dtype == dtype


@pytest.mark.parametrize(
    ("psi", "phi"),
    [(Dip(), ReLU2()), (Abs(), ApproxEntropy()), (ApproxEntropy(), ApproxEntropy())],
)
def test_what_cannot_share_scores_comes_from_two_calls(psi, phi):
    X, u = table(), starts(3)
    batch = drawn(X)
    values, gradients = values_and_gradients(psi, phi, u, X, batch)
    np.testing.assert_array_equal(values, index_values(psi, u, X))
    np.testing.assert_array_equal(gradients, index_gradients(phi, u, as_array(batch)))


def test_an_index_of_several_means_may_choose():
    X, u = table(), starts(3)
    values, gradients = values_and_gradients(ApproxEntropy(), ReLU2(), u, X, drawn(X))
    np.testing.assert_array_equal(values, index_values(ApproxEntropy(), u, X))
    exact = index_gradients(ReLU2(), u, as_array(drawn(X)))
    np.testing.assert_allclose(gradients, exact, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [5, 600])
def test_lazy_rows_and_threads_change_no_bit(dtype, count):
    X, u = table(dtype), starts(count, dtype)
    stored = StoredRows(lambda start, stop: X[start:stop], X.shape, X.dtype)
    found = []
    for rows, threads in ((X, 1), (X, 2), (X, 4), (stored, 1), (stored, 2)):
        with threadpool_limits(threads, user_api="blas"):
            found.append(values_and_gradients(AbsMax(), ReLU2(), u, rows, drawn(rows)))
    for values, gradients in found[1:]:
        np.testing.assert_array_equal(values, found[0][0])
        np.testing.assert_array_equal(gradients, found[0][1])


def test_gradients_alone_have_the_same_bits():
    X, u = table(), starts(7)
    _, gradients = values_and_gradients(AbsMax(), ReLU2(), u, X, drawn(X))
    np.testing.assert_array_equal(drawn_gradients(AbsMax(), ReLU2(), u, drawn(X)), gradients)


def test_one_product_with_the_table_and_one_with_the_rows_drawn(monkeypatch):
    counted, product = [], np.matmul

    def counting(a, b, **options):
        counted.append(a.shape[0] * a.shape[1] * b.shape[1])
        return product(a, b, **options)

    X, u = table(), starts(20)
    batch = drawn(X)
    monkeypatch.setattr(host.np, "matmul", counting)
    values_and_gradients(ReLU2(), ReLU2(), u, X, batch)
    assert len(batch.distinct) < 400
    assert sum(counted) == (ROWS + len(batch.distinct)) * COLUMNS * len(u)
