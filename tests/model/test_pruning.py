"""Pruning drops exactly the small weights."""

import numpy as np
import pytest
from commands import ovaflow
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from synthetic import write_topics

from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import count_kept_weights, prune
from ovaflow.settings.train import TrainLabels
from ovaflow.sparse.csr import from_dense, from_scipy
from ovaflow.training.shard_job import train_model

THRESHOLDS = st.sampled_from([0.0, 0.01, 0.25, 0.5, 1.0, 2.0])
EVEN = st.sampled_from([0.0, 0.01, -0.01, 0.25, -0.25, 0.5, -1.0, 3.0])


@given(
    arrays(np.float32, st.tuples(st.integers(0, 5), st.integers(1, 6)), elements=EVEN),
    THRESHOLDS,
    THRESHOLDS,
)
def test_pruning_once_or_twice_is_that_of_numpy(dense, one, other) -> None:
    weights = from_scipy(dense)
    least = max(one, other)
    theirs = np.where(np.abs(dense) >= np.float32(least), dense, 0)
    ours = prune(weights, least)
    assert_array_equal(ours.to_scipy().toarray(), theirs)
    assert_array_equal(np.diff(ours.indptr), np.count_nonzero(theirs, axis=1))
    # zeros that are stored go as well
    assert count_kept_weights(from_dense(dense), least).tolist() == np.diff(ours.indptr).tolist()
    again = prune(prune(weights, min(one, other)), least)
    assert_array_equal(again.data, ours.data)
    assert_array_equal(again.indices, ours.indices)
    assert_array_equal(again.indptr, ours.indptr)


@pytest.fixture(scope="module", params=[{}, {"normalize": True}])
def model(request, tmp_path_factory) -> OneVsAll:
    """A model, of float32 or rounded weights, next to its dataset."""
    folder = tmp_path_factory.mktemp("pruning")
    dataset = write_topics(folder / "dataset.h5", request.param, n=300, d=400, n_labels=25, seed=0)
    train_model(dataset, TrainLabels(stored_threshold=0.0), 0.0).write(folder / "model.h5")
    return OneVsAll.open(folder / "model.h5")


def test_the_command_prunes_a_model_and_removes_the_index_of_a_former_one(model, tmp_path) -> None:
    small = tmp_path / "small.h5"
    dataset = model.path.parent / "dataset.h5"
    arguments = ["prune", model.path, f"--dataset={dataset}", f"--output={small}"]
    (tmp_path / "small.index.h5").touch()
    said = ovaflow(arguments, "--threshold=0.2")
    assert not (tmp_path / "small.index.h5").exists()
    assert "weights, those of at least 0.2" in said
    assert "P@1 " in said
    ours = OneVsAll.open(small)
    dense = model.weights.to_scipy().toarray()
    dense[np.abs(dense) < np.float32(0.2)] = 0
    assert_array_equal(ours.weights.to_scipy().toarray(), dense)
    assert ours.inputs == model.inputs | {"unpruned": model.checksum}
    ovaflow(arguments, status=2)
