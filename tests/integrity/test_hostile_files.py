"""Files as a stranger could write them, with checksums that fit: refused in one line, before they cost memory."""

import io
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.sparse
from finished_run import Folder, run
from forged import Forgery
from xxhash import xxh3_128

from ovaflow.console.errors import InputError
from ovaflow.serving.served_model import Files
from ovaflow.storage.container import LARGEST_TABLE, PAGE, header_of

CAP = 3 << 30
"""Bytes of address space that a whole process may take, libraries and compiled kernels included."""


def array(name, change):
    """A change of an array's values."""

    def forge(forgery):
        forgery.arrays[name] = change(forgery.arrays[name])

    return forge


def put(name, place, value):
    """Another value at a place of an array."""

    def change(values):
        values[place] = value
        return values

    return array(name, change)


def lie(name, **said):
    """Something else in the table of contents about an array."""

    def forge(forgery):
        forgery.entries[name] = said
        forgery.table["rest"] = "0" * 32

    return forge


def attribute(group, name, value):
    """Another attribute."""
    return lambda forgery: forgery.table["groups"][group].update({name: value})


def setting(part, name, value):
    """Another setting."""
    return lambda forgery: forgery.table["parameters"][part].update({name: value})


def table(**parts):
    """Other parts of the table of contents."""
    return lambda forgery: forgery.table.update(parts)


def cut(values):
    return values[:-1]


def not_rising(offsets):
    offsets[1] = offsets[-1] + 1
    return offsets


def swapped(indices):
    indices[:2] = indices[1::-1]
    return indices


DATA, INDICES, INDPTR = "weights/data", "weights/indices", "weights/indptr"

