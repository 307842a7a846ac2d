"""Runs of other methods, a second stage, sweeps, and runs that start from others, added to a
finished run.
"""

import json

import pytest
import yaml
from tiny_table import write_named_table

from ovaflow.cli import main
from ovaflow.machine.shared_files import private_folder
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.registry import all_steps
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.storage.hdf5 import open_artifact, read_inputs

pytestmark = [pytest.mark.workflow, pytest.mark.long, pytest.mark.timeout(600)]

RUNS = yaml.safe_load("""
msi: {rerank: 0.3}
dismec: {initialization: zero}
trees: {method: fastxml, trees: 5, shards: 1}
embedded: {method: rembrandt, rank: 8, shards: 1}
swept: {sweep: {C: [1, 2]}, shards: 1}
""")
PREDICTED = {"predict_labels": 1, "evaluate_predictions": 1}
JOINED = {"merge_shards": 1, **PREDICTED}
TRAINED = {"train_shard": 1, **JOINED}
FITTED = {"fit_reranker": 1, "measure_reliability": 1, **PREDICTED}
RERANKED = FITTED | {"predict_labels": 2, "list_doubts": 1}
# once without the instances that are held out
SECOND_STAGE = {
    "train_shard": 2,
    "choose_prune": 1,
    "merge_shards": 2,
    **RERANKED,
}
HELD_OUT = {"hold_out_instances": 1, "compute_means": 1}
REPORT = {"write_report": 1}
TREES = {"estimate_training": 1}
EMBEDDING = {"embed_labels": 1}
PROJECTED = {"project_instances": 1}
TUNED = {"tune_decoder": 1}


def write(place, settings=None, **changes) -> None:
    """The config with some runs changed; None leaves a run out."""
    runs = {
        run: RUNS.get(run, {}) | changes.get(run, {})
        for run in RUNS | changes
        if changes.get(run, 0) is not None
    }
    sections = {"report": {"examples": 1}} | (settings or {})
    place.configure(runs=runs, **sections)


@pytest.fixture(scope="module")
def more(finished, tmp_path_factory):
    place = finished.copy(tmp_path_factory.mktemp("more"))
    write(place)
    (place.folder / "guesses.csv").touch()
    assert place.jobs() == {
        None: {
            "warm_up": 1,
            "plan_shards": 2,
            **HELD_OUT,
            **TREES,
            **EMBEDDING,
            **PROJECTED,
            **TUNED,
            **REPORT,
        },
        "msi": SECOND_STAGE,
        "trees": TRAINED,
        "embedded": {"describe_embedding": 1, **TRAINED},
        "swept.C-1": TRAINED,
        "swept.C-2": TRAINED,
    }
    place.shared = {path.name for path in private_folder().iterdir()}
    place.temporary = tmp_path_factory.mktemp("temporary")
    place.snakemake(TMPDIR=str(place.temporary))
    return place


@pytest.mark.parametrize(("run", "least"), [("trees", 0.5), ("embedded", 0.8)])
def test_trees_and_embeddings(more, run, least) -> None:
    assert more.metrics(run)["P@1"] > least


def test_a_run_leaves_nothing_behind(more) -> None:
    paths = [*more.folder.rglob("*"), *more.temporary.rglob("*")]
    left = [path for path in paths if path.is_file()]
    assert not [path for path in left if ".partial" in path.name or more.temporary in path.parents]
    assert not list(more.folder.glob(".snakemake/locks/*"))
    assert {path.name for path in private_folder().iterdir()} - more.shared <= {
        f"cpu{cpu}.lock" for cpu in range(999)
    }
    assert more.processes() == []


def test_a_second_stage_of_few_instances_is_not_used(more) -> None:
    assert Reranker.open_header(more.result("msi", "reranker.h5")).parameters["fraction"] == 0.3
    assert (
        "the second stage is not used: "
        in (more.folder / "logs" / "tiny" / "msi" / "rerank.log").read_text()
    )
    assert "F1-fit" not in more.metrics("msi")


def test_a_second_stage_with_suggestions_of_a_file(place) -> None:
    records = place.folder / "records.csv"
    guesses = place.folder / "guesses.csv"
    write_named_table(records)
    lines = range(2, records.read_text().count("\n") + 1)
    guesses.write_text("id,label\n" + "".join(f"line {number},name1\n" for number in lines))
    sources = {"rerank": 0.6, "rerank_with": ["guesses.csv"], "optimise": "macro-F1"}

    def write(**msi) -> None:
        place.configure(runs={"msi": msi}, train={"shards": 1}, report={"examples": 0})

    write(**sources)
    place.snakemake()
    measured = json.loads(place.result("msi", "reliability.json").read_text())
    assert place.metrics("msi")["F1-fit"] == measured["suggested"][-1]["F1"] > 0.8
    assert "suggestions of guesses" in measured["fitted"]["check"]["lost"]
    assert ">suggestions of guesses<" in (place.folder / "results" / "report.html").read_text()
    assert place.jobs() == {}
    guesses.write_text(guesses.read_text().replace("name1", "name2"))
    assert place.jobs() == {"msi": FITTED, None: REPORT}
    write(rerank=0.6)
    assert place.jobs() == {"msi": FITTED, None: REPORT}


def test_each_run_of_a_sweep_starts_from_its_neighbour(more) -> None:
    with open_artifact(more.result("swept.C-2", "shards", "0.h5"), "shard") as file:
        assert (
            read_inputs(file)["earlier"]
            == OneVsAll.open(more.result("swept.C-1", "model.h5")).checksum
        )
    training = more.result("swept.C-2", "shards").resolve().parent.name
    log = (more.folder / "logs/tiny/trainings" / training / "train-shard.0.log").read_text()
    assert "10 of 10 labels start from the earlier model" in log


