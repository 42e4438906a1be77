import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sightline._arrays import namespace, to_numpy
from sightline.sphere import alignment, angle, normalise, random_directions, tangent

EPS = np.finfo(float).eps
LIMITS = {"allow_nan": False, "allow_infinity": False}


def vectors(largest=1e3, rows=3, columns=4):
    return arrays(float, (rows, columns), elements=st.floats(-largest, largest, **LIMITS))


def units(seed, count=3, dimension=4):
    return random_directions(count, dimension, np.random.default_rng(seed))


def rounding(values):
    """What a few roundings of numbers of this size come to, the smallest ones included."""
    return 16 * EPS * np.abs(values).max() + 1e-322


SEEDS = st.integers(0, 2**32)


class TestTangent:
    @given(seed=SEEDS, ambient=vectors())
    def test_it_is_orthogonal_to_its_direction(self, seed, ambient):
        u = units(seed)
        assert np.abs(np.sum(u * tangent(u, ambient), axis=1)).max() <= rounding(ambient)

    @given(seed=SEEDS, ambient=vectors())
    def test_what_is_tangent_already_stays(self, seed, ambient):
        u = units(seed)
        once = tangent(u, ambient)
        assert np.abs(tangent(u, once) - once).max() <= rounding(ambient)

    @given(seed=SEEDS)
    def test_it_is_the_projection_matrix_of_each_row(self, seed):
        u, g = units(seed), units(seed + 1)
        expected = np.stack([(np.eye(4) - np.outer(a, a)) @ b for a, b in zip(u, g, strict=True)])
        np.testing.assert_allclose(tangent(u, g), expected, atol=4 * EPS)

    @given(seed=SEEDS)
    def test_a_direction_has_no_part_tangent_to_itself(self, seed):
        u = units(seed)
        assert np.abs(tangent(u, 5 * u)).max() <= 20 * EPS


class TestNormalise:
    @given(rows=vectors(1e300), exponent=st.sampled_from([-300, -160, 0, 4]))
    def test_rows_get_length_one_or_stay_zero(self, rows, exponent):
        rows = rows * 10.0**exponent
        length = np.linalg.norm(normalise(rows), axis=1)
        np.testing.assert_allclose(length, np.any(rows != 0, axis=1), atol=4 * EPS)

    @given(rows=vectors(), exponent=st.integers(-990, 990))
    def test_the_scale_of_a_row_does_not_matter(self, rows, exponent):
        rows = np.rint(rows)  # powers of two then scale without rounding, and bits must agree
        np.testing.assert_array_equal(normalise(np.ldexp(rows, exponent)), normalise(rows))

    @pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300, np.finfo(float).max])
    def test_the_ends_of_the_range(self, size):
        np.testing.assert_allclose(normalise(np.array([size, -size])), np.array([1, -1]) / 2**0.5)

    def test_a_zero_row_stays_zero_beside_others(self):
        rows = normalise(np.array([[0.0, 0.0], [3.0, 4.0]]))
        np.testing.assert_allclose(rows, [[0.0, 0.0], [0.6, 0.8]], rtol=2 * EPS)

    @given(rows=vectors())
    def test_the_input_is_left_alone(self, rows):
        before = rows.copy()
        normalise(rows)
        np.testing.assert_array_equal(rows, before)


class TestAngles:
    @given(seed=SEEDS, other=SEEDS)
    def test_alignment_is_between_zero_and_one_and_blind_to_sign(self, seed, other):
        u, v = units(seed), units(other)
        assert np.all((alignment(u, v) >= 0) & (alignment(u, v) <= 1))
        np.testing.assert_array_equal(alignment(u, v), alignment(-u, v))
        np.testing.assert_array_equal(alignment(u, v), alignment(v, u))

    def test_rounding_does_not_carry_alignment_past_one(self):
        u = units(0, 1000, 7)
        assert np.max(np.sum(u * u, axis=1)) > 1  # else the next line would show nothing
        assert np.max(alignment(u, u)) == 1

    @given(exponent=st.floats(-150, -0.2))
    def test_tiny_angles_keep_their_digits(self, exponent):
        tilt = 10.0**exponent
        u, v = np.array([1.0, 0.0, 0.0]), np.array([np.cos(tilt), np.sin(tilt), 0.0])
        nearer = min(tilt, np.pi - tilt)
        np.testing.assert_allclose(angle(u, v), np.degrees(nearer), rtol=1e-14)

    @given(radians=st.floats(0, np.pi))
    def test_all_angles_between_lines(self, radians):
        u = np.array([1.0, 0.0])
        v = np.array([np.cos(radians), np.sin(radians)])
        expected = np.degrees(min(radians, np.pi - radians))
        assert abs(angle(u, v) - expected) <= 360 * EPS
        assert 0 <= angle(u, v) <= 90 + 180 * EPS

    @given(seed=SEEDS, other=SEEDS)
    def test_alignment_is_the_cosine_of_the_angle(self, seed, other):
        u, v = units(seed), units(other)
        np.testing.assert_allclose(alignment(u, v), np.cos(np.radians(angle(u, v))), atol=1e-15)

    def test_one_direction_against_many(self):
        many = np.eye(3)
        np.testing.assert_array_equal(alignment(many, many[0]), [1, 0, 0])
        np.testing.assert_allclose(angle(many, -many[0]), [0, 90, 90])


class TestRandomDirections:
    @given(seed=SEEDS, count=st.integers(1, 20), more=st.integers(0, 20))
    def test_row_i_does_not_depend_on_how_many_follow(self, seed, count, more):
        np.testing.assert_array_equal(units(seed, count), units(seed, count + more)[:count])

    def test_they_are_uniform(self):
        # E u u^T = I / d; each entry of the mean of n has a standard deviation of at most
        # sqrt(2 / (d (d + 2)) / n), which for d = 5, n = 40000 is 0.0012; five of them are 0.006.
        # E u = 0, with standard deviation sqrt(1 / (d n)) = 0.0022 each.
        u = units(0, 40_000, 5)
        np.testing.assert_allclose(np.linalg.norm(u, axis=1), 1, atol=4 * EPS)
        np.testing.assert_allclose(u.T @ u / 40_000, np.eye(5) / 5, atol=0.006)
        np.testing.assert_allclose(u.mean(axis=0), 0, atol=0.011)

    def test_none_is_a_number_of_directions_too(self):
        assert units(0, 0, 3).shape == (0, 3)

    def test_on_a_line_they_are_both_ends(self):
        assert set(units(0, 20, 1).ravel()) == {-1.0, 1.0}


def test_every_function_stays_in_its_library_and_dtype(xp):
    u = xp.asarray(units(1), dtype=xp.float32)
    v = xp.asarray(units(2), dtype=xp.float32)
    host_u, host_v = to_numpy(u).astype(float), to_numpy(v).astype(float)
    for function, first, second in [
        (tangent, u, v),
        (lambda a, b: normalise(a + b), u, v),
        (alignment, u, v),
        (angle, u, v),
    ]:
        result = function(first, second)
        assert (namespace(result), result.dtype) == (xp, xp.float32)
        np.testing.assert_allclose(
            to_numpy(result), function(host_u, host_v), rtol=1e-5, atol=1e-6
        )
