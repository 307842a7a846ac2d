"""The second stage in predictions and metrics, and where it is not used."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from commands import list_label_values, ovaflow, predict_answers
from sklearn.metrics import f1_score, log_loss, precision_score, recall_score

from ovaflow.evaluation.metrics import compute_ranking_metrics
from ovaflow.evaluation.reliability import PRECISION_LEVELS, PROBABILITY_LEVELS
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.ranked_labels import find_hits
from ovaflow.prediction import promotion
from ovaflow.prediction.predictor import Predictor, remark_on_memory
from ovaflow.reranking import held_out_texts
from ovaflow.reranking.answer_length import count_fitting_labels
from ovaflow.reranking.cross_fitting import CrossFit
from ovaflow.reranking.evidence.kinds import KINDS, select_kinds
from ovaflow.reranking.evidence.similar_texts import SimilarTexts
from ovaflow.reranking.fitting import fit_reranker
from ovaflow.reranking.macro_f1 import choose_labels_for_macro_f1
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.settings.predict import N_CANDIDATES


@pytest.fixture(scope="module")
def texts(dataset, tmp_path_factory) -> str:
    """The test texts, one a line."""
    path = tmp_path_factory.mktemp("texts") / "in.txt"
    path.write_text("".join(f"{text}\n" for text in dataset.test_texts()))
    return str(path)


def test_several_threads_give_the_same_file_and_predictions(
    model, fitted_to, predict, predicted, tmp_path
) -> None:
    ovaflow("rerank", model, fitted_to, "--threads=2", f"--output={tmp_path}/again.h5")
    assert (tmp_path / "again.h5").read_bytes() == model.with_name("reranker.h5").read_bytes()
    ranking = predict("--threads=2").ranking
    for ours, theirs in zip(ranking, predicted.ranking, strict=True):
        assert np.array_equal(ours, theirs)


def test_a_predictor_knows_what_its_second_stage_takes_and_does_without(
    model, dataset, predicted
) -> None:
    assert "reranker.h5 take" in remark_on_memory(Predictor.open(model), 0)
    alone = Predictor.open(model, rerank=False).top_k(dataset.test.X, 50)
    assert np.array_equal(alone, [predicted.ranking.first_ids, predicted.ranking.scores])


def test_it_ranks_and_knows_how_sure_it_is(
    folder, dataset, held, held_predictions, check, predicted
) -> None:
    optional = Reranker.open_header(folder / "dataset" / "reranker.h5").optional_kinds
    assert check["second_stage"] > check["first_stage"] + check["error"]
    assert set(check["lost"]) == {kind.name for kind in select_kinds(KINDS, optional)}
    assert check["texts"] == len(held_predictions.ids)
    metrics = compute_ranking_metrics(held_predictions.ids, held.test.Y, np.ones(held.n_labels))
    assert check["first_stage"] == pytest.approx(metrics["nDCG@5"])
    measured = json.loads((folder / "dataset" / "reliability.json").read_text())["probabilities"]
    candidates = predicted.ranking.ids >= 0
    hits = find_hits(predicted.ranking.ids, dataset.test.Y)[candidates]
    theirs = log_loss(hits, predicted.ranking.probabilities[candidates].astype(float))
    assert measured["log_loss"] == pytest.approx(theirs, rel=1e-5)
    assert measured["ece"] < 0.03


def test_the_log_says_how_many_likely_labels_are_right(
    folder, dataset, predicted, tmp_path
) -> None:
    hits = find_hits(predicted.ranking.ids, dataset.test.Y)
    p = predicted.ranking.probabilities
    likely = p >= 0.5
    said = ovaflow(
        "reliability",
        predicted.path,
        f"--dataset={dataset.path}",
        f"--reranker={folder}/dataset/reranker.h5",
        f"--output={tmp_path}/r.json",
    )
    sure = f"{100 * p[likely].mean():.1f} % of {likely.sum():,} labels that are at least 50 % sure"
    assert (
        f"{sure} were expected to be right, {100 * hits[likely].mean():.1f} % are; calibration"
        " error" in said
    )


def test_where_evidence_ranks_worse_probabilities_keep_the_order_of_scores(
    model, dataset, held, held_predictions, predicted, predict, monkeypatch, tmp_path
) -> None:
    monkeypatch.setattr(CrossFit, "ndcg", np.array([[0.7, 0.5, 0.6], [0.4, 0.5, 0.3]]))
    fit_reranker(OneVsAll.open(model), dataset, held, held_predictions).write(
        tmp_path / "reranker.h5"
    )
    ours = predict(f"--reranker={tmp_path}/reranker.h5")
    assert np.array_equal(ours.ids, predicted.ranking.first_ids[:, :5])
    hits = find_hits(ours.ranking.ids, dataset.test.Y)
    expected = np.maximum(ours.ranking.probabilities, 0)
    assert expected.sum() == pytest.approx(hits.sum(), rel=0.05)
    assert Reranker.open_header(tmp_path / "reranker.h5").keeps_order


def test_metrics_of_answers_that_fit_like_scikit_learn(folder, dataset, predicted) -> None:
    metrics = json.loads((folder / "dataset" / "metrics.json").read_text())
    truth = dataset.test.Y.to_scipy().toarray() > 0
    amounts = count_fitting_labels(predicted.ranking.probabilities)
    answers = np.zeros_like(truth)
    for row, ids, m in zip(answers, predicted.ranking.ids, amounts, strict=True):
        row[ids[:m]] = True
    for name, score in {
        "F1-fit": f1_score,
        "P-fit": precision_score,
        "R-fit": recall_score,
    }.items():
        assert metrics[name] == pytest.approx(
            score(truth, answers, average="samples", zero_division=0)
        )
    assert metrics["labels-fit"] == np.mean(amounts)
    inverse = dataset.inverse_propensity(metrics["propensity_a"], metrics["propensity_b"])
    by_score = predicted.ranking.first_ids[:, :5]
    assert metrics["first_stage"] == compute_ranking_metrics(by_score, dataset.test.Y, inverse)


def test_probable_labels_in_every_format(model, dataset, predicted, texts) -> None:
    probable = ["predict", model, texts, "--min-probability=0.3"]
    table = ovaflow(probable, "--output-format=csv")
    columns = "instance,rank,id,label,score,probability,expected_precision,expected_recall\n"
    assert table.startswith(columns)
    joined = ovaflow(probable, "--output-format=csv", "--joined=|")
    columns = "instance,labels,scores,probabilities,expected_precision,expected_recall\n"
    assert joined.startswith(columns)
    name = dataset.label_names[predicted.ids[0, 0]]
    shown = ovaflow(probable, "--output-format=table")
    assert f"{100 * predicted.scores[0, 0]:.1f} %  {name}\n" in shown


def test_labels_for_macro_f1_of_a_file_and_of_the_test_set_are_the_same(
    model, predict, predicted, texts
) -> None:
    ours = predict("--optimise=macro-F1", "--top-k=2").ids.tolist()
    ranking = predicted.ranking
    theirs, _ = choose_labels_for_macro_f1(
        ranking.ids[:, :N_CANDIDATES], ranking.probabilities[:, :N_CANDIDATES], 2
    )
    assert ours == theirs.tolist()
    assert ours != predicted.ids[:, :2].tolist()
    answers = predict_answers(model, texts, "--optimise=macro-F1", "--top-k=2")
    assert list_label_values(answers) == ours
    for other in ("--fit", "--no-rerank"):
        ovaflow("predict", model, texts, "--optimise=macro-F1", other, status=2)


def test_evaluate_shows_labels_by_probability(folder) -> None:
    records = folder / "records.csv"
    model = f"--model={folder}/dataset/model.h5"
    shown = ovaflow("evaluate", records, model, f"--model={folder}/held/model.h5")
    assert shown.count("at least") == len(PROBABILITY_LEVELS) + len(PRECISION_LEVELS)
    assert shown.count("F1 of labels that fit") == 1
    said = ovaflow("evaluate", records, model, f"--labels={folder}/labels.csv")
    assert "labels.csv: the labels that fit of each record count as predicted" in said


def remove_first_column(fitted) -> Reranker:
    columns = fitted.parameters["columns"][1:]
    return replace(fitted, parameters=fitted.parameters | {"columns": columns})


def add_source_of_another_kind(fitted) -> Reranker:
    columns = [*fitted.parameters["columns"], "score of trees", "rank of trees"]
    sources = [{"name": "trees", "model": "trees.h5", "checksum": ""}]
    return replace(fitted, parameters=fitted.parameters | {"columns": columns, "sources": sources})


def add_unknown_kind(fitted) -> Reranker:
    parameters = fitted.parameters | {
        "further": ["moon"],
        "columns": [*fitted.parameters["columns"], "phase"],
    }
    return replace(fitted, parameters=parameters)


def remove_similar_texts(fitted) -> Reranker:
    kinds = [kind for kind in fitted.evidence.kinds if not isinstance(kind, SimilarTexts)]
    return replace(fitted, evidence=replace(fitted.evidence, kinds=kinds))


@pytest.mark.parametrize(
    "change",
    [remove_first_column, add_source_of_another_kind, add_unknown_kind, remove_similar_texts],
)
def test_one_of_other_evidence_is_refused(model, tmp_path, change) -> None:
    fitted = Reranker.open(model.with_name("reranker.h5"), model=OneVsAll.open(model))
    change(fitted).write(tmp_path / "reranker.h5")
    said = ovaflow("predict", model, f"--reranker={tmp_path}/reranker.h5", "--text=name1", status=2)
    assert "ranks by evidence that this version of ovaflow does not know; run rerank again" in said


ALIKE = "the candidates of held-out instances are all wrong, or all right"
FEW = "199 instances were held out, it needs 200"
UNUSED = {"few": (199, None, FEW), "no": (510, False, ALIKE), "yes": (510, True, ALIKE)}


@pytest.mark.parametrize("case", UNUSED)
def test_one_that_is_not_used_leaves_predictions_as_they_are(
    model, dataset, held, held_predictions, predict, tmp_path, monkeypatch, case
) -> None:
    n, true, reason = UNUSED[case]
    if true is not None:
        monkeypatch.setattr(held_out_texts, "find_hits", lambda ids, Y: np.full(ids.shape, true))
    fewer = replace(
        held_predictions, ids=held_predictions.ids[:n], scores=held_predictions.scores[:n]
    )
    model = OneVsAll.open(model)
    path = tmp_path / "none.h5"
    fit_reranker(model, dataset, held, fewer).write(path)
    assert Reranker.open(path, model=model).unused == reason
    ours = predict(f"--reranker={path}")
    theirs = predict("--no-rerank")
    assert np.array_equal([ours.ids, ours.scores], [theirs.ids, theirs.scores])
    assert ours.ranking is theirs.ranking is None
    said = ovaflow(
        "reliability",
        ours.path,
        f"--dataset={dataset.path}",
        f"--reranker={path}",
        f"--output={tmp_path}/reliability.json",
    )
    assert f"the second stage is not used: {reason}" in said


def test_a_model_that_lost_its_probabilities_is_refused_unless_that_is_wanted(
    folder, model, tmp_path, monkeypatch
) -> None:
    some = tmp_path / "some.csv"
    plain = tmp_path / "model.h5"
    link = tmp_path / "models" / "current"
    lines = (folder / "records.csv").read_text().splitlines(keepends=True)
    some.write_text("".join(lines[:41]))
    shutil.copy(model, plain)
    options = [f"--over={link}", f"--on={some}", "--tolerance=1"]
    ovaflow("promote", model, options)
    before = link.readlink()
    said = ovaflow("promote", plain, options, status=1)
    assert "no second stage, so no probabilities, which the model in use has" in said
    assert link.readlink() == before
    # the same model has the same folder within a second
    monkeypatch.setattr(promotion, "time", SimpleNamespace(strftime=lambda form: "later"))
    ovaflow("promote", plain, options, "--without-probabilities")
    assert link.readlink() != before
