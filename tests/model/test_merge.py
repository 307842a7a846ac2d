"""Merged models do not depend on the shards; wrong shards are refused by name."""

import hashlib

import numpy as np
import pytest

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.model.index import open_index
from ovaflow.model.merge import merge
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import prune
from ovaflow.model.training_file import Training

N_LABELS, N_FEATURES = 11, 7
ALL = list(range(N_LABELS))
SPLITS = [
    [ALL],
    [ALL[::2], ALL[1::2]],
    [ALL[::-1]],
    [[4, 1], [10], [9, 8, 7, 0], [], [2, 3, 5, 6]],
    [[j] for j in ALL],
]


def _merge(tmp_path, shards, dataset, threshold=0.01, **options):
    merge(shards, dataset, threshold, tmp_path / "model.h5", tmp_path / "training.h5", **options)
    return OneVsAll.open(tmp_path / "model.h5")


@pytest.mark.parametrize("piece", [1, 10, 1 << 20])
def test_same_bytes_for_every_division(tmp_path, small_dataset, all_weights, cut, piece):
    digests = set()
    for number, parts in enumerate(SPLITS):
        model = _merge(tmp_path, cut(*parts, folder=str(number))[::-1], small_dataset, piece=piece)
        digests.add(hashlib.sha256(model.path.read_bytes()).hexdigest())
        for ours, theirs in zip(model.weights.arrays, all_weights.arrays, strict=True):
            assert np.array_equal(ours, theirs)
    assert len(digests) == 1


def test_what_the_files_know(tmp_path, small_dataset, cut):
    model = _merge(tmp_path, cut(*SPLITS[3]), small_dataset)
    assert model.trained.tolist() == [j != 3 for j in ALL]
    assert np.array_equal(model.counts, small_dataset.train.Y.to_scipy().sum(axis=0))
    assert model.label_names == small_dataset.label_names
    assert model.feature_names == small_dataset.feature_names
    assert np.array_equal(model.idf, np.ones(N_FEATURES - 1, np.float32))
    assert (model.parameters["prune"], model.parameters["transform"]) == (0.01, small_dataset.parameters)
    assert model.inputs == {"dataset": small_dataset.checksum}
    training = Training.open(tmp_path / "training.h5")
    assert training.statistics["newton_steps"].tolist() == [7 * j % 5 for j in ALL]
    assert (training.core_seconds, training.shards, training.peak_rss_bytes) == (5.0, 5, 1004)


def test_pruning_again(tmp_path, small_dataset, all_weights, cut):
    model = _merge(tmp_path, cut(*SPLITS[3]), small_dataset, threshold=0.03)
    for ours, theirs in zip(model.weights.arrays, prune(all_weights, 0.03).arrays, strict=True):
        assert np.array_equal(ours, theirs)
    with pytest.raises(InputError, match=r"--stored-threshold=0\.005"):
        _merge(tmp_path, cut(*SPLITS[0]), small_dataset, threshold=0.005)


@pytest.mark.parametrize(
    ("parts", "changes", "message"),
    [
        ([[0, 1], [2]], {}, r"8 labels of .*, the first 3, are in none of the shards; run train-shard"),
        ([ALL, [4]], {}, r"1\.h5: label 4 is also in .*0\.h5"),
        ([ALL[1:], [0]], {"inputs": {"dataset": "0"}}, "made from another dataset than"),
        ([ALL[1:], [0]], {"parameters": {"stored_threshold": 0.01, "C": 2.0}}, r"differs from .*0\.h5 in C"),
    ],
)
def test_shards_that_do_not_fit(tmp_path, small_dataset, cut, parts, changes, message):
    shards = cut(*parts)
    if changes:
        shards[1] = cut(parts[1], folder="other", **changes)[0]
    with pytest.raises(InputError, match=message):
        _merge(tmp_path, shards, small_dataset)


def test_command(tmp_path, small_dataset, all_weights, cut, capsys, monkeypatch):
    shards = [str(path) for path in cut(*SPLITS[1])]
    files = [f"--dataset={small_dataset.path}", f"--output={tmp_path / 'm.h5'}", f"--statistics={tmp_path / 't.h5'}"]
    assert main(["merge", *shards, *files]) == 0
    assert open_index(OneVsAll.open(tmp_path / "m.h5")) is None
    monkeypatch.setattr("ovaflow.model.index.INDEX_PAYS", 1)
    assert main(["merge", *shards, *files]) == 0
    assert open_index(OneVsAll.open(tmp_path / "m.h5")) is not None
    assert f"11 labels, {len(all_weights.data)} weights" in capsys.readouterr().out
    assert main(["merge", shards[0], *files]) == 2
    assert "train-shard" in capsys.readouterr().err
