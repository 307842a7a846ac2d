"""Predictions of a test set by a model of any method, which :mod:`ovaflow.methods` says how to open and score."""

import time
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.methods import MODULES
from ovaflow.model.model_file import method_of
from ovaflow.storage.arrays import create_array, map_array
from ovaflow.storage.artifact import create_artifact, inputs_of, open_artifact

KIND = "predictions"


def method_named(name, path):
    if name not in MODULES:
        raise InputError(
            f"a model of {name}, which this ovaflow does not know",
            path=path,
            remedy="use the ovaflow that wrote it, or a newer one",
        )
    return import_module(MODULES[name])


def method_of_model(model):
    return method_named(model.method, model.path)


def open_any_model(path):
    """Open a model file, whatever its method."""
    return method_named(method_of(path), path).open_model(path)


@dataclass(frozen=True)
class Predictions:
    """The best labels of each test instance."""

    ids: np.ndarray  # int32 (n, k); by falling score, ties by the smaller id; -1 where there are fewer than k
    scores: np.ndarray  # float32 (n, k); -inf where the id is -1
    seconds: float  # wall time of scoring, without opening files
    threads: int
    inputs: dict  # checksums of ``dataset`` and ``model``
    core_seconds: float = 0.0  # processor time of scoring; no part of the file


def predict_test_set(model, dataset, k, threads=1):
    """Predict the best k labels of each test instance of the dataset that the model was trained on."""
    model.require_dataset(dataset)
    method = method_of_model(model)
    method.load_kernels()
    wall, processor = time.perf_counter(), time.process_time()
    ids, scores = method.predict(model, model.instances(dataset.test), k, threads, quiet=False)
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
