"""`sightline reproduce` as a user runs it."""

import dataclasses
import importlib

import pytest

import sightline.experiments
from tiny_figure import TINY


@pytest.fixture
def tiny(monkeypatch):
    """The tiny figure as the only one."""
    monkeypatch.setattr(sightline.experiments, "FIGURES", {"tiny": TINY})


def needing_data():
    def prepare(_):
        raise FileNotFoundError("HAR is not there: put its files into data.")

    return dataclasses.replace(TINY, name="real", prepare=prepare)


def test_writes_a_folder_and_says_the_verdict(run, tiny, tmp_path):
    outcome = run("reproduce", "tiny", "--jobs", 1)
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout == "tiny: 1 of 1 statements held, 1 open. sightline-tiny/REPORT.md\n"
    assert (tmp_path / "sightline-tiny" / "figure.pdf").exists()


def test_going_on_needs_no_force_and_changes_nothing(run, tiny, tmp_path):
    run("reproduce", "tiny", "--jobs", 1, "--output", "here")
    before = {p.name: p.read_bytes() for p in (tmp_path / "here").iterdir() if p.is_file()}
    outcome = run("reproduce", "tiny", "--jobs", 1, "--output", "here")
    assert outcome.exit_code == 0
    after = {p.name: p.read_bytes() for p in (tmp_path / "here").iterdir() if p.is_file()}
    assert after == before


def test_another_seed_is_refused_and_forced(run, tiny):
    run("reproduce", "tiny", "--scale", "smoke", "--jobs", 1)
    refused = run("reproduce", "tiny", "--scale", "smoke", "--seed", 1, "--jobs", 1)
    assert refused.exit_code == 2
    assert "seed 0, now 1" in refused.stderr
    assert "--force" in refused.stderr
    forced = run("reproduce", "tiny", "--scale", "smoke", "--seed", 1, "--jobs", 1, "--force")
    assert forced.exit_code == 0


def test_unknown_figure_lists_all(run):
    outcome = run("reproduce", "nope")
    assert outcome.exit_code == 2
    assert "'nope'" in outcome.stderr
    for name in sightline.experiments.FIGURES:
        assert name in outcome.stderr


def test_all_makes_an_index_and_goes_on_without_data(run, monkeypatch, tmp_path):
    both = {"real": needing_data(), "tiny": TINY}
    monkeypatch.setattr(sightline.experiments, "FIGURES", both)
    outcome = run("reproduce", "all", "--jobs", 1)
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.splitlines()[-1] == "sightline-all/index.html"
    page = (tmp_path / "sightline-all" / "index.html").read_text()
    assert 'src="tiny/figure.png"' in page
    assert "Means are under 1." in page
    assert "Not there: HAR is not there" in page


def test_missing_data_are_said_before_anything_runs(run, monkeypatch, tmp_path):
    monkeypatch.setattr(sightline.experiments, "FIGURES", {"real": needing_data()})
    outcome = run("reproduce", "real", "--jobs", 1)
    assert outcome.exit_code == 66
    assert "put its files into data" in outcome.stderr
    assert not (tmp_path / "sightline-real").exists()


def test_jobs_and_dask_exclude_each_other(run):
    outcome = run("reproduce", "tiny", "--jobs", 2, "--dask", "tcp://localhost:1")
    assert outcome.exit_code == 2
    assert "--jobs has no use with --dask" in outcome.stderr


def test_a_gpu_that_is_not_there(run, tiny):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    outcome = run("reproduce", "tiny", "--device", "cuda")
    assert outcome.exit_code == 2
    assert "finds no CUDA GPU" in outcome.stderr
    assert "--device=cpu" in outcome.stderr


def test_a_cluster_that_does_not_answer(run, tiny, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("sightline.experiments.workers._PATIENCE", "1s")
    outcome = run("reproduce", "tiny", "--dask", "tcp://127.0.0.1:9")
    assert outcome.exit_code == 74
    assert "no scheduler answers" in outcome.stderr


def test_a_log_gets_lines_with_the_time_left(run, tiny, monkeypatch):
    module = importlib.import_module("sightline.cli.reproduce")  # the command has its name
    monkeypatch.setattr(module, "_LOG_EVERY", 0.0)
    outcome = run("reproduce", "tiny", "--scale", "smoke", "--jobs", 1)
    lines = outcome.stderr.splitlines()
    assert lines[0].startswith("tiny: 1 of 4 cells, about ")
    assert lines[-1] == "tiny: 4 of 4 cells, about 0 min left"
    assert "\x1b" not in outcome.stderr
    assert run("reproduce", "tiny", "--scale", "smoke", "--jobs", 1, "--quiet").stderr == ""


def test_config_file_holds_options(run, tiny, tmp_path):
    (tmp_path / "c.toml").write_text('[reproduce]\nscale = "smoke"\njobs = 1\n')
    outcome = run("reproduce", "tiny", "--config", "c.toml")
    assert outcome.exit_code == 0
    assert "not judged" in outcome.stdout
