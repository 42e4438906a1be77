"""Single-cell tables: `.h5ad`, rows are cells and columns genes (or another array of each cell).

Read with h5py alone. Sparse rows become dense block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sightline.sources.columns import choose
from sightline.sources.errors import DataError
from sightline.sources.memory import check_fits
from sightline.sources.table import Block, Host, Request, Stream

_BATCH = 1 << 10
"""Cells that are made dense at once."""


def open_h5ad(name: str, path: Path, request: Request, limit: int) -> Stream:
    """Open the array `X` of an h5ad file, or another one such as `obsm/X_pca`."""
    try:
        import h5py  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        raise DataError(
            f"{name} is an h5ad file; reading it takes the package h5py. Install sightline[cells]."
        ) from error
    file = h5py.File(path, "r")
    key = request.array or "X"
    if key not in file:
        raise DataError(f"{name} has no array {key!r}. It has {', '.join(_tables(file))}.")
    matrix = _Rows(name, file[key], limit)
    names = _names(file, "var") if key in {"X", "raw/X"} or key.startswith("layers/") else None
    if names is None or len(names) != matrix.shape[1]:
        names = [f"{key.rpartition('/')[2]}_{i}" for i in range(matrix.shape[1])]
    names = _told_apart(names)
    labels = None if request.label_column is None else _labels(name, file, request.label_column)
    if labels is not None and labels.size != matrix.shape[0]:
        raise DataError(f"{name} has {matrix.shape[0]} cells and {labels.size} labels.")
    kept, left_out = choose(name, dict.fromkeys(names), Request(request.columns, request.drop))
    position = {column: place for place, column in enumerate(names)}
    places = np.array([position[column] for column in kept])
    dtype = np.dtype(np.float32 if matrix.dtype.itemsize <= 4 else np.float64)
    blocks = _blocks(matrix, places, dtype, labels)
    return Stream(name, tuple(kept), blocks, dtype, matrix.shape[0], left_out)


def _tables(file: Any) -> list[str]:
    found = ["X"] if "X" in file else []
    for folder in ("layers", "obsm"):
        found += [f"{folder}/{key}" for key in file.get(folder, ())]
    return found or ["none"]


class _Rows:
    """Rows of a dense dataset, or of a sparse group as anndata writes it."""

    def __init__(self, name: str, node: Any, limit: int) -> None:
        self._node = node
        self._sparse = "indptr" in node if hasattr(node, "keys") else False
        if self._sparse:
            self._starts = np.asarray(node["indptr"]).astype(np.int64)
            kind = str(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "csr")))
            shape = node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
            if not kind.startswith("csr") or shape is None:
                raise DataError(
                    f"{name}: a sparse array must be stored by rows (csr). Convert it."
                )
            self.shape, self.dtype = tuple(int(size) for size in shape), node["data"].dtype
            self._check(name)
        elif hasattr(node, "shape") and len(node.shape) == 2 and node.dtype.kind in "fiub":
            self.shape, self.dtype = node.shape, node.dtype
            if node.id.get_storage_size() == 0:
                raise DataError(
                    f"{name}: {node.name!r} states shape {node.shape} and holds no values. Write "
                    "it again."
                )
            chunk = prod(node.chunks or (1, node.shape[1]))
            check_fits(f"{name}, one chunk,", chunk * node.dtype.itemsize, limit)
        else:
            raise DataError(f"{name}: {node.name!r} is no table of numbers. Name one by --array.")

    def _check(self, name: str) -> None:
        stored = self._node["data"].shape[0]
        starts = self._starts
        if (
            len(self.shape) != 2
            or starts.size != self.shape[0] + 1
            or starts[0] != 0
            or np.any(np.diff(starts) < 0)
            or starts[-1] != stored
            or self._node["indices"].shape != (stored,)
        ):
            raise DataError(f"{name}: the sparse array contradicts itself. Write it again.")

    def __getitem__(self, rows: slice) -> Any:
        if not self._sparse:
            return np.asarray(self._node[rows])
        starts = self._starts[rows.start : rows.stop + 1]
        span = slice(int(starts[0]), int(starts[-1]))
        indices = np.asarray(self._node["indices"][span])
        if indices.size and not 0 <= indices.min() <= indices.max() < self.shape[1]:
            raise DataError("the sparse array names columns that it does not have.")
        shape = (starts.size - 1, self.shape[1])
        return sparse.csr_array((self._node["data"][span], indices, starts - starts[0]), shape)


def _blocks(
    matrix: _Rows, places: Host, dtype: np.dtype[Any], labels: Host | None
) -> Iterator[Block]:
    for start in range(0, matrix.shape[0], _BATCH):
        stop = min(start + _BATCH, matrix.shape[0])
        part = matrix[slice(start, stop)][:, places]
        dense = part.toarray() if sparse.issparse(part) else part
        yield Block(dense.astype(dtype), None if labels is None else labels[start:stop])


def _text(values: Any) -> list[str]:
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]


def _names(file: Any, axis: str) -> list[str] | None:
    frame = file.get(axis)
    if frame is None or not hasattr(frame, "keys"):
        return None
    key = frame.attrs.get("_index", "_index")
    return _text(frame[key][:]) if key in frame else None


def _told_apart(names: list[str]) -> list[str]:
    """Put a number to names that come more than once, as gene names do."""
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        told.append(name if seen[name] == 0 else f"{name}-{seen[name]}")
    return told


def _labels(name: str, file: Any, column: str) -> Host:
    """Return a column of the cells' table, categories spelt out."""
    frame = file.get("obs", {})
    if column not in frame or column.startswith("_"):
        known = [key for key in frame if not key.startswith("_")]
        raise DataError(f"{name} has no label column {column!r}. It has {', '.join(known)}.")
    node = frame[column]
    if hasattr(node, "keys"):
        codes, categories = np.asarray(node["codes"]), _text(node["categories"][:])
    elif "__categories" in frame and column in frame["__categories"]:
        codes, categories = np.asarray(node), _text(frame["__categories"][column][:])
    else:
        values = np.asarray(node)
        listed = _text(values) if values.dtype.kind in "OS" else values.tolist()
        return np.array(listed, dtype=object)
    spelt = np.array([*categories, None], dtype=object)
    return np.asarray(spelt[np.where((codes >= 0) & (codes < len(categories)), codes, -1)])
