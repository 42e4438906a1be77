"""Algorithm 2: the rows it spends, its result, its repeatability, and the paper's numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from sightline import gradient_ascent, two_step_gradient_ascent
from sightline._arrays import to_numpy
from sightline.ascent import default_steps, paper_step_sizes
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.kernels import host
from sightline.sphere import normalise


def planted(n=3000, d=10, p=0.2, seed=0):
    return make_planted(n, d, signal=ImbalancedClusters(p), random_state=seed)[:2]


@pytest.mark.parametrize("resample", ["fresh", "replace", "full"])
def test_it_finds_an_easy_direction_and_says_what_it_did(resample):
    X, direction = planted(n=8000)
    size = None if resample == "full" else 400
    found = two_step_gradient_ascent(
        X,
        index="relu2",
        n_starts=50,
        batch_size=size,
        n_steps=8,
        resample=resample,
        random_state=0,
    )
    assert abs(found.direction @ direction) > 0.95
    assert found.n_samples_used == (50 + 2 * 400 * 8 if resample == "fresh" else len(X))
    assert found.history.shape == (16, 50)
    assert found.step_sizes == (2.0, 0.5)
    assert "2 x 8 steps" in found.stopping_reason
    assert_allclose(np.linalg.norm(found.directions, axis=1), 1)


def test_every_candidate_is_scored_exactly_on_all_rows_and_the_best_is_first():
    X, _ = planted()
    found = two_step_gradient_ascent(
        X, index="kurtosis", n_starts=30, batch_size=50, random_state=0
    )
    exact = -np.mean(np.abs(X @ found.directions.T), axis=0)  # psi of kurtosis is -|t|
    assert_allclose(found.values, exact, rtol=1e-12)
    assert np.all(np.diff(found.values) <= 0)
    assert found.value == found.values[0]
    assert np.array_equal(found.direction, found.directions[0])


def test_select_replaces_psi():
    X, _ = planted()
    found = two_step_gradient_ascent(
        X, index="relu2", select="dip", n_starts=10, n_steps=2, resample="full", random_state=0
    )
    from diptest import dipstat  # noqa: PLC0415

    assert_allclose(found.values, [dipstat(X @ u) for u in found.directions], atol=1e-9)


def test_it_is_algorithm_1_run_twice():
    """With all rows in every step nothing is random but the starts, which are given here."""
    X, _ = planted()
    starts = np.random.default_rng(3).standard_normal((6, 10))
    found = two_step_gradient_ascent(
        X, index="relu2", starts=starts, n_steps=4, step_sizes=(1.5, 0.3), resample="full"
    )
    first = gradient_ascent([X] * 4, starts, index="relu2", step_size=1.5, n_steps=4)
    second = gradient_ascent([X] * 4, first.directions, index="relu2", step_size=0.3, n_steps=4)
    order = np.argsort(-second.values, kind="stable")
    assert_allclose(found.directions, second.directions[order], rtol=1e-12, atol=1e-14)
    assert_allclose(found.history[4:], second.history[:, order], rtol=1e-12)


def test_fresh_batches_are_rows_that_nothing_else_has_seen():
    X = np.eye(200)[:, :]  # row i is nonzero in column i only: directions show the rows they saw
    found = two_step_gradient_ascent(
        X, index="relu2", n_starts=10, batch_size=19, n_steps=5, random_state=0
    )
    assert found.n_samples_used == 200
    touched = np.abs(found.directions).sum(axis=0) > 0
    assert touched.sum() <= 10  # orthogonal rows pull nowhere: only the starts' own rows show


def test_too_few_rows_for_fresh_batches_say_how_many_are_needed():
    X, _ = planted(n=1000)
    with pytest.raises(
        ValueError,
        match=r"400 rows for the starts and 2 x 7 steps x 100 rows = 1800 "
        r"rows; X has 1000.*'replace'.*'full'",
    ):
        two_step_gradient_ascent(X, index="relu2", batch_size=100, n_steps=7)
    with pytest.raises(ValueError, match="needs 990 rows"):
        two_step_gradient_ascent(X, index="relu2", n_starts=990, n_steps=7)
    with pytest.raises(ValueError, match="n_starts=2000 must be a whole number from 1 to 1000"):
        two_step_gradient_ascent(X, index="relu2", n_starts=2000)


def test_batches_of_everything_that_is_left_by_default():
    X, _ = planted(n=1000)
    found = two_step_gradient_ascent(X, index="relu2", n_starts=40, n_steps=3, random_state=0)
    assert found.n_samples_used == 40 + 2 * 3 * 160


@pytest.mark.parametrize("resample", ["fresh", "replace", "full"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(resample, dtype):
    X = planted(n=6000, d=40)[0].astype(dtype)
    options = {"index": "relu2", "n_starts": 100, "n_steps": 4, "resample": resample}
    results = []
    for threads in (1, 2, 1):
        with threadpool_limits(threads):
            results.append(two_step_gradient_ascent(X, **options, random_state=7))
    for other in results[1:]:
        assert np.array_equal(results[0].directions, other.directions)
        assert np.array_equal(results[0].history, other.history)
    assert not np.array_equal(
        results[0].directions, two_step_gradient_ascent(X, **options, random_state=8).directions
    )


def test_a_generator_is_used_up_and_an_int_is_not():
    X, _ = planted(n=500)
    options = {"index": "abs", "n_starts": 5, "n_steps": 2, "resample": "full"}
    rng = np.random.default_rng(0)
    first = two_step_gradient_ascent(X, **options, random_state=rng)
    again = two_step_gradient_ascent(X, **options, random_state=rng)
    assert not np.array_equal(first.directions, again.directions)
    assert np.array_equal(
        first.directions,
        two_step_gradient_ascent(X, **options, random_state=np.random.default_rng(0)).directions,
    )


def test_library_and_dtype_are_kept(xp):
    X = xp.asarray(planted(n=500)[0].astype(np.float32))
    for resample in ("fresh", "replace", "full"):
        found = two_step_gradient_ascent(
            X, index="relu2", n_starts=8, n_steps=2, resample=resample, random_state=0
        )
        assert type(found.direction) is type(X)
        assert found.directions.dtype == xp.float32
        assert to_numpy(found.directions).shape == (8, 10)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"resample": "bootstrap"},
            ValueError,
            "resample='bootstrap' is unknown; choose from 'fresh'",
        ),
        ({"step_sizes": 0.5}, ValueError, r"step_sizes=0\.5 must be two numbers"),
        ({"step_sizes": (1.0, -1.0)}, ValueError, r"step_sizes=-1\.0"),
        ({"step_sizes": "ab"}, ValueError, "step_sizes='ab'"),
        ({"n_steps": 1.5}, TypeError, r"n_steps=1\.5 must be a whole number"),
        ({"n_starts": True}, TypeError, "n_starts=True"),
        ({"starts": "corner"}, ValueError, "starts='corner' is unknown"),
        ({"starts": np.zeros((2, 10))}, ValueError, "starts: row 0 is zero"),
        ({"random_state": -1}, ValueError, "random_state=-1"),
        ({"random_state": "seed"}, TypeError, "random_state='seed'"),
    ],
)
def test_wrong_options_are_named(change, error, message):
    with pytest.raises(error, match=message):
        two_step_gradient_ascent(planted(n=500)[0], **({"index": "relu2", "n_starts": 5} | change))


def test_default_steps_and_step_sizes_are_the_papers():
    assert default_steps(128) == 14
    assert default_steps(300) == 17
    assert default_steps(1) == 2
    assert paper_step_sizes(64, 0.1) == (0.8, 0.5)
    assert_allclose(paper_step_sizes(64, 0.1, "kurtosis-theorem"), (0.64, 0.5))
    with pytest.raises(ValueError, match="rule='lemma'"):
        paper_step_sizes(64, 0.1, "lemma")
    with pytest.raises(ValueError, match=r"p=1 must be"):
        paper_step_sizes(64, 1)


def mean_alignment(signal, d, n, index, seeds):
    """Mean |<u_hat, u*>| over data sets in the paper's setting, and that of a random direction."""
    s, found, chance = default_steps(d), [], []
    for seed in range(seeds):
        X, u, _ = make_planted(400 + 2 * n * s, d, signal=signal, random_state=seed)
        result = two_step_gradient_ascent(
            X.astype(np.float32),
            index=index,
            batch_size=n,
            step_sizes=paper_step_sizes(d, signal.p),
            random_state=seed,
        )
        found.append(abs(float(result.direction @ u)))
        other = normalise(np.random.default_rng([seed, 1]).standard_normal((1, d)))[0]
        chance.append(abs(float(other @ u)))
    return np.mean(found), np.mean(chance)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signal", "d", "n", "index", "at_least"),
    [
        (ImbalancedClusters(0.1), 128, 1024, "relu2", 0.94),
        (BernoulliRademacher(0.1), 64, 4096, "kurtosis", 0.89),
    ],
)
def test_recovery_in_the_papers_setting(signal, d, n, index, at_least):
    found, chance = mean_alignment(signal, d, n, index, seeds=30)
    print(f"{signal} d={d} n={n}: mean alignment {found:.3f}; a random direction {chance:.3f}")
    assert chance < 0.15
    assert found >= at_least


