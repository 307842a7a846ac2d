"""The stopping rule |g(w)| <= eps |g(0)|, the same for every start."""

import numpy as np

from ovaflow.sparse.jit import strict_kernel

L1_TOLERANCE_SHARE = 0.1
"""Tolerance of L1 problems in units of that of L2 problems.

The violation at w = 0 is a sum over features, most of which the bias alone sets
right: measured against it LIBLINEAR's tolerance leaves up to 1.5 % of the
objective, a tenth of it under 0.1 %.
"""


FEW_POSITIVES = 20
"""Positives below which ``epsilon: auto`` is looser."""


def compute_relative_tolerances(epsilon, n_positives, n, loosest=0.0):
    """Tolerance of labels, from their positives: eps max(1, min(|P|, |N|)) / n (MSI eq. 12-13).

    Labels of fewer than :data:`FEW` positives may have that of so many, up to ``loosest``.
    """
    fewer = np.maximum(1, np.minimum(n_positives, n - n_positives))
    return np.maximum(epsilon, np.minimum(loosest, epsilon * FEW_POSITIVES / fewer)) * fewer / n


def compute_gradient_norm_at_zero(C, slope_at_zero, n, n_positives, pp, xp, xx, positive_cost=1.0):
    """Norm of the gradient at w = 0, from means alone: C |phi'(0)| |(c + 1) |P| p_mean - n x_mean|.

    ``pp``, ``xp`` and ``xx`` are <p_mean, p_mean>, <x_mean, p_mean> and <x_mean, x_mean>; c weighs
    positives. Of the n instances all positives are taken to be one, which a name of a label is not.
    """
    share = positive_cost + 1.0
    squared = (
        share**2 * np.square(n_positives) * pp
        - 2.0 * share * n * n_positives * xp
        + float(n) ** 2 * xx
    )
    return C * abs(slope_at_zero) * np.sqrt(np.maximum(squared, 0.0))


def compute_gradient_targets(settings, slope_at_zero, instances, means, costs):
    """Compute what |g(w)| must reach for each of l labels, from :class:`Means` and :class:`Costs`:
    float64 (l,).

    With weights of instances |g(0)| is that without them times their mean.
    """
    n = instances.n_documents
    counts = means.counts
    products = means.pp, means.xp, means.xx
    at_zero = compute_gradient_norm_at_zero(
        costs.C, slope_at_zero, n, counts, *products, costs.positives
    )
    mean_weight = instances.total / n
    return (
        compute_relative_tolerances(settings.epsilon, counts, n, settings.loosest)
        * mean_weight
        * at_zero
    )


def compute_violation_targets(settings, C, slope_at_zero, X, positives, features, positive_costs):
    """What the violation of an L1 problem must reach, for each of l labels: a share of that at w =
    0.

    The violation is sum_j max(0, |g_j| - 1) at w = 0, with g the gradient of the losses, see
    :mod:`ovaflow.solver.coordinate_descent`. The share is that of L2 problems times
    :data:`STRICTER`. ``positives`` has shape (l, n); ``features`` are those of X, see
    :func:`ovaflow.solver.working_features.make_features`.
    """
    at_zero = np.empty(positives.n_rows)
    scales = C * abs(slope_at_zero)
    n = features.instances.n_documents
    _violations_at_zero(
        X, features.instances, positives, features.sums, scales, positive_costs, at_zero
    )
    return (
        L1_TOLERANCE_SHARE
        * compute_relative_tolerances(settings.epsilon, np.diff(positives.indptr), n)
        * at_zero
    )


@strict_kernel
def _violations_at_zero(X, instances, positives, sums, scales, positive_costs, out) -> None:
    """sum_f max(0, |g_f| - 1), g = -scale (sum_{i in P} v_i (c + [i <= n]) x_i - sum_{i <= n} v_i
    x_i), from P = {}.
    """
    total = scale = 0.0
    of_positives = np.zeros(len(sums))
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
                of_positives[X.indices[k]] += cost * X.data[k]
        for e in range(positives.indptr[label], positives.indptr[label + 1]):
            i = positives.indices[e]
            for k in range(X.indptr[i], X.indptr[i + 1]):
                f = X.indices[k]
                if of_positives[f] != 0:
                    gradient = of_positives[f] - sums[f]
                    out[label] += max(0.0, scale * abs(gradient) - 1.0) - max(
                        0.0, scale * abs(sums[f]) - 1.0
                    )
                    of_positives[f] = 0.0
