"""Megabytes that jobs request from a scheduler, by the sizes of their inputs and of the matrices that they hold.

Snakemake's driver calls this for every job of every run, so nothing imported here compiles kernels.
"""

import math

from ovaflow.data.readers.streams import PACKED
from ovaflow.estimate.demand import Shape
from ovaflow.settings.models import Rembrandt, Train

PANEL = 1 << 16
"""Labels of an index that are made at a time, as in :mod:`ovaflow.model.index`, which compiles kernels."""

_EXPANDING = (*PACKED, ".parquet", ".npz")


def of_reading(files: list[str], megabytes: float) -> int:
    """Memory of a job that reads raw files; compressed ones expand to a multiple of their size."""
    expanding = any(path.endswith(_EXPANDING) for path in files)
    return 550 + int((5 if expanding else 2) * megabytes)


def of_reranking(datasets: float, predictions: float, suggestions: float = 0) -> int:
    """Memory of a job that fits a second stage, by the sizes of its inputs."""
    return int(700 + 4 * datasets + 20 * predictions + 4 * suggestions)


def of_merging(labels: int, shards: float) -> int:
    """Memory of a job that joins shards piece by piece: arrays of the labels and a panel of an index."""
    panel = shards * min(1, PANEL / max(labels, 1))
    return int(650 + 200 * labels / 1e6 + 0.4 * panel)


def of_embedding(shape: Shape, megabytes: float, settings: Rembrandt, threads: int) -> int:
    n, d, labels, _ = shape
    columns = _columns(settings, d)
    embedded = _dense(columns, labels)
    fit = threads * _dense(64, 3 * n + 6 * d) + _dense(columns, 2 * n + d)
    return int(500 + 3 * megabytes + 1.1 * (embedded + max(embedded, fit)))


def of_projecting(shape: Shape, megabytes: float, settings: Rembrandt) -> int:
    n, d, _, _ = shape
    columns = _columns(settings, d)
    features = columns if settings.features == "linear" else settings.random_features
    matrices = _dense(columns, 2 * n + 2 * d) + _dense(features, 2 * n)
    return int(500 + 2 * megabytes + 1.25 * matrices)


def of_decoding(shape: Shape, settings: Rembrandt, train: Train) -> int:
    """Memory of a job that trains a decoder or chooses its settings; softmax holds its weights some hundred times."""
    n, d, labels, positives = shape
    if settings.decoder == "softmax" or (settings.decoder == "auto" and positives == n):
        weights = _dense(d, 120 * labels) + _dense(2048, (4 + train.threads) * labels)
        others = _dense(300, n) + min(512, _dense(2 * d * d, labels))
    else:
        weights = _dense(d, 4 * labels / train.shards)
        others = _dense(128 * train.threads, n)
    return int(500 + 4 * _dense(d, n) + 1.25 * (weights + others))


def _dense(columns: float, rows: float) -> float:
    return 4 * columns * rows / 1e6


def _columns(settings: Rembrandt, features: int) -> int:
    """Columns of a run's dense matrices, in panels of 64."""
    columns = features if settings.embedding == "none" else settings.rank + settings.oversampling
    return 64 * math.ceil(columns / 64)