MODELS = {
    "dtype of objects": lie(DATA, dtype="|O"),
    "dtype of 16 bytes": lie(DATA, dtype="<f16"),
    "dtype that is a list": lie(DATA, dtype=[["a", "<f4"]]),
    "negative shape": lie(DATA, shape=[-1]),
    "shape of fractions": lie(DATA, shape=[1.5]),
    "shape of true": lie(DATA, shape=[True]),
    "shape of 2^61": lie(DATA, shape=[1 << 61]),
    "shape that overflows": lie(DATA, shape=[1 << 32, 1 << 31]),
    "shape of a million axes": lie(DATA, shape=[1] * 1_000_000),
    "negative offset": lie(DATA, offset=-4096),
    "offset in the header": lie(DATA, offset=0),
    "offset beyond the end": lie(DATA, offset=1 << 40),
    "checksum that is no text": lie(DATA, checksum=5),
    "checksum of something else": lie(DATA, checksum="0" * 32),
    "a name that climbs": lambda forgery: forgery.arrays.update({"../../secret": np.zeros(1)}),
    "an empty name": lambda forgery: forgery.arrays.update({"": np.zeros(1)}),
    "no arrays": lambda forgery: forgery.arrays.clear(),
    "no weights": lambda forgery: forgery.arrays.pop(DATA),
    "no indptr": lambda forgery: forgery.arrays.pop(INDPTR),
    "no counts": lambda forgery: forgery.arrays.pop("counts"),
    "no parameters": table(parameters=None),
    "parameters that are a list": table(parameters=[1]),
    "inputs that are numbers": table(inputs={"dataset": 5}),
    "groups that are a list": table(groups=[]),
    "attributes that are a list": table(groups={"weights": []}),
    "another kind": table(kind="dataset"),
    "a kind of a million letters": table(kind="k" * 1_000_000),
    "n_columns that is a text": attribute("weights", "n_columns", "7"),
    "n_columns that is a list": attribute("weights", "n_columns", [7]),
    "n_columns that is true": attribute("weights", "n_columns", True),
    "n_columns that is no whole number": attribute("weights", "n_columns", 7.5),
    "n_columns that is negative": attribute("weights", "n_columns", -1),
    "n_columns of 2^40": attribute("weights", "n_columns", 1 << 40),
    "n_columns of a thousand digits": attribute("weights", "n_columns", 10**1000),
    "fewer columns than used": attribute("weights", "n_columns", 3),
    "indptr that falls": array(INDPTR, not_rising),
    "indptr that begins later": put(INDPTR, 0, 1),
    "indptr beyond the end": put(INDPTR, -1, 1 << 50),
    "negative indptr": put(INDPTR, 1, -(1 << 50)),
    "indptr of 32 bits": array(INDPTR, lambda values: values.astype(np.int32)),
    "indptr of floats": array(INDPTR, lambda values: values.astype(np.float64)),
    "empty indptr": array(INDPTR, lambda values: values[:0]),
    "index beyond the features": put(INDICES, 3, 1 << 30),
    "negative index": put(INDICES, 0, -1),
    "indices that fall": array(INDICES, swapped),
    "fewer indices": array(INDICES, cut),
    "indices of 64 bits": array(INDICES, lambda values: values.astype(np.int64)),
    "weights of 64 bits": array(DATA, lambda values: values.astype(np.float64)),
    "weights with nan": put(DATA, 5, np.nan),
    "weights with infinity": put(DATA, 5, -np.inf),
    "weights of two axes": array(DATA, lambda values: values[None]),
    "fewer trained": array("trained", cut),
    "trained that is 2": array("trained", lambda values: (2 * values.astype(np.uint8)).view(bool)),
    "trained of numbers": array("trained", lambda values: values.astype(np.int64)),
    "negative counts": put("counts", 0, -1),
    "more counts": array("counts", lambda values: np.append(values, 1)),
    "names beyond their block": put("label_names/offsets", -1, 1 << 50),
    "names that fall": array("label_names/offsets", not_rising),
    "names without offsets": lambda forgery: forgery.arrays.pop("label_names/offsets"),
    "names that are no UTF-8": put("label_names/utf8", slice(None), 0xFF),
    "fewer names of labels": array("label_names/offsets", cut),
    "fewer names of features": array("feature_names/offsets", cut),
    "fewer idf": array("idf", cut),
    "idf with nan": put("idf", 0, np.nan),
    "train settings that are a list": lambda forgery: forgery.table["parameters"].update(train=[]),
    "a method that is a path": setting("train", "method", "../../secret"),
    "a method that is a number": setting("train", "method", 5),
    "a bias that is a text": setting("transform", "bias", "1"),
    "an infinite bias": setting("transform", "bias", float("inf")),
    "another bias": setting("transform", "bias", 0.0),
    "normalize that is a list": setting("transform", "normalize", [1]),
    "a pattern that takes for ever": setting("transform", "token_pattern", "(a+)+$"),
    "a pattern that is no text": setting("transform", "token_pattern", 5),
    "a transform without sublinear": lambda forgery: forgery.table["parameters"]["transform"].pop("sublinear"),
}

MODEL_COMMANDS = [
    "predict {path} --text=word11",
    "explain {path} --text=word11",
    "convert {path} --to=dismec++ --output={out}",
    "index {path}",
    "prune {path} --threshold=0.1 --output={out}",
    "train-shard {dataset} --means={means} --plan={plan} --shard=0 --initialization=pretrained --earlier={path} "
    "--output={out}",
]

LATE = {
    "names that are no UTF-8": ("index", "train-shard"),
    "names beyond their block": ("index", "train-shard"),
    "names that fall": ("index", "train-shard"),
    "names without offsets": ("index", "train-shard"),
    "idf with nan": ("index", "train-shard"),
}
"""What commands that do not need the thing do not look at; it changes nothing for them."""


@pytest.fixture
def place(finished, tmp_path):
    """A copy of a run, without what lies beside its models, to forge files in."""
    folder = Folder(tmp_path / "tiny")
    shutil.copytree(finished.path, folder.path)
    folder["index"].unlink()
    (tmp_path / "secret").write_text("secret")
    return folder


def refused(place, command, path):
    words = [word.format(path=path, out=place.path / "out.h5", dataset=place["dataset"], means=place["means"],
                         plan=place["plan"]) for word in command.split()]  # fmt: skip
    before = sorted(place.path.rglob("*"))
    done = run(*words)
    assert done.refused, f"{words[0]}: {done.status} {done.said}"
    assert len(done.said) < 3000
    left = [found for found in place.path.rglob("*") if not found.name.endswith(".finished")]
    assert sorted(left) == before, f"{words[0]} left files"
    return done.said


