"""h5ad: dense and sparse rows, names, labels, and the arrays beside X."""

import h5py
import numpy as np
import pytest
from scipy import sparse

from sightline.sources import DataError, read_table


def write(path, X, genes=None, obs=None, obsm=None):
    with h5py.File(path, "w") as file:
        if sparse.issparse(X):
            group = file.create_group("X")
            group.attrs.update({"encoding-type": "csr_matrix", "shape": X.shape})
            for key in ("data", "indices", "indptr"):
                group[key] = getattr(X, key)
        else:
            file["X"] = X
        if genes is not None:
            file["var/index"] = np.array(genes, dtype="S")
            file["var"].attrs["_index"] = "index"
        for key, value in (obs or {}).items():
            file[f"obs/{key}"] = value
        for key, value in (obsm or {}).items():
            file[f"obsm/{key}"] = value
    return path


@pytest.fixture
def counts():
    return np.random.default_rng(0).poisson(0.7, (3000, 6)).astype(np.float32)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_cells_are_rows_and_genes_are_columns(form, counts, tmp_path):
    genes = ["CD8A", "MS4A1", "same", "same", "ä", "NKG7"]
    path = write(tmp_path / "t.h5ad", form(counts), [gene.encode() for gene in genes])
    table = read_table(path)
    assert table.columns == ("CD8A", "MS4A1", "same", "same-1", "ä", "NKG7")
    assert table.values.dtype == np.float32
    np.testing.assert_array_equal(table.values, counts)
    some = read_table(path, columns=("NKG7", "CD8A"))
    np.testing.assert_array_equal(some.values, counts[:, [5, 0]])


def test_labels_of_cells(counts, tmp_path):
    kinds = np.arange(3000) % 3
    path = write(
        tmp_path / "t.h5ad",
        counts,
        obs={
            "number": kinds,
            "text": np.array([b"x", b"y", b"z"])[kinds],
            "category/codes": kinds - 1,
            "category/categories": np.array([b"B", b"T"]),
            "old": kinds,
            "__categories/old": np.array([b"i", b"ii", b"iii"]),
            "short": kinds[:5],
        },
    )
    expected = {
        "number": [0, 1, 2],
        "text": ["x", "y", "z"],
        "category": [None, "B", "T"],
        "old": ["i", "ii", "iii"],
    }
    for column, values in expected.items():
        assert read_table(path, label_column=column).labels[:3].tolist() == values
    with pytest.raises(DataError, match="no label column 'cluster'"):
        read_table(path, label_column="cluster")
    with pytest.raises(DataError, match="3000 cells and 5 labels"):
        read_table(path, label_column="short")


def test_other_arrays_of_the_cells(counts, tmp_path):
    path = write(tmp_path / "t.h5ad", counts, obsm={"X_pca": counts[:, :2] * 2.5})
    table = read_table(path, array="obsm/X_pca")
    assert table.columns == ("X_pca_0", "X_pca_1")
    np.testing.assert_array_equal(table.values, counts[:, :2] * 2.5)
    with pytest.raises(DataError, match=r"no array 'X_tsne'\. It has X, obsm/X_pca"):
        read_table(path, array="X_tsne")
    with pytest.raises(DataError, match="no table of numbers"):
        read_table(path, array="obsm")


def test_without_h5py_the_extra_is_named(counts, tmp_path, monkeypatch):
    path = write(tmp_path / "t.h5ad", counts)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(DataError, match=r"Install sightline\[cells\]"):
        read_table(path)


def test_blood_cells_as_they_are_published(data_home):
    """10x Genomics PBMC 3k: 2638 cells in 9 clusters, packed."""
    path = data_home / "pbmc3k" / "pbmc3k.h5ad.xz"
    table = read_table(path, array="obsm/X_pca", label_column="leiden")
    assert table.values.shape == (2638, 50)
    assert len(set(table.labels)) == 9
