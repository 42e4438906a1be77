"""The benchmarks themselves, on small shapes: what is measured, not how long it takes."""

import numpy as np
import pytest

from sightline.benchmarking import scaling, speed


def test_step_has_a_line_for_every_task_and_thread_count(monkeypatch):
    monkeypatch.setattr(speed, "_STEP_ROWS", 64)
    monkeypatch.setattr(speed, "_CUBE", 16)
    report = speed.step(0, 1)
    lines = [(row["threads"], row["clock"], row["task"]) for row in report.rows]
    tasks = ["cube", "bare products", "relu2", "abs", "kurtosis", "logcosh"]
    runs = (("one", "wall"), ("one", "processor"), ("all", "wall"))
    assert lines == [(*run, task) for run in runs for task in tasks]
    assert all(row["GFLOP/s"] > 0 for row in report.rows)
    assert report.rows[0]["of the cube's"] == report.rows[1]["of the bare products'"] == 1


def test_fit_has_a_line_for_every_index_and_dtype(monkeypatch):
    monkeypatch.setattr(speed, "_ROWS", 120)
    monkeypatch.setattr(speed, "_BATCH", 30)
    monkeypatch.setattr(speed, "_STARTS", 10)
    monkeypatch.setattr(speed, "_peak_memory", lambda: (400.0, 12.0))
    report = speed.fit(0, 1)
    runs = (("one", "wall"), ("one", "processor"), ("all", "wall"))
    assert [(row["dtype"], row["threads"], row["clock"], row["index"]) for row in report.rows] == [
        (dtype, *run, index)
        for dtype in ("float32", "float64")
        for run in runs
        for index in speed._INDICES
    ]
    for row in report.rows:
        assert row["ratio"] == pytest.approx(row["fit, s"] / row["bare products, s"])
        if row["index"] == "approx-entropy":  # shares no scores: it makes those that are printed
            assert row["ratio to those made"] == row["ratio"]
    assert report.notes == ("peak memory of a fit above its data: 12 MB for 400 MB of data",)


def test_bare_products_are_those_that_are_said(monkeypatch):
    monkeypatch.setattr(speed, "_BATCH", 30)
    X, made = np.ones((120, 100)), 120 * (1 - (1 - 1 / 120) ** 30)
    counted, product = [], np.matmul

    def counting(a, b, out):
        counted.append(a.shape[0] * a.shape[1] * b.shape[1])
        return product(a, b, out=out)

    monkeypatch.setattr(speed.np, "matmul", counting)
    for features, rows in ((1, 2 * 30 + 120), (2, 3 * 30 + 120), (None, round(made) + 120)):
        counted.clear()
        speed._bare_products(X, features)()
        assert sum(counted) == 100 * speed._STARTS * (2 * speed._STEPS * rows + 120)


@pytest.mark.slow
def test_peak_memory_is_that_of_a_fit():
    data, extra = speed._peak_memory()
    assert data == 400
    assert 0 < extra < data


def test_cost_goes_along_three_axes_from_one_base(monkeypatch):
    base = {"rows": 256, "columns": 8, "starts": 8}
    ladders = {"rows": (64, 128, 256, 512), "columns": (4, 8, 16, 32), "starts": (4, 8, 16, 32)}
    monkeypatch.setattr(scaling, "BASE", base)
    monkeypatch.setattr(scaling, "LADDERS", ladders)
    report = scaling.cost(0, 1)
    for row in report.rows:
        others = {name: row[name] for name in base if name != row["axis"]}
        assert others.items() <= base.items()
        assert row[row["axis"]] in ladders[row["axis"]]
        assert row["over bare products"] > 0
    assert [note.split(":")[0] for note in report.notes] == [
        "slope against rows",
        "slope against columns",
        "slope against starts",
    ]
