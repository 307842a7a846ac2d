"""Figures over folds, against scikit-learn and SciPy."""

import json

import numpy as np
import pytest
import scipy.stats
from commands import ovaflow
from finished_run import run_command
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from solving import make_memory_dataset

from ovaflow.dataset.folds import FOLD_SEED, assign_folds, hold_out_fold
from ovaflow.dataset.hold_out import hold_out
from ovaflow.evaluation.cross_validation import summarize_folds
from ovaflow.storage.texts import read_json, write_json


def test_means_are_those_of_cross_val_score() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    dataset = make_memory_dataset(X, np.eye(2)[y])
    folds = assign_folds(dataset, 4, FOLD_SEED)
    learner = LogisticRegression()
    ours = []
    for fold in range(4):
        parts = hold_out_fold(dataset, fold, 4)
        (X_train, y_train), (X_test, y_test) = (
            (part.X.to_scipy(), part.Y.to_scipy().argmax(axis=1))
            for part in (parts.train, parts.test)
        )
        # a second stage holds out its share of the others
        assert 0 < hold_out(parts, 0.2).test.X.n_rows < len(y_train) / 2
        ours.append(learner.fit(X_train, y_train).score(X_test, y_test))
    # each of the folds is a group, so they are the folds in some order
    theirs = cross_val_score(learner, dataset.train.X.to_scipy(), y, groups=folds, cv=GroupKFold(4))
    assert sorted(ours) == pytest.approx(sorted(theirs))
    assert summarize_folds(ours)["mean"] == pytest.approx(theirs.mean())
    assert summarize_folds(ours)["deviation"] == pytest.approx(theirs.std(ddof=1))
    interval = scipy.stats.ttest_1samp(theirs, 0).confidence_interval(0.95)
    assert summarize_folds(ours)["interval"] == pytest.approx(list(interval))


@pytest.fixture
def joined(finished, tmp_path):
    """Metrics as if of two folds of a finished run, joined, and what was said."""
    metrics = json.loads(finished["metrics"].read_text())
    metrics.pop("checksum")
    for fold, change in (("1", 0.9), ("2", 1.0)):
        write_json(tmp_path / f"{fold}.json", "metrics", metrics | {"P@1": change * metrics["P@1"]})
    files = [tmp_path / "1.json", tmp_path / "2.json"]
    return metrics, ovaflow(
        "join-folds", files, f"--model={finished['model']}", f"--output={tmp_path}/folds.json"
    )


def test_the_report_has_them_beside_the_test_set(finished, joined, tmp_path) -> None:
    metrics, said = joined
    mean = 0.95 * metrics["P@1"]
    assert f"P@1 {100 * mean:.1f} ± " in said
    content = read_json(tmp_path / "folds.json", "folds")
    place = finished.path / "msi" / "folds.json"
    place.write_bytes((tmp_path / "folds.json").read_bytes())
    try:
        done = run_command(
            "report",
            finished.path / "msi",
            f"--csv={tmp_path}/tidy.csv",
            f"--output={tmp_path / 'report.html'}",
        )
    finally:
        place.unlink()
    assert done.status == 0
    assert (
        f"{100 * mean:.1f}"
        in (tmp_path / "report.html").read_text().partition("<h3>Cross-validation")[2]
    )
    [line] = [
        line
        for line in (tmp_path / "tidy.csv").read_text().splitlines()
        if ",cross-validated P@1," in line
    ]
    figures = [float(figure) for figure in line.rsplit(",", 3)[1:]]
    assert figures == pytest.approx([mean, *content["metrics"]["P@1"]["interval"]])


def test_a_single_fold_is_refused(finished) -> None:
    words = "join-folds", finished["metrics"], f"--model={finished['model']}", "--output=x.json"
    assert "at least two folds" in ovaflow(words, status=2)


def test_folds_without_a_second_stage_are_remarked_on(joined, finished, tmp_path) -> None:
    metrics, said = joined
    assert "remark" not in said
    assert "F1-fit" in said
    write_json(
        tmp_path / "2.json", "metrics", {name: metrics[name] for name in ("P@1", "instances")}
    )
    files = [tmp_path / "1.json", tmp_path / "2.json"]
    said = ovaflow(
        "join-folds", files, f"--model={finished['model']}", f"--output={tmp_path}/folds.json"
    )
    assert "remark: 1 of 2 folds held out too few instances for a second stage" in said
