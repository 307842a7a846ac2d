"""Runs of trees and of label embeddings beside those of the tiny table."""

import json

import pytest
from tiny_table import CONFIG, write_config

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

TREES = {"method": "fastxml", "trees": 5}
EMBEDDED = {"method": "rembrandt", "rank": 8}
EVALUATED = {"predict_labels": 1, "evaluate_predictions": 1, "write_report": 1}
GROWN = {"estimate_trees": 1, "train_trees": 2, "merge_trees": 1, "measure_trees": 1, **EVALUATED}
JOINED = {"join_decoder": 1, **EVALUATED}
TUNED = {"tune_decoder": 1, "train_decoder": 2, **JOINED}
PROJECTED = {"project_instances": 1, **TUNED}
EMBEDDING = {"embed_labels": 1, "describe_embedding": 1, **PROJECTED}
BOTH = {
    rule: count * (2 if rule in ("predict_labels", "evaluate_predictions") else 1) for rule, count in EVALUATED.items()
}


def write(place, trees=TREES, embedded=EMBEDDED, more=None, **sections):
    runs = CONFIG["runs"] | {"trees": trees, "embedded": embedded} | (more or {})
    write_config(place.folder / "my.yaml", **{"runs": runs} | sections)


@pytest.fixture(scope="module")
def both(finished, tmp_path_factory):
    place = finished.copy(tmp_path_factory.mktemp("both"))
    write(place)
    assert place.jobs() == {**GROWN, **EMBEDDING, **BOTH, "warm_up": 1}
    place.snakemake()
    return place


def test_they_stand_beside_the_others(both):
    results = both.folder / "results" / "tiny"
    metrics = {run: json.loads((results / run / "metrics.json").read_text()) for run in ("trees", "embedded")}
    assert metrics["trees"]["P@1"] > 0.5
    assert "newton_steps" not in metrics["trees"]
    curve = json.loads((results / "trees" / "trees.json").read_text())["points"]
    assert [point["trees"] for point in curve] == [1, 2, 3, 4, 5]
    assert curve[-1]["P@1"] == metrics["trees"]["P@1"]
    assert metrics["embedded"]["P@1"] > 0.8
    described = json.loads((results / "embedded" / "embedding.json").read_text())
    assert [point["rank"] for point in described["points"]] == [1, 2, 4, 8]
    page = (both.folder / "results" / "report.html").read_text()
    for heading in ("Trees of instances", "Label embeddings"):
        assert f">{heading}<" in page


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"trees": TREES | {"trees": 6}}, GROWN),
        ({"fastxml": {"max_leaf": 5}}, GROWN),
        ({"trees": TREES | {"weighting": "propensity"}}, GROWN),
        ({"trees": TREES | {"threads": 2}}, {}),
        ({"trees": TREES | {"top_k": 3}}, EVALUATED),
        ({"embedded": EMBEDDED | {"rank": 6}}, EMBEDDING),
        ({"rembrandt": {"embedding": "plst"}}, EMBEDDING),
        ({"embedded": EMBEDDED | {"ridge": [1, 10]}}, EMBEDDING),
        ({"embedded": EMBEDDED | {"features": "gaussian", "random_features": 20}}, PROJECTED),
        ({"embedded": EMBEDDED | {"random_features": 20}}, {}),
        ({"embedded": EMBEDDED | {"decoder_C": [1, 2]}}, TUNED),
        ({"embedded": EMBEDDED | {"decoder_epsilon": 0.01}}, TUNED),
        ({"embedded": EMBEDDED | {"shards": 3}}, {"train_decoder": 3, **JOINED}),
        ({"more": {"other": EMBEDDED | {"decoder_C": 3}}}, PROJECTED | {"describe_embedding": 1}),
    ],
)
def test_a_changed_setting_runs_what_depends_on_it(both, change, expected):
    write(both, **change)
    try:
        assert both.jobs() == expected
    finally:
        write(both)