@pytest.mark.slow
def test_doubling_d_moves_the_transition_as_the_theorem_says():
    """At p = d^-1/2 the theorem's d^2 p^2 is d: the batch at which alignment passes 1/2 doubles.

    Read off at a fixed level between d = 64, 128, 256 by log-linear interpolation over batches
    2^5 .. 2^10, mean over 10 data sets; the exponent is fitted over the two doublings.
    """
    crossing = []
    for d in (64, 128, 256):
        sizes = 2.0 ** np.arange(5, 11)
        means = [
            mean_alignment(ImbalancedClusters(d**-0.5), d, int(n), "relu2", seeds=10)[0]
            for n in sizes
        ]
        crossing.append(np.interp(0.5, means, np.log2(sizes)))
    exponent = (crossing[2] - crossing[0]) / 2
    print(f"log2 of the batch at alignment 1/2: {crossing}; exponent {exponent:.2f}, theorem 1")
    assert 0.7 <= exponent <= 1.3


def test_climbing_on_all_rows_shares_the_scores_that_compare_iterates(monkeypatch):
    """Products of a run of s steps: 2 s, and one more to compare the last iterate."""
    X = np.random.default_rng(0).standard_normal((300, 8))
    counted, product = [], np.matmul

    def counting(a, b, **options):
        counted.append(a.shape[0] * a.shape[1] * b.shape[1])
        return product(a, b, **options)

    monkeypatch.setattr(host.np, "matmul", counting)
    for index in ("relu2", "kurtosis", "approx-entropy"):  # kurtosis is chosen by -|t|
        counted.clear()
        two_step_gradient_ascent(X, index=index, n_starts=5, n_steps=4, resample="full")
        features = 2 if index == "approx-entropy" else 1
        assert sum(counted) == 2 * ((1 + features) * 4 + 1) * X.size * 5


def test_one_call_serves_all_three_ways_of_resampling():
    """`batch_size` is taken with "full" as well, where every batch is all rows."""
    X = planted(n=500)[0]
    options = {"index": "relu2", "n_starts": 10, "n_steps": 3, "random_state": 0}
    found = [
        two_step_gradient_ascent(X, batch_size=size, resample="full", **options).directions
        for size in (None, 20)
    ]
    assert_array_equal(*found)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_rows_whose_moments_are_no_numbers_are_refused(scale):
    with pytest.raises(ValueError, match=r"the largest entry of X is .*e.300.*Centre and whiten"):
        two_step_gradient_ascent(planted(n=500)[0] * scale, index="relu2", resample="full")
