import itertools

import numpy as np
import pytest

from sightline.benchmarking import hardware, in_turns
from sightline.benchmarking.scaling import slope


def test_tasks_take_turns_and_the_first_run_does_not_count():
    ran = []
    ticks = itertools.count()
    seconds = in_turns(
        {"a": lambda: ran.append("a"), "b": lambda: ran.append("b")},
        rounds=3,
        clock=lambda: float(next(ticks)),
    )
    assert ran == ["a", "b"] * 4
    assert seconds == {"a": 1.0, "b": 1.0}  # the clock ticks once in each


def test_a_pause_comes_before_each_task_and_does_not_count(monkeypatch):
    events = []
    monkeypatch.setattr("time.sleep", events.append)
    tasks = {"a": lambda: events.append("a"), "b": lambda: events.append("b")}
    in_turns(tasks, 2, clock=lambda: events.append("clock") or 0.0, pause=0.5)
    assert events == ["a", "b", *[0.5, "clock", "a", "clock", 0.5, "clock", "b", "clock"] * 2]


def test_median_of_the_rounds():
    readings = iter([0.0, 1.0, 0.0, 5.0, 0.0, 2.0])
    assert in_turns({"a": lambda: None}, 3, clock=lambda: next(readings)) == {"a": 2.0}


def test_slope_of_a_power_law():
    sizes = (10, 20, 40, 80)
    assert slope(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)


def test_hardware_names_the_blas_and_the_versions():
    machine = hardware()
    assert machine["numpy"] == np.__version__
    assert machine["blas"], "a BLAS is loaded with numpy"
    assert all(machine.values())
