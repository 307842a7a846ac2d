"""A run of trees beside those of the tiny table."""

import json

import pytest
from tiny_table import CONFIG, write_config

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

TREES = {"method": "fastxml", "trees": 5}
AFTER_MERGE = {
    "merge_trees": 1,
    "measure_trees": 1,
    "predict_labels": 1,
    "evaluate_predictions": 1,
    "write_report": 1,
}
ALL = {"estimate_trees": 1, "train_trees": 2, **AFTER_MERGE}


def write(place, trees=TREES, **sections):
    write_config(place.folder / "my.yaml", **{"runs": CONFIG["runs"] | {"trees": trees}} | sections)


@pytest.fixture(scope="module")
def planted(finished, tmp_path_factory):
    place = finished.copy(tmp_path_factory.mktemp("planted"))
    write(place)
    assert place.jobs() == ALL | {"warm_up": 1}
    place.snakemake()
    return place


def test_it_stands_beside_the_others(planted):
    results = planted.folder / "results" / "tiny" / "trees"
    metrics = json.loads((results / "metrics.json").read_text())
    assert metrics["P@1"] > 0.5
    assert "newton_steps" not in metrics
    curve = json.loads((results / "trees.json").read_text())["points"]
    assert [point["trees"] for point in curve] == [1, 2, 3, 4, 5]
    assert curve[-1]["P@1"] == metrics["P@1"]
    page = (planted.folder / "results" / "report.html").read_text()
    assert ">Trees of instances<" in page
    assert "of the first trees alone" in page


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"trees": TREES | {"trees": 6}}, ALL),
        ({"trees": TREES | {"seed": 1}}, ALL),
        ({"fastxml": {"max_leaf": 5}}, ALL),
        ({"trees": TREES | {"weighting": "propensity"}}, ALL),
        ({"trees": TREES | {"threads": 2}}, {}),
        ({"trees": TREES | {"top_k": 3}}, {"predict_labels": 1, "evaluate_predictions": 1, "write_report": 1}),
        ({"train": {"shards": 2, "t": -1.5}}, {"train_shard": 2, "merge_shards": 1, "measure_pruning": 1}),
    ],
)
def test_a_changed_setting_runs_what_depends_on_it(planted, change, expected):
    write(planted, **change)
    try:
        jobs = planted.jobs()
        assert {rule: jobs.get(rule) for rule in expected} == expected
        if "train_shard" in expected:
            assert "train_trees" not in jobs
        else:
            assert jobs == expected
    finally:
        write(planted)
