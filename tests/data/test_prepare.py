import csv
import json
import os
import random
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from ovaflow.cli import main
from ovaflow.data import source as source_files
from ovaflow.data.dataset import open_dataset
from ovaflow.data.docstrings import docstrings
from ovaflow.sparse.csr import nonzeros_of_rows

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


def write_texts(path, rows):
    path.write_text("".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows))
    return path


def test_texts(tmp_path, capsys):
    train, test = (write_texts(tmp_path / name, rows) for name, rows in (("train", TEXTS), ("test", TEST)))
    files = f"--train={train}", f"--test={test}"
    dataset = prepare(tmp_path, "--format=jsonl", *files, "--features=words", *ALL_TOKENS)
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
    # the remarks below say the others
    counts = {"tokens": 5, "tokens_forgotten": 0, "label_names_without_features": 3}
    assert source["counts"].items() >= counts.items()
    assert source["files"]["train"]["name"] == train.name
    assert str(tmp_path) not in json.dumps(dataset.parameters)
    said = capsys.readouterr().out
    assert "5 training and 2 test instances, 6 features, 3 labels" in said
    assert [line[:52] for line in said.splitlines() if line.startswith("remark: ")] == [
        "remark: 1 of 5 training instances have no feature: a",
        "remark: 1 of 5 training instances have no label: the",
        "remark: 1 of 2 test instances have no feature: an em",
        "remark: 1 of 3 labels of test instances occur in no ",
    ]


XMC_TRAIN = "4 3 3\n0,1 0:1 2:2\n1\n 1:1 2:1\n2 0:3\n"
XMC_TEST = "2 3 3\n2 1:1\n0 2:5\n"


def test_features_as_they_are(tmp_path):
    (tmp_path / "train.txt").write_text(XMC_TRAIN)
    (tmp_path / "test.txt").write_text(XMC_TEST)
    arguments = ["--format=xmc-text", f"--train={tmp_path / 'train.txt'}", f"--test={tmp_path / 'test.txt'}"]
    dataset = prepare(tmp_path, *arguments)
    half = np.sqrt(0.5)
    theirs = [[np.sqrt(0.2), 0, np.sqrt(0.8), 1], [0, 0, 0, 1], [0, half, half, 1], [1, 0, 0, 1]]
    np.testing.assert_allclose(dataset.train.X.to_scipy().toarray(), theirs, rtol=1e-6)
    np.testing.assert_array_equal(dataset.train.Y.to_scipy().toarray(), [[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]])
    assert (dataset.label_names, dataset.feature_names) == (["0", "1", "2"], [])
    assert dataset.parameters["source"]["counts"]["train_without_features"] == 1
    dataset = prepare(tmp_path, *arguments, "--tfidf=true", "--no-normalize", "--bias=0")
    # of the training set, for both
    idf = np.log([2, 4, 2])
    for split, tf in (
        (dataset.train, [[1, 0, 2], [0, 0, 0], [0, 1, 1], [3, 0, 0]]),
        (dataset.test, [[0, 1, 0], [0, 0, 5]]),
    ):
        np.testing.assert_allclose(split.X.to_scipy().toarray(), np.log1p(tf) * idf, rtol=1e-6)
    np.testing.assert_allclose(dataset.names.idf, idf, rtol=1e-6)


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
    monkeypatch.setattr(source_files, "docstrings", partial(docstrings, texts=500))
    dataset = prepare(tmp_path, "--format=builtin", "--features=words")
    assert dataset.n_documents + dataset.test.X.n_rows == 500
    assert np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels).min() > 0
    assert {"modules_read", "repeated_texts", "python"} < dataset.parameters["source"]["counts"].keys()
    document_frequency = np.bincount(dataset.documents.train.X.indices)[:-1]
    assert (np.diff(document_frequency) <= 0).all()


