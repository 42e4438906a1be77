"""Tables as scikit-learn users hand them over: checked once, with errors that name the column."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from sightline._arrays import Array, as_table, check_finite, is_dask, is_foreign, is_lazy
from sightline.lazy import LazyRows
from sightline.sources.memory import half_of_memory, show_bytes
from sightline.sources.stored import lazy_rows

_EXACT_INTEGER = 2**53
"""The largest integer up to which a float64 holds every whole number."""


def read_table(
    estimator: BaseEstimator, X: Any, *, reset: bool, lazy: bool = False, minimum_rows: int = 2
) -> Array:
    """Return `X` as finite float32 or float64 rows, and note or check its columns.

    Arrays of other libraries stay where they are; everything else goes through scikit-learn's
    own validation, after the columns that would lose or hide something have been named. With
    `lazy`, what is not in memory stays where it is, as lazy rows; else it is read whole.
    """
    rows = lazy_rows(X) if lazy or is_lazy(X) or is_dask(X) else None
    if rows is not None:
        as_table(rows, minimum_rows=minimum_rows if reset else 1)
        _note_columns(estimator, rows.shape[1], reset=reset, names=rows.columns)
        return rows if lazy else _in_memory(rows, estimator)
    if is_foreign(X):
        rows = as_table(X, minimum_rows=minimum_rows if reset else 1)
        _note_columns(estimator, rows.shape[1], reset=reset)
        return rows
    if np.ma.is_masked(X):
        as_table(X)  # says how many are masked: scikit-learn would read what is under the mask
    _refuse_repeated_names(X)
    X = _as_frame(X)
    names = _refuse_unusable_columns(X)
    rows = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        ensure_min_samples=minimum_rows if reset else 1,
    )
    check_finite(rows, columns=names)
    return rows


def _in_memory(rows: LazyRows, estimator: BaseEstimator) -> np.ndarray[Any, Any]:
    """Return lazy rows as an array, where that leaves the estimator room to work."""
    needed, limit = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize, half_of_memory() // 3
    if needed > limit:
        raise ValueError(
            f"X takes {show_bytes(needed)}, and {type(estimator).__name__} works in memory, where "
            f"{show_bytes(limit)} are for the table. Give it some of the rows, or use "
            "ProjectionPursuit, which leaves them where they are."
        )
    return rows.in_memory()


def _as_frame(X: Any) -> Any:
    """Return frames that scikit-learn does not know as ones that it does.

    A lazy frame is collected, and what only exports Arrow data becomes an Arrow table.
    """
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    native = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(native, nw.LazyFrame):
        return native.collect().to_native()
    if native is X and hasattr(X, "__arrow_c_stream__"):
        return pa.table(X)
    return X


def _note_columns(
    estimator: BaseEstimator, columns: int, *, reset: bool, names: Any = None
) -> None:
    if reset:
        estimator.n_features_in_ = columns
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif columns != estimator.n_features_in_:
        raise ValueError(
            f"X has {columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    elif names is not None and hasattr(estimator, "feature_names_in_"):
        fitted = [str(name) for name in estimator.feature_names_in_]
        differing = [i for i, name in enumerate(names) if name != fitted[i]]
        if differing:
            i = differing[0]
            raise ValueError(
                f"column {i} of X is {names[i]!r}, but {type(estimator).__name__} was fitted with "
                f"{fitted[i]!r} there ({len(differing)} such column(s)). Give the columns of the "
                "fit, in their order."
            )


def _refuse_unusable_columns(X: Any) -> list[Any] | None:
    """Raise for text, dates and over-long integers by the column's name; return the names."""
    frame = nw.from_native(X, eager_only=True, pass_through=True, allow_series=False)
    if not isinstance(frame, nw.DataFrame):
        array = _as_objects(X) if isinstance(X, list | tuple) else X
        if isinstance(array, np.ndarray) and array.ndim == 2:
            _refuse_in_array(array)
        return None
    if not frame.columns:
        raise ValueError("X is a frame with 0 features (columns); at least 1 is required.")
    for name, dtype in frame.schema.items():
        label = f"column {name!r}"
        if dtype.is_temporal():
            raise ValueError(
                f"{label} holds dates or times ({dtype}); drop it, or make numbers of it first, "
                "for instance days since a start."
            )
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            _refuse_text(label, frame[name][0] if len(frame) else "")
        if dtype.is_integer() or dtype == nw.Object:
            _refuse_values(label, frame[name].to_numpy())
    return list(frame.columns)


def _refuse_repeated_names(X: Any) -> None:
    """Raise for names that come twice, as pandas and Arrow allow and nothing after them does."""
    names: Any = ()
    if nw.dependencies.is_pandas_dataframe(X):
        names = X.columns
    elif nw.dependencies.is_pyarrow_table(X):
        names = X.column_names
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(
            f"X has more than one column named {repeated[0]!r}; rename them, or keep one of them."
        )


def _as_objects(X: Any) -> np.ndarray | None:
    """Return nested lists as they are, before text and long integers become floats."""
    try:
        return np.array(X, dtype=object)
    except ValueError:  # rows of unequal length, of which scikit-learn complains
        return None


def _refuse_in_array(X: np.ndarray) -> None:
    if X.dtype.kind in "Mm":
        raise ValueError("X holds dates or times; make numbers of them first.")
    if X.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: X has dtype {X.dtype}. Pass real and imaginary parts as "
            "columns of their own, such as np.hstack((X.real, X.imag))."
        )
    if X.dtype.kind in "USiuO":
        for column in range(X.shape[1]):
            _refuse_values(f"column {column}", X[:, column])


def _refuse_values(label: str, values: np.ndarray) -> None:
    """Raise for text in a column, and for integers that a float64 can't hold."""
    if values.dtype.kind in "US" and values.size:
        _refuse_text(label, values[0].item())
    if values.dtype.kind in "iu":
        suspects = values
    elif values.dtype.kind == "O":
        for row, value in enumerate(values):
            if isinstance(value, str | bytes):
                _refuse_text(label, value, row)
        suspects = np.array([v for v in values if isinstance(v, int)] or [0], dtype=object)
    else:
        return
    for extreme in (suspects.max(), suspects.min()) if suspects.size else ():
        if abs(int(extreme)) > _EXACT_INTEGER:
            raise ValueError(
                f"{label} holds the integer {extreme}, too long for a float64 to hold exactly; "
                "digits would be lost silently. It looks like an identifier: drop the column, or "
                "convert it with astype(float) if rounding is meant."
            )


def _refuse_text(label: str, value: Any, row: int = 0) -> None:
    raise ValueError(
        f"{label} holds text ({value!r} at row {row}); drop it, or select the numeric columns "
        "first."
    )
