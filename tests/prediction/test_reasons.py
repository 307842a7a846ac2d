"""Evidence of the second stage in words, against scikit-learn's neighbours and counts of the table."""

import csv
import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.neighbors import NearestNeighbors
from synthetic import write_weights

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.reasons import _name_in_text
from ovaflow.reranking.boosted_trees import BoostedTrees
from ovaflow.reranking.evidence import COLUMNS, Evidence
from ovaflow.reranking.reranker_file import Reranker, write_reranker

TEXT = "green tea and the harbour of the old town"
TOPICS = {"Tea": "leaf green cup", "Harbour towns": "ship pier salt", "Bees": "wing honey hive", "Rails": "rail signal"}


def write_records(path):
    """Tea and bees go together; of the other labels, only two records are about rails."""
    rng = np.random.default_rng(4)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "labels"])
        for i in range(60):
            labels = ["Rails"] if i % 30 == 0 else (["Tea", "Bees"] if i % 2 else ["Harbour towns"])
            words = " ".join(TOPICS[label] for label in labels).split()
            chosen = [*rng.choice(words, 3), *rng.choice(["old", "town", "tea", "and", "the"], 2)]
            table.writerow([" ".join(chosen), "|".join(labels)])


def fewer_known_first():
    """Trees of one split: labels of fewer than 15 records, log-odds 1, come before all others, log-odds -2."""
    return BoostedTrees(
        roots=np.array([0]),
        depths=np.array([1]),
        columns=np.array([COLUMNS.index("frequency"), 0, 0], np.int32),
        thresholds=np.array([np.log(15), np.inf, np.inf]),
        children=np.array([[1, 2], [1, 1], [2, 2]], np.int32),
        values=np.array([0, 1.5, -1.5]),
        baseline=-0.5,
    )


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A dataset, and a model of random weights with its second stage."""
    folder = tmp_path_factory.mktemp("second")
    write_records(folder / "records.csv")
    files = f"--train={folder}/records.csv", f"--test={folder}/records.csv", f"--output={folder}/dataset.h5"
    assert main(["prepare", "--format=csv", "--label-separator=|", "--features=words", "--max-df=1.0", *files]) == 0
    dataset = open_dataset(folder / "dataset.h5")
    weights = np.random.default_rng(1).normal(size=(dataset.n_labels, dataset.n_features))
    model = write_weights(folder / "model.h5", dataset, weights)
    evidence = Evidence.of(dataset, [0.7, -0.1])
    write_reranker(
        folder / "reranker.h5",
        Reranker({"columns": COLUMNS}, {"model": model.checksum}, fewer_known_first(), evidence),
    )
    return SimpleNamespace(path=folder / "model.h5", dataset=dataset)


def explained(case, capsys, *options):
    assert main(["explain", str(case.path), "--text", TEXT, *options, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    return {label["name"]: label for label in answer["labels"]}


def evidence_of(label):
    return {each["kind"]: each for each in label["evidence"]}


def test_labels_are_those_of_the_final_order_with_their_probabilities(case, capsys):
    labels = explained(case, capsys, "--labels=4")
    assert next(iter(labels)) == "Rails"
    assert labels["Rails"]["probability"] == pytest.approx(expit(1), abs=1e-6)
    assert labels["Tea"]["probability"] == pytest.approx(expit(-2), abs=1e-6)
    assert main(["predict", str(case.path), "--text", TEXT, "--top-k=4", "--output-format=jsonl"]) == 0
    theirs = json.loads(capsys.readouterr().out)["labels"]
    assert [(label["name"], label["probability"]) for label in labels.values()] == [
        (label["name"], label["score"]) for label in theirs
    ]


def test_records_that_have_a_label_are_the_nearest_of_scikit_learn(case, capsys):
    labels = explained(case, capsys, "--labels=4")
    train, predictor = case.dataset.documents.train, Predictor.open(case.path)
    nearest = NearestNeighbors(n_neighbors=30, metric="cosine").fit(train.X.to_scipy()[:, :-1])
    distances, rows = nearest.kneighbors(predictor.from_texts([TEXT]).to_scipy()[:, :-1])
    similar = rows[0][distances[0] < 1 - 1e-6]
    counts = train.Y.to_scipy()[similar].sum(axis=0)
    for label in labels.values():
        ours = evidence_of(label).get("similar texts", {"count": 0})
        assert ours["count"] == counts[label["id"]]
        if ours["count"]:
            has = "has" if ours["count"] == 1 else "have"
            assert ours["text"] == f"{ours['count']} of the {len(similar)} most similar records {has} it"


def test_names_in_the_text(case, capsys):
    labels = explained(case, capsys, "--labels=4")
    ours = {"kind": "name in the text", "text": "all words of its name appear in the text", "share": 1}
    assert evidence_of(labels["Tea"])["name in the text"] == ours
    assert "name in the text" not in evidence_of(labels["Bees"])


@pytest.mark.parametrize(
    ("words", "share", "said"),
    [
        ({"harbour", "town"}, 1 - 1e-7, "all words of its name appear in the text"),
        ({"harbours", "town"}, 1 - 1e-7, "words like its name appear in the text"),
        ({"harbours"}, 0.6, "words like most of its name appear in the text"),
        (set(), 0.4, None),
    ],
)
def test_what_is_said_of_a_name(words, share, said):
    ours = _name_in_text({"harbour", "town"}, words, share)
    assert (ours and ours["text"]) == said


def test_labels_that_go_together_as_the_table_has_them(case, capsys):
    labels, predictor = explained(case, capsys, "--labels=4"), Predictor.open(case.path)
    Y = case.dataset.documents.train.Y.to_scipy().toarray()
    scores = predictor.scores(predictor.from_texts([TEXT]), range(4))[0]
    for label in labels.values():
        support = {}
        for other in set(range(4)) - {label["id"]}:
            together = np.sum(Y[:, other] * Y[:, label["id"]]) / (Y[:, other].sum() + 1)
            support[other] = expit(0.7 * scores[other] - 0.1) * together
        theirs = sorted((other for other in support if support[other] >= 0.1), key=lambda j: -support[j])
        assert evidence_of(label).get("other candidates", {"labels": []})["labels"] == theirs
    assert evidence_of(labels["Tea"])["other candidates"]["text"] == "goes with the other suggestion Bees"


def test_rare_labels_say_so(case, capsys):
    labels = explained(case, capsys, "--labels=4")
    ours = {"kind": "frequency", "text": "rare: 2 training records", "count": 2}
    assert evidence_of(labels["Rails"])["frequency"] == ours
    assert "frequency" not in evidence_of(labels["Tea"])


def test_without_the_second_stage_nothing_is_added(case, capsys):
    (label,) = explained(case, capsys, "--label=Tea", "--no-rerank").values()
    theirs = explained(case, capsys, "--label=Tea")["Tea"]
    added = {"probability": theirs["probability"], "evidence": theirs["evidence"]}
    assert theirs == label | added
    assert not label.keys() & added.keys()


@pytest.fixture
def one_candidate(monkeypatch):
    for module in ("prediction.reasons", "reranking.reranked"):
        monkeypatch.setattr(f"ovaflow.{module}.CANDIDATES", 1)


def test_a_label_that_is_no_candidate_says_so(case, capsys, one_candidate):
    (name,) = explained(case, capsys, "--labels=1")
    other = "Bees" if name == "Tea" else "Tea"
    (label,) = explained(case, capsys, f"--label={other}").values()
    assert (label["probability"], label["evidence"]) == (None, [])
    assert main(["explain", str(case.path), "--text", TEXT, f"--label={other}"]) == 0
    assert "no candidate: not among the " in capsys.readouterr().out


def test_on_a_terminal(case, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["explain", str(case.path), "--text", TEXT, "--label=Rails"]) == 0
    written = capsys.readouterr().out
    assert "probability 73 %" in written
    assert "\n• rare: 2 training records\n" in written


def test_a_second_stage_of_another_model_is_refused(case, tmp_path, capsys):
    model = write_weights(tmp_path / "model.h5", case.dataset, np.ones((4, case.dataset.n_features)))
    beside = f"--reranker={case.path.with_name('reranker.h5')}"
    assert main(["explain", str(model.path), "--text", TEXT, beside]) == 2
    assert "does not belong to" in capsys.readouterr().err
