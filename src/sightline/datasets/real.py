"""The paper's two real data sets, from their official files or, once, from OpenML.

Fashion-MNIST: Xiao, Rasul and Vollgraf (2017), arXiv:1708.07747. HAR: Anguita, Ghio, Oneto, Parra
and Reyes-Ortiz (2013), A public domain dataset for human activity recognition using smartphones,
ESANN 2013.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sightline.datasets.idx import read_idx
from sightline.datasets.openml import fetch_table
from sightline.datasets.signals import Labels
from sightline.datasets.source import FolderName, Source, damaged
from sightline.datasets.text import read_names, read_numbers, unique_names

Images: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint8]]
Features: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]

CLOTHES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)

ACTIVITIES = (
    "WALKING",
    "WALKING_UPSTAIRS",
    "WALKING_DOWNSTAIRS",
    "SITTING",
    "STANDING",
    "LAYING",
)

_FASHION_MNIST_MD5 = {
    "train-images-idx3-ubyte": {
        "": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        ".gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    },
    "train-labels-idx1-ubyte": {
        "": "9018921c3c673c538a1fc5bad174d6f9",
        ".gz": "25c81989df183df01b3e8a0aad5dffbe",
    },
    "t10k-images-idx3-ubyte": {
        "": "8181f5470baa50b63fa0f6fddb340f0a",
        ".gz": "bef4ecab320f06d8554ea6380940ec79",
    },
    "t10k-labels-idx1-ubyte": {
        "": "15d484375f8d13e6eb1aabb0c3f46965",
        ".gz": "bb300cfdad3c16e7a12a480ee83cd310",
    },
}
"""The publisher's sums of the packed files, and those of what is in them."""

FASHION_MNIST_SOURCE = Source(
    name="Fashion-MNIST",
    files=tuple(_FASHION_MNIST_MD5),
    packed=".gz",
    folder="fashion-mnist",
    publisher="https://github.com/zalandoresearch/fashion-mnist",
    openml_id=40996,
    n_train=60000,
    n_test=10000,
    n_columns=28 * 28,
    n_labels=len(CLOTHES),
    labels_digest="8ab940a680640f36c0bf1d2549cb2f3b3d4068c12547116cc7b1161b1d26663d",
)

HAR_SOURCE = Source(
    name="HAR",
    files=(
        "features.txt",
        "train/X_train.txt",
        "train/y_train.txt",
        "train/subject_train.txt",
        "test/X_test.txt",
        "test/y_test.txt",
        "test/subject_test.txt",
    ),
    packed=".xz",
    folder="uci-har",
    publisher="https://archive.ics.uci.edu/dataset/240",
    openml_id=1478,
    n_train=7352,
    n_test=2947,
    n_columns=561,
    n_labels=len(ACTIVITIES),
    labels_digest="ffc930d2431451a99fd064eb752784e47ee2b04833a04304cbacdc869b2024d3",
)

_N_SUBJECTS = 30


@dataclass(frozen=True, eq=False, slots=True)
class FashionMNIST:
    """Pictures of clothes, 28 x 28 grey values from 0 to 255, a row a picture.

    Attributes
    ----------
    X_train, X_test : (60000, 784) and (10000, 784), unsigned bytes.
    y_train, y_test : integers 0 .. 9.
    label_names : what label i is.
    """

    X_train: Images
    y_train: Labels
    X_test: Images
    y_test: Labels
    label_names: tuple[str, ...] = CLOTHES


@dataclass(frozen=True, eq=False, slots=True)
class HAR:
    """Smartphone movements of 30 people, 561 summaries of 2.56 seconds a row, each in [-1, 1].

    Attributes
    ----------
    X_train, X_test : (7352, 561) and (2947, 561).
    y_train, y_test : integers 0 .. 5.
    subjects_train, subjects_test : who moved, 1 .. 30; 21 people are in the training rows, the
        other 9 in the test rows. None where the source does not say.
    feature_names : the name of each column; all different.
    label_names : what label i is.
    """

    X_train: Features
    y_train: Labels
    X_test: Features
    y_test: Labels
    subjects_train: Labels | None
    subjects_test: Labels | None
    feature_names: tuple[str, ...] = field(repr=False)
    label_names: tuple[str, ...] = ACTIVITIES


