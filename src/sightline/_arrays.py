"""Array namespaces, devices, dtypes: the only place that asks which library an array is from.

Everything above computes with the namespace `xp` of the caller's own arrays, so NumPy, torch,
CuPy, JAX and array-api-strict arrays stay in their library, on their device, in their dtype.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import array_api_compat
import numpy as np

Array: TypeAlias = Any
"""An array of any library of the array API standard."""

Namespace: TypeAlias = Any
"""The module of array functions that belongs to an array."""


def namespace(*arrays: Array) -> Namespace:
    """Return the array functions of the library that the arrays are from."""
    return array_api_compat.array_namespace(*arrays)


def is_foreign(x: Any) -> bool:
    """Say whether `x` is an array of a library other than NumPy."""
    return array_api_compat.is_array_api_obj(x) and not array_api_compat.is_numpy_array(x)


def is_numpy(x: Any) -> bool:
    """Say whether `x` is a NumPy array."""
    return array_api_compat.is_numpy_array(x)


def is_lazy(x: Any) -> bool:
    """Say whether `x` stands for rows that are not in memory (`sightline.lazy`)."""
    return bool(getattr(x, "is_lazy", False))


def is_memory_map(x: Any) -> bool:
    """Say whether `x` is a NumPy array whose values are in a file."""
    return isinstance(x, np.memmap)


def is_zarr(x: Any) -> bool:
    """Say whether `x` is a Zarr array."""
    return type(x).__module__.partition(".")[0] == "zarr" and hasattr(x, "chunks")


def is_dask(x: Any) -> bool:
    """Say whether `x` is a Dask array or data frame."""
    return type(x).__module__.partition(".")[0] in {"dask", "dask_expr"} and hasattr(x, "dask")


def is_jax(x: Any) -> bool:
    """Say whether `x` is an array of JAX, which can compile what is done to it."""
    return array_api_compat.is_jax_array(x)


def is_writable(x: Array) -> bool:
    """Say whether new arrays of the library of `x` can be written to; JAX's can't."""
    return not array_api_compat.is_jax_array(x)


def on_host(x: Array) -> bool:
    """Say whether the memory of `x` is the host's, where caches and threads matter."""
    if array_api_compat.is_cupy_array(x):
        return False
    kind = getattr(device_of(x), "type", None) or getattr(device_of(x), "platform", "cpu")
    return kind == "cpu"


def device_of(x: Array) -> Any:
    """Return the device of an array, in its library's words."""
    return array_api_compat.device(x)


def wide_dtype(x: Array) -> Any:
    """Return float64 where the library and device of `x` have it, else float32.

    Sums over rows are kept in this dtype, so that float32 data lose nothing that matters. JAX
    has it only with its 64-bit mode on, and some devices never.
    """
    xp = namespace(x)
    if array_api_compat.is_numpy_array(x):
        return xp.float64
    kinds = xp.__array_namespace_info__().dtypes(device=device_of(x), kind="real floating")
    return kinds.get("float64", xp.float32)


def rough_dtype(x: Array) -> Any:
    """Return the dtype that a fast step may read float32 rows in, None where there is no such.

    The caller says so by torch's own setting, `torch.set_float32_matmul_precision`: "high" lets
    products be rounded to tf32, which is float32 to the kernels, "medium" to bfloat16. Kernels
    need a CUDA device and Triton.
    """
    if not array_api_compat.is_torch_array(x) or x.device.type != "cuda":
        return None
    torch = sys.modules["torch"]
    if x.dtype != torch.float32 or importlib.util.find_spec("triton") is None:
        return None
    allowed = {"high": torch.float32, "medium": torch.bfloat16}
    return allowed.get(torch.get_float32_matmul_precision())


@contextmanager
def full_products(x: Array) -> Iterator[None]:
    """Multiply float32 in full while this is open, whatever the caller allows torch otherwise."""
    if not array_api_compat.is_torch_array(x):
        yield
        return
    torch = sys.modules["torch"]
    allowed = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(allowed)


def to_numpy(x: Array) -> np.ndarray[Any, Any]:
    """Copy (or view) an array of any library as a NumPy array on the host."""
    if array_api_compat.is_torch_array(x):
        return np.asarray(x.detach().cpu().numpy())
    if array_api_compat.is_cupy_array(x):
        return np.asarray(x.get())
    return np.asarray(x)


