"""Trees of labels, by names and by a vocabulary: training, answers and accuracy by level."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from ovaflow import OneVsAllClassifier
from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.data.hierarchy import above_by_relation, levels_of, matrix_above, most_specific
from ovaflow.serving.schemas import requests_within
from ovaflow.serving.served_model import open_served_model

PredictRequest, _ = requests_within(SimpleNamespace(max_text=99, max_top_k=9, max_batch=1))
EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] > pair[1]), max_size=20)
TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:animals a skos:Concept ; skos:prefLabel "animals"@en ; skos:narrower :cats .
:cats a skos:Concept ; skos:prefLabel "cats"@en .
:kittens a skos:Concept ; skos:prefLabel "kittens"@en ; skos:broader :cats .
:plants a skos:Concept ; skos:prefLabel "plants"@en .
"""


def matrix_of(edges):
    broader = {}
    for child, parent in edges:
        broader.setdefault(child, []).append(parent)
    return matrix_above(range(10), above_by_relation(broader))


@given(EDGES)
def test_labels_above_are_those_that_a_path_leads_to(edges):
    graph = np.zeros((10, 10))
    for child, parent in edges:
        graph[child, parent] = 1
    ours = matrix_of(edges)
    theirs = np.isfinite(shortest_path(graph, unweighted=True)) & ~np.eye(10, dtype=bool)
    assert (ours.to_scipy().toarray() > 0).tolist() == theirs.tolist()
    longest = -shortest_path(-graph, method="BF") if len(edges) else graph
    assert levels_of(ours).tolist() == (1 + np.where(theirs, longest, 0).max(axis=1)).tolist()


@given(EDGES, st.permutations(range(10)), st.integers(1, 10))
def test_the_most_specific_labels_have_none_of_the_others_below(edges, labels, most):
    above = matrix_of(edges).to_scipy().toarray() > 0
    theirs = []
    for count in range(1, 11):
        first = labels[:count]
        deepest = [label for label in first if not above[first, label].any()]
        if len(deepest) > most:
            break
        theirs = deepest
    assert sorted(most_specific(labels, matrix_of(edges), most)) == sorted(theirs)


def test_circles_end():
    matrix = matrix_above("abc", above_by_relation({"a": ["b"], "b": ["a"], "c": ["a"]}))
    assert matrix.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 0], [1, 1, 0]]


@pytest.fixture
def vocabulary(tmp_path):
    (tmp_path / "subjects.ttl").write_text(TURTLE)
    lines = [f"http://example.org/{('kittens', 'plants')[i % 2]}\tword{i % 2} word{i}\n" for i in range(40)]
    (tmp_path / "train.tsv").write_text("".join(lines))
    return tmp_path


def prepared(folder, *options):
    output = folder / "dataset.h5"
    files = ["--format=text-tsv", f"--train={folder / 'train.tsv'}", f"--test={folder / 'train.tsv'}"]
    assert main(["prepare", *files, "--min-df=1", *options, f"--output={output}"]) == 0
    return open_dataset(output)


def test_records_have_the_broader_subjects_of_theirs(vocabulary):
    dataset = prepared(vocabulary, f"--vocabulary={vocabulary / 'subjects.ttl'}", "--hierarchy=broader")
    labels = [dataset.label_names[label] for label in dataset.test.Y.part(0, 1).indices]
    assert sorted(labels) == ["animals", "cats", "kittens"]
    assert dict(zip(dataset.label_names, levels_of(dataset.above), strict=True))["kittens"] == 3


