"""What runs again after a change: dry runs against a finished run."""

import re
import shutil

import pytest
from tiny_table import CONFIG, write_config, write_table

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

AFTER_EVALUATE = {"evaluate_predictions": 2, "write_report": 1}
FIGURES = {"measure_pruning": 2, "write_report": 1}
AFTER_PREDICT = {"predict_labels": 2, **AFTER_EVALUATE}
AFTER_MERGE = {"merge_shards": 2, **AFTER_PREDICT, **FIGURES}
AFTER_TRAIN = {"train_shard": 4, **AFTER_MERGE}
AFTER_PLAN = {"plan_shards": 2, **AFTER_TRAIN}
AFTER_MEANS = {"compute_means": 1, **AFTER_TRAIN}
ESTIMATE = {"estimate_training": 1}
AFTER_PREPARE = {"prepare_dataset": 1, "compute_means": 1, **AFTER_PLAN, **ESTIMATE}
ONE_RUN = {
    "train_shard": 2,
    "merge_shards": 1,
    "predict_labels": 1,
    "evaluate_predictions": 1,
    "measure_pruning": 1,
    "write_report": 1,
}

TINY = {"format": "csv", "train": "records.csv", "label_separator": "|"}
ROOT, TREE = {"initialization": "all-negative"}, {"initialization": "label-tree"}
MSI, DISMEC = {"initialization": "mean-separating"}, {"initialization": "zero"}

