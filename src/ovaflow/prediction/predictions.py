"""Predictions of a test set by a model of any method."""

import time
from dataclasses import dataclass

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.fastxml.model_file import METHOD as FASTXML
from ovaflow.fastxml.model_file import ForestModel
from ovaflow.model.model_file import ONE_VS_ALL, method_of
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.rembrandt.model_file import METHOD as REMBRANDT
from ovaflow.rembrandt.model_file import EmbeddingModel
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact

KIND = "predictions"


MODELS = {ONE_VS_ALL: OneVsAll, FASTXML: ForestModel, REMBRANDT: EmbeddingModel}
"""Classes of models by method."""


def open_any_model(path):
    method = method_of(path)
    if method not in MODELS:
        message = f"a model of {method}, which this ovaflow does not know"
        raise InputError(message, path=path, remedy="use the ovaflow that wrote it, or a newer one")
    return MODELS[method].open(path)


@dataclass(frozen=True)
class Predictions:
    ids: np.ndarray  # int32 (n, k); by falling score, ties by the smaller id; -1 where there are fewer than k
    scores: np.ndarray  # float32 (n, k); -inf where the id is -1
    seconds: float  # wall time of scoring, without opening files
    threads: int
    inputs: dict  # checksums of ``dataset`` and ``model``
    core_seconds: float = 0.0  # processor time of scoring; no part of the file


def predict_test_set(model, dataset, k, threads=1):
    """Predict the best k labels of each test instance of the dataset that the model was trained on."""
    model.require_dataset(dataset)
    model.prepare()
    wall, processor = time.perf_counter(), time.process_time()
    ids, scores = model.top_k(model.instances(dataset.test), k, threads, quiet=False)
    seconds, core_seconds = time.perf_counter() - wall, time.process_time() - processor
    inputs = {"dataset": dataset.checksum, "model": model.checksum}
    return Predictions(ids, scores, seconds, threads, inputs, core_seconds)


def write_predictions(path, predictions):
    parameters = {"top_k": predictions.ids.shape[1]}
    with create_artifact(path, KIND, parameters, predictions.inputs) as file:
        create_array(file, "ids", np.asarray(predictions.ids, np.int32))
        create_array(file, "scores", np.asarray(predictions.scores, np.float32), infinite=True)
        file.attrs["seconds"] = float(predictions.seconds)
        file.attrs["threads"] = int(predictions.threads)


def read_predictions(path):
    with open_artifact(path, KIND) as file:
        return Predictions(
            ids=map_array(file["ids"]),
            scores=map_array(file["scores"]),
            seconds=float(file.attrs["seconds"]),
            threads=int(file.attrs["threads"]),
            inputs=inputs_of(file),
        )
