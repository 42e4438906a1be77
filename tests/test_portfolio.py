"""Several indices at once: their common scale, whose direction wins, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sightline import ProjectionPursuit, adaptive_ascent, load_model, save_model
from sightline.datasets import (
    BernoulliRademacher,
    GaussianMixture,
    ImbalancedClusters,
    make_planted,
)
from sightline.indices import Abs, AbsMax, Kurtosis, ReLU2, Skewness, make_index, selection_index
from sightline.portfolio import (
    PORTFOLIO,
    members,
    noise_level,
    normal_spread,
    normal_value,
)
from sightline.significance import standard_values_along
from sightline.whitening import fit_whitening


def fitted(signal, n=700, d=12, seed=0, **options):
    X, direction, _ = make_planted(n, d, signal, random_state=seed)
    pursuit = ProjectionPursuit("auto", random_state=seed, **options).fit(X)
    return pursuit, X, abs(float(pursuit.components_[0] @ direction))


class TestTheScale:
    def test_values_of_normal_scores_are_the_closed_forms(self):
        half = np.sqrt(2 / np.pi)
        exact = {"relu2": 0.5, "abs": -half, "absmax": half, "kurtosis": -half, "skewness": 0.0}
        for name, value in exact.items():
            assert_allclose(normal_value(make_index(name)), value, atol=1e-6)

    def test_spreads_of_normal_scores_are_the_closed_forms(self):
        """The parts along 1, t, t^2 are fixed: |t| keeps 1 - 3 / pi, t^3 keeps 6."""
        assert_allclose(normal_spread(Abs()), np.sqrt(1 - 3 / np.pi), rtol=1e-5)
        assert_allclose(normal_spread(Skewness()), np.sqrt(6), rtol=1e-5)

    @pytest.mark.parametrize("psi", [ReLU2(), AbsMax(), Skewness()])
    def test_spread_is_the_deviation_of_psi_over_many_samples(self, psi):
        draws = stats.zscore(np.random.default_rng(0).standard_normal((400, 3000)), axis=0)
        found = psi.value_of_sample(draws, np).std() * np.sqrt(400)
        assert_allclose(found, normal_spread(psi), rtol=0.1)

    @pytest.mark.parametrize("name", PORTFOLIO)
    def test_noise_shrinks_with_rows_and_grows_with_columns(self, name):
        for whitened in (True, False):
            base = noise_level(name, 400, 20, whitened=whitened)
            more_rows = noise_level(name, 800, 20, whitened=whitened)
            more_columns = noise_level(name, 400, 40, whitened=whitened)
            assert more_rows.mean < base.mean < more_columns.mean
            assert base.deviation > more_rows.deviation > 0

    def test_beyond_the_table_noise_goes_with_the_root_of_the_rows(self):
        normal = normal_value(Skewness())
        few, many = (noise_level("skewness", n, 20, whitened=True) for n in (10_000, 40_000))
        assert_allclose((few.mean - normal) / (many.mean - normal), 2, rtol=1e-12)
        assert_allclose(few.deviation / many.deviation, 2, rtol=1e-12)

    @pytest.mark.parametrize("name", PORTFOLIO)
    def test_searches_of_noise_find_what_the_table_says(self, name):
        """Between the shapes of the table, 200 x 14: the mean of six within three deviations."""
        psi, found = selection_index(make_index(name)), []
        for seed in range(100, 106):
            X = np.random.default_rng(seed).standard_normal((200, 14))
            rows = fit_whitening(X).apply(X)
            looked = adaptive_ascent(rows, index=name, most_stages=2, random_state=seed)
            found.append(standard_values_along(psi, looked.directions, rows).max())
        noise = noise_level(name, 200, 14, whitened=True)
        assert abs(np.mean(found) - noise.mean) < 3 * noise.deviation

    def test_standard_values_are_those_of_scores_at_variance_one(self):
        rows = np.random.default_rng(0).exponential(size=(900, 5)) * [1, 2, 3, 4, 5]
        rows -= rows.mean(axis=0)
        directions = np.eye(5)[:3]
        exact = np.mean(stats.zscore(rows[:, :3]) ** 3, axis=0)
        assert_allclose(
            standard_values_along(Skewness(), directions, rows) / exact,
            Skewness().value_of_sample(stats.zscore(rows[:, :3]), np) / exact,
            rtol=1e-10,
        )


class TestWhoWins:
    @pytest.mark.parametrize(
        ("signal", "able"),
        [
            (ImbalancedClusters(0.1), {"relu2", "skewness", "abs", "kurtosis"}),
            (BernoulliRademacher(0.2), {"abs", "kurtosis"}),
            (ImbalancedClusters(0.5), {"absmax"}),
        ],
    )
    def test_each_signal_is_found_by_an_index_that_can(self, signal, able):
        pursuit, _, alignment = fitted(signal)
        assert alignment > 0.99
        assert pursuit.indices_[0] in able
        assert pursuit.standard_values_[0] > 10  # deviations beyond noise

    def test_values_are_of_the_index_that_found_the_direction(self):
        pursuit, X, _ = fitted(
            ImbalancedClusters(0.1), n_components=4, n_starts=40, n_steps=20, whiten="exact"
        )
        scores = stats.zscore(pursuit.transform(X))
        for j, name in enumerate(pursuit.indices_):
            psi = selection_index(make_index(name))
            own = psi.value_of_sample(scores[:, [j]], np)[0]
            assert_allclose(pursuit.index_values_[j], own, rtol=1e-9)
            noise = noise_level(name, 700, 12, whitened=True)
            strength = (own - noise.mean) / noise.deviation
            assert_allclose(pursuit.standard_values_[j], strength, rtol=1e-6)
        for clear in (True, False):
            assert np.all(np.diff(pursuit.standard_values_[pursuit.clear_ == clear]) <= 0)

    @pytest.mark.parametrize("multiple", ["merge", "deflate"])
    @pytest.mark.parametrize("solver", ["adaptive", "two-step"])
    def test_every_solver_and_way_to_several(self, multiple, solver):
        pursuit, _, alignment = fitted(
            ImbalancedClusters(0.1),
            n_components=2,
            n_starts=40,
            n_steps=12,
            multiple=multiple,
            solver=solver,
        )
        assert alignment > 0.99
        assert pursuit.components_.shape == (2, 12)
        assert len(pursuit.indices_) == 2

    def test_one_psi_for_all_ranks_as_it_is(self):
        pursuit, _, alignment = fitted(
            ImbalancedClusters(0.3), select="dip", n_components=3, n_starts=40, n_steps=12
        )
        assert alignment > 0.99
        assert np.all(np.diff(pursuit.standard_values_) <= 0)
        assert_allclose(pursuit.standard_values_, pursuit.index_values_, rtol=1e-9)

    def test_whitening_is_chosen_among_what_all_indices_see(self):
        """A direction that shows by its own variance: exact whitening would lose it."""
        X, direction, _ = make_planted(160, 40, GaussianMixture(0.1, 6.0), random_state=0)
        by_hand, auto = (
            ProjectionPursuit(index, n_starts=64, n_steps=30, random_state=0).fit(X)
            for index in ("relu2", "auto")
        )
        assert by_hand.whiten_ == auto.whiten_ != "exact"
        assert abs(auto.components_[0] @ direction) > 0.9


class TestTheContract:
    def test_the_same_search_again_finds_the_same(self):
        pursuit, X, _ = fitted(ImbalancedClusters(0.1))
        assert_array_equal(pursuit.search_again(X, 0), pursuit.standard_values_)

    def test_p_values_repeat_the_whole_portfolio(self):
        options = {"n_starts": 20, "n_steps": 5, "significance": 9}
        assert fitted(ImbalancedClusters(0.1), **options)[0].p_values_ == [0.1]
        noise = np.random.default_rng(0).standard_normal((200, 5))
        pursuit = ProjectionPursuit("auto", random_state=0, **options).fit(noise)
        assert pursuit.p_values_[0] > 0.1
        assert pursuit.null_values_.shape == (9,)

    def test_a_model_keeps_who_found_what(self, tmp_path):
        pursuit, X, _ = fitted(BernoulliRademacher(0.1), n_starts=40, n_steps=10)
        again = load_model(save_model(pursuit, tmp_path / "found.sightline"))
        assert again.indices_ == pursuit.indices_
        assert_array_equal(again.transform(X), pursuit.transform(X))

    def test_one_index_names_itself(self):
        X = make_planted(300, 5, random_state=0)[0]
        pursuit = ProjectionPursuit(
            "skewness", n_components=2, n_starts=20, multiple="deflate", random_state=0
        ).fit(X)
        assert pursuit.indices_ == ["skewness"] * 2
        assert members("skewness") == (Skewness(),)
        assert members("auto")[3] == Kurtosis()

    def test_step_sizes_have_no_use(self):
        X = make_planted(60, 3, random_state=0)[0]
        with pytest.raises(ValueError, match=r"step_sizes=\(1, 2\) has no use with index='auto'"):
            ProjectionPursuit("auto", step_sizes=(1, 2)).fit(X)

    def test_a_stream_that_is_read_once_takes_one_index(self):
        assert hasattr(ProjectionPursuit("abs"), "partial_fit")
        assert not hasattr(ProjectionPursuit("auto"), "partial_fit")