def served(path):
    with pytest.raises(InputError) as caught:
        Files(path).open()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", MODELS)
def test_models(place, case):
    forgery = Forgery(place["model"])
    MODELS[case](forgery)
    forgery.write(place["model"])
    turn = list(MODELS).index(case) % 5
    # every case by two commands, and by a service; all of them take turns
    for command in {MODEL_COMMANDS[turn], MODEL_COMMANDS[turn + 1]}:
        if command.split()[0] not in LATE.get(case, ()):
            assert "model.h5" in refused(place, command, place["model"])
    served(place["model"])


def nested(depth):
    return b'{"a":' * depth + b"1" + b"}" * depth


TABLES = {
    "nothing": b"",
    "no JSON": b"{",
    "no object": b"[1]",
    "binary": b"\xff\xfe\x00",
    "nested a hundred thousand times": nested(100_000),
    "lists in lists": b"[" * 1_000_000,
    "nan": b'{"kind": NaN}',
    "a number of a million digits": b'{"kind": ' + b"9" * 1_000_000 + b"}",
    "the largest": b'{"kind":"' + b"a" * LARGEST_TABLE + b'"}',
}


@pytest.mark.parametrize("case", TABLES)
def test_tables_of_contents(place, case):
    Forgery(place["model"]).write(place["model"], TABLES[case])
    refused(place, MODEL_COMMANDS[0], place["model"])
    served(place["model"])


HEADERS = {
    "another format": b"ovaflow artifact 3\ncontents 4096 2\nchecksum " + b"0" * 32 + b"\n",
    "no numbers": b"ovaflow artifact x\n",
    "numbers of many digits": b"ovaflow artifact 2\ncontents " + b"9" * 300 + b" 2\nchecksum " + b"0" * 32 + b"\n",
    "a table within the header": header_of(0, PAGE, "0" * 32),
    "a table beyond the end": header_of(1 << 50, 100, "0" * 32),
    "leading zeros": b"ovaflow artifact 2\ncontents 04096 0\nchecksum " + xxh3_128(b"").hexdigest().encode() + b"\n",
}


@pytest.mark.parametrize("case", HEADERS)
def test_headers(place, case):
    place["model"].write_bytes(HEADERS[case].ljust(PAGE, b"\0"))
    refused(place, MODEL_COMMANDS[0], place["model"])


def test_hdf5_within_is_never_interpreted(place, tmp_path):
    """Links out of the file, external storage, filters and other shapes in the HDF5 part change nothing."""
    answers = []
    for hostile in (False, True):
        if hostile:
            with h5py.File(tmp_path / "hostile.h5", "w", userblock_size=PAGE) as file:
                file["weights"] = h5py.ExternalLink(str(tmp_path / "secret"), "/")
                file["trained"] = h5py.SoftLink("/weights")
                secret = [(str(tmp_path / "secret"), 0, h5py.h5f.UNLIMITED)]
                file.create_dataset("counts", (1,), np.int64, external=secret)
                file.create_dataset("idf", (1 << 40,), np.float32, chunks=(1 << 20,), compression="gzip")
                layout = h5py.VirtualLayout((4,), np.float32)
                layout[:] = h5py.VirtualSource(str(tmp_path / "elsewhere.h5"), "data", (4,))
                file.create_virtual_dataset("label_names", layout)
            _with_other_hdf5(place["model"], (tmp_path / "hostile.h5").read_bytes()[PAGE:])
        output = tmp_path / f"{hostile}.jsonl"
        assert run("predict", place["model"], "--text=word11", f"--output={output}").status == 0
        answers.append(output.read_text())
    assert answers[0] == answers[1]
    assert (tmp_path / "secret").read_text() == "secret"


def _with_other_hdf5(path, hdf5):
    forgery = Forgery(path)
    forgery.arrays = {"hdf5": np.frombuffer(hdf5, np.uint8), **forgery.arrays}
    forgery.write(path)


PANEL = "000000/"


