"""The second stage as a file, in predictions and metrics, and where it is refused or not used."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, f1_score, log_loss

from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.metrics import ranking_metrics
from ovaflow.evaluation.ranking import find_hits
from ovaflow.evaluation.reliability import LEVELS, SURE, measure_reliability
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.prediction.predictions import Predictions
from ovaflow.prediction.predictor import Predictor, remark_on_memory
from ovaflow.reranking import fitting
from ovaflow.reranking.answer_length import labels_that_fit
from ovaflow.reranking.evidence import GROUPS
from ovaflow.reranking.fitting import fit_reranker
from ovaflow.reranking.macro_f1 import labels_for_macro_f1
from ovaflow.reranking.reranked_model import RerankedModel
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.settings.predict import CANDIDATES
from ovaflow.sparse.csr import rows_of


def run(command, folder, status=0, **files):
    """A command of the second stage, some files replaced."""
    names = {"dataset": "dataset.h5", "model": "dataset/model.h5", "held": "held.h5"}
    names |= {"predictions": "held/predictions.h5", "reranker": "dataset/reranker.h5"}
    paths = {name: files.get(name, folder / path) for name, path in names.items()}
    commands = {
        "rerank": "{model} --dataset={dataset} --held-out={held} --predictions={predictions}",
        "predict": "{model} --dataset={dataset} --reranker={reranker}",
        "reliability": "{predictions} --dataset={dataset} --reranker={reranker}",
    }
    words = [*commands[command].format(**paths).split(), f"--output={files['output']}"]
    assert main([command, *words, *files.get("options", [])]) == status


@pytest.fixture(scope="module")
def dataset(folder):
    return open_dataset(folder / "dataset.h5")


@pytest.fixture(scope="module")
def predicted(folder):
    return Predictions.open(folder / "dataset" / "predictions.h5")


@pytest.fixture(scope="module")
def model(folder):
    return OneVsAll.open(folder / "dataset" / "model.h5")


@pytest.fixture(scope="module")
def held_out(folder):
    """What was held out, and its predictions."""
    held = open_dataset(folder / "held.h5")
    predictions = Predictions.open(folder / "held" / "predictions.h5")
    return held, predictions


def test_the_file_gives_the_same_ranking_and_bytes(folder, dataset, model, held_out, tmp_path):
    reranker, path = fit_reranker(model, dataset, *held_out), folder / "dataset" / "reranker.h5"
    run("rerank", folder, output=tmp_path / "again.h5", options=["--threads=2"])
    assert (tmp_path / "again.h5").read_bytes() == path.read_bytes()
    opened = Predictor.open(model.path).model
    theirs = RerankedModel.of(model, reranker).ranking(dataset.test.X, 5)
    for ours in (opened.ranking(dataset.test.X, 5), opened.ranking(dataset.test.X, 5, threads=2)):
        for name, array in theirs._asdict().items():
            assert getattr(ours, name).tobytes() == array.tobytes(), name


def test_one_at_a_time_as_in_a_batch(folder, dataset, predicted):
    predictor = Predictor.open(folder / "dataset" / "model.h5")
    texts = dataset.test_texts()
    ids, scores = predictor.top_k(predictor.from_texts(texts), 5)
    assert np.array_equal(ids, predicted.ids)
    assert np.array_equal(scores, predicted.scores)
    for i in range(40):
        one = predictor.top_k(predictor.from_texts([texts[i]]), 5)
        assert np.array_equal([each[0] for each in one], [ids[i], scores[i]])
    assert "reranker.h5 take" in remark_on_memory(predictor, 0)
    alone = Predictor.open(folder / "dataset" / "model.h5", rerank=False).top_k(dataset.test.X, 50)
    assert np.array_equal(alone, [predicted.ranking.first_ids, predicted.ranking.scores])


def test_it_ranks_and_knows_how_sure_it_is(folder, dataset, held_out, predicted):
    reranker = Reranker.about(folder / "dataset" / "reranker.h5")
    check = reranker.parameters["check"]
    assert check["second_stage"] > check["first_stage"]
    assert set(check["lost"]) == set(GROUPS)
    held, predictions = held_out
    checked = np.arange(0, len(predictions.ids), 4)
    Y, equal = rows_of(held.test.Y, checked), np.ones(held.n_labels)
    metrics = ranking_metrics(predictions.ids[checked], Y, equal)
    assert check["first_stage"] == pytest.approx(metrics["nDCG@5"])
    measured = json.loads((folder / "dataset" / "reliability.json").read_text())
    assert measured["probabilities"]["ece"] < 0.03
    candidates = predicted.ranking.ids >= 0
    p = predicted.ranking.probabilities[candidates].astype(float)
    hits = find_hits(predicted.ranking.ids, dataset.test.Y)[candidates]
    assert measured["probabilities"]["log_loss"] == pytest.approx(log_loss(hits, p), rel=1e-5)
    assert measured["probabilities"]["brier"] == pytest.approx(brier_score_loss(hits, p))
    again = json.loads(json.dumps(measure_reliability(predicted, dataset, reranker)))
    assert measured == measured | again


def test_metrics_of_answers_that_fit_like_scikit_learn(folder, dataset, predicted):
    metrics = json.loads((folder / "dataset" / "metrics.json").read_text())
    truth, answers = dataset.test.Y.to_scipy().toarray(), []
    amounts = labels_that_fit(predicted.ranking.probabilities)
    for ids, m in zip(predicted.ranking.ids, amounts, strict=True):
        answers.append(np.isin(np.arange(dataset.n_labels), ids[:m]))
    f1 = f1_score(truth, np.array(answers), average="samples", zero_division=0)
    assert metrics["F1-fit"] == pytest.approx(f1)
    right = (truth * answers).sum(axis=1)
    assert metrics["P-fit"] == pytest.approx(np.mean(right / amounts))
    assert metrics["R-fit"] == pytest.approx(np.mean(right / np.maximum(truth.sum(axis=1), 1)))
    assert metrics["labels-fit"] == np.mean(amounts)
    inverse = dataset.inverse_propensity(metrics["propensity_a"], metrics["propensity_b"])
    by_score = predicted.ranking.first_ids[:, :5]
    assert metrics["first_stage"] == ranking_metrics(by_score, dataset.test.Y, inverse)


def test_labels_that_fit_or_are_probable(folder, dataset, predicted, tmp_path, capsys):
    probabilities, texts = predicted.ranking.probabilities, dataset.test_texts()
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in texts))
    for option, amounts in (
        ("--fit", labels_that_fit(probabilities)),
        ("--min-probability=0.3", (probabilities[:, :5] >= np.float32(0.3)).sum(axis=1)),
    ):
        command = "predict", str(folder / "dataset" / "model.h5"), str(tmp_path / "in.txt"), option
        assert main([*command, "--output-format=jsonl"]) == 0
        answers = [json.loads(line)["labels"] for line in capsys.readouterr().out.splitlines()]
        theirs = [ids[:m].tolist() for ids, m in zip(predicted.ranking.ids, amounts, strict=True)]
        assert [[label["id"] for label in labels] for labels in answers] == theirs
        assert np.float32(answers[0][0]["probability"]) == probabilities[0, 0]
        assert answers[0][0]["probability"] == answers[0][0]["score"]
    for columns in ("rank,id,label,score,probability", "labels,scores,probabilities"):
        joined = ["--joined= | "] if "labels" in columns else []
        assert main([*command, "--output-format=csv", *joined]) == 0
        head = f"instance,{columns},expected_precision,expected_recall\n"
        assert capsys.readouterr().out.startswith(head)
    assert main([*command, "--output-format=table"]) == 0
    name = dataset.label_names[predicted.ids[0, 0]]
    assert f"{100 * probabilities[0, 0]:.1f} %  {name}\n" in capsys.readouterr().out


def test_labels_for_macro_f1_of_a_file_and_of_the_test_set_are_the_same(folder, dataset, predicted, tmp_path, capsys):
    run("predict", folder, output=tmp_path / "predictions.h5", options=["--optimise=macro-F1", "--top-k=2"])
    ours = Predictions.open(tmp_path / "predictions.h5").ids
    candidates = predicted.ranking.ids[:, :CANDIDATES], predicted.ranking.probabilities[:, :CANDIDATES]
    theirs, _ = labels_for_macro_f1(*candidates, 2)
    assert ours.tolist() == theirs.tolist()
    assert ours.tolist() != predicted.ids[:, :2].tolist()
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in dataset.test_texts()))
    command = "predict", str(folder / "dataset" / "model.h5"), str(tmp_path / "in.txt"), "--optimise=macro-F1"
    capsys.readouterr()
    assert main([*command, "--top-k=2", "--output-format=jsonl"]) == 0
    answers = [json.loads(line)["labels"] for line in capsys.readouterr().out.splitlines()]
    assert [[label["id"] for label in labels] for labels in answers] == theirs.tolist()
    assert main([*command, "--fit"]) == main([*command, "--no-rerank"]) == 2


def test_evaluate_shows_labels_by_probability(folder, capsys):
    models = [f"--model={folder / name / 'model.h5'}" for name in ("dataset", "held")]
    table, file = str(folder / "records.csv"), f"--labels={folder}/labels.csv"
    assert main(["evaluate", *models, table]) == 0
    shown = capsys.readouterr().out
    assert shown.count("at least") == len(LEVELS) + len(SURE)
    assert shown.count("F1 of labels that fit") == 1
    assert main(["evaluate", models[0], table, file]) == 0
    assert "labels.csv: labels that fit each record count as predicted" in capsys.readouterr().out


REFUSED = {
    "a second stage of another model": ("predict", {"model": "held/model.h5"}, "made from another model than"),
    "other predictions": ("rerank", {"predictions": "dataset/predictions.h5"}, "made from another dataset than"),
    "other instances": ("rerank", {"held": "dataset.h5"}, "was not held out of"),
    "other probabilities": ("reliability", {"dataset": "held.h5"}, "were not made with it"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_belong_together_is_refused(folder, tmp_path, capsys, case):
    command, files, complaint = REFUSED[case]
    files = {name: folder / path for name, path in files.items()}
    run(command, folder, status=2, output=tmp_path / "out.h5", **files)
    assert complaint in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("texts", "true", "reason"),
    [
        (199, None, "199 instances were held out, it needs 200"),
        (510, False, "the candidates of held-out instances are all wrong, or all right"),
        (510, True, "the candidates of held-out instances are all wrong, or all right"),
    ],
)
def test_one_that_is_not_used_leaves_predictions_as_they_are(
    folder, dataset, model, held_out, tmp_path, capsys, monkeypatch, texts, true, reason
):
    held, predictions = held_out
    fewer = replace(predictions, ids=predictions.ids[:texts], scores=predictions.scores[:texts])
    if true is not None:
        monkeypatch.setattr(fitting, "hits_among", lambda ids, Y: np.full(ids.shape, true))
    reranker = fit_reranker(model, dataset, held, fewer)
    reranker.write(tmp_path / "none.h5")
    assert Reranker.open(tmp_path / "none.h5", model=model).unused == reason
    for name, options in (("with", []), ("without", ["--no-rerank"])):
        files = {"reranker": tmp_path / "none.h5", "output": tmp_path / f"{name}.h5"}
        run("predict", folder, **files, options=options)
    ours, theirs = (Predictions.open(tmp_path / f"{name}.h5") for name in ("with", "without"))
    assert np.array_equal([ours.ids, ours.scores], [theirs.ids, theirs.scores])
    assert ours.ranking is theirs.ranking is None
    files = {"reranker": tmp_path / "none.h5", "predictions": tmp_path / "with.h5"}
    run("reliability", folder, **files, output=tmp_path / "reliability.json")
    assert f"there is no second stage: {reason}" in capsys.readouterr().out
