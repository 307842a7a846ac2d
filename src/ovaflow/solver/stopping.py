"""Targets of the stopping rule |g(w)| <= eps max(1, min(|P|, |N|)) / n |g(0)|, for every start.

:func:`ovaflow.solver.newton.minimize` and the other solvers stop at them.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from ovaflow.solver.problem import Costs, Instances
from ovaflow.solver.working_features import WorkingFeatures
from ovaflow.sparse.csr import CSR
from ovaflow.sparse.jit import strict_kernel

if TYPE_CHECKING:
    from ovaflow.settings.train import Solve

AUTO_EPSILON = 0.01
"""Tolerance of ``epsilon: auto``."""

AUTO_LOOSEST_EPSILON = 0.1
"""Largest tolerance of labels with few positives under ``epsilon: auto``, measured for the squared
hinge with L2.
"""

L1_TOLERANCE_SHARE = 0.1
"""Tolerance of L1 problems in units of that of L2 problems.

The violation at w = 0 is a sum over features, most of which the bias alone sets
right: measured against it LIBLINEAR's tolerance leaves up to 1.5 % of the
objective, a tenth of it under 0.1 %.
"""

FEW_POSITIVES = 20
"""Positives below which ``epsilon: auto`` is looser. Measured: labels with fewer tolerate up to ten
times the tolerance without loss of quality, frequent ones do not.
"""


class Tolerance(NamedTuple):
    """Gradient norm at which labels end, relative to |g(0)| and before it is scaled to the label.

    That is eps of MSI, eq. 12.
    """

    epsilon: float
    loosest_epsilon: float = 0.0  # of labels with few positives, where it is larger

    @classmethod
    def from_training(cls, train: "Solve") -> Self:
        """Read the tolerance of a training, or choose that of its loss and regularization."""
        if train.epsilon != "auto":
            return cls(train.epsilon)
        if train.loss == "squared-hinge" and train.regularization == "l2":
            return cls(AUTO_EPSILON, AUTO_LOOSEST_EPSILON)
        return cls(AUTO_EPSILON)


class LabelMeans(Protocol):
    """Inner products of means, see :class:`ovaflow.initialization.means.Means`."""

    @property
    def pp(self) -> np.ndarray:
        """<p_mean, p_mean> of each label."""

    @property
    def xp(self) -> np.ndarray:
        """<x_mean, p_mean> of each label."""

    @property
    def counts(self) -> np.ndarray:
        """Number of positives of each label."""

    @property
    def xx(self) -> float:
        """<x_mean, x_mean>."""


def scale_tolerance(tolerance: Tolerance, n_positives: np.ndarray, n: int) -> np.ndarray:
    """Scale the tolerance to labels by their positives: eps max(1, min(|P|, |N|)) / n.

    See MSI, eq. 12-13. Labels of fewer than :data:`FEW_POSITIVES` positives may have the tolerance
    of a label with that many, up to ``loosest_epsilon``.
    """
    epsilon = tolerance.epsilon
    fewer = np.maximum(1, np.minimum(n_positives, n - n_positives))
    loosened = np.minimum(tolerance.loosest_epsilon, epsilon * FEW_POSITIVES / fewer)
    return np.maximum(epsilon, loosened) * fewer / n


def compute_gradient_norm_at_zero(
    C: float | np.ndarray,
    slope_at_zero: float,
    n: int,
    n_positives: int | np.ndarray,
    pp: float | np.ndarray,
    xp: float | np.ndarray,
    xx: float,
    positive_cost: float | np.ndarray = 1.0,
) -> Any:
    """Compute |g(0)| = C |phi'(0)| |(c + 1) |P| p_mean - n x_mean| from means alone.

    Assumes that every positive is one of the n documents; names used for training are not.
    ``C``, ``n_positives``, ``pp``, ``xp`` and ``positive_cost`` are numbers or arrays of labels.

    Parameters
    ----------
    n_positives
        |P|.
    pp, xp, xx
        <p_mean, p_mean>, <x_mean, p_mean> and <x_mean, x_mean>.
    positive_cost
        Weight c of the losses of positives.
    """
    share = positive_cost + 1.0
    squared = (
        share**2 * np.square(n_positives) * pp
        - 2.0 * share * n * n_positives * xp
        + float(n) ** 2 * xx
    )
    return C * abs(slope_at_zero) * np.sqrt(np.maximum(squared, 0.0))


def compute_gradient_targets(
    tolerance: Tolerance,
    slope_at_zero: float,
    instances: Instances,
    means: LabelMeans,
    costs: Costs,
) -> np.ndarray:
    """Compute the gradient norm at which each of l labels ends: float64 (l,).

    With weights of instances |g(0)| is that without them times their mean.
    """
    n = instances.n_documents
    at_zero = compute_gradient_norm_at_zero(
        costs.C, slope_at_zero, n, means.counts, means.pp, means.xp, means.xx, costs.positives
    )
    mean_weight = instances.total / n
    return scale_tolerance(tolerance, means.counts, n) * mean_weight * at_zero


def compute_violation_targets(
    tolerance: Tolerance,
    slope_at_zero: float,
    X: CSR,
    features: WorkingFeatures,
    positives: CSR,
    costs: Costs,
) -> np.ndarray:
    """Compute the violation at which each of l L1 problems ends, a share of that at w = 0.

    The violation is sum_j max(0, |g_j| - 1) at w = 0, with g the gradient of the losses, see
    :mod:`ovaflow.solver.coordinate_descent`. The share is that of L2 problems times
    :data:`L1_TOLERANCE_SHARE`. ``features`` are those of X; ``positives`` has shape (l, n).
    """
    instances = features.instances
    at_zero = np.empty(positives.n_rows)
    scales = costs.C * abs(slope_at_zero)
    _fill_violations_at_zero(
        X, instances, positives, features.sums, scales, costs.positives, at_zero
    )
    counts = np.diff(positives.indptr)
    tolerances = scale_tolerance(tolerance, counts, instances.n_documents)
    return L1_TOLERANCE_SHARE * tolerances * at_zero


@strict_kernel
def _fill_violations_at_zero(
    X: CSR,
    instances: Instances,
    positives: CSR,
    sums: np.ndarray,
    scales: np.ndarray,
    positive_costs: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill the violation of each label at w = 0, sum_f max(0, |g_f| - 1).

    g = -scale (sum_{i in P} v_i (c + [i <= n]) x_i - sum_{i <= n} v_i x_i). What the second sum
    gives alone is computed once for all labels of one scale, and corrected for the features of the
    positives.
    """
    total = scale = 0.0
    positive_sums = np.zeros(len(sums))
    for label in range(len(out)):
        if scales[label] != scale:
            scale = scales[label]
            total = 0.0
            for f in range(len(sums)):
                total += max(0.0, scale * abs(sums[f]) - 1.0)
        out[label] = total
        for e in range(positives.indptr[label], positives.indptr[label + 1]):
            i = positives.indices[e]
            cost = instances.weights[i] * (positive_costs[label] + (i < instances.n_documents))
            for k in range(X.indptr[i], X.indptr[i + 1]):
                positive_sums[X.indices[k]] += cost * X.data[k]
        for e in range(positives.indptr[label], positives.indptr[label + 1]):
            i = positives.indices[e]
            for k in range(X.indptr[i], X.indptr[i + 1]):
                f = X.indices[k]
                if positive_sums[f] != 0:
                    gradient = positive_sums[f] - sums[f]
                    out[label] += max(0.0, scale * abs(gradient) - 1.0) - max(
                        0.0, scale * abs(sums[f]) - 1.0
                    )
                    positive_sums[f] = 0.0
