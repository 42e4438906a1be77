"""Geometry of the tour, in the browser's own arithmetic, against NumPy and SciPy."""

from importlib.resources import files

import numpy as np
import pytest
from scipy.linalg import subspace_angles


@pytest.fixture(scope="module")
def planes(browser):
    """Evaluates an expression over `argument` with the functions of planes.js."""
    source = (files("sightline.report") / "page" / "planes.js").read_text(encoding="utf-8")
    page = browser.new_page()

    def call(expression, argument):
        return page.evaluate(f"(argument) => {{ {source}\nreturn {expression}; }}", argument)

    yield call
    page.close()


def random_frame(rng, size):
    return np.linalg.qr(rng.standard_normal((size, 2)))[0].T


def is_frame(frame) -> bool:
    return np.allclose(np.array(frame) @ np.array(frame).T, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("size", [3, 4, 7])
@pytest.mark.parametrize("seed", range(4))
def test_a_geodesic_starts_here_ends_in_the_plane_and_is_as_long_as_the_angles(planes, size, seed):
    rng = np.random.default_rng(seed)
    here, there = random_frame(rng, size), random_frame(rng, size)
    way = planes(
        "(() => { const { length, at } = geodesic(...argument);"
        " return [length, at(0), at(0.5), at(1)]; })()",
        [here.tolist(), there.tolist()],
    )
    length, start, halfway, end = way
    angles = subspace_angles(here.T, there.T)
    assert length == pytest.approx(np.linalg.norm(angles), abs=1e-7)
    np.testing.assert_allclose(start, here, atol=1e-9)
    assert is_frame(halfway)
    assert is_frame(end)
    np.testing.assert_allclose(subspace_angles(np.array(end).T, there.T), 0, atol=1e-6)
    # Constant speed: half the way is half of every principal angle.
    np.testing.assert_allclose(subspace_angles(here.T, np.array(halfway).T), angles / 2, atol=1e-6)


def test_a_geodesic_to_where_it_is_has_no_length(planes):
    here = random_frame(np.random.default_rng(0), 4)
    length, halfway = planes(
        "(() => { const { length, at } = geodesic(argument, argument);"
        " return [length, at(0.5)]; })()",
        here.tolist(),
    )
    assert length == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(halfway, here, atol=1e-9)


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("goal", [(0.3, -0.5), (0.0, 0.0), (0.9, 0.1), (-0.7, 0.7)])
def test_turning_moves_the_shadow_of_a_vector_where_it_is_wanted(planes, size, goal):
    rng = np.random.default_rng(0)
    here = random_frame(rng, size)
    vector = rng.standard_normal(size)
    vector /= np.linalg.norm(vector)
    turned = np.array(planes("turnTowards(...argument)", [here.tolist(), vector.tolist(), *goal]))
    assert is_frame(turned)
    np.testing.assert_allclose(turned @ vector, goal, atol=1e-6)


def test_a_vector_in_the_plane_can_be_turned_out_of_it(planes):
    here = np.eye(4)[:2]
    turned = np.array(
        planes("turnTowards(...argument)", [here.tolist(), here[0].tolist(), 0.2, 0.1])
    )
    assert is_frame(turned)
    np.testing.assert_allclose(turned @ here[0], (0.2, 0.1), atol=1e-6)


def test_in_two_dimensions_turning_is_spinning(planes):
    here = np.eye(2)
    turned = np.array(planes("turnTowards(...argument)", [here.tolist(), [1, 0], 0.5, 0.5]))
    assert is_frame(turned)
    np.testing.assert_allclose(turned @ [1, 0], np.sqrt([0.5, 0.5]), atol=1e-9)


def test_the_seeded_numbers_are_uniform_and_repeat(planes):
    draw = "(() => { const next = seeded(1); return Array.from({ length: 20000 }, next); })()"
    numbers = np.array(planes(draw, None))
    np.testing.assert_array_equal(numbers, planes(draw, None))
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    # 1000 in each bin, give or take 31; chi-square with 19 degrees has mean 19, deviation 6.2.
    assert ((counts - 1000) ** 2 / 1000).sum() < 19 + 4 * 6.2
