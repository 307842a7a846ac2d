"""What the decoder is trained with, chosen on held-out instances: C, and how long the softmax
decoder is fitted.

The projection is fitted again without these instances: it predicts the labels
of those that it was fitted on far better than others', wherever there are
nearly as many features as instances.
"""

import time
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Split
from ovaflow.machine.limits import read_peak_rss
from ovaflow.methods.rembrandt.decoder import Decoding, require_one_label, train_decoder
from ovaflow.methods.rembrandt.embedding import split_held_out
from ovaflow.methods.rembrandt.least_squares import LeastSquares
from ovaflow.methods.rembrandt.panels import (
    make_row_blocks,
    multiply_panels,
    parallel_map,
    to_panels,
)
from ovaflow.methods.rembrandt.projection import SOFTMAX, make_projection
from ovaflow.methods.rembrandt.settings import ProjectInstances
from ovaflow.methods.rembrandt.softmax import SoftmaxProblem, fit_softmax
from ovaflow.sparse.csr import from_dense, select_rows
from ovaflow.storage.texts import read_json, write_json

MAX_TUNING_LABELS = 1000
"""Labels on which C of a logistic decoder is chosen, a random sample where there are more."""

DEFAULT_C = {"softmax": 500.0, "logistic": 1.0, "kernel": 30.0}
"""C of each decoder where none is given, the last with random features and logistic losses.

Best on held-out instances of aloi for the softmax, of delicious for the logistic, of bibtex for the
last. Early stopping is what regularises the softmax decoder."""

_ROWS = 4096


def default_C(decoder, random):
    """C of a decoder that has none of its own; ``random``: its features are random cosines."""
    return DEFAULT_C["kernel" if random and decoder == "logistic" else decoder]


@dataclass(frozen=True)
class TunedDecoder:
    decoding: Decoding
    # on the held-out instances, by C: their mean loss; of logistic losses the sum over labels, for
    # each positive
    losses: dict = field(default_factory=dict)
    held_out: float = 0.0  # their share
    core_seconds: float = 0.0  # processor time
    peak_rss_bytes: int = 0

    @property
    def parameters(self):
        """Settings that the decoder depends on, and where they come from."""
        chosen = (
            {"held_out_losses": {f"{C:g}": loss for C, loss in self.losses.items()}}
            if self.losses
            else {}
        )
        return asdict(self.decoding) | {"held_out": self.held_out} | chosen


def tune_decoder(projected, dataset, embedding, settings, threads=1):
    """Choose what a decoder is trained with on held-out instances, projected by a fit that has not
    seen them.
    """
    started = time.process_time()
    random = projected.projection.phases is not None
    candidates = settings.candidates or (default_C(projected.decoder, random),)
    decodings = [Decoding(C, settings.decoder_epsilon, None, settings.seed) for C in candidates]
    softmax = projected.decoder == SOFTMAX
    if softmax:
        require_one_label(projected.dataset)
    n = projected.dataset.train.X.n_rows
    if not settings.held_out or n < 2 or (len(decodings) == 1 and not softmax):
        return TunedDecoder(decodings[0])
    kept, held_out = split_held_out(n, settings.held_out, settings.seed)
    fitted, watched = _project_anew(projected, dataset, embedding, kept, held_out, threads)
    watch = _watch_softmax if softmax else _watch_logistic
    results = [watch(fitted, watched, decoding, threads) for decoding in decodings]
    best, _ = min(results, key=lambda pair: pair[1])
    losses = {decoding.C: loss for decoding, loss in results}
    seconds = time.process_time() - started
    return TunedDecoder(best, losses, settings.held_out, seconds, read_peak_rss())


def _project_anew(projected, dataset, embedding, kept, held_out, threads):
    """Projected training sets of kept and of held-out instances, where the projection has not seen
    the latter.
    """
    X = dataset.train.X
    Y = dataset.train.Y
    parts = [Split(select_rows(X, rows), select_rows(Y, rows)) for rows in (kept, held_out)]
    with parallel_map(threads) as each:
        if embedding.vectors.shape[1]:
            targets = multiply_panels(parts[0].Y, to_panels(embedding.vectors), each)
            fitted = LeastSquares(parts[0].X, embedding.ridge, each).solve(targets)
            embedding = replace(embedding, projection=fitted)
        linear = make_projection(
            parts[0].X, embedding, None, ProjectInstances(features="linear"), each
        )
        projection = linear._replace(
            frequencies=projected.projection.frequencies, phases=projected.projection.phases
        )
        features = [from_dense(projection.features(part.X, each)) for part in parts]
    made = [
        replace(projected.dataset, train=Split(X, part.Y))
        for X, part in zip(features, parts, strict=True)
    ]
    return [replace(projected, dataset=each) for each in made]


def _watch_softmax(fitted, watched, decoding, threads):
    """The decoding with the best number of iterations, and the mean loss then."""
    with parallel_map(threads) as each:
        problem, unseen = (
            SoftmaxProblem(
                made.features,
                require_one_label(made.dataset),
                made.dataset.n_labels,
                decoding.C,
                each,
            )
            for made in (fitted, watched)
        )
        fit = fit_softmax(problem, held_out=unseen, seed=decoding.seed)
    return replace(decoding, iterations=fit.iterations), float(min(fit.held_out))


def _watch_logistic(fitted, watched, decoding, threads):
    """The decoding, and the losses of labels on the held-out instances, over their positives."""
    labels, importance = _sample(np.diff(fitted.dataset.positives.indptr), decoding.seed)
    done = train_decoder(fitted, labels, decoding, threads, title=f"C {decoding.C:g}")
    weights = done.weights.to_scipy().toarray()
    features = watched.features
    Y = watched.dataset.train.Y.to_scipy()[:, labels]
    losses = np.zeros(len(labels))
    for rows in make_row_blocks(len(features), _ROWS):
        signs = np.where(Y[rows].toarray() > 0, -1, 1).astype(np.float32)
        losses += np.logaddexp(0, signs * (features[rows] @ weights.T), dtype=np.float64).sum(
            axis=0
        )
    positives = np.asarray(Y.sum(axis=0)).ravel()
    return decoding, float((importance * losses).sum() / max((importance * positives).sum(), 1e-30))


def _sample(counts, seed):
    """All labels; or some, in proportion to their positives, with the inverse of their chances."""
    trained = np.flatnonzero(counts)
    if len(trained) <= MAX_TUNING_LABELS:
        return trained.astype(np.int32), np.ones(len(trained))
    chances = counts[trained] / counts.sum()
    drawn = np.sort(
        np.random.default_rng(seed).choice(trained, MAX_TUNING_LABELS, replace=False, p=chances)
    )
    return drawn.astype(np.int32), 1 / counts[drawn]


def write_tuned(path, tuned, projected) -> None:
    text = asdict(tuned) | {
        "losses": list(tuned.losses.items()),
        "projected": projected.dataset.checksum,
    }
    write_json(path, "tuned", text)


def read_tuned(path, projected):
    fields = read_json(path, "tuned")
    if fields.pop("projected") != projected.dataset.checksum:
        raise InputError(
            "made for other projected instances", path=path, remedy="run tune-decoder again"
        )
    losses = dict(fields.pop("losses"))
    return TunedDecoder(Decoding(**fields.pop("decoding")), losses, **fields)
