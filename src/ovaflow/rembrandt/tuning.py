"""What the decoder is trained with, chosen on held-out instances: C, and how long the softmax decoder is fitted."""

import json
import time
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.rembrandt.blocks import in_blocks, row_blocks
from ovaflow.rembrandt.decoder import multiclass, train_decoder
from ovaflow.rembrandt.projected_file import SOFTMAX, full_matrix
from ovaflow.rembrandt.settings import Decoding
from ovaflow.rembrandt.softmax import Problem, fit_softmax
from ovaflow.sparse.csr import rows_of
from ovaflow.storage.artifact import write_text
from ovaflow.training.memory import peak_rss_bytes

MOST_LABELS = 1000
"""Labels on which C of a logistic decoder is chosen, a random sample where there are more."""

_ROWS = 4096


@dataclass(frozen=True)
class Tuned:
    """What was chosen.

    Attributes
    ----------
    decoding : Decoding
    losses : dict of float to float
        Loss on the held-out instances by C: the mean over them, with logistic losses their sum for each positive label.
    held_out : float
        Their share.
    core_seconds : float
        Threads times wall seconds.
    peak_rss_bytes : int
    """

    decoding: Decoding
    losses: dict = field(default_factory=dict)
    held_out: float = 0.0
    core_seconds: float = 0.0
    peak_rss_bytes: int = 0

    @property
    def parameters(self):
        """Settings that the decoder depends on, and where they come from."""
        chosen = {"held_out_losses": {f"{C:g}": loss for C, loss in self.losses.items()}} if self.losses else {}
        return asdict(self.decoding) | {"held_out": self.held_out} | chosen


def tune(projected, settings, threads=1):
    """Choose what a decoder is trained with.

    Parameters
    ----------
    projected : Projected
    settings : Tuning
    threads : int
        They change no result.

    Returns
    -------
    Tuned

    Raises
    ------
    InputError
        If there is nothing to choose by, or the softmax decoder's instances have other than one label.
    """
    started, candidates = time.perf_counter(), settings.candidates(projected.decoder)
    decodings = [Decoding(C, settings.epsilon, seed=settings.seed) for C in candidates]
    softmax = projected.decoder == SOFTMAX
    if softmax:
        multiclass(projected.dataset)
    if len(decodings) > 1 and not settings.held_out:
        raise InputError("C is chosen among several values on held-out instances, and none are held out")
    n = projected.dataset.train.X.n_rows
    if not settings.held_out or n < 2 or (len(decodings) == 1 and not softmax):
        return Tuned(decodings[0])
    kept, held_out = _divide(n, settings)
    watch = _watch_softmax if softmax else _watch_logistic
    watched = [watch(projected, decoding, kept, held_out, threads) for decoding in decodings]
    best, _ = min(watched, key=lambda found: found[1])
    losses = {decoding.C: loss for decoding, loss in watched}
    seconds = threads * (time.perf_counter() - started)
    return Tuned(best, losses, settings.held_out, seconds, peak_rss_bytes())


def _divide(n, settings):
    order = np.random.default_rng(settings.seed).permutation(n)
    size = max(1, round(settings.held_out * n))
    return np.sort(order[size:]), np.sort(order[:size])


def _watch_softmax(projected, decoding, kept, held_out, threads):
    """The decoding with the best number of iterations, and the mean loss then."""
    X, Y = projected.dataset.train.X, projected.dataset.train.Y
    features = X.data.reshape(X.n_rows, X.n_columns)
    with in_blocks(threads) as each:
        fitted, watched = (
            Problem(features[rows], Y.indices[rows], Y.n_columns, decoding.C, each) for rows in (kept, held_out)
        )
        found = fit_softmax(fitted, held_out=watched, seed=decoding.seed)
    return replace(decoding, iterations=found.iterations), float(min(found.held_out))


def _watch_logistic(projected, decoding, kept, held_out, threads):
    """The decoding, and the losses of labels on the held-out instances, over their positives."""
    dataset = projected.dataset
    counts = np.diff(dataset.positives.indptr)
    labels, importance = _sample(counts, decoding.seed)
    train = replace(dataset.train, X=_rows(dataset.train.X, kept), Y=rows_of(dataset.train.Y, kept))
    fitted = replace(projected, dataset=replace(dataset, train=train))
    done = train_decoder(fitted, labels, decoding, threads, title=f"C {decoding.C:g}")
    weights = np.ascontiguousarray(done.weights.to_scipy().toarray())
    X, Y = _rows(dataset.train.X, held_out), rows_of(dataset.train.Y, held_out).to_scipy()[:, labels]
    losses = np.zeros(len(labels))
    for rows in row_blocks(len(held_out), _ROWS):
        scores = X.data.reshape(X.n_rows, X.n_columns)[rows] @ weights.T
        signs = np.where(Y[rows].toarray() > 0, -1, 1).astype(np.float32)
        losses += np.logaddexp(0, signs * scores, dtype=np.float64).sum(axis=0)
    losses[~done.trained] = 0
    positives = np.asarray(Y.sum(axis=0)).ravel()
    return decoding, float((importance * losses).sum() / max((importance * positives).sum(), 1e-30))


def _sample(counts, seed):
    """All labels; or some, in proportion to their positives, with the inverse of their chances."""
    trained = np.flatnonzero(counts)
    if len(trained) <= MOST_LABELS:
        return trained.astype(np.int32), np.ones(len(trained))
    chances = counts[trained] / counts.sum()
    drawn = np.sort(np.random.default_rng(seed).choice(trained, MOST_LABELS, replace=False, p=chances))
    return drawn.astype(np.int32), 1 / counts[drawn]


def _rows(X, rows):
    return full_matrix(X.data.reshape(X.n_rows, X.n_columns)[rows])


def write_tuned(path, tuned, projected):
    """Write what was chosen.

    Parameters
    ----------
    path : path-like
    tuned : Tuned
    projected : Projected
        What it was chosen for.
    """
    text = asdict(tuned) | {"losses": list(tuned.losses.items()), "projected": projected.dataset.checksum}
    write_text(path, json.dumps(text, indent=1) + "\n")


def read_tuned(path, projected):
    """Read what was chosen.

    Parameters
    ----------
    path : path-like
    projected : Projected

    Returns
    -------
    Tuned

    Raises
    ------
    InputError
        If the file is missing or foreign, or was made for other projected instances.
    """
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        source, losses = found.pop("projected"), dict(found.pop("losses"))
        tuned = Tuned(Decoding(**found.pop("decoding")), losses, **found)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"no choice of a decoder's settings ({error})", path=path, remedy="run tune-decoder") from None
    if source != projected.dataset.checksum:
        raise InputError("made for other projected instances", path=path, remedy="run tune-decoder again")
    return tuned
