"""Predictions for the test instances of a dataset."""

import time

from ovaflow.console.errors import InputError
from ovaflow.prediction.methods import method_of_model
from ovaflow.prediction.predictions_file import Predictions


def predict_test_set(model, dataset, k, threads=1):
    """Predict the best k labels of each test instance of the dataset that the model was trained on."""
    if model.inputs.get("dataset") != dataset.checksum:
        raise InputError(
            f"was not trained on {dataset.path}", path=model.path, remedy="run train-shard and merge again"
        )
    method = method_of_model(model)
    method.load_kernels()
    started = time.perf_counter()
    ids, scores = method.predict(model, dataset.test.X, k, threads, quiet=False)
    seconds = time.perf_counter() - started
    return Predictions(ids, scores, seconds, threads, {"dataset": dataset.checksum, "model": model.checksum})
