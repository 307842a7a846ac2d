"""Evidence of the second stage in words, against neighbours of scikit-learn and counts."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from commands import ovaflow, predict_answers
from plain_evidence import PLAIN_COLUMNS, fit_plain_evidence
from records import write_records
from scipy.special import expit
from sklearn.neighbors import NearestNeighbors
from synthetic import write_weights

from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.explanation import get_display_name, make_label_entry
from ovaflow.prediction.predictor import Predictor
from ovaflow.reranking.boosted_trees import BoostedTrees
from ovaflow.reranking.evidence import name_in_text, other_candidates
from ovaflow.reranking.evidence.other_candidates import OtherCandidates, count_cooccurrence
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.sparse.csr import from_scipy

TEXT = "green tea and the harbour of the old town"
TOPICS = {
    "Tea": "leaf green cup",
    "Harbour towns": "ship pier salt",
    "Bees": "wing honey hive",
    "Rails": "rail signal",
    "Ferries": "ferry ship",
}
TOPICS_OF_SYMBOLS = ["C++ castles", "red dragons", "blue whales"]
ALL = f"--labels={len(TOPICS)}"


def make_records() -> list[dict[str, str]]:
    """Make records: tea and bees occur together, ferries and harbours sometimes, rails twice."""
    rng = np.random.default_rng(4)
    records = []
    for number in range(60):
        labels = ["Tea", "Bees"] if number % 2 else ["Harbour towns"]
        if number % 30 == 0:
            labels = ["Rails"]
        elif number % 8 == 0:
            labels.append("Ferries")
        words = " ".join(TOPICS[label] for label in labels).split()
        chosen = [*rng.choice(words, 3), *rng.choice(["old", "town", "tea", "and", "the"], 2)]
        records.append({"text": " ".join(chosen), "labels": "|".join(labels)})
    return records


def make_trees() -> BoostedTrees:
    """Make trees of one split: labels of fewer than 15 records have log-odds 1, all others -2."""
    return BoostedTrees(
        roots=np.array([0]),
        depths=np.array([1]),
        columns=np.array([PLAIN_COLUMNS.index("frequency"), 0, 0], np.int32),
        thresholds=np.array([np.log(15), np.inf, np.inf]),
        children=np.array([[1, 2], [1, 1], [2, 2]], np.int32),
        values=np.array([0, 1.5, -1.5]),
        baseline=-0.5,
    )


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> SimpleNamespace:
    return make_case(tmp_path_factory.mktemp("second"), make_records())


def make_case(folder: Path, records: list[dict[str, str]], *options: str) -> SimpleNamespace:
    """Make a dataset, and a model of random weights with its second stage."""
    write_records(f"{folder}/records.csv", records)
    files = (
        f"--train={folder}/records.csv",
        f"--test={folder}/records.csv",
        f"--output={folder}/dataset.h5",
    )
    ovaflow(
        "prepare",
        "--format=csv",
        "--label-separator=|",
        "--features=words",
        "--max-df=1.0",
        files,
        options,
    )
    dataset = open_dataset(folder / "dataset.h5")
    weights = np.random.default_rng(3).normal(size=(dataset.n_labels, dataset.n_features))
    model = write_weights(folder / "model.h5", dataset, weights)
    evidence = fit_plain_evidence(dataset, (0.7, -0.1))
    parameters = {"columns": PLAIN_COLUMNS, "check": {"missed": 0.0}}
    reranker = Reranker(make_trees(), evidence=evidence, parameters=parameters)
    reranker.write(folder / "reranker.h5", model=model)
    return SimpleNamespace(path=folder / "model.h5", dataset=dataset)


def explain(case: SimpleNamespace, *options: str) -> dict[str, dict[str, Any]]:
    """Return the explanations of labels by name."""
    answer = json.loads(ovaflow("explain", case.path, "--text", TEXT, options, "--json"))
    return {label["name"]: label for label in answer["labels"]}


def list_evidence(label: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the evidence of an explanation by kind."""
    return {evidence["kind"]: evidence for evidence in label["evidence"]}


def test_labels_are_those_of_the_final_order_with_their_probabilities(case) -> None:
    labels = explain(case, ALL)
    assert set(list(labels)[:2]) == {"Rails", "Ferries"}
    assert labels["Rails"]["probability"] == pytest.approx(expit(1), abs=1e-6)
    assert labels["Tea"]["probability"] == pytest.approx(expit(-2), abs=1e-6)
    [theirs] = predict_answers(case.path, "--text", TEXT, "--top-k=5")
    ours = [(name, label["probability"]) for name, label in labels.items()]
    assert ours == [(label["name"], label["probability"]) for label in theirs["labels"]]


def test_records_that_have_a_label_are_the_nearest_of_scikit_learn(case) -> None:
    labels = explain(case, ALL)
    train = case.dataset.documents.train
    predictor = Predictor.open(case.path)
    nearest = NearestNeighbors(n_neighbors=30, metric="cosine").fit(train.X.to_scipy()[:, :-1])
    distances, rows = nearest.kneighbors(predictor.from_texts([TEXT]).to_scipy()[:, :-1])
    similar = rows[0][distances[0] < 1 - 1e-6]
    counts = train.Y.to_scipy()[similar].sum(axis=0)
    n_similar = len(similar)
    for label in labels.values():
        count = int(counts[label["id"]])
        ours = list_evidence(label).get("similar texts")
        if not count:
            assert ours is None
            continue
        verb = "has" if count == 1 else "have"
        text = f"{count} of the {n_similar} most similar records {verb} it"
        assert ours == {"kind": "similar texts", "text": text, "count": count, "of": n_similar}


