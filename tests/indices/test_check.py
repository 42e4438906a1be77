"""A slope that is not the derivative of its value is found, and named with its place."""

import numpy as np
import pytest

from sightline.indices import ApproxEntropy, Dip, Index, make_index


class TestWrongDerivatives:
    def check(self, value_slope, **declared):
        written = type("Written", (), {"value_slope": staticmethod(value_slope), **declared})()
        return make_index(written, check=True)

    def test_a_wrong_slope_is_named_with_its_place(self):
        message = "index Written: slope is -9.3 at -3.1, but value rises there at a rate of -6.2;"
        with pytest.raises(ValueError, match=message):
            self.check(lambda t, xp: (t * t, 3 * t))

    def test_a_slope_off_by_a_part_in_a_thousand_is_found(self):
        with pytest.raises(ValueError, match=r"slope is -6\.2062 at -3\.1, but .* rate of -6\.2;"):
            self.check(lambda t, xp: (t * t, 2.002 * t))

    def test_a_slope_wrong_on_one_side_is_found_there(self):
        with pytest.raises(ValueError, match=r"slope is 1 at 1\.1, but .* rate of 0\.5"):
            self.check(lambda t, xp: (0.5 * abs(t), np.where(t > 1.05, 1.0, 0.5 * np.sign(t))))

    def test_a_slope_that_is_no_number_is_wrong(self):
        with pytest.raises(ValueError, match="slope is nan"):
            self.check(lambda t, xp: (t, t / np.where(t > 0, np.nan, np.nan)))

    def test_any_slope_between_both_sides_of_a_kink_is_right(self):
        for at_kink in (-1, 0, 0.5, 1):
            self.check(lambda t, xp, k=at_kink: (abs(t), np.where(abs(t) < 1e-9, k, np.sign(t))))
        with pytest.raises(ValueError, match=r"slope is 1\.5"):
            self.check(lambda t, xp: (abs(t), np.where(abs(t) < 1e-9, 1.5, np.sign(t))))

    def test_the_second_feature_is_looked_at_too(self):
        with pytest.raises(ValueError, match=r"slope is 3\.1 at -3\.1, but .* rate of -6\.2"):
            self.check(
                lambda t, xp: (np.stack((t, t * t)), np.stack((np.ones_like(t), -t))),
                n_features=2,
                combine=lambda self, means, xp: means[0] + means[1],
                weights=lambda self, means, xp: np.ones_like(means),
            )

    def test_wrong_weights_are_named_with_their_place(self):
        class Wrong(ApproxEntropy):
            def weights(self, means, xp):
                return 2 * super().weights(means, xp)

        message = r"weights is 1\.2 at 0\.3, but combine rises there at a rate of 0\.6"
        with pytest.raises(ValueError, match=message):
            make_index(Wrong(), check=True)

    def test_two_features_without_a_combination_are_refused(self):
        class Undeclared(Index):
            n_features = 2

            def value_slope(self, t, xp):
                return xp.stack((t, t)), xp.stack((t, t))

        with pytest.raises(TypeError, match=r"lacks combine\(means, xp\), weights\(means, xp\)\."):
            make_index(Undeclared())

    @pytest.mark.parametrize(
        ("value_slope", "got"),
        [
            (lambda t, xp: (1.0, 2.0), r"\(\)"),
            (lambda t, xp: (t[:-1], t[:-1]), r"\(64,\)"),
            (lambda t, xp: (t[:, None], t[:, None]), r"\(65, 1\)"),
            (lambda t, xp: (np.stack((t, t)), np.stack((t, t))), r"\(2, 65\)"),
        ],
    )
    def test_values_of_another_shape_are_named(self, value_slope, got):
        with pytest.raises(ValueError, match=rf"shape \(65,\) have shape {got}; .*n_features=1"):
            self.check(value_slope)

    def test_what_has_no_slope_has_nothing_to_check(self):
        assert make_index("dip", check=True) == Dip()
