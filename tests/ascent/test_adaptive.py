"""The adaptive solver: what it finds in few rows, when it stops, and what it promises."""

import numpy as np
import pytest
from diptest import dipstat
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from sightline import adaptive_ascent, two_step_gradient_ascent
from sightline._arrays import to_numpy
from sightline.ascent import search as module
from sightline.ascent.climbing import Climbed, ascend, begin_at, merge
from sightline.ascent.search import plan_stages
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.indices import ReLU2, make_index
from sightline.selection import CLEAR_DIP
from sightline.sphere import angle, random_directions
from sightline.whitening import fit_whitening


def whitened(n, d, signal, seed=0, **options):
    X, direction, _ = make_planted(n, d, signal=signal, random_state=seed, **options)
    whitening = fit_whitening(X)
    return whitening.apply(X), whitening, direction


def found_alignment(n, d, signal, index, seed=0, **options):
    rows, whitening, direction = whitened(n, d, signal, seed)
    found = adaptive_ascent(rows, index=index, random_state=seed, **options)
    return abs(float(whitening.column_weights(found.directions[:1])[0] @ direction)), found


def test_it_recovers_in_far_fewer_rows_than_fresh_batches_need():
    """d = 32, p = d^-1/2, n = 120: too few rows for Algorithm 2 to see anything."""
    signal, adaptive, paper = ImbalancedClusters(32**-0.5), [], []
    for seed in range(6):
        adaptive.append(found_alignment(120, 32, signal, "relu2", seed)[0])
        X, direction, _ = make_planted(120, 32, signal=signal, random_state=seed)
        fresh = two_step_gradient_ascent(X, index="relu2", n_starts=60, random_state=seed)
        paper.append(abs(float(fresh.direction @ direction)))
    assert np.mean(adaptive) > 0.8
    assert np.mean(paper) < 0.5


def test_groups_inside_which_rows_scatter_are_found_to_statistical_precision():
    alignments = [
        found_alignment(800, 30, ImbalancedClusters(0.1, spread=0.5), "relu2", seed, n_starts=200)[
            0
        ]
        for seed in range(3)
    ]
    assert np.mean(alignments) > 0.96


def test_a_quick_look_is_enough_where_starts_meet_in_clear_groups():
    alignment, found = found_alignment(3000, 20, ImbalancedClusters(0.1), "relu2")
    assert alignment > 0.999
    assert found.n_starts == 64
    assert found.stage == 1
    assert found.met[0] >= 16
    assert found.clear[0]
    assert found.converged[0]
    assert "of 64 starts on 3000 of 3000 rows made for one direction" in found.stopping_reason


def test_noise_is_searched_in_full():
    X = np.random.default_rng(0).standard_normal((300, 10))
    found = adaptive_ascent(X, index="relu2", random_state=0)
    assert not found.clear.any()
    assert found.n_starts >= 2048
    assert found.stage is None
    assert "on all rows" in found.stopping_reason


def test_an_end_can_be_set_to_the_effort():
    X = np.random.default_rng(0).standard_normal((300, 10))
    found = adaptive_ascent(X, index="relu2", most_stages=1, random_state=0)
    assert found.n_starts == 64


def test_stages_take_more_starts_first_and_more_rows_after_that():
    stages = plan_stages(10**6, 20, None, None, look=True)
    assert [stage.n_starts for stage in stages] == [64, 192, 2048, 512, 256, 256]
    assert [stage.n_rows for stage in stages] == [20_000] * 3 + [80_000, 320_000, 1_000_000]
    assert len({stage.n_steps for stage in stages[:2]}) == 1
    assert stages[1].n_steps < stages[2].n_steps
    alone = plan_stages(100, 20, 7, None, look=True)
    assert [(stage.n_starts, stage.n_rows) for stage in alone] == [(7, 100)]
    assert [stage.n_starts for stage in plan_stages(50_000, 2, 7, 9, look=True)] == [7, 7]


def test_many_rows_are_searched_on_some_of_them_first(monkeypatch):
    monkeypatch.setattr(module, "_ROWS", 1500)
    rows, _, _ = whitened(9000, 10, ImbalancedClusters(0.1))
    found = adaptive_ascent(rows, index="relu2", random_state=0)
    assert "starts on 1500 of 9000 rows" in found.stopping_reason
    exact = np.mean(np.maximum(0, rows @ found.directions.T) ** 2, axis=0)
    assert_allclose(found.values, exact, rtol=1e-12)  # scored on all rows all the same
    noise = np.random.default_rng(0).standard_normal((4000, 3))
    assert "on all rows" in adaptive_ascent(noise, index="abs", random_state=0).stopping_reason


