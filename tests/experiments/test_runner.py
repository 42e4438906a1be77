"""Runs that are killed, changed, shared out: the same table comes out, or an error."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sightline.experiments import Context, open_crew, reproduce, run_grid
from sightline.experiments.store import OUTPUTS, BusyError, OtherRunError, sole_run
from tiny_figure import TINY

HELPERS = Path(__file__).parents[1] / "helpers"

RUN = """
import sys
from pathlib import Path
from sightline.experiments import Context, open_crew, run_grid
from tiny_figure import TINY
if __name__ == "__main__":
    with open_crew(int(sys.argv[2])) as crew:
        run_grid(TINY, sys.argv[3], Path(sys.argv[1]), Context(7), crew)
"""


def run_here(folder, scale="quick", seed=7, jobs=1, **options):
    with open_crew(jobs) as crew:
        return run_grid(TINY, scale, folder, Context(seed), crew, **options)


def results(folder):
    return (folder / "results.parquet").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of runs that nothing happened to, by scale."""
    return {
        scale: results(run_here(tmp_path_factory.mktemp(scale), scale).store.folder)
        for scale in ("quick", "paper")
    }


def test_rows_have_their_cell_and_the_order_of_the_grid(tmp_path):
    run = run_here(tmp_path, "smoke")
    table = pq.read_table(tmp_path / "results.parquet")
    assert table.column_names == ["a", "set", "seconds", "value"]
    assert table["a"].to_pylist() == [1] * 6 + [2] * 6
    assert table.to_pylist() == run.rows
    settings = json.loads(table.schema.metadata[b"sightline.settings"])
    assert settings["figure"] == "tiny"
    assert settings["seed"] == 7
    assert "numpy" in settings["versions"]


def test_cells_keep_seed_versions_and_seconds(tmp_path):
    run_here(tmp_path, "smoke")
    records = [json.loads(path.read_text()) for path in (tmp_path / "cells").glob("*.json")]
    assert len(records) == 4
    for record in records:
        assert record["seed"] == 7
        assert record["seconds"] >= 0
        assert {"sightline", "numpy", "python"} <= record["versions"].keys()


def test_processes_give_the_same_bytes(tmp_path, whole):
    run_here(tmp_path, jobs=2)
    assert results(tmp_path) == whole["quick"]


def test_finished_cells_are_not_computed_again(tmp_path, whole):
    run_here(tmp_path)
    victims = sorted((tmp_path / "cells").iterdir())[::5]
    for path in victims:
        path.unlink()
    told = []
    run = run_here(tmp_path, progress=told.append)
    assert run.computed == len(victims) == len(told)
    assert (told[-1].done, told[-1].total, told[-1].part) == (24, 24, 1.0)
    assert results(tmp_path) == whole["quick"]


def test_other_settings_are_refused_and_named(tmp_path):
    run_here(tmp_path, "smoke")
    before = results(tmp_path)
    with pytest.raises(OtherRunError, match=r"seed 7, now 8.*--force"):
        run_here(tmp_path, "smoke", seed=8)
    with pytest.raises(OtherRunError, match="scale 'smoke', now 'quick'"):
        run_here(tmp_path)
    assert results(tmp_path) == before


def test_force_begins_anew(tmp_path, whole):
    run_here(tmp_path, "smoke", seed=8)
    run = run_here(tmp_path, force=True)
    assert run.computed == 24
    assert results(tmp_path) == whole["quick"]
    assert len(list((tmp_path / "cells").iterdir())) == 24


def test_results_of_unknown_settings_are_not_overwritten(tmp_path):
    (tmp_path / "summary.csv").write_text("mine\n")
    with pytest.raises(OtherRunError, match="unknown settings"):
        run_here(tmp_path, "smoke")
    assert (tmp_path / "summary.csv").read_text() == "mine\n"


