"""P-values after a search: laws under the null, reproducibility, options."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from null_searches import best_of_tries, correlated, skew, uniformity
from sightline._arrays import to_numpy
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.significance import null_p_values
from sightline.whitening import fit_whitening


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
