"""Estimates from a sample against training all labels."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from ovaflow.artifacts.means import compute_means
from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Split, open_dataset, write_dataset
from ovaflow.initialization.starts import StartInputs
from ovaflow.machine.capacity import Capacity
from ovaflow.model.merge import merge
from ovaflow.model.shard_file import write_shard
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.estimate import as_record, describe, estimate_training, write_demand
from ovaflow.training.label_jobs import Training
from ovaflow.training.memory import megabytes_to_request
from ovaflow.training.plan import write_plan
from ovaflow.training.shard_job import train_labels
from ovaflow.training.shard_request import shard_request

N, D, LABELS = 3000, 400, 600


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = sp.hstack([sp.random_array((N, D), density=0.03, rng=rng), np.ones((N, 1))]).tocsr()
    frequencies = np.minimum(1.5 / np.arange(1, LABELS + 1) ** 0.9, 0.3)
    Y = (rng.random((N, LABELS)) < frequencies).astype(np.float32)
    Y[:, 5] = 0
    split = Split(from_scipy(X), from_scipy(Y))
    path = tmp_path_factory.mktemp("estimate") / "dataset.h5"
    names = [f"label {j}" for j in range(LABELS)]
    write_dataset(path, split, split, names, [f"word {j}" for j in range(D)], {"bias": 1.0})
    return path


@pytest.fixture(scope="module")
def model(path, tmp_path_factory):
    """Weights of a whole training, and bytes of its model file."""
    folder, dataset, training = tmp_path_factory.mktemp("model"), open_dataset(path), Training()
    means = compute_means(dataset.train.X, dataset.positives)
    done = train_labels(dataset, StartInputs.of(dataset, means), np.arange(LABELS), training)
    made_from = {"dataset": dataset.checksum}
    settings = {"stored_threshold": training.stored_threshold}
    results = (done.weights, done.trained, done.statistics, settings, made_from, done.core_seconds, 0)
    write_shard(folder / "0.h5", np.arange(LABELS), *results)
    weights = merge([folder / "0.h5"], dataset, 0.05, folder / "model.h5", folder / "training.h5")
    return weights, (folder / "model.h5").stat().st_size


def test_size_of_the_model(path, model):
    theirs, their_bytes = model
    ours = estimate_training(open_dataset(path), Training(), 0.05, 150, 1, 2)
    assert ours.sample.labels < 200
    assert ours.sample.kept.value == pytest.approx(theirs, rel=min(2 * ours.sample.kept.error, 0.25))
    assert ours.model_bytes == pytest.approx(their_bytes, rel=0.25)
    assert ours.sample.kept.value < ours.sample.stored.value


def test_all_labels_make_an_exact_estimate(path, model):
    ours = estimate_training(open_dataset(path), Training(), 0.05, LABELS, 1, 1)
    assert ours.sample.kept.value == model[0]
    assert ours.sample.kept.error == ours.sample.label_seconds.error == 0


def test_shares_of_jobs_add_up(path):
    figures = as_record(estimate_training(open_dataset(path), Training(), 0.01, 50, 1, 4))
    assert figures["wall_seconds"] == pytest.approx(figures["job_seconds"] * -(-4 // figures["jobs_at_a_time"]))
    assert figures["job_bytes"] > figures["thread_bytes"] > 0
    assert figures["suggested_mem_mb"] * 1e6 > figures["job_bytes"]


@pytest.mark.parametrize("gigabytes", [256, 8, 1])
def test_suggestions_follow_the_nodes(path, monkeypatch, gigabytes):
    capacity = Capacity(128, (64, 64), gigabytes << 30)
    monkeypatch.setattr("ovaflow.training.estimate.read_capacity", lambda: capacity)
    # the labels are worth many jobs
    monkeypatch.setattr("ovaflow.training.estimate._WORTHWHILE", 1e-6)
    ours = estimate_training(open_dataset(path), Training(), 0.01, 40, 1, 8)
    shards, threads = ours.suggestion["shards"], ours.suggestion["threads"]
    assert capacity.whole_jobs(threads) == capacity.jobs(threads) == shards
    assert shards * threads == 128
    # interpreter and kernels alone take 215 MB of each job
    assert (threads == 1) == (gigabytes == 256)
    assert shards / 2 * 190e6 < max(gigabytes << 30, 190e6)
    assert "8 jobs at a time, 120 CPUs idle: shards: 128 would use them" in dict(describe(ours))["machine"]


def test_weights_that_no_shard_keeps_cannot_be_in_the_model(path):
    with pytest.raises(InputError, match="below the stored threshold"):
        estimate_training(open_dataset(path), Training(), 0.001, 50, 1, 1)


def test_a_dataset_without_positives_is_refused(tmp_path):
    split = Split(from_scipy(np.ones((4, 2))), from_scipy(np.zeros((4, 3))))
    write_dataset(tmp_path / "dataset.h5", split, split, ["a", "b", "c"], [], {"bias": 1.0})
    with pytest.raises(InputError, match="no label has positives"):
        estimate_training(open_dataset(tmp_path / "dataset.h5"), Training(), 0.01, 50, 1, 1)


def test_command(path, capsys):
    assert main(["estimate", str(path), "--labels=40", "--shards=2", "--prune=0.001", "--initialization=zero"]) == 0
    written = capsys.readouterr().out
    names = [line.split()[0] for line in written.splitlines()]
    assert names == ["solved", "core", "wall", "memory", "machine", "model", "suggestion"]
    assert "of 599 labels with positives" in written
    assert "2 jobs of one thread" in written
    assert main(["estimate", str(path), "--labels=40", "--threads=2", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["threads"], figures["shards"], figures["labels"]) == (2, 8, 599)
    assert main(["estimate", str(path), "--prune=0.001", "--stored-threshold=0.01"]) == 2
    error = capsys.readouterr().err
    assert "give --stored-threshold=0.001" in error
    assert error.splitlines()[-1].startswith("ovaflow: error: ")


@pytest.mark.parametrize(("shards", "threads"), [(1, 1), (6, 1), (2, 4)])
def test_what_shards_ask_for_covers_the_estimate_of_a_job(path, tmp_path, shards, threads):
    write_demand(tmp_path / "estimate.json", estimate_training(open_dataset(path), Training(), 0.05, 150, 1, 1))
    write_plan(tmp_path / "shards.tsv", np.array_split(np.arange(LABELS), shards), np.ones(LABELS))
    ours = shard_request(tmp_path / "estimate.json", tmp_path / "shards.tsv", 0, threads)
    theirs = megabytes_to_request(estimate_training(open_dataset(path), Training(), 0.05, 150, threads, shards).memory)
    assert theirs <= ours.mem_mb <= 1.2 * theirs + 100
