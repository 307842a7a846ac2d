"""Cross-validation as jobs of the pipeline: what runs, and what runs again."""

import json

import numpy as np
import pytest
from tiny_table import CONFIG

pytestmark = [pytest.mark.workflow, pytest.mark.long, pytest.mark.timeout(1200)]

RUNS = CONFIG["runs"]
EVALUATED = {"predict_labels": 2, "evaluate_predictions": 2, "join_folds": 1}
TRAINED = {"train_shard": 4, "merge_shards": 2, **EVALUATED}
WHOLE = {"train_shard": 2, "merge_shards": 1, "predict_labels": 1, "evaluate_predictions": 1}
THREE = {"predict_labels": 3, "evaluate_predictions": 3, "join_folds": 1}
SECTIONS = {"evaluate": {"folds": 2}, "report": {"examples": 0, "prune_thresholds": []}}


def both(*numbers):
    """Jobs of the folds and of the run itself."""
    return {rule: sum(jobs.get(rule, 0) for jobs in numbers) for jobs in numbers for rule in jobs}


@pytest.fixture(scope="module")
def folded(finished, tmp_path_factory):
    place = finished.copy(tmp_path_factory.mktemp("folded"))
    place.configure(**SECTIONS)
    place.snakemake()
    return place


def test_each_run_is_measured_on_each_fold(folded):
    for run in RUNS:
        ours = json.loads(folded.result(run, "folds.json").read_text())["metrics"]["P@1"]
        metrics = [folded.result(f"fold-{fold}-of-2", run, "metrics.json") for fold in (1, 2)]
        theirs = [json.loads(path.read_text())["P@1"] for path in metrics]
        assert ours["values"] == theirs
        assert ours["mean"] == pytest.approx(np.mean(theirs))
        assert min(theirs) > 0.5
    page = (folded.folder / "results" / "report.html").read_text()
    assert ">Cross-validation<" in page
    assert ">fold-*<" in page


CHANGES = {
    "nothing": ({}, {}),
    "C of a run": (
        {"runs": RUNS | {"msi": RUNS["msi"] | {"C": 2}}},
        {"msi": both(TRAINED, WHOLE), None: {"estimate_training": 1, "write_report": 1}},
    ),
    "top_k of a run": (
        {"runs": RUNS | {"msi": RUNS["msi"] | {"top_k": 3}}},
        {"msi": both(EVALUATED, {"predict_labels": 1, "evaluate_predictions": 1}), None: {"write_report": 1}},
    ),
    "other folds": (
        {"evaluate": {"folds": 3}},
        {
            **{run: {"plan_shards": 3, "train_shard": 6, "merge_shards": 3, **THREE} for run in RUNS},
            None: {"hold_out_fold": 3, "compute_means": 3, "write_report": 1},
        },
    ),
    "no folds": ({"evaluate": {"folds": 0}}, {None: {"write_report": 1}}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_setting_runs_what_depends_on_it(folded, change):
    sections, expected = CHANGES[change]
    folded.configure(**SECTIONS | sections)
    assert folded.jobs() == expected


def test_folds_have_a_second_stage_of_their_own(folded):
    folded.configure(**SECTIONS, predict={"rerank": 0.3})
    jobs = folded.jobs()
    assert jobs[None]["hold_out_instances"] == 3
    assert [jobs[run]["fit_reranker"] for run in RUNS] == [3, 3]
