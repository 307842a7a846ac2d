"""What runs again after a change: dry runs against a finished run."""

import re
import shutil
from pathlib import Path

import pytest
import yaml
from commands import ovaflow
from pipeline_folder import ROOT, PipelineFolder, parse_jobs
from tiny_table import MSI

from ovaflow.registry import find_method
from ovaflow.steps import LOSS_REVISIONS

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

# jobs of one run
EVALUATED = {"evaluate_predictions": 1}
PREDICTED = {"predict_labels": 1, **EVALUATED}
MERGED = {"merge_shards": 1, **PREDICTED}
TRAINED = {"train_shard": 2, **MERGED}
FOLDED = {
    "train_shard": 6,
    "merge_shards": 3,
    "predict_labels": 3,
    "evaluate_predictions": 3,
}
REPORT = {None: {"write_report": 1}}


def done(msi, dismec, **others):
    """Jobs of both runs, and of the report and others, which belong to no run."""
    jobs_by_run = {None: REPORT[None] | others, "msi": msi, "dismec": dismec}
    return {run: jobs for run, jobs in jobs_by_run.items() if jobs}


OF_DATASET = {"prepare_dataset": 1, "compute_means": 1, "plan_shards": 1, "estimate_training": 1}
PREPARED = done(TRAINED, TRAINED, **OF_DATASET)
CHANGES = {
    "what no job uses": (
        """
        train: {shards: 2, t: -2, bias_lambda: 3, root_epsilon: 0.1, threads: 2}
        prepare: {max_features: null, label_separator: /}
        tune: {metric: P@1, candidates: {C: [2]}}
        """,
        {},
    ),
    "features and C are chosen": (
        "{prepare: {features: auto}, runs: {msi: {C: auto}, dismec: {initialization: zero}}}",
        PREPARED
        | {None: PREPARED[None] | {"choose_features": 1, "choose_C": 1, "estimate_training": 2}},
    ),
    "min_df": ("prepare: {min_df: 3}", PREPARED),
    "shards": (
        "train: {shards: 3}",
        done(TRAINED | {"train_shard": 3}, TRAINED | {"train_shard": 3}, plan_shards=1),
    ),
    "C and regularization": (
        "runs: {msi: {C: 2}, dismec: {initialization: zero, regularization: l1}}",
        done(TRAINED, TRAINED, estimate_training=2, warm_up=1),
    ),
    "t and weighting": (
        "runs: {msi: {t: -1.5}, dismec: {initialization: zero, weighting: propensity}}",
        done(TRAINED, TRAINED, estimate_training=1),
    ),
    "less and more pruning": (
        "runs: {msi: {prune: 0.001}, dismec: {initialization: zero, prune: 0.1}}",
        done(TRAINED, MERGED, estimate_training=1),
    ),
    "label tree and root": (
        "runs: {msi: {initialization: label-tree}, dismec: {initialization: all-negative}}",
        done(TRAINED, TRAINED, compute_root=1, plan_shards=1, compute_label_tree=1),
    ),
    "start, and a run's threads": (
        "runs: {msi: {initialization: zero}, dismec: {initialization: zero, threads: 2}}",
        # as another run
        done(MERGED, {}),
    ),
    "top_k": ("runs: {msi: {}, dismec: {initialization: zero, top_k: 3}}", done({}, PREDICTED)),
    "propensity_a": ("evaluate: {propensity_a: 0.6}", done(EVALUATED, EVALUATED)),
    "folds": (
        "evaluate: {folds: 3}",
        done(
            FOLDED | {"join_folds": 1},
            FOLDED | {"join_folds": 1},
            hold_out_fold=3,
            compute_means=3,
            plan_shards=3,
        ),
    ),
    "no folds": ("evaluate: {folds: null}", {}),
    "the report": ("report: {examples: 5}", REPORT),
    "a run more": (
        "runs: {msi: {}, dismec: {initialization: zero}, new: {C: 3}}",
        {"new": TRAINED, None: {"estimate_training": 1, "write_report": 1}},
    ),
    "runs that train as another one": (
        "runs: {alike: {top_k: 3}, msi: {}, pruned: {prune: 0.1}, dismec: {initialization: zero}}",
        {"alike": MERGED, "pruned": MERGED, **REPORT},
    ),
    "a dataset more, a run less": (
        """
        runs: {msi: {}}
        datasets:
          tiny: &tiny {format: csv, train: records.csv, label_separator: "|"}
          new: {<<: *tiny, seed: 1}
        """,
        {run: jobs for run, jobs in PREPARED.items() if run != "dismec"},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_setting_runs_what_depends_on_it(finished, change) -> None:
    sections, expected = CHANGES[change]
    finished.configure(**yaml.safe_load(sections))
    try:
        assert finished.jobs() == expected
    finally:
        finished.configure()


def test_changed_data(finished, tmp_path) -> None:
    place = finished.copy(tmp_path)
    (place.folder / "records.csv").touch()
    assert place.jobs() == {}
    table = place.folder / "records.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:190]))
    assert place.jobs() == PREPARED


@pytest.mark.parametrize(
    ("file", "expected"), [("model.h5", done(MERGED, {})), ("metrics.json", done(EVALUATED, {}))]
)
def test_what_was_deleted_is_made_again(finished, tmp_path, file, expected) -> None:
    place = finished.copy(tmp_path)
    place.result("msi", file).unlink()
    assert place.jobs() == expected


REVISED = {"train-shard": done(TRAINED, TRAINED), "merge": done(MERGED, MERGED)}


@pytest.mark.parametrize("step", REVISED)
def test_a_revised_step_runs_again_and_what_depends_on_it(finished, monkeypatch, step) -> None:
    method = type(find_method("one-vs-all"))
    monkeypatch.setattr(method, "revisions", {**method.revisions, step: 9})
    assert finished.jobs() == REVISED[step]


@pytest.mark.parametrize(
    ("loss", "expected"), [("squared-hinge", REVISED["train-shard"]), ("logistic", {})]
)
def test_problems_of_other_losses_are_not_solved_again(
    finished, monkeypatch, loss, expected
) -> None:
    for module in ("ovaflow.steps", "ovaflow.methods.one_vs_all.method"):
        monkeypatch.setattr(f"{module}.LOSS_REVISIONS", {**LOSS_REVISIONS, loss: 9})
    assert finished.jobs() == expected


def test_other_code_of_the_same_revision_runs_nothing_but_kernels_are_compiled(
    finished, tmp_path
) -> None:
    for part in ("src", "workflow", "config", "profiles"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in tmp_path.glob("src/ovaflow/**/*.py"):
        path.write_text(f"{path.read_text()}# the end\nCHANGED = True\n")
    other = PipelineFolder(finished.folder)
    other.snakefile = shutil.copy(ROOT / "Snakefile", tmp_path)
    assert parse_jobs(other.snakemake("--dry-run", PYTHONPATH=f"{tmp_path}/src")) == {
        None: {"warm_up": 1}
    }


def test_a_run_with_a_new_name_is_moved_and_one_that_is_gone_is_removed(
    finished, tmp_path, monkeypatch
) -> None:
    place = finished.copy(tmp_path / "place")
    monkeypatch.chdir(place.folder)
    place.configure(runs={"renamed": MSI})
    mine = Path("results/tiny/dismec/mine.txt")
    mine.touch()
    part = Path("results/tiny/dismec/shards/0.parts/0001.h5")
    part.parent.mkdir()
    part.touch()
    for kind in ("results", "logs"):
        Path(kind, "tiny/msi").rename(Path(kind, "tiny/renamed"))
    remark = "results/report.html will be about this config alone, without tiny/dismec; "
    assert remark in place.snakemake("--touch", "--forceall")
    assert place.jobs() == {}
    # their settings are known by the new name as well
    place.configure(runs={"renamed": MSI | {"C": 2}})
    assert place.jobs()["renamed"] == TRAINED
    place.configure(runs={"renamed": MSI})
    for removed in (False, True):
        listed = ovaflow("clean", "my.yaml", ["--remove"] * removed)
        assert re.findall(r"^(\S+): \d+ files, ", listed, re.MULTILINE) == [
            "logs/tiny/dismec",
            "logs/tiny/trainings",
            "results/tiny/dismec",
            "results/tiny/trainings",
        ]
        assert removed != Path("results/tiny/dismec/model.h5").exists()
    assert list(Path("results/tiny/dismec").rglob("*")) == [mine]
    assert Path("results/tiny/renamed/model.h5").exists()
    assert Path("results/tiny/renamed/shards/0.h5").exists()
    assert "nothing is left over" in ovaflow("clean", "my.yaml")
