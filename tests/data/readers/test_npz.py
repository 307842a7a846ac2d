"""Pairs of npz files."""

import numpy as np
import pytest
import scipy.sparse

from ovaflow.console.errors import InputError
from ovaflow.data.readers import npz


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
def test_pairs_of_any_layout(tmp_path, layout):
    random = np.random.default_rng(0)
    theirs = scipy.sparse.random_array((30, 12), density=0.2, rng=random)
    their_labels = scipy.sparse.random_array((30, 5), density=0.2, rng=random)
    scipy.sparse.save_npz(tmp_path / "X.trn.npz", theirs.asformat(layout))
    scipy.sparse.save_npz(tmp_path / "Y.trn.npz", their_labels.asformat(layout))
    X, Y = npz.read(tmp_path / "X.trn.npz")
    np.testing.assert_array_equal(X.to_scipy().toarray(), theirs.toarray().astype(np.float32))
    np.testing.assert_array_equal(Y.to_scipy().toarray(), their_labels.toarray() != 0)
    assert [array.dtype for array in (*X.arrays, *Y.arrays)] == 2 * [np.float32, np.int32, np.int64]


@pytest.mark.parametrize(
    ("name", "labels"), [("X.npz", "Y.npz"), ("train_X.npz", None), ("X-train.npz", "Y-train.npz"), ("XML.X", "XML.Y")]
)
def test_names_of_label_files(tmp_path, name, labels):
    if labels is None:
        with pytest.raises(InputError, match=r"name the two files X.npz and Y.npz"):
            npz.labels_file(tmp_path / "features.npz")
    else:
        assert npz.labels_file(tmp_path / name) == tmp_path / labels


def write_arrays(path, **changes):
    arrays = {
        "format": np.array("csr"),
        "shape": np.array([2, 3]),
        "data": np.ones(2),
        "indices": np.array([0, 2]),
        "indptr": np.array([0, 1, 2]),
    }
    np.savez(path, **{**arrays, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": np.array([0, 3])},
        {"indices": np.array([-1, 0])},
        {"indptr": np.array([0, 1, 9])},
        {"indptr": np.array([0, 9, 2])},
        {"indptr": np.array([0, 2])},
        {"shape": np.array([2])},
        {"shape": np.array([2, 1 << 40])},
        {"shape": np.array([-2, 3])},
        {"data": np.array([1.0, np.nan])},
        {"data": np.array([1.0, 1e300])},
        {"data": np.array([1, 1j])},
        {"data": np.array(["a", "b"])},
        {"data": np.array([object(), None], dtype=object)},
        {"format": np.array("load")},
        {"format": np.array(3)},
        {"format": np.array("bsr"), "data": np.ones((2, 1, 1)), "indices": np.array([0, 7])},
        {"format": np.array("bsr"), "data": np.ones((2, 1, 1)), "indptr": np.array([0, 9, 2])},
        {"format": np.array("csc"), "indptr": np.array([0, 1, 1, 2])},
        {"format": np.array("coo"), "row": np.array([0, 7]), "col": np.array([0, 1])},
        {"format": np.array("dia"), "offsets": np.array([0, 1, 2])},
    ],
)
def test_files_that_lie_are_refused(tmp_path, changes):
    write_arrays(tmp_path / "X.npz", **changes)
    write_arrays(tmp_path / "Y.npz")
    with pytest.raises(InputError, match=r"X.npz"):
        npz.read(tmp_path / "X.npz")


def test_files_that_are_no_npz(tmp_path):
    write_arrays(tmp_path / "X.npz")
    whole = (tmp_path / "X.npz").read_bytes()
    with pytest.raises(InputError, match="No such file"):
        npz.read(tmp_path / "X.npz")
    for content in (b"", b"text", whole[: len(whole) // 2], whole[:200] + bytes(100) + whole[300:]):
        (tmp_path / "Y.npz").write_bytes(content)
        with pytest.raises(InputError, match=r"Y.npz: no matrix of scipy.sparse.save_npz"):
            npz.read(tmp_path / "X.npz")


@pytest.mark.parametrize("save", [np.save, np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
def test_arrays(tmp_path, save, dtype, monkeypatch):
    monkeypatch.setattr(npz, "_BLOCK", 50)
    random = np.random.default_rng(0)
    theirs = (random.random((30, 12)) * 3 * (random.random((30, 12)) < 0.6)).astype(dtype)
    their_labels = random.random((30, 5)) < 0.2
    suffix = ".npy" if save is np.save else ".npz"
    save(tmp_path / f"X{suffix}", theirs)
    save(tmp_path / f"Y{suffix}", their_labels)
    X, Y = npz.read(tmp_path / f"X{suffix}")
    np.testing.assert_array_equal(X.to_scipy().toarray(), theirs.astype(np.float32))
    np.testing.assert_array_equal(Y.to_scipy().toarray(), their_labels)
    assert (X.data != 0).all()
    assert [array.dtype for array in (*X.arrays, *Y.arrays)] == 2 * [np.float32, np.int32, np.int64]


@pytest.mark.parametrize(
    "array",
    [np.ones(3), np.ones((2, 2, 2)), np.array([[1.0, np.inf]]), np.array([[1e300]]), np.array([["a"]]), np.eye(2) * 1j],
)
def test_arrays_that_are_no_features(tmp_path, array):
    np.save(tmp_path / "X.npy", array)
    np.save(tmp_path / "Y.npy", np.eye(2))
    with pytest.raises(InputError, match=r"X.npy: no matrix"):
        npz.read(tmp_path / "X.npy")


def test_pickled_arrays_are_refused(tmp_path):
    np.save(tmp_path / "X.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(InputError, match=r"X.npy: no matrix .*pickle"):
        npz.read(tmp_path / "X.npy", tmp_path / "X.npy")


def test_different_numbers_of_rows(tmp_path):
    write_arrays(tmp_path / "X.npz")
    write_arrays(tmp_path / "Y.npz", shape=np.array([3, 3]), indptr=np.array([0, 1, 2, 2]))
    with pytest.raises(InputError, match="3 rows of labels for 2 rows of features"):
        npz.read(tmp_path / "X.npz")
