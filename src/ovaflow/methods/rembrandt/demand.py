"""Memory of Rembrandt's jobs, estimated from the sizes of their inputs.

See :mod:`ovaflow.estimate.demand`. Dense matrices of float32 are counted, with factors for copies
that were measured.
"""

import math

from ovaflow.dataset.sizes import Shape
from ovaflow.estimate.demand import PROGRAM_MEGABYTES
from ovaflow.methods.rembrandt.settings import Rembrandt
from ovaflow.settings.configuration import Config


def embedding_memory_mb(config: Config, run: str, shape: Shape, megabytes: float) -> int:
    """Estimate the MB of memory of a job that embeds labels, by the ``megabytes`` of its inputs."""
    settings = config.section("rembrandt", run=run)
    threads = config.train_settings(run).threads
    n, d, n_labels, _ = shape
    columns = _count_columns(settings, d)
    embedded = _dense_mb(columns, n_labels)
    fit = threads * _dense_mb(64, 3 * n + 6 * d) + _dense_mb(columns, 2 * n + d)
    return int(PROGRAM_MEGABYTES + 3 * megabytes + 1.1 * (embedded + max(embedded, fit)))


def projecting_memory_mb(config: Config, run: str, shape: Shape, megabytes: float) -> int:
    """Estimate the memory, in MB, of a job that projects instances."""
    settings = config.section("rembrandt", run=run)
    n, d, _, _ = shape
    columns = _count_columns(settings, d)
    features = columns
    if settings.features != "linear":
        features = settings.random_features
    matrices = _dense_mb(columns, 2 * n + 2 * d) + _dense_mb(features, 2 * n)
    return int(PROGRAM_MEGABYTES + 2 * megabytes + 1.25 * matrices)


def tuning_memory_mb(config: Config, run: str, shape: Shape, megabytes: float) -> int:
    """Estimate the memory, in MB, of a job that tunes a decoder: it also projects instances."""
    return (
        decoding_memory_mb(config, run, shape, 1)
        + projecting_memory_mb(config, run, shape, megabytes)
        - PROGRAM_MEGABYTES
    )


def decoding_memory_mb(config: Config, run: str, shape: Shape, shards: int) -> int:
    """Estimate the memory, in MB, of a job that trains a decoder.

    Softmax holds its weights about a hundred times.
    """
    settings = config.section("rembrandt", run=run)
    threads = config.train_settings(run).threads
    n, n_features, n_labels, n_positives = shape
    d = _count_decoder_features(settings, n_features)
    has_one_label = settings.decoder == "auto" and n_positives == n
    if settings.decoder == "softmax" or has_one_label:
        weights = _dense_mb(d, 120 * n_labels) + _dense_mb(2048, (4 + threads) * n_labels)
        others = _dense_mb(300, n) + min(512, _dense_mb(2 * d * d, n_labels))
    else:
        weights = _dense_mb(d, 4 * n_labels / shards)
        others = _dense_mb(128 * threads, n)
    return int(PROGRAM_MEGABYTES + 4 * _dense_mb(d, n) + 1.25 * (weights + others))


def _dense_mb(columns: float, rows: float) -> float:
    """Return the size of a dense matrix of float32, in MB."""
    return 4 * columns * rows / 1e6


def _count_columns(settings: Rembrandt, n_features: int) -> int:
    """Return the number of columns of a run's dense matrices, in panels of 64."""
    columns = settings.rank + settings.oversampling
    if settings.embedding == "none":
        columns = n_features
    return 64 * math.ceil(columns / 64)


def _count_decoder_features(settings: Rembrandt, n_features: int) -> int:
    """Return the number of features of a decoder."""
    if settings.features != "linear":
        return settings.random_features
    if settings.embedding == "none":
        return n_features
    return settings.rank