def test_a_cell_of_another_run_is_never_mixed_in(tmp_path):
    run_here(tmp_path / "one", "smoke", seed=1)
    run_here(tmp_path / "two", "smoke", seed=2)
    name = next((tmp_path / "one" / "cells").iterdir()).name
    stray = (tmp_path / "one" / "cells" / name).read_bytes()
    (tmp_path / "two" / "cells" / name).write_bytes(stray)
    with pytest.raises(OtherRunError, match=f"{name} is of another run"):
        run_here(tmp_path / "two", "smoke", seed=2)


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not held there")
def test_two_runs_do_not_share_a_folder(tmp_path):
    with sole_run(tmp_path), pytest.raises(BusyError, match="another run is at work"):
        run_here(tmp_path, "smoke")
    assert run_here(tmp_path, "smoke").computed == 4


def test_an_error_in_a_worker_comes_through(tmp_path):
    with open_crew(2) as crew, pytest.raises(ZeroDivisionError):
        list(crew(divmod, [(1, 1), (1, 0)]))


def test_a_dask_cluster_gives_the_same_bytes(tmp_path, whole):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        open_crew(1, cluster.scheduler_address) as crew,
    ):
        run_grid(TINY, "quick", tmp_path, Context(7), crew)
    assert results(tmp_path) == whole["quick"]


def test_everything_is_written(tmp_path):
    with open_crew(1) as crew:
        outcome = reproduce(TINY, tmp_path, crew, scale="quick", context=Context(7))
    assert {path.name for path in tmp_path.iterdir()} == {*OUTPUTS, "run.json", "cells"}
    assert outcome.verdict == "1 of 1 statements held, 1 open"
    report = (tmp_path / "REPORT.md").read_text()
    for words in (
        "Means are under 1",
        "**held**",
        "**open**",
        "sightline reproduce tiny --scale quick --seed 7",
        "numpy ",
    ):
        assert words in report
    assert (tmp_path / "summary.csv").read_text().count("\n") == 4


def test_smoke_judges_nothing(tmp_path):
    with open_crew(1) as crew:
        outcome = reproduce(TINY, tmp_path, crew, scale="smoke", context=Context(7))
    assert outcome.findings == ()
    assert "Not judged" in (tmp_path / "REPORT.md").read_text()


def start(folder, jobs, scale):
    paths = os.pathsep.join((str(HELPERS), os.environ.get("PYTHONPATH", "")))
    (folder.parent / "run.py").write_text(RUN)
    return subprocess.Popen(
        [sys.executable, str(folder.parent / "run.py"), str(folder), str(jobs), scale],
        env={**os.environ, "PYTHONPATH": paths, "RUN_IN": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def killed(folder, jobs, scale, wish):
    """Start a run and kill it once it has some more cells; return whether it was still at work."""
    process = start(folder, jobs, scale)
    cells = folder / "cells"

    def count():
        return len(list(cells.glob("*.json"))) if cells.is_dir() else 0

    goal = count() + wish
    while process.poll() is None and count() < goal:
        time.sleep(0.002)
    time.sleep(random.random() * 0.03)  # noqa: S311  (any moment will do)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_runs_go_on_and_end_with_the_same_bytes(tmp_path, whole, jobs):
    folder = tmp_path / "run"
    assert killed(folder, jobs, "quick", 5)
    assert 5 <= len(list((folder / "cells").glob("*.json"))) < 24
    assert not (folder / "results.parquet").exists()
    assert start(folder, jobs, "quick").wait() == 0
    assert results(folder) == whole["quick"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_twenty_kills_at_random_moments(tmp_path, whole, jobs):
    folder = tmp_path / "run"
    for _ in range(20):
        assert killed(folder, jobs, "paper", random.randint(0, 5))  # noqa: S311
    assert start(folder, jobs, "paper").wait() == 0
    assert results(folder) == whole["paper"]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc to look in")
def test_no_worker_outlives_a_killed_run(tmp_path):
    folder = tmp_path / "run"
    assert killed(folder, 2, "paper", 3)
    until = time.monotonic() + 10
    while _workers_of(folder) and time.monotonic() < until:
        time.sleep(0.05)
    assert _workers_of(folder) == []


def _workers_of(folder):
    """Return the processes that were started for a run in this folder."""
    mine = f"RUN_IN={folder}\0".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mine in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:  # it has gone meanwhile, or is somebody else's
            continue
    return found