def test_groups_win_over_heavy_tails_unless_the_index_alone_is_to_choose():
    """Student-t(2) surroundings: the index prefers outlying rows, the dip knows the groups."""
    rows, whitening, direction = whitened(
        600, 30, ImbalancedClusters(0.1), seed=1, ambient="student-t"
    )
    options = {"index": "relu2", "n_starts": 400, "random_state": 0}
    weighed = adaptive_ascent(rows, **options)
    plain = adaptive_ascent(rows, select="relu2", **options)
    by_dip = adaptive_ascent(rows, select="dip", **options)
    aligned = [
        abs(float(whitening.column_weights(f.directions[:1])[0] @ direction))
        for f in (weighed, plain, by_dip)
    ]
    assert aligned[0] > 0.99
    assert aligned[1] < 0.3
    assert aligned[2] > 0.99


def test_directions_are_distinct_exactly_scored_and_clear_ones_lead():
    rows, _, _ = whitened(800, 10, ImbalancedClusters(0.2, spread=0.3))
    found = adaptive_ascent(rows, index="relu2", n_starts=100, minimum_angle=20, random_state=0)
    exact = np.mean(np.maximum(0, rows @ found.directions.T) ** 2, axis=0)
    assert_allclose(found.values, exact, rtol=1e-12)
    assert found.value == found.values[0]
    dips = np.array([dipstat(rows @ u) for u in found.directions]) * np.sqrt(800)
    assert_allclose(found.clear, dips > CLEAR_DIP)
    assert np.all(np.diff(found.clear.astype(int)) <= 0)
    for clear in (True, False):
        assert np.all(np.diff(found.values[found.clear == clear]) <= 0)
    for i, u in enumerate(found.directions):
        assert all(angle(u, v) >= 20 - 1e-9 for v in found.directions[:i])
    assert found.met.sum() <= 100


@pytest.mark.parametrize("index", ["abs", "kurtosis", "logcosh", "approx-entropy"])
def test_sparse_directions_by_every_index_that_rewards_them(index):
    assert found_alignment(3000, 12, BernoulliRademacher(0.1), index, n_starts=200)[0] > 0.99


def test_balanced_groups_by_absmax():
    assert found_alignment(3000, 12, ImbalancedClusters(0.5), "absmax")[0] > 0.99


def test_an_index_of_ones_own():
    class Cubic:
        """phi(t) = t^3 / 3."""

        def value_slope(self, t, xp):
            return t * t * t / 3, t * t

    assert found_alignment(3000, 12, ImbalancedClusters(0.1), Cubic())[0] > 0.99


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    rows, _, _ = whitened(3000, 30, ImbalancedClusters(0.3, spread=0.2))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(adaptive_ascent(rows, index="relu2", n_starts=150, random_state=3))
    assert np.array_equal(results[0].directions, results[1].directions)
    assert np.array_equal(results[0].values, results[1].values)


def test_library_and_dtype_are_kept(xp):
    rows, _, _ = whitened(500, 6, ImbalancedClusters(0.1, spread=0.2))
    X = xp.asarray(rows.astype(np.float32))
    found = adaptive_ascent(X, index="relu2", n_starts=40, n_steps=20, random_state=0)
    assert type(found.direction) is type(X)
    assert found.directions.dtype == xp.float32
    reference = adaptive_ascent(
        rows.astype(np.float32), index="relu2", n_starts=40, n_steps=20, random_state=0
    )
    assert abs(float(to_numpy(found.direction) @ reference.direction)) > 1 - 1e-4


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"index": "gini"}, ValueError, "index='gini' is unknown"),
        ({"select": "gini"}, ValueError, "select='gini' is unknown"),
        ({"n_starts": 0}, ValueError, "n_starts=0"),
        ({"n_steps": 1.5}, TypeError, r"n_steps=1\.5"),
        ({"step_sizes": (1,)}, ValueError, r"step_sizes=\(1,\)"),
        ({"starts": "corner"}, ValueError, "starts='corner'"),
        ({"most_stages": 0}, ValueError, "most_stages=0"),
        ({"n_directions": 0}, ValueError, "n_directions=0"),
        ({"minimum_angle": 91}, ValueError, "minimum_angle=91"),
        ({"random_state": "x"}, TypeError, "random_state='x'"),
    ],
)
def test_wrong_options_are_named(change, error, message):
    rows, _, _ = whitened(100, 3, ImbalancedClusters(0.1))
    with pytest.raises(error, match=message):
        adaptive_ascent(rows, **change)