def test_the_report_has_a_section_of_each_kind(more) -> None:
    page = (more.folder / "results" / "report.html").read_text()
    for text in (">Trees of instances<", ">Label embeddings<", "<h3>Sweeps</h3>", "swept.C-2"):
        assert text in page


# changed runs, other sections, and the jobs that follow besides the report
CHANGES = {
    "nothing": ("{}", "{}", {}),
    "what makes other models": (
        "{trees: {trees: 6}, embedded: {rank: 6}, swept: {sweep: {C: [1, 3]}}, msi: {top_k: 3}}",
        "{}",
        {
            None: TREES | EMBEDDING | PROJECTED | TUNED,
            "trees": TRAINED,
            "embedded": {"describe_embedding": 1, **TRAINED},
            "swept.C-3": TRAINED,
            "msi": {"measure_reliability": 1, **PREDICTED},
        },
    ),
    "sections, and a value at the lower end": (
        "{swept: {sweep: {C: [0.5, 1, 2]}}, msi: {prune: 0.05}}",
        "{fastxml: {max_leaf: 5}, rembrandt: {embedding: plst}}",
        {
            # of trees, and of the lowest C
            None: EMBEDDING | PROJECTED | TUNED | {"estimate_training": 2},
            "trees": TRAINED,
            "embedded": {"describe_embedding": 1, **TRAINED},
            "swept.C-0.5": TRAINED,
            "swept.C-1": TRAINED,
            "swept.C-2": TRAINED,
            # the model, and the one without the instances that are held out
            "msi": {"merge_shards": 2, **RERANKED},
        },
    ),
    "weighting, features, and a value in between": (
        "{trees: {weighting: propensity}, embedded: {features: gaussian, random_features: 20}, "
        "swept: {sweep: {C: [1, 1.5, 2]}}}",
        "{}",
        {
            None: TREES | PROJECTED | TUNED,
            "trees": TRAINED,
            "embedded": TRAINED,
            "swept.C-1.5": TRAINED,
            "swept.C-2": TRAINED,
        },
    ),
    "the decoder": (
        "embedded: {decoder: softmax}",
        "{}",
        {None: PROJECTED | TUNED, "embedded": TRAINED},
    ),
    "a run that starts from another": (
        "later: {initialization: pretrained, pretrained: swept.C-1, shards: 1}",
        "{}",
        {"later": TRAINED},
    ),
    "what is not used, and a value less": (
        "{trees: {threads: 2}, embedded: {random_features: 20}, swept: {sweep: {C: [1]}}}",
        "{}",
        {None: {}},
    ),
    "another share held out": (
        "msi: {rerank: 0.4}",
        "{}",
        {None: HELD_OUT | {"plan_shards": 1}, "msi": SECOND_STAGE},
    ),
    "suggestions of a file": ("msi: {rerank_with: [guesses.csv]}", "{}", {"msi": FITTED}),
    "no second stage": ("msi: {rerank: 0}", "{}", {"msi": JOINED}),
    "methods less": ("{trees: null, embedded: null}", "{}", {None: {}}),
    "top_k and decoder_C": (
        "{trees: {top_k: 3}, embedded: {decoder_C: [1, 2]}}",
        "{}",
        {None: TUNED, "trees": PREDICTED, "embedded": TRAINED},
    ),
    "shards of a decoder, and a run that shares its embedding": (
        "{embedded: {shards: 3}, other: {method: rembrandt, rank: 8, shards: 1, decoder_epsilon:"
        " 0.01}}",
        "{}",
        {
            None: TUNED,
            "embedded": TRAINED | {"train_shard": 3},
            "other": {"describe_embedding": 1, **TRAINED},
        },
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_setting_runs_what_depends_on_it(more, change) -> None:
    runs, settings, expected = CHANGES[change]
    write(more, yaml.safe_load(settings), **yaml.safe_load(runs))
    assert more.jobs() == (expected and expected | {None: expected.get(None, {}) | REPORT})


def test_a_revised_choice_of_the_threshold_trains_nothing(more, monkeypatch) -> None:
    write(more)
    revised = all_steps()["choose-prune"]._replace(revision=9)
    monkeypatch.setitem(all_steps(), "choose-prune", revised)
    chosen = {"choose_prune": 1, "merge_shards": 2, **RERANKED}
    assert more.jobs() == {None: REPORT, "msi": chosen}


@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_a_profile_groups_the_shards_of_runs_that_start_from_each_other(more, profile) -> None:
    # a group that contained shards of both would depend on itself
    write(more, later={"initialization": "pretrained", "pretrained": "swept.C-1", "shards": 1})
    jobs = more.jobs("--forceall", f"--workflow-profile={profile}")
    assert [jobs[run]["train_shard"] for run in ("swept.C-1", "swept.C-2", "later")] == [1, 1, 1]


def test_a_model_from_elsewhere(more) -> None:
    run = {"initialization": "pretrained", "pretrained": "old.h5"}
    write(more, new=run)
    assert "runs.new.pretrained: no run and no file old.h5; paths are relative to" in more.dry_run()
    (more.folder / "old.h5").touch()
    assert "--earlier=old.h5" in more.dry_run("--printshellcmds")


def test_an_estimate_starts_from_a_model(more, capfd) -> None:
    start = ["estimate", str(more.result("dataset.h5")), "--initialization=pretrained"]
    earlier = f"--earlier={more.result('swept.C-2', 'model.h5')}"
    assert main([*start, earlier, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["sampled_labels"] == 10
    # a process of its own says so
    assert main(start) == 2
    assert "give --earlier=MODEL" in capfd.readouterr().err
