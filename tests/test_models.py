"""A model file gives back the same bits, and no file gives anything but a model or one error."""

import dataclasses
import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from sightline import estimators
from sightline._arrays import to_numpy
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.estimators import (
    CovMCDPursuit,
    ProjectionOutliers,
    ProjectionPursuit,
    RareClusters,
    SpectralPursuit,
)
from sightline.indices import Kurtosis, LogCosh
from sightline.models import FORMAT_VERSION, ModelFileError, load_model, save_model
from sightline.models.encoding import BIT_GENERATORS
from sightline.models.encoding import ESTIMATORS as MODELS

OLD = Path(__file__).parent / "reference" / "model-format-1.sightline"

ESTIMATORS = {
    "several": ProjectionPursuit(n_components=3, random_state=0),
    "shrunk": ProjectionPursuit("abs", whiten="shrunk", random_state=1),
    "raw": ProjectionPursuit(whiten="none", rank=5, step_sizes=(1.0, 0.5), random_state=1),
    "index object": ProjectionPursuit(LogCosh(1, scale=2.0), select=Kurtosis(), random_state=2),
    "own starts": ProjectionPursuit(starts=np.eye(8)),
    "spectral": SpectralPursuit("max-skew", n_components=2),
    "covmcd": CovMCDPursuit(),
}


@pytest.fixture(scope="module")
def table():
    return make_planted(300, 8, random_state=0)[0]


@pytest.fixture(scope="module")
def grouped():
    """Rows with a rare group that is easily found."""
    return make_planted(400, 4, ImbalancedClusters(0.08, spread=0.2), random_state=0)[0]


@pytest.fixture(scope="module")
def content(table, tmp_path_factory):
    """The bytes of one small model file."""
    path = tmp_path_factory.mktemp("model") / "m.sightline"
    return save_model(ProjectionPursuit(random_state=0, n_steps=2).fit(table), path).read_bytes()


