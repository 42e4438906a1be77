"""Rows go into groups by what their labels read, and no row is lost."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.views import MOST_GROUPS, group_rows
from sightline.views.groups import MISSING


@given(st.lists(st.one_of(st.integers(-9, 40), st.none(), st.text(max_size=2)), min_size=1))
def test_every_row_is_in_the_group_that_has_its_label(labels):
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    groups = group_rows(objects, len(labels))
    assert groups.counts.sum() == len(labels)
    assert (groups.counts == np.bincount(groups.codes, minlength=len(groups))).all()
    if len({str(label) for label in labels}) < MOST_GROUPS:
        named = [groups.names[code] for code in groups.codes]
        assert named == [MISSING if label is None else str(label) for label in labels]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([10.0, 9.0, 1.0], ("1", "9", "10")),
        (["10", "9", "b", "a"], ("9", "10", "a", "b")),
        ([0.5, np.nan, 0.25], ("0.25", "0.5", MISSING)),
        ([True, False], ("False", "True")),
        (["x", None], ("x", MISSING)),
        (np.array([2.0, None, 1.0], dtype=object), ("1", "2", MISSING)),
        (["nan", "inf"], ("inf", "nan")),
        (np.array(["2020-01-02", "2020-01-01"], "datetime64[D]"), ("2020-01-01", "2020-01-02")),
        (pl.Series(["b", "a"]), ("a", "b")),
    ],
)
def test_names_are_in_the_order_that_people_expect(labels, names):
    assert group_rows(labels, len(labels)).names == names


def test_dates_as_objects_are_groups_too():
    day = dt.date(2020, 1, 2)
    assert group_rows(np.array([day, day, None], dtype=object), 3).names == (
        "2020-01-02",
        MISSING,
    )


def test_beyond_the_most_groups_the_smallest_are_one():
    labels = np.repeat(np.arange(30), np.arange(1, 31))
    groups = group_rows(labels, labels.size)
    assert len(groups) == MOST_GROUPS
    assert groups.names[:-1] == tuple(str(label) for label in range(19, 30))
    assert groups.names[-1] == "19 other groups"
    assert groups.counts[-1] == sum(range(1, 20))


def test_largest_first_hides_no_small_group():
    assert group_rows(["a", "b", "b", "c", "c", "c"], 6).largest_first == [2, 1, 0]


def test_labels_that_do_not_fit_are_an_error():
    with pytest.raises(ValueError, match=r"labels have shape \(2,\).*each of the 3 rows"):
        group_rows(["a", "b"], 3)


def test_whole_numbers_written_as_floats_read_as_whole_numbers():
    """Where all of them are: in "1.0" beside "1.5" or "v" the point says something."""
    assert group_rows(["1.0", "10.0", None, "2"], 4).names == ("1", "2", "10", "(missing)")
    assert group_rows(["1.0", "1.5"], 2).names == ("1.0", "1.5")
    assert group_rows(["1.0", "v"], 2).names == ("1.0", "v")
