"""whiten="auto": noise spectra are whitened, variance that carries structure is kept."""

import numpy as np
import pytest

from sightline import ProjectionPursuit, whitening_choice
from sightline.datasets import GaussianMixture, ImbalancedClusters, make_planted
from sightline.whitening import fit_whitening
from sightline.whitening_choice import _candidates, choose_whitening


def chosen(X, index="relu2", **options):
    return choose_whitening(X, "auto", index=index, rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize("shape", [(120, 32), (400, 100), (3000, 40)])
def test_a_spectrum_of_pure_noise_is_whitened_without_a_fit(shape):
    for seed in range(5):
        X, _, _ = make_planted(*shape, signal=ImbalancedClusters(0.1), random_state=seed)
        assert [(c.method, c.rank) for c in _candidates(X, None)] == [("exact", None)]


def test_plenty_of_rows_are_whitened_whatever_the_spectrum():
    X = np.random.default_rng(0).standard_normal((1000, 5)) @ np.random.default_rng(
        1
    ).standard_normal((5, 5))
    assert chosen(X).method == "exact"


def test_a_direction_that_shows_by_its_variance_is_not_whitened_away():
    """0.9 N(0,1) + 0.1 N(5,1) at d = 100, n = 400: whitened it is lost in most data sets."""
    auto, exact = [], []
    for seed in range(4):
        X, direction, _ = make_planted(400, 100, signal=GaussianMixture(), random_state=seed)
        for found, whiten in ((auto, "auto"), (exact, "exact")):
            fitted = ProjectionPursuit(whiten=whiten, n_starts=256, random_state=seed).fit(X)
            found.append(abs(float(fitted.components_[0] @ direction)))
    assert np.mean(auto) > 0.9
    assert np.mean(auto) > np.mean(exact) + 0.2


def test_fewer_rows_than_columns_have_an_answer():
    X = np.random.default_rng(0).standard_normal((40, 60)) * np.linspace(1, 3, 60)
    assert chosen(X).method in ("shrunk", "none", "exact")
    assert chosen(X, rank=10).rank == 10


def test_a_method_that_is_named_is_taken():
    X = np.random.default_rng(0).standard_normal((100, 4))
    rng = np.random.default_rng(0)
    for method in ("exact", "shrunk", "none"):
        ours = choose_whitening(X, method, index="relu2", rng=rng)
        np.testing.assert_array_equal(ours.matrix, fit_whitening(X, method).matrix)
    with pytest.raises(ValueError, match="whiten='zca' is unknown; choose from 'auto', 'exact'"):
        choose_whitening(X, "zca", index="relu2", rng=rng)


@pytest.mark.parametrize("n", [3, 5, 8])
def test_a_handful_of_rows_is_an_error_or_an_answer(n):
    X = np.random.default_rng(0).standard_normal((n, 2))
    try:
        assert np.isfinite(chosen(X).apply(X)).all()
    except ValueError as error:
        assert "rows" in str(error)  # noqa: PT017  (either is right; which depends on n)


def test_the_variances_of_principal_components_are_not_taken_for_noise():
    """Decorrelated columns look less than random; independent ones do not count as such."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40)) @ rng.standard_normal((40, 40))
    components = fit_whitening(X, "none", rank=40).apply(X)
    assert len(_candidates(components, None)) > 1
    for seed in range(20):
        independent = np.random.default_rng(seed).standard_normal((60, 3))
        assert [choice.method for choice in _candidates(independent, None)] == ["exact"]


def overlapping_groups_beside_tails(n=600, d=40, seed=0):
    """Two groups 3.6 apart, 2 : 1, where variance is large; skewed scores where it is small."""
    rng = np.random.default_rng(seed)
    X = np.exp(0.5 * rng.standard_normal((n, d)))
    X[:, 0] = 6 * (rng.standard_normal(n) + 3.6 * (np.arange(n) < n // 3))
    return X @ np.linalg.qr(rng.standard_normal((d, d)))[0]


def test_groups_that_overlap_come_before_a_longer_tail(monkeypatch):
    """Their dip is clear on neither half, and psi is larger where the tail is."""
    tables = [overlapping_groups_beside_tails(seed=seed) for seed in range(2)]
    assert [chosen(X).method for X in tables] == ["none"] * 2
    monkeypatch.setattr(whitening_choice, "_EVIDENCE", np.inf)
    assert "none" not in [chosen(X).method for X in tables]


def test_groups_are_seen_on_either_side_and_not_in_a_single_cluster():
    rng = np.random.default_rng(0)
    seen, unseen = (rng.standard_normal(300) + 3.6 * (np.arange(300) < 75) for _ in range(2))
    assert whitening_choice._groups(seen, unseen)
    assert whitening_choice._groups(-seen, -unseen)
    assert not whitening_choice._groups(seen, rng.standard_normal(300))
    assert not whitening_choice._groups(seen[::20], unseen[::20])
    assert not whitening_choice._groups(np.zeros(300), unseen)
    for law in (rng.standard_normal, lambda n: rng.standard_t(3, n)):
        assert not any(whitening_choice._groups(law(300), law(300)) for _ in range(20))
