"""The prepare step, through its command line, on small files of every format."""

import gzip
import json
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from tiny_table import write_table

from ovaflow.cli import main
from ovaflow.data import dataset as dataset_module
from ovaflow.data import prepare as prepare_step
from ovaflow.data.dataset import open_dataset
from ovaflow.data.docstrings import docstrings
from ovaflow.data.tfidf import TfIdf
from ovaflow.sparse.csr import nonzeros_of_rows
from ovaflow.storage.artifact import open_artifact

TEXTS = [
    ("alpha beta gamma", ["x", "y"]),
    ("alpha delta", ["y"]),
    ("beta delta delta", []),
    ("", ["x"]),
    ("gamma Straße", ["z"]),
]
TEST = [("alpha STRASSE unknown", ["x", "new"]), ("nothing of this", ["z"])]
ALL_TOKENS = ["--min-df=1", "--max-df=0.9"]


def prepare(tmp_path, *arguments, status=0):
    output = tmp_path / "dataset.h5"
    assert main(["prepare", f"--output={output}", *map(str, arguments)]) == status
    return open_dataset(output) if status == 0 else None


def write_texts(folder, form, name, rows):
    path = folder / f"{name}.{form}"
    if form == "text-tsv":
        path.write_text("".join(f"{','.join(labels)}\t{text}\n" for text, labels in rows))
    elif form == "csv":
        path.write_text("text,labels\n" + "".join(f'"{text}","{",".join(labels)}"\n' for text, labels in rows))
    elif form == "jsonl":
        path.write_text("".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows))
    else:
        columns = {"text": [text for text, _ in rows], "labels": [labels for _, labels in rows]}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize("form", ["text-tsv", "csv", "jsonl", "parquet"])
