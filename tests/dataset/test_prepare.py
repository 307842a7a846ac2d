import json
import os
import random
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas
import pytest
from records import write_records
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from ovaflow.features.tfidf import TfIdf
from ovaflow.records import docstrings
from ovaflow.sparse.csr import count_row_nonzeros

TEXTS = [
    ("alpha beta gamma", ["x", "y"]),
    ("alpha delta", ["y"]),
    ("beta delta delta", []),
    ("", ["x"]),
    ("gamma Straße", ["z"]),
]
TEST = [("alpha STRASSE unknown", ["x", "new"]), ("nothing of this", ["z"])]
JSONL = "--format=jsonl --train=train --test=test --min-df=1 "
TABLE = "--format=csv --train=a.csv --max-df=1.0 "
ALL_IN_TRAINING = "--test-fraction=1e-9"


def write_texts(name, rows) -> None:
    """Write texts and their labels as JSON Lines."""
    with open(name, "w") as file:
        for text, labels in rows:
            file.write(json.dumps({"text": text, "labels": labels}) + "\n")


def make_dense(matrix) -> np.ndarray:
    return matrix.to_scipy().toarray()


def test_texts(prepare, tmp_path) -> None:
    write_texts("train", TEXTS)
    write_texts("test", TEST)
    dataset = prepare(JSONL + "--features=words --max-df=0.9")
    assert dataset.label_names == ["x", "y", "z"]
    assert dataset.feature_names == ["alpha", "beta", "delta", "gamma", "strasse"]
    counts = CountVectorizer(vocabulary=dataset.feature_names, preprocessor=str.casefold)
    tf = counts.transform([text for text, _ in TEXTS]).toarray()
    tf_of_test = counts.transform([text for text, _ in TEST]).toarray()
    idf = np.log(5 / (tf > 0).sum(axis=0))
    for matrix, term_counts in ((dataset.train.X, tf), (dataset.test.X, tf_of_test)):
        ours = make_dense(matrix)
        theirs = normalize(np.log1p(term_counts) * idf)
        np.testing.assert_allclose(ours[:, :-1], theirs, rtol=1e-5)
        assert (ours[:, -1] == 1).all()
    assert make_dense(dataset.train.Y).tolist() == [
        [1, 1, 0],
        [0, 1, 0],
        [0, 0, 0],
        [1, 0, 0],
        [0, 0, 1],
    ]
    assert make_dense(dataset.test.Y).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert dataset.test_texts([1]) == ["nothing of this"]
    source = dataset.parameters["source"]
    # the remarks below say the others
    counts = {"tokens": 5, "tokens_forgotten": 0, "label_names_without_features": 3}
    assert counts.items() <= source["counts"].items()
    assert source["files"]["train"]["name"] == "train"
    assert str(tmp_path) not in json.dumps(dataset.parameters)
    assert "5 training and 2 test instances, 6 features, 3 labels" in prepare.said
    assert re.findall("remark: .{44}", prepare.said) == [
        "remark: 1 of 5 training instances have no feature: a",
        "remark: 1 of 5 training instances have no label: the",
        "remark: 1 of 2 test instances have no feature: an em",
        "remark: 1 of 3 labels of test instances occur in no ",
    ]


def test_features_as_they_are(prepare) -> None:
    Path("train.txt").write_text("4 3 3\n0,1 0:1 2:2\n1\n 1:1 2:1\n2 0:3\n")
    Path("test.txt").write_text("2 3 3\n2 1:1\n0 2:5\n")
    line = "--format=xmc-text --train=train.txt --test=test.txt "
    dataset = prepare(line)
    train = [[1, 0, 2], [0, 0, 0], [0, 1, 1], [3, 0, 0]]
    with_bias = np.c_[normalize(train), np.ones(4)]
    np.testing.assert_allclose(make_dense(dataset.train.X), with_bias, rtol=1e-6)
    assert make_dense(dataset.train.Y).tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]
    assert (dataset.label_names, dataset.feature_names) == (["0", "1", "2"], [])
    assert dataset.parameters["source"]["counts"]["train_without_features"] == 1
    labelled = prepare(line, "--unlabelled=drop")
    assert make_dense(labelled.train.Y).tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    prepare(line, "--train=train.txt", status=2)


