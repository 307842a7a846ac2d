"""Models in other formats and back, to the last bit."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from liblinear.liblinearutil import load_model, predict, problem, save_model, train

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data.names import Names
from ovaflow.model.dismec_file import read_dismec
from ovaflow.model.dismecpp_files import read_dismecpp
from ovaflow.model.model_file import Model, open_model
from ovaflow.model.model_file import save_model as save
from ovaflow.model.npz_file import read_npz
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
    made = Model("memory", trained, np.arange(6), "", parameters, {"dataset": "x"}, weights=weights, given=names)
    save(tmp_path / "model.h5", made)
    return open_model(tmp_path / "model.h5")


def contents(model):
    weights = [array.tobytes() for array in model.weights.arrays]
    names = model.label_names, model.feature_names, None if model.idf is None else model.idf.tobytes()
    return weights, names, model.trained.tolist(), model.counts.tolist(), model.parameters, model.inputs


@pytest.mark.parametrize(("form", "more"), [("npz", []), ("dismec++", []), ("dismec", ["--like=model.h5"])])
def test_there_and_back(model, tmp_path, monkeypatch, form, more):
    monkeypatch.chdir(tmp_path)
    assert main(["convert", "model.h5", f"--to={form}", "--output=other"]) == 0
    assert main(["convert", "other", *more, "--output=back.h5"]) == 0
    assert contents(open_model("back.h5")) == contents(model)
    assert open_model("back.h5").checksum == model.checksum


def test_scipy_reads_the_matrix(model, tmp_path):
    assert main(["convert", str(model.path), "--to=npz", f"--output={tmp_path / 'w.npz'}"]) == 0
    theirs = sp.load_npz(tmp_path / "w.npz")
    np.testing.assert_array_equal(theirs.toarray(), model.weights.to_scipy().toarray())


def test_a_matrix_of_scipy_is_a_model(tmp_path):
    weights = sp.random_array((5, 7), density=0.6, rng=np.random.default_rng(0), format="csr")
    sp.save_npz(tmp_path / "w.npz", weights)
    arguments = [str(tmp_path / "w.npz"), "--bias=0", "--no-normalize", f"--output={tmp_path / 'model.h5'}"]
    assert main(["convert", *arguments]) == 0
    ours = open_model(tmp_path / "model.h5")
    np.testing.assert_array_equal(ours.weights.to_scipy().toarray(), weights.toarray().astype(np.float32))
    assert ours.label_names == list("01234")
    assert ours.parameters["transform"]["bias"] == 0


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("bias", [-1, 1])
def test_models_of_liblinear(tmp_path, n_classes, bias):
    rng = np.random.default_rng(n_classes)
    X, y = sp.random_array((80, 12), density=0.5, rng=rng, format="csr"), rng.integers(0, n_classes, 80) + 3
    theirs = train(problem(y, sp.csr_matrix(X)), f"-s 2 -q -B {bias}")
    save_model(str(tmp_path / "theirs"), theirs)
    ours = read_dismec(tmp_path / "theirs")
    _, _, scores = predict([], sp.csr_matrix(X), load_model(str(tmp_path / "theirs")), "-q")
    full = sp.hstack([X, np.ones((80, 1))]) if bias > 0 else X
    found = full @ ours.weights.to_scipy().T.toarray()
    np.testing.assert_allclose(found[:, : np.shape(scores)[1]], scores, atol=1e-5)
    assert sorted(ours.label_names) == [str(label + 3) for label in range(n_classes)]


def write_metadata(folder, **changes):
    entry = {"first": 0, "count": 2, "file": "w", "weight-format": "SparseTXT"} | changes.pop("entry", {})
    content = {"num-features": 3, "num-labels": 2, "files": [entry]} | changes
    (folder / "m").write_text(json.dumps(content))
    return folder / "m"


@pytest.mark.parametrize("form", ["SparseTXT", "DenseTXT", "DenseNPY"])
def test_weights_of_dismecpp(tmp_path, form):
    dense = np.array([[0.5, 0, -1], [0, 0, 2]], np.float32)
    if form == "SparseTXT":
        (tmp_path / "w").write_text("0:0.5 2:-1 \n2:2 \n")
    elif form == "DenseTXT":
        (tmp_path / "w").write_text("0.5 0 -1\n0 0 2\n")
    else:
        with (tmp_path / "w").open("wb") as file:
            np.save(file, dense)
    ours = read_dismecpp(write_metadata(tmp_path, entry={"weight-format": form}))
    np.testing.assert_array_equal(ours.weights.to_scipy().toarray(), dense)


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("0:1\n3:1\n", "SparseTXT", r"w, line 2: feature id out of range in '3:1'"),
        ("0:1\n0:x\n", "SparseTXT", r"w, line 2: '0:x' has no finite number"),
        ("0:1\n0:1e999\n", "SparseTXT", r"w, line 2: .*too large"),
        ("0:nan\n0:1\n", "SparseTXT", r"w, line 1: "),
        ("0:1\n", "SparseTXT", r"w: 1 lines where 2 labels are told"),
        ("0:1\n1:1\n2:1\n", "SparseTXT", r"w, line 3: more "),
        ("1 2 3\n1 2\n", "DenseTXT", r"w, line 2: 2 numbers where 3 are expected"),
        ("1 2 3\n1 2 inf\n", "DenseTXT", r"w, line 2: a number that is not finite"),
        ("1 2 3\n1 2 _\n", "DenseTXT", r"w, line 2: could not convert"),
        ("1 2 3\n", "DenseTXT", r"w: 1 lines where 2 labels are told"),
        ("not an array", "DenseNPY", r"w: no array of NumPy's"),
    ],
)
def test_hostile_weights_are_refused(tmp_path, text, form, expected):
    (tmp_path / "w").write_text(text)
    with pytest.raises(InputError, match=expected):
        read_dismecpp(write_metadata(tmp_path, entry={"weight-format": form}))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"entry": {"file": "../w"}}, "expected the name of a file beside it"),
        ({"entry": {"file": "/etc/passwd"}}, "expected the name of a file beside it"),
        ({"entry": {"count": -1}}, "count: found -1"),
        ({"entry": {"count": 1 << 40}}, "count: found 1099511627776"),
        ({"entry": {"first": 1}}, "w begins with label 1, not 0"),
        ({"entry": {"weight-format": "Pickle"}}, "weight-format: found 'Pickle'"),
        ({"num-labels": 3}, "its files hold 2 of 3 labels"),
        ({"num-features": "3"}, "num-features: found '3'"),
        ({"files": None}, "it names no files"),
        ({"ovaflow": []}, "its description lacks parameters"),
        (
            {"ovaflow": {"parameters": {"train": {}, "transform": {}}, "inputs": {}, "label_names": ["a"]}},
            "1 label_names",
        ),
    ],
)
def test_hostile_metadata_are_refused(tmp_path, changes, expected):
    (tmp_path / "w").write_text("0:1\n2:2\n")
    with pytest.raises(InputError, match=expected):
        read_dismecpp(write_metadata(tmp_path, **changes))


HEADER = "solver_type L2R_L2LOSS_SVC\nnr_class 3\nlabel 4 5 6\nnr_feature 2\nbias -1\nw\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEADER + "1 2 3\n1 2\n", "line 8: 2 numbers where 3 are expected"),
        (HEADER + "1 2 3\n", "1 lines of weights where 2 are told"),
        (HEADER + "1 2 3\n" * 3, "line 9: more than the 2 lines"),
        (HEADER + "1 2 3\n1 2 0x\n", "line 8: could not convert"),
        (HEADER.replace("nr_class 3", "nr_class 4"), "3 labels for nr_class 4"),
        (HEADER.replace("nr_feature 2", "nr_feature -2"), "line 4: nr_feature: found '-2'"),
        (HEADER.replace("L2R_L2LOSS_SVC", "MCSVM_CS"), "line 1: solver_type 'MCSVM_CS'"),
        (HEADER.replace("bias -1\n", ""), "its header lacks bias"),
        (HEADER.replace("bias -1\n", "rho 1\n"), "line 5: found 'rho'"),
        ("solver_type L2R_LR\n", "the line w is missing"),
    ],
)
def test_hostile_models_of_dismec_are_refused(tmp_path, text, expected):
    (tmp_path / "m").write_text(text)
    with pytest.raises(InputError, match=expected):
        read_dismec(tmp_path / "m")


def test_hostile_matrices_are_refused(tmp_path):
    path = tmp_path / "w.npz"
    good = {"format": b"csr", "shape": [2, 3], "data": np.ones(2), "indices": [0, 1], "indptr": [0, 1, 2]}
    for changes, expected in [
        ({"data": np.array([1, np.inf])}, "not finite"),
        ({"data": np.array([1, 1e300])}, "not finite"),
        ({"indices": [0, 7]}, "no matrix of weights|no sparse matrix"),
        ({"indptr": [0, 5, 2]}, "no matrix of weights|no sparse matrix"),
        ({"data": np.array(["a", "b"])}, "no sparse matrix|weights of type"),
        ({"ovaflow": np.frombuffer(b"{", np.uint8)}, "no JSON"),
        ({"ovaflow": np.frombuffer(b"[" * 100_000, np.uint8)}, "no JSON"),
        ({"data": np.array([object(), None])}, "no sparse matrix"),
    ]:
        np.savez(path, **(good | changes))
        with pytest.raises(InputError, match=expected):
            read_npz(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="no sparse matrix"):
        read_npz(path)


def test_what_is_no_model_is_refused(tmp_path, capsys):
    (tmp_path / "x").write_text("hello")
    assert main(["convert", str(tmp_path / "x"), f"--output={tmp_path / 'y'}"]) == 2
    assert "no model.h5, npz, or model of DiSMEC" in capsys.readouterr().err
