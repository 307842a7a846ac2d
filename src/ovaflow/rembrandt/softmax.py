"""Multinomial logistic regression on few dense features, for decoders of instances with one label each.

The objective is that of scikit-learn: 1/2 |W|^2 + C sum_i -log softmax(W x_i)_{y_i}.
It is minimised by L-BFGS in coordinates in which the features have unit
covariance: a cheap stand-in for the second-order method that the paper uses
(Agarwal et al. 2014), whose fixed bound on the curvature is far too large once
predictions are confident.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
import scipy.optimize

from ovaflow.rembrandt.blocks import row_blocks

_ROWS = 2048
_MEMORY = 10

MOST_ITERATIONS = 500

PATIENCE = 10
"""Iterations without a smaller loss on held-out instances after which they are enough."""


@dataclass
class Softmax:
    """A fit and how it went.

    Attributes
    ----------
    weights : ndarray of float32, shape (l, D)
    iterations : int
    objective : float
        Mean over the instances.
    gradient_norm : float
    held_out : list of float
        Mean loss of the held-out instances before each iteration and after the last.
    """

    weights: np.ndarray
    iterations: int = 0
    objective: float = np.inf
    gradient_norm: float = np.inf
    held_out: list = field(default_factory=list)


class Problem:
    """The objective of some instances, divided by C n.

    Parameters
    ----------
    features : ndarray of float32, shape (n, D)
    labels : ndarray of int, shape (n,)
    n_labels : int
    C : float
    each : callable
        Such as :func:`ovaflow.rembrandt.blocks.in_blocks` gives.
    """

    def __init__(self, features, labels, n_labels, C, each=map):
        self._features, self._labels, self._n_labels, self._each = features, labels, n_labels, each
        self._shrinkage = 1 / (C * len(labels))
        self._blocks = row_blocks(len(labels), _ROWS)

    @property
    def shape(self):
        """(D, l)."""
        return self._features.shape[1], self._n_labels

    def whitening(self):
        """T with T^T (X^T X / n + shrinkage) T = 1, float64 of shape (D, D)."""
        gram = np.zeros((self.shape[0],) * 2)
        for part in self._each(self._gram, self._blocks):
            gram += part
        gram /= len(self._labels)
        gram.flat[:: len(gram) + 1] += self._shrinkage + 1e-9 * np.trace(gram) / len(gram)
        triangle = scipy.linalg.cholesky(gram, lower=True)
        return scipy.linalg.solve_triangular(triangle, np.eye(len(gram)), lower=True).T

    def value_and_gradient(self, W):
        """Objective and gradient at W, float64 of shape (D, l)."""
        value, gradient = 0.5 * self._shrinkage * np.square(W).sum(), self._shrinkage * W
        narrow, n = W.astype(np.float32), len(self._labels)
        for loss, part in self._each(lambda rows: self._block(rows, narrow), self._blocks):
            value += loss / n
            gradient += part / n
        return value, gradient

    def loss(self, W):
        """Mean loss at W."""
        narrow = W.astype(np.float32)
        return sum(self._each(lambda rows: self._losses(rows, narrow)[0], self._blocks)) / max(len(self._labels), 1)

    def _gram(self, rows):
        part = self._features[rows].astype(np.float64)
        return part.T @ part

    def _losses(self, rows, W):
        """Sum of -log p_y, and p, of a block."""
        scores = self._features[rows] @ W
        scores -= scores.max(axis=1, keepdims=True)
        at = np.arange(len(scores)), self._labels[rows]
        own = scores[at].astype(np.float64)
        np.exp(scores, out=scores)
        sums = scores.sum(axis=1)
        scores /= sums[:, None]
        return float((np.log(sums.astype(np.float64)) - own).sum()), scores, at

    def _block(self, rows, W):
        loss, shares, at = self._losses(rows, W)
        shares[at] -= 1
        return loss, self._features[rows].T @ shares


def fit_softmax(problem, iterations=MOST_ITERATIONS, tolerance=1e-6, held_out=None, patience=PATIENCE):
    """Minimise the objective.

    Parameters
    ----------
    problem : Problem
    iterations : int
        At most.
    tolerance : float
        Relative decrease of the objective below which it counts as minimal.
    held_out : Problem, optional
        Whose loss is watched: the iterations end when it has not fallen for some, and the best weights are returned.
    patience : int

    Returns
    -------
    Softmax
    """
    transform, found = problem.whitening(), Softmax(np.zeros(problem.shape[::-1], np.float32))
    best = [np.inf, None, 0]

    def unfold(u):
        return transform @ u.reshape(problem.shape)

    def evaluate(u):
        value, gradient = problem.value_and_gradient(unfold(u))
        return value, (transform.T @ gradient).ravel()

    def watch(intermediate_result):
        found.iterations += 1
        if held_out is None:
            return
        found.held_out.append(held_out.loss(unfold(intermediate_result.x)))
        if found.held_out[-1] < best[0]:
            best[:] = found.held_out[-1], intermediate_result.x.copy(), found.iterations
        if found.iterations - best[2] >= patience:
            raise StopIteration

    ended = scipy.optimize.minimize(
        evaluate, np.zeros(problem.shape[0] * problem.shape[1]), jac=True, method="L-BFGS-B", callback=watch,
        options={"maxiter": iterations, "maxcor": _MEMORY, "ftol": tolerance, "gtol": 1e-9,
                 "maxfun": 4 * iterations + 20},
    )  # fmt: skip
    x = ended.x if best[1] is None else best[1]
    found.iterations = found.iterations if best[1] is None else best[2]
    found.weights = unfold(x).T.astype(np.float32)
    found.objective, found.gradient_norm = float(ended.fun), float(np.linalg.norm(ended.jac))
    return found