def test_columns_with_weights(tmp_path, capsys):
    rows = [("sea hill", "sea", "a"), ("hill", "", "b"), ("", "sea green", "a"), ("green", "hill", "b")] * 3
    path = tmp_path / "table.csv"
    path.write_text("title,abstract,labels\n" + "".join(",".join(row) + "\n" for row in rows))
    options = ["--text-column=title,abstract", "--min-df=1", "--max-df=1.0", "--features=words", "--bias=0"]
    options += ["--no-sublinear", "--no-normalize", f"--train={path}", f"--test={path}", "--format=csv"]
    dataset = prepare(tmp_path, *options, "--column-weights=3", "--column-weights=1")
    counts = np.array([[4, 3, 0], [0, 3, 0], [1, 0, 1], [0, 1, 3]] * 3)
    order = [dataset.feature_names.index(name) for name in ("sea", "hill", "green")]
    ours = dataset.train.X.to_scipy().toarray()[:, order]
    np.testing.assert_allclose(ours, counts * dataset.names.idf[order], rtol=1e-6)
    np.testing.assert_array_equal(ours, dataset.test.X.to_scipy().toarray()[:, order])
    assert dataset.test_texts([0]) == ["sea hill sea"]
    prepare(tmp_path, *options, "--column-weights=3", status=2)
    assert "1 column_weights for 2 text columns" in capsys.readouterr().err


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
    train = write_texts(tmp_path / "train", TEXTS)
    contents = []
    for hash_seed in ("1", "2"):
        output = tmp_path / f"{hash_seed}.h5"
        command = [sys.executable, "-m", "ovaflow", "prepare", "--format=jsonl", f"--train={train}", *ALL_TOKENS]
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        subprocess.run([*command, f"--test={train}", f"--output={output}"], env=environment, check=True)
        contents.append(output.read_bytes())
    assert contents[0] == contents[1]


def table_of(path, labels, text="sky {} in {}"):
    rows = [[text.format("ab"[i % 2] * 2, "cde"[i % 3] * 2), each] for i, each in enumerate(labels)]
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["text", "labels"], *rows])
    return path


def combined(names, separator, rows=300, most=4):
    draw = random.Random(1)
    return [separator.join(draw.sample(names, draw.randint(1, most))) for _ in range(rows)]


TOPICS = [f"topic {number}" for number in range(10)]
HEADINGS = [f"Art {number}, Place {number}" for number in range(30)]
CODES = [f"{letter}{number}" for letter in "ABC" for number in range(9)]
RARE = [f"{i}-1783 -- Sources | a > b {i} | role::{i % 7}" for i in range(100)]


@pytest.mark.parametrize(
    ("labels", "wrong", "right", "n_labels"),
    [
        (combined(TOPICS, ";"), "|", ";", 10),
        (combined(TOPICS, ","), ";", ",", 10),
        (combined(TOPICS, "\t"), ",", "\t", 10),
        (combined(CODES, " "), ",", " ", 27),
        (RARE, ",", "|", 207),
        (RARE, ";", "|", 207),
    ],
)
def test_labels_that_hold_another_separator_are_refused(tmp_path, capsys, labels, wrong, right, n_labels):
    options = ["--format=csv", f"--train={table_of(tmp_path / 'a.csv', labels)}", "--max-df=1.0"]
    prepare(tmp_path, *options, f"--label-separator={wrong}", status=2)
    output = capsys.readouterr().err
    assert f"a.csv: label_separator is {wrong!r}, but " in output
    assert f"different labels contain {right!r}, such as " in output
    dataset = prepare(tmp_path, *options, f"--label-separator={right}", "--test-fraction=1e-9")
    assert dataset.n_labels == n_labels


def test_a_separator_inside_others_is_remarked_on(tmp_path, capsys):
    options = ["--format=csv", f"--train={table_of(tmp_path / 'a.csv', combined(HEADINGS, '; '))}", "--max-df=1.0"]
    prepare(tmp_path, *options)
    assert 'label_separator: ";" gives 30 labels' in capsys.readouterr().out
    assert prepare(tmp_path, *options, "--label-separator=;", "--test-fraction=1e-9").n_labels == 30


