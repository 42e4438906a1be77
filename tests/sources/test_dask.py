"""Dask arrays and frames: the bits of an array, whatever the chunks, the workers and their end."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from sightline import ProjectionPursuit, adaptive_ascent, estimators, two_step_gradient_ascent
from sightline.datasets import make_planted
from sightline.lazy import UNIT

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

OPTIONS = {"n_starts": 8, "n_steps": 3, "random_state": 0}


@pytest.fixture(scope="module")
def values():
    return make_planted(5 * UNIT + 99, 6, random_state=0)[0].astype(np.float32)


@pytest.fixture(scope="module")
def expected(values):
    return {solver: pursuit(solver).fit(values) for solver in ("adaptive", "two-step")}


@pytest.fixture(scope="module")
def client():
    with cluster(2) as workers, distributed.Client(workers) as one:
        yield one


def cluster(workers):
    """Workers of one thread each, in processes that are started again when they end."""
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    )


def pursuit(solver="adaptive"):
    return ProjectionPursuit(solver=solver, **OPTIONS)


def same(found, expected):
    return all(
        np.array_equal(getattr(found, name), getattr(expected, name))
        for name in ("components_", "index_values_", "standard_values_", "mean_", "converged_")
    )


def tables(values):
    frame = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(values, columns=list("abcdef"))
    array = da.from_array(values, chunks=(UNIT, 6))
    return {
        "whole": da.from_array(values, chunks=-1),
        "odd chunks": da.from_array(values, chunks=(3333, 4)),
        "unknown lengths": array[array[:, 0] > -np.inf],
        "frame": frame.from_pandas(named, npartitions=3),
    }


@pytest.mark.parametrize("kind", ["whole", "odd chunks", "unknown lengths", "frame"])
def test_without_a_client_the_bits_are_those_of_an_array(kind, values, expected):
    X, solver = tables(values)[kind], "adaptive" if kind == "odd chunks" else "two-step"
    found = pursuit(solver).fit(X)
    assert same(found, expected[solver])
    scores = found.transform(X)
    assert isinstance(scores, da.Array)
    assert scores.shape == (len(values), 1)
    np.testing.assert_array_equal(scores.compute(), expected[solver].transform(values))
    if kind == "frame":
        assert found.feature_names_in_.tolist() == list("abcdef")


@pytest.mark.parametrize(
    ("kind", "solver"),
    [
        ("frame", "two-step"),
        pytest.param("odd chunks", "adaptive", marks=pytest.mark.slow),
        pytest.param("unknown lengths", "two-step", marks=pytest.mark.slow),
    ],
)
@pytest.mark.usefixtures("client")
def test_on_workers_the_bits_are_those_of_an_array(kind, solver, values, expected):
    X = tables(values)[kind]
    found = pursuit(solver).fit(X)
    assert same(found, expected[solver])
    scores = found.transform(X).compute()
    np.testing.assert_array_equal(scores, expected[solver].transform(values))


def test_a_step_is_one_task_a_chunk_and_one_that_adds(values, client, monkeypatch):
    tasks = []

    def counted(method, size):
        original = getattr(client, method)

        def call(*arguments, **options):
            tasks.append(size(arguments))
            return original(*arguments, **options)

        monkeypatch.setattr(client, method, call)

    def in_a_fit(steps):
        tasks.clear()
        options = OPTIONS | {"n_steps": steps}
        ProjectionPursuit(solver="two-step", **options).fit(da.from_array(values, chunks=UNIT))
        return len(tasks), sum(tasks)

    counted("map", lambda arguments: len(arguments[1]))
    counted("submit", lambda arguments: 1)
    calls, work = np.subtract(in_a_fit(3), in_a_fit(2))
    folds = calls // 2
    assert folds in {2, 4}  # gradients of two runs, and psi where it does not come with them
    assert work == folds * (3 + 1)  # chunks of 8192 rows: two workers, and rows to spare


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_is_named_with_its_row(value, values):
    broken = values.copy()
    broken[UNIT + 7, 2] = value
    with pytest.raises(ValueError, match=rf"column 2 at row {UNIT + 7}"):
        pursuit().fit(da.from_array(broken, chunks=(3333, 6)))


@pytest.mark.usefixtures("client")
def test_rows_that_workers_refuse_are_not_read_again(values, tmp_path):
    """Dask tries a task that failed again, ten times; what is wrong with rows stays wrong."""
    read = tmp_path / "read"

    def broken(rows):
        with read.open("a") as file:
            file.write("x")
        rows = rows.copy()
        rows[7, 2] = np.nan
        return rows

    table = da.from_array(values, chunks=-1).map_blocks(
        broken, dtype=values.dtype, meta=values[:0]
    )
    with pytest.raises(ValueError, match="column 2 at row 7"):
        pursuit().fit(table)
    assert read.read_text() == "x"
    fitted = pursuit("two-step").fit(da.from_array(values, chunks=-1))
    with pytest.raises(ValueError, match="column 2 at row 7"):
        fitted.transform(table).compute()


def test_columns_that_are_no_numbers_are_named(values):
    pandas = pytest.importorskip("pandas")
    frame = pytest.importorskip("dask.dataframe")
    table = frame.from_pandas(pandas.DataFrame({"a": [1.0, 2], "word": ["x", "y"]}))
    with pytest.raises(ValueError, match="column 'word' holds"):
        pursuit().fit(table)
    with pytest.raises(ValueError, match=r"Dask Array of 1 dimension.*X\[:, None\]"):
        pursuit().fit(da.from_array(values[:, 0]))
    with pytest.raises(ValueError, match=r"Dask Series of 1 dimension.*to_frame"):
        pursuit().fit(table["a"])
    with pytest.raises(ValueError, match=r"dtype object.*astype\('float64'\)"):
        pursuit().fit(da.from_array(values.astype(object), chunks=5000))


def test_nullable_columns_and_those_of_arrow_are_numbers(values, expected):
    pandas = pytest.importorskip("pandas")
    frame = pytest.importorskip("dask.dataframe")
    named = pandas.DataFrame(values, columns=list("abcdef"))
    kinds = {"a": "Float32", "b": "float[pyarrow]"}
    assert same(
        pursuit("two-step").fit(frame.from_pandas(named.astype(kinds), npartitions=3)),
        expected["two-step"],
    )
    holes = named.astype({"c": "Float64"})
    holes.loc[77, "c"] = pandas.NA
    with pytest.raises(ValueError, match="column 'c' at row 77"):
        pursuit().fit(frame.from_pandas(holes, npartitions=3))


def test_some_columns_of_parquet_files_are_a_table(values, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pytest.importorskip("dask.dataframe")
    named = pandas.DataFrame(values, columns=list("abcdef"))
    for i in range(4):
        named[i * 5000 : (i + 1) * 5000].to_parquet(tmp_path / f"{i}.parquet")
    table = frame.read_parquet(tmp_path)
    few = pursuit("two-step").fit(table[["a", "b"]])
    assert few.feature_names_in_.tolist() == ["a", "b"]
    assert few.transform(table[["a", "b"]]).compute().shape == (20_000, 1)
    with pytest.raises(ValueError, match="6 features, but ProjectionPursuit is expecting 2"):
        few.transform(table)
    with pytest.raises(ValueError, match=r"column 0 of X is 'b', but .* fitted with 'a'"):
        few.transform(table[["b", "a"]])


@pytest.mark.parametrize("name", sorted(estimators.__all__))
def test_every_estimator_takes_arrays_and_frames(name, values):
    few = values[:300].astype(float)
    quick = {"random_state": 0, "index": "relu2", "n_starts": 8}
    estimator = getattr(estimators, name)()
    estimator.set_params(**{k: v for k, v in quick.items() if k in estimator.get_params()})
    method = "transform" if hasattr(estimator, "transform") else "predict"
    expected = getattr(estimator.fit(few), method)(few)
    array = da.from_array(few, chunks=(77, 3))
    assert np.array_equal(np.asarray(getattr(estimator.fit(array), method)(array)), expected)
    table = dd.from_dask_array(array, columns=list("abcdef"))
    assert np.array_equal(np.asarray(getattr(estimator.fit(table), method)(table)), expected)
    assert estimator.feature_names_in_.tolist() == list("abcdef")


@pytest.mark.parametrize("solve", [adaptive_ascent, two_step_gradient_ascent])
def test_solvers_take_arrays(solve, values):
    few = values[:300]
    options = {"index": "relu2", "n_starts": 60, "n_steps": 2, "random_state": 0}
    found = solve(da.from_array(few, chunks=(77, 3)), **options)
    assert np.array_equal(found.directions, solve(few, **options).directions)


def test_dask_is_not_loaded_for_other_tables():
    code = (
        "import sys, numpy as np; from sightline import ProjectionPursuit;"
        "ProjectionPursuit(n_starts=4).fit(np.random.default_rng(0).standard_normal((99, 3)));"
        "assert not {'dask', 'distributed', 'zarr'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def worker_pids(client):
    return list(client.run(os.getpid).values())


class Killer(threading.Thread):
    """Sends a signal to a worker, or to all, time after time, until it is stopped."""

    def __init__(self, client, times, *, everyone=False, pause=0.4, what=signal.SIGKILL):
        super().__init__(daemon=True)
        self.client, self.times, self.everyone = client, times, everyone
        self.pause, self.what = pause, what
        self.stopped, self.sent = threading.Event(), 0

    def run(self):
        while self.sent < self.times and not self.stopped.wait(self.pause):
            pids = [int(worker["pid"]) for worker in self.workers() if worker.get("pid")]
            for pid in pids if self.everyone else pids[:1]:
                os.kill(pid, self.what)
                self.sent += 1

    def workers(self):
        found = self.client.cluster.workers.values()
        return [{"pid": nanny.pid} for nanny in found if nanny.status.name == "running"]


def fit_under(killer, X, **options):
    killer.start()
    try:
        return ProjectionPursuit(solver="two-step", **OPTIONS | options).fit(X)
    finally:
        killer.stopped.set()
        killer.join()


def test_a_worker_that_is_killed_costs_no_bit(values, expected):
    with cluster(2) as workers, distributed.Client(workers) as client:
        killer = Killer(client, 1, pause=0.05)
        found = fit_under(killer, da.from_array(values, chunks=(UNIT, 6)))
        assert killer.sent == 1
    assert same(found, expected["two-step"])


@pytest.mark.slow
@pytest.mark.parametrize("everyone", [False, True], ids=["one at a time", "all at once"])
def test_twenty_kills_cost_no_bit(everyone):
    X = make_planted(24 * UNIT, 8, random_state=1)[0]
    options = {"n_steps": 400, "n_starts": 200}
    reference = ProjectionPursuit(solver="two-step", **OPTIONS | options).fit(X)
    with cluster(2) as workers, distributed.Client(workers) as client:
        killer = Killer(client, 20, everyone=everyone, pause=2.0)
        found = fit_under(killer, da.from_array(X, chunks=(UNIT, 8)), **options)
        assert killer.sent >= 20
    assert same(found, reference)


@pytest.mark.slow
def test_a_worker_that_hangs_is_given_up(values, expected):
    limits = {"distributed.scheduler.worker-ttl": "10s"}
    with dask.config.set(limits), cluster(2) as workers, distributed.Client(workers) as client:
        killer = Killer(client, 1, pause=0.05, what=signal.SIGSTOP)
        start = time.monotonic()
        found = fit_under(killer, da.from_array(values, chunks=(UNIT, 6)))
        assert killer.sent == 1
        assert time.monotonic() - start < 90
    assert same(found, expected["two-step"])
