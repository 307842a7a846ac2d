"""What ``ovaflow predict`` reads of the file on which a model was trained."""

import re

import numpy as np
import scipy

from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.sources import batches_of, input_file
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_model


def assert_read_again(dataset, path, place):
    """The test part of a dataset, made of a file, is what is predicted of it: features and ids, in order."""
    train_model(dataset, TrainLabels(), 0.0).write(place / "model.h5")
    predictor = Predictor.open(place / "model.h5")
    batches = list(batches_of(input_file(predictor.model, path), predictor))
    ours, theirs = scipy.sparse.vstack([each.X.to_scipy() for each in batches]), predictor.from_split(dataset.test)
    assert ours.shape == (theirs.n_rows, theirs.n_columns)
    assert np.array_equal(ours.toarray(), theirs.to_scipy().toarray())
    names = [name for batch in batches for name in batch.names]
    # beside ids there may be the part and the file; records without one are known by their places
    for name, id in zip(names, dataset.ids("test"), strict=True):
        assert _PLACE.search(id) if name is None else id.endswith(str(name))
    return predictor


_PLACE = re.compile(r"(line|row|record) \d+$")