def load_fashion_mnist(data_home: FolderName, *, download: bool = True) -> FashionMNIST:
    """Load Fashion-MNIST from `data_home/fashion-mnist`, `data_home` or, once, from OpenML.

    Parameters
    ----------
    data_home : folder with the four official idx files, plain or `.gz`; their MD5 sums are
        compared with the official ones. Where there is none of them, the folder below which
        scikit-learn keeps what it fetches (`data_home/openml`), so that it is fetched once.
    download : False reads official files only and raises FileNotFoundError where there are none.

    OpenML has the same pictures in one table. Where their labels come in the official order they
    are split as the official files are; else all are training rows, with a warning.
    """
    found = FASHION_MNIST_SOURCE.find(data_home)
    if found is None:
        return _fashion_mnist_from_openml(data_home, download)
    for name, path in found.items():
        _check_md5(path, _FASHION_MNIST_MD5[name][path.name.removeprefix(name)])
    source = FASHION_MNIST_SOURCE
    parts: list[Any] = []
    for prefix, rows in (("train", source.n_train), ("t10k", source.n_test)):
        images = read_idx(found[f"{prefix}-images-idx3-ubyte"], (rows, 28, 28))
        labels = read_idx(found[f"{prefix}-labels-idx1-ubyte"], (rows,))
        parts += [images.reshape(rows, -1), labels.astype(np.int64)]
    return FashionMNIST(*parts)


def load_har(data_home: FolderName, *, download: bool = True) -> HAR:
    """Load HAR from `data_home/uci-har`, `data_home` or, once, from OpenML.

    Parameters
    ----------
    data_home : folder with the official `features.txt`, and `X_`, `y_` and `subject_` in `train/`
        and `test/`, each plain or `.xz`. Where there is none of them, the folder below which
        scikit-learn keeps what it fetches (`data_home/openml`), so that it is fetched once.
    download : False reads official files only and raises FileNotFoundError where there are none.

    `features.txt` has 477 different names for 561 columns; those that come again get their place
    among their like: "fBodyAcc-bandsEnergy()-1,8#1", "#2", "#3".

    OpenML's table is poorer: it does not say who moved (`subjects_*` is None), does not name its
    columns (they are V1 .. V561), and does not tell training from test rows. Where its labels
    come in the official order the rows are split as the official files are; else all are training
    rows, with a warning.
    """
    found = HAR_SOURCE.find(data_home)
    if found is None:
        return _har_from_openml(data_home, download)
    source = HAR_SOURCE
    parts: dict[str, Any] = {}
    for part, rows in (("train", source.n_train), ("test", source.n_test)):
        parts[f"X_{part}"] = read_numbers(found[f"{part}/X_{part}.txt"], (rows, source.n_columns))
        labels = read_numbers(
            found[f"{part}/y_{part}.txt"], (rows, 1), whole_up_to=source.n_labels
        )
        parts[f"y_{part}"] = labels[:, 0].astype(np.int64) - 1
        subjects = read_numbers(
            found[f"{part}/subject_{part}.txt"], (rows, 1), whole_up_to=_N_SUBJECTS
        )
        parts[f"subjects_{part}"] = subjects[:, 0].astype(np.int64)
    names = read_names(found["features.txt"], source.n_columns)
    return HAR(**parts, feature_names=unique_names(names))


def _check_md5(path: Path, official: str) -> None:
    with path.open("rb") as stream:
        got = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if got != official:
        raise damaged(path, f"its MD5 sum is {got}, that of the official file is {official}")


def _fashion_mnist_from_openml(data_home: FolderName, download: bool) -> FashionMNIST:
    table = fetch_table(FASHION_MNIST_SOURCE, data_home, first_label=0, download=download)
    images = np.clip(table.X, 0, 255).astype(np.uint8)
    if not np.array_equal(images, table.X):
        raise ValueError(
            f"OpenML data set {FASHION_MNIST_SOURCE.openml_id} has values that are not grey "
            f"values 0 .. 255. Instead, {FASHION_MNIST_SOURCE.where_to_put(data_home)}."
        )
    cut, labels = table.n_train, table.labels
    return FashionMNIST(images[:cut], labels[:cut], images[cut:], labels[cut:])


def _har_from_openml(data_home: FolderName, download: bool) -> HAR:
    table = fetch_table(HAR_SOURCE, data_home, first_label=1, download=download)
    cut, X, labels = table.n_train, table.X, table.labels
    return HAR(X[:cut], labels[:cut], X[cut:], labels[cut:], None, None, table.columns)