def test_names_in_the_text(case) -> None:
    labels = explain(case, ALL)
    ours = {
        "kind": "name in the text",
        "text": "all words of its name appear in the text",
        "share": 1,
    }
    assert list_evidence(labels["Tea"])["name in the text"] == ours
    assert "name in the text" not in list_evidence(labels["Bees"])


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("plain", "all words of its name appear in the text"),
        ("symbols", "words like most of its name appear in the text"),
    ],
)
def test_names_of_symbols_are_compared_as_the_model_reads_words(tmp_path, kind, said) -> None:
    records = []
    for number in range(60):
        name = TOPICS_OF_SYMBOLS[number % 3]
        often = "c++" if number % 2 else "such"
        records.append({"text": f"{name} and {often}", "labels": name})
    case = make_case(tmp_path, records, f"--words={kind}")
    answer = json.loads(ovaflow("explain", case.path, "--text=red castles", "--labels=3", "--json"))
    labels = {label["name"]: label for label in answer["labels"]}
    assert list_evidence(labels["C++ castles"])["name in the text"]["text"] == said


@pytest.mark.parametrize(
    ("words", "several", "share", "said"),
    [
        ({"harbour", "town"}, False, 1 - 1e-7, "all words of its name appear in the text"),
        ({"harbours", "town"}, False, 1 - 1e-7, "words like its name appear in the text"),
        ({"port", "city"}, True, 1 - 1e-7, "words like one of its names appear in the text"),
        ({"harbours"}, False, 0.6, "words like most of its name appear in the text"),
        (set(), False, 0.4, None),
    ],
)
def test_what_is_said_of_a_name(words, several, share, said) -> None:
    ours = name_in_text._explain(
        share, is_one_of_several=several, has_all_words={"harbour", "town"} <= words
    )
    assert (ours and ours["text"]) == said


@pytest.mark.parametrize("others", [10, 2])
def test_labels_that_go_together_as_the_table_has_them(case, monkeypatch, others) -> None:
    monkeypatch.setattr("ovaflow.reranking.evidence.other_candidates.N_SUPPORTING", others)
    labels = explain(case, ALL)
    predictor = Predictor.open(case.path)
    Y = case.dataset.documents.train.Y.to_scipy().toarray()
    scores = predictor.scores(predictor.from_texts([TEXT]), range(len(TOPICS)))[0]
    support = (expit(0.7 * scores - 0.1) / (Y.sum(axis=0) + 1))[:, None] * (Y.T @ Y)
    np.fill_diagonal(support, 0)
    support[np.argsort(-scores)[others:]] = 0
    for label in labels.values():
        label_support = support[:, label["id"]]
        theirs = [other for other in np.argsort(-label_support) if label_support[other] >= 0.1]
        assert list_evidence(label).get("other candidates", {"labels": []})["labels"] == theirs


def test_supports_of_other_candidates_add_up() -> None:
    rng = np.random.default_rng(2)
    labels = from_scipy(scipy.sparse.csr_array(rng.random((200, 30)) < 0.2))
    company = OtherCandidates(count_cooccurrence(labels), np.array([1.0, 0.0]))
    candidates = rng.permutation(30).astype(np.int32)
    likelihoods = rng.random(30).astype(np.float32)
    theirs = company.compute_support(candidates[None], likelihoods[None])[0]
    np.testing.assert_allclose(
        company.compute_summands(candidates, likelihoods).sum(axis=0), theirs, rtol=1e-5
    )


def test_other_suggestions_are_named() -> None:
    predictor = SimpleNamespace(
        label_names=["A", "B", ""], label_uris=[], model=SimpleNamespace(label_notations=[])
    )
    names = [get_display_name(make_label_entry(predictor, label)) for label in range(3)]
    for labels, theirs in (
        ([1], "goes with the other suggestion B"),
        ([1, 0], "goes with the other suggestions B and A"),
        ([0, 2, 1], "goes with the other suggestions A, label 2 and B"),
    ):
        chosen = [names[label] for label in labels]
        assert other_candidates._explain(labels, chosen)["text"] == theirs


def test_rare_labels_say_so(case) -> None:
    labels = explain(case, ALL)
    for name, count in (("Rails", 2), ("Ferries", 7)):
        ours = {"kind": "frequency", "text": f"rare: {count} training records", "count": count}
        assert list_evidence(labels[name])["frequency"] == ours
    assert "frequency" not in list_evidence(labels["Tea"])


def test_without_the_second_stage_nothing_is_added(case) -> None:
    (label,) = explain(case, "--label=Tea", "--no-rerank").values()
    theirs = explain(case, "--label=Tea")["Tea"]
    added = {"probability": theirs["probability"], "evidence": theirs["evidence"]}
    assert theirs == label | added
    assert not label.keys() & added.keys()


def test_a_label_that_is_no_candidate_says_so(case, monkeypatch) -> None:
    monkeypatch.setattr("ovaflow.reranking.reranked_model.N_CANDIDATES", 1)
    monkeypatch.setattr("ovaflow.reranking.evidence.similar_texts.MAX_FURTHER_CANDIDATES", 1)
    others = []
    for name in TOPICS:
        (label,) = explain(case, f"--label={name}").values()
        if label["probability"] is None:
            assert label["evidence"] == []
            others.append(name)
    assert len(others) in (3, 4)
    said = ovaflow("explain", case.path, "--text", TEXT, f"--label={others[0]}")
    sentence = "not a candidate: neither among the 50 highest scores nor a label of similar texts"
    assert sentence in " ".join(said.split())


def test_on_a_terminal(case, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    written = ovaflow("explain", case.path, "--text", TEXT, "--label=Rails")
    assert "probability 73 %" in written
    assert "\n• rare: 2 training records\n" in written
