"""What a sample says against what training took. Figures of jobs are those of processes of their own."""

import json
import subprocess
import sys

import numpy as np
import pytest

from ovaflow.artifacts.means import compute_means, write_means
from ovaflow.cli import main
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.estimate.sample import in_own_process
from ovaflow.fastxml.training import read_tree_shard
from ovaflow.model.merge import merge
from ovaflow.model.training_file import read_shard
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.plan import write_plan

LABELS = {"prune": 0.05, "n_labels": 100}


@pytest.fixture(scope="module")
def inputs(path):
    dataset = open_dataset(path)
    write_means(path.parent / "means.h5", compute_means(dataset.train.X, dataset.positives), dataset.checksum)
    write_plan(path.parent / "plan.tsv", [np.arange(dataset.n_labels)], np.ones(dataset.n_labels))
    return [f"--means={path.parent / 'means.h5'}", f"--plan={path.parent / 'plan.tsv'}", "--shard=0"]


def job(command, *options):
    subprocess.run([sys.executable, "-P", "-m", "ovaflow", command, *options], check=True, capture_output=True)


def settings_of(options):
    return dict(option.removeprefix("--").split("=") for option in options)


@pytest.mark.parametrize(
    ("options", "threads"),
    [
        ([], 1),
        ([], 2),
        (["--loss=logistic"], 1),
        (["--regularization=l1"], 1),
        (["--regularization=l1", "--loss=logistic"], 1),
    ],
)
def test_memory_of_a_job(path, inputs, tmp_path, options, threads):
    ours = in_own_process("one-vs-all", dataset=str(path), settings=settings_of(options), **LABELS).demand
    # the second job finds compiled kernels
    for name in ("first.h5", "second.h5"):
        job("train-shard", str(path), *inputs, *options, f"--threads={threads}", f"--output={tmp_path / name}")
    theirs = read_shard(tmp_path / "second.h5").peak_rss_bytes
    assert 0.8 * theirs <= ours.bytes_of(1, threads) <= 1.25 * theirs
    assert ours.request(1, threads).mem_mb * 1e6 > theirs


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_of_growing_trees(path, tmp_path, threads):
    ours = in_own_process("fastxml", dataset=str(path), settings={"trees": 2}).demand
    for name in ("first.h5", "second.h5"):
        job("train-trees", str(path), "--trees=2", f"--threads={threads}", f"--output={tmp_path / name}")
    theirs = read_tree_shard(tmp_path / "second.h5").peak_rss_bytes
    assert 0.8 * theirs <= ours.bytes_of(1, threads) <= 1.25 * theirs


def test_size_of_the_model(path, inputs, tmp_path, capfd):
    job("train-shard", str(path), *inputs, f"--output={tmp_path / '0.h5'}")
    theirs = merge([tmp_path / "0.h5"], open_dataset(path), 0.05, tmp_path / "model.h5", tmp_path / "training.h5")
    options = [str(path), "--prune=0.05", "--json"]
    for n_labels, tolerance in ((100, 0.2), (1000, 1e-9)):
        assert main(["estimate", *options, f"--labels={n_labels}"]) == 0
        ours = json.loads(capfd.readouterr().out)
        assert ours["weights"] == pytest.approx(theirs, rel=tolerance)
        assert ours["model_bytes"] == pytest.approx((tmp_path / "model.h5").stat().st_size, rel=max(tolerance, 0.1))
    assert ours["sampled_labels"] == ours["labels"] == 299


def test_command(path, tmp_path, capfd):
    output = tmp_path / "estimate.json"
    options = ["--labels=40", "--shards=2", "--prune=0.001", "--initialization=zero", f"--output={output}"]
    assert main(["estimate", str(path), *options]) == 0
    written = capfd.readouterr().out
    names = [line[:12].rstrip() for line in written.splitlines()]
    assert names == ["sample", "core time", "wall time", "memory", "model", "suggestion"]
    assert "of 299 labels with positives" in written
    assert "2 jobs of one thread" in written
    assert json.loads(output.read_text())["core_seconds"] > 0
    assert main(["estimate", str(path), "--method=fastxml", "--trees=7", "--max-leaf=1000"]) == 0
    assert "1 of 7 trees" in capfd.readouterr().out
    assert main(["estimate", str(path), "--prune=0.001", "--stored-threshold=0.01"]) == 2
    assert "give --stored-threshold=0.001" in capfd.readouterr().err


def test_suggestions_follow_cores_and_memory(path, monkeypatch):
    from ovaflow.estimate import summary

    sample = in_own_process("one-vs-all", dataset=str(path), settings={}, **LABELS)
    asked = []
    for hours, gigabytes in ((0.0001, 64), (1, 64), (100, 64), (100, 4)):
        monkeypatch.setattr(summary, "_memory", lambda gigabytes=gigabytes: gigabytes << 30)
        monkeypatch.setattr(summary, "read_allowance", lambda: type("Allowance", (), {"cores": 32}))
        object.__setattr__(sample.demand, "core_seconds", 3600.0 * hours)
        figures = summary.summarize(sample, path, 1, 8)
        asked.append((figures["suggested_shards"], figures["suggested_threads"]))
        assert figures["wall_seconds"] == figures["job_seconds"]
    assert asked[0] == (1, 1)
    assert asked[1] == (32, 1)
    assert asked[2] == (608, 1)
    shards, threads = asked[3]
    assert threads > 1
    assert shards % (32 // threads) == 0


def test_a_dataset_without_positives_is_refused(tmp_path, capfd):
    split = Split(from_scipy(np.ones((4, 2))), from_scipy(np.zeros((4, 3))))
    write_dataset(tmp_path / "dataset.h5", split, split, ["a", "b", "c"], [], {"bias": 1.0})
    assert main(["estimate", str(tmp_path / "dataset.h5")]) == 2
    assert "no label has positives" in capfd.readouterr().err
