"""The way to the data without the official files: OpenML, through scikit-learn, cached on disk."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from sightline._options import check_flag
from sightline.datasets.signals import Labels
from sightline.datasets.source import FolderName, Source, as_folder


@dataclass(frozen=True, eq=False)
class OpenMLTable:
    """All rows of a data set from OpenML; the first `n_train` are the training rows."""

    X: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    labels: Labels
    columns: tuple[str, ...]
    n_train: int


def fetch_table(
    source: Source, data_home: FolderName, *, first_label: int, download: Any
) -> OpenMLTable:
    """Fetch a data set from OpenML, or raise FileNotFoundError that says what else to do.

    OpenML keeps no training and test rows apart. Where its labels come in the official order the
    split is the official one; else all rows are training rows, and a warning says so.
    """
    remedy = source.where_to_put(data_home)
    if not check_flag("download", download):
        raise FileNotFoundError(
            f"{source.name} is not in {data_home}: {remedy}, or call again with download=True."
        )
    bunch = _fetch(source, data_home, remedy)
    X, labels = np.asarray(bunch.data, dtype=np.float64), _labels(source, bunch, first_label)
    shape = (source.n_train + source.n_test, source.n_columns)
    if X.shape != shape or labels.shape != shape[:1] or not np.all(np.isfinite(X)):
        raise ValueError(
            f"OpenML data set {source.openml_id} has shape {X.shape} and {labels.size} labels; "
            f"{source.name} has finite values of shape {shape}. Instead, {remedy}."
        )
    columns = tuple(str(name) for name in bunch.feature_names)
    return OpenMLTable(X, labels, columns, _n_train(source, labels, remedy))


def _fetch(source: Source, data_home: FolderName, remedy: str) -> Any:
    from sklearn.datasets import fetch_openml  # noqa: PLC0415  (slow to import, seldom needed)

    try:
        return fetch_openml(
            data_id=source.openml_id,
            data_home=str(as_folder(data_home)),
            as_frame=False,
            parser="pandas" if find_spec("pandas") else "liac-arff",  # the first is much faster
        )
    except OSError as failed:
        raise FileNotFoundError(
            f"{source.name} is not in {data_home} and could not be fetched from OpenML "
            f"({failed}): {remedy}."
        ) from failed


def _labels(source: Source, bunch: Any, first_label: int) -> Labels:
    given = np.asarray(bunch.target)
    accepted = [str(first_label + label) for label in range(source.n_labels)]
    named = given.astype(str)
    strange = np.setdiff1d(named, accepted)
    if strange.size:
        raise ValueError(
            f"OpenML data set {source.openml_id} has the label {str(strange[0])!r}; "
            f"{source.name} has {', '.join(accepted)}."
        )
    return named.astype(np.int64) - first_label


def _n_train(source: Source, labels: Labels, remedy: str) -> int:
    digest = hashlib.sha256(labels.astype(np.uint8).tobytes()).hexdigest()
    if digest == source.labels_digest:
        return source.n_train
    warnings.warn(
        f"OpenML does not have the rows of {source.name} in the official order, so which are "
        f"test rows is not known: all are returned as training rows. For the split, {remedy}.",
        UserWarning,
        stacklevel=5,
    )
    return labels.size
