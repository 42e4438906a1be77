"""Bad tables: an error that names the column, the value and the remedy, or the right answer."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from sightline import ProjectionPursuit
from sightline.datasets import ImbalancedClusters, make_planted

X, DIRECTION, _ = make_planted(300, 4, signal=ImbalancedClusters(0.1), random_state=0)


def fit(table, **options):
    return ProjectionPursuit(n_starts=30, random_state=0, **options).fit(table)


def spoiled(value, row=7, column=2, dtype=float):
    table = X.astype(dtype)
    table[row, column] = value
    return table


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


def frame(kind, **changes):
    columns = {name: X[:, i] for i, name in enumerate(["a", "b", "c", "d"])}
    return FRAMES[kind](columns | changes)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (
            spoiled(np.nan),
            ValueError,
            r"X contains NaN: column 2 at row 7 \(1 such value.*Imputer",
        ),
        (spoiled(np.inf), ValueError, "X contains infinity: column 2 at row 7"),
        (X.astype(complex), ValueError, "Complex data not supported: X has dtype complex128"),
        (X.astype(str), ValueError, r"column 0 holds text \('.*' at row 0\); drop"),
        (np.full((9, 2), "9" * 30), ValueError, r"column 0 holds text \('9{30}' at row 0\)"),
        ([[1.0, "red"]] * 9, ValueError, r"column 1 holds text \('red' at row 0\)"),
        ([[1.0, 10**29]] * 9, ValueError, "column 1 holds the integer 1000.*identifier"),
        ([[1.0, 2.0], [3.0]], ValueError, "inhomogeneous"),
        (
            spoiled("red", dtype=object),
            ValueError,
            r"column 2 holds text \('red' at row 7\); drop",
        ),
        (spoiled("12.5", dtype=object), ValueError, r"column 2 holds text \('12\.5' at row 7\)"),
        (spoiled(10**29, dtype=object), ValueError, "column 2 holds the integer 1000.*identifier"),
        (np.full((20, 3), 2**60), ValueError, "column 0 holds the integer 1152.*identifier"),
        (X.astype("datetime64[s]"), ValueError, "dates or times"),
        (X[:1], ValueError, r"1 sample.*minimum of 2"),
        (X[:, :0], ValueError, r"0 feature\(s\).*minimum of 1"),
        (X[:0], ValueError, r"0 sample"),
        (X[0], ValueError, "Expected 2D array, got 1D array"),
        (np.full((30, 3), 0.1), ValueError, "30 rows that are all equal"),
        (X[:4], ValueError, "n_samples = 4 rows of numerical rank 3"),
        (None, ValueError, "NoneType|Expected 2D"),
        ("a table", ValueError, "Expected 2D|could not convert"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_arrays(table, error, message):
    with pytest.raises(error, match=message):
        fit(table)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["x"] * 300, r"column 'c' holds text \('x' at row 0\); drop it"),
        ([dt.datetime(2020, 1, 1)] * 300, r"column 'c' holds dates or times .*days since"),
        ([2**60] * 300, "column 'c' holds the integer 1152921504606846976, too long"),
        ([float("nan"), *[1.0] * 299], "X contains NaN: column 'c' at row 0"),
    ],
    ids=["text", "dates", "long integers", "missing"],
)
def test_bad_frame_columns_are_named(kind, column, message):
    with pytest.raises(ValueError, match=message):
        fit(frame(kind, c=column))


@pytest.mark.parametrize("kind", FRAMES)
def test_an_empty_frame_is_an_error(kind):
    with pytest.raises(ValueError, match="0 features"):
        fit(FRAMES[kind]())


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_gives_the_answer_of_its_array(kind):
    fitted = fit(frame(kind))
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert_allclose(fitted.components_, fit(X).components_)


def test_sparse_is_a_type_error_with_the_remedy():
    import scipy.sparse  # noqa: PLC0415

    with pytest.raises(TypeError, match="dense"):
        fit(scipy.sparse.csr_matrix(X))


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint16, np.float16, np.longdouble, object])
def test_other_kinds_of_number_are_right(kind):
    whole = np.round(np.clip(np.abs(X) * 3, 0, 100)).astype(kind)
    reference = fit(whole.astype(np.float64), index="abs")
    assert_allclose(fit(whole, index="abs").components_, reference.components_, atol=1e-4)


def test_constant_columns_are_named_in_a_warning():
    with pytest.warns(UserWarning, match="1 constant column.*'c'"):
        fitted = fit(frame("pandas", c=np.full(300, 3.5)))
    assert fitted.components_[0, 2] == 0


def test_one_column_is_its_own_direction():
    fitted = fit(X[:, :1])
    assert_allclose(np.abs(fitted.components_), 1)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("index", ["relu2", "kurtosis", "approx-entropy"])
def test_extreme_scales_give_the_same_direction(scale, index):
    assert_allclose(
        fit(X * scale, index=index).components_, fit(X, index=index).components_, atol=1e-6
    )


def test_an_offset_of_1e8_gives_the_same_direction():
    assert_allclose(fit(X + 1e8).components_, fit(X).components_, atol=1e-5)


def test_duplicate_columns_share_the_weight():
    fitted = fit(np.column_stack((X, X[:, 0])))
    assert np.isfinite(fitted.components_).all()
    assert_allclose(fitted.components_[0, 0], fitted.components_[0, 4], rtol=1e-6)


@pytest.mark.parametrize(
    "rows", [X[::-1], X[:, ::-1], np.asfortranarray(X), np.broadcast_to(X, X.shape)]
)
def test_memory_order_and_writability_do_not_matter(rows):
    frozen = np.array(rows, copy=None)
    frozen.flags.writeable = False
    assert np.isfinite(fit(frozen).components_).all()


def test_a_memory_map_is_a_table(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert_allclose(fit(mapped).components_, fit(X).components_)


@pytest.mark.parametrize("kind", ["pandas", "Arrow"])
def test_a_name_that_comes_twice_is_named(kind):
    table = pd.DataFrame(X, columns=list("abcb"))
    if kind == "Arrow":
        table = pa.Table.from_arrays([pa.array(column) for column in X.T], names=list("abcb"))
    with pytest.raises(ValueError, match="X has more than one column named 'b'; rename"):
        fit(table)


def test_what_is_masked_is_not_read_from_under_the_mask():
    masked = np.ma.masked_greater(X, 3)
    with pytest.raises(ValueError, match=rf"X is masked at {masked.mask.sum()} place"):
        fit(masked)
    open_ = np.ma.masked_greater(X, 99)
    assert_allclose(fit(open_).components_, fit(X).components_)


def test_two_rows_are_told_apart():
    found = fit(X[:2])
    assert_allclose(np.linalg.norm(found.components_[0]), 1)
    assert np.ptp(found.transform(X[:2])) > 1
