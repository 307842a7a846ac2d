"""Merged models have the rows of their shards, by label, without small weights."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import ovaflow
from numpy.testing import assert_array_equal

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.model.index import open_index
from ovaflow.model.merge import merge
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import prune
from ovaflow.model.training_file import Training
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.weight_rows import WeightRows, round_weights

N_LABELS = 11
PARTS = [[4, 1], [10], [9, 8, 7, 0], [], [2, 3, 5, 6]]


def merge_model(
    folder: Path, shards: list[Path], dataset: Dataset, threshold: float = 0.01, **options: Any
) -> OneVsAll:
    """Merge shards into a model of a folder, and open it."""
    merge(shards, dataset, threshold, folder / "model.h5", folder / "training.h5", **options)
    return OneVsAll.open(folder / "model.h5")


def assert_same_weights(ours: CSR | WeightRows, theirs: CSR | WeightRows) -> None:
    assert ours.n_columns == theirs.n_columns
    assert_array_equal(ours.data, theirs.data)
    assert_array_equal(ours.indices, theirs.indices)
    assert_array_equal(ours.indptr, theirs.indptr)


@pytest.mark.parametrize("piece", [1, 10, 1 << 20])
def test_rows_of_shards_in_any_order_and_pieces(
    tmp_path, small_dataset, all_weights, write_shards, piece
) -> None:
    model = merge_model(tmp_path, write_shards(PARTS)[::-1], small_dataset, piece=piece)
    assert_same_weights(model.weights, all_weights)


@pytest.mark.parametrize("piece", [1, 10, 1 << 20])
def test_weights_for_instances_of_length_1_are_rounded(
    tmp_path, small_dataset, all_weights, write_shards, piece
) -> None:
    dataset = replace(small_dataset, parameters={"bias": 1.0, "normalize": True})
    whole = merge_model(tmp_path, write_shards([range(N_LABELS)]), dataset).path.read_bytes()
    model = merge_model(tmp_path, write_shards(PARTS, folder="parts"), dataset, piece=piece)
    rounded = round_weights(all_weights)
    assert_same_weights(model.weights, rounded)
    assert_array_equal(model.weights.steps, rounded.steps)
    assert model.path.read_bytes() == whole


def test_model_and_statistics_describe_the_training(tmp_path, small_dataset, write_shards) -> None:
    model = merge_model(tmp_path, write_shards(PARTS), small_dataset)
    assert model.trained.tolist() == [j != 3 for j in range(N_LABELS)]
    assert_array_equal(model.counts, small_dataset.train.Y.to_scipy().sum(axis=0))
    assert model.label_names == small_dataset.label_names
    assert model.parameters["prune"] == 0.01
    assert model.parameters["transform"] == small_dataset.parameters
    assert model.inputs == {"dataset": small_dataset.checksum}
    training = Training.open(tmp_path / "training.h5")
    assert training.statistics["newton_steps"].tolist() == [7 * j % 5 for j in range(N_LABELS)]
    assert training.core_seconds == 5.0
    assert training.shards == 5
    assert training.peak_rss_bytes == 1004


def test_weights_that_shards_dropped_cannot_be_kept(
    tmp_path, small_dataset, all_weights, write_shards
) -> None:
    shards = write_shards(PARTS)
    model = merge_model(tmp_path, shards, small_dataset, threshold=0.03)
    assert_same_weights(model.weights, prune(all_weights, 0.03))
    with pytest.raises(InputError, match=r"--stored-threshold=0\.005"):
        merge_model(tmp_path, shards, small_dataset, threshold=0.005)


def test_a_large_model_gets_an_index(tmp_path, small_dataset, write_shards, monkeypatch) -> None:
    shards = write_shards([range(0, N_LABELS, 2), range(1, N_LABELS, 2)])
    files = [
        f"--dataset={small_dataset.path}",
        f"--output={tmp_path}/m.h5",
        f"--statistics={tmp_path}/t.h5",
    ]
    command = "merge", *shards, *files
    # the index of a former model is removed
    for smallest, has_index in ((1, True), (1 << 20, False)):
        monkeypatch.setattr("ovaflow.model.index.SMALLEST_INDEXED_MODEL", smallest)
        ovaflow(command)
        assert (open_index(OneVsAll.open(tmp_path / "m.h5")) is not None) == has_index
        assert (tmp_path / "m.index.h5").exists() == has_index