def like(values: Any, reference: Array, dtype: Any = None) -> Array:
    """Copy host `values` into the library, onto the device, in the dtype of `reference`."""
    xp = namespace(reference)
    host = np.array(values, order="C")  # torch shares memory, and wants it writable and in order
    return xp.asarray(host, dtype=dtype or reference.dtype, device=device_of(reference))


def take_rows(X: Array, rows: np.ndarray[Any, Any]) -> Array:
    """Return the rows of `X` at the host integer positions `rows`, as a copy."""
    xp = namespace(X)
    if array_api_compat.is_numpy_array(X):
        return X[rows]
    if is_lazy(X):
        return X.take(rows)
    return xp.take(X, xp.asarray(np.array(rows), device=device_of(X)), axis=0)


def as_table(X: Any, name: str = "X", *, minimum_rows: int = 1) -> Array:
    """Return `X` as a finite two-dimensional float32 or float64 array of its own library.

    Half precision becomes float32, integers and booleans float64; anything else that is not a
    table of real numbers is an error that names what was found, where, and what to do.
    """
    X = X if is_foreign(X) else _from_host(X, name)
    xp = namespace(X)
    if X.ndim != 2:
        raise ValueError(
            f"{name} has {X.ndim} dimension(s), shape {tuple(X.shape)}; it must be a table, "
            f"(rows, columns). Use {name}.reshape(-1, 1) for a single column."
        )
    if array_api_compat.is_numpy_array(X) and X.dtype.kind not in "fiubc":
        raise TypeError(
            f"{name} has dtype {X.dtype}; it must hold real numbers. Select the numeric columns, "
            f"or convert with {name}.astype(float)."
        )
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError(f"{name} holds complex numbers (dtype {X.dtype}); pass real columns.")
    rows, columns = X.shape
    if columns == 0 or rows < minimum_rows:
        raise ValueError(
            f"{name} has {rows} row(s) and {columns} column(s); "
            f"at least {minimum_rows} row(s) and 1 column are required."
        )
    if is_lazy(X):  # converted and checked block by block, as it is read
        return X
    if X.dtype not in (xp.float32, xp.float64):
        narrow = xp.isdtype(X.dtype, "real floating") and xp.finfo(X.dtype).bits <= 32
        with np.errstate(over="ignore"):  # beyond float64 is infinity, which is reported below
            X = xp.astype(X, xp.float32 if narrow else wide_dtype(X))
    check_finite(X, name)
    return X


def _from_host(X: Any, name: str) -> np.ndarray[Any, Any]:
    """Return what is no array of another library as a plain NumPy array, dense and unmasked."""
    if hasattr(X, "toarray"):
        raise TypeError(f"{name} is a sparse {type(X).__name__}; pass {name}.toarray().")
    if np.ma.is_masked(X):
        raise ValueError(
            f"{name} is masked at {np.ma.getmaskarray(X).sum()} place(s); "
            "fill them or drop those rows."
        )
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{name} is not a table: {error}") from error


def check_finite(X: Array, name: str = "X", columns: Any = None, first_row: int = 0) -> None:
    """Raise a ValueError that names the first column and row where `X` is NaN or infinite.

    `first_row` is the number of the first row, where `X` is a part of a longer table.
    """
    xp = namespace(X)
    with np.errstate(over="ignore", invalid="ignore"):  # huge values may overflow; look closer
        if bool(xp.isfinite(xp.sum(X))):
            return
    bad = ~xp.isfinite(X)
    if not bool(xp.any(bad)):
        return
    per_column = to_numpy(xp.sum(xp.astype(bad, xp.int32), axis=0))
    column = int(np.flatnonzero(per_column)[0])
    row = int(np.flatnonzero(to_numpy(bad[:, column]))[0])
    value = "NaN" if bool(xp.isnan(X[row, column])) else "infinity"
    label = f"column {column}" if columns is None else f"column {columns[column]!r}"
    affected = int(np.count_nonzero(per_column))
    raise ValueError(
        f"{name} contains {value}: {label} at row {first_row + row} "
        f"({int(per_column.sum())} such value(s) in {affected} column(s)). "
        "Drop those rows or fill them first, for instance with "
        "sklearn.impute.SimpleImputer."
    )
