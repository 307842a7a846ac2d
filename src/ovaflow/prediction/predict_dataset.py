"""Predictions for the test instances of a dataset."""

import time

from ovaflow.console.errors import InputError
from ovaflow.prediction.predictions_file import Predictions
from ovaflow.prediction.top_k import load_kernels, predict_top_k


def predict_test_set(model, dataset, k, threads=1):
    """Predict the best labels of each test instance.

    Parameters
    ----------
    model : ovaflow.model.model_file.Model
    dataset : ovaflow.data.dataset.Dataset
        The one that the model was trained on.
    k : int
    threads : int

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        If the model was trained on another dataset.
    """
    if model.inputs.get("dataset") != dataset.checksum:
        raise InputError(
            f"was not trained on {dataset.path}", path=model.path, remedy="run train-shard and merge again"
        )
    load_kernels()
    started = time.perf_counter()
    ids, scores = predict_top_k(model.weights, model.trained, dataset.test.X, k, threads)
    seconds = time.perf_counter() - started
    return Predictions(ids, scores, seconds, threads, {"dataset": dataset.checksum, "model": model.checksum})
