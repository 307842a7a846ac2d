"""Merged models have the rows of their shards, by label; what shards have dropped cannot be kept."""

from dataclasses import replace

import numpy as np
import pytest
from commands import ovaflow
from numpy.testing import assert_array_equal

from ovaflow.console.errors import InputError
from ovaflow.model.index import open_index
from ovaflow.model.merge import merge
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import prune
from ovaflow.model.training_file import Training
from ovaflow.sparse.weight_rows import round_weights

N_LABELS = 11
PARTS = [[4, 1], [10], [9, 8, 7, 0], [], [2, 3, 5, 6]]


def _merge(tmp_path, shards, dataset, threshold=0.01, **options):
    merge(shards, dataset, threshold, tmp_path / "model.h5", tmp_path / "training.h5", **options)
    return OneVsAll.open(tmp_path / "model.h5")


@pytest.mark.parametrize("piece", [1, 10, 1 << 20])
def test_rows_of_shards_in_any_order_and_pieces(
    tmp_path, small_dataset, all_weights, cut, piece
) -> None:
    model = _merge(tmp_path, cut(*PARTS)[::-1], small_dataset, piece=piece)
    assert all(map(np.array_equal, model.weights.arrays, all_weights.arrays))


@pytest.mark.parametrize("piece", [1, 10, 1 << 20])
def test_weights_for_instances_of_length_1_are_rounded(
    tmp_path, small_dataset, all_weights, cut, piece
) -> None:
    dataset = replace(small_dataset, parameters={"bias": 1.0, "normalize": True})
    whole = _merge(tmp_path, cut(range(N_LABELS)), dataset).path.read_bytes()
    model = _merge(tmp_path, cut(*PARTS, folder="parts"), dataset, piece=piece)
    assert all(map(np.array_equal, model.weights, round_weights(all_weights)))
    assert model.path.read_bytes() == whole


def test_what_the_files_know(tmp_path, small_dataset, cut) -> None:
    model = _merge(tmp_path, cut(*PARTS), small_dataset)
    assert model.trained.tolist() == [j != 3 for j in range(N_LABELS)]
    assert_array_equal(model.counts, small_dataset.train.Y.to_scipy().sum(axis=0))
    assert model.label_names == small_dataset.label_names
    assert (model.parameters["prune"], model.parameters["transform"]) == (
        0.01,
        small_dataset.parameters,
    )
    assert model.inputs == {"dataset": small_dataset.checksum}
    training = Training.open(tmp_path / "training.h5")
    assert training.statistics["newton_steps"].tolist() == [7 * j % 5 for j in range(N_LABELS)]
    assert (training.core_seconds, training.shards, training.peak_rss_bytes) == (5.0, 5, 1004)


def test_pruning_again(tmp_path, small_dataset, all_weights, cut) -> None:
    shards = cut(*PARTS)
    model = _merge(tmp_path, shards, small_dataset, threshold=0.03)
    assert all(map(np.array_equal, model.weights.arrays, prune(all_weights, 0.03).arrays))
    with pytest.raises(InputError, match=r"--stored-threshold=0\.005"):
        _merge(tmp_path, shards, small_dataset, threshold=0.005)


def test_a_large_model_gets_an_index(tmp_path, small_dataset, cut, monkeypatch) -> None:
    shards = cut(range(0, N_LABELS, 2), range(1, N_LABELS, 2))
    files = [
        f"--dataset={small_dataset.path}",
        f"--output={tmp_path}/m.h5",
        f"--statistics={tmp_path}/t.h5",
    ]
    command = "merge", *shards, *files
    # that of a former model is removed
    for pays, has_index in ((1, True), (1 << 20, False)):
        monkeypatch.setattr("ovaflow.model.index.SMALLEST_INDEXED_MODEL", pays)
        ovaflow(*command)
        assert (open_index(OneVsAll.open(tmp_path / "m.h5")) is not None) == has_index
        assert (tmp_path / "m.index.h5").exists() == has_index
