"""Sigmoids from held-out scores: one for all labels that knows how frequent they are, and each label's deviation.

Most labels of a long tail have fewer than five held-out positives, far too few
for a sigmoid of their own, and their scores mean something else than those of
frequent labels. So the log-odds of the label j with c_j training positives at
the score s are

    a_0 + a_1 s + a_2 ln c_j + a_3 s ln c_j + u_j + v_j (s - m),

a fitted to all labels together, u_j and v_j to those of the label under the
prior u_j ~ N(0, 1/p), v_j ~ N(0, 1/q): a label without held-out positives
keeps the common sigmoid, one with many gets its own (Platt, 1999, shrunk as in
a hierarchical model). The precisions p and q are those with which the
deviations fitted to one half of the instances predict the other half best. m
is the mean score of the hits.

Scores of predicted labels are less sure at the top than such a line: of labels
at 90 % on held-out library records 73 % were true. So log-odds z are bent at
:data:`BEND`, for all labels alike, to b_0 + b_1 z + b_2 max(z + 1, 0), fitted
to what each half says of the other: what was fitted looks better than it is.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress
from ovaflow.sparse.jit import strict_kernel

PRECISIONS = [(p, q) for p in (1.0, 10.0, 100.0) for q in (1.0, 10.0, 100.0)]
"""Of the prior of a label's deviations; measured: likelihood moves by 1 % from 1 to 100."""

RIDGE = 0.01
"""Precision of the prior of a_0 to a_3: felt only where hits and misses can be told apart without an error."""

LEAST_SLOPE = 0.1
"""No label's slope is below this share of the median label's: a higher score never means less."""

BEND = -1.0
"""Log-odds at which the slope changes. Measured: from -1.5 to -0.5 log loss differs by at most 0.6 %."""

BEND_RIDGE = 1.0
"""Precision of the prior of b_0, b_1 - 1 and b_2."""

STRAIGHT = (0.0, 1.0, 0.0)
"""b_0 to b_2 of log-odds that stay as they are."""


class Pairs(NamedTuple):
    """Held-out instances and labels predicted for them, label after label."""

    labels: np.ndarray  # int32 (m,); ascending
    rows: np.ndarray  # int32 (m,)
    scores: np.ndarray  # float64 (m,)
    hits: np.ndarray  # float64 (m,); 1 where the label is true

    def where(self, chosen):
        return Pairs(*(array[chosen] for array in self))


class Sigmoids(NamedTuple):
    common: np.ndarray  # float64 (4,); a_0 to a_3
    deviations: np.ndarray  # float64 (l, 2); u_j and v_j
    middle: float  # m
    precisions: tuple  # p and q
    bend: np.ndarray  # float64 (3,); b_0 to b_2

    def lines(self, counts):
        """Log-odds before they are bent, as lines over the score: (slope, intercept) of shape (l,) at these counts."""
        slope, intercept = common_lines(self.common, counts)
        least = LEAST_SLOPE * np.median(slope)
        if least <= 0:
            raise InputError(
                "higher scores do not mean that labels are more probable on held-out instances",
                remedy="hold out more instances, or train longer: their scores say nothing",
            )
        level = slope * self.middle + intercept + self.deviations[:, 0]
        slope = np.maximum(slope + self.deviations[:, 1], least)
        return slope, level - slope * self.middle


