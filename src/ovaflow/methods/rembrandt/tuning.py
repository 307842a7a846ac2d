"""Choose on held-out instances C of the decoder, and how long the softmax decoder is fitted.

The projection is fitted again without these instances: it predicts the labels of instances that it
was fitted on far better than those of others, wherever there are nearly as many features as
instances.
"""

import time
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.machine.limits import read_peak_rss
from ovaflow.methods.rembrandt.decoder import Decoding, require_one_label, train_decoder
from ovaflow.methods.rembrandt.embedding import Embedding, split_held_out
from ovaflow.methods.rembrandt.least_squares import LeastSquares
from ovaflow.methods.rembrandt.panels import (
    Map,
    make_row_blocks,
    multiply_panels,
    parallel_map,
    to_panels,
)
from ovaflow.methods.rembrandt.projection import SOFTMAX, Projected, make_projection
from ovaflow.methods.rembrandt.settings import ProjectInstances, TuneDecoder
from ovaflow.methods.rembrandt.softmax import SoftmaxProblem, fit_softmax
from ovaflow.sparse.csr import from_dense, select_rows
from ovaflow.storage.texts import read_json, write_json

MAX_TUNING_LABELS = 1000
"""Labels on which C of a logistic decoder is chosen: a random sample if there are more."""

DEFAULT_C = {"softmax": 500.0, "logistic": 1.0, "kernel": 30.0}
"""C of each decoder if none is given; ``kernel``: random features and logistic losses.

Best on held-out instances of aloi for softmax, of delicious for logistic, of bibtex for kernel.
Early stopping is what regularizes the softmax decoder."""

_BLOCK_ROWS = 4096
_TINY = 1e-30


def default_C(decoder: str, *, random: bool) -> float:
    """Return C of a decoder if none is given; ``random``: its features are random cosines."""
    if random and decoder == "logistic":
        return DEFAULT_C["kernel"]
    return DEFAULT_C[decoder]


@dataclass(frozen=True)
class TunedDecoder:
    """The settings that were chosen for a decoder."""

    decoding: Decoding
    # mean loss on the held-out instances by C; of logistic losses the sum over labels, divided by
    # the number of positives
    losses: dict[float, float] = field(default_factory=dict)
    held_out: float = 0.0  # share of the held-out instances
    core_seconds: float = 0.0  # processor time
    peak_rss_bytes: int = 0

    @property
    def parameters(self) -> dict[str, Any]:
        """Settings that the decoder depends on, and the losses by which they were chosen."""
        parameters = asdict(self.decoding) | {"held_out": self.held_out}
        if self.losses:
            losses = {f"{C:g}": loss for C, loss in self.losses.items()}
            parameters["held_out_losses"] = losses
        return parameters


def tune_decoder(
    projected: Projected,
    dataset: Dataset,
    embedding: Embedding,
    settings: TuneDecoder,
    threads: int = 1,
) -> TunedDecoder:
    """Choose the settings of a decoder on held-out instances.

    Parameters
    ----------
    projected : Projected
        Training instances of the decoder.
    dataset : Dataset
        Dataset that they were projected from.
    embedding : Embedding
        Embedding that they were projected into; its projection is fitted again without the
        held-out instances.
    settings : TuneDecoder
    threads : int, default=1
        Number of threads, which changes no result.

    Returns
    -------
    TunedDecoder
    """
    start = time.process_time()
    candidates = settings.candidates
    if not candidates:
        has_random_features = projected.projection.phases is not None
        candidates = (default_C(projected.decoder, random=has_random_features),)
    decodings = [Decoding(C, settings.decoder_epsilon, None, settings.seed) for C in candidates]
    is_softmax = projected.decoder == SOFTMAX
    if is_softmax:
        require_one_label(projected.dataset)
    n = projected.dataset.train.X.n_rows
    nothing_to_choose = len(decodings) == 1 and not is_softmax
    if not settings.held_out or n < 2 or nothing_to_choose:
        return TunedDecoder(decodings[0])
    kept, held_out = split_held_out(n, settings.held_out, settings.seed)
    fitted, unseen = _project_anew(projected, dataset, embedding, kept, held_out, threads)
    measure = _measure_softmax if is_softmax else _measure_logistic
    results = [measure(fitted, unseen, decoding, threads) for decoding in decodings]
    best, _ = min(results, key=lambda result: result[1])
    return TunedDecoder(
        decoding=best,
        losses={decoding.C: loss for decoding, loss in results},
        held_out=settings.held_out,
        core_seconds=time.process_time() - start,
        peak_rss_bytes=read_peak_rss(),
    )


