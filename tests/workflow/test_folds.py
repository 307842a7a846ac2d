"""Cross-validation as jobs of the pipeline: what runs, and what runs again."""

import json

import pytest
from tiny_table import TINY_CONFIG

pytestmark = [pytest.mark.workflow, pytest.mark.long, pytest.mark.timeout(1200)]

RUNS = TINY_CONFIG["runs"]
SECTIONS = {"evaluate": {"folds": 2}, "report": {"examples": 0}}


@pytest.fixture(scope="module")
def folded(finished, tmp_path_factory):
    place = finished.copy(tmp_path_factory.mktemp("folded"))
    place.configure(**SECTIONS)
    place.snakemake()
    return place


def test_each_run_is_measured_on_each_fold(folded) -> None:
    for run in RUNS:
        ours = json.loads(folded.result(run, "folds.json").read_text())["metrics"]["P@1"]
        metrics = [folded.result(f"fold-{fold}-of-2", run, "metrics.json") for fold in (1, 2)]
        theirs = [json.loads(path.read_text())["P@1"] for path in metrics]
        assert ours["values"] == theirs
        assert min(theirs) > 0.5
    assert ">Cross-validation<" in (folded.folder / "results" / "report.html").read_text()


def test_another_C_trains_the_folds_of_its_run_again(folded) -> None:
    folded.configure(**SECTIONS)
    assert folded.jobs() == {}
    folded.configure(**SECTIONS, runs=RUNS | {"msi": RUNS["msi"] | {"C": 2}})
    # of the two folds, and of the run itself
    trained = {
        "train_shard": 6,
        "merge_shards": 3,
        "predict_labels": 3,
        "evaluate_predictions": 3,
        "join_folds": 1,
    }
    assert folded.jobs() == {"msi": trained, None: {"estimate_training": 1, "write_report": 1}}


def test_folds_have_a_second_stage_of_their_own(folded) -> None:
    folded.configure(**SECTIONS, predict={"rerank": 0.3})
    jobs = folded.jobs()
    assert jobs[None]["hold_out_instances"] == 3
    assert [jobs[run]["fit_reranker"] for run in RUNS] == [3, 3]
