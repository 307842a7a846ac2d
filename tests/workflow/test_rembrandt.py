"""Runs with label embeddings beside those of the tiny table."""

import json

import pytest
from tiny_table import CONFIG, write_config

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

EMBEDDED = {"method": "rembrandt", "rank": 8}
AFTER_JOIN = {"join_decoder": 1, "predict_labels": 1, "evaluate_predictions": 1, "write_report": 1}
AFTER_TUNE = {"tune_decoder": 1, "train_decoder": 2, **AFTER_JOIN}
AFTER_PROJECT = {"project_instances": 1, **AFTER_TUNE}
ALL = {"embed_labels": 1, "describe_embedding": 1, **AFTER_PROJECT}


def write(place, embedded=EMBEDDED, more=None, **sections):
    runs = CONFIG["runs"] | {"embedded": embedded} | (more or {})
    write_config(place.folder / "my.yaml", **{"runs": runs} | sections)


@pytest.fixture(scope="module")
def embedded(finished, tmp_path_factory):
    place = finished.copy(tmp_path_factory.mktemp("embedded"))
    write(place)
    assert place.jobs() == ALL | {"warm_up": 1}
    place.snakemake()
    return place


def test_it_stands_beside_the_others(embedded):
    results = embedded.folder / "results" / "tiny" / "embedded"
    metrics = json.loads((results / "metrics.json").read_text())
    assert metrics["P@1"] > 0.8
    described = json.loads((results / "embedding.json").read_text())
    assert [point["rank"] for point in described["points"]] == [1, 2, 4, 8]
    page = (embedded.folder / "results" / "report.html").read_text()
    assert ">Label embeddings<" in page


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"embedded": EMBEDDED | {"rank": 6}}, ALL),
        ({"embedded": EMBEDDED | {"seed": 1}}, ALL),
        ({"rembrandt": {"embedding": "plst"}}, ALL),
        ({"embedded": EMBEDDED | {"features": "gaussian", "random_features": 20}}, AFTER_PROJECT),
        ({"embedded": EMBEDDED | {"random_features": 20}}, {}),
        ({"embedded": EMBEDDED | {"ridge": [1, 10]}}, ALL),
        ({"embedded": EMBEDDED | {"decoder_C": 2}}, AFTER_TUNE),
        ({"embedded": EMBEDDED | {"decoder_C": [1, 2]}}, AFTER_TUNE),
        ({"embedded": EMBEDDED | {"decoder_epsilon": 0.01}}, AFTER_TUNE),
        ({"embedded": EMBEDDED | {"shards": 3}}, {"train_decoder": 3, **AFTER_JOIN}),
        ({"embedded": EMBEDDED | {"threads": 2}}, {}),
        (
            {"embedded": EMBEDDED | {"top_k": 3}},
            {"predict_labels": 1, "evaluate_predictions": 1, "write_report": 1},
        ),
    ],
)
def test_a_changed_setting_runs_what_depends_on_it(embedded, change, expected):
    write(embedded, **change)
    try:
        assert embedded.jobs() == expected
    finally:
        write(embedded)


def test_another_run_uses_the_embedding_that_is_there(embedded):
    write(embedded, more={"other": EMBEDDED | {"decoder_C": 3}})
    try:
        jobs = embedded.jobs()
        assert "embed_labels" not in jobs
        assert jobs["project_instances"] == 1
    finally:
        write(embedded)
