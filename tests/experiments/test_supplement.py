"""Judgements of the maps of the supplement, on summaries with a known answer."""

import numpy as np
import pytest

from sightline.experiments import FIGURES, Context
from sightline.experiments.figures import ambient, anisotropic, unequal_variance


def unequal_summary(alignment):
    rows = [
        {"n": n, "method": method, "whiten": "exact", "delta": delta, "lambda": lam}
        | {"alignment": alignment(method, delta, lam)}
        for n in (400, 4000)
        for method in ("relu2", "adaptive")
        for delta in (0.0, 4.0, 8.0)
        for lam in (0.5, 1.0, 2.0)
    ]
    return unequal_variance.summarise(rows)


def test_unequal_variance_compares_the_sides_of_one():
    rising = unequal_summary(lambda _, delta, lam: min(1.0, delta * lam / 8))
    assert [finding.held for finding in unequal_variance.judge(rising)] == [True] * 4
    falling = unequal_summary(
        lambda method, delta, lam: (delta > 0) * (0.4 / lam if method == "relu2" else 0.1)
    )
    assert [finding.held for finding in unequal_variance.judge(falling)] == [False] * 4


def anisotropic_summary(alignment):
    rows = [
        {"n": 700, "method": method, "whiten": whiten, "p": p, "lambda": lam}
        | {"alignment": alignment(whiten, p, lam)}
        for method, whiten in (("relu2", "none"), ("relu2", "exact"), ("adaptive", "exact"))
        for p in (0.1, 0.2, 0.3)
        for lam in (0.0, 2.0, 10.0)
    ]
    return anisotropic.summarise(rows)


def test_anisotropic_judges_both_readings_of_the_rows():
    summary = anisotropic_summary(
        lambda whiten, p, lam: lam / 10 * (p if whiten == "none" else 1 - p)
    )
    held = [finding.held for finding in anisotropic.judge(summary)]
    assert held == [False, True, True, True, True]


@pytest.mark.parametrize(
    ("module", "maker"),
    [(unequal_variance, "make_unequal_variance"), (anisotropic, "make_anisotropic")],
)
def test_methods_see_the_same_rows(module, maker, monkeypatch):
    (figure,), seeds = module.FIGURES, []
    original = getattr(module, maker)

    def remember(*arguments):
        seeds.append(arguments[-1])
        return original(*arguments)

    monkeypatch.setattr(module, maker, remember)
    first = figure.cells["smoke"][0]
    same = [
        cell
        for cell in figure.cells["smoke"]
        if all(cell[key] == first[key] for key in cell if key not in {"method", "whiten"})
    ]
    for cell in same:
        figure.measure(cell, Context(0))
    assert len(same) > 1
    assert len(set(seeds)) == 1


def ambient_summary(proposed, best, own):
    rows = [
        {"signal": signal, "ambient": around, "n": 600, "index": "relu2"}
        | {"panel": panel, "alignment": values[around]}
        for signal in ambient.SIGNALS
        for around in ambient.AMBIENTS
        for panel, values in (("proposed", proposed), ("best", best), ("adaptive", own))
    ]
    return ambient.summarise(rows)


def test_ambient_tells_a_failing_choice_from_a_failing_ascent():
    found = dict.fromkeys(ambient.AMBIENTS, 1.0)
    lost = found | {"student-t": 0.1}
    held = [finding.held for finding in ambient.judge(ambient_summary(lost, found, found))]
    assert held == [True, True, True]
    held = [finding.held for finding in ambient.judge(ambient_summary(found, found, lost))]
    assert held == [False, True, False]
    held = [finding.held for finding in ambient.judge(ambient_summary(lost, lost, lost))]
    assert held == [False, True, True]


def test_the_best_direction_is_never_worse_than_the_chosen_one():
    cells = [c for c in FIGURES["ambient"].cells["smoke"] if c["solver"] == "two-step"]
    for cell in cells[::3]:
        rows = {row["panel"]: row["alignment"] for row in ambient.measure(cell, Context(1))}
        assert 0 <= rows["proposed"] <= rows["best"] <= 1 + np.finfo(np.float32).eps