CHANGES = {
    "nothing": ({}, {}),
    "min_df": ({"prepare": {"min_df": 3}}, AFTER_PREPARE),
    "bias": ({"prepare": {"bias": 0}}, AFTER_PREPARE),
    "test_fraction": ({"datasets": {"tiny": TINY | {"test_fraction": 0.3}}}, AFTER_PREPARE),
    "shards": ({"train": {"shards": 3}}, AFTER_PLAN | {"train_shard": 6}),
    "C": ({"train": {"shards": 2, "C": 2}}, AFTER_TRAIN | ESTIMATE),
    "C of one run": ({"runs": {"msi": MSI, "dismec": DISMEC | {"C": 2}}}, ONE_RUN | ESTIMATE),
    "epsilon": ({"train": {"shards": 2, "epsilon": 0.1}}, AFTER_TRAIN | ESTIMATE),
    "t, with the start that uses it": ({"train": {"shards": 2, "t": -1.5}}, ONE_RUN),
    "t, said as it is by default": ({"train": {"shards": 2, "t": -2}}, {}),
    "loss": ({"train": {"shards": 2, "loss": "logistic"}}, {"warm_up": 1, **AFTER_TRAIN, **ESTIMATE}),
    "regularization": (
        {"runs": {"msi": MSI, "dismec": DISMEC | {"regularization": "l1"}}},
        {"warm_up": 1, **ONE_RUN, **ESTIMATE},
    ),
    "weighting": ({"runs": {"msi": MSI, "dismec": DISMEC | {"weighting": "propensity"}}}, ONE_RUN | ESTIMATE),
    "initialization": ({"runs": {"msi": MSI, "dismec": MSI}}, ONE_RUN),
    "the label tree": (
        {"runs": {"msi": MSI, "dismec": TREE}},
        {"compute_label_tree": 1, "compute_root": 1, "plan_shards": 1, **ONE_RUN},
    ),
    "the root alone": (
        {"runs": {"msi": MSI, "dismec": {"initialization": "all-negative"}}},
        {"compute_root": 1, **ONE_RUN},
    ),
    "settings of starts that no run has": ({"train": {"shards": 2, "bias_lambda": 3, "root_epsilon": 0.1}}, {}),
    "less pruning": ({"train": {"shards": 2, "prune": 0.001}}, AFTER_TRAIN | ESTIMATE),
    "more pruning": ({"train": {"shards": 2, "prune": 0.1}}, AFTER_MERGE),
    "threads": ({"train": {"shards": 2, "threads": 2}}, {}),
    "top_k": ({"predict": {"top_k": 3}}, AFTER_PREDICT),
    "propensity_a": ({"evaluate": {"propensity_a": 0.6}}, AFTER_EVALUATE | FIGURES),
    "trace": ({"train": {"shards": 2, "trace": 5}}, {"trace_labels": 2, "write_report": 1}),
    "prune_thresholds": ({"report": {"examples": 3, "prune_thresholds": [0.2]}}, FIGURES),
    "no prune_thresholds": ({"report": {"examples": 3, "prune_thresholds": []}}, {"write_report": 1}),
    "examples": ({"report": {"examples": 5}}, {"write_report": 1}),
    "a run less": ({"runs": {"msi": MSI}}, {"write_report": 1}),
    "a run more": (
        {"runs": {"msi": MSI, "dismec": DISMEC, "new": MSI | {"C": 3}}},
        ONE_RUN | ESTIMATE | {"plan_shards": 1},
    ),
    "a dataset more": ({"datasets": {"tiny": TINY, "new": TINY | {"seed": 1}}}, AFTER_PREPARE),
    "columns that are not used": ({"prepare": {"max_features": None, "label_separator": "/"}}, {}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_setting_runs_what_depends_on_it(finished, change):
    sections, expected = CHANGES[change]
    if sections.get("train", {}).get("shards") == 2:
        assert sections["train"] != CONFIG["train"]
    write_config(finished.folder / "my.yaml", **sections)
    try:
        assert finished.jobs() == expected
    finally:
        write_config(finished.folder / "my.yaml")


def test_changed_back_nothing_is_to_do(finished):
    write_config(finished.folder / "my.yaml")
    assert finished.jobs() == {}


def test_changed_data(finished, tmp_path):
    place = finished.copy(tmp_path)
    (place.folder / "records.csv").touch()
    assert place.jobs() == {}
    write_table(place.folder / "records.csv", rows=190)
    assert place.jobs() == AFTER_PREPARE


@pytest.fixture(scope="module")
def elsewhere(finished, tmp_path_factory):
    """The finished run, of a checkout that tests may change."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for part in ("src", "workflow", "config", "profiles"):
        there = folder / "checkout" / part
        shutil.copytree(finished.checkout / part, there, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(finished.checkout / "Snakefile", folder / "checkout")
    return finished.copy(folder / "place", folder / "checkout")


CODE = {
    "data/tfidf.py": AFTER_PREPARE,
    "artifacts/means.py": {"warm_up": 1, **AFTER_MEANS},
    "training/plan.py": AFTER_PLAN,
    "estimate/sample.py": {},
    "solver/newton.py": {"warm_up": 1, **AFTER_TRAIN},
    "model/merge.py": AFTER_MERGE,
    "prediction/methods.py": AFTER_PREDICT,
    "report/tables.py": {"write_report": 1},
    "cli/samples.py": {},
}


@pytest.mark.parametrize("module", CODE)
def test_changed_code_runs_what_executes_it(elsewhere, module):
    path = elsewhere.checkout / "src" / "ovaflow" / module
    source = path.read_text()
    path.write_text(source + "\n\nCHANGED = True\n")
    try:
        assert elsewhere.jobs() == CODE[module]
    finally:
        path.write_text(source)


WORDS = [
    (r'^( *)"""(?=\w)', r'\1"""Put in another way. '),
    (r'InputError\((\s*)(f?")', r'InputError(\1"in other words, " \2'),
    (r'\b(help|description)=(f?")', r'\1="In other words, " \2'),
    (r"\Z", "# the end\n"),
]


def test_reworded_code_runs_nothing(elsewhere):
    counts = [0] * len(WORDS)
    for path in elsewhere.checkout.glob("src/ovaflow/**/*.py"):
        source = path.read_text()
        for i, (before, after) in enumerate(WORDS):
            source, found = re.subn(before, after, source, flags=re.MULTILINE)
            counts[i] += found
        path.write_text(source)
    assert min(counts) > 100
    assert elsewhere.jobs() == {}
