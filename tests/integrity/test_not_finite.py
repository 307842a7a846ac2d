"""Training on any values gives a finite model, or one error that names the label: never nan or
infinity.
"""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from solving import make_memory_dataset, train_shard

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Names
from ovaflow.initialization.pretrained import EarlierModel
from ovaflow.initialization.starts import STARTS
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import REGULARIZATIONS
from ovaflow.sparse.csr import from_scipy

EXTREMES = [0.0, 1.0, -1.0, 1e-45, 1e-38, -1e-30, 1e19, -1e19, 1e30, 1e38, -3.4e38, 0.3]


@st.composite
def problems(draw):
    """A dataset of extreme values, labels of all kinds, and a setting of the training."""
    n = draw(st.sampled_from([1, 2, 7, 40]))
    d = draw(st.integers(1, 4))
    n_labels = draw(st.integers(1, 3))
    generator = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    values = draw(st.lists(st.sampled_from(EXTREMES), min_size=1, max_size=3))
    X = generator.choice(values, (n, d)).astype(np.float32)
    if draw(st.booleans()):
        X[:] = X[0]
    Y = generator.random((n, n_labels)) < draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    C = 10.0 ** draw(st.integers(-30, 30))
    return X, Y, C


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("start", STARTS)
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(problem=problems(), regularization=st.sampled_from(list(REGULARIZATIONS)))
def test_training_is_finite_or_names_the_label(loss, start, problem, regularization) -> None:
    X, Y, C = problem
    bias = np.ones((len(X), 1), np.float32)
    dataset = make_memory_dataset(np.hstack([X, bias]), Y.astype(np.float32))
    d = dataset.n_features
    n_labels = dataset.n_labels
    earlier = None
    if start == "pretrained":
        weights = from_scipy(np.full((n_labels, d), 1e38, np.float32))
        earlier = EarlierModel(
            weights,
            np.arange(n_labels),
            np.arange(d),
            np.ones(d, np.float32),
            np.zeros(n_labels, np.int64),
        )
    if start in ("all-negative", "label-tree"):
        regularization = "l2"
    options = {"loss": loss, "initialization": start, "C": C, "regularization": regularization}
    try:
        done = train_shard(dataset, earlier=earlier, stored_threshold=0.0, **options)
    except InputError as error:
        assert re.match(r"memory: (label \d+: its weights)", str(error)), error  # noqa: PT017
        return
    for values in (done.weights.data, *done.statistics.values()):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_shards_and_models_are_not_written(tmp_path, value) -> None:
    shard = train_shard(
        make_memory_dataset(np.eye(3, dtype=np.float32), np.eye(3)[:, ::-1]),
        [1, 2, 0],
        stored_threshold=0.0,
    )
    shard.weights.data[-1] = value
    model = OneVsAll(
        shard.trained,
        np.ones(3, int),
        weights=shard.weights,
        names_in_memory=Names(["a", "b", "c"], []),
        parameters={},
    )
    for artifact, label in ((shard, 0), (model, 2)):
        with pytest.raises(InputError, match=f"not written: a weight of label {label} is {value}"):
            artifact.write(tmp_path / "x.h5")
    assert not list(tmp_path.iterdir())
