"""Pictures show what they are given: counts, thresholds, signs, with few rows and with many."""

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.image import AxesImage
from sklearn.exceptions import NotFittedError

from sightline import ProjectionPursuit, plots, two_step_gradient_ascent
from sightline.datasets import make_planted
from sightline.split import split_in_two

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    X, _, labels = make_planted(600, 6, random_state=0)
    return X, labels


@pytest.fixture(scope="module")
def fitted(table):
    return ProjectionPursuit(n_components=2, solver="two-step", n_starts=50, random_state=0).fit(
        table[0]
    )


def drawn(display) -> None:
    """Render the picture: what is wrong with text or sizes shows only now."""
    display.figure_.savefig(io.BytesIO(), format="png")


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_projection_counts_every_row_in_its_bars(table, fitted):
    X, labels = table
    display = plots.ProjectionDisplay.from_estimator(fitted, X, labels=labels)
    assert sum(bar.get_height() for bar in display.ax_.patches) == pytest.approx(len(X))
    drawn(display)


def test_projection_draws_the_threshold_that_parts_the_scores(table, fitted):
    X, _ = table
    split = split_in_two(fitted.transform(X)[:, 0])
    display = plots.ProjectionDisplay.from_estimator(fitted, X)
    assert display.threshold_ == split.threshold
    assert f"small side  {split.size:,}" in texts(display.ax_)
    assert f"bulk  {len(X) - split.size:,}" in texts(display.ax_)


def test_projection_takes_a_threshold_or_none():
    scores = np.arange(10.0)
    given = plots.ProjectionDisplay.from_scores(scores, threshold=2.5)
    assert "small side  3" in texts(given.ax_)  # 0, 1 and 2: the side with fewer rows
    none = plots.ProjectionDisplay.from_scores(scores, threshold=None)
    assert none.threshold_ is None
    assert texts(none.ax_) == []


def test_projection_says_how_many_rows_are_further_out():
    scores = np.r_[np.random.default_rng(0).standard_normal(1000), 1e6, 2e6]
    display = plots.ProjectionDisplay.from_scores(scores, threshold=None)
    assert display.ax_.get_title(loc="right").startswith("2 row(s) further out")
    assert display.ax_.get_xlim()[1] < 1e3


@pytest.mark.parametrize("scores", [[1.0], [2.0, 2.0, 2.0], list(range(10)), [0.0, 1e-300]])
def test_projection_draws_few_and_equal_scores(scores):
    drawn(plots.ProjectionDisplay.from_scores(scores))


def test_ten_million_scores_make_no_more_marks_than_a_thousand():
    few, many = (np.random.default_rng(0).standard_normal(n) for n in (1000, 10**7))
    marks = [
        len(plots.ProjectionDisplay.from_scores(scores, threshold=1.0).ax_.get_children())
        for scores in (few, many)
    ]
    assert marks[1] < 4 * marks[0]


def test_scatter_draws_points_or_bins():
    rng = np.random.default_rng(0)
    few = plots.ScatterDisplay.from_scores(*rng.standard_normal((2, 50)), labels=["a", "b"] * 25)
    points = [c for c in few.ax_.collections if isinstance(c, PathCollection)]
    assert sum(len(c.get_offsets()) for c in points) == 50
    many = plots.ScatterDisplay.from_scores(*rng.standard_normal((2, 10**6)))
    assert [type(image) for image in many.ax_.images] == [AxesImage]
    drawn(few)
    drawn(many)


def test_scatter_shows_the_scores_of_an_estimator(table, fitted):
    X, labels = table
    display = plots.ScatterDisplay.from_estimator(fitted, X, (1, 0), labels=labels)
    assert display.ax_.get_xlabel() == "Score along direction 2"
    offsets = np.concatenate([points.get_offsets() for points in display.ax_.collections])
    expected = fitted.transform(X)[:, ::-1]
    np.testing.assert_allclose(np.sort(offsets, axis=0), np.sort(expected, axis=0))


def test_scatter_of_a_single_direction_is_an_error(table):
    single = ProjectionPursuit(solver="two-step", n_starts=10, random_state=0).fit(table[0])
    with pytest.raises(ValueError, match="n_components found=1 must be"):
        plots.ScatterDisplay.from_estimator(single, table[0])


def test_ten_rows_among_a_million_are_seen_in_the_bins():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 10**6))
    labels = np.zeros(10**6, dtype=int)
    labels[:10] = 1
    display = plots.ScatterDisplay.from_scores(x, y, labels=labels)
    top = max(display.ax_.images, key=display.ax_.images.index).get_array()
    assert 5 <= np.count_nonzero(top[..., 3]) <= 10  # bins; rows may share one
    assert top[..., 3][top[..., 3] > 0].min() >= 0.25


def test_pairs_has_a_panel_for_every_pair(table, fitted):
    X, labels = table
    display = plots.PairsDisplay.from_estimator(fitted, X, labels=labels)
    assert [[ax is not None for ax in row] for row in display.axes_] == [
        [True, False],
        [True, True],
    ]
    drawn(display)
    swapped = plots.PairsDisplay.from_estimator(fitted, X, (1, 0))
    assert swapped.axes_[1, 0].get_xlabel() == "Direction 2"
    drawn(plots.PairsDisplay.from_scores(np.random.default_rng(0).standard_normal((40, 3))))


