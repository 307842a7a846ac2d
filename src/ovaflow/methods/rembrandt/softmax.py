"""Multinomial logistic regression on few dense features, for decoders of instances with one label
each.

The objective is that of scikit-learn: 1/2 |W|^2 + C sum_i -log softmax(W x_i)_{y_i}.
A few epochs of Adam (Kingma and Ba 2015) lead near the optimum, and L-BFGS to
it, in coordinates in which each label's block of the Hessian is the identity
where L-BFGS begins. The second-order method that the paper uses (Agarwal et al.
2014) has one bound on the curvature for all labels, far too large once
predictions are confident: L-BFGS under it took five times as long on ALOI.
"""

import itertools
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize

from ovaflow.methods.rembrandt.panels import make_row_blocks

_BLOCK_ROWS = 2048
_MEMORY = 20

MAX_SOFTMAX_ITERATIONS = 500

EARLY_STOPPING_PATIENCE = 10
"""Iterations without a smaller loss on held-out instances after which they are enough."""

ADAM_EPOCHS = 10
"""Passes of the first phase; its step length falls from the first to 0."""

_FIRST_STEP = 0.05
_BATCH = 512
_DECAY = 0.9, 0.999

_NEGLIGIBLE = 1e-3, 1e-2
"""Curvature p (1 - p) below which an instance counts for a label's block as instances do on
average.

The second where instances have many above the first; more than 100 they cannot have.
"""

MAX_CURVED_PAIRS = 50
"""Such instances of a label that are many, for each instance."""

MAX_BLOCK_ENTRIES = 1 << 26
"""Entries of all labels' blocks, 256 MB, above which one block does for all labels."""


class SoftmaxFit(NamedTuple):
    weights: np.ndarray  # float32 (l, D)
    iterations: int  # epochs of the first phase, and iterations of L-BFGS
    objective: float  # mean over the instances
    gradient_norm: float
    held_out: list  # mean loss of the held-out instances before the first iteration and after each


class SoftmaxProblem:
    """The objective of instances (n, D), divided by C n."""

    def __init__(self, features, labels, n_labels, C, each=map) -> None:
        self._features = features
        self._labels = labels
        self._n_labels = n_labels
        self._each = each
        self._shrinkage = 1 / (C * len(labels))
        self._blocks = make_row_blocks(len(labels), _BLOCK_ROWS)

    @property
    def shape(self):
        """(D, l)."""
        return self._features.shape[1], self._n_labels

    def __len__(self):
        return len(self._labels)

    def gram(self):
        """X^T X / n, float64 of shape (D, D)."""
        return sum(self._each(self._gram, self._blocks)) / len(self)

    def whitening(self, gram):
        """T with T^T (X^T X / n + shrinkage) T = 1, float64 of shape (D, D)."""
        return _inverse_root(
            gram + 1e-9 * np.trace(gram) / len(gram) * np.eye(len(gram)), self._shrinkage
        )

    def whitening_by_label(self, W, gram):
        """T_j with T_j^T H_j T_j = 1, H_j the Hessian's block of label j at W, float32 of shape (l,
        D, D).
        """
        narrow = W.astype(np.float32)
        *entries, rests = zip(
            *self._each(lambda rows: self._curvatures(rows, narrow), self._blocks), strict=True
        )
        rows, labels, values = map(np.concatenate, entries)
        rest = sum(rests) / len(self)
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels, minlength=self._n_labels))

        def invert(label):
            members = order[ends[label - 1] if label else 0 : ends[label]]
            scaled = self._features[rows[members]] * np.sqrt(values[members])[:, None]
            block = (scaled.T @ scaled).astype(np.float64) / len(self) + (rest[label] + 1e-9) * gram
            return _inverse_root(block, self._shrinkage).astype(np.float32)

        return np.stack(list(self._each(invert, range(self._n_labels))))

    def value_and_gradient(self, W):
        """Objective and gradient at W, float64 of shape (D, l)."""
        value = 0.5 * self._shrinkage * np.square(W).sum()
        gradient = self._shrinkage * W
        narrow = W.astype(np.float32)
        n = len(self)
        for loss, part in self._each(lambda rows: self._block(rows, narrow), self._blocks):
            value += loss / n
            gradient += part / n
        return value, gradient

    def batch_gradient(self, rows, W):
        """Gradient of the objective at W from a batch alone, float32 of shape (D, l)."""
        halves = self._each(lambda part: self._block(part, W)[1], np.array_split(rows, 2))
        return sum(halves) / np.float32(len(rows)) + np.float32(self._shrinkage) * W

    def loss(self, W):
        """Mean loss at W."""
        narrow = W.astype(np.float32)
        return sum(self._each(lambda rows: self._losses(rows, narrow)[0], self._blocks)) / max(
            len(self), 1
        )

    def _gram(self, rows):
        part = self._features[rows].astype(np.float64)
        return part.T @ part

    def _losses(self, rows, W):
        """Sum of -log p_y, and p, of a block."""
        scores = self._features[rows] @ W
        scores -= scores.max(axis=1, keepdims=True)
        at = np.arange(len(scores)), self._labels[rows]
        true = scores[at].astype(np.float64)
        np.exp(scores, out=scores)
        sums = scores.sum(axis=1)
        scores /= sums[:, None]
        return float((np.log(sums.astype(np.float64)) - true).sum()), scores, at

    def _block(self, rows, W):
        loss, shares, at = self._losses(rows, W)
        shares[at] -= 1
        return loss, self._features[rows].T @ shares

    def _curvatures(self, rows, W):
        """p (1 - p) where it is not negligible, as rows, labels, values, and by label the sum of
        the others.
        """
        shares = self._losses(rows, W)[1]
        shares *= 1 - shares
        few = np.count_nonzero(shares > _NEGLIGIBLE[0]) <= MAX_CURVED_PAIRS * len(shares)
        kept, labels = np.nonzero(shares > _NEGLIGIBLE[0 if few else 1])
        values = shares[kept, labels]
        rest = shares.sum(axis=0, dtype=np.float64) - np.bincount(labels, values, self._n_labels)
        return (
            (kept + rows.start).astype(np.int32),
            labels.astype(np.int32),
            values,
            np.maximum(rest, 0),
        )


