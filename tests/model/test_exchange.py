"""Models in other formats and back, to the last bit."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Names
from ovaflow.model.npz_file import read_npz
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.sparse.csr import from_scipy

TRAIN = {"method": "one-vs-all", "C": 1.0, "loss": "squared-hinge"}


@pytest.fixture
def model(tmp_path):
    """Weights with every kind of bits, names with every kind of character."""
    rng = np.random.default_rng(5)
    d, labels = 40, ["a", "b, c", 'd"\n', "ß → ☃", "", "untrained"]
    bits = rng.integers(0, 1 << 32, (len(labels), d + 1), dtype=np.uint32).view(np.float32)
    bits[~np.isfinite(bits) | (rng.random(bits.shape) < 0.5)] = 0
    bits[-1] = 0
    bits[0, :3] = 1e-45, -3.4028235e38, 0.1
    trained = np.array([True] * 5 + [False])
    parameters = {"train": TRAIN, "prune": 0.0, "transform": {"bias": 1.0, "tfidf": True, "normalize": True}}
    names = Names(labels, [f"feature {j}" for j in range(d)], rng.random(d).astype(np.float32))
    weights = from_scipy(sp.csr_array(bits))
    arrays = {"trained": trained, "counts": np.arange(6), "weights": weights}
    made = OneVsAll(path="memory", parameters=parameters, inputs={"dataset": "x"}, names_in_memory=names, **arrays)
    made.write(tmp_path / "model.h5")
    return OneVsAll.open(tmp_path / "model.h5")


def contents(model):
    weights = [array.tobytes() for array in model.weights.arrays]
    names = model.label_names, model.feature_names, None if model.idf is None else model.idf.tobytes()
    return weights, names, model.trained.tolist(), model.counts.tolist(), model.parameters, model.inputs


def convert(*arguments):
    assert main(["convert", *map(str, arguments)]) == 0


def test_there_and_back(model, tmp_path):
    convert(model.path, "--to=npz", f"--output={tmp_path / 'other.npz'}")
    theirs = sp.load_npz(tmp_path / "other.npz")
    np.testing.assert_array_equal(theirs.toarray(), model.weights.to_scipy().toarray())
    convert(tmp_path / "other.npz", f"--output={tmp_path / 'back.h5'}")
    assert contents(OneVsAll.open(tmp_path / "back.h5")) == contents(model)
    assert OneVsAll.open(tmp_path / "back.h5").checksum == model.checksum


def test_weights_that_another_program_changed(model, tmp_path):
    convert(model.path, "--to=npz", f"--output={tmp_path / 'other.npz'}")
    negated = -sp.load_npz(tmp_path / "other.npz")
    sp.save_npz(tmp_path / "other.npz", negated)
    convert(tmp_path / "other.npz", f"--like={model.path}", f"--output={tmp_path / 'back.h5'}")
    ours = OneVsAll.open(tmp_path / "back.h5")
    np.testing.assert_array_equal(ours.weights.to_scipy().toarray(), negated.toarray())
    assert contents(ours)[1:] == contents(model)[1:]


def test_a_matrix_of_scipy_is_a_model(tmp_path):
    weights = sp.random_array((5, 7), density=0.6, rng=np.random.default_rng(0), format="csr")
    sp.save_npz(tmp_path / "w.npz", weights)
    convert(tmp_path / "w.npz", "--bias=0", "--no-normalize", f"--output={tmp_path / 'model.h5'}")
    ours = OneVsAll.open(tmp_path / "model.h5")
    np.testing.assert_array_equal(ours.weights.to_scipy().toarray(), weights.toarray().astype(np.float32))
    assert ours.label_names == list("01234")
    assert ours.parameters["transform"]["bias"] == 0


DESCRIPTION = {
    **{"label_names": ["a", "b"], "feature_names": [], "idf": None, "trained": [True, True], "counts": [1, 1]},
    **{"parameters": {"train": {}, "transform": {}}, "inputs": {}},
}


def described(content):
    """An array that holds a description of a model."""
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    return {"ovaflow": np.frombuffer(content, np.uint8)}


GOOD = {"format": b"csr", "shape": [2, 3], "data": np.ones(2), "indices": [0, 1], "indptr": [0, 1, 2]}

REFUSED = {
    "infinite": ({"data": np.array([1, np.inf])}, "not finite"),
    "an index beyond the matrix": ({"indices": [0, 7]}, "indices"),
    "rows that end before they begin": ({"indptr": [0, 5, 2]}, "indptr"),
    "texts": ({"data": np.array(["a", "b"])}, "type <U1"),
    "a description cut short": (described(b"{"), "not a model of ovaflow"),
    "a deep description": (described(b"[" * 100_000), "not a model of ovaflow"),
    "numbers for names": (
        described(DESCRIPTION | {"label_names": [1, 2]}),
        r"label_names: found 1, expected a text",
    ),
    "no transform": (
        described(DESCRIPTION | {"parameters": {"train": {}, "transform": 5}}),
        "parameters.transform: found 5, expected a mapping",
    ),
    "too few names": (described(DESCRIPTION | {"feature_names": ["a"]}), "3 columns .* but 1 names of features"),
    "no idf": (described(DESCRIPTION | {"idf": []}), "3 columns .* but 0 idf"),
    "a huge count": (described(DESCRIPTION | {"counts": [10**30, 1]}), "counts: found"),
    "a bias that is no number": (
        described(DESCRIPTION | {"parameters": {"train": {}, "transform": {"bias": "x"}}}),
        "could not convert",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_matrix_of_weights_is_refused(tmp_path, case):
    changes, expected = REFUSED[case]
    np.savez(tmp_path / "w.npz", **(GOOD | changes))
    with pytest.raises(InputError, match=expected):
        read_npz(tmp_path / "w.npz")


def test_names_of_an_npz_can_be_written(tmp_path):
    names = described(DESCRIPTION | {"label_names": ["a\ud800", "b"]})
    np.savez(tmp_path / "w.npz", **(GOOD | names))
    convert(tmp_path / "w.npz", "--to=tsv", f"--output={tmp_path / 'w.tsv'}")
    assert "a?" in (tmp_path / "w.labels.tsv").read_text()


NOT_MODELS = {
    "missing": (lambda model, path: None, "cannot be read (No such file"),
    "a text": (lambda model, path: path.write_bytes(b"hello"), "not a model file"),
    "cut short": (
        lambda model, path: (convert(model.path, "--to=npz", f"--output={path}"), os.truncate(path, 200)),
        "not a model file",
    ),
    "of other labels": (
        lambda model, path: sp.save_npz(path, sp.csr_array((2, 41), dtype=np.float32)),
        "2 labels and 41 features; give --like a model of the same size; {model.path} has 6 and 41",
    ),
}


@pytest.mark.parametrize("case", NOT_MODELS)
def test_what_is_no_model_is_refused(model, tmp_path, capsys, case):
    path = tmp_path / "w.npz"
    make, complaint = NOT_MODELS[case]
    make(model, path)
    assert main(["convert", str(path), f"--like={model.path}", f"--output={tmp_path / 'y'}"]) == 2
    assert f"{path}: {complaint.format(model=model)}" in capsys.readouterr().err