def same_state(one, other):
    """Say whether two fitted estimators, or parts of them, are alike to the last bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tolist() == other.tolist()
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            same_state(getattr(one, field.name), getattr(other, field.name))
            for field in dataclasses.fields(one)
        )
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same_state, one, other))
    return type(one) is type(other) and one == other


@pytest.mark.parametrize(("named", "dtype"), [(False, np.float64), (True, np.float32)])
def test_clusters_come_back(named, dtype, grouped, tmp_path):
    rows = grouped.astype(dtype)
    rows = pd.DataFrame(rows, columns=list("abcd")) if named else rows
    model = RareClusters("relu2", random_state=0).fit(rows)
    assert model.n_clusters_ == 1
    loaded = load_model(save_model(model, tmp_path / "m"))
    assert loaded.predict(rows[:500]).tolist() == model.predict(rows[:500]).tolist()
    assert vars(loaded).keys() == vars(model).keys()
    assert all(same_state(value, vars(loaded)[name]) for name, value in vars(model).items())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_outliers_come_back(dtype, table, tmp_path):
    rows = table.astype(dtype)
    model = ProjectionOutliers(("abs", "relu2"), contamination=0.1, random_state=0).fit(rows)
    loaded = load_model(save_model(model, tmp_path / "m"))
    for some in (rows, rows[:7], rows[::-1]):
        assert loaded.score_samples(some).tobytes() == model.score_samples(some).tobytes()
        assert loaded.predict(some).tolist() == model.predict(some).tolist()
    assert all(same_state(value, vars(loaded)[name]) for name, value in vars(model).items())


def test_every_estimator_can_be_saved():
    assert set(MODELS) == set(estimators.__all__)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_same_bits_come_back(name, dtype, table, tmp_path):
    frame = pd.DataFrame(table.astype(dtype), columns=[f"größe {i}" for i in range(8)])
    estimator = ESTIMATORS[name].fit(frame)
    loaded = load_model(save_model(estimator, tmp_path / "m.sightline"))
    assert type(loaded) is type(estimator)
    assert vars(loaded).keys() == vars(estimator).keys()
    assert repr(loaded) == repr(estimator)
    for some in (frame, frame[:7], frame[::-1]):
        assert loaded.transform(some).tobytes() == estimator.transform(some).tobytes()
    np.testing.assert_array_equal(loaded.feature_names_in_, estimator.feature_names_in_)
    np.testing.assert_array_equal(loaded.index_values_, estimator.index_values_)
    assert loaded.index_values_.dtype == estimator.index_values_.dtype


def test_the_same_model_is_the_same_bytes(table, tmp_path):
    estimator = SpectralPursuit().fit(table)
    first = save_model(estimator, tmp_path / "1").read_bytes()
    assert save_model(load_model(tmp_path / "1"), tmp_path / "2").read_bytes() == first


def test_memory_order_is_kept(table, tmp_path):
    estimator = SpectralPursuit(n_components=2).fit(table)
    estimator.extra_ = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    estimator.strided_ = np.arange(12.0).reshape(3, 4).T[:, ::2]
    estimator.big_ = np.arange(3, dtype=">i4")
    estimator.nothing_ = np.zeros((0, 3))
    estimator.number_ = np.float32(0.1)
    estimator.infinity_ = float("-inf")
    loaded = load_model(save_model(estimator, tmp_path / "m"))
    assert loaded.extra_.flags.f_contiguous
    assert loaded.strided_.flags.f_contiguous
    np.testing.assert_array_equal(loaded.strided_, estimator.strided_)
    np.testing.assert_array_equal(loaded.big_, [0, 1, 2])
    assert loaded.nothing_.shape == (0, 3)
    assert loaded.number_ == np.float32(0.1)
    assert isinstance(loaded.number_, np.float32)
    assert loaded.infinity_ == float("-inf")


def test_arrays_of_other_libraries_come_back_as_numpy(xp, table, tmp_path):
    rows = xp.asarray(table)
    estimator = SpectralPursuit().fit(rows)
    loaded = load_model(save_model(estimator, tmp_path / "m"))
    assert isinstance(loaded.components_, np.ndarray)
    host = to_numpy(rows)  # of float32 where that is all that the library has
    expected = SpectralPursuit().fit(host).transform(host)
    tolerance = 1e-9 if host.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(loaded.transform(host), expected, atol=tolerance)


def test_a_file_of_format_1_is_read():
    """Written by sightline 0.1.0; transform is by hand (x - mean_) components_^T."""
    model = load_model(OLD)
    rows = pd.DataFrame(np.arange(16.0).reshape(4, 4) ** 2, columns=list("abcd"))
    expected = (rows.to_numpy() - model.mean_) @ model.components_.T
    np.testing.assert_allclose(model.transform(rows), expected, rtol=1e-12)
    assert model.get_params()["random_state"] == 5
    assert list(model.feature_names_in_) == ["a", "b", "c", "d"]


def test_numpy_reads_the_arrays(content):
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        assert all(np.isfinite(file[name]).all() for name in file.files if name != "header.json")


class Custom:
    def value_slope(self, scores, xp):
        return scores**3, 3 * scores**2


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("index", Custom(), "index is a .*Custom"),
        ("random_state", np.random.RandomState(0), "random_state is a .*RandomState"),
        ("starts", np.array([["x"]]), "dtype <U1"),
        ("starts", np.array([1, None]), "other objects"),
    ],
)
def test_what_cannot_be_saved_is_named(option, value, words, table, tmp_path):
    estimator = ProjectionPursuit(n_steps=2).fit(table).set_params(**{option: value})
    with pytest.raises(ModelFileError, match=words):
        save_model(estimator, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", sorted(BIT_GENERATORS))
def test_a_generator_goes_on_where_it_was(kind, table, tmp_path):
    generator = np.random.Generator(getattr(np.random, kind)(5))
    estimator = ProjectionPursuit(n_starts=8, n_steps=2, random_state=generator).fit(table)
    generator.integers(9, dtype=np.uint32)  # leaves half of a number behind
    loaded = load_model(save_model(estimator, tmp_path / "m")).random_state
    assert loaded is not generator
    assert np.array_equal(loaded.random(5), generator.random(5))
    assert loaded.integers(9, dtype=np.uint32) == generator.integers(9, dtype=np.uint32)


@pytest.mark.parametrize("name", ["_pickle", "Generator", 3])
def test_a_generator_of_no_known_kind_is_refused(name, content, tmp_path):
    lie = changed("model", "parameters", "random_state", to={"generator": {"bit_generator": name}})
    with pytest.raises(ModelFileError, match="damaged"):
        load_bytes(rewritten(content, lie), tmp_path)


def test_only_estimators_of_the_package_are_saved(tmp_path):
    with pytest.raises(ModelFileError, match="a dict can't be saved"):
        save_model({}, tmp_path / "m")


def test_an_unfitted_estimator_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(ProjectionPursuit(), tmp_path / "m")


def test_a_failed_write_leaves_the_old_file(content, table, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(OSError, match=r"."):
        save_model(SpectralPursuit().fit(table), path / "below")
    assert path.read_bytes() == content


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nothing")


def test_the_error_survives_pickling():
    error = pickle.loads(pickle.dumps(ModelFileError("broken")))  # noqa: S301
    assert (str(error), error.exit_code) == ("broken", 65)


def load_bytes(content, tmp_path):
    path = tmp_path / "hostile"
    path.write_bytes(content)
    return load_model(path)


def is_intact(content, damaged, tmp_path):
    """Whether the damaged bytes load as the same model; anything but that is one error."""
    try:
        model = load_bytes(damaged, tmp_path)
    except ModelFileError:
        return False
    original = load_bytes(content, tmp_path)
    assert {k: repr(v) for k, v in vars(model).items()} == {
        k: repr(v) for k, v in vars(original).items()
    }
    return True


def test_cut_short_anywhere_is_an_error(content, tmp_path):
    for length in range(0, len(content) - 1, 37):
        assert not is_intact(content, content[:length], tmp_path)


def test_a_flipped_bit_never_changes_the_model(content, tmp_path):
    """Dates and attributes of a zip mean nothing; every bit of the members is checked."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        starts = {i.header_offset + 30 + len(i.filename): i.file_size for i in file.infolist()}
    inside = {start + k for start, size in starts.items() for k in range(size)}
    rng = np.random.default_rng(0)
    for place in rng.choice(len(content), size=400, replace=False):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        intact = is_intact(content, bytes(damaged), tmp_path)
        assert not (intact and place in inside)


