"""Evaluation of labelled files, against scikit-learn's scores of all labels of each record."""

import json
import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet
import pytest
import scipy.stats
from commands import ovaflow
from records import read_records
from scipy.special import expit
from sklearn.metrics import (
    coverage_error,
    label_ranking_average_precision_score,
    ndcg_score,
    precision_recall_fscore_support,
    precision_score,
)
from synthetic import prepare_and_train
from tiny_table import write_table

from ovaflow.cli.labelled import make_distinct_names
from ovaflow.console.errors import InputError
from ovaflow.evaluation.labelled_file import (
    choose_reading_settings,
    measure_by_label,
    measure_by_probability,
    rank_records,
    summarize_metrics,
)
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.model_comparison import Difference, RecordMetrics, tabulate_label_comparison
from ovaflow.prediction.predictor import Predictor
from ovaflow.reranking.answer_length import count_fitting_labels

COLUMNS = ("title", "subjects")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models, one of a table's first 60 records, and new.csv."""
    folder = tmp_path_factory.mktemp("labelled")
    write_table(folder / "records.csv", 200, "|", COLUMNS)
    head, *lines = (folder / "records.csv").read_text().splitlines(keepends=True)
    new = [line.replace("topic 3", "topic 33") for line in lines[60:180]]
    new[7] = new[7].partition(",")[0] + ",\n"
    new[8] = new[8].partition(",")[0] + ",topic 99|topic 98\n"
    (folder / "new.csv").write_text("".join([head, *new]))
    for name, rows in (("old", lines[:60]), ("new", [*lines[:60], *lines[180:]])):
        train_table(folder / name, "".join([head, *rows]), "|")
    return folder


def train_table(place, text, separator):
    """Train on a table in a folder of its own: model.h5."""
    place.mkdir()
    (place / "train.csv").write_text(text)
    columns = "--text-column=title", "--labels-column=subjects", f"--label-separator={separator}"
    return prepare_and_train(place, "--format=csv", f"--train={place}/train.csv", columns)


@pytest.fixture(scope="module")
def predictor(folder) -> Predictor:
    return Predictor.open(folder / "old" / "model.h5")


def rank_labels(predictor, path, **chosen) -> EvaluatedPredictions:
    return rank_records(
        predictor, path, choose_reading_settings(predictor.model, path, **chosen)
    ).measured


def list_arrays(measured) -> tuple:
    ranked = measured.candidates
    return ranked.ids, measured.values, measured.n_assigned, *ranked.Y.arrays


