import json
import re
import subprocess
import sys

import numpy as np
import pytest
from commands import ovaflow
from tiny_table import write_table

from ovaflow.dataset.dataset import Split, open_dataset, write_dataset
from ovaflow.estimate import summary
from ovaflow.estimate.demand import Demand
from ovaflow.estimate.sample import Sample, sample_in_process
from ovaflow.initialization.means import compute_means
from ovaflow.methods.fastxml.settings import GrowTrees
from ovaflow.methods.fastxml.training import TreeShard
from ovaflow.model.merge import merge
from ovaflow.model.training_file import Shard
from ovaflow.settings.train import SampleLabels
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.plan import write_plan


@pytest.fixture(scope="module")
def job(path):
    """A function that runs a training job on the dataset in a process of its own, and returns the
    file that it wrote.
    """
    folder = path.parent
    dataset = open_dataset(path)
    compute_means(dataset.train.X, dataset.positives).write(folder / "means.h5", dataset=dataset)
    write_plan(folder / "plan.tsv", [np.arange(dataset.n_labels)], np.ones(dataset.n_labels))

    def run(command, *options, name="shard.h5"):
        words = [command, str(path), *options, f"--output={name}"]
        if "--method=fastxml" not in options:
            words += ["--means=means.h5", "--plan=plan.tsv", "--shard=0"]
        subprocess.run(
            [sys.executable, "-P", "-m", "ovaflow", *words],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        return folder / name

    return run


def assert_near(ours, theirs, threads) -> None:
    assert 0.8 * theirs <= ours.peak_bytes(1, threads) <= 1.25 * theirs
    assert ours.request(1, threads).mem_mb * 1e6 > theirs


@pytest.mark.long
def test_memory_of_a_job_and_size_of_the_model(path, job, tmp_path) -> None:
    sample = sample_in_process("one-vs-all", path, SampleLabels(prune=0.05, sample=1000), {})
    shard = job("train-shard", "--threads=2")
    assert_near(sample.demand, Shard.open(shard).peak_rss_bytes, 2)
    weights, _ = merge(
        [shard], open_dataset(path), 0.05, tmp_path / "model.h5", tmp_path / "training.h5"
    )
    # of all labels
    assert sample.solved == sample.total == 99
    assert sample.weights == pytest.approx(weights)
    figures = summary.summarize(sample, path, 1, 1, "labels")
    assert figures["model_bytes"] == pytest.approx((tmp_path / "model.h5").stat().st_size, rel=0.1)
    assert figures["core_seconds_with_rerank"] is None
    few = sample_in_process("one-vs-all", path, SampleLabels(prune=0.05, sample=40), {})
    assert few.weights == pytest.approx(weights, rel=0.2)
    # the machine's part is left when there is no error of sampling
    ours, theirs = (found.core_error / found.demand.core_seconds for found in (sample, few))
    assert ours == pytest.approx(0.1, abs=0.01)
    assert ours < theirs < 1


@pytest.mark.long
def test_memory_of_another_problem(path, job) -> None:
    settings = {"regularization": "l1", "loss": "logistic"}
    ours = sample_in_process(
        "one-vs-all", path, SampleLabels(**settings, prune=0.05, sample=40), {}
    ).demand
    shard = job("train-shard", *(f"--{name}={value}" for name, value in settings.items()))
    assert_near(ours, Shard.open(shard).peak_rss_bytes, 1)


@pytest.mark.long
def test_memory_of_growing_trees(path, job) -> None:
    ours = sample_in_process("fastxml", path, GrowTrees(trees=2), {}).demand
    shard = job("train-shard", "--method=fastxml", "--trees=2", "--threads=2")
    assert_near(ours, TreeShard.open(shard).peak_rss_bytes, 2)


def test_the_command_describes_a_training(tmp_path) -> None:
    write_table(tmp_path / "records.csv")
    path = tmp_path / "dataset.h5"
    output = tmp_path / "estimate.json"
    table = f"--train={tmp_path}/records.csv", "--label-separator=|"
    ovaflow("prepare", "--format=csv", table, f"--output={path}")
    options = "--labels=40", "--shards=2", "--prune=0.001", "--initialization=zero"
    written = ovaflow("estimate", path, options, f"--output={output}")
    names = [line[:12].rstrip() for line in written.splitlines()]
    assert names == ["sample", "core time", "wall time", "memory", "model"]
    assert "of 10 labels with positives" in written
    assert re.search(r"core time +\S+ s ± \d+ %\n", written)
    assert "2 jobs of one thread" in written
    assert json.loads(output.read_text())["core_seconds"] > 0
    written = ovaflow("estimate", path, options)
    assert "suggestion  shards: 1, threads: 1; " in written
    assert re.search(r"with rerank +\S.* of core time, the default for texts\n", written)
    figures = json.loads(
        ovaflow("estimate", path, "--method=fastxml", "--trees=7", "--max-leaf=1000", "--json")
    )
    assert (figures["sampled_trees"], figures["trees"]) == (1, 7)
    assert figures["core_seconds_error"] is None
    # texts are trained twice
    sample = Sample(1, 1, Demand(90, 10, 0, 0, 0), 0, 0)
    figures = summary.summarize(sample, path, 1, 1, "labels")
    assert figures["core_seconds_with_rerank"] == pytest.approx(180)


@pytest.mark.parametrize(
    ("hours", "gigabytes", "shards", "threads"),
    [(0.0001, 64, 1, 1), (1, 64, 32, 1), (100, 64, 608, 1), (100, 4, 304, 2)],
)
def test_suggestions_follow_cores_and_memory(hours, gigabytes, shards, threads) -> None:
    demand = Demand(
        3600.0 * hours, job_seconds=1.0, job_bytes=2e8, thread_bytes=1e7, result_bytes=4e8
    )
    assert summary.suggest_jobs(demand, 32, gigabytes << 30) == (shards, threads)


def test_a_dataset_without_positives_is_refused(tmp_path, capfd) -> None:
    split = Split(from_scipy(np.ones((4, 2))), from_scipy(np.zeros((4, 3))))
    path = tmp_path / "dataset.h5"
    write_dataset(path, split, split, list("abc"), [], {"bias": 1.0})
    ovaflow("estimate", path, status=2)
    # said by the process that trains a sample
    assert "no label has positives" in capfd.readouterr().err
