import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.indices import Abs, LogCosh


class TestLogCosh:
    @given(t=st.floats(-700, 700), scale=st.floats(1e-3, 1.0), sign=st.sampled_from([-1, 1]))
    def test_it_is_the_logarithm_of_the_hyperbolic_cosine(self, t, scale, sign):
        # By log1p(2 sinh^2(x / 2)), exact near zero, where log(cosh(x)) has no digits.
        expected = sign * np.log1p(2 * np.sinh(scale * t / 2) ** 2) / scale
        value = LogCosh(sign, scale).value(np.array([t]), np)[0]
        np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-15 * abs(t) + 1e-300)

    def test_a_large_scale_is_the_absolute_value(self):
        t = np.linspace(-2, 2, 9)
        np.testing.assert_allclose(LogCosh(1, 1e6).value(t, np), np.abs(t), atol=1e-6)
        np.testing.assert_array_equal(LogCosh(-1, 1e6).slope(t, np), Abs().slope(t, np))

    @pytest.mark.parametrize("sign", [0, 2, "1", None, -1.5])
    def test_its_sign_is_one_or_minus_one(self, sign):
        with pytest.raises(ValueError, match=rf"sign={sign!r} must be -1 .* or 1"):
            LogCosh(sign=sign)

    @pytest.mark.parametrize("scale", [0, -1, 1e-4, 1e7, np.inf, np.nan])
    def test_its_scale_has_a_range(self, scale):
        with pytest.raises(ValueError, match=rf"scale={scale!r} must be .* \[0.001, 1e\+06\]"):
            LogCosh(scale=scale)