@pytest.mark.parametrize(
    ("labels", "separator", "n_labels"),
    [
        ([f"a, b, {i % 40}; c" for i in range(400)], ";", 41),
        ([f"role::{i}" if i % 2 else f"1775-1783 -- Sources; {i}" for i in range(60)] + ["x|y"] * 60, ",", 61),
        ([f"Bach, J{i}" for i in range(60)], ";", 60),
        (["a;b"] * 19, ",", 1),
    ],
)
def test_labels_with_signs_inside_are_believed(tmp_path, labels, separator, n_labels):
    options = ["--format=csv", f"--train={table_of(tmp_path / 'a.csv', labels)}", "--max-df=1.0"]
    dataset = prepare(tmp_path, *options, f"--label-separator={separator}", "--test-fraction=1e-9")
    assert dataset.n_labels == n_labels


def test_several_files_and_labels_that_are_kept_or_dropped(tmp_path):
    for name, labels in (("a1", ["x", "", "y"]), ("a2", ["z", ""]), ("b", ["x", ""])):
        table_of(tmp_path / f"{name}.csv", labels)
    options = ["--format=csv", "--min-df=1", f"--test={tmp_path}/b.csv"]
    pattern, named = [f"--train={tmp_path}/a*.csv"], [f"--train={tmp_path}/a{i}.csv" for i in (1, 2)]
    dataset = prepare(tmp_path, *options, *pattern)
    assert (dataset.n_documents, dataset.test.X.n_rows, dataset.label_names) == (5, 2, ["x", "y", "z"])
    ours = prepare(tmp_path, *options, *named).train.Y.to_scipy().toarray()
    np.testing.assert_array_equal(ours, dataset.train.Y.to_scipy().toarray())
    dropped = prepare(tmp_path, *options, *named, "--unlabelled=drop")
    assert (dropped.n_documents, dropped.test.X.n_rows) == (3, 1)
    assert dropped.parameters["source"]["counts"]["instances_without_labels"] == 3


RECORDS = {
    "csv": 'text,labels,id,number\n"sea\n salt",x,a 1,7\nhill,y,,8\nsea hill,x,c,9\n',
    "jsonl": "".join(
        json.dumps({"text": text, "labels": [label], "number": number} | more) + "\n"
        for text, label, number, more in (
            ("sea", "x", 7, {"id": "a 1"}),
            ("hill", "y", 8, {}),
            ("sea", "x", 9, {"id": "c"}),
        )
    ),
    "text-tsv": "x\tsea\n\ny\thill\nx\tsea\n",
}


@pytest.mark.parametrize(
    ("format", "options", "expected"),
    [
        ("csv", [], ["a 1", "line 4", "c"]),
        ("csv", ["--id-column=number"], ["7", "8", "9"]),
        ("jsonl", [], ["a 1", "line 2", "c"]),
        ("jsonl", ["--id-column=number"], ["7", "8", "9"]),
        ("text-tsv", [], ["line 1", "line 3", "line 4"]),
    ],
)
def test_records_have_ids_or_places(tmp_path, format, options, expected):
    for name in ("train", "more"):
        (tmp_path / name).write_text(RECORDS[format])
    given = [f"--format={format}", f"--test={tmp_path}/train", *ALL_TOKENS, *options]
    dataset = prepare(tmp_path, *given, f"--train={tmp_path}/train")
    assert dataset.records("train", range(3)) == dataset.records("test", range(3)) == expected
    assert dataset.heaviest_features("test", 1, 1) == ["hill"]
    dataset = prepare(tmp_path, *given, f"--train={tmp_path}/train", f"--train={tmp_path}/more")
    assert dataset.records("train", [3, 2]) == [f"more, {expected[0]}", f"train, {expected[2]}"]