@pytest.mark.parametrize(
    ("option", "weigh"), [("--sublinear", np.log1p), ("--no-sublinear", np.array)]
)
def test_tfidf_of_counts(prepare, option, weigh) -> None:
    Path("train.txt").write_text("4 3 3\n0,1 0:1 2:2\n1\n 1:1 2:1\n2 0:3\n")
    Path("test.txt").write_text("2 3 3\n2 1:1\n0 2:5\n")
    train = [[1, 0, 2], [0, 0, 0], [0, 1, 1], [3, 0, 0]]
    test = [[0, 1, 0], [0, 0, 5]]
    line = "--format=xmc-text --train=train.txt --test=test.txt"
    dataset = prepare(f"{line} --tfidf=true --no-normalize --bias=0", option)
    # of the training set, for both
    idf = np.log([2, 4, 2])
    ours = np.vstack([make_dense(dataset.train.X), make_dense(dataset.test.X)])
    np.testing.assert_allclose(ours, weigh(train + test) * idf, rtol=1e-6)
    np.testing.assert_allclose(dataset.names.idf, idf, rtol=1e-6)


def test_svmlight_files_of_different_widths(prepare) -> None:
    Path("train").write_text("0,1 1:1 2:1\n1 1:1\n")
    Path("test").write_text("4 1:1 5:1\n")
    Path("names").write_text("\n".join("abcdefg"))
    dataset = prepare("--format=svmlight --train=train --test=test")
    assert (dataset.n_features, dataset.n_labels, dataset.test.Y.n_columns) == (6, 5, 5)
    named = prepare("--format=svmlight --train=train --test=test --labels=names")
    assert named.label_names == list("abcdefg")


@pytest.mark.parametrize(("share", "is_dense"), [(0.05, False), (0.6, True)])
def test_dense_features_are_stored_in_full_and_counted_as_they_are(
    prepare, share, is_dense
) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 50)) * (random.random((40, 50)) < share)
    X[7] = 0
    np.save("X.npy", X)
    np.save("Y.npy", random.random((40, 3)) < 0.4)
    dataset = prepare("--format=npz --train=X.npy --test=X.npy")
    assert dataset.parameters["dense"] is is_dense
    assert (len(dataset.train.X.data) == 40 * 51) == is_dense
    counts = dataset.parameters["source"]["counts"]
    assert counts["train_without_features"] == (X == 0).all(axis=1).sum()
    nonzeros = np.count_nonzero(X) + 40
    assert count_row_nonzeros(dataset.train.X).sum() == nonzeros
    assert len(dataset.test.X.data) == nonzeros
    np.testing.assert_array_equal(make_dense(dataset.train.X), make_dense(dataset.test.X))


def test_builtin(prepare, monkeypatch) -> None:
    monkeypatch.setattr(docstrings, "MAX_TEXTS", 500)
    dataset = prepare("--format=builtin --features=words")
    assert dataset.n_documents + dataset.test.X.n_rows == 500
    assert dataset.counts.min() > 0
    counts = dataset.parameters["source"]["counts"]
    assert {"modules_read", "repeated_texts", "python"} < counts.keys()


def test_columns_with_weights(prepare) -> None:
    rows = "sea hill,sea,a\nhill,sea hill,b\n,sea green,a\ngreen,hill,b\n"
    Path("a.csv").write_text("title,abstract,labels\n" + rows * 3)
    line = TABLE + "--test=a.csv --text-column=title,abstract --min-df=1 "
    line += "--features=words --features=pairs --bias=0 --no-sublinear --no-normalize "
    line += "--no-label-names --column-weights=3 "
    dataset = prepare(line, "--column-weights=0.5")
    counts = [[3.5, 3, 0, 3, 0], [0.5, 3.5, 0, 0.5, 0], [0.5, 0, 0.5, 0, 0.5], [0, 0.5, 3, 0, 0]]
    # texts without columns are in the first
    plain = [[3, 6, 0, 3, 0], [0, 0, 3, 0, 0]]
    transform = TfIdf.from_parameters(dataset.parameters, dataset.feature_names, dataset.names.idf)
    for matrix, term_counts in (
        (dataset.train.X, counts * 3),
        (dataset.test.X, counts * 3),
        (transform.transform(["hill sea hill", "green"]), plain),
    ):
        table = pandas.DataFrame(
            term_counts, columns=["sea", "hill", "green", "sea hill", "sea green"]
        )
        theirs = table[dataset.feature_names] * dataset.names.idf
        np.testing.assert_allclose(make_dense(matrix), theirs, rtol=1e-6)
    assert dataset.test_texts([0]) == ["sea hill sea"]
    assert "1 column_weights for 2 text columns" in prepare(line, status=2)


