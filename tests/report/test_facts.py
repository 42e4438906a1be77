"""What the page says of a direction is what the scores and columns say."""

import numpy as np
import pytest

from sightline.report.facts import read_directions, side_groups
from sightline.scatter import scatter_of
from sightline.split import split_in_two


@pytest.fixture(scope="module")
def directions(example):
    return read_directions(
        example.estimator, example.X, scatter_of(example.X), example.scores, [0.1, 0.2, 0.3]
    )


def test_ends_are_the_extreme_rows_with_their_main_columns(directions, example):
    for place, direction in enumerate(directions):
        order = np.argsort(example.scores[:, place])
        assert direction.high.rows.tolist() == order[::-1][:5].tolist()
        assert direction.low.rows.tolist() == order[:5].tolist()
        expected = example.X[direction.high.rows][:, direction.main]
        np.testing.assert_array_equal(direction.high.values, expected)
        np.testing.assert_array_equal(
            direction.low.scores, example.scores[direction.low.rows, place]
        )


def test_numbers_are_the_estimators(directions, example):
    values = [direction.index_value for direction in directions]
    assert values == example.estimator.index_values_.tolist()
    assert [direction.p_value for direction in directions] == [0.1, 0.2, 0.3]
    assert [direction.number for direction in directions] == [1, 2, 3]


def test_main_columns_are_the_planted_ones(directions):
    assert {direction.main[0] for direction in directions} == {0, 1}


def test_rows_without_labels_are_grouped_by_the_first_small_side_they_are_on(directions, example):
    groups = side_groups(directions)
    for row in range(400):
        on = [d.number for d in directions if split_in_two(d.scores).small[row]]
        expected = f"small side {on[0]}" if on else "bulk"
        assert groups.names[groups.codes[row]] == expected
    assert groups.counts.sum() == 400


def test_rows_out_of_view_are_counted(example):
    X = example.X.copy()
    X[0] = 1e6 * example.estimator.components_[0]
    scores = example.estimator.transform(X)
    far = read_directions(example.estimator, X, scatter_of(X), scores, None)[0]
    assert far.beyond == 1
    assert far.p_value is None


def test_numbers_that_do_not_fit_are_an_error(example):
    with pytest.raises(ValueError, match=r"p_values have shape \(2,\).*each of the 3 directions"):
        read_directions(
            example.estimator, example.X, scatter_of(example.X), example.scores, [0.1, 0.2]
        )
