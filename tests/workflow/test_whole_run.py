"""A whole run on a tiny table, and what Snakemake makes of configs."""

import json
import re
import zipfile
from itertools import chain

import pytest
from pipeline_folder import ROOT
from tiny_table import TINY_CONFIG

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]

OF_A_RUN = ("merge_shards", "predict_labels", "evaluate_predictions")
JOBS = {
    None: dict.fromkeys(
        (
            "prepare_dataset",
            "warm_up",
            "compute_means",
            "plan_shards",
            "estimate_training",
            "write_report",
        ),
        1,
    ),
    "msi": dict.fromkeys(OF_A_RUN, 1) | {"train_shard": 2},
    "dismec": dict.fromkeys(OF_A_RUN, 1) | {"train_shard": 2},
}


def test_a_line_for_each_stage_and_the_report_in_the_end(finished) -> None:
    lines = finished.written.splitlines()
    stages = [
        line.split()[0]
        for line in lines
        if re.match(r"\w+ (tiny(/\w+)? )? *[\d.]+ ", line) and "/2 jobs" not in line
    ]
    assert sorted(stages) == sorted(chain.from_iterable(JOBS.values()))
    assert "16 jobs to do" in lines
    assert any(re.fullmatch(r"train_shard tiny/msi +[\d.]+ s  2 jobs", line) for line in lines)
    # kernels are compiled before the jobs that use them
    assert all(
        stages.index("warm_up") < stages.index(stage) for stage in ("compute_means", "train_shard")
    )
    # of equal runs the first of the config, which was written in the order of names
    best = max(sorted(TINY_CONFIG["runs"]), key=lambda run: finished.metrics(run)["nDCG@5"])
    assert lines[-3:-1] == [
        "Done: 16 of 16 jobs",
        f"Labels of new records by the best run, {best}: ovaflow predict"
        f" results/tiny/{best}/model.h5 FILE",
    ]
    assert re.fullmatch("The report is ready: /.*/results/report.html", lines[-1])


def test_results(finished) -> None:
    for run in ("msi", "dismec"):
        assert finished.metrics(run)["P@1"] > 0.9
    assert finished.jobs() == {}


def test_jobs_ask_for_the_memory_they_take_and_little_more(finished) -> None:
    blocks = re.findall(
        r"^ *benchmark: (\S+)\n(?: +.*\n)*? +resources: .*\bmem_mb=(\d+)",
        finished.dry_run("--forceall"),
        re.MULTILINE,
    )
    assert len(blocks) == 16
    for benchmark, ours in blocks:
        header, values = (finished.folder / benchmark).read_text().splitlines()[:2]
        theirs = dict(zip(header.split("\t"), values.split("\t"), strict=True))["max_rss"]
        # of a tiny table: that of the program; not measured where the job was over at once
        assert (float(theirs) if theirs[0].isdigit() else 0) < int(ours) <= 1200, benchmark


def test_snakemakes_own_report_holds_the_page_and_each_runs_figures(finished, tmp_path) -> None:
    finished.snakemake("--report", str(tmp_path / "saved.zip"))
    with zipfile.ZipFile(tmp_path / "saved.zip") as saved:
        index = saved.read("saved/report.html").decode()
        (page,) = [
            name
            for name in saved.namelist()
            if name.startswith("saved/data/") and name.endswith("report.html")
        ]
        assert saved.read(page) == (finished.folder / "results" / "report.html").read_bytes()
    ours = json.loads(re.search(r"var categories = (\{.*?\});?\n", index)[1])
    files = [
        f"results/tiny/{{run}}/{name}" for name in ("analysis.json", "labels.csv", "metrics.json")
    ]
    assert ours["Report"] == {"Other": ["results/report.html"]}
    for run in ("msi", "dismec"):
        assert sorted(ours["tiny"][run]) == [name.format(run=run) for name in files]
    assert "how good the runs are, what to do next" in index
    assert "Metrics of run <em>msi</em> on the test set of <em>tiny</em>" in index


def test_the_catalogue_runs_the_same_workflow(place) -> None:
    place.snakefile = ROOT / "workflow" / "Snakefile"
    # a small table, of which nothing is estimated
    of_no_run = {rule: amount for rule, amount in JOBS[None].items() if rule != "estimate_training"}
    assert place.jobs() == JOBS | {None: of_no_run}


def test_a_mistake_in_the_config_is_one_line(place) -> None:
    place.configure(datasets={"a": {"format": "csv", "train": "missing.csv"}})
    written = place.snakemake("--dry-run", status=2)
    (line,) = [
        line
        for line in written.splitlines()
        if not line.startswith("Using workflow specific profile")
    ]
    assert line.startswith("ovaflow: error: ")
    assert "datasets.a.train: no such file: missing.csv" in line


def test_values_on_the_command_line(place) -> None:
    written = place.dry_run("--printshellcmds", "--config", "train={C: 2, shards: 1}")
    assert "--C=2.0" in written
    assert "--shards=1" in written


@pytest.mark.parametrize(
    "example", sorted((ROOT / "config" / "examples").glob("*.yaml")), ids=lambda path: path.stem
)
def test_examples_are_ready_to_run(place, example) -> None:
    for path in re.findall(r"\bdata/[\w./-]*\w", example.read_text()):
        (place.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (place.folder / path).touch()
    assert "rule write_report" in place.dry_run(configfile=str(example))