@pytest.mark.parametrize("options", [("--hierarchy=broader",), ("--labels={}", "--hierarchy=/")])
def test_a_hierarchy_needs_names(vocabulary, options, capfd):
    (vocabulary / "labels.txt").write_text("a\nb\n")
    options = [option.format(vocabulary / "labels.txt") for option in options]
    command = ["prepare", "--format=text-tsv", f"--train={vocabulary / 'train.tsv'}", *options]
    assert main([*command, f"--output={vocabulary / 'dataset.h5'}"]) == 2
    assert "hierarchy" in capfd.readouterr().err


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A model of shops' categories, and records with the deepest ones."""
    folder = tmp_path_factory.mktemp("tree")
    leaves = ["home > kitchen > knives", "home > kitchen > pots", "home > garden", "books"]
    lines = [f"{leaves[i % 4]}\t{leaves[i % 4].replace('>', '')} thing{i % 3} word{i}\n" for i in range(80)]
    (folder / "train.tsv").write_text("".join(lines))
    output = folder / "dataset.h5"
    files = ["--format=text-tsv", f"--train={folder / 'train.tsv'}", f"--test={folder / 'train.tsv'}"]
    dataset = [*files, "--hierarchy= > ", "--min-df=1", "--max-df=1.0", f"--output={output}"]
    outputs = [f"--output={folder / 'model.h5'}", f"--statistics={folder / 'training.h5'}"]
    steps = (
        ["prepare", *dataset],
        ["means", str(output), f"--output={folder / 'means.h5'}"],
        ["plan", str(output), "--shards=1", f"--output={folder / 'plan.tsv'}"],
        ["train-shard", str(output), f"--means={folder / 'means.h5'}", f"--plan={folder / 'plan.tsv'}"],
        ["merge", str(folder / "shard.h5"), f"--dataset={output}", *outputs],
    )
    for step in steps:
        more = ["--shard=0", f"--output={folder / 'shard.h5'}"] if step[0] == "train-shard" else []
        assert main([*step, *more]) == 0
    return folder


def names_of(capfd):
    return [[label["name"] for label in json.loads(line)["labels"]] for line in capfd.readouterr().out.splitlines()]


def test_answers_keep_the_most_specific(tree, capfd):
    texts = ["--text=kitchen knives", "--text=garden", "--output-format=jsonl"]
    assert main(["predict", str(tree / "model.h5"), *texts, "--top-k=2"]) == 0
    assert all("home > kitchen" in names or "home > garden" in names for names in names_of(capfd))
    assert main(["predict", str(tree / "model.h5"), *texts, "--top-k=1", "--most-specific"]) == 0
    assert names_of(capfd) == [["home > kitchen > knives"], ["home > garden"]]


def test_a_request_asks_for_the_most_specific(tree):
    request = PredictRequest(text="kitchen knives", top_k=1, most_specific=True)
    [prediction] = open_served_model(tree / "model.h5").predict(request)["predictions"]
    assert [label["name"] for label in prediction["labels"]] == ["home > kitchen > knives"]


def test_where_no_child_is_sure_the_parent_answers(tree, capfd):
    asked = ["predict", str(tree / "model.h5"), "--text=home", "--output-format=jsonl"]
    assert main([*asked, "--top-k=2"]) == 0
    [labels] = [json.loads(line)["labels"] for line in capfd.readouterr().out.splitlines()]
    parent, child = (label["name"] for label in labels)
    assert child.startswith(f"{parent} > ")
    between = sum(label["score"] for label in labels) / 2
    assert main([*asked, "--most-specific", f"--min-score={between}"]) == 0
    assert names_of(capfd) == [[parent]]
    assert main([*asked, "--most-specific", f"--min-score={labels[1]['score'] - 1e-4}"]) == 0
    assert names_of(capfd) == [[child]]


def test_a_model_without_a_hierarchy_refuses(tmp_path, capfd):
    plain, features = tmp_path / "model.h5", tmp_path / "new.svm"
    OneVsAllClassifier().fit(np.eye(4), ["a", "b", "a", "b"]).save(plain)
    features.write_text("0 0:1\n")
    assert main(["predict", str(plain), str(features), "--most-specific"]) == 2
    assert "its labels are no hierarchy" in capfd.readouterr().err
    with pytest.raises(HTTPException, match="409"):
        open_served_model(plain).predict(PredictRequest(features=[{"1": 1}], most_specific=True))


def test_accuracy_by_level(tree, capfd):
    out = tree / "evaluation.json"
    assert main(["evaluate", f"--model={tree / 'model.h5'}", str(tree / "train.tsv"), f"--output={out}"]) == 0
    [entry] = json.loads(out.read_text())["models"]
    levels = [(row["level"], row["labels"], row["records"], row["right"]) for row in entry["by_level"]]
    assert levels == [(1, 2, 80, 1.0), (2, 2, 60, 1.0), (3, 2, 40, 1.0)]
    assert "first label of each level" in capfd.readouterr().out