def rewritten(content, change=None, members=None, compression=zipfile.ZIP_STORED):
    """The file with another header or members, its checksums right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    if change is not None:
        header = json.loads(parts["header.json"])
        parts["header.json"] = json.dumps(change(header) or header).encode()
    parts |= members or {}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return buffer.getvalue()


def npy(values):
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=True)
    return buffer.getvalue()


def lying_npy(header):
    text = (header + " " * 200)[:117] + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + b"\0" * 64


LIES = {
    "objects": npy(np.array([print, None], dtype=object)),
    "dates": npy(np.array(["2020-01-01"], dtype="M8[D]")),
    "big-endian": npy(np.arange(3, dtype=">f8")),
    "records": npy(np.zeros(2, dtype=[("a", "f8")])),
    "too many": lying_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000,)}"),
    "overflowing": lying_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2**62, 8)}"),
    "negative": lying_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -8)}"),
    "a call": lying_npy("__import__('os').abort()"),
    "empty": b"",
    "version 3": b"\x93NUMPY\x03\x00" + b"\0" * 40,
}


@pytest.mark.parametrize("lie", LIES)
def test_arrays_that_lie_are_refused(lie, content, tmp_path):
    with pytest.raises(ModelFileError):
        load_bytes(rewritten(content, members={"a0.npy": LIES[lie]}), tmp_path)


def changed(*path, to):
    def change(header):
        node = header
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return change


STATE = ("model", "state")

HEADERS = {
    "another format": (changed("format", to="other"), "not that of a sightline model"),
    "newer": (changed("format_version", to=FORMAT_VERSION + 1), "Upgrade sightline"),
    "no version": (changed("format_version", to=None), "format version is None"),
    "version 0": (changed("format_version", to=0), "format version is 0"),
    "a list": (lambda header: [header], "no JSON object"),
    "no model": (changed("model", to=None), "no estimator"),
    "an array": (changed("model", to={"array": "a0"}), "no estimator"),
    "unknown class": (changed("model", "estimator", to="Popen"), "damaged"),
    "unknown kind": (changed("model", to={"call": "os.abort"}), "damaged"),
    "no kind": (changed("model", to={}), "damaged"),
    "unknown parameter": (changed("model", "parameters", "shell", to=True), "damaged"),
    "method replaced": (changed(*STATE, "transform", to=1), "no fitted attribute"),
    "class replaced": (changed(*STATE, "__class__", to=1), "no fitted attribute"),
    "parameter replaced": (changed(*STATE, "index", to="abs"), "no fitted attribute"),
    "no state": (changed("model", "state", to={}), "has an attribute"),
    "no array": (changed(*STATE, "mean_", to={"array": "a99"}), "damaged"),
    "a bare list": (changed(*STATE, "mean_", to=[1]), "bare list"),
    "other shapes": (changed(*STATE, "n_features_in_", to=3), "unlike shapes"),
    "no whitening": (changed(*STATE, "_whitening", to=3), "damaged"),
    "another record": (changed(*STATE, "_whitening", "record", to="object"), "damaged"),
    "deep": (changed("model", to=json.loads('{"list":[' * 400 + "]}" * 400)), "damaged|no estim"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_lie_are_refused(name, content, tmp_path):
    change, words = HEADERS[name]
    with pytest.raises(ModelFileError, match=words):
        load_bytes(rewritten(content, change), tmp_path)


@pytest.fixture(scope="module")
def other_models(grouped, tmp_path_factory):
    """The bytes of small model files of the estimators that find no directions to score by."""
    folder = tmp_path_factory.mktemp("models")
    found = RareClusters("relu2", random_state=0), ProjectionOutliers(random_state=0)
    return [save_model(one.fit(grouped), folder / "m").read_bytes() for one in found]


JUNK = (None, -1, 10**30, "x", [], {}, {"float": "nan"}, {"array": "a0"}, {"texts": ["x"]})


def places(node, path=()):
    """Yield the way to every value of a header."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


