"""Memory of the jobs of Rembrandt, by the sizes of their inputs; see
:mod:`ovaflow.estimate.demand`.
"""

import math

from ovaflow.dataset.sizes import Shape
from ovaflow.estimate.demand import PROGRAM_MEGABYTES
from ovaflow.methods.rembrandt.settings import Rembrandt
from ovaflow.settings.configuration import Config


def embedding_memory_mb(config: Config, run: str, shape: Shape, megabytes: float) -> int:
    settings = config.section("rembrandt", run=run)
    threads = config.train_settings(run).threads
    n, d, labels, _ = shape
    columns = _columns(settings, d)
    embedded = _dense(columns, labels)
    fit = threads * _dense(64, 3 * n + 6 * d) + _dense(columns, 2 * n + d)
    return int(PROGRAM_MEGABYTES + 3 * megabytes + 1.1 * (embedded + max(embedded, fit)))


def projecting_memory_mb(config: Config, run: str, shape: Shape, megabytes: float) -> int:
    settings = config.section("rembrandt", run=run)
    n, d, _, _ = shape
    columns = _columns(settings, d)
    features = columns if settings.features == "linear" else settings.random_features
    matrices = _dense(columns, 2 * n + 2 * d) + _dense(features, 2 * n)
    return int(PROGRAM_MEGABYTES + 2 * megabytes + 1.25 * matrices)


def tuning_memory_mb(config: Config, run: str, shape: Shape, megabytes: float) -> int:
    """Memory of a job that chooses a decoder's settings, for which the instances are projected once
    more.
    """
    return (
        decoding_memory_mb(config, run, shape, 1)
        + projecting_memory_mb(config, run, shape, megabytes)
        - PROGRAM_MEGABYTES
    )


def decoding_memory_mb(config: Config, run: str, shape: Shape, shards: int) -> int:
    """Memory of a job that trains a decoder; softmax holds its weights some hundred times."""
    settings = config.section("rembrandt", run=run)
    threads = config.train_settings(run).threads
    n, features, labels, positives = shape
    d = _decoded_features(settings, features)
    if settings.decoder == "softmax" or (settings.decoder == "auto" and positives == n):
        weights = _dense(d, 120 * labels) + _dense(2048, (4 + threads) * labels)
        others = _dense(300, n) + min(512, _dense(2 * d * d, labels))
    else:
        weights = _dense(d, 4 * labels / shards)
        others = _dense(128 * threads, n)
    return int(PROGRAM_MEGABYTES + 4 * _dense(d, n) + 1.25 * (weights + others))


def _dense(columns: float, rows: float) -> float:
    return 4 * columns * rows / 1e6


def _columns(settings: Rembrandt, features: int) -> int:
    """Columns of a run's dense matrices, in panels of 64."""
    columns = features if settings.embedding == "none" else settings.rank + settings.oversampling
    return 64 * math.ceil(columns / 64)


def _decoded_features(settings: Rembrandt, features: int) -> int:
    """Features of a decoder, which are those of the instances, their projection, or drawn at
    random.
    """
    if settings.features != "linear":
        return settings.random_features
    return features if settings.embedding == "none" else settings.rank
