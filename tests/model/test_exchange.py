"""Models in other formats and back, to the last bit."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from commands import ovaflow
from numpy.testing import assert_array_equal

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Names
from ovaflow.model.npz_file import read_npz
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.sparse.csr import from_scipy
from ovaflow.sparse.weight_rows import round_weights

TRAIN = {"method": "one-vs-all", "C": 1.0, "loss": "squared-hinge"}


@pytest.fixture
def model(tmp_path) -> OneVsAll:
    """Weights with every kind of bits, names with every kind of character."""
    rng = np.random.default_rng(5)
    d = 40
    labels = ["a", "b, c", 'd"\n', "ß → ☃", "", "untrained"]
    bits = rng.integers(0, 1 << 32, (len(labels), d + 1), dtype=np.uint32).view(np.float32)
    bits[~np.isfinite(bits) | (rng.random(bits.shape) < 0.5)] = 0
    bits[-1] = 0
    bits[0, :3] = 1e-45, -3.4028235e38, 0.1
    trained = np.array([True] * 5 + [False])
    parameters = {
        "train": TRAIN,
        "prune": 0.0,
        "transform": {"bias": 1.0, "tfidf": True, "normalize": True},
    }
    names = Names(labels, [f"feature {j}" for j in range(d)], rng.random(d).astype(np.float32))
    weights = from_scipy(sp.csr_array(bits))
    made = OneVsAll(
        trained=trained,
        counts=np.arange(6),
        weights=weights,
        path="memory",
        parameters=parameters,
        inputs={"dataset": "x"},
        names_in_memory=names,
    )
    made.write(tmp_path / "model.h5")
    return OneVsAll.open(tmp_path / "model.h5")


def convert(*arguments: object, status: int = 0) -> str:
    """Run the command: what it printed."""
    return ovaflow("convert", arguments, status=status)


def test_a_model_is_the_same_after_it_was_a_matrix_of_scipy(model, tmp_path) -> None:
    npz = tmp_path / "other.npz"
    back = tmp_path / "back.h5"
    convert(model.path, "--to=npz", f"--output={npz}")
    theirs = sp.load_npz(npz)
    assert_array_equal(theirs.toarray(), model.weights.to_scipy().toarray())
    convert(npz, f"--output={back}")
    assert back.read_bytes() == model.path.read_bytes()
    # a file of another program has the weights alone
    sp.save_npz(npz, -theirs)
    convert(npz, f"--like={model.path}", f"--output={back}")
    ours = OneVsAll.open(back)
    assert_array_equal(ours.weights.to_scipy().toarray(), -theirs.toarray())
    again = tmp_path / "again.h5"
    replace(ours, weights=model.weights).write(again)
    assert again.read_bytes() == model.path.read_bytes()


def test_a_rounded_model_keeps_its_weights(model, tmp_path) -> None:
    small = tmp_path / "small.h5"
    npz = tmp_path / "small.npz"
    back = tmp_path / "back.h5"
    dense = np.random.default_rng(1).normal(size=(6, 41)).astype(np.float32)
    weights = round_weights(from_scipy(dense))
    replace(model, weights=weights).write(small)
    convert(small, "--to=npz", f"--output={npz}")
    assert_array_equal(sp.load_npz(npz).toarray(), weights.to_scipy().toarray())
    convert(npz, f"--output={back}")
    ours = OneVsAll.open(back).weights
    assert_array_equal(ours.to_scipy().toarray(), weights.to_scipy().toarray())


def test_a_matrix_of_scipy_is_a_model(tmp_path) -> None:
    weights = sp.csr_array(np.float32(np.arange(35).reshape(5, 7) % 3))
    path = tmp_path / "m.h5"
    sp.save_npz(tmp_path / "w.npz", weights)
    convert(tmp_path / "w.npz", "--bias=0", "--no-normalize", f"--output={path}")
    ours = OneVsAll.open(path)
    assert_array_equal(ours.weights.to_scipy().toarray(), weights.toarray())
    assert ours.label_names == list("01234")
    assert ours.parameters["transform"]["bias"] == 0


DESCRIPTION = {
    "label_names": ["a", "b"],
    "feature_names": [],
    "idf": None,
    "trained": [True, True],
    "counts": [1, 1],
    "parameters": {"train": {}, "transform": {}},
    "inputs": {},
}
GOOD_ARRAYS = {
    "format": b"csr",
    "shape": [2, 3],
    "data": np.ones(2),
    "indices": [0, 1],
    "indptr": [0, 1, 2],
}

REFUSED = {
    "infinite": ({"data": np.array([1, np.inf])}, {}, "not finite"),
    "an index beyond the matrix": ({"indices": [0, 7]}, {}, "indices"),
    "rows that end before they begin": ({"indptr": [0, 5, 2]}, {}, "indptr"),
    "texts": ({"data": np.array(["a", "b"])}, {}, "type <U1"),
    "a description cut short": (
        {"ovaflow": np.frombuffer(b"{", np.uint8)},
        {},
        "not a model of ovaflow",
    ),
    "numbers for names": ({}, {"label_names": [1, 2]}, "label_names: found 1, expected a text"),
    "too few names": ({}, {"feature_names": ["a"]}, "3 columns .* but 1 names of features"),
    "no idf": ({}, {"idf": []}, "3 columns .* but 0 idf"),
    "too few labels": ({}, {"counts": [1]}, "2 rows of weights, but 2 names of labels"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_other_contents_than_a_matrix_of_weights_are_refused(tmp_path, case) -> None:
    arrays, changed, expected = REFUSED[case]
    description = np.frombuffer(json.dumps(DESCRIPTION | changed).encode(), np.uint8)
    np.savez(tmp_path / "w.npz", **(GOOD_ARRAYS | {"ovaflow": description} | arrays))
    with pytest.raises(InputError, match=expected):
        read_npz(tmp_path / "w.npz")


NOT_MODELS = {
    "missing": (lambda model, path: None, "cannot be read (No such file"),
    "a text": (lambda model, path: path.write_bytes(b"hello"), "not a model file"),
    "cut short": (
        lambda model, path: (
            convert(model.path, "--to=npz", f"--output={path}"),
            os.truncate(path, 200),
        ),
        "not a model file",
    ),
    "of other labels": (
        lambda model, path: sp.save_npz(path, sp.csr_array((2, 41), dtype=np.float32)),
        "2 labels and 41 features; give --like a model of the same size; {model.path} has 6 and 41",
    ),
}


@pytest.mark.parametrize("case", NOT_MODELS)
def test_other_files_than_models_are_refused(model, tmp_path, case) -> None:
    path = tmp_path / "w.npz"
    make, complaint = NOT_MODELS[case]
    make(model, path)
    said = convert(path, f"--like={model.path}", f"--output={tmp_path}/y", status=2)
    assert f"{path}: {complaint.format(model=model)}" in said
