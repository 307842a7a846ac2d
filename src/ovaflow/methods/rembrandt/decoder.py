"""The decoder: from the features of a projected training set to the labels (Algorithm 3, line 6).

Independent logistic losses are one-vs-all problems, and solved as such, shard by
shard. The softmax loss ties all labels together: its one problem belongs to the
first shard, and the others are left without labels.
"""

import time
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.means import compute_means
from ovaflow.initialization.starts import StartInputs
from ovaflow.machine.limits import read_peak_rss
from ovaflow.methods.rembrandt.panels import parallel_map
from ovaflow.methods.rembrandt.projection import SOFTMAX
from ovaflow.methods.rembrandt.softmax import MAX_SOFTMAX_ITERATIONS, SoftmaxProblem, fit_softmax
from ovaflow.model.training_file import Shard, cast_statistics
from ovaflow.registry import ONE_VS_ALL
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.sparse.csr import from_dense
from ovaflow.training.plan import estimate_work, plan_shards
from ovaflow.training.shard_job import train_labels
from ovaflow.training.shares import Share


@dataclass(frozen=True)
class Decoding:
    """How the decoder is trained, after all choices."""

    C: float  # weight of the losses
    epsilon: float  # relative gradient tolerance of the one-vs-all problems
    iterations: int | None  # of the softmax decoder; None: it is solved
    seed: int  # of its first phase


def plan_decoder(counts, decoder, shards):
    """Labels of each shard, int32 arrays; the softmax decoder's all in the first."""
    if decoder != SOFTMAX:
        return plan_shards(estimate_work(counts), shards)
    return [np.arange(len(counts), dtype=np.int32), *([np.empty(0, np.int32)] * (shards - 1))]


def make_decoder_share(projected, decoding, shard, shards):
    """What a job trains of a decoder."""
    labels = plan_decoder(np.diff(projected.dataset.positives.indptr), projected.decoder, shards)[
        shard
    ]
    parameters = {**asdict(decoding), "stored_threshold": 0.0, "method": ONE_VS_ALL}
    train = partial(train_decoder, labels=labels, settings=decoding)
    return Share(labels, train, parameters, {"dataset": projected.dataset.checksum})


def train_decoder(projected, labels, settings, threads=1, title="decoder", parts=None):
    """Train one shard of a decoder; softmax takes all labels or none."""
    if projected.decoder == SOFTMAX:
        return _train_softmax(projected, labels, settings, threads)
    X = projected.dataset.train.X
    solving = {"C": settings.C, "loss": "logistic", "epsilon": settings.epsilon}
    training = TrainLabels(**solving, stored_threshold=0.0)
    inputs = StartInputs(compute_means(X, projected.dataset.positives, threads), X.n_rows, 1.0)
    return train_labels(projected.dataset, inputs, labels, training, threads, title, parts)


def require_one_label(dataset):
    """The one label of each training instance: int32 (n,)."""
    if not (np.diff(dataset.train.Y.indptr) == 1).all():
        message = "the softmax decoder needs instances with one label each"
        raise InputError(message, path=dataset.path, remedy="set decoder: auto, or logistic")
    return dataset.train.Y.indices


def _train_softmax(projected, labels, settings, threads):
    started = time.process_time()
    of_instances = require_one_label(projected.dataset)
    n_labels = projected.dataset.n_labels
    if not len(labels):
        nothing = np.empty((0, projected.projection.n_features), np.float32)
        return _as_shard(labels, nothing, np.empty(0, np.int64), (0, 0.0, 0.0), 0.0)
    iterations = MAX_SOFTMAX_ITERATIONS if settings.iterations is None else settings.iterations
    with parallel_map(threads) as each:
        problem = SoftmaxProblem(projected.features, of_instances, n_labels, settings.C, each)
        fit = fit_softmax(problem, iterations, seed=settings.seed)
    counts = np.bincount(of_instances, minlength=n_labels)[labels]
    figures = fit.iterations, fit.objective, fit.gradient_norm
    return _as_shard(labels, fit.weights[labels], counts, figures, time.process_time() - started)


def _as_shard(labels, weights, counts, figures, core_seconds):
    m = len(weights)
    iterations, objective, norm = figures
    zeros = dict.fromkeys(
        (
            "cg_steps",
            "line_search_halvings",
            "active_start",
            "active_end",
            "gradient_target",
            "seconds",
        ),
        np.zeros(m),
    )
    statistics = zeros | {
        "positives": counts,
        "newton_steps": np.full(m, iterations),
        "full_passes": np.full(m, iterations),
        "objective": np.full(m, objective),
        "gradient_norm": np.full(m, norm),
        "status": np.where(counts > 0, Status.CONVERGED, Status.NO_POSITIVES),
    }
    parts = labels, counts > 0, from_dense(weights), cast_statistics(statistics)
    return Shard(*parts, core_seconds, read_peak_rss())
