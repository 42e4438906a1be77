"""Formulas: read, refused, and the same as the methods of the index that declares them."""

import numpy as np
import pytest

from sightline.indices import INDICES, Index, LogCosh, ReLU2, make_index
from sightline.indices.formulas import evaluate, parse

CLIMBING = [kind() for kind in INDICES.values() if not kind.whole_sample]
T = np.linspace(-4, 4, 81)


@pytest.mark.parametrize("index", [*CLIMBING, LogCosh(1, scale=3)], ids=repr)
def test_every_registered_index_that_climbs_has_formulas_that_say_the_same(index):
    assert len(index.formulas) == index.n_features
    value, slope = (np.reshape(part, (-1, T.size)) for part in index.value_slope(T, np))
    for (of_value, of_slope), v, s in zip(index.formulas, value, slope, strict=True):
        np.testing.assert_allclose(evaluate(of_value, T, np), v, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(evaluate(of_slope, T, np), s, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("-t", -T),
        ("1 - t / 2", 1 - T / 2),
        ("maximum(t, 0.0) * minimum(t, 1)", np.maximum(T, 0) * np.minimum(T, 1)),
        ("sqrt(1 + t * t)", np.sqrt(1 + T * T)),
        ("log(1 + exp(t)) + abs(t)", np.log1p(np.exp(T)) + np.abs(T)),
    ],
)
def test_a_formula_is_its_value(formula, value):
    np.testing.assert_allclose(evaluate(formula, T, np), value, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "formula",
    ["t ** 3", "x", "sin(t)", "t.real", "__import__('os')", "maximum(t)", "'t'", "True",
     "t if t else 0", "abs(t, t)", "tanh(x=t)", "[t]", "t < 0"],
)  # fmt: skip
def test_nothing_else_is_accepted(formula):
    with pytest.raises(ValueError, match="a formula is made of the score t, numbers"):
        parse(formula)


def test_what_is_no_expression_says_so():
    with pytest.raises(ValueError, match=r"formula 't \+' is no expression"):
        parse("t +")


def test_a_check_compares_them():
    class Wrong:
        formulas = (("t * t", "3 * t"),)

        def value_slope(self, t, xp):
            return t * t, 2 * t

    with pytest.raises(ValueError, match=r"slope is -6\.2 at -3\.1, .* '3 \* t' is -9\.3"):
        make_index(Wrong(), check=True)
    Wrong.formulas = (("t * t", "2 * t"),) * 2
    with pytest.raises(ValueError, match=r"has 2 formulas; it needs a pair .* its 1 features"):
        make_index(Wrong(), check=True)


def test_a_subclass_with_its_own_slope_has_no_formulas_of_its_parent():
    class Doubled(ReLU2):
        def slope(self, scores, xp):
            return 2 * super().slope(scores, xp)

    assert Doubled.formulas == Index.formulas == ()
    assert ReLU2.formulas
