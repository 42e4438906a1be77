"""The reduced simulations against planted rows, and the three conditions on known cases."""

import math

import numpy as np
import pytest
from scipy import stats

from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.indices import make_index
from sightline.sphere import normalise, tangent
from sightline.sums import index_gradients, index_values
from sightline.theory import Failures, FiniteLaw, check_conditions
from sightline.theory.simulation import draw_starts, draw_steps, draw_values

CLUSTERS = ImbalancedClusters(0.1)
SAME_LAW = 1e-4
"""Two samples of the same law are told apart once in ten thousand tests."""


def planted_direction(d, a):
    """u* = e_1 and u at alignment a in the plane of e_1 and e_2: rows are then nu, g, g, ..."""
    target, u = np.zeros(d), np.zeros(d)
    target[0], u[0], u[1] = 1, a, math.sqrt(1 - a * a)
    return target, u[None]


def rows(signal, n, d, rng):
    X = rng.standard_normal((n, d))
    X[:, 0] = signal.sample(n, rng)[0]
    return X


@pytest.mark.parametrize("name", ["relu2", "kurtosis", "abs", "approx-entropy"])
@pytest.mark.parametrize("d", [2, 20])
def test_a_drawn_step_has_the_law_of_a_step_on_rows(name, d):
    index, signal, rng = make_index(name), BernoulliRademacher(0.2), np.random.default_rng(0)
    target, u = planted_direction(d, 0.4)
    real = []
    for _ in range(400):
        g = tangent(u, index_gradients(index, u, rows(signal, 60, d, rng)))
        real.append((normalise(u + 0.5 * g) @ target)[0])
    drawn = draw_steps(index, signal, 0.4, n=60, d=d, step_size=0.5, trials=400, rng=rng)
    assert stats.ks_2samp(real, drawn).pvalue > SAME_LAW


def test_a_drawn_step_stays_at_the_planted_direction():
    drawn = draw_steps(
        make_index("relu2"),
        CLUSTERS,
        1.0,
        n=50,
        d=1,
        step_size=1.0,
        trials=5,
        rng=np.random.default_rng(0),
    )
    np.testing.assert_array_equal(drawn, 1)


@pytest.mark.parametrize("name", ["relu2", "dip"])
def test_a_drawn_value_has_the_law_of_values_on_rows(name):
    index, rng = make_index(name), np.random.default_rng(1)
    _, u = planted_direction(5, 0.7)
    real = [index_values(index, u, rows(CLUSTERS, 80, 5, rng))[0] for _ in range(300)]
    drawn = draw_values(index, CLUSTERS, 0.7, n=80, trials=300, rng=rng)
    assert stats.ks_2samp(real, drawn).pvalue > SAME_LAW


def test_drawn_starts_have_the_law_of_normalised_rows():
    X, target, _ = make_planted(3000, 30, CLUSTERS, random_state=2)
    drawn = draw_starts(CLUSTERS, 30, (3000, 1), np.random.default_rng(3))[:, 0]
    assert stats.ks_2samp(normalise(X) @ target, drawn).pvalue > SAME_LAW
    alone = draw_starts(CLUSTERS, 1, (4, 2), np.random.default_rng(3))
    np.testing.assert_array_equal(np.abs(alone), 1)


def check(index="relu2", signal=CLUSTERS, n=2000, d=64, **options):
    defaults = {"step_size": 1.0, "n_starts": 200, "n_steps": 10, "trials": 60, "random_state": 0}
    return check_conditions(index, signal, n, d, **{**defaults, **options})


def test_ample_rows_meet_all_three():
    found = check(n=10_000, interval=(0.3, 0.7), gap=0.3)
    assert found.start.count == found.step.count == found.threshold.count == 0
    assert found.failure_bound == 0
    assert found.start.upper == pytest.approx(1 - 0.025 ** (1 / 60))


def test_one_start_fails_as_often_as_a_row_is_not_of_the_rare_cluster():
    """P(start < a) by the chi-square law: nu = 3 with probability 0.1, else -1/3 and below a."""
    a, d, trials = 0.3, 64, 800
    below = 0.9 + 0.1 * stats.chi2.sf(9 * (1 / a**2 - 1), d - 1)
    found = check(n=5, n_starts=5, trials=trials, interval=(a, 0.5))
    expected = below**5
    error = math.sqrt(expected * (1 - expected) / trials)
    assert abs(found.start.rate - expected) < 4 * error


