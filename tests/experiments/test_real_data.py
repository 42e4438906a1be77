"""The figures of real data: what is measured by another road, and how it is judged."""

from pathlib import Path

import numpy as np
import pytest

from sightline.experiments import FIGURES, Context
from sightline.experiments.figures import histograms, information, real_rows


@pytest.fixture
def few_rows(monkeypatch):
    """Three classes in 20 columns, of which one lies apart, instead of files."""
    rng = np.random.default_rng(5)
    labels = rng.choice(3, size=500, p=(0.5, 0.38, 0.12))
    X = rng.standard_normal((500, 20)) + 9.0 * (labels == 2)[:, None] * np.eye(20)[3]
    X[:, 7] = 1.0
    parts = X[:400], labels[:400], X[400:], labels[400:]
    real_rows._reduced.cache_clear()
    monkeypatch.setattr(real_rows, "_loaded", lambda *_: parts)
    yield X
    real_rows._reduced.cache_clear()


def cell_of(method):
    return {"data": "fashion", "n": 300, "d": 10, "n_starts": 30, "set": 0, "method": method}


@pytest.mark.parametrize("method", ["relu2", "max-skew", "adaptive"])
def test_the_class_that_lies_apart_gives_its_gain(few_rows, method):
    rows = information.measure(cell_of(method), Context(0, data_home=Path()))
    best = max(row["gain"] for row in rows)
    labels = real_rows._loaded()[3]
    share = np.mean(labels == 2)
    whole = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
    assert best == pytest.approx(whole, abs=0.02)
    assert len(rows) <= 10
    assert [row["direction"] for row in rows] == list(range(1, len(rows) + 1))


def test_rows_are_drawn_once_for_all_methods_and_constant_columns_left_out(few_rows):
    context = Context(0, data_home=Path())
    first, second = (real_rows.real_rows(cell_of(name), context) for name in ("abs", "relu2"))
    assert first is second
    assert first.train.shape == (300, 10)
    assert first.test.shape == (100, 10)
    moved = real_rows.real_rows(cell_of("abs"), Context(1, data_home=Path()))
    assert not np.array_equal(first.train, moved.train)


def test_histograms_show_directions_that_differ(few_rows):
    context = Context(0, data_home=Path())
    cells = [cell_of(name) for name in ("relu2", "kurtosis", "adaptive")]
    rows = [{**cell, **row} for cell in cells for row in histograms.measure(cell, context)]
    for place in (1, 2):
        scores = np.array(
            [r["score"] for r in rows if r["method"] == "relu2" and r["direction"] == place]
        )
        assert scores.mean() == pytest.approx(0, abs=1e-6)
        assert scores.std() == pytest.approx(1, abs=1e-6)
        assert np.mean(scores**3) >= 0
    summary = histograms.summarise(rows)
    leading = next(row for row in summary if row["method"] == "adaptive")
    assert leading["purity"] == 1.0
    assert leading["main_label"] == real_rows.LABELS["fashion"][2]


def information_summary(few, many):
    rows = [
        {"data": "har", "n": n, "method": method, "gain": gain}
        for n, gains in ((300, few), (7352, many))
        for method, gain in gains.items()
    ]
    return information.summarise(rows)


def test_information_is_judged_by_medians_at_both_ends():
    few = {"relu2": 0.3, "absmax": 0.1, "abs": 0.2, "kurtosis": 0.21, "adaptive": 0.5}
    many = {"relu2": 0.4, "absmax": 0.6, "abs": 0.2, "kurtosis": 0.22, "adaptive": 0.1}
    found = information.judge(information_summary(few, many))
    assert [finding.held for finding in found] == [True, True, True, True]
    found = information.judge(information_summary(many, few))
    assert [finding.held for finding in found] == [False, False, True, False]


def test_missing_files_are_named_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "sightline.datasets.real.fetch_table",
        lambda *_, **__: (_ for _ in ()).throw(FileNotFoundError("put the official files into")),
    )
    real_rows._loaded.cache_clear()
    with pytest.raises(FileNotFoundError, match="put the official files"):
        FIGURES["information-har"].prepare(Context(0, data_home=tmp_path))
