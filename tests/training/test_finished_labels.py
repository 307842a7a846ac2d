"""A shard job that was interrupted anywhere gives the bytes of one that was not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from solving import assert_same_bits, make_memory_dataset
from synthetic import make_topics

from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.starts import StartInputs, compute_start_inputs
from ovaflow.model.training_file import Shard
from ovaflow.settings.train import TrainLabels
from ovaflow.storage import parts
from ovaflow.storage.parts import Parts, compute_digest, open_parts
from ovaflow.training.shard_job import train_labels


class Interrupted(BaseException):
    """The end of an attempt."""


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    dataset = make_topics(n=700, d=300, n_labels=40)
    Y = dataset.train.Y.to_scipy().toarray()
    Y[:, 3] = 0
    for label in range(10, 30):
        # parts of other labels, whose children they will be
        Y[:, label] = Y[:, label // 2] * (np.arange(700) % 3 > 0)
    return make_memory_dataset(dataset.train.X.to_scipy(), Y)


@contextmanager
def interrupt_after(count: int, monkeypatch) -> Iterator[None]:
    """Interrupt the job after it kept a number of labels, each in a part of its own."""
    keep = Parts.keep
    kept = []

    def count_kept(self, number, **arrays) -> None:
        if len(kept) == count:
            raise Interrupted
        kept.append(keep(self, number, **arrays))

    with monkeypatch.context() as context:
        context.setattr(Parts, "keep", count_kept)
        context.setattr(parts, "PART_SECONDS", -1.0)
        yield


def train(
    dataset: Dataset, inputs: StartInputs, training: TrainLabels, output: Path, threads: int
) -> Shard:
    """Train all labels as a job does that may continue."""
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    digest = compute_digest(training.recorded, labels, *inputs.arrays)
    with open_parts(output, digest) as opened:
        return train_labels(
            dataset, inputs, labels, training, threads=threads, title="test", parts=opened
        )


TREE = {"initialization": "label-tree"}


@pytest.mark.parametrize(
    ("settings", "threads"),
    [
        ({}, 3),
        (TREE, 1),
        (TREE | {"reference": True}, 3),
        ({"loss": "logistic", "initialization": "zero"}, 3),
        ({"regularization": "l1"}, 3),
    ],
)
def test_an_interrupted_job_continues_to_the_same_bytes(
    settings, threads, dataset, tmp_path, monkeypatch, capsys
) -> None:
    training = TrainLabels(**settings)
    inputs = compute_start_inputs(dataset, training)
    labels = np.arange(dataset.n_labels, dtype=np.int32)
    theirs = train_labels(dataset, inputs, labels, training)
    for done, more in ((0, 3), (3, 14), (17, 10)):
        with pytest.raises(Interrupted), interrupt_after(more, monkeypatch):
            train(dataset, inputs, training, tmp_path / "0.h5", threads)
        assert ("test: continues" in capsys.readouterr().err) == (done > 0)
    # the second time all of it is there; core time adds up over the attempts
    ours = train(dataset, inputs, training, tmp_path / "0.h5", threads)
    again = train(dataset, inputs, training, tmp_path / "0.h5", threads)
    said = capsys.readouterr().err
    for done, each in ((27, ours), (40, again)):
        assert f"test: continues, {done} of 40 labels were finished" in said
        assert_same_bits(each.weights, theirs.weights)
        assert each.trained.tolist() == theirs.trained.tolist()
        for name in set(each.statistics) - {"seconds"}:
            assert each.statistics[name].tobytes() == theirs.statistics[name].tobytes(), name
    assert again.core_seconds > 0.9 * ours.core_seconds
    assert again.statistics["seconds"].tobytes() == ours.statistics["seconds"].tobytes()
