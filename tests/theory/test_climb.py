"""The predicted climb against runs on planted rows, and its fixed points."""

import math

import numpy as np
import pytest

from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.indices import make_index
from sightline.sphere import normalise, random_directions, tangent
from sightline.sums import index_gradients
from sightline.theory import FiniteLaw, data_start_alignment, predicted_climb
from sightline.theory.climb import make_step

CASES = [
    ("relu2", ImbalancedClusters(0.05), 2.0, 0.35),
    ("relu2", ImbalancedClusters(0.05), 0.5, 0.35),
    ("kurtosis", BernoulliRademacher(0.1), 0.1, 0.5),
    ("abs", BernoulliRademacher(0.1), 0.5, 0.4),
    ("approx-entropy", ImbalancedClusters(0.1), 0.02, 0.5),
]


def climb_planted_rows(index, signal, start, *, n, d, eta, n_steps, rng):
    """Alignments of one run on fresh planted rows, from a direction of the given alignment."""
    X, target, _ = make_planted(n * n_steps, d, signal, random_state=rng)
    drawn = random_directions(1, d, rng)[0]
    side = normalise(drawn - (drawn @ target) * target)
    u = (start * target + math.sqrt(1 - start**2) * side)[None]
    alignments = [start]
    for batch in X.reshape(n_steps, n, d):
        u = normalise(u + eta * tangent(u, index_gradients(index, u, batch)))
        alignments.append(float(u[0] @ target))
    return alignments


@pytest.mark.parametrize(("name", "signal", "eta", "start"), CASES)
def test_prediction_is_the_mean_of_runs(name, signal, eta, start):
    """Within 4 standard errors of 12 runs, and 0.02 for what fluctuations add on average.

    Measured: the largest distance beyond 4 standard errors is 0.
    """
    n, d, n_steps = 2000, 100, 8
    rng = np.random.default_rng(0)
    runs = np.array(
        [
            climb_planted_rows(
                make_index(name), signal, start, n=n, d=d, eta=eta, n_steps=n_steps, rng=rng
            )
            for _ in range(12)
        ]
    )
    error = np.std(runs, axis=0, ddof=1) / math.sqrt(12)
    predicted = predicted_climb(
        name, signal, n, d, step_size=eta, n_steps=n_steps, start=start
    ).alignments
    assert np.all(np.abs(predicted - runs.mean(axis=0)) <= 4 * error + 0.02)


def test_stall_is_where_the_climb_ends():
    climb = predicted_climb("relu2", ImbalancedClusters(0.1), 1024, 128, step_size=0.5, n_steps=60)
    assert climb.alignments[-1] == pytest.approx(climb.stall, abs=1e-6)


@pytest.mark.parametrize("offset", [-0.01, 0.01])
def test_basin_parts_climbs_that_gain_from_climbs_that_lose(offset):
    def climb(start):
        return predicted_climb(
            "relu2", ImbalancedClusters(0.1), 1024, 128, step_size=1.1, n_steps=25, start=start
        )

    basin = climb(0.5).basin
    ahead = climb(basin + offset).alignments
    assert np.all(np.sign(np.diff(ahead)) == np.sign(offset))


def test_more_rows_and_shorter_steps_end_nearer():
    def stall(n, eta):
        signal = ImbalancedClusters(0.1)
        return predicted_climb("relu2", signal, n, 128, step_size=eta, n_steps=1).stall

    assert stall(1024, 0.5) < stall(4096, 0.5) < stall(4096, 0.2) < 1


def test_without_noise_the_climb_arrives():
    signal = ImbalancedClusters(0.1)
    climb = predicted_climb("relu2", signal, 10**12, 128, step_size=0.5, n_steps=200)
    assert climb.alignments[-1] == pytest.approx(1, abs=1e-6)


def test_too_few_rows_have_no_basin():
    climb = predicted_climb("relu2", ImbalancedClusters(0.3), 20, 500, step_size=1, n_steps=3)
    assert climb.basin is None
    assert climb.stall is None
    assert np.all(np.diff(climb.alignments) < 0)


def test_rows_needed_for_a_step_grow_as_the_theorem_says():
    """At p = d^-0.3, eta = sqrt(d) p, the least n at which a data start gains is as d^2 p^2.

    Far out, where p and the ratio 1 / (p sqrt d) of the two regimes are small.
    """
    dimensions = 4.0 ** np.arange(10, 14)
    needed = [rows_for_a_gaining_step(int(d), d**-0.3) for d in dimensions]
    slope = np.polyfit(np.log(dimensions), np.log(needed / dimensions**-0.6), 1)[0]
    assert slope == pytest.approx(2, abs=0.1)


def rows_for_a_gaining_step(d, p):
    signal = ImbalancedClusters(p)
    start = data_start_alignment(signal, d)
    low, high = 1, 2**60
    while high > 1.01 * low + 1:
        n = math.isqrt(low * high)
        eta = math.sqrt(d) * p
        gains = make_step("relu2", signal, n, d, eta)(start) > start
        low, high = (low, n) if gains else (n, high)
    return high


def test_data_start_is_a_row_of_the_rare_cluster():
    """3 / sqrt(3^2 + 91) at p = 0.1: 1/a^2 = (mu^2 + chi^2_{d-1}) / mu^2 has the mean 1/0.3^2."""
    assert data_start_alignment(ImbalancedClusters(0.1), 92) == pytest.approx(0.3)
    X, target, labels = make_planted(20_000, 92, ImbalancedClusters(0.1), random_state=0)
    inverse_squares = (normalise(X[labels == 1]) @ target) ** -2
    error = np.std(inverse_squares) / math.sqrt(inverse_squares.size)
    assert abs(np.mean(inverse_squares) - 0.3**-2) < 4 * error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 1.2}, r"start=1.2 .*\[-1, 1\]"),
        ({"n": 0}, "n=0 .*at least 1"),
        ({"d": 0}, "d=0 .*at least 1"),
        ({"step_size": 0}, r"step_size=0 .*\(0"),
        ({"n_steps": 0}, "n_steps=0 .*at least 1"),
        ({"index": "dip"}, "'dip' has no slope"),
    ],
)
def test_bad_values_are_named(options, message):
    arguments = {"index": "relu2", "signal": ImbalancedClusters(0.1), "n": 9, "d": 9}
    with pytest.raises(ValueError, match=message):
        predicted_climb(**{**arguments, "step_size": 0.5, "n_steps": 2, **options})


def test_a_law_without_positive_values_has_no_start_ahead():
    assert data_start_alignment(FiniteLaw([0.0], [1.0]), 10) == 0