def _project_anew(
    projected: Projected,
    dataset: Dataset,
    embedding: Embedding,
    kept: np.ndarray,
    held_out: np.ndarray,
    threads: int,
) -> tuple[Projected, Projected]:
    """Project kept and held-out instances by a projection that was fitted to the kept ones."""
    X = dataset.train.X
    Y = dataset.train.Y
    fitted = Split(select_rows(X, kept), select_rows(Y, kept))
    unseen = Split(select_rows(X, held_out), select_rows(Y, held_out))
    with parallel_map(threads) as parallel:
        if embedding.vectors.shape[1]:
            embedding = replace(embedding, projection=_fit_projection(fitted, embedding, parallel))
        linear = make_projection(
            fitted.X, embedding, None, ProjectInstances(features="linear"), parallel
        )
        projection = linear._replace(
            frequencies=projected.projection.frequencies, phases=projected.projection.phases
        )
        fitted_X = from_dense(projection.features(fitted.X, parallel))
        unseen_X = from_dense(projection.features(unseen.X, parallel))
    return (
        _replace_instances(projected, Split(fitted_X, fitted.Y)),
        _replace_instances(projected, Split(unseen_X, unseen.Y)),
    )


def _fit_projection(split: Split, embedding: Embedding, parallel: Map) -> np.ndarray:
    """Fit the projection into an embedding to the instances of a split."""
    targets = multiply_panels(split.Y, to_panels(embedding.vectors), parallel)
    return LeastSquares(split.X, embedding.ridge, parallel).solve(targets)


def _replace_instances(projected: Projected, split: Split) -> Projected:
    return replace(projected, dataset=replace(projected.dataset, train=split))


def _measure_softmax(
    fitted: Projected, unseen: Projected, decoding: Decoding, threads: int
) -> tuple[Decoding, float]:
    """Return the decoding with the best number of iterations, and its mean held-out loss."""
    with parallel_map(threads) as parallel:
        problem = _make_softmax_problem(fitted, decoding, parallel)
        held_out = _make_softmax_problem(unseen, decoding, parallel)
        fit = fit_softmax(problem, held_out=held_out, seed=decoding.seed)
    return replace(decoding, iterations=fit.iterations), float(min(fit.held_out))


def _make_softmax_problem(
    projected: Projected, decoding: Decoding, parallel: Map
) -> SoftmaxProblem:
    dataset = projected.dataset
    labels = require_one_label(dataset)
    return SoftmaxProblem(projected.features, labels, dataset.n_labels, decoding.C, parallel)


def _measure_logistic(
    fitted: Projected, unseen: Projected, decoding: Decoding, threads: int
) -> tuple[Decoding, float]:
    """Return the decoding, and the held-out losses of labels over their positives."""
    labels, importance = _sample_labels(np.diff(fitted.dataset.positives.indptr), decoding.seed)
    decoder = train_decoder(fitted, labels, decoding, threads, title=f"C {decoding.C:g}")
    weights = decoder.weights.to_scipy().toarray()
    features = unseen.features
    Y = unseen.dataset.train.Y.to_scipy()[:, labels]
    losses = np.zeros(len(labels))
    for rows in make_row_blocks(len(features), _BLOCK_ROWS):
        signs = np.where(Y[rows].toarray() > 0, -1, 1).astype(np.float32)
        negative_margins = signs * (features[rows] @ weights.T)
        losses += np.logaddexp(0, negative_margins, dtype=np.float64).sum(axis=0)
    positives = np.asarray(Y.sum(axis=0)).ravel()
    n_positives = max((importance * positives).sum(), _TINY)
    return decoding, float((importance * losses).sum() / n_positives)


def _sample_labels(counts: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sample labels in proportion to their positives; return them and their importance weights.

    The weights are in proportion to the inverse of the chances. All labels are taken, with weight
    1, if there are at most :data:`MAX_TUNING_LABELS`.
    """
    trained = np.flatnonzero(counts)
    if len(trained) <= MAX_TUNING_LABELS:
        return trained.astype(np.int32), np.ones(len(trained))
    chances = counts[trained] / counts.sum()
    generator = np.random.default_rng(seed)
    drawn = np.sort(generator.choice(trained, MAX_TUNING_LABELS, replace=False, p=chances))
    return drawn.astype(np.int32), 1 / counts[drawn]


def write_tuned(path: StrPath, tuned: TunedDecoder, projected: Projected) -> None:
    """Write the settings of a decoder as JSON."""
    fields = asdict(tuned)
    # JSON has no numbers as keys
    fields["losses"] = list(tuned.losses.items())
    fields["projected"] = projected.dataset.checksum
    write_json(path, "tuned", fields)


def read_tuned(path: StrPath, projected: Projected) -> TunedDecoder:
    """Read the settings of a decoder; refuse those of other projected instances."""
    fields = read_json(path, "tuned")
    if fields.pop("projected") != projected.dataset.checksum:
        raise InputError(
            "made for other projected instances", path=path, remedy="run tune-decoder again"
        )
    losses = dict(fields.pop("losses"))
    decoding = Decoding(**fields.pop("decoding"))
    return TunedDecoder(decoding, losses, **fields)