def pairs_of(ids, scores, hits):
    """Predictions (n, k) of held-out instances, -1 for none, as pairs ordered by label."""
    known = np.flatnonzero(ids.reshape(-1) >= 0)
    order = known[np.argsort(ids.reshape(-1)[known], kind="stable")]
    rows = (order // ids.shape[1]).astype(np.int32)
    values = [array.reshape(-1)[order].astype(np.float64) for array in (scores, hits)]
    return Pairs(ids.reshape(-1)[order], rows, *values)


def fit_sigmoids(pairs, counts):
    """Fit the sigmoids of all labels to scores of a model trained without these instances, on ``counts`` positives."""
    frequency = np.log(np.maximum(counts, 1))
    common = fit_common(pairs, frequency)
    middle = float(np.average(pairs.scores, weights=pairs.hits))
    precisions, others = choose_precisions(pairs, frequency, middle)
    offsets = _log_odds(common, pairs.scores, frequency[pairs.labels])
    deviations = fit_deviations(pairs, offsets, middle, precisions, len(counts))
    return Sigmoids(common, deviations, middle, precisions, fit_bend(others, pairs.hits))


def common_lines(common, counts):
    """Log-odds without the labels' deviations: slope, intercept float64 (l,)."""
    frequency = np.log(np.maximum(counts, 1))
    return common[1] + common[3] * frequency, common[0] + common[2] * frequency


def fit_common(pairs, frequency):
    """Most probable a_0 to a_3: float64 (4,)."""
    return _most_probable(_features(pairs.scores, frequency[pairs.labels]), pairs.hits, RIDGE, 0.0)


def fit_bend(log_odds, hits):
    """Most probable b_0 to b_2, never falling: float64 (3,)."""
    b_0, b_1, b_2 = STRAIGHT + _most_probable(_corners(log_odds), hits, BEND_RIDGE, log_odds)
    b_1 = max(b_1, LEAST_SLOPE)
    return np.array([b_0, b_1, max(b_2, LEAST_SLOPE - b_1)])


def bent(log_odds, bend):
    """Log-odds of probabilities, of what lines give."""
    return bend[0] + bend[1] * log_odds + bend[2] * np.maximum(log_odds - BEND, 0)


def _most_probable(features, hits, ridge, offsets):
    """Coefficients of a logistic regression under the prior N(0, 1 / ridge), by Newton's method."""
    a = np.zeros(features.shape[1])

    def objective(a):
        return _loss(offsets + features @ a, hits) + ridge / 2 * (a @ a)

    loss = objective(a)
    for _ in range(50):
        probability = expit(offsets + features @ a)
        gradient = features.T @ (probability - hits) + ridge * a
        curvature = features.T @ (features * (probability * (1 - probability))[:, None]) + ridge * np.eye(len(a))
        step = np.linalg.solve(curvature, gradient)
        while objective(a - step) > loss and np.abs(step).max() > 1e-9:
            step = step / 2
        a = a - step
        before, loss = loss, objective(a)
        if before - loss <= 1e-10 * len(hits):
            break
    return a


def choose_precisions(pairs, frequency, middle):
    """The (p, q) of :data:`PRECISIONS` with which either half predicts the other best, and the log-odds of both."""
    first = (np.random.default_rng(0).random(pairs.rows.max(initial=0) + 1) < 0.5)[pairs.rows]
    log_odds = np.empty((len(PRECISIONS), len(pairs.labels)))
    with Progress("choosing the prior", 2 * len(PRECISIONS), "fits") as progress:
        for half in (first, ~first):
            known, other = pairs.where(half), pairs.where(~half)
            common = fit_common(known, frequency)
            offsets, others = (_log_odds(common, side.scores, frequency[side.labels]) for side in (known, other))
            for number, precisions in enumerate(PRECISIONS):
                shifts = fit_deviations(known, offsets, middle, precisions, len(frequency))
                own = shifts[other.labels, 0] + shifts[other.labels, 1] * (other.scores - middle)
                log_odds[number, ~half] = others + own
                progress.advance(1)
    best = int(np.argmin([_loss(each, pairs.hits) for each in log_odds]))
    return PRECISIONS[best], log_odds[best]


def fit_deviations(pairs, offsets, middle, precisions, n_labels):
    """Most probable u_j and v_j of each label, float64 (l, 2), by Newton's method; 0 for labels without pairs."""
    ends = np.searchsorted(pairs.labels, np.arange(n_labels + 1))
    out = np.zeros((n_labels, 2))
    _fit_deviations(ends, offsets, pairs.scores - middle, pairs.hits, *map(float, precisions), out)
    return out


def _features(scores, frequency):
    return np.stack([np.ones(len(scores)), scores, frequency, scores * frequency], axis=1)


def _corners(log_odds):
    return np.stack([np.ones(len(log_odds)), log_odds, np.maximum(log_odds - BEND, 0)], axis=1)


def _log_odds(common, scores, frequency):
    return common[0] + common[2] * frequency + (common[1] + common[3] * frequency) * scores


def _loss(log_odds, hits):
    """-log likelihood, summed over pairs."""
    return float(np.logaddexp(0, log_odds).sum() - hits @ log_odds)


@strict_kernel
def _fit_deviations(ends, offsets, scores, hits, p, q, out):
    """min_{u, v} sum_i log(1 + exp(z_i)) - y_i z_i + (p u^2 + q v^2) / 2 with z_i = o_i + u + v s_i."""
    for j in range(len(out)):
        if ends[j] == ends[j + 1]:
            continue
        u = v = 0.0
        for _ in range(50):
            gu, gv, huu, huv, hvv = p * u, q * v, p, 0.0, q
            for k in range(ends[j], ends[j + 1]):
                s = scores[k]
                probability = 1 / (1 + np.exp(-(offsets[k] + u + v * s)))
                residual, curvature = probability - hits[k], probability * (1 - probability)
                gu += residual
                gv += residual * s
                huu += curvature
                huv += curvature * s
                hvv += curvature * s * s
            determinant = huu * hvv - huv * huv
            du, dv = (hvv * gu - huv * gv) / determinant, (huu * gv - huv * gu) / determinant
            # far from the optimum the curvature may vanish: no step moves log-odds by more than 2 or so
            damping = min(1.0, 2 / max(abs(du), abs(dv), 1e-12))
            u -= damping * du
            v -= damping * dv
            if max(abs(du), abs(dv)) < 1e-8:
                break
        out[j, 0], out[j, 1] = u, v