def test_texts(tmp_path, form, capsys):
    train, test = (write_texts(tmp_path, form, name, rows) for name, rows in (("train", TEXTS), ("test", TEST)))
    dataset = prepare(tmp_path, f"--format={form}", f"--train={train}", f"--test={test}", *ALL_TOKENS)
    assert dataset.label_names == ["x", "y", "z"]
    assert dataset.feature_names == ["alpha", "beta", "delta", "gamma", "strasse"]
    counts = CountVectorizer(vocabulary=dataset.feature_names, preprocessor=str.casefold)
    tf = counts.transform([text for text, _ in TEXTS]).toarray()
    idf = np.log(5 / (tf > 0).sum(axis=0))
    for split, rows in ((dataset.train, TEXTS), (dataset.test, TEST)):
        tf = counts.transform([text for text, _ in rows]).toarray()
        theirs = np.hstack([normalize(np.log1p(tf) * idf), np.ones((len(rows), 1))])
        np.testing.assert_allclose(split.X.to_scipy().toarray(), theirs, rtol=1e-5)
    np.testing.assert_array_equal(dataset.train.Y.to_scipy().toarray()[[0, 2]], [[1, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(dataset.test.Y.to_scipy().toarray(), [[1, 0, 0], [0, 0, 1]])
    assert dataset.test_texts([1]) == ["nothing of this"]
    source = dataset.parameters["source"]
    assert source["counts"] == {
        "tokens": 5,
        "tokens_forgotten": 0,
        "test_labels_unknown_in_train": 1,
        "train_instances": 5,
        "train_without_features": 1,
        "train_without_labels": 1,
        "test_instances": 2,
        "test_without_features": 1,
        "test_without_labels": 0,
    }
    assert source["files"]["train"]["name"] == train.name
    assert str(tmp_path) not in json.dumps(dataset.parameters)
    assert "5 training and 2 test instances, 6 features, 3 labels" in capsys.readouterr().out


def test_rebuilt_transform_gives_the_test_features(tmp_path):
    train, test = (write_texts(tmp_path, "jsonl", name, rows) for name, rows in (("train", TEXTS), ("test", TEST)))
    dataset = prepare(tmp_path, "--format=jsonl", f"--train={train}", f"--test={test}", *ALL_TOKENS)
    with open_artifact(dataset.path, dataset_module.KIND) as file:
        idf = file["idf"][()]
    transform = TfIdf.from_parameters(dataset.parameters, dataset.feature_names, idf)
    for ours, theirs in zip(transform.transform(dataset.test_texts()), dataset.test.X, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_texts_with_label_ids(tmp_path):
    train = tmp_path / "train.tsv.gz"
    train.write_bytes(gzip.compress(b"0,2\taa bb\n\taa cc\n2\tbb dd\n"))
    (tmp_path / "labels.txt").write_text("zero\none\ntwo\nthree\n")
    arguments = ["--format=text-tsv", f"--train={train}", f"--test={train}", *ALL_TOKENS]
    dataset = prepare(tmp_path, *arguments, f"--labels={tmp_path / 'labels.txt'}")
    assert dataset.label_names == ["zero", "one", "two", "three"]
    np.testing.assert_array_equal(dataset.train.Y.to_scipy().toarray(), [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]])


def test_text_without_idf(tmp_path):
    train = write_texts(tmp_path, "jsonl", "train", TEXTS)
    arguments = ["--format=jsonl", f"--train={train}", f"--test={train}", *ALL_TOKENS, "--tfidf=false"]
    dataset = prepare(tmp_path, *arguments, "--no-sublinear", "--no-normalize", "--bias=0")
    np.testing.assert_array_equal(dataset.train.X.to_scipy().toarray()[2], [0, 1, 2, 0, 0])
    assert dataset.parameters["tfidf"] is False


XMC_TRAIN = "4 3 3\n0,1 0:1 2:2\n1\n 1:1 2:1\n2 0:3\n"
XMC_TEST = "2 3 3\n2 1:1\n0 2:5\n"


def test_features_as_they_are(tmp_path):
    (tmp_path / "train.txt").write_text(XMC_TRAIN)
    (tmp_path / "test.txt").write_text(XMC_TEST)
    dataset = prepare(
        tmp_path, "--format=xmc-text", f"--train={tmp_path / 'train.txt'}", f"--test={tmp_path / 'test.txt'}"
    )
    half = np.sqrt(0.5)
    theirs = [[np.sqrt(0.2), 0, np.sqrt(0.8), 1], [0, 0, 0, 1], [0, half, half, 1], [1, 0, 0, 1]]
    np.testing.assert_allclose(dataset.train.X.to_scipy().toarray(), theirs, rtol=1e-6)
    np.testing.assert_array_equal(dataset.train.Y.to_scipy().toarray(), [[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]])
    assert dataset.label_names == ["0", "1", "2"]
    assert dataset.feature_names == []
    assert dataset.parameters["source"]["counts"]["train_without_features"] == 1


def test_idf_of_features_is_that_of_the_training_set(tmp_path):
    (tmp_path / "train.txt").write_text(XMC_TRAIN)
    (tmp_path / "test.txt").write_text(XMC_TEST)
    arguments = ["--format=xmc-text", f"--train={tmp_path / 'train.txt'}", f"--test={tmp_path / 'test.txt'}"]
    dataset = prepare(tmp_path, *arguments, "--tfidf=true", "--no-normalize", "--bias=0")
    idf = np.log([2, 4, 2])
    theirs = np.log1p([[1, 0, 2], [0, 0, 0], [0, 1, 1], [3, 0, 0]]) * idf
    np.testing.assert_allclose(dataset.train.X.to_scipy().toarray(), theirs, rtol=1e-6)
    np.testing.assert_allclose(dataset.test.X.to_scipy().toarray(), np.log1p([[0, 1, 0], [0, 0, 5]]) * idf, rtol=1e-6)
    with open_artifact(dataset.path, dataset_module.KIND) as file:
        np.testing.assert_allclose(file["idf"][()], idf, rtol=1e-6)


def test_svmlight_files_of_different_widths(tmp_path):
    (tmp_path / "train").write_text("0,1 1:1 2:1\n1 1:1\n")
    (tmp_path / "test").write_text("4 1:1 5:1\n")
    (tmp_path / "names").write_text("\n".join("abcdefg"))
    arguments = ["--format=svmlight", f"--train={tmp_path / 'train'}", f"--test={tmp_path / 'test'}"]
    dataset = prepare(tmp_path, *arguments)
    assert (dataset.n_features, dataset.n_labels) == (6, 5)
    assert dataset.test.Y.n_columns == 5
    assert prepare(tmp_path, *arguments, f"--labels={tmp_path / 'names'}").label_names == list("abcdefg")


@pytest.mark.parametrize(("share", "dense"), [(0.05, False), (0.6, True)])
def test_dense_features_are_stored_in_full_and_counted_as_they_are(tmp_path, share, dense):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 50)) * (random.random((40, 50)) < share)
    X[7] = 0
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "Y.npy", random.random((40, 3)) < 0.4)
    dataset = prepare(tmp_path, "--format=npz", f"--train={tmp_path / 'X.npy'}", f"--test={tmp_path / 'X.npy'}")
    assert dataset.parameters["dense"] is dense
    assert (len(dataset.train.X.data) == 40 * 51) == dense
    assert dataset.parameters["source"]["counts"]["train_without_features"] == (np.abs(X).sum(axis=1) == 0).sum()
    nonzeros = np.count_nonzero(X) + 40
    assert nonzeros_of_rows(dataset.train.X).sum() == len(dataset.test.X.data) == nonzeros
    np.testing.assert_array_equal(dataset.train.X.to_scipy().toarray(), dataset.test.X.to_scipy().toarray())


