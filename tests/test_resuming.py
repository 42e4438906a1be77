"""A search that is killed goes on where it was, and ends with the same bits."""

import numpy as np
import pytest

from sightline import ProjectionPursuit, resumable, resuming
from sightline.container import write_container
from sightline.datasets import make_planted


class KilledError(Exception):
    pass


@pytest.fixture(scope="module")
def X():
    return make_planted(600, 8, random_state=0)[0]


def pursuit(**changes):
    return ProjectionPursuit(**{"n_starts": 40, "n_steps": 6, "random_state": 0} | changes)


def dies_after(steps):
    """Return a report of progress at which a process dies, and what it has seen."""
    seen = []

    def report(done, of):
        seen.append((done, of))
        if len(seen) == steps:
            raise KilledError

    return report, seen


@pytest.mark.parametrize(
    "solver",
    [
        {"solver": "adaptive"},
        {"solver": "two-step"},
        {"solver": "two-step", "resample": "replace", "batch_size": 150},
    ],
)
@pytest.mark.parametrize("death", [1, 4, 8])
def test_a_killed_search_goes_on_and_ends_with_the_same_bits(X, tmp_path, solver, death):
    path = tmp_path / "search.checkpoint"
    whole: list = []
    with resumable(progress=lambda *step: whole.append(step)):
        expected = pursuit(**solver).fit(X)
    report, _ = dies_after(death)
    with pytest.raises(KilledError), resumable(path, every=2, progress=report):
        pursuit(**solver).fit(X)
    report, seen = dies_after(None)
    with resumable(path, every=2, progress=report):
        found = pursuit(**solver).fit(X)
    assert len(whole) - death <= len(seen) <= len(whole) - death + 2  # two are taken again
    for name in ("components_", "index_values_", "n_iter_", "converged_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert not path.exists()


@pytest.mark.parametrize("change", ["rows", "options", "seed"])
def test_the_state_of_another_search_is_refused(X, tmp_path, change):
    path = tmp_path / "search.checkpoint"
    report, _ = dies_after(5)
    with pytest.raises(KilledError), resumable(path, every=1, progress=report):
        pursuit().fit(X)
    other = pursuit(**{"options": {"n_steps": 7}, "seed": {"random_state": 1}}.get(change, {}))
    rows = X[1:] if change == "rows" else X
    with pytest.raises(ValueError, match="is of another search"), resumable(path):
        other.fit(rows)
    assert path.exists()


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x05\x06" + bytes(18)])
def test_a_file_that_is_no_checkpoint_is_refused_and_left_alone(X, tmp_path, content):
    path = tmp_path / "search.checkpoint"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is no checkpoint of sightline"), resumable(path):
        pursuit().fit(X)
    assert path.read_bytes() == content


def test_options_are_checked():
    with pytest.raises(ValueError, match="every=0"), resumable(every=0):
        pass


def test_a_disk_that_is_full_costs_the_insurance_and_not_the_search(X, tmp_path, monkeypatch):
    path = tmp_path / "search.checkpoint"
    expected = pursuit().fit(X)
    written = []

    def full(*arguments):
        written.append(arguments)
        if len(written) > 2:
            raise OSError(28, "No space left on device")
        return write_container(*arguments)

    monkeypatch.setattr(resuming, "write_container", full)
    with (
        pytest.warns(UserWarning, match=r"No space left.*The search goes on") as warned,
        resumable(path, every=1),
    ):
        found = pursuit().fit(X)
    assert len(warned) == 1
    assert len(written) > 4
    np.testing.assert_array_equal(found.components_, expected.components_)


def test_a_folder_that_is_not_there_is_named_before_anything_is_searched(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"),
        resumable(tmp_path / "nowhere" / "search.checkpoint"),
    ):
        pytest.fail("nothing may be searched")


def test_an_interrupt_from_the_keyboard_leaves_a_state_to_go_on_from(X, tmp_path):
    path = tmp_path / "search.checkpoint"
    expected = pursuit().fit(X)

    def interrupt(done, of):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), resumable(path, every=1, progress=interrupt):
        pursuit().fit(X)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with resumable(path):
        np.testing.assert_array_equal(pursuit().fit(X).components_, expected.components_)
