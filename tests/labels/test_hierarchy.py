"""Trees of labels, by names and by a vocabulary: training, answers and accuracy by level."""

import json
from pathlib import Path
from types import SimpleNamespace

import commands
import numpy as np
import pytest
from commands import ovaflow
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path
from synthetic import train_model_file

from ovaflow import OneVsAllClassifier
from ovaflow.labels.hierarchy import (
    build_ancestor_matrix,
    compute_levels,
    find_ancestors_by_relation,
    select_most_specific,
)
from ovaflow.serving.schemas import make_request_models
from ovaflow.serving.served_model import open_served_model

PredictRequest, _ = make_request_models(SimpleNamespace(max_text=99, max_top_k=9, max_batch=1))
EDGES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] > pair[1]),
    max_size=20,
)
TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:animals a skos:Concept ; skos:prefLabel "animals"@en ; skos:narrower :cats .
:cats a skos:Concept ; skos:prefLabel "cats"@en .
:kittens a skos:Concept ; skos:prefLabel "kittens"@en ; skos:broader :cats .
:plants a skos:Concept ; skos:prefLabel "plants"@en .
"""


def make_matrix(edges):
    broader = {}
    for child, parent in edges:
        broader.setdefault(child, []).append(parent)
    return build_ancestor_matrix(range(10), find_ancestors_by_relation(broader))


@given(EDGES)
def test_labels_above_are_those_that_a_path_leads_to(edges) -> None:
    graph = np.zeros((10, 10))
    graph[tuple(np.array(edges, int).reshape(-1, 2).T)] = 1
    ours = make_matrix(edges)
    theirs = np.isfinite(shortest_path(graph, unweighted=True)) & ~np.eye(10, dtype=bool)
    assert (ours.to_scipy().toarray() > 0).tolist() == theirs.tolist()
    longest = -shortest_path(-graph, method="BF") if len(edges) else graph
    assert compute_levels(ours).tolist() == (1 + np.where(theirs, longest, 0).max(axis=1)).tolist()


@given(EDGES, st.permutations(range(10)), st.integers(1, 10))
def test_the_most_specific_labels_have_none_of_the_others_below(edges, labels, most) -> None:
    matrix = make_matrix(edges)
    theirs = []
    above = matrix.to_scipy().toarray() > 0
    for count in range(1, 11):
        deepest = [label for label in labels[:count] if not above[labels[:count], label].any()]
        if len(deepest) > most:
            break
        theirs = deepest
    assert sorted(select_most_specific(labels, matrix, most)) == sorted(theirs)


def test_a_circle_of_labels_ends() -> None:
    matrix = build_ancestor_matrix(
        "abc", find_ancestors_by_relation({"a": ["b"], "b": ["a"], "c": ["a"]})
    )
    assert matrix.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 0], [1, 1, 0]]


FILES = "--format=text-tsv --train=train.tsv --test=train.tsv --min-df=1 --max-df=1.0 "


@pytest.fixture
def vocabulary() -> None:
    Path("subjects.ttl").write_text(TURTLE)
    lines = []
    for i in range(40):
        subject = ("kittens", "plants")[i % 2]
        lines.append(f"http://example.org/{subject}\tword{i % 2} word{i}\n")
    Path("train.tsv").write_text("".join(lines))


def test_records_have_the_broader_subjects_of_theirs(prepare, vocabulary) -> None:
    dataset = prepare(FILES + "--vocabulary=subjects.ttl --hierarchy=broader")
    labels = [dataset.label_names[label] for label in dataset.test.Y.part(0, 1).indices]
    assert sorted(labels) == ["animals", "cats", "kittens"]
    assert (
        dict(zip(dataset.label_names, compute_levels(dataset.above), strict=True))["kittens"] == 3
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            "--hierarchy=broader",
            "hierarchy: broader goes with a vocabulary, a separator with names of labels",
        ),
        (
            "--labels=labels.txt --hierarchy=/",
            "hierarchy is for names of labels, not for ids; leave it out",
        ),
    ],
)
def test_a_hierarchy_needs_names(prepare, options, said) -> None:
    Path("labels.txt").write_text("a\nb\n")
    Path("train.tsv").write_text("0\tbees\n1\twax\n" * 9)
    assert said in prepare(FILES + options, status=2)


@pytest.fixture
def answers(prepare):
    """A function that asks a model of shops' categories, trained on records with the deepest ones,
    for the names and scores of each text.
    """
    leaves = ["home > kitchen > knives", "home > kitchen > pots", "home > garden", "books"] * 20
    lines = [
        f"{leaf}\t{leaf.replace('>', '')} thing{i % 3} word{i}\n" for i, leaf in enumerate(leaves)
    ]
    Path("train.tsv").write_text("".join(lines))
    train_model_file("model.h5", prepare(FILES, "--hierarchy= > "))

    def ask(*options) -> list[dict[str, float]]:
        scores = []
        for answer in commands.predict_answers("model.h5", options):
            scores.append({label["name"]: label["score"] for label in answer["labels"]})
        return scores

    return ask


def test_answers_keep_the_most_specific(answers) -> None:
    texts = "--text=kitchen knives", "--text=garden"
    of_kitchen, of_garden = answers(*texts, "--top-k=2")
    assert "home > kitchen" in of_kitchen
    assert "home > garden" in of_garden
    of_kitchen, of_garden = answers(*texts, "--top-k=1", "--most-specific")
    assert list(of_kitchen) == ["home > kitchen > knives"]
    assert list(of_garden) == ["home > garden"]
    request = PredictRequest(text="kitchen knives", top_k=1, most_specific=True)
    [prediction] = open_served_model("model.h5").predict(request)["predictions"]
    assert [label["name"] for label in prediction["labels"]] == ["home > kitchen > knives"]


def test_the_parent_answers_where_no_child_is_sure(answers) -> None:
    [scores] = answers("--text=home", "--top-k=2")
    parent, child = scores
    assert child.startswith(f"{parent} > ")
    for least, name in (sum(scores.values()) / 2, parent), (scores[child] - 1e-4, child):
        assert [*answers("--text=home", "--most-specific", f"--min-score={least}")[0]] == [name]


def test_a_model_without_a_hierarchy_refuses(tmp_path) -> None:
    plain = tmp_path / "model.h5"
    features = tmp_path / "new.svm"
    OneVsAllClassifier().fit(np.eye(4), ["a", "b", "a", "b"]).save(plain)
    features.write_text("0 0:1\n")
    assert "its labels are no hierarchy" in ovaflow(
        "predict", plain, features, "--most-specific", status=2
    )
    with pytest.raises(HTTPException, match="409"):
        open_served_model(plain).predict(PredictRequest(features=[{"1": 1}], most_specific=True))


def test_accuracy_by_level(answers) -> None:
    said = ovaflow("evaluate", "--model=model.h5", "train.tsv", "--output=evaluation.json")
    [entry] = json.loads(Path("evaluation.json").read_text())["models"]
    levels = [
        (row["level"], row["labels"], row["records"], row["right"]) for row in entry["by_level"]
    ]
    assert levels == [(1, 2, 80, 1.0), (2, 2, 60, 1.0), (3, 2, 40, 1.0)]
    assert "first label of each level" in said