def test_builtin(tmp_path, monkeypatch):
    monkeypatch.setattr(prepare_step, "docstrings", partial(docstrings, texts=500))
    dataset = prepare(tmp_path, "--format=builtin")
    assert dataset.train.X.n_rows + dataset.test.X.n_rows == 500
    assert np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels).min() > 0
    assert {"modules_read", "repeated_texts", "python"} < dataset.parameters["source"]["counts"].keys()
    document_frequency = np.bincount(dataset.train.X.indices)[:-1]
    assert (np.diff(document_frequency) <= 0).all()


@pytest.mark.parametrize("form", ["text-tsv", "xmc-text"])
def test_division_without_a_test_file(tmp_path, form):
    path = tmp_path / "all.txt"
    generator = np.random.default_rng(0)
    rows = [(f"w{a} v{b}", f"{a}:1 {20 + b}:1", str(a % 3)) for a, b in generator.integers(0, 20, (300, 2))]
    if form == "text-tsv":
        path.write_text("".join(f"{label}\t{text}\n" for text, _, label in rows))
    else:
        path.write_text("300 40 3\n" + "".join(f"{label} {features}\n" for _, features, label in rows))
    first = prepare(tmp_path, f"--format={form}", f"--train={path}")
    checksum, n_test = first.checksum, first.test.X.n_rows
    assert first.train.X.n_rows + n_test == 300
    assert 0.1 < n_test / 300 < 0.3
    assert prepare(tmp_path, f"--format={form}", f"--train={path}").checksum == checksum
    assert prepare(tmp_path, f"--format={form}", f"--train={path}", "--seed=1").checksum != checksum
    assert prepare(tmp_path, f"--format={form}", f"--train={path}", "--test-fraction=1e-9").test.X.n_rows == 0