def read_truth(folder, predictor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of labels of each labelled record, which of the model's it has, and all scores."""
    rows = [row for row in read_records(folder / "new.csv") if row["subjects"]]
    given = [row["subjects"].split("|") for row in rows]
    has = np.array([np.isin(predictor.label_names, labels) for labels in given])
    scores = predictor.scores(
        predictor.from_texts([row["title"] for row in rows]), range(has.shape[1])
    )
    return np.array([len(labels) for labels in given]), has, scores


def find_best_hits(has, scores) -> np.ndarray:
    """Mark the right ones of the five labels with the highest scores."""
    return np.take_along_axis(has, np.argsort(-scores, axis=1, kind="stable")[:, :5], axis=1)


def read_best_hits(folder, predictor) -> np.ndarray:
    """Mark the right ones of the five best labels of each labelled record."""
    _, has, scores = read_truth(folder, predictor)
    return find_best_hits(has, scores)


def test_metrics_of_all_records_with_labels(folder, predictor) -> None:
    answers = rank_labels(predictor, folder / "new.csv")
    amounts, has, scores = read_truth(folder, predictor)
    ours = summarize_metrics(answers, RecordMetrics.from_measured(answers))
    hits = find_best_hits(has, scores)
    unknown = amounts - has.sum(axis=1)
    theirs = {
        "records": 120,
        "records without labels": 1,
        "records with a known label": has.any(axis=1).sum(),
        "records with an unknown label": (unknown > 0).sum(),
        "labels": amounts.sum(),
        "unknown labels": unknown.sum(),
        "recall@5 of all labels": (hits.sum(axis=1) / amounts).mean(),
    }
    some = has.any(axis=1)
    theirs |= {
        "nDCG@5": ndcg_score(has[some], scores[some], k=5),
        "LRAP": label_ranking_average_precision_score(has[some], scores[some]),
        "coverage-error": coverage_error(has[some], scores[some]),
    }
    assert ours == pytest.approx(theirs | {f"P@{k}": hits[:, :k].mean() for k in (1, 3, 5)})
    assert 0 < theirs["records with an unknown label"] < theirs["records with a known label"] < 119


def test_labels_that_are_not_asked_for_are_neither_predicted_nor_missing(
    folder, predictor, tmp_path
) -> None:
    amounts, has, scores = read_truth(folder, predictor)
    allowed = np.array([name not in ("topic 1", "topic 2") for name in predictor.label_names])
    options = "--exclude=topic 1", "--exclude=topic 2", f"--output={tmp_path}/out.json"
    ovaflow("evaluate", folder / "new.csv", f"--model={folder}/old/model.h5", options)
    [entry] = json.loads((tmp_path / "out.json").read_text())["models"]
    asked = amounts - (has & ~allowed).sum(axis=1)
    assert entry["metrics"]["labels"] == asked.sum()
    hits = find_best_hits(has & allowed, np.where(allowed, scores, -np.inf))
    assert entry["metrics"]["P@1"] == pytest.approx(hits[asked > 0, 0].mean())


def test_labels_that_fit_like_scikit_learn(folder, predictor) -> None:
    answers = rank_labels(predictor, folder / "new.csv")
    amounts, has, scores = read_truth(folder, predictor)
    # as if a second stage had said so
    answers = replace(answers, values=expit(2 * answers.values), probabilistic=True)
    probabilities = expit(2 * scores)
    chosen = np.zeros_like(has)
    for i, row in enumerate(probabilities):
        best = np.argsort(-row, kind="stable")
        chosen[i, best[: count_fitting_labels(row[best][None])[0]]] = True
    ours = summarize_metrics(answers, RecordMetrics.from_measured(answers))
    right = (chosen & has).sum(axis=1)
    theirs = {
        "F1 of labels that fit": np.mean(2 * right / (chosen.sum(axis=1) + amounts)),
        "precision of labels that fit": precision_score(has, chosen, average="samples"),
        "recall of labels that fit": np.mean(right / amounts),
    }
    assert {name: ours[name] for name in theirs} == pytest.approx(theirs)
    # labels that the model does not know are missed
    assert measure_by_probability(answers)[0]["recall"] == pytest.approx(
        (has & (probabilities >= 0.5)).sum() / amounts.sum()
    )
    model = SimpleNamespace(label_names=predictor.label_names, label_uris=())
    head, *rows = tabulate_label_comparison({"model": measure_by_label(answers, model)})
    *measures, positives = precision_recall_fscore_support(has, chosen, zero_division=0)
    assert head == ["label", "positives", "predicted", "precision", "recall", "F1"]
    columns = zip(positives, chosen.sum(axis=0), *measures, strict=True)
    theirs = dict(zip(predictor.label_names, columns, strict=True))
    for label, *figures in rows:
        assert [float(figure or 0) for figure in figures] == pytest.approx(theirs[label], abs=1e-4)


def test_every_format_has_the_same_answer(folder, predictor, tmp_path) -> None:
    rows = read_records(folder / "new.csv")
    (tmp_path / "new.tsv").write_text(
        "".join(f"{row['subjects']}\t{row['title']}\n" for row in rows)
    )
    table = {
        "topic": [row["title"] for row in rows],
        "of": [row["subjects"].split("|") for row in rows],
    }
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "new.parquet")
    theirs = rank_labels(predictor, folder / "new.csv")
    columns = {"text_column": "topic", "labels_column": "of"}
    for name, chosen in (("new.tsv", {"format": "text-tsv"}), ("new.parquet", columns)):
        ours = rank_labels(predictor, tmp_path / name, **chosen)
        for mine, other in zip(list_arrays(ours), list_arrays(theirs), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_a_file_of_features(tmp_path) -> None:
    lines = []
    for label in (0, 1, 2, 1, 0, 2):
        lines += [f"{label} 1:{1 + label} {2 + label}:3\n"] * 5
    (tmp_path / "train.svm").write_text("".join(lines))
    model = prepare_and_train(tmp_path, "--format=svmlight", f"--train={tmp_path}/train.svm")
    path = tmp_path / "new.svm"
    predictor = Predictor.open(model)
    path.write_text("0,9 1:2 2:3\n2 4:5\n")
    ours = rank_labels(predictor, path)
    ids, scores = predictor.top_k(predictor.from_features([{0: 2, 1: 3}, {3: 5}]), 3)
    np.testing.assert_array_equal(ours.candidates.ids, ids)
    np.testing.assert_array_equal(ours.values, scores)
    assert (ours.candidates.Y.indices.tolist(), ours.n_assigned.tolist()) == ([0, 2], [2, 1])
    path.write_text("0 1:2 9:3\n")
    with pytest.raises(InputError, match="9 features, the model has 4"):
        rank_labels(predictor, path)


@pytest.mark.parametrize("trained_from", [0, 1])
@pytest.mark.parametrize("kind", ["svmlight", "csv"])
def test_labels_are_counted_from_0_or_1(tmp_path, kind, trained_from) -> None:
    """Files are read as the model's data were, or as an option says."""
    for first in (0, 1):
        lines = ["text,labels"] if kind == "csv" else []
        for record in range(30):
            label = record % 3
            if kind == "csv":
                lines.append(f"word{label} number{record % 5},{label + first}")
            else:
                lines.append(f"{label + first} {label + 1}:1 {4 + record % 5}:1")
        (tmp_path / f"from{first}").write_text("\n".join(lines))
    (tmp_path / "names.txt").write_text("bees\nfood\nchess\n")
    options = [f"--format={kind}", f"--train={tmp_path}/from{trained_from}"]
    options += [f"--first-label={trained_from}", f"--labels={tmp_path}/names.txt"]
    model = prepare_and_train(tmp_path, options)
    for first in (0, 1):
        chosen = [] if first == trained_from else [f"--first-label={first}"]
        output = tmp_path / "measured.json"
        path = tmp_path / f"from{first}"
        given = f"--model={model}", f"--format={kind}", f"--output={output}"
        ovaflow("evaluate", path, given, chosen)
        metrics = json.loads(output.read_text())["models"][0]["metrics"]
        assert (metrics["P@1"], metrics["unknown labels"]) == (1, 0)


def test_models_are_called_by_what_tells_them_apart() -> None:
    assert make_distinct_names(["a/old/msi/model.h5", "a/new/msi/model.h5"]) == ["old", "new"]
    assert make_distinct_names(["x/model.h5", "x/new/model.h5"]) == ["x/model.h5", "x/new/model.h5"]
    assert make_distinct_names(["x/model.h5"]) == ["x/model.h5"]


def test_two_models_side_by_side(folder) -> None:
    paths = [folder / name / "model.h5" for name in ("old", "new")]
    options = [f"--model={path}" for path in paths]
    said = ovaflow("evaluate", options, folder / "new.csv", f"--output={folder}/both.json")
    assert "new against old, " in said
    first, second = json.loads((folder / "both.json").read_text())["models"]
    # of each record, hits among the first and among the first five
    old, new = [read_best_hits(folder, Predictor.open(path)) for path in paths]
    for k in (1, 5):
        name = f"P@{k}"
        theirs = old[:, :k].mean(axis=1)
        gains = new[:, :k].mean(axis=1) - theirs
        ours = second["differences"][name]
        bounds = compute_bootstrap_interval(gains)
        assert ours["difference"] == pytest.approx(gains.mean())
        assert (ours["better"], ours["worse"]) == ((gains > 0).sum(), (gains < 0).sum())
        assert (ours["low"], ours["high"]) == pytest.approx(bounds, abs=0.15 * np.ptp(bounds))
        assert first["intervals"][name] == pytest.approx(
            compute_bootstrap_interval(theirs), abs=0.02
        )
    # two records alone
    assert second["differences"]["P@1"]["verdict"] == "may be chance"
    assert "differences" not in first


def test_a_difference_that_rounds_to_zero_has_no_sign(folder, tmp_path) -> None:
    shutil.copytree(folder / "old", tmp_path / "copy")
    options = [f"--model={place}/model.h5" for place in (folder / "old", tmp_path / "copy")]
    said = ovaflow("evaluate", options, folder / "new.csv")
    assert "0.0 (0.0 to 0.0)" in said
    assert not re.search("[+-]0[.]0 ", said)


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [((0.1, 0.2), "better"), ((0.0, 0.2), "may be chance"), ((-0.2, -0.1), "worse")],
)
def test_a_difference_beyond_chance_is_better_or_worse(bounds, verdict) -> None:
    assert Difference(0.0, *bounds, 1, 1).verdict == verdict


