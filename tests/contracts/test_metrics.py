"""A new metric is one entry: files, tables and pages that measure or show metrics have it."""

import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from commands import ovaflow
from docs.pages import ROOT

from ovaflow.evaluation.metric import CANDIDATES_SCOPE, METRICS, Metric, is_metric
from ovaflow.evaluation.model_comparison import DIFFERENCE_METRICS
from ovaflow.report import sweeps
from ovaflow.report.gather import gather_results
from ovaflow.report.page import render_page
from ovaflow.report.runs import ListedRun, list_brief_metrics, make_listing_table
from ovaflow.results.best_run import COMPARISON_METRICS
from ovaflow.tuning import comparison, pruning

NEW = Metric(
    "true-candidates",
    "number of true labels among the candidates, mean over instances",
    r"\frac{1}{n} \sum_i \sum_r h_{ir}",
    lambda ranked, k: (ranked.hits.sum(axis=1).astype(float), np.ones(len(ranked.ids))),
    scope=CANDIDATES_SCOPE,
    unit="labels",
    report_names=("true-candidates",),
    list_names=("true-candidates",),
    hub="recall",
)


def test_every_metric_has_a_sentence_and_one_way_to_be_computed() -> None:
    titles = [(metric.scope, metric.name) for metric in METRICS]
    assert len(set(titles)) == len(titles)
    for metric in METRICS:
        assert metric.sentence
        assert (metric.per_instance is None) != (metric.overall is None)
    page = Path(ROOT, "docs", "reference", "metrics.md").read_text(encoding="utf-8")
    assert all(metric.sentence in page for metric in METRICS)


CHOSEN = [
    *DIFFERENCE_METRICS.values(),
    *COMPARISON_METRICS,
    *sweeps.SWEPT_METRICS,
    *pruning.GUARDED_METRICS,
    *comparison.COMPARED_METRICS,
]


@pytest.mark.parametrize("name", dict.fromkeys(CHOSEN))
def test_names_by_which_models_are_compared_are_metrics(name) -> None:
    assert is_metric(name) or name == "F1 of labels that fit"


@pytest.fixture(scope="module")
def folder(finished, tmp_path_factory):
    """A finished run, measured again with the new metric."""
    METRICS.append(NEW)
    folder = finished.copy(tmp_path_factory.mktemp("metrics") / "tiny")
    evaluate = (
        "evaluate {predictions} --dataset={dataset} --model={model} "
        "--training={training} --output={metrics}"
    )
    ovaflow(folder.words(evaluate))
    yield folder
    METRICS.remove(NEW)


def test_it_is_measured_with_its_interval(folder) -> None:
    metrics = json.loads(folder["metrics"].read_text())
    low, high = metrics["intervals"]["true-candidates"]
    assert 1 < low <= metrics["true-candidates"] <= high
    said = ovaflow(folder.words("join-folds {metrics} {metrics} --model={model} --output={folds}"))
    assert f"true-candidates {metrics['true-candidates']:.2f} ± 0" in said
    folds = json.loads(folder["folds"].read_text())["metrics"]
    assert folds["true-candidates"]["mean"] == pytest.approx(metrics["true-candidates"])


def test_it_is_measured_on_a_labelled_file(folder, tmp_path) -> None:
    said = ovaflow(
        "evaluate",
        folder.path / "records.csv",
        "--model",
        folder["model"],
        f"--output={tmp_path}/figures.json",
    )
    [entry] = json.loads((tmp_path / "figures.json").read_text())["models"]
    value = entry["metrics"]["true-candidates"]
    low, high = entry["intervals"]["true-candidates"]
    assert 1 < low <= value <= high
    assert f"{value:.1f} ({low:.1f}–{high:.1f})" in said


def test_it_is_shown(folder) -> None:
    results = gather_results([folder.path / "msi"])
    page = render_page(results)
    [run] = results[0].runs
    assert f"<dt>true-candidates</dt><dd>{NEW.sentence}</dd>" in page
    assert page.count(">true-candidates</th>") >= 2
    shown = f'{run.metrics["true-candidates"]:.2f}</data><small class="spread">± 0.'
    assert page.count(shown) >= 2
    listed = [ListedRun(run, {}, "", run.metrics) for run in results[0].runs]
    names, _ = make_listing_table(listed, list_brief_metrics()).full_content
    assert "true-candidates" in names


def test_the_command_runs_prints_it(folder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    Path("results", "tiny").symlink_to(folder.path)
    Path("tiny.yaml").write_text(
        "datasets: {tiny: {format: csv, train: records.csv}}\nruns: {msi: {}}\n"
    )
    [row] = csv.DictReader(ovaflow("runs", "tiny.yaml", "--csv").splitlines())
    assert float(row["true-candidates"]) == pytest.approx(
        json.loads(folder["metrics"].read_text())["true-candidates"]
    )
    assert f"{float(row['true-candidates']):.2f} ±0." in ovaflow("runs", "tiny.yaml")


def test_it_is_documented(folder) -> None:
    spec = importlib.util.spec_from_file_location(
        "reference", ROOT / "docs" / "make" / "reference.py"
    )
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert (
        f"| `true-candidates` | ${NEW.formula}$ | {NEW.sentence} | higher |"
        in reference.metrics_page()
    )