def test_same_bytes_in_every_process(tmp_path) -> None:
    write_texts(tmp_path / "train", TEXTS)
    write_texts(tmp_path / "test", TEXTS)
    command = [sys.executable, "-m", "ovaflow", "prepare", *JSONL.split(), "--max-df=0.9"]
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([*command, f"--output={seed}"], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def write_table(labels, name="a.csv", text="sky {} in {}") -> None:
    """Write a table of texts with some labels."""
    records = []
    for i, each in enumerate(labels):
        first = "ab"[i % 2] * 2
        second = "cde"[i % 3] * 2
        records.append({"text": text.format(first, second), "labels": each})
    write_records(name, records)


def combine_labels(names, separator) -> list[str]:
    """Draw 300 lists of one to four names."""
    draw = random.Random(1)
    return [separator.join(draw.sample(names, draw.randint(1, 4))) for _ in range(300)]


TOPICS = [f"topic {number}" for number in range(10)]
HEADINGS = [f"Art {number}, Place {number}" for number in range(30)]
CODES = [f"{letter}{number}" for letter, number in product("ABC", range(9))]
ROLES_AND_HEADINGS = [f"role::{i}" if i % 2 else f"1775-1783 -- Sources; {i}" for i in range(60)]
RARE = [f"{i}-1783 -- Sources | a > b {i} | role::{i % 7}" for i in range(100)]


@pytest.mark.parametrize(
    ("labels", "wrong", "right", "n_labels"),
    [
        (combine_labels(TOPICS, ";"), "|", ";", 10),
        (combine_labels(TOPICS, ","), ";", ",", 10),
        (combine_labels(TOPICS, "\t"), ",", "\t", 10),
        (combine_labels(CODES, " "), ",", " ", 27),
        (RARE, ",", "|", 207),
        (RARE, ";", "|", 207),
    ],
)
def test_labels_that_hold_another_separator_are_refused(
    prepare, labels, wrong, right, n_labels
) -> None:
    write_table(labels)
    said = prepare(TABLE, f"--label-separator={wrong}", status=2)
    assert f"a.csv: label_separator is {wrong!r}, but " in said
    assert f"different labels contain {right!r}, such as " in said
    assert prepare(TABLE, f"--label-separator={right}", ALL_IN_TRAINING).n_labels == n_labels


def test_a_separator_inside_others_is_remarked_on(prepare) -> None:
    write_table(combine_labels(HEADINGS, "; "))
    prepare(TABLE)
    assert 'label_separator: ";" gives 30 labels' in prepare.said
    assert prepare(TABLE, "--label-separator=;", ALL_IN_TRAINING).n_labels == 30


@pytest.mark.parametrize(
    ("labels", "separator", "n_labels"),
    [
        ([f"a, b, {i % 40}; c" for i in range(400)], ";", 41),
        (ROLES_AND_HEADINGS + ["x|y"] * 60, ",", 61),
        ([f"Bach, J{i}" for i in range(60)], ";", 60),
        (["a;b"] * 19, ",", 1),
    ],
)
def test_labels_with_signs_inside_are_believed(prepare, labels, separator, n_labels) -> None:
    write_table(labels)
    assert prepare(TABLE, f"--label-separator={separator}", ALL_IN_TRAINING).n_labels == n_labels


def test_several_files_and_labels_that_are_kept_or_dropped(prepare) -> None:
    write_table(["x", "", "y"], "a1.csv")
    write_table(["z", ""], "a2.csv")
    write_table(["x", ""], "b.csv")
    line = "--format=csv --min-df=1 --train=a*.csv --test=b.csv"
    dataset = prepare(line)
    assert (dataset.n_documents, dataset.test.X.n_rows) == (5, 2)
    assert dataset.label_names == ["x", "y", "z"]
    dropped = prepare(line, "--unlabelled=drop")
    assert (dropped.n_documents, dropped.test.X.n_rows) == (3, 1)
    assert "3 instances have no label: left out" in prepare.said


RECORDS = {
    "csv": 'text,labels,id,number\n"sea\n salt",x,a 1,7\nhill,y,,8\nsea hill,x,c,9\n',
    "jsonl": '{"text": "sea", "labels": "x", "id": "a 1", "number": 7}\n'
    '{"text": "hill", "labels": "y", "number": 8}\n'
    '{"text": "sea", "labels": "x", "id": "c", "number": 9}\n',
    "text-tsv": "x\tsea\n\ny\thill\nx\tsea\n",
}


@pytest.mark.parametrize(
    ("format", "options", "expected"),
    [
        ("csv", "", ["a 1", "line 4", "c"]),
        ("csv", "--id-column=number", ["7", "8", "9"]),
        ("jsonl", "", ["a 1", "line 2", "c"]),
        ("jsonl", "--id-column=number", ["7", "8", "9"]),
        ("text-tsv", "", ["line 1", "line 3", "line 4"]),
    ],
)
def test_records_have_ids_or_places(prepare, format, options, expected) -> None:
    for name in ("train", "more"):
        Path(name).write_text(RECORDS[format])
    line = f"--format={format} --test=train --train=train --min-df=1 --max-df=0.9 {options}"
    dataset = prepare(line)
    assert dataset.records("train", range(3)) == dataset.records("test", range(3)) == expected
    assert dataset.heaviest_features("test", 1, 1) == ["hill"]
    first, _, third = expected
    of_two_files = prepare(line, "--train=more").records("train", [3, 2])
    assert of_two_files == [f"more, {first}", f"train, {third}"]


def test_html_is_read_as_a_person_sees_it(prepare) -> None:
    seen = ["my printer & Müller", "does not <start>", "x < 5 end"]
    written = [
        "<!-- a -->my <b>prin</b>ter &amp; M&uuml;ller",
        '<p class="big">does not<br/>&lt;start&gt;</p>',
        "x < 5<script>var hidden = 1;</script>end",
    ]
    line = "--format=jsonl --train=train --test=train --min-df=1"
    write_texts("train", [(text, ["x"]) for text in seen])
    theirs = prepare(line, "--no-html")
    # read before the file is replaced
    feature_names = theirs.feature_names
    features = make_dense(theirs.train.X).tolist()
    assert "HTML" not in prepare.said
    write_texts("train", [(text, ["x"]) for text in written])
    ours = prepare(line, "--html")
    assert "HTML" not in prepare.said
    assert [" ".join(text.split()) for text in ours.test_texts()] == seen
    assert ours.feature_names == feature_names
    assert make_dense(ours.train.X).tolist() == features
    assert ours.parameters["html"]


def test_labels_are_renamed_merged_and_dropped(prepare) -> None:
    write_table(["sea,Sea", "Sea", "junk", "hill"])
    line = TABLE + "--test=a.csv --min-df=1 --label-map=map.csv"
    Path("map.csv").write_text('Sea,sea\njunk,\nhill,"hill, top"\n\n')
    dataset = prepare(line)
    assert dataset.label_names == ["hill, top", "sea"]
    assert make_dense(dataset.documents.train.Y).tolist() == [[0, 1], [0, 1], [0, 0], [1, 0]]
    assert "8 labels of instances were renamed or dropped by label_map" in prepare.said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Sea;sea\nSea;lake\n", "'Sea' appears twice"),
        (f"{'x' * 200_000},y\nSea,sea\rjunk,\n", "malformed record"),
        (
            "Sea\tsea\njunk\n",
            "1 fields, expected an old name and a new one; "
            "leave the new name empty to drop a label",
        ),
    ],
)
def test_a_wrong_label_map_is_refused(prepare, content, said) -> None:
    write_table(["sea,Sea", "Sea", "junk", "hill"])
    Path("map.csv").write_text(content)
    line = TABLE + "--test=a.csv --min-df=1 --label-map=map.csv"
    assert f"map.csv, line 2: {said}" in prepare(line, status=2)


def test_what_is_odd_is_remarked(prepare) -> None:
    write_table(["Sea", "sea.", "hills", "hill top", "rest"], text="<b>{}</b> &amp; {}")
    write_table(["other"] * 3, "test.csv")
    prepare(TABLE + "--test=test.csv --min-df=1")
    assert "the test file is the training file" not in prepare.said
    assert "have no label" not in prepare.said
    for part in (
        "5 of 8 texts contain HTML",
        "2 labels differ only in case or a final full stop, such as 'Sea' and 'sea.': "
        "they are different labels; label_map merges them",
        "3 of 3 labels of test instances occur in no training instance (1 different",
        "3 of 3 test instances have only labels that no training instance has",
        "text and labels may be swapped, or labels_column or label_separator wrong",
    ):
        assert part in prepare.said
    Path("test.csv").write_bytes(Path("a.csv").read_bytes())
    prepare(TABLE + "--test=test.csv --min-df=1")
    assert "the test file is the training file" in prepare.said