def test_loadings_are_signed_and_longest_first(table, fitted):
    frame = pd.DataFrame(table[0], columns=list("abcdef"))
    pursuit = ProjectionPursuit(solver="two-step", n_starts=50, random_state=0).fit(frame)
    display = plots.LoadingsDisplay.from_estimator(pursuit, frame, most=4)
    lengths = [bar.get_width() for bar in display.ax_.patches]
    assert [abs(length) for length in lengths] == sorted(map(abs, lengths), reverse=True)
    assert len(lengths) == 4
    assert display.ax_.get_title(loc="right") == "4 of 6 columns"
    main = np.argmax(np.abs(pursuit.components_[0]) * frame.std().to_numpy())
    assert display.ax_.get_yticklabels()[0].get_text() == "abcdef"[main]
    drawn(display)
    assert plots.LoadingsDisplay.from_weights([0.0, -2.0, 1.0]).columns_ == [1, 2]
    named = plots.LoadingsDisplay.from_estimator(pursuit, frame, column_names=list("uvwxyz"))
    assert named.ax_.get_yticklabels()[0].get_text() == "uvwxyz"[main]


@pytest.mark.parametrize(("value", "p"), [(10.0, 0.1), (4.5, 0.5), (-1.0, 1.0)])
def test_p_value_counts_the_nulls_that_reach_the_value(value, p):
    display = plots.IndexNullDisplay.from_values(value, np.arange(9.0))
    assert display.p_value_ == pytest.approx(p)
    assert f"p = {p:.3g}" in texts(display.ax_)[0]
    drawn(display)


@pytest.mark.parametrize("n_starts", [3, 100])
def test_climb_shows_the_best_start_of_a_search(table, n_starts):
    X, _ = table
    result = two_step_gradient_ascent(
        X, index="relu2", n_starts=n_starts, resample="full", random_state=0
    )
    display = plots.ClimbDisplay.from_result(result)
    front = display.ax_.lines[-2]  # the last line is the end of the first run
    np.testing.assert_array_equal(front.get_ydata(), result.history[:, 0])
    np.testing.assert_array_equal(display.ax_.lines[-1].get_xdata(), len(result.history) / 2 + 0.5)
    drawn(display)


def test_climb_finds_the_best_start_itself():
    display = plots.ClimbDisplay.from_history([[0.0, 1.0], [3.0, 2.0]], first_run=1)
    assert display.best == 0
    assert plots.ClimbDisplay.from_history([[0.0, 1.0], [3.0, 4.0]]).best == 1


def test_text_from_data_is_drawn_as_it_reads():
    labels = ["_hidden", "$\\frac{", "two\nlines", "x" * 90, "<b>", "\x07"]
    hostile = plots.ScatterDisplay.from_scores(
        np.arange(6.0), np.arange(6.0), labels=labels, x_name="$\\bad{", y_name="a_b^c"
    )
    drawn(hostile)
    names = {text.get_text() for text in hostile.ax_.get_legend().get_texts()}
    assert {"_hidden  1", r"\$\frac{  1", "two lines  1", "x" * 27 + "…  1", "<b>  1"} < names
    drawn(plots.ProjectionDisplay.from_scores(np.arange(6.0), labels=labels, name="$\\bad{"))
    drawn(plots.LoadingsDisplay.from_weights([1.0, -1.0], column_names=["$\\bad{", "_"]))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.ProjectionDisplay.from_scores([1.0, np.nan]), "scores contains NaN"),
        (lambda: plots.ProjectionDisplay.from_scores(np.ones((2, 2))), "must be a list"),
        (lambda: plots.ProjectionDisplay.from_scores([]), "must be a list"),
        (lambda: plots.ProjectionDisplay.from_scores([1.0], threshold="best"), "'auto'"),
        (lambda: plots.ScatterDisplay.from_scores([1.0], [1.0, 2.0]), "x has 1 scores and y 2"),
        (lambda: plots.PairsDisplay.from_scores(np.ones(3)), "must be a table"),
        (lambda: plots.PairsDisplay.from_scores(np.ones((3, 9))), "from 2 to 8"),
        (lambda: plots.LoadingsDisplay.from_weights([1.0], column_names=["a", "b"]), "2 names"),
        (lambda: plots.ClimbDisplay.from_history([1.0]), "must be a table"),
        (lambda: plots.ClimbDisplay.from_history([[np.nan]]), "NaN"),
    ],
)
def test_what_cannot_be_drawn_is_an_error_that_says_why(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_component_out_of_range_names_the_option(table, fitted):
    with pytest.raises(ValueError, match="component=2 must be a whole number from 0 to 1"):
        plots.ProjectionDisplay.from_estimator(fitted, table[0], component=2)


def test_an_unfitted_estimator_is_named(table):
    with pytest.raises(NotFittedError, match="ProjectionPursuit"):
        plots.ProjectionDisplay.from_estimator(ProjectionPursuit(), table[0])


def test_given_axes_are_drawn_on(table, fitted):
    figure, ax = plt.subplots()
    display = plots.ProjectionDisplay.from_estimator(fitted, table[0], 1, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.get_xlabel() == "Score along direction 2"


def test_an_estimator_with_p_values_is_drawn_against_its_null(table):
    X = table[0]
    fitted = ProjectionPursuit(
        n_components=2, significance=9, n_starts=8, n_steps=2, random_state=0
    ).fit(X)
    for component in (0, 1):
        display = plots.IndexNullDisplay.from_estimator(fitted, component)
        assert display.p_value_ == pytest.approx(fitted.p_values_[component])
        assert display.value == fitted.standard_values_[component]
    with pytest.raises(ValueError, match="component"):
        plots.IndexNullDisplay.from_estimator(fitted, 2)
    with pytest.raises(ValueError, match="fit it with significance=99"):
        plots.IndexNullDisplay.from_estimator(fitted.set_params(significance=None).fit(X))
