"""The loaders of real data on small files of the official form, and on a stand-in for OpenML."""

import gzip
import hashlib
import lzma
import struct
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sightline.datasets import load_fashion_mnist, load_har, openml, real

N_TRAIN, N_TEST, N_COLUMNS = 8, 5, 4


def digest(labels):
    return hashlib.sha256(labels.astype(np.uint8).tobytes()).hexdigest()


@pytest.fixture
def small(monkeypatch):
    """Make both data sets small: other numbers of rows and columns, other sums."""
    rng = np.random.default_rng(0)
    n = N_TRAIN + N_TEST
    clothes = SimpleNamespace(X=rng.integers(0, 256, (n, 784)), y=rng.integers(0, 10, n))
    moves = SimpleNamespace(
        X=rng.uniform(-1, 1, (n, N_COLUMNS)).round(8),
        y=rng.integers(0, 6, n),
        subjects=rng.integers(1, 31, n),
    )
    sizes = {"n_train": N_TRAIN, "n_test": N_TEST}
    for name, data, more in (
        ("FASHION_MNIST_SOURCE", clothes, {}),
        ("HAR_SOURCE", moves, {"n_columns": N_COLUMNS}),
    ):
        source = replace(getattr(real, name), **sizes, **more, labels_digest=digest(data.y))
        monkeypatch.setattr(real, name, source)
    return SimpleNamespace(clothes=clothes, moves=moves)


@pytest.fixture
def fetched(monkeypatch):
    """Stand in for scikit-learn's fetch_openml; returns what it is to answer and its calls."""
    answers = SimpleNamespace(bunch=None, error=None, calls=[])

    def fetch_openml(**options):
        answers.calls.append(options)
        if answers.error:
            raise answers.error
        return answers.bunch

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return answers


def idx(array):
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + bytes(
        array.astype(np.uint8)
    )


def write_clothes(folder, data, monkeypatch, packed=False):
    """Write the four idx files, and make their sums the official ones."""
    folder.mkdir(parents=True, exist_ok=True)
    sums = {}
    for prefix, rows in (("train", slice(N_TRAIN)), ("t10k", slice(N_TRAIN, None))):
        for kind, array in (
            ("images-idx3", data.X[rows].reshape(-1, 28, 28)),
            ("labels-idx1", data.y[rows]),
        ):
            name, content = f"{prefix}-{kind}-ubyte", idx(array)
            content = gzip.compress(content) if packed else content
            ending = ".gz" if packed else ""
            (folder / f"{name}{ending}").write_bytes(content)
            sums[name] = {ending: hashlib.md5(content, usedforsecurity=False).hexdigest()}
    monkeypatch.setattr(real, "_FASHION_MNIST_MD5", sums)


def write_moves(folder, data, packed=False):
    """Write the seven text files."""

    def lines(array):
        return "".join(" ".join(f"{value:.8e}" for value in row) + "\n" for row in array).encode()

    def put(name, content):
        path = folder / (name + (".xz" if packed else ""))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lzma.compress(content) if packed else content)

    put("features.txt", b"1 energy()-1,8\n2 mean()\n3 energy()-1,8\n4 std()\n")
    for part, rows in (("train", slice(N_TRAIN)), ("test", slice(N_TRAIN, None))):
        put(f"{part}/X_{part}.txt", lines(data.X[rows]))
        put(f"{part}/y_{part}.txt", b"".join(b"%d\n" % (y + 1) for y in data.y[rows]))
        put(f"{part}/subject_{part}.txt", b"".join(b"%d\n" % s for s in data.subjects[rows]))


def same_rows(loaded, data):
    """Say whether the loaded parts are the rows of the data, cut at N_TRAIN."""
    return (
        np.array_equal(loaded.X_train, data.X[:N_TRAIN])
        and np.array_equal(loaded.y_train, data.y[:N_TRAIN])
        and np.array_equal(loaded.X_test, data.X[N_TRAIN:])
        and np.array_equal(loaded.y_test, data.y[N_TRAIN:])
    )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("below", ["", "fashion-mnist"])
def test_fashion_mnist_is_read_from_official_files(tmp_path, small, monkeypatch, below, packed):
    write_clothes(tmp_path / below, small.clothes, monkeypatch, packed)
    clothes = load_fashion_mnist(str(tmp_path), download=False)
    assert same_rows(clothes, small.clothes)
    assert clothes.X_train.dtype == np.uint8
    assert clothes.y_train.dtype == clothes.y_test.dtype == np.int64
    assert clothes.label_names[9] == "Ankle boot"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("below", ["", "uci-har"])
def test_har_is_read_from_official_files(tmp_path, small, below, packed):
    write_moves(tmp_path / below, small.moves, packed)
    moves = load_har(tmp_path, download=False)
    assert same_rows(moves, small.moves)
    subjects = np.concatenate((moves.subjects_train, moves.subjects_test))
    assert np.array_equal(subjects, small.moves.subjects)
    assert moves.feature_names == ("energy()-1,8#1", "mean()", "energy()-1,8#2", "std()")
    assert moves.label_names[0] == "WALKING"
    assert "energy" not in repr(moves)


