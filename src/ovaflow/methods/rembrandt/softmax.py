"""Multinomial logistic regression on few dense features, for decoders of instances with one label.

The objective is that of scikit-learn: 1/2 |W|^2 + C sum_i -log softmax(W x_i)_{y_i}. A few epochs
of Adam (Kingma and Ba 2015) lead near the optimum, and L-BFGS to it, in coordinates in which each
label's block of the Hessian is the identity where L-BFGS begins. The second-order method that the
paper uses (Agarwal et al. 2014) has one bound on the curvature for all labels, far too large once
predictions are confident: L-BFGS under it took five times as long on ALOI.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.methods.rembrandt.panels import Map, make_row_blocks

_BLOCK_ROWS = 2048

_LBFGS_MEMORY = 20
"""Pairs of steps and gradient changes that L-BFGS keeps."""

MAX_SOFTMAX_ITERATIONS = 500
"""Iterations of Adam and L-BFGS together, after which a fit stops, converged or not."""

EARLY_STOPPING_PATIENCE = 10
"""Iterations without a smaller loss on held-out instances after which a fit stops."""

ADAM_EPOCHS = 10
"""Passes over the instances; the step length falls linearly from the first one to 0."""

_ADAM_FIRST_STEP = 0.05
_ADAM_BATCH = 512
_MEAN_DECAY = 0.9
_SQUARE_DECAY = 0.999

_MIN_CURVATURE = 1e-3
"""Curvature p (1 - p) below which an instance counts for a label's block as instances do on
average.
"""

_MIN_CURVATURE_OF_MANY = 1e-2
"""The same where many pairs are above the first; more than 100 per instance cannot be above this.
"""

MAX_CURVED_PAIRS = 50
"""Pairs of an instance and a label above the first minimum, per instance, up to which it is used.
"""

MAX_BLOCK_ENTRIES = 1 << 26
"""Entries of all labels' blocks, 256 MB, above which one block is used for all labels."""

_GRAM_SHRINKAGE = 1e-9
"""Share of the Gram matrix, or of its mean diagonal entry, that is added to each block."""


class SoftmaxFit(NamedTuple):
    """The result of a fit."""

    weights: np.ndarray  # float32 (l, D)
    iterations: int  # epochs of Adam and iterations of L-BFGS
    objective: float  # mean over the instances
    gradient_norm: float
    # mean loss of the held-out instances before the first iteration and after each
    held_out: list[float]


class _Curvatures(NamedTuple):
    """Curvatures p (1 - p) of the instances in a block."""

    rows: np.ndarray  # int32 (m,); instances of the pairs above the minimum
    labels: np.ndarray  # int32 (m,); their labels
    values: np.ndarray  # float32 (m,); their curvatures
    rest: np.ndarray  # float64 (l,); sum of the other curvatures of each label