class TestClimbing:
    def test_a_climb_is_plain_ascent_while_nobody_has_arrived(self):
        rows, _, _ = whitened(400, 5, ImbalancedClusters(0.1, spread=0.3))
        starts = random_directions(6, 5, np.random.default_rng(0))
        climbed = ascend(make_index("abs"), begin_at(starts), rows, 0.3, 3)
        u = starts
        for _ in range(3):
            g = -np.sign(rows @ u.T).T @ rows / 400
            g -= np.sum(g * u, axis=1, keepdims=True) * u
            u = u + 0.3 * g
            u /= np.linalg.norm(u, axis=1, keepdims=True)
        assert_allclose(climbed.directions, u, atol=1e-12)

    def test_those_who_have_arrived_are_left_where_they_are(self, monkeypatch):
        rows, _, _ = whitened(2000, 4, ImbalancedClusters(0.1, spread=0.3))
        asked = []
        from sightline.ascent import climbing  # noqa: PLC0415

        plain = climbing.index_gradients
        monkeypatch.setattr(
            climbing,
            "index_gradients",
            lambda phi, u, X, **kinds: asked.append(len(u)) or plain(phi, u, X, **kinds),
        )
        starts = random_directions(40, 4, np.random.default_rng(0))
        climbed = ascend(ReLU2(), begin_at(starts), rows, 0.5, 400)
        assert asked[0] == 40
        assert asked[-1] < 40
        assert len(asked) == climbed.steps
        assert sum(asked) < 40 * 400 / 2
        assert np.average(climbed.moved < 1e-3, weights=climbed.met) > 0.9
        assert climbed.met.sum() == 40
        assert climbed.met.size < 40  # and those that met on the way went on as one

    def test_those_who_have_met_go_on_as_one(self):
        u = random_directions(3, 4, np.random.default_rng(0))
        crowd = np.concatenate((u, u[:1], -u[1:2], u[:1] + 1e-5))
        merged = merge(Climbed(crowd, np.zeros(6), np.ones(6, dtype=int), 1))
        assert len(merged.directions) == 3
        assert merged.met.tolist() == [3, 2, 1]


def test_groups_of_nearly_one_size_are_found_from_moments():
    """At p = 0.435 relu2 has hardly a slope; the fourth moments point at the direction."""
    found = []
    for seed in range(4):
        X, direction, _ = make_planted(
            512, 16, signal=ImbalancedClusters(16**-0.3), random_state=seed
        )
        whitening = fit_whitening(X)
        search = adaptive_ascent(whitening.apply(X), index="relu2", random_state=seed)
        found.append(abs(float(whitening.column_weights(search.directions[:1])[0] @ direction)))
    assert np.mean(found) > 0.95


@pytest.mark.parametrize("index", ["absmax", "approx-entropy", "relu2"])
@pytest.mark.parametrize("shape", [(60, 30), (600, 30), (400, 50)])
def test_modes_that_a_search_finds_in_noise_are_not_clear(index, shape):
    """Absmax parts any table along some direction: the dip there grows as sqrt(d)."""
    rows = np.random.default_rng(1).standard_normal(shape)
    whitened = fit_whitening(rows).apply(rows)
    found = adaptive_ascent(whitened, index=index, n_starts=128, n_steps=30, random_state=0)
    assert not found.clear.any()
    assert not found.stopping_reason.endswith("clearly of several modes")


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_rows_that_float32_cannot_polish_are_refused(scale):
    """At 1e-30 nothing climbs, at 1e30 the polishing overflows: both were silent before."""
    rows = np.random.default_rng(0).standard_normal((60, 4)) * scale
    with pytest.raises(ValueError, match=r"the largest entry of X is .*Centre and whiten X first"):
        adaptive_ascent(rows, n_starts=8, random_state=0)