def test_a_file_of_another_sum_is_refused(tmp_path, small, monkeypatch):
    write_clothes(tmp_path, small.clothes, monkeypatch)
    path = tmp_path / "t10k-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-1] + b"\7")
    with pytest.raises(ValueError, match=r"t10k-images-idx3-ubyte is damaged .* MD5"):
        load_fashion_mnist(tmp_path, download=False)


@pytest.mark.parametrize("download", [False, True])
def test_some_of_the_files_is_an_error_that_names_the_others(tmp_path, small, fetched, download):
    write_moves(tmp_path / "uci-har", small.moves)
    (tmp_path / "uci-har" / "train" / "y_train.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"uci-har has some .* but not train/y_train.txt"):
        load_har(tmp_path, download=download)
    assert not fetched.calls


@pytest.mark.parametrize(
    ("load", "names"),
    [
        (load_fashion_mnist, ["train-images-idx3-ubyte", "t10k-labels-idx1-ubyte", ".gz"]),
        (load_har, ["features.txt", "train/X_train.txt", "test/subject_test.txt", ".xz"]),
    ],
)
def test_without_files_or_network_the_error_says_what_to_put_where(tmp_path, fetched, load, names):
    with pytest.raises(FileNotFoundError) as missing:
        load(tmp_path, download=False)
    assert not fetched.calls
    fetched.error = ConnectionError("no route to host")
    with pytest.raises(FileNotFoundError, match="no route to host") as unfetched:
        load(tmp_path)
    for error in (missing, unfetched):
        for name in [*names, str(tmp_path / "")]:
            assert name in str(error.value)


def bunch_of(data, first_label):
    return SimpleNamespace(
        data=data.X.astype(float),
        target=(data.y + first_label).astype(str).astype(object),
        feature_names=[f"V{i + 1}" for i in range(data.X.shape[1])],
    )


def test_fashion_mnist_is_fetched_in_the_official_order(tmp_path, small, fetched):
    fetched.bunch = bunch_of(small.clothes, 0)
    clothes = load_fashion_mnist(tmp_path)
    assert same_rows(clothes, small.clothes)
    assert clothes.X_test.dtype == np.uint8
    (options,) = fetched.calls
    assert options["data_id"] == 40996
    assert options["data_home"] == str(tmp_path)


def test_har_is_fetched_in_the_official_order(tmp_path, small, fetched):
    fetched.bunch = bunch_of(small.moves, 1)
    moves = load_har(tmp_path)
    assert same_rows(moves, small.moves)
    assert moves.subjects_train is None
    assert moves.subjects_test is None
    assert moves.feature_names == ("V1", "V2", "V3", "V4")
    assert fetched.calls[0]["data_id"] == 1478


@pytest.mark.parametrize(("load", "first_label"), [(load_fashion_mnist, 0), (load_har, 1)])
def test_rows_in_another_order_are_all_training_rows(tmp_path, small, fetched, load, first_label):
    data = small.moves if load is load_har else small.clothes
    shuffled = SimpleNamespace(X=data.X[::-1], y=data.y[::-1])
    fetched.bunch = bunch_of(shuffled, first_label)
    with pytest.warns(UserWarning, match="official order") as warned:
        loaded = load(tmp_path)
    assert warned[0].filename == __file__
    assert np.array_equal(loaded.X_train, shuffled.X)
    assert np.array_equal(loaded.y_train, shuffled.y)
    assert loaded.X_test.shape == (0, shuffled.X.shape[1])
    assert loaded.y_test.shape == (0,)


def test_the_fast_parser_is_used_where_pandas_is(tmp_path, small, fetched, monkeypatch):
    fetched.bunch = bunch_of(small.moves, 1)
    for found in (None, "a spec"):
        monkeypatch.setattr(openml, "find_spec", {"pandas": found}.get)
        load_har(tmp_path)
    assert [call["parser"] for call in fetched.calls] == ["liac-arff", "pandas"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": np.zeros((3, 784))}, r"shape \(3, 784\)"),
        ({"data": np.full((N_TRAIN + N_TEST, 784), np.nan)}, "finite values"),
        ({"data": np.full((N_TRAIN + N_TEST, 784), 0.5)}, "not grey"),
        ({"data": np.full((N_TRAIN + N_TEST, 784), 256.0)}, "not grey"),
        ({"data": np.full((N_TRAIN + N_TEST, 784), -1.0)}, "not grey"),
        ({"target": np.array(["1", "2"])}, "2 labels"),
        ({"target": np.array(["ten"] * (N_TRAIN + N_TEST))}, "label 'ten'"),
    ],
)
def test_another_table_than_expected_is_refused(tmp_path, small, fetched, change, message):
    fetched.bunch = SimpleNamespace(**{**vars(bunch_of(small.clothes, 0)), **change})
    with pytest.raises(ValueError, match=f"40996 .*{message}"):
        load_fashion_mnist(tmp_path)


@pytest.mark.parametrize("load", [load_fashion_mnist, load_har])
def test_options_are_checked(tmp_path, load):
    with pytest.raises(TypeError, match="download='no' must be True or False"):
        load(tmp_path, download="no")
    with pytest.raises(TypeError, match="data_home=None must be the path of a folder"):
        load(None)


def test_home_folders_are_understood(tmp_path, small, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write_moves(tmp_path / "data", small.moves)
    assert same_rows(load_har("~/data", download=False), small.moves)