def one_posting(forgery, label):
    """A posting list with one label."""
    arrays, d = forgery.arrays, len(forgery.arrays[f"{PANEL}step"])
    lists = np.int16([1]), np.uint16([label]), np.int64([0] * d + [1])
    names = (f"{PANEL}{name}" for name in ("values", "labels", "indptr"))
    arrays.update(zip(names, lists, strict=True))


INDEXES = {
    "labels beyond the panel": lambda forgery: one_posting(forgery, 60_000),
    "dense rows beyond": put(f"{PANEL}dense_row", 0, 1 << 20),
    "dense rows below": put(f"{PANEL}dense_row", 0, -2),
    "indptr beyond": put(f"{PANEL}indptr", -1, 1 << 40),
    "indptr that falls": array(f"{PANEL}indptr", not_rising),
    "fewer steps": array(f"{PANEL}step", cut),
    "steps with nan": put(f"{PANEL}step", 0, np.nan),
    "negative steps": put(f"{PANEL}step", 0, -1.0),
    "fewer labels": array(f"{PANEL}trained", cut),
    "a panel of fewer labels": array(f"{PANEL}base", cut),
    "dense of another shape": array(f"{PANEL}dense", lambda values: values.reshape(-1)),
    "values of 32 bits": array(f"{PANEL}values", lambda values: values.astype(np.int32)),
    "a first label elsewhere": attribute("000000", "first", 5),
    "no panels": lambda forgery: (forgery.arrays.clear(), forgery.table.update(groups={})),
    "a scheme that is a list": table(parameters=[2]),
}


@pytest.mark.parametrize("case", INDEXES)
def test_indexes(finished, place, case):
    forgery = Forgery(finished["index"])
    INDEXES[case](forgery)
    forgery.write(place["index"])
    assert "model.index.h5" in refused(place, MODEL_COMMANDS[0], place["model"])
    served(place["model"])


CALIBRATIONS = {
    "fewer slopes": array("slope", cut),
    "fewer labels": lambda forgery: [array(name, cut)(forgery) for name in forgery.arrays],
    "slopes with nan": put("slope", 0, np.nan),
    "thresholds with nan": put("thresholds", 0, np.nan),
    "slopes of 64 bits": array("slope", lambda values: values.astype(np.float64)),
}


@pytest.mark.parametrize("case", CALIBRATIONS)
def test_calibrations(place, case):
    forgery = Forgery(place["calibration"])
    CALIBRATIONS[case](forgery)
    forgery.write(place["calibration"])
    assert "calibration.h5" in refused(place, "predict {path} --text=word11 --probabilities", place["model"])
    # a service tells it and answers without probabilities
    assert "calibration.h5" in Files(place["model"]).open().remark


def circle(children):
    children[np.flatnonzero(children)[-1]] = 1
    return children


FORESTS = {
    "children in a circle": array("forest/children", circle),
    "children beyond the tree": array("forest/children", lambda values: np.where(values > 0, 1 << 20, 0).astype("i4")),
    "negative children": put("forest/children", 0, -5),
    "trees beyond the nodes": put("forest/starts", -1, 1 << 40),
    "a tree without nodes": lambda f: f.arrays.update({"forest/starts": np.repeat(f.arrays["forest/starts"], 2)[1:]}),
    "no trees": lambda forgery: forgery.arrays.update({"forest/starts": np.zeros(1, np.int64)}),
    "fewer sizes": array("forest/sizes", cut),
    "scores of 0": put("forest/distributions/data", 0, 0.0),
    "negative scores": put("forest/distributions/data", 0, -1.0),
    "labels beyond": put("forest/distributions/indices", 0, 1 << 20),
    "other labels": attribute("forest/distributions", "n_columns", 1000),
    "features beyond": put("forest/separators/indices", 0, 1 << 20),
}


@pytest.mark.parametrize("case", FORESTS)
def test_forests(place, case):
    forgery = Forgery(place["forest"])
    FORESTS[case](forgery)
    forgery.write(place["forest"])
    refused(place, MODEL_COMMANDS[0], place["forest"])
    served(place["forest"])