@pytest.mark.parametrize("which", [0, 1], ids=["clusters", "outliers"])
def test_junk_anywhere_in_a_header_is_a_model_or_the_one_error(which, other_models, tmp_path):
    content = other_models[which]
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        header = json.loads(file.read("header.json"))
    rng = np.random.default_rng(which)
    ways = list(places(header))
    refused = 0
    for _ in range(300):
        way, junk = ways[rng.integers(len(ways))], JUNK[rng.integers(len(JUNK))]
        try:
            load_bytes(rewritten(content, changed(*way, to=junk)), tmp_path)
        except ModelFileError:
            refused += 1
    assert refused > 150


def test_a_compressed_file_is_refused(content, tmp_path):
    with pytest.raises(ModelFileError, match="compressed"):
        load_bytes(rewritten(content, compression=zipfile.ZIP_DEFLATED), tmp_path)


def test_members_beyond_the_file_are_refused(content, tmp_path):
    """The directory at the end states 3 GB for one member, in both of its sizes."""
    damaged = bytearray(content)
    entry = damaged.rindex(b"PK\x01\x02")
    damaged[entry + 20 : entry + 28] = (3 << 30).to_bytes(4, "little") * 2
    with pytest.raises(ModelFileError, match="more bytes than the file has"):
        load_bytes(bytes(damaged), tmp_path)


@pytest.mark.parametrize("junk", [b"", b"PK", b"\x80\x04K\x01.", b"a,b\n1,2\n", b"\0" * 10_000])
def test_other_files_are_refused(junk, tmp_path):
    with pytest.raises(ModelFileError, match="no model file"):
        load_bytes(junk, tmp_path)


def test_another_npz_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(ModelFileError, match="first member"):
        load_model(tmp_path / "other.npz")


def test_what_has_no_end_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(ModelFileError, match="is no regular file"):
            load_model(path)
