"""Comparison of a dataset with what ``ovaflow predict`` reads of the same file."""

import re
from itertools import chain

import numpy as np
import scipy

from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.sources import make_input_file, read_record_batches
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model

_PLACE = re.compile(r"(line|row|record) \d+$")


def assert_predict_reads_the_same(dataset, path, place) -> None:
    """Check that predict reads from a file the features and ids of the dataset's test part, in
    order.
    """
    train_model(dataset, TrainLabels(), 0.0).write(place / "model.h5")
    predictor = Predictor.open(place / "model.h5")
    batches = list(read_record_batches(make_input_file(predictor.model, path), predictor))
    ours = scipy.sparse.vstack([batch.read.X.to_scipy() for batch in batches])
    theirs = predictor.from_split(dataset.test).to_scipy()
    names = [batch.names for batch in batches]
    assert np.array_equal(ours.toarray(), theirs.toarray())
    # ids of a dataset may begin with part and file; records without an id have their place
    for name, id in zip(chain.from_iterable(names), dataset.ids("test"), strict=True):
        if name is None:
            assert _PLACE.search(id)
        else:
            assert id.endswith(str(name))
