"""P-values that an estimator gives its directions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.exceptions import NotFittedError

from null_searches import SMALL, TRIES, correlated
from sightline.ascent import search as module
from sightline.ascent.climbing import ascend
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.estimators import ProjectionPursuit
from sightline.significance import null_p_values, rotated_rows


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
            module,
            "ascend",
            lambda phi, begin, *rest, **kinds: (
                climbed.append(begin.met.size) or ascend(phi, begin, *rest, **kinds)
            ),
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
