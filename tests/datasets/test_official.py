"""The loaders on the official files themselves, where they are."""

import gzip
import hashlib
import math

import numpy as np
import pytest

from sightline.datasets import load_fashion_mnist, load_har, real


@pytest.fixture(scope="module")
def fashion_mnist(data_home):
    if not (data_home / "fashion-mnist").is_dir():
        pytest.skip("no folder fashion-mnist with the official files in the real data")
    return load_fashion_mnist(data_home, download=False)


@pytest.fixture(scope="module")
def har(data_home):
    if not (data_home / "uci-har").is_dir():
        pytest.skip("no folder uci-har with the official files in the real data")
    return load_har(data_home, download=False)


def test_the_official_fashion_mnist(fashion_mnist):
    assert fashion_mnist.X_train.shape == (60000, 784)
    assert fashion_mnist.X_test.shape == (10000, 784)
    assert np.all(np.bincount(fashion_mnist.y_train) == 6000)  # as published: balanced
    assert np.all(np.bincount(fashion_mnist.y_test) == 1000)
    # The mean and deviation of a training pixel that users of the set quote: 0.2860, 0.3530.
    grey, share = np.arange(256) / 255, np.bincount(fashion_mnist.X_train.ravel()) / (60000 * 784)
    mean = share @ grey
    assert mean == pytest.approx(0.2860, abs=5e-5)
    assert math.sqrt(share @ (grey - mean) ** 2) == pytest.approx(0.3530, abs=5e-5)


def test_the_official_har(har):
    assert har.X_train.shape == (7352, 561)
    assert har.X_test.shape == (2947, 561)
    assert np.abs(har.X_train).max() <= 1  # "normalized and bounded within [-1,1]"
    assert np.unique(har.subjects_train).size == 21  # 70% of 30 volunteers
    assert np.unique(har.subjects_test).size == 9
    assert not np.intersect1d(har.subjects_train, har.subjects_test).size
    assert np.array_equal(np.unique(har.y_train), np.arange(6))
    assert len(set(har.feature_names)) == 561
    assert len({name.split("#")[0] for name in har.feature_names}) == 477
    # Lying, gravity is not along the phone's length: the column separates the class.
    gravity = har.X_train[:, har.feature_names.index("tGravityAcc-mean()-X")]
    lying = har.y_train == har.label_names.index("LAYING")
    assert gravity[lying].mean() < 0 < gravity[~lying].min() + 0.5


def test_the_digests_are_those_of_the_official_labels(fashion_mnist, har):
    for loaded, source in ((fashion_mnist, real.FASHION_MNIST_SOURCE), (har, real.HAR_SOURCE)):
        labels = np.concatenate((loaded.y_train, loaded.y_test))
        digest = hashlib.sha256(labels.astype(np.uint8).tobytes()).hexdigest()
        assert digest == source.labels_digest


def test_unpacked_official_files_have_the_listed_sums(data_home, fashion_mnist, tmp_path):
    for name in real.FASHION_MNIST_SOURCE.files:
        packed = data_home / "fashion-mnist" / f"{name}.gz"
        if not packed.is_file():
            pytest.skip("the official files are there unpacked already")
        (tmp_path / name).write_bytes(gzip.decompress(packed.read_bytes()))
    unpacked = load_fashion_mnist(tmp_path, download=False)
    assert np.array_equal(unpacked.X_train, fashion_mnist.X_train)
    assert np.array_equal(unpacked.y_test, fashion_mnist.y_test)
