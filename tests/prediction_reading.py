"""What ``ovaflow predict`` reads of the file on which a model was trained."""

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
    """The test part of a dataset, made of a file, is what is predicted of it: features and ids, in
    order.
    """
    train_model(dataset, TrainLabels(), 0.0).write(place / "model.h5")
    predictor = Predictor.open(place / "model.h5")
    batches = list(read_record_batches(make_input_file(predictor.model, path), predictor))
    ours = scipy.sparse.vstack([batch.read.X.to_scipy() for batch in batches])
    theirs = predictor.from_split(dataset.test).to_scipy()
    names = [batch.names for batch in batches]
    assert np.array_equal(ours.toarray(), theirs.toarray())
    # beside ids there may be the part and the file; records without one are known by their places
    for name, id in zip(chain.from_iterable(names), dataset.ids("test"), strict=True):
        assert _PLACE.search(id) if name is None else id.endswith(str(name))
