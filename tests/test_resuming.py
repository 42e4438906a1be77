"""A search that is killed goes on where it was, and ends with the same bits."""

import numpy as np
import pytest

from sightline import ProjectionPursuit, resumable
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
