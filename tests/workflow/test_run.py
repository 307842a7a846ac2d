"""Whole runs on a tiny table."""

import json
import re
import zipfile

import numpy as np
import pytest
import scipy.sparse
from tiny_table import write_config, write_table

from ovaflow.model.trace_file import read_trace

pytestmark = [pytest.mark.workflow, pytest.mark.timeout(600)]


def test_a_run_ends_with_the_report(finished):
    report = finished.folder / "results" / "report.html"
    assert report.is_file()
    assert finished.written.splitlines()[-1] == f"The report is ready: {report}"


def test_kernels_are_compiled_before_the_fan_out(finished):
    compiled = finished.written.index("\nwarm_up ")
    for stage in ("compute_means", "train_shard"):
        assert compiled < finished.written.index(f"\n{stage} ")


@pytest.mark.parametrize("run", ["msi", "dismec"])
def test_the_model_learned_the_words(finished, run):
    metrics = json.loads((finished.folder / "results" / "tiny" / run / "metrics.json").read_text())
    assert metrics["P@1"] > 0.9


def test_nothing_is_left_to_do(finished):
    assert finished.jobs() == {}


def test_every_job_has_a_log_and_a_benchmark(finished):
    logs = finished.folder / "logs"
    expected = {"means", "prepare"} | {f"{run}/train-shard.{k}" for run in ("msi", "dismec") for k in (0, 1)}
    for ending in ("log", "tsv"):
        found = {
            str(path.relative_to(logs / "tiny")).removesuffix(f".{ending}")
            for path in logs.rglob(f"tiny/**/*.{ending}")
        }
        assert expected <= found


def test_snakemakes_own_report_holds_the_page_and_each_runs_figures(finished, tmp_path):
    finished.snakemake("--report", str(tmp_path / "saved.zip"))
    with zipfile.ZipFile(tmp_path / "saved.zip") as saved:
        index = saved.read("saved/report.html").decode()
        (page,) = [name for name in saved.namelist() if name.startswith("saved/data/") and name.endswith("report.html")]
        assert saved.read(page) == (finished.folder / "results" / "report.html").read_bytes()
    ours = json.loads(re.search(r"var categories = (\{.*?\});?\n", index)[1])
    files = [f"results/tiny/{{run}}/{name}.json" for name in ("analysis", "metrics", "prune")]
    assert ours["Report"] == {"Other": ["results/report.html"]}
    for run in ("msi", "dismec"):
        assert sorted(ours["tiny"][run]) == [name.format(run=run) for name in files]
    assert "rare and frequent labels, examples with the words" in index
    assert "Metrics of run <em>msi</em> on the test set of <em>tiny</em>" in index


def test_odd_characters_in_paths_and_columns_reach_no_shell(place):
    name = "a b'c\"d;e$(touch pwned)`touch pwned` & é\\.csv"
    columns = ("what's $HOME?", 'tags; or "labels"')
    write_table(place.folder / name, separator=";'", columns=columns)
    entry = {"format": "csv", "train": name, "text_column": columns[0], "labels_column": columns[1]}
    write_config(place.folder / "my.yaml", datasets={"odd": entry | {"label_separator": ";'"}})
    place.snakemake("results/odd/dataset.h5")
    assert (place.folder / "results" / "odd" / "dataset.h5").is_file()
    assert not list(place.folder.rglob("pwned"))


def test_pairs_of_matrices(place):
    generator = np.random.default_rng(3)
    entry = {"format": "npz"}
    for role, n in (("train", 40), ("test", 10)):
        for name, columns in ((role, 12), (f"{role}_labels", 4)):
            entry[name] = f"{name}.npz"
            matrix = scipy.sparse.csr_array(generator.integers(0, 2, (n, columns)), dtype=np.float32)
            scipy.sparse.save_npz(place.folder / entry[name], matrix)
    write_config(place.folder / "my.yaml", datasets={"pairs": entry})
    place.snakemake("results/pairs/dataset.h5")
    assert (place.folder / "results" / "pairs" / "dataset.h5").is_file()


def test_a_trace_needs_no_training(place):
    write_table(place.folder / "records.csv")
    write_config(place.folder / "my.yaml", runs={"tree": {"initialization": "label-tree", "trace": 5}})
    place.snakemake("results/tiny/tree/trace.h5")
    trace = read_trace(place.folder / "results" / "tiny" / "tree" / "trace.h5")
    assert len(trace.of_labels["labels"]) >= 5
    assert not (place.folder / "results" / "tiny" / "tree" / "shards").exists()


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ({"train": {"c": 2}}, "my.yaml: train.c: unknown key; did you mean C?"),
        ({"datasets": {"a b": {"source": "builtin"}}}, 'my.yaml: datasets: "a b" cannot be a name'),
        ({"datasets": {"a": {"format": "csv", "train": "missing.csv"}}}, "datasets.a.train: no such file: missing.csv"),
        ({"datasets": {"eurlex": {"source": "catalogue"}}}, "no dataset 'eurlex'"),
    ],
)
def test_a_wrong_config_is_said_in_one_line(place, sections, expected):
    write_config(place.folder / "my.yaml", **sections)
    written = place.snakemake("--dry-run", status=2)
    (line,) = [line for line in written.splitlines() if not line.startswith("Using workflow specific profile")]
    assert line.startswith("ovaflow: error: ")
    assert expected in line


def test_values_on_the_command_line(place):
    written = place.snakemake("--dry-run", "--printshellcmds", "--config", "train={C: 2, shards: 1}")
    assert "--C=2.0" in written
    assert "--shards=1" in written


def test_the_default_run_needs_no_config(place):
    written = place.snakemake("--dry-run", configfile=None)
    assert "results/docstrings/dismec/shards/7.h5" in written


@pytest.mark.parametrize("name", ["features", "own-csv", "public", "raw-tsv", "sweep", "rembrandt"])
def test_examples_are_ready_to_run(place, name):
    tibkat = [f"data/tibkat/{file}" for file in ("train_raw.tsv.gz", "test_raw.tsv.gz", "labels.txt.gz")]
    for path in ("records.csv", *tibkat, "data/bibtex/train.txt.gz", "data/bibtex/test.txt.gz"):
        (place.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (place.folder / path).touch()
    written = place.snakemake("--dry-run", configfile=str(place.checkout / "config" / "examples" / f"{name}.yaml"))
    assert "train_shard" in written


def test_a_failed_job_says_why(place):
    write_config(place.folder / "my.yaml", prepare={"text_column": "nope"})
    written = place.snakemake("results/tiny/dataset.h5", status=1)
    assert "ovaflow: error: records.csv, line 1: no column 'nope'" in written
    assert "Traceback" not in written