def compute_bootstrap_interval(values) -> tuple[float, float]:
    sample = scipy.stats.bootstrap([values], np.mean, method="percentile", n_resamples=5000, rng=1)
    return tuple(sample.confidence_interval)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--model={0}/old/model.h5", "old/model.h5 appears twice"),
        ("--analysis={0}/analysis.json", "--analysis goes with --dataset"),
    ],
)
def test_what_does_not_go_together(folder, options, said) -> None:
    command = "evaluate {0}/new.csv --model={0}/old/model.h5 " + options
    assert said in ovaflow(command.format(folder), status=2)


def test_the_best_labels_count_as_predicted_without_a_second_stage(folder) -> None:
    said = ovaflow(
        "evaluate",
        f"--model={folder}/new/model.h5",
        folder / "new.csv",
        f"--labels={folder}/labels.csv",
    )
    assert "labels.csv: the first 5 labels of each record count as predicted" in said


def test_models_that_read_other_labels_are_refused(folder, tmp_path) -> None:
    old = folder / "old"
    other = train_table(tmp_path / "other", (old / "train.csv").read_text().replace("|", ";"), ";")
    both = "evaluate", f"--model={old}/model.h5", f"--model={other}", folder / "new.csv"
    line = ovaflow(both, status=2).splitlines()[-1]
    theirs = r"model.h5 reads 120 records with \d+ labels, \S+ 120 records with 119 labels; say how"
    assert re.search(theirs, line)
    ovaflow(both, "--label-separator=|")


def test_labels_that_are_none_of_the_models_are_refused(folder, predictor, tmp_path) -> None:
    (tmp_path / "new.csv").write_text("title,subjects\nword00,other\n")
    complaint = "no label of any record is one of those of .*model.h5; check --labels-column"
    with pytest.raises(InputError, match=complaint):
        rank_labels(predictor, tmp_path / "new.csv")
