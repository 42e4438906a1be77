"""P-values after a search and the test of a direction: laws under the null, power, options."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from sightline._arrays import to_numpy
from sightline.ascent import adaptive
from sightline.ascent.climbing import ascend
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.estimators import ProjectionPursuit
from sightline.indices import INDICES, Kurtosis, ReLU2, Skewness
from sightline.scatter import scatter_of
from sightline.significance import null_p_values, planted_test, rotated_rows
from sightline.sphere import random_directions
from sightline.whitening import fit_whitening

TRIES = random_directions(30, 3, np.random.default_rng(7))

SMALL = {
    "solver": "two-step",
    "whiten": "exact",
    "n_starts": 20,
    "n_steps": 3,
    "random_state": 0,
}
"""Options of a short search."""


def correlated(rng, n=30, d=3):
    """Gaussian rows of a lopsided covariance, away from the origin."""
    return rng.standard_normal((n, d)) @ np.triu(np.arange(1.0, d * d + 1).reshape(d, d)) + 5


def best_of_tries(rows, rng, whiten="exact"):
    """The largest kurtosis along 30 fixed directions of whitened rows, or the largest two."""
    scores = fit_whitening(rows, whiten).apply(rows) @ TRIES.T
    return np.sort(np.mean(scores**4, axis=0))[::-1][:2]


def skew(rows, rng):
    return stats.skew(rows[:, 0])


def randomised(p_values, n_null, rng):
    """Spread p-values over the steps of their grid: uniform on (0, 1) iff they are on the grid."""
    return np.asarray(p_values) - rng.random(len(p_values)) / (n_null + 1)


def uniformity(p_values, n_null):
    return stats.kstest(randomised(p_values, n_null, np.random.default_rng(1)), "uniform").pvalue


class TestRotatedRows:
    def test_mean_and_covariance_are_those_of_the_table(self):
        rng = np.random.default_rng(0)
        X = correlated(rng, n=50) * [1.0, 1e-200, 1e200]
        Y = rotated_rows(X).draw(rng)
        units = np.abs(X).max(axis=0)
        assert_allclose(Y.mean(axis=0) / units, X.mean(axis=0) / units, atol=1e-14)
        assert_allclose(np.cov((Y / units).T), np.cov((X / units).T), rtol=1e-12)
        assert not np.any(np.isclose(X, Y, rtol=1e-6, atol=0))

    def test_constant_and_repeated_columns_stay_so(self):
        X = correlated(np.random.default_rng(0))
        X = np.column_stack((X, np.full(30, 0.1), X[:, 0]))
        Y = rotated_rows(X).draw(np.random.default_rng(1))
        assert scatter_of(Y).constant.tolist() == [False, False, False, True, False]
        assert_allclose(Y[:, 4], Y[:, 0], rtol=1e-14)

    def test_more_columns_than_rows(self):
        X = np.random.default_rng(0).standard_normal((6, 20))
        Y = rotated_rows(X).draw(np.random.default_rng(1))
        assert_allclose(np.cov(Y.T), np.cov(X.T), atol=1e-13)

    def test_frames_are_uniform(self):
        """The squared part of a uniform unit vector of R^m along a fixed one: Beta(1/2, (m-1)/2).

        The centred, standardised columns live in m = n - 1 dimensions.
        """
        n, rng = 12, np.random.default_rng(0)
        shared = rotated_rows(rng.standard_normal((n, 2)))
        fixed = np.r_[1, -1, np.zeros(n - 2)] / np.sqrt(2)
        parts = []
        for _ in range(1000):
            column = shared.draw(rng)[:, 1]
            column -= column.mean()
            parts.append((column @ fixed) ** 2 / (column @ column))
        assert stats.kstest(parts, stats.beta(1 / 2, (n - 2) / 2).cdf).pvalue > 1e-3

    def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(self):
        X = np.random.default_rng(0).standard_normal((3000, 60))
        drawn = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                drawn.append(rotated_rows(X).draw(np.random.default_rng(1)))
        assert_array_equal(*drawn)

    def test_library_and_dtype_stay(self, xp):
        X = xp.asarray(np.random.default_rng(0).standard_normal((20, 3)).astype(np.float32))
        Y = rotated_rows(X).draw(np.random.default_rng(1))
        assert type(Y) is type(X)
        assert Y.dtype == X.dtype


class TestNullPValues:
    def test_p_values_count_the_nulls_that_reach_the_value(self):
        X = correlated(np.random.default_rng(0))
        values = np.array([0.9, 0.5, 0.1, -3.0])
        found = null_p_values(skew, X, values, n_null=39, random_state=0)
        counts = [sum(best >= value for best in found.null_best) for value in values]
        assert 0 < counts[1] < counts[2] < 39 == counts[3]
        assert_array_equal(found.p_values, [(1 + count) / 40 for count in counts])
        assert_array_equal(found.values, values)

    def test_ties_count_as_reached(self):
        X = correlated(np.random.default_rng(0))
        assert null_p_values(lambda rows, rng: 1.0, X, n_null=9).p_values.tolist() == [1.0]

    def test_the_null_best_is_the_best_of_each_search(self):
        X, shared = correlated(np.random.default_rng(0)), []

        def search(rows, rng):
            shared.append(best_of_tries(rows, rng))
            return shared[-1]

        found = null_p_values(search, X, n_null=9, random_state=0)
        assert_array_equal(found.values, shared[0])
        assert_array_equal(found.null_best, [two.max() for two in shared[1:]])

    def test_table_i_depends_neither_on_how_many_follow_nor_on_processes(self):
        X = correlated(np.random.default_rng(0))
        few = null_p_values(best_of_tries, X, n_null=5, random_state=3)
        more = null_p_values(best_of_tries, X, n_null=12, random_state=3, n_jobs=2)
        assert_array_equal(more.null_best[:5], few.null_best)
        assert len(set(more.null_best)) == 12
        other = null_p_values(best_of_tries, X, n_null=5, random_state=4)
        assert not set(other.null_best) & set(few.null_best)

    def test_a_search_gets_randomness_of_its_own(self):
        X, drawn = correlated(np.random.default_rng(0)), []

        def search(rows, rng):
            drawn.append(rng.random())
            return 0.0

        null_p_values(search, X, n_null=4, random_state=0)
        assert len(set(drawn)) == 5

    @pytest.mark.parametrize("whiten", ["exact", "shrunk", "none"])
    def test_uniform_under_the_null_whatever_the_covariance_and_the_whitening(self, whiten):
        rng = np.random.default_rng(0)
        search = functools.partial(best_of_tries, whiten=whiten)
        first = [
            null_p_values(search, correlated(rng), n_null=9, random_state=rng).p_values[0]
            for _ in range(100)
        ]
        assert uniformity(first, 9) > 0.01

    def test_later_directions_are_never_more_significant(self):
        rng = np.random.default_rng(0)
        for _ in range(10):
            p = null_p_values(best_of_tries, correlated(rng), n_null=9, random_state=rng).p_values
            assert p[0] <= p[1]

    def test_structure_is_seen(self):
        X = make_planted(300, 3, ImbalancedClusters(0.05), random_state=0)[0]
        found = null_p_values(best_of_tries, X, n_null=49, random_state=0)
        assert found.p_values[0] == 1 / 50

    def test_the_text_says_what_was_compared(self):
        X = correlated(np.random.default_rng(0))
        lines = null_p_values(skew, X, [9.0, -9.0], n_null=19, random_state=0).text.splitlines()
        assert lines[0].startswith("19 searches of Gaussian tables with the same mean")
        assert lines[1] == "direction 1: 9, reached by 0 of them: p = 0.05"
        assert lines[2] == "direction 2: -9, reached by 19 of them: p = 1 (conservative)"

    def test_progress_is_told_and_an_interrupt_ends_it(self):
        X, told = correlated(np.random.default_rng(0)), []
        null_p_values(skew, X, n_null=3, progress=lambda *done: told.append(done))
        assert told == [(1, 3), (2, 3), (3, 3)]

        def press_ctrl_c(done, total):
            told.append(done)
            if done == 2:
                raise KeyboardInterrupt

        told.clear()
        with pytest.raises(KeyboardInterrupt):
            null_p_values(skew, X, n_null=99, progress=press_ctrl_c)
        assert told == [1, 2]

    def test_warnings_of_the_table_are_not_repeated_for_each_null(self):
        X = np.column_stack((correlated(np.random.default_rng(0)), np.ones(30)))

        def search(rows, rng):
            fit_whitening(rows)
            return 0.0

        with pytest.warns(UserWarning, match="constant column") as caught:
            null_p_values(search, X, n_null=5)
        assert len(caught) == 1

    def test_arrays_of_other_libraries_are_searched_in_their_library(self, xp):
        X = xp.asarray(correlated(np.random.default_rng(0)))

        def search(rows, rng):
            assert type(rows) is type(X)
            return xp.max(rows)

        found = null_p_values(search, X, n_null=4, random_state=0)
        assert found.values == [to_numpy(xp.max(X))]
        assert isinstance(found.null_best, np.ndarray)

    @pytest.mark.parametrize(
        ("search", "options", "error", "message"),
        [
            (skew, {"n_null": 0}, ValueError, "n_null=0 must be a whole number"),
            (skew, {"n_null": 9.5}, TypeError, r"n_null=9\.5"),
            (skew, {"n_jobs": 0}, ValueError, "n_jobs=0 must be"),
            (skew, {"random_state": "now"}, TypeError, "random_state='now'"),
            (skew, {"values": [1.0, np.nan]}, ValueError, "it must return a finite number"),
            (skew, {"values": []}, ValueError, "it must return a finite number"),
            (skew, {"values": [[1.0]]}, ValueError, "it must return a finite number"),
            ("relu2", {}, TypeError, "search='relu2' must be a function"),
            (lambda rows, rng: np.inf, {"values": 1.0}, ValueError, "table without structure"),
        ],
    )
    def test_wrong_options_are_named(self, search, options, error, message):
        with pytest.raises(error, match=message):
            null_p_values(search, correlated(np.random.default_rng(0)), **options)


class TestAnEstimatorThatAsks:
    def test_p_values_after_a_fit_are_those_of_the_function(self):
        X = correlated(np.random.default_rng(0), n=60)
        options = SMALL | {"n_components": 2, "multiple": "deflate", "significance": 9}
        fitted = ProjectionPursuit(**options).fit(X)
        found = null_p_values(fitted, X, n_null=9, random_state=0)
        assert_array_equal(fitted.p_values_, found.p_values)
        assert_array_equal(fitted.null_values_, found.null_best)
        assert_array_equal(fitted.standard_values_, found.values)
        plain = ProjectionPursuit(**(options | {"significance": None})).fit(X)
        assert_array_equal(plain.components_, fitted.components_)

    def test_the_search_repeated_is_the_search_that_was_run(self):
        X = correlated(np.random.default_rng(0), n=60)
        for options in ({"index": "kurtosis", "select": "dip"}, {"whiten": "none", "n_starts": 5}):
            fitted = ProjectionPursuit(**(SMALL | options)).fit(X)
            assert_array_equal(fitted.search_again(X, 0), fitted.standard_values_)

    def test_values_compare_across_whitenings(self):
        X = correlated(np.random.default_rng(0), n=60)
        exact, none = (
            ProjectionPursuit(**(SMALL | {"whiten": kind})).fit(X) for kind in ("exact", "none")
        )
        assert_allclose(exact.standard_values_, exact.index_values_, rtol=1e-12)
        assert none.index_values_ > 1  # the variance of the widest direction
        scores = stats.zscore(none.transform(X))
        assert_allclose(none.standard_values_, [np.mean(np.maximum(scores, 0) ** 2)], rtol=1e-9)

    def test_nulls_of_a_convincing_first_look_are_looks(self, monkeypatch):
        """A look finds the same on the same table, and a null is not searched any longer."""
        X = make_planted(300, 6, ImbalancedClusters(0.1), random_state=0)[0]
        fitted = ProjectionPursuit(random_state=0).fit(X)
        assert_array_equal(fitted.search_again(X, 0), fitted.standard_values_)
        climbed = []
        monkeypatch.setattr(
            adaptive,
            "ascend",
            lambda phi, begin, *rest: climbed.append(begin.shape[0]) or ascend(phi, begin, *rest),
        )
        fitted.search_again(rotated_rows(X).draw(np.random.default_rng(0)), 0)
        assert max(climbed) <= 256
        climbed.clear()
        noise = np.random.default_rng(0).standard_normal((300, 6))
        ProjectionPursuit(random_state=0).fit(noise).search_again(noise, 0)
        assert max(climbed) > 2000

    def test_planted_clusters_are_significant_and_noise_is_not(self):
        X = make_planted(200, 5, ImbalancedClusters(0.1), random_state=0)[0]
        options = SMALL | {"significance": 19}
        assert ProjectionPursuit(**options).fit(X).p_values_ == [1 / 20]
        noise = np.random.default_rng(0).standard_normal((200, 5))
        assert ProjectionPursuit(**options).fit(noise).p_values_ > 1 / 20

    def test_a_fit_that_does_not_ask_has_none_left_of_an_earlier_one(self):
        X = correlated(np.random.default_rng(0))
        fitted = ProjectionPursuit(**SMALL, significance=2).fit(X)
        fitted.set_params(significance=None).fit(X)
        assert not hasattr(fitted, "p_values_")
        assert not hasattr(fitted, "null_values_")

    def test_float32_far_from_the_origin_is_the_same_table(self):
        X = (correlated(np.random.default_rng(0)) + 1e5).astype(np.float32)
        fitted = ProjectionPursuit(**SMALL).fit(X)
        assert null_p_values(fitted, X, n_null=2).null_best.shape == (2,)

    def test_another_table_than_the_fitted_one_is_refused(self):
        X = correlated(np.random.default_rng(0))
        fitted = ProjectionPursuit(**SMALL).fit(X)
        for other in (X[:-1], X[:, :2], X + 1):
            with pytest.raises(ValueError, match="X is not the table"):
                null_p_values(fitted, other)
        assert null_p_values(fitted, X[:-1], fitted.index_values_, n_null=2).values.shape == (1,)
        with pytest.raises(NotFittedError):
            null_p_values(ProjectionPursuit(), X)

    @pytest.mark.parametrize(("got", "error"), [(0, ValueError), (9.5, TypeError)])
    def test_a_wrong_number_of_nulls_is_named_before_the_search(self, got, error):
        with pytest.raises(error, match=f"significance={got}"):
            ProjectionPursuit(significance=got, starts="no such starts").fit(TRIES)


class TestPlantedTest:
    def test_the_statistic_is_the_index_of_the_standardised_scores(self):
        X = correlated(np.random.default_rng(0), n=200)
        u = np.array([0.3, -1.0, 2.0])
        z = stats.zscore(X @ u)
        half, size = np.mean(np.maximum(z, 0) ** 2), np.abs(z).mean()
        for index, value in (("relu2", half), ("abs", -size)):
            assert_allclose(planted_test(X, u, index=index).statistic, value, rtol=1e-12)

    @pytest.mark.parametrize("index", sorted(INDICES))
    def test_uniform_under_the_null_for_every_index(self, index):
        """Any mean, covariance and direction give scores of one law once standardised."""
        rng = np.random.default_rng(0)
        p_values = [
            planted_test(
                correlated(rng, n=25), TRIES[i], index=index, n_null=19, random_state=rng
            ).p_value
            for i in range(30)
            for _ in range(8)
        ]
        assert uniformity(p_values, 19) > 0.01

    def test_the_threshold_is_the_normal_approximation_for_many_rows(self):
        """For relu2 it is 1/2 + z_level sqrt((3 - 8/pi) / (4 n)).

        On standardised scores relu2 is 1/2 + mean z|z| / 2. Standardising takes away the part of
        z|z| along z, of coefficient E|z|^3 = sqrt(8/pi), and none along z^2 - 1, by symmetry. So n
        times the variance tends to (E z^4 - 8/pi) / 4. With 9999 nulls the 95 % quantile has a
        standard error of 0.022 standard deviations; four of them are allowed.
        """
        n = 2000
        X = np.random.default_rng(0).standard_normal((n, 2))
        deviation = np.sqrt((3 - 8 / np.pi) / 4 / n)
        outcome = planted_test(X, [1.0, 0.0], n_null=9999, random_state=0)
        assert abs(outcome.threshold - 0.5 - stats.norm.isf(0.05) * deviation) < 0.09 * deviation

    @pytest.mark.parametrize(("level", "n_null"), [(0.05, 19), (0.05, 20), (0.29, 99), (0.5, 4)])
    def test_p_value_threshold_and_rejection_say_the_same(self, level, n_null):
        rng = np.random.default_rng(0)
        outcomes = [
            planted_test(
                rng.standard_normal((9, 1)), [1], level=level, n_null=n_null, random_state=rng
            )
            for _ in range(60)
        ]
        assert {outcome.rejected for outcome in outcomes} == {True, False}
        for outcome in outcomes:
            assert outcome.rejected == (outcome.p_value <= level)
            assert outcome.rejected == (outcome.statistic > outcome.threshold)

    def test_scale_and_offset_of_columns_change_nothing(self):
        X, u, _ = make_planted(100, 3, random_state=0)
        powers = np.array([2.0**600, 1.0, 2.0**-600])
        plain = planted_test(X, u, random_state=0)
        scaled = planted_test(X * powers + [0, 1e4, 0], u / powers, random_state=0)
        assert_allclose(scaled.statistic, plain.statistic, rtol=1e-9)
        assert scaled.threshold == plain.threshold

    def test_sample_splitting_finds_and_confirms(self):
        X, direction, _ = make_planted(400, 5, random_state=0)
        assert planted_test(X, direction, random_state=0).rejected
        assert not planted_test(X, -direction, random_state=0).rejected  # relu2 sees one side
        assert planted_test(X, -direction, index=Skewness(), random_state=0).p_value > 0.9
        assert planted_test(X, -direction, index=Kurtosis(), random_state=0).rejected

    def test_arrays_of_other_libraries(self, xp):
        X, u, _ = make_planted(60, 3, random_state=0)
        here = planted_test(X, u, random_state=0)
        there = planted_test(xp.asarray(X), xp.asarray(u), random_state=0)
        assert there == here

    def test_nulls_do_not_depend_on_how_many_are_drawn(self, monkeypatch):
        X, u, _ = make_planted(60, 3, random_state=0)
        whole = planted_test(X, u, index=ReLU2(), random_state=0)
        monkeypatch.setattr("sightline.significance.direction_test._DRAWS", 130)
        assert planted_test(X, u, index=ReLU2(), random_state=0) == whole

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"direction": [1.0, 0.0]}, ValueError, r"direction has shape \(2,\); it must be 3"),
            ({"direction": [0.0, 0.0, 0.0]}, ValueError, "not all zero"),
            ({"direction": [0.0, np.nan, 0.0]}, ValueError, "finite"),
            ({"direction": [0.0, 1.0, 0.0]}, ValueError, "all 30 rows of X have the same score"),
            ({"level": 0.001, "n_null": 99}, ValueError, "n_null of at least 999"),
            ({"level": 1.0}, ValueError, r"level=1\.0"),
            ({"n_null": 0}, ValueError, "n_null=0"),
            ({"index": "gini"}, ValueError, "index='gini'"),
        ],
    )
    def test_wrong_options_are_named(self, options, error, message):
        X = correlated(np.random.default_rng(0))
        X[:, 1] = 0.1
        with pytest.raises(error, match=message):
            planted_test(X, **({"direction": np.ones(3)} | options))


def errors_of_planted_test(n, p, alignment=0.9, samples=4000):
    """The least sum of both errors over all thresholds, from scores a nu + sqrt(1 - a^2) g."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((2, n, samples))
    nu = ImbalancedClusters(p).sample(n * samples, rng)[0].reshape(n, samples)
    planted = alignment * nu + np.sqrt(1 - alignment**2) * noise[1]
    null, alternative = (
        np.sort(np.mean(np.maximum(stats.zscore(z, axis=0), 0) ** 2, axis=0))
        for z in (noise[0], planted)
    )
    thresholds = np.concatenate((null, alternative))
    first = 1 - np.searchsorted(null, thresholds) / samples
    return np.min(first + np.searchsorted(alternative, thresholds) / samples)


