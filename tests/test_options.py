import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline._options import as_generator, check_choice, check_count, check_flag, check_number


def raises(kind, *parts):
    """Expect an error whose message has all parts: the option, the value got, what is accepted."""
    return pytest.raises(kind, match="".join(f"(?=.*{re.escape(part)})" for part in parts))


class TestChoice:
    def test_an_accepted_name_comes_back(self):
        assert check_choice("whiten", np.str_("pca"), ["pca", "none"]) == "pca"

    @pytest.mark.parametrize("got", ["PCA", "", "p", None, 1, ["pca"], {"pca"}, b"pca"])
    def test_anything_else_is_named_beside_what_is_accepted(self, got):
        with raises(ValueError, f"whiten={got!r}", "'pca'", "'none'"):
            check_choice("whiten", got, {"pca": 1, "none": 2})


class TestCount:
    @given(count=st.integers(1, 10**30))
    def test_whole_numbers_come_back_as_they_are(self, count):
        assert check_count("n_steps", count) == count

    @pytest.mark.parametrize("kind", [np.int8, np.uint64, np.int32])
    def test_integers_of_numpy_become_ints(self, kind):
        assert type(check_count("n_steps", kind(3))) is int

    def test_both_ends_are_accepted(self):
        assert check_count("k", 0, at_least=0, at_most=4) == 0
        assert check_count("k", 4, at_least=0, at_most=4) == 4

    @pytest.mark.parametrize("got", [True, np.False_, 2.0, np.float64(2), "2", None, [2], 2 + 0j])
    def test_what_is_no_whole_number_is_a_type_error(self, got):
        with raises(TypeError, f"n_steps={got!r}", "a whole number of at least 1"):
            check_count("n_steps", got)

    @given(got=st.integers().filter(lambda k: not 2 <= k <= 7))
    def test_out_of_range_is_a_value_error(self, got):
        with raises(ValueError, f"k={got!r}", "a whole number from 2 to 7"):
            check_count("k", got, at_least=2, at_most=7)

    def test_too_few_without_an_upper_end(self):
        with raises(ValueError, "k=-1", "a whole number of at least 0"):
            check_count("k", -1, at_least=0)


class TestNumber:
    @given(number=st.floats(allow_nan=False, allow_infinity=False))
    def test_finite_numbers_come_back(self, number):
        assert check_number("p", number) == number

    @pytest.mark.parametrize("got", [2, np.float32(2), np.int64(2), Fraction(2)])
    def test_other_kinds_of_number_become_floats(self, got):
        assert type(check_number("p", got)) is float

    @given(
        number=st.sampled_from([-0.5, 0.0, 0.25, 1.0, 1.5]),
        open_low=st.booleans(),
        open_high=st.booleans(),
    )
    def test_the_interval_in_the_message_is_the_one_that_holds(self, number, open_low, open_high):
        interval = f"{'[('[open_low]}0, 1{'])'[open_high]}"
        inside = {0.0: not open_low, 0.25: True, 1.0: not open_high}.get(number, False)
        options = {"low": 0, "high": 1, "open_low": open_low, "open_high": open_high}
        if inside:
            assert check_number("p", number, **options) == number
        else:
            with raises(ValueError, f"p={number}", interval):
                check_number("p", number, **options)

    @pytest.mark.parametrize(
        "got", [math.nan, math.inf, -math.inf, 10**400, -(10**400), Fraction(10) ** 400]
    )
    def test_what_is_not_finite_or_beyond_every_float(self, got):
        with raises(ValueError, f"p={got!r}", "a finite number in (-inf, inf)"):
            check_number("p", got)

    @pytest.mark.parametrize("got", [True, np.True_, "0.5", None, [0.5], 1j, np.ones(1)])
    def test_what_is_no_number_is_a_type_error(self, got):
        with raises(TypeError, f"p={got!r}", "a number in (0, inf)"):
            check_number("p", got, low=0, open_low=True)


class TestFlag:
    @pytest.mark.parametrize("got", [True, False, np.True_, np.False_])
    def test_true_and_false(self, got):
        assert check_flag("verbose", got) is bool(got)

    @pytest.mark.parametrize("got", [0, 1, "yes", None, 1.0, []])
    def test_nothing_else(self, got):
        with raises(TypeError, f"verbose={got!r}", "True or False"):
            check_flag("verbose", got)


class TestGenerator:
    @given(seed=st.integers(0, 2**128))
    def test_one_seed_gives_one_stream(self, seed):
        first, again = as_generator(seed), as_generator(seed)
        assert first.integers(2**63) == again.integers(2**63)

    def test_a_seed_is_numpys_own(self):
        same = np.random.default_rng(7).integers(2**63)
        assert as_generator(np.int32(7)).integers(2**63) == same

    def test_a_generator_is_used_not_copied(self):
        rng = np.random.default_rng(0)
        assert as_generator(rng) is rng

    def test_none_is_fresh_each_time(self):
        assert as_generator(None).integers(2**63) != as_generator(None).integers(2**63)

    def test_a_legacy_state_is_advanced_and_reproducible(self):
        legacy, again = np.random.RandomState(3), np.random.RandomState(3)
        first, second = as_generator(legacy).integers(2**63), as_generator(legacy).integers(2**63)
        assert first != second
        assert first == as_generator(again).integers(2**63)

    @pytest.mark.parametrize("got", ["x", 1.5, True, [1], np.array(3.0)])
    def test_what_is_no_seed_is_a_type_error(self, got):
        with raises(TypeError, f"random_state={got!r}", "of at least 0", "Generator", "None"):
            as_generator(got)

    def test_a_negative_seed_is_a_value_error(self):
        with raises(ValueError, "random_state=-1", "of at least 0", "Generator", "None"):
            as_generator(-1)
