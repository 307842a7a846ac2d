"""Memory that jobs request, against the arrays that they hold."""

import numpy as np
import pytest

from ovaflow.dataset.sizes import Shape
from ovaflow.methods.rembrandt import demand
from ovaflow.settings.config import resolve_config

SHAPE = Shape(instances=200_000, features=50_000, labels=30_000, positives=400_000)
ONE_LABEL_EACH = SHAPE._replace(positives=SHAPE.instances)


def config(threads=1, **run):
    runs = {"a": {"method": "rembrandt", "threads": threads} | run}
    return resolve_config({"datasets": {"mine": {"source": "builtin"}}, "runs": runs}, {})


def megabytes(*shape):
    return np.broadcast_to(np.float32(0), shape).nbytes / 1e6


@pytest.mark.parametrize("embedding", ["rembrandt", "none"])
def test_an_embedding_has_a_row_per_label_and_is_fitted_to_instances(embedding) -> None:
    ours, more = (config(threads, embedding=embedding, rank=100) for threads in (1, 8))
    columns = SHAPE.features if embedding == "none" else 100
    held = megabytes(SHAPE.labels, columns) + 2 * megabytes(SHAPE.instances, columns)
    assert held < demand.embedding_memory_mb(ours, "a", SHAPE, 0) < 2.5 * held + 1000
    assert demand.embedding_memory_mb(more, "a", SHAPE, 0) > demand.embedding_memory_mb(
        ours, "a", SHAPE, 0
    )


@pytest.mark.parametrize("features", ["linear", "gaussian"])
def test_projected_instances_have_a_column_per_feature(features) -> None:
    ours = config(rank=100, features=features, random_features=4000)
    held = megabytes(SHAPE.instances, 4000 if features == "gaussian" else 100)
    assert held < demand.projecting_memory_mb(ours, "a", SHAPE, 0) < 3 * held + 1000


def test_softmax_takes_more_than_a_loss_per_label() -> None:
    ours = config(rank=2000)
    always = config(rank=2000, decoder="softmax")
    logistic = demand.decoding_memory_mb(ours, "a", SHAPE, 8)
    softmax = demand.decoding_memory_mb(ours, "a", ONE_LABEL_EACH, 8)
    assert logistic > megabytes(SHAPE.instances, 2000)
    assert softmax > megabytes(100 * SHAPE.labels, 2000) > logistic
    assert demand.decoding_memory_mb(always, "a", SHAPE, 8) == softmax
    assert demand.tuning_memory_mb(ours, "a", SHAPE, 0) > logistic