EMBEDDINGS = {
    "another rank": attribute("projection", "rank", 70),
    "a rank of 0": attribute("projection", "rank", 0),
    "panels of another width": array("projection/panels", lambda values: values[:, :, :32]),
    "panels of fewer features": array("projection/panels", lambda values: values[:, :-1]),
    "panels with nan": put("projection/panels", (0, 0, 0), np.nan),
    "a decoder of other features": array("decoder", lambda values: values[:, :-1]),
    "a decoder of other labels": array("decoder", cut),
    "random features of another shape": lambda forgery: forgery.arrays.update(
        {"projection/phases": np.zeros(7, np.float32), "projection/frequencies": np.zeros((4, 9), np.float32)}
    ),
}


@pytest.mark.parametrize("case", EMBEDDINGS)
def test_embeddings(place, case):
    forgery = Forgery(place["embedded"])
    EMBEDDINGS[case](forgery)
    forgery.write(place["embedded"])
    refused(place, MODEL_COMMANDS[0], place["embedded"])
    served(place["embedded"])


def sparse(**parts):
    """An npz file as SciPy writes it, some arrays replaced."""
    weights = scipy.sparse.csr_array(np.eye(3, dtype=np.float32))
    arrays = {"data": weights.data, "indices": weights.indices, "indptr": weights.indptr, "shape": np.array([3, 3])}
    file = io.BytesIO()
    np.savez_compressed(file, **({"format": np.array(b"csr"), "_is_array": np.array(True)} | arrays | parts))
    return file.getvalue()


def with_member(name, content):
    """The same with a member that NumPy did not write."""
    file = io.BytesIO(sparse())
    with zipfile.ZipFile(file) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in (members | {name: content}).items():
            archive.writestr(member, text)
    return packed.getvalue()