def test_html_is_read_as_a_person_sees_it(tmp_path, capsys):
    seen = ["my printer & Müller", "does not <start>", "x < 5 end"]
    written = [
        "<!-- a -->my <b>prin</b>ter &amp; M&uuml;ller",
        '<p class="big">does not<br/>&lt;start&gt;</p>',
        "x < 5<script>var hidden = 1;</script>end",
    ]
    datasets = []
    for rows, options in ((seen, []), (written, ["--html"])):
        path = write_texts(tmp_path / "train", [(text, ["x"]) for text in rows])
        datasets.append(
            prepare(tmp_path, "--format=jsonl", f"--train={path}", f"--test={path}", "--min-df=1", *options)
        )
    theirs, ours = datasets
    assert ours.feature_names == theirs.feature_names
    np.testing.assert_array_equal(ours.train.X.to_scipy().toarray(), theirs.train.X.to_scipy().toarray())
    assert [" ".join(text.split()) for text in ours.test_texts()] == seen
    assert ours.parameters["html"]
    assert "HTML" not in capsys.readouterr().out


def test_labels_are_renamed_merged_and_dropped(tmp_path, capsys):
    table_of(tmp_path / "a.csv", ["sea,Sea", "Sea", "junk", "hill"])
    (tmp_path / "map.csv").write_text('Sea,sea\njunk,\nhill,"hill, top"\n\n')
    options = ["--format=csv", f"--train={tmp_path}/a.csv", f"--test={tmp_path}/a.csv", "--min-df=1"]
    dataset = prepare(tmp_path, *options, f"--label-map={tmp_path}/map.csv")
    assert dataset.label_names == ["hill, top", "sea"]
    np.testing.assert_array_equal(dataset.documents.train.Y.to_scipy().toarray(), [[0, 1], [0, 1], [0, 0], [1, 0]])
    assert "8 labels of instances were renamed or dropped by label_map" in capsys.readouterr().out
    (tmp_path / "map.csv").write_text("Sea;sea\nSea;lake\n")
    prepare(tmp_path, *options, f"--label-map={tmp_path}/map.csv", status=2)
    assert "map.csv, line 2: 'Sea' appears twice" in capsys.readouterr().err
    (tmp_path / "map.csv").write_text(f"{'x' * 200_000},y\nSea,sea\rjunk,\n")
    prepare(tmp_path, *options, f"--label-map={tmp_path}/map.csv", status=2)
    assert "map.csv, line 2: malformed record" in capsys.readouterr().err


def test_instances_without_labels_are_dropped_from_features(tmp_path):
    for name, content in (("train.txt", XMC_TRAIN), ("test.txt", XMC_TEST)):
        (tmp_path / name).write_text(content)
    files = [f"--{name}={tmp_path / name}.txt" for name in ("train", "test")]
    dropped = prepare(tmp_path, "--format=xmc-text", *files, "--unlabelled=drop")
    np.testing.assert_array_equal(dropped.train.Y.to_scipy().toarray(), [[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    prepare(tmp_path, "--format=xmc-text", *files, files[0], status=2)


def test_what_is_odd_is_remarked(tmp_path, capsys):
    table_of(tmp_path / "train.csv", ["Sea", "sea", "hills", "hill top", "rest"], "<b>{}</b> &amp; {}")
    table_of(tmp_path / "test.csv", ["other"] * 3)
    files = [f"--{name}={tmp_path / name}.csv" for name in ("train", "test")]
    prepare(tmp_path, "--format=csv", *files, "--min-df=1")
    output = capsys.readouterr().out
    assert "the test file is the training file" not in output
    assert "have no label" not in output
    for part in (
        "5 of 8 texts contain HTML",
        "2 labels differ only in case or a final full stop, such as 'Sea' and 'sea'",
        "3 of 3 labels of test instances occur in no training instance (1 different",
        "3 of 3 test instances have only labels that no training instance has",
        "text_column and labels_column may be swapped",
    ):
        assert part in output
    (tmp_path / "test.csv").write_bytes((tmp_path / "train.csv").read_bytes())
    prepare(tmp_path, "--format=csv", *files, "--min-df=1")
    assert "the test file is the training file" in capsys.readouterr().out