def test_an_even_index_may_start_on_either_side():
    law = BernoulliRademacher(0.05)
    even = check("kurtosis", law, n=5, n_starts=5, trials=300).start.rate
    odd = check("relu2", law, n=5, n_starts=5, trials=300).start.rate
    assert even < odd


def test_each_condition_fails_alone():
    """Few starts; too few rows for a step; too few rows to compare: which one is said."""
    few_starts = check(n=10_000, n_starts=1, interval=(0.3, 0.7), gap=0.3)
    assert few_starts.start.rate > 0.5
    assert few_starts.step.count == few_starts.threshold.count == 0
    few_rows = check(n=30, n_select=10_000, interval=(0.3, 0.7), gap=0.3)
    assert few_rows.step.rate > 0.5
    assert few_rows.start.count == few_rows.threshold.count == 0
    few_compared = check(n=10_000, n_select=20, interval=(0.3, 0.7), gap=0.3)
    assert few_compared.threshold.rate > 0.5
    assert few_compared.start.count == few_compared.step.count == 0


def test_a_step_beyond_the_stall_loses():
    """At eta = 1, n = 2000, d = 64 the predicted climb stalls under 0.95."""
    found = check(n=2000, interval=(0.5, 0.97), n_starts=None)
    assert found.start is None
    assert found.worst_step_at == pytest.approx(0.97)
    assert found.step.rate == 1
    assert found.failure_bound == 1


def test_default_interval_begins_at_a_row_of_the_rare_cluster():
    a = 0.9 * 3 / math.sqrt(9 + 63)
    assert check(n=50, trials=5).interval == pytest.approx((a, (1 + a) / 2))
    assert check(n=50, trials=5, d=2000).interval[1] == pytest.approx((1 + 2.7 / 2008**0.5) / 2)


def test_psi_chooses_the_threshold():
    found = check("kurtosis", BernoulliRademacher(0.1), n=4000, interval=(0.4, 0.8), gap=0.5)
    assert found.threshold_value < 0, "psi of kurtosis is -|t|"
    dip = check(n=1000, select="dip", interval=(0.4, 0.95), gap=0.6, trials=20)
    assert 0 < dip.threshold_value < 0.25


def test_text_has_a_line_for_each_condition():
    lines = str(check(trials=5, n=100)).splitlines()
    assert [line[:2] for line in lines[1:4]] == ["1.", "2.", "3."]
    assert "not asked" in str(check(trials=5, n=100, n_starts=None))


def test_upper_end_is_that_of_clopper_and_pearson():
    for count in (0, 3, 9):
        exact = stats.binomtest(count, 10).proportion_ci(0.95, method="exact").high
        assert Failures(count, 10).upper == pytest.approx(exact)
    assert Failures(10, 10).upper == 1


def test_same_seed_same_answer():
    assert check(n=100, random_state=5) == check(n=100, random_state=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": (0.5, 0.2)}, r"interval=\(0.5, 0.2\) must be two alignments with 0 < a"),
        ({"interval": (0.5, 1.2)}, r"interval=1.2 .*\[-1, 1\]"),
        ({"interval": 0.5}, "interval=0.5 must be two alignments"),
        ({"gap": 0.99, "interval": (0.2, 0.5)}, r"gap=0.99 .*\(0, 0.5\]"),
        ({"gain": -1}, "gain=-1"),
        ({"trials": 0}, "trials=0"),
        ({"n_starts": 0}, "n_starts=0"),
        ({"n_steps": 0}, "n_steps=0"),
        ({"n_select": 0}, "n_select=0"),
        ({"step_size": -1}, "step_size=-1"),
        ({"index": "dip"}, "'dip' has no slope"),
        ({"signal": FiniteLaw([-1.0, 0.0], [0.5, 0.5])}, "interval=None takes"),
    ],
)
def test_bad_values_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        check(**options)
