"""Memory that jobs request, against the arrays that they hold."""

from typing import Any

import numpy as np
import pytest

from ovaflow.dataset.sizes import Shape
from ovaflow.methods.rembrandt import demand
from ovaflow.settings.config import resolve_config
from ovaflow.settings.configuration import Config

SHAPE = Shape(instances=200_000, features=50_000, labels=30_000, positives=400_000)
ONE_LABEL_EACH = SHAPE._replace(positives=SHAPE.instances)


def make_config(threads: int = 1, **settings: Any) -> Config:
    """Resolve a config of one run, ``a``."""
    runs = {"a": {"method": "rembrandt", "threads": threads} | settings}
    return resolve_config({"datasets": {"mine": {"source": "builtin"}}, "runs": runs}, {})


def dense_megabytes(n_rows: int, n_columns: int) -> float:
    """Return the size of a matrix of float32."""
    return np.broadcast_to(np.float32(0), (n_rows, n_columns)).nbytes / 1e6


@pytest.mark.parametrize("embedding", ["rembrandt", "none"])
def test_an_embedding_has_a_row_per_label_and_is_fitted_to_instances(embedding) -> None:
    ours = make_config(1, embedding=embedding, rank=100)
    more = make_config(8, embedding=embedding, rank=100)
    columns = SHAPE.features if embedding == "none" else 100
    held = dense_megabytes(SHAPE.labels, columns) + 2 * dense_megabytes(SHAPE.instances, columns)
    assert held < demand.embedding_memory_mb(ours, "a", SHAPE, 0) < 2.5 * held + 1000
    assert demand.embedding_memory_mb(more, "a", SHAPE, 0) > demand.embedding_memory_mb(
        ours, "a", SHAPE, 0
    )


@pytest.mark.parametrize("features", ["linear", "gaussian"])
def test_projected_instances_have_a_column_per_feature(features) -> None:
    ours = make_config(rank=100, features=features, random_features=4000)
    held = dense_megabytes(SHAPE.instances, 4000 if features == "gaussian" else 100)
    assert held < demand.projecting_memory_mb(ours, "a", SHAPE, 0) < 3 * held + 1000


def test_softmax_takes_more_than_a_loss_per_label() -> None:
    ours = make_config(rank=2000)
    always = make_config(rank=2000, decoder="softmax")
    logistic = demand.decoding_memory_mb(ours, "a", SHAPE, 8)
    softmax = demand.decoding_memory_mb(ours, "a", ONE_LABEL_EACH, 8)
    assert logistic > dense_megabytes(SHAPE.instances, 2000)
    assert softmax > dense_megabytes(100 * SHAPE.labels, 2000) > logistic
    assert demand.decoding_memory_mb(always, "a", SHAPE, 8) == softmax
    assert demand.tuning_memory_mb(ours, "a", SHAPE, 0) > logistic