@pytest.mark.slow
class TestInFull:
    @pytest.mark.parametrize(
        "options",
        [
            {"solver": "two-step", "whiten": "exact"},
            {"solver": "two-step", "whiten": "shrunk"},
            {"solver": "two-step", "whiten": "none", "index": "abs"},
        ],
    )
    def test_uniform_over_500_null_tables(self, options):
        rng = np.random.default_rng(0)
        search = ProjectionPursuit(n_starts=20, n_steps=4, **options)
        first = [
            search.set_params(random_state=rng, significance=19)
            .fit(correlated(rng, n=60, d=4))
            .p_values_[0]
            for _ in range(500)
        ]
        assert uniformity(first, 19) > 0.01

    def test_uniform_where_the_whitening_is_chosen_anew_for_each_table(self):
        rng = np.random.default_rng(0)
        search = ProjectionPursuit(n_starts=20, n_steps=4, significance=9, random_state=rng)
        first = [search.fit(correlated(rng, n=60, d=4)).p_values_[0] for _ in range(100)]
        assert uniformity(first, 9) > 0.01

    def test_power_is_near_one_where_recovery_begins(self):
        """Clusters of p = 0.1 at d = 32 are recovered from about 91 rows on."""
        aligned, significant = [], []
        for seed in range(10):
            X, direction, _ = make_planted(91, 32, ImbalancedClusters(0.1), random_state=seed)
            fitted = ProjectionPursuit(significance=19, random_state=seed).fit(X)
            aligned.append(abs(fitted.components_[0] @ direction) > 0.9)
            significant.append(fitted.p_values_[0] == 1 / 20)
        assert np.mean(aligned) >= 0.9
        assert np.mean(significant) >= 0.9

    @pytest.mark.parametrize("p", [0.125, 0.3])
    def test_both_errors_of_the_planted_test_fall_exponentially_in_the_rows(self, p):
        """The corollary says exp(-Theta(n / d)); here per n / d at d = 64."""
        rows = np.array([16, 32, 48, 64]) * (1 if p < 0.2 else 3)
        sums = np.array([errors_of_planted_test(n, p) for n in rows])
        rates = -np.diff(np.log(sums)) / np.diff(rows / 64)
        assert np.all(rates > 1)
        assert rates.max() < 2 * rates.min()