def test_same_bytes_in_every_process(tmp_path):
    train = write_texts(tmp_path, "jsonl", "train", TEXTS)
    contents = []
    for hash_seed in ("1", "2"):
        output = tmp_path / f"{hash_seed}.h5"
        command = [sys.executable, "-m", "ovaflow", "prepare", "--format=jsonl", f"--train={train}", *ALL_TOKENS]
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        subprocess.run([*command, f"--test={train}", f"--output={output}"], env=environment, check=True)
        contents.append(output.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("a\tone text\n", ["--test-fraction=1e-9"], "no token occurs"),
        ("a\tone text\n", ["--test-fraction=0.999999"], "no training texts"),
        ("a\tone text\n", ["--min-df=x"], "a whole number of at least 1 or a number above 0 and of at most 1"),
        ("a\tone text\n", ["--max-df=1.5"], "of at most 1"),
        ("a\tone text\n", ["--max-features=0"], "max-features"),
    ],
)
def test_clear_lines(tmp_path, capsys, content, arguments, message):
    (tmp_path / "train.tsv").write_text(content)
    prepare(tmp_path, "--format=text-tsv", f"--train={tmp_path / 'train.tsv'}", *arguments, status=2)
    assert any(part in capsys.readouterr().err for part in message.split("|"))


@pytest.mark.parametrize("mark", [";", ",", "|"])
def test_labels_that_were_not_taken_apart_are_refused(tmp_path, capsys, mark):
    write_table(tmp_path / "train.csv", separator=mark)
    wrong = "|" if mark == ";" else ";"
    prepare(tmp_path, "--format=csv", f"--train={tmp_path}/train.csv", f"--label-separator={wrong}", status=2)
    assert capsys.readouterr().err.endswith(f'set label_separator: "{mark}"\n')
    prepared = prepare(tmp_path, "--format=csv", f"--train={tmp_path}/train.csv", f"--label-separator={mark}")
    assert len(prepared.label_names) == 10


def test_one_label_each_with_commas_in_names_is_data(tmp_path):
    rows = [(f"text number{i % 5}", [f"Name, of {i % 5}"]) for i in range(60)]
    path = write_texts(tmp_path, "csv", "train", rows)
    prepared = prepare(tmp_path, "--format=csv", f"--train={path}", "--label-separator=;")
    assert prepared.label_names == [f"Name, of {i}" for i in range(5)]


def test_remarks_on_the_data(tmp_path, capsys):
    train, test = (write_texts(tmp_path, "csv", name, rows) for name, rows in (("train", TEXTS), ("test", TEST)))
    prepare(tmp_path, "--format=csv", f"--train={train}", f"--test={test}", *ALL_TOKENS)
    remarks = [line for line in capsys.readouterr().out.splitlines() if line.startswith("remark: ")]
    assert [remark[:52] for remark in remarks] == [
        "remark: 1 of 5 training instances have no feature: a",
        "remark: 1 of 5 training instances have no label",
        "remark: 1 of 2 test instances have no feature: an em",
        "remark: 1 of 3 labels of test instances occur in no ",
    ]


def test_missing_files(tmp_path, capsys):
    prepare(tmp_path, "--format=csv", status=2)
    assert "needs --train" in capsys.readouterr().err
    prepare(tmp_path, "--format=csv", "--train=nowhere.csv", status=2)
    assert "nowhere.csv" in capsys.readouterr().err


@pytest.mark.parametrize(("d", "l"), [(1, 1), (1, 2), (2, 1), (0, 1)])
def test_smallest_datasets(tmp_path, d, l):  # noqa: E741
    path = tmp_path / "train.txt"
    path.write_text(f"1 {d} {l}\n{l - 1}{' 0:1' if d else ''}\n")
    dataset = prepare(tmp_path, "--format=xmc-text", f"--train={path}", f"--test={path}")
    assert (dataset.n_features, dataset.n_labels, dataset.train.X.n_rows) == (d + 1, l, 1)


def test_finnish_questions(real_data, tmp_path):
    folder = real_data / "kirjastonhoitaja"
    files = [f"--train={folder / 'train_raw.tsv.gz'}", f"--test={folder / 'test_raw.tsv.gz'}"]
    dataset = prepare(tmp_path, "--format=text-tsv", *files, f"--labels={folder / 'labels.txt.gz'}")
    assert (dataset.train.X.n_rows, dataset.test.X.n_rows, dataset.n_labels) == (2625, 312, 3955)
    lengths = np.sqrt(np.square(dataset.train.X.to_scipy().toarray()[:, :-1]).sum(axis=1))
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)