def _inverse_root(matrix, shrinkage):
    """T with T^T (matrix + shrinkage) T = 1."""
    size = len(matrix)
    triangle = scipy.linalg.cholesky(matrix + shrinkage * np.eye(size), lower=True)
    return scipy.linalg.solve_triangular(triangle, np.eye(size), lower=True).T


def iterate_adam(problem, transform, seed=0):
    """Go near the optimum by Adam, in the coordinates of ``transform`` (D, D): yields W (D, l)
    after each epoch.
    """
    generator = np.random.default_rng(seed)
    transform = transform.astype(np.float32)
    place, mean, square = (np.zeros(problem.shape, np.float32) for _ in range(3))
    starts = range(0, max(len(problem) - _BATCH, 0) + 1, _BATCH)
    first, second = _DECAY
    for epoch in range(ADAM_EPOCHS):
        order = generator.permutation(len(problem))
        for number, start in enumerate(starts):
            gradient = transform.T @ problem.batch_gradient(
                order[start : start + _BATCH], transform @ place
            )
            mean += np.float32(1 - first) * (gradient - mean)
            square += np.float32(1 - second) * (np.square(gradient) - square)
            step = epoch * len(starts) + number
            length = (
                _FIRST_STEP * (1 - step / (ADAM_EPOCHS * len(starts))) / (1 - first ** (step + 1))
            )
            spread = np.sqrt(square / np.float32(1 - second ** (step + 1))) + np.float32(1e-8)
            place -= np.float32(length) * mean / spread
        yield (transform @ place).astype(np.float64)


class _Coordinates:
    """W = W_0 + T u, with one T for all labels or one for each."""

    def __init__(self, start, transform) -> None:
        self._start = start
        self._transform = transform

    def weights(self, u):
        if self._transform.ndim == 2:
            return self._start + self._transform @ u.reshape(self._start.shape)
        steps = np.matmul(
            self._transform, u.reshape(*self._start.shape[::-1], 1).astype(np.float32)
        )
        return self._start + steps[:, :, 0].T

    def gradient(self, gradient):
        if self._transform.ndim == 2:
            return (self._transform.T @ gradient).ravel()
        columns = np.ascontiguousarray(gradient.T, np.float32)[:, None, :]
        return np.matmul(columns, self._transform).astype(np.float64).ravel()


class _Watch:
    """The best weights so far on held-out instances; the last ones where there are none."""

    def __init__(self, held_out) -> None:
        self._held_out = held_out
        self.losses = []
        self.iteration = -1
        self.best = 0
        self.weights = None

    def see(self, weights) -> None:
        self.iteration += 1
        if self._held_out is not None:
            self.losses.append(self._held_out.loss(weights))
        if self._held_out is None or self.losses[-1] < self.losses[self.best] or not self.iteration:
            self.best = self.iteration
            self.weights = weights

    @property
    def over(self):
        return self.iteration - self.best >= EARLY_STOPPING_PATIENCE


def fit_softmax(problem, iterations=MAX_SOFTMAX_ITERATIONS, tolerance=1e-6, held_out=None, seed=0):
    """Minimise the objective, with ``held_out`` until its loss has not fallen for :data:`EARLY_STOPPING_PATIENCE`
    iterations.
    """
    gram = problem.gram()
    watch = _Watch(held_out)
    transform = problem.whitening(gram)
    start = np.zeros(problem.shape)
    watch.see(start)
    for start in itertools.islice(iterate_adam(problem, transform, seed), iterations):
        watch.see(start)
    if watch.iteration < iterations and not watch.over:
        if problem.shape[0] ** 2 * problem.shape[1] <= MAX_BLOCK_ENTRIES:
            transform = problem.whitening_by_label(start, gram)
        _descend(
            problem, _Coordinates(start, transform), iterations - watch.iteration, tolerance, watch
        )
    value, gradient = problem.value_and_gradient(watch.weights)
    norm = float(np.linalg.norm(gradient))
    return SoftmaxFit(watch.weights.T.astype(np.float32), watch.best, value, norm, watch.losses)


def _descend(problem, coordinates, iterations, tolerance, watch):
    """Go on to the optimum by L-BFGS, until the watch is over."""

    def evaluate(u):
        value, gradient = problem.value_and_gradient(coordinates.weights(u))
        return value, coordinates.gradient(gradient)

    def look(intermediate_result) -> None:
        watch.see(coordinates.weights(intermediate_result.x))
        if watch.over:
            raise StopIteration

    scipy.optimize.minimize(
        evaluate,
        np.zeros(problem.shape[0] * problem.shape[1]),
        jac=True,
        method="L-BFGS-B",
        callback=look,
        options={
            "maxiter": iterations,
            "maxcor": _MEMORY,
            "ftol": tolerance,
            "gtol": 1e-9,
            "maxfun": 4 * iterations + 20,
        },
    )
