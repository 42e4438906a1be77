import os
import shutil
import stat
import sys
import textwrap

import numpy as np
import pytest

from sightline.benchmarking.packages import PACKAGES, Package
from sightline.benchmarking.r_packages import R_PACKAGES, _run
from sightline.benchmarking.race import peers
from sightline.datasets import ImbalancedClusters, make_planted


def directions_of(*rows):
    return lambda X, seed: (np.array(rows, dtype=float), 0.5)


def found(name, run):
    return Package(name, lambda: None, run)


def planted(rows=200, columns=5, seed=0):
    return make_planted(rows, columns, ImbalancedClusters(0.1), random_state=seed)


def test_alignments_of_first_most_skewed_and_best():
    direction = planted()[1]
    across = np.linalg.svd(direction[None, :])[2][1]
    reports = peers(
        0,
        1,
        rows=200,
        columns=5,
        packages=(
            found("right", directions_of(3 * direction)),
            found("third", directions_of(across, 2 * across, -2 * direction)),
        ),
    )
    right, third = reports.rows
    for column in ("first direction", "most skewed direction", "best of all"):
        assert right[column] == pytest.approx(1)
    assert third["first direction"] == pytest.approx(0, abs=1e-12)
    assert third["most skewed direction"] == pytest.approx(1)
    assert third["best of all"] == pytest.approx(1)
    assert third["seconds"] == 0.5
    first, skewed = reports.notes
    assert first == "time to alignment 0.95 in the first direction: right 0.5 s"
    assert skewed.endswith("right 0.5 s, third 0.5 s; second over first 1.00")


def test_every_round_is_another_table_after_a_small_one_that_does_not_count():
    seen = []

    def run(X, seed):
        seen.append((seed, X.copy()))
        X[:] = 0  # a package that spoils its input spoils its own copy
        return np.eye(X.shape[1]), None

    peers(3, 2, rows=300, columns=6, packages=(found("one", run), found("two", run)))
    assert [(seed, X.shape) for seed, X in seen] == [
        *[(3, (200, 5))] * 2,
        *[(3, (300, 6))] * 2,
        *[(4, (300, 6))] * 2,
    ]
    np.testing.assert_array_equal(seen[4][1], planted(300, 6, seed=4)[0])
    np.testing.assert_array_equal(seen[5][1], planted(300, 6, seed=4)[0])


def test_what_is_missing_or_fails_is_left_out_with_a_note(capsys):
    def fail(X, seed):
        print("noise")
        raise RuntimeError("no luck")

    report = peers(
        0,
        1,
        rows=200,
        columns=5,
        packages=(
            found("ours", directions_of(np.ones(5))),
            Package("absent", lambda: "pip install absent", fail),
            found("broken", fail),
        ),
    )
    assert [row["package"] for row in report.rows] == ["ours"]
    assert report.notes[:2] == (
        "absent left out: pip install absent",
        "broken left out: RuntimeError: no luck",
    )
    assert "nobody" in report.notes[2]
    assert capsys.readouterr().out == ""


def test_a_failure_of_our_own_is_no_note():
    def fail(X, seed):
        raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        peers(0, 1, rows=50, columns=5, packages=(found("sightline", fail),))


def slow(packages):
    """Loading what others bring takes most of a minute."""
    return [pytest.param(package, marks=pytest.mark.slow) for package in packages]


@pytest.mark.parametrize(
    "package", [*PACKAGES[:2], *slow(PACKAGES[2:])], ids=lambda package: package.name
)
@pytest.mark.filterwarnings("ignore")  # theirs
def test_each_package_finds_an_easy_direction(package):
    if package.missing():
        pytest.skip(package.missing())
    X, direction, _ = planted(400, 5)
    directions, _ = package.run(X, 0)
    unit = directions / np.linalg.norm(directions, axis=1)[:, None]
    assert np.abs(unit @ direction).max() > 0.95


def test_a_package_that_is_not_there_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("sightline.benchmarking.packages.find_spec", lambda _: None)
    assert [package.missing() for package in PACKAGES if package.missing()] == [
        "pip install python-picard",
        "pip install direpack",
        "pip install direpack",
        "pip install icspylab",
        "pip install pymanopt",
    ]


def test_r_is_left_out_where_there_is_none(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert {package.missing() for package in R_PACKAGES} == {"needs Rscript"}


@pytest.mark.parametrize("package", slow(R_PACKAGES), ids=lambda package: package.name)
def test_each_r_package_returns_directions(package):
    if package.missing():
        pytest.skip(package.missing())
    directions, seconds = package.run(planted(400, 5)[0], 0)
    assert directions.shape[1] == 5
    assert np.all(np.isfinite(directions))
    assert seconds >= 0


@pytest.fixture
def rscript(tmp_path, monkeypatch):
    """A stand-in for Rscript, in Python: put its body in place."""

    def stand_in(body):
        path = tmp_path / "Rscript"
        path.write_text(f"#!{sys.executable}\n" + textwrap.dedent(body))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return stand_in


def test_the_table_goes_to_r_by_columns_and_directions_come_back_by_rows(rscript):
    rscript(
        """
        import sys
        import numpy as np
        _, script, table, out, n, d, seed = sys.argv
        X = np.fromfile(table).reshape(int(d), int(n)).T
        X[:2].tofile(out)
        print(float(seed))
        """
    )
    X = planted(30, 4)[0]
    directions, seconds = _run("anything", "anything")(X, 7)
    np.testing.assert_array_equal(directions, X[:2])
    assert seconds == 7


def test_what_r_complains_of_is_passed_on(rscript):
    rscript("import sys\nsys.exit('Error in\\n  library(x)')")
    with pytest.raises(RuntimeError, match=r"^Error in library\(x\)$"):
        _run("x", "y")(planted(30, 4)[0], 0)


def test_a_missing_r_package_says_how_to_get_it(rscript):
    rscript("import sys\nsys.exit(1)")
    assert R_PACKAGES[0].missing() == 'install.packages("fastICA") in R'