def bomb(size):
    """The same, of which a member says that it unpacks to so many bytes."""
    packed = bytearray(with_member("data.npy", npy((size // 4,))))
    entry = packed.rindex(b"data.npy") - 46
    assert packed[entry : entry + 4] == b"PK\x01\x02"
    packed[entry + 24 : entry + 28] = size.to_bytes(4, "little")
    return bytes(packed)


def npy(shape, dtype="<f4", content=b""):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue() + content


def described(**parts):
    right = {"label_names": ["a", "b", "c"], "feature_names": [], "idf": None, "trained": [True] * 3, "counts": [1] * 3,
             "parameters": {"train": {}, "transform": {"bias": 0.0}}, "inputs": {}}  # fmt: skip
    return sparse(ovaflow=np.frombuffer(json.dumps(right | parts).encode(), np.uint8))


OTHERS = {
    "npz: objects": lambda: sparse(data=np.array([{}], object)),
    "npz: a pickle": lambda: with_member("data.npy", npy((3,), "|O", b"cos\nsystem\n(S'touch secret2'\ntR.")),
    "npz: a bomb": lambda: bomb(3 << 30),
    "npz: a header of 2^60": lambda: with_member("data.npy", npy((1 << 60,))),
    "npz: a negative header": lambda: with_member("data.npy", npy((-3,))),
    "npz: a header that is code": lambda: with_member("data.npy", b"\x93NUMPY\x01\x00\x14\x00__import__('os').abort"),
    "npz: indices beyond": lambda: sparse(indices=np.array([0, 1, 1 << 30], np.int32)),
    "npz: negative indices": lambda: sparse(indices=np.array([0, 1, -1], np.int32)),
    "npz: indptr that falls": lambda: sparse(indptr=np.array([0, 3, 1, 3], np.int32)),
    "npz: indptr beyond": lambda: sparse(indptr=np.array([0, 1, 2, 1 << 30], np.int32)),
    "npz: 2^31 features": lambda: sparse(shape=np.array([3, 1 << 31])),
    "npz: a shape that overflows": lambda: sparse(shape=np.array([1 << 62, 1 << 62])),
    "npz: 2^31 labels": lambda: sparse(shape=np.array([1 << 31, 3])),
    "npz: an unknown format": lambda: sparse(format=np.array(b"__class__")),
    "npz: nan": lambda: sparse(data=np.array([1, np.nan, 1], np.float32)),
    "npz: complex": lambda: sparse(data=np.ones(3, complex)),
    "npz: no zip": lambda: b"PK\x03\x04" + bytes(100),
    "npz: cut short": lambda: sparse()[:-40],
    "npz: nested description": lambda: sparse(ovaflow=np.frombuffer(nested(100_000), np.uint8)),
    "npz: fewer names": lambda: described(label_names=["a"]),
    "npz: names that are numbers": lambda: described(label_names=[1, 2, 3]),
    "npz: counts beyond 64 bits": lambda: described(counts=[1, 2, 10**30]),
    "npz: infinite idf": lambda: described(idf=[1, 2, 1e300]),
    "npz: another method": lambda: described(parameters={"train": {"method": "../secret"}, "transform": {}}),
    "npz: a bias that is a text": lambda: described(parameters={"train": {}, "transform": {"bias": "1"}}),
    "json: no files": lambda: b'{"num-features": 3}',
    "json: nested": lambda: nested(100_000),
    "json: 2^40 features": lambda: json.dumps({"num-features": 1 << 40, "num-labels": 1, "files": []}).encode(),
    "json: labels without files": lambda: json.dumps(
        {"num-features": 3, "num-labels": 2**31 - 2, "files": []}
    ).encode(),
    "json: a file elsewhere": lambda: one_file("../secret"),
    "json: an absolute path": lambda: one_file("/etc/passwd"),
    "json: a device": lambda: one_file("/dev/zero"),
    "json: the folder": lambda: one_file("."),
    "json: a name with a newline": lambda: one_file("a\nb"),
    "json: a missing file": lambda: one_file("missing"),
    "json: a text that is no weights": lambda: one_file("records.csv"),
    "json: an array that is none": lambda: one_file("records.csv", "DenseNPY"),
    "json: negative counts": lambda: one_file("records.csv", count=-1),
    "dismec: 2^31 classes": lambda: dismec(classes=2**31 - 1),
    "dismec: 2^31 features": lambda: dismec(features=2**31 - 2),
    "dismec: infinite weights": lambda: dismec(weights="1 1e99 3"),
    "dismec: a header without end": lambda: b"solver_type " + b"x" * 1_000_000,
}
"""Models of other programs, for convert."""


def dismec(classes=3, features=1, weights="1 2 3"):
    header = f"solver_type L2R_LR\nnr_class {classes}\nlabel 1 2 3\nnr_feature {features}\nbias -1\nw\n"
    return f"{header}{weights}\n".encode()


def one_file(name, form="SparseTXT", count=1):
    files = [{"first": 0, "count": count, "file": name, "weight-format": form}]
    return json.dumps({"num-features": 3, "num-labels": max(count, 0), "files": files}).encode()


@pytest.mark.parametrize("case", OTHERS)
def test_models_of_other_programs(place, case):
    path = place.path / "foreign"
    path.write_bytes(OTHERS[case]())
    refused(place, "convert {path} --to=model --output={out}", path)
    assert not list(place.path.rglob("secret2"))


DATASETS = {
    "test instances of fewer features": attribute("test/X", "n_columns", 1),
    "test instances of more labels": attribute("test/Y", "n_columns", 1000),
    "labels of other instances": array("train/Y/indptr", lambda values: np.append(values, values[-1])),
    "labels beyond": put("train/Y/indices", 0, 1000),
    "a label twice": array("train/Y/indices", lambda values: np.zeros_like(values)),
    "features beyond": put("train/X/indices", -1, 1 << 30),
    "fewer names of labels": array("label_names/offsets", cut),
    "fewer names of features": array("feature_names/offsets", cut),
    "fewer texts": array("test_texts/offsets", cut),
    "fewer idf": array("idf", cut),
    "a bias that is a list": table(parameters={"bias": [1]}),
}


@pytest.mark.parametrize("case", DATASETS)
def test_datasets(place, case):
    forgery = Forgery(place["dataset"])
    DATASETS[case](forgery)
    forgery.write(place["dataset"])
    assert "dataset.h5" in refused(place, "means {path} --output={out}", place["dataset"])


def shape_of(name, *shape):
    return array(name, lambda values: np.zeros(shape, values.dtype))


STEPS_BEFORE = {
    "embedding: another rank": ("embedding", attribute("", "rank", 99)),
    "embedding: 2^31 labels": ("embedding", attribute("", "labels", 2**31 - 1)),
    "embedding: vectors of another shape": ("embedding", shape_of("vectors", 3, 3)),
    "embedding: a rank that is a text": ("embedding", attribute("", "rank", "4")),
    "root: an outcome that is a text": ("root", attribute("", "newton_steps", "many")),
    "root: weights of two axes": ("root", shape_of("weights", 2, 2)),
    "means: fewer labels": ("means", array("pp", cut)),
    "means: of fewer labels": ("means", lambda f: [array(name, cut)(f) for name in ("pp", "xp", "counts")]),
    "means: of fewer features": ("means", array("x_mean", cut)),
    "root: of fewer features": ("root", array("weights", cut)),
    "means: counts that are negative": ("means", put("counts", 0, -1)),
    "tree: an order with a label twice": ("tree", put("order", 0, 1)),
    "tree: parents beyond": ("tree", put("parent", 0, 1 << 20)),
    "tree: fewer depths": ("tree", array("depth", cut)),
}


@pytest.mark.parametrize("case", STEPS_BEFORE)
def test_what_training_begins_with(place, case):
    name, change = STEPS_BEFORE[case]
    forgery = Forgery(place[name])
    change(forgery)
    forgery.write(place[name])
    step = "train-shard {dataset} --means={means} --plan={plan} --shard=0 --initialization=label-tree "
    step += f"--label-tree={place['tree']} --root={place['root']} --output={{out}}"
    if name == "embedding":
        step = "project {dataset} --embedding={path} --output={out}"
    said = refused(place, step, place[name])
    assert place[name].name in said or "means, root or label tree" in said


def test_of_other_steps(place):
    """What a label tree and a plan say is checked before kernels follow it."""
    forgery = Forgery(place["tree"])
    forgery.arrays["parent"][:2] = [1, 0]
    forgery.write(place["tree"])
    step = "train-shard {dataset} --means={means} --plan={plan} --shard=0 --initialization=label-tree "
    step += f"--label-tree={{path}} --root={place['root']} --output={{out}}"
    assert "order does not begin with the parents" in refused(place, step, place["tree"])


GIGANTIC = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
from ovaflow.cli import main
for path in sys.argv[2:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = ["convert", path, "--to=model", "--output=out.h5"] if "foreign" in path else ["predict", path, "--text=a"]
    print(main(words), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


def test_what_would_take_all_memory(place, tmp_path):
    """Under a limit of the address space, in one process: each is refused, none by running out of memory."""
    cases = {
        "columns.h5": attribute("weights", "n_columns", 2**31 - 1),
        "shape.h5": lie(DATA, shape=[1 << 40]),
        "offsets.h5": put("label_names/offsets", -1, 1 << 40),
        "features.h5": lambda forgery: (
            [forgery.arrays.pop(name) for name in list(forgery.arrays) if name.startswith(("feature_names", "idf"))],
            forgery.table["groups"]["weights"].update(n_columns=2**31 - 1),
        ),
    }
    for name, change in cases.items():
        forgery = Forgery(place["model"])
        change(forgery)
        forgery.write(tmp_path / name)
    foreign = [case for case in OTHERS if case.split(": ")[1] in ("a bomb", "a header of 2^60", "2^31 features")]
    for number, case in enumerate(foreign):
        (tmp_path / f"foreign{number}").write_bytes(OTHERS[case]())
    paths = [*cases, *(f"foreign{number}" for number in range(len(foreign)))]
    done = subprocess.run(
        [sys.executable, "-c", GIGANTIC, str(CAP), *paths], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    outcomes = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert [status for status, _ in outcomes] == [2] * len(paths), done.stderr
    # megabytes more than before, what loading the package's modules takes included
    assert all(more < 400 for _, more in outcomes), outcomes
    assert done.stderr.count("ovaflow: error: ") == len(paths)
    assert not Path(tmp_path / "out.h5").exists()
