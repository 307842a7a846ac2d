"""Joining: projection and the shards of the decoder become one model."""

import tempfile
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.model.merge import merge
from ovaflow.model.model_file import KIND, open_model, write_common
from ovaflow.model.training_file import Training, read_training, write_training
from ovaflow.rembrandt.model_file import METHOD
from ovaflow.rembrandt.projected_file import SOFTMAX
from ovaflow.rembrandt.projection import write_projection
from ovaflow.storage.arrays import create_array
from ovaflow.storage.artifact import create_artifact

_ROWS = 4096


def join_decoder(shards, projected, tuned, dataset, model_path, training_path):
    """Write the model and training file of a run; their bytes do not depend on how labels were divided into shards."""
    if projected.source != dataset.checksum:
        raise InputError(
            f"was not made from {dataset.path}", path=projected.dataset.path, remedy="run `ovaflow project`"
        )
    Path(model_path).parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=Path(model_path).parent) as folder:
        decoder_path, solved_path = Path(folder) / "decoder.h5", Path(folder) / "solved.h5"
        merge(shards, projected.dataset, 0.0, decoder_path, solved_path)
        decoder, solved = open_model(decoder_path), read_training(solved_path)
        settings = model_settings(projected, tuned)
        _write_model(model_path, decoder, projected, dataset, settings)
    seconds = projected.core_seconds + tuned.core_seconds + solved.core_seconds
    peak = max(projected.peak_rss_bytes, tuned.peak_rss_bytes, solved.peak_rss_bytes)
    statistics = {} if projected.decoder == SOFTMAX else {name: np.array(v) for name, v in solved.statistics.items()}
    iterations = int(solved.statistics["newton_steps"].max(initial=0)) if projected.decoder == SOFTMAX else 0
    given = settings | ({"iterations": iterations} if iterations else {})
    write_training(
        training_path, Training(statistics, seconds, solved.shards, peak), given, {"dataset": dataset.checksum}
    )
    return int(decoder.trained.sum())


def model_settings(projected, tuned):
    """Settings that a model depends on."""
    settings = {name: value for name, value in projected.dataset.parameters.items() if name != "bias"}
    other = ("epsilon",) if projected.decoder == SOFTMAX else ("iterations",)
    own = {name: value for name, value in tuned.parameters.items() if name not in (*other, "seed")}
    return settings | {"method": METHOD} | own


def _write_model(path, decoder, projected, dataset, settings):
    parameters = {"train": settings, "transform": dataset.parameters}
    with create_artifact(path, KIND, parameters, {"dataset": dataset.checksum}) as file:
        write_projection(file.create_group("projection"), projected.projection)
        stored = create_array(file, "decoder", shape=(decoder.n_labels, decoder.n_features), dtype=np.float32)
        for low in range(0, decoder.n_labels, _ROWS):
            high = min(low + _ROWS, decoder.n_labels)
            stored[low:high] = dense_rows(decoder.weights, low, high)
        write_common(file, decoder.trained, decoder.counts, dataset.names)


def dense_rows(weights, low, high):
    """Rows low..high of a sparse matrix in full: float32 (high - low, D)."""
    out = np.zeros((high - low, weights.n_columns), np.float32)
    start, end = weights.indptr[low], weights.indptr[high]
    rows = np.repeat(np.arange(high - low), np.diff(weights.indptr[low : high + 1]))
    out[rows, weights.indices[start:end]] = weights.data[start:end]
    return out
