"""Memory that jobs request, against the arrays that they hold."""

import numpy as np
import pytest

from ovaflow.data.sizes import Shape
from ovaflow.rembrandt import demand
from ovaflow.rembrandt.settings import Rembrandt

SHAPE = Shape(instances=200_000, features=50_000, labels=30_000, positives=400_000)
ONE_LABEL_EACH = SHAPE._replace(positives=SHAPE.instances)


def megabytes(*shape):
    return np.broadcast_to(np.float32(0), shape).nbytes / 1e6


@pytest.mark.parametrize("embedding", ["rembrandt", "none"])
def test_an_embedding_has_a_row_per_label_and_is_fitted_to_instances(embedding):
    settings = Rembrandt(embedding=embedding, rank=100)
    columns = SHAPE.features if embedding == "none" else 100
    held = megabytes(SHAPE.labels, columns) + 2 * megabytes(SHAPE.instances, columns)
    assert held < demand.of_embedding(SHAPE, 0, settings, 1) < 2.5 * held + 1000
    assert demand.of_embedding(SHAPE, 0, settings, 8) > demand.of_embedding(SHAPE, 0, settings, 1)


@pytest.mark.parametrize("features", ["linear", "gaussian"])
def test_projected_instances_have_a_column_per_feature(features):
    settings = Rembrandt(rank=100, features=features, random_features=4000)
    held = megabytes(SHAPE.instances, 4000 if features == "gaussian" else 100)
    assert held < demand.of_projecting(SHAPE, 0, settings) < 3 * held + 1000


def test_softmax_takes_more_than_a_loss_per_label():
    settings, jobs = Rembrandt(rank=2000), {"shards": 8, "threads": 1}
    logistic = demand.of_decoding(SHAPE, settings, **jobs)
    softmax = demand.of_decoding(ONE_LABEL_EACH, settings, **jobs)
    assert logistic > megabytes(SHAPE.instances, 2000)
    assert softmax > megabytes(100 * SHAPE.labels, 2000) > logistic
    assert demand.of_decoding(SHAPE, settings.model_copy(update={"decoder": "softmax"}), **jobs) == softmax
