"""Steps that JAX compiles, and indices that it cannot."""

import numpy as np
import pytest

from sightline.indices import make_index
from sightline.sums import index_gradients

jax = pytest.importorskip("jax")


class Welsch:
    def value_slope(self, t, xp):
        bell = xp.exp(-0.5 * t * t)
        return -bell, t * bell


class Looks(Welsch):
    """Looks at the numbers themselves, which are not there while JAX compiles."""

    def value_slope(self, t, xp):
        return super().value_slope(t, xp) if float(xp.max(t)) > 0 else (t, t)


class Unhashable(Welsch):
    step_sizes = [1.0, 0.2]  # noqa: RUF012


@pytest.mark.parametrize("written", [Welsch, Looks, Unhashable])
def test_every_index_has_its_gradient(written):
    index = make_index(written())
    X = np.random.default_rng(0).standard_normal((600, 4), dtype=np.float32)
    u = np.eye(4, dtype=np.float32)
    expected = index_gradients(index, u, X)
    for _ in range(2):
        got = index_gradients(index, jax.numpy.asarray(u), jax.numpy.asarray(X))
        np.testing.assert_allclose(np.asarray(got), expected, atol=1e-6)
