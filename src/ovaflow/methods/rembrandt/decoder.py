"""The decoder: from the features of a projected training set to the labels (Algorithm 3, line 6).

Independent logistic losses are one-vs-all problems, and solved as such, shard by shard. The softmax
loss ties all labels together: its one problem belongs to the first shard, and the others have no
labels.
"""

import time
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.initialization.means import compute_means
from ovaflow.initialization.starts import StartInputs
from ovaflow.machine.limits import read_peak_rss
from ovaflow.methods.rembrandt.panels import parallel_map
from ovaflow.methods.rembrandt.projection import SOFTMAX, Projected
from ovaflow.methods.rembrandt.softmax import (
    MAX_SOFTMAX_ITERATIONS,
    SoftmaxFit,
    SoftmaxProblem,
    fit_softmax,
)
from ovaflow.model.training_file import Shard, cast_statistics
from ovaflow.registry import ONE_VS_ALL
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.sparse.csr import from_dense
from ovaflow.storage.parts import Parts
from ovaflow.training.plan import estimate_work, plan_shards
from ovaflow.training.shard_job import train_labels
from ovaflow.training.shares import Share

_UNUSED_STATISTICS = (
    "cg_steps",
    "line_search_halvings",
    "active_start",
    "active_end",
    "gradient_target",
    "seconds",
)
"""Statistics of one-vs-all solvers that the softmax decoder does not have."""


@dataclass(frozen=True)
class Decoding:
    """Settings of the decoder's training, after all choices."""

    C: float  # weight of the losses
    epsilon: float  # relative gradient tolerance of the one-vs-all problems
    iterations: int | None  # of the softmax decoder; None: until it converges
    seed: int  # of the batches of Adam


def plan_decoder(counts: np.ndarray, decoder: str, shards: int) -> list[np.ndarray]:
    """Divide the labels into shards, int32 arrays; the softmax decoder has all in the first one."""
    if decoder != SOFTMAX:
        return plan_shards(estimate_work(counts), shards)
    all_labels = np.arange(len(counts), dtype=np.int32)
    no_labels = np.empty(0, np.int32)
    return [all_labels, *([no_labels] * (shards - 1))]


def make_decoder_share(projected: Projected, decoding: Decoding, shard: int, shards: int) -> Share:
    """Describe the training of one shard of a decoder."""
    counts = np.diff(projected.dataset.positives.indptr)
    labels = plan_decoder(counts, projected.decoder, shards)[shard]
    parameters = {**asdict(decoding), "stored_threshold": 0.0, "method": ONE_VS_ALL}
    train = partial(train_decoder, labels=labels, settings=decoding)
    return Share(labels, train, parameters, {"dataset": projected.dataset.checksum})


def train_decoder(
    projected: Projected,
    labels: np.ndarray,
    settings: Decoding,
    threads: int = 1,
    title: str = "decoder",
    parts: Parts | None = None,
) -> Shard:
    """Train one shard of a decoder.

    Parameters
    ----------
    projected : Projected
    labels : ndarray of int32
        Labels of the shard; all of them or none for softmax.
    settings : Decoding
    threads : int, default=1
        Number of threads, which changes no result.
    title : str, default="decoder"
        Title of the progress.
    parts : Parts, optional
        Store of finished labels, from which an interrupted training continues.

    Returns
    -------
    Shard
    """
    if projected.decoder == SOFTMAX:
        return _train_softmax(projected, labels, settings, threads)
    X = projected.dataset.train.X
    training = TrainLabels(
        C=settings.C, loss="logistic", epsilon=settings.epsilon, stored_threshold=0.0
    )
    means = compute_means(X, projected.dataset.positives, threads)
    inputs = StartInputs(means, X.n_rows, 1.0)
    return train_labels(
        projected.dataset, inputs, labels, training, threads=threads, title=title, parts=parts
    )


def require_one_label(dataset: Dataset) -> np.ndarray:
    """Return the one label of each training instance, int32 (n,); refuse other data."""
    if not (np.diff(dataset.train.Y.indptr) == 1).all():
        message = "the softmax decoder needs instances with one label each"
        raise InputError(message, path=dataset.path, remedy="set decoder: auto, or logistic")
    return dataset.train.Y.indices


def _train_softmax(
    projected: Projected, labels: np.ndarray, settings: Decoding, threads: int
) -> Shard:
    """Train the softmax decoder, or a shard without labels."""
    start = time.process_time()
    label_of_instance = require_one_label(projected.dataset)
    n_labels = projected.dataset.n_labels
    if not len(labels):
        no_weights = np.empty((0, projected.projection.n_features), np.float32)
        no_fit = SoftmaxFit(no_weights, 0, 0.0, 0.0, [])
        return _make_shard(labels, no_fit, np.empty(0, np.int64), 0.0)
    iterations = settings.iterations
    if iterations is None:
        iterations = MAX_SOFTMAX_ITERATIONS
    with parallel_map(threads) as parallel:
        problem = SoftmaxProblem(
            projected.features, label_of_instance, n_labels, settings.C, parallel
        )
        fit = fit_softmax(problem, iterations, seed=settings.seed)
    counts = np.bincount(label_of_instance, minlength=n_labels)[labels]
    fit = fit._replace(weights=fit.weights[labels])
    return _make_shard(labels, fit, counts, time.process_time() - start)


def _make_shard(
    labels: np.ndarray, fit: SoftmaxFit, counts: np.ndarray, core_seconds: float
) -> Shard:
    """Make the shard of a fit, whose figures are those of each label."""
    m = len(labels)
    statistics = dict.fromkeys(_UNUSED_STATISTICS, np.zeros(m))
    statistics |= {
        "positives": counts,
        "newton_steps": np.full(m, fit.iterations),
        "full_passes": np.full(m, fit.iterations),
        "objective": np.full(m, fit.objective),
        "gradient_norm": np.full(m, fit.gradient_norm),
        "status": np.where(counts > 0, Status.CONVERGED, Status.NO_POSITIVES),
    }
    return Shard(
        labels=labels,
        trained=counts > 0,
        weights=from_dense(fit.weights),
        statistics=cast_statistics(statistics),
        core_seconds=core_seconds,
        peak_rss_bytes=read_peak_rss(),
    )