class SoftmaxProblem:
    """The objective of instances (n, D), divided by C n."""

    def __init__(
        self, features: np.ndarray, labels: np.ndarray, n_labels: int, C: float, parallel: Map = map
    ) -> None:
        self._features = features
        self._labels = labels
        self._n_labels = n_labels
        self._parallel = parallel
        self._shrinkage = 1 / (C * len(labels))
        self._blocks = make_row_blocks(len(labels), _BLOCK_ROWS)

    @property
    def shape(self) -> tuple[int, int]:
        """(D, l)."""
        return self._features.shape[1], self._n_labels

    def __len__(self) -> int:
        return len(self._labels)

    def gram(self) -> np.ndarray:
        """Compute X^T X / n, float64 of shape (D, D)."""
        grams = self._parallel(self._compute_gram, self._blocks)
        return np.asarray(sum(grams) / len(self))

    def whitening(self, gram: np.ndarray) -> np.ndarray:
        """Compute T with T^T (X^T X / n + shrinkage) T = 1, float64 of shape (D, D)."""
        jitter = _GRAM_SHRINKAGE * np.trace(gram) / len(gram) * np.eye(len(gram))
        return _compute_inverse_root(gram + jitter, self._shrinkage)

    def whitening_by_label(self, W: np.ndarray, gram: np.ndarray) -> np.ndarray:
        """Compute T_j with T_j^T H_j T_j = 1 for each label, float32 of shape (l, D, D).

        H_j is the Hessian's block of label j at W.
        """
        narrow = W.astype(np.float32)
        blocks = list(
            self._parallel(lambda rows: self._compute_curvatures(rows, narrow), self._blocks)
        )
        rows = np.concatenate([block.rows for block in blocks])
        labels = np.concatenate([block.labels for block in blocks])
        values = np.concatenate([block.values for block in blocks])
        rest = sum(block.rest for block in blocks) / len(self)
        order = np.argsort(labels, kind="stable")
        starts = np.zeros(self._n_labels + 1, np.int64)
        np.cumsum(np.bincount(labels, minlength=self._n_labels), out=starts[1:])

        def invert(label: int) -> np.ndarray:
            members = order[starts[label] : starts[label + 1]]
            scaled = self._features[rows[members]] * np.sqrt(values[members])[:, None]
            block = (scaled.T @ scaled).astype(np.float64) / len(self)
            block = block + (rest[label] + _GRAM_SHRINKAGE) * gram
            return _compute_inverse_root(block, self._shrinkage).astype(np.float32)

        return np.stack(list(self._parallel(invert, range(self._n_labels))))

    def value_and_gradient(self, W: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the objective and its gradient at W, float64 of shape (D, l)."""
        value = 0.5 * self._shrinkage * np.square(W).sum()
        gradient = self._shrinkage * W
        narrow = W.astype(np.float32)
        n = len(self)
        parts = self._parallel(
            lambda rows: self._compute_loss_and_gradient(rows, narrow), self._blocks
        )
        for loss, part in parts:
            value += loss / n
            gradient += part / n
        return value, gradient

    def batch_gradient(self, rows: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Estimate the gradient at W from a batch, float32 of shape (D, l)."""
        halves = self._parallel(
            lambda part: self._compute_loss_and_gradient(part, W)[1], np.array_split(rows, 2)
        )
        return sum(halves) / np.float32(len(rows)) + np.float32(self._shrinkage) * W

    def loss(self, W: np.ndarray) -> float:
        """Compute the mean loss at W."""
        narrow = W.astype(np.float32)
        losses = self._parallel(lambda rows: self._predict(rows, narrow)[0], self._blocks)
        return sum(losses) / max(len(self), 1)

    def _compute_gram(self, rows: slice) -> np.ndarray:
        part = self._features[rows].astype(np.float64)
        return part.T @ part

    def _predict(self, rows: slice | np.ndarray, W: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the sum of -log p_y, and p (m, l), of some instances."""
        scores = self._features[rows] @ W
        scores -= scores.max(axis=1, keepdims=True)
        true = scores[np.arange(len(scores)), self._labels[rows]].astype(np.float64)
        np.exp(scores, out=scores)
        sums = scores.sum(axis=1)
        scores /= sums[:, None]
        return float((np.log(sums.astype(np.float64)) - true).sum()), scores

    def _compute_loss_and_gradient(
        self, rows: slice | np.ndarray, W: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Compute the sum of the losses of some instances, and its gradient (D, l)."""
        loss, residuals = self._predict(rows, W)
        residuals[np.arange(len(residuals)), self._labels[rows]] -= 1
        return loss, self._features[rows].T @ residuals

    def _compute_curvatures(self, rows: slice, W: np.ndarray) -> _Curvatures:
        """Compute p (1 - p), one by one where it is not negligible."""
        _, curvatures = self._predict(rows, W)
        curvatures *= 1 - curvatures
        minimum = _MIN_CURVATURE
        if np.count_nonzero(curvatures > minimum) > MAX_CURVED_PAIRS * len(curvatures):
            minimum = _MIN_CURVATURE_OF_MANY
        kept, labels = np.nonzero(curvatures > minimum)
        values = curvatures[kept, labels]
        totals = curvatures.sum(axis=0, dtype=np.float64)
        rest = totals - np.bincount(labels, values, self._n_labels)
        return _Curvatures(
            rows=(kept + rows.start).astype(np.int32),
            labels=labels.astype(np.int32),
            values=values,
            rest=np.maximum(rest, 0),
        )


def _compute_inverse_root(matrix: np.ndarray, shrinkage: float) -> np.ndarray:
    """Compute T with T^T (matrix + shrinkage) T = 1."""
    size = len(matrix)
    triangle = scipy.linalg.cholesky(matrix + shrinkage * np.eye(size), lower=True)
    return scipy.linalg.solve_triangular(triangle, np.eye(size), lower=True).T


def iterate_adam(
    problem: SoftmaxProblem, transform: np.ndarray, seed: int = 0
) -> Iterator[np.ndarray]:
    """Approach the optimum by Adam, in the coordinates of ``transform`` (D, D).

    Yields
    ------
    ndarray of float64, shape (D, l)
        W after each epoch.
    """
    generator = np.random.default_rng(seed)
    transform = transform.astype(np.float32)
    position = np.zeros(problem.shape, np.float32)
    mean = np.zeros(problem.shape, np.float32)
    square = np.zeros(problem.shape, np.float32)
    starts = range(0, max(len(problem) - _ADAM_BATCH, 0) + 1, _ADAM_BATCH)
    n_steps = ADAM_EPOCHS * len(starts)
    for epoch in range(ADAM_EPOCHS):
        order = generator.permutation(len(problem))
        for number, start in enumerate(starts):
            batch = order[start : start + _ADAM_BATCH]
            gradient = transform.T @ problem.batch_gradient(batch, transform @ position)
            mean += np.float32(1 - _MEAN_DECAY) * (gradient - mean)
            square += np.float32(1 - _SQUARE_DECAY) * (np.square(gradient) - square)
            step = epoch * len(starts) + number
            length = _ADAM_FIRST_STEP * (1 - step / n_steps) / (1 - _MEAN_DECAY ** (step + 1))
            corrected = square / np.float32(1 - _SQUARE_DECAY ** (step + 1))
            spread = np.sqrt(corrected) + np.float32(1e-8)
            position -= np.float32(length) * mean / spread
        yield (transform @ position).astype(np.float64)


class _Coordinates:
    """W = W_0 + T u, with one T for all labels or one for each."""

    def __init__(self, start: np.ndarray, transform: np.ndarray) -> None:
        self._start = start
        self._transform = transform

    def weights(self, u: np.ndarray) -> np.ndarray:
        """Return W for the coordinates u."""
        if self._transform.ndim == 2:
            return self._start + self._transform @ u.reshape(self._start.shape)
        n_features, n_labels = self._start.shape
        columns = u.reshape(n_labels, n_features, 1).astype(np.float32)
        steps = np.matmul(self._transform, columns)
        return self._start + steps[:, :, 0].T

    def gradient(self, gradient: np.ndarray) -> np.ndarray:
        """Return the gradient in u for that in W."""
        if self._transform.ndim == 2:
            return (self._transform.T @ gradient).ravel()
        columns = np.ascontiguousarray(gradient.T, np.float32)[:, None, :]
        return np.matmul(columns, self._transform).astype(np.float64).ravel()


class _EarlyStopping:
    """The best weights so far on held-out instances; without these, the last ones."""

    def __init__(self, held_out: SoftmaxProblem | None, start: np.ndarray) -> None:
        self._held_out = held_out
        self.losses: list[float] = []
        self.iteration = 0
        self.best = 0
        self.weights = start
        if held_out is not None:
            self.losses.append(held_out.loss(start))

    def record(self, weights: np.ndarray) -> None:
        """Record the weights after an iteration."""
        self.iteration += 1
        if self._held_out is not None:
            self.losses.append(self._held_out.loss(weights))
            if not self.losses[-1] < self.losses[self.best]:
                return
        self.best = self.iteration
        self.weights = weights

    @property
    def finished(self) -> bool:
        """True if the loss has not fallen for too many iterations."""
        return self.iteration - self.best >= EARLY_STOPPING_PATIENCE


def fit_softmax(
    problem: SoftmaxProblem,
    iterations: int = MAX_SOFTMAX_ITERATIONS,
    tolerance: float = 1e-6,
    held_out: SoftmaxProblem | None = None,
    seed: int = 0,
) -> SoftmaxFit:
    """Minimize the objective.

    Parameters
    ----------
    problem : SoftmaxProblem
    iterations : int
        Maximum number of iterations: epochs of Adam and iterations of L-BFGS.
    tolerance : float, default=1e-6
        Relative change of the objective at which L-BFGS stops.
    held_out : SoftmaxProblem, optional
        Held-out instances: the fit stops when their loss has not fallen for
        :data:`EARLY_STOPPING_PATIENCE` iterations, and the weights of the smallest loss are kept.
    seed : int, default=0
        Seed of Adam's batches.

    Returns
    -------
    SoftmaxFit
    """
    gram = problem.gram()
    transform = problem.whitening(gram)
    start = np.zeros(problem.shape)
    stopping = _EarlyStopping(held_out, start)
    for start in itertools.islice(iterate_adam(problem, transform, seed), iterations):
        stopping.record(start)
    if stopping.iteration < iterations and not stopping.finished:
        n_features, n_labels = problem.shape
        if n_features**2 * n_labels <= MAX_BLOCK_ENTRIES:
            transform = problem.whitening_by_label(start, gram)
        coordinates = _Coordinates(start, transform)
        _run_lbfgs(problem, coordinates, iterations - stopping.iteration, tolerance, stopping)
    value, gradient = problem.value_and_gradient(stopping.weights)
    return SoftmaxFit(
        weights=stopping.weights.T.astype(np.float32),
        iterations=stopping.best,
        objective=value,
        gradient_norm=float(np.linalg.norm(gradient)),
        held_out=stopping.losses,
    )


def _run_lbfgs(
    problem: SoftmaxProblem,
    coordinates: _Coordinates,
    iterations: int,
    tolerance: float,
    stopping: _EarlyStopping,
) -> None:
    """Continue to the optimum by L-BFGS, until ``stopping`` is finished."""

    def evaluate(u: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = problem.value_and_gradient(coordinates.weights(u))
        return value, coordinates.gradient(gradient)

    def record(intermediate_result: scipy.optimize.OptimizeResult) -> None:
        stopping.record(coordinates.weights(intermediate_result.x))
        if stopping.finished:
            raise StopIteration

    n_features, n_labels = problem.shape
    scipy.optimize.minimize(
        evaluate,
        np.zeros(n_features * n_labels),
        jac=True,
        method="L-BFGS-B",
        callback=record,
        options={
            "maxiter": iterations,
            "maxcor": _LBFGS_MEMORY,
            "ftol": tolerance,
            "gtol": 1e-9,
            "maxfun": 4 * iterations + 20,
        },
    )
