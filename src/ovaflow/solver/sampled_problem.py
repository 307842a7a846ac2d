"""The kernels of labels on a sample; :mod:`ovaflow.solver.sampled` says what their steps mean and
why that is exact.
"""

import math
from typing import NamedTuple

import numpy as np

from ovaflow.solver.losses import loss_value
from ovaflow.solver.newton import minimize
from ovaflow.solver.objective import collect_active, dot, fill_gradient
from ovaflow.solver.problem import allocate_separately
from ovaflow.solver.screening import TRANSPOSED_INSTANCES, collect_above, estimate_threshold
from ovaflow.solver.working_set import gather_local_problem
from ovaflow.sparse.csr import multiply_vector, row_dot
from ovaflow.sparse.jit import kernel, strict_kernel
from ovaflow.sparse.panel import PANEL_WIDTH, multiply_panel

SAMPLED_TOLERANCE_SHARE = 0.5
"""Gradient of a sampled problem, as a share of what the label's gradient must reach."""

_LOG2_E = np.float32(1 / math.log(2))
_LOG_2 = np.float32(math.log(2))
_EXPONENTIAL = tuple(
    map(np.float32, (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5))
)
_SMALL = 0.5
_LIGHTEST = 1e-30
_FACTORS = 16


class SlotPanel(NamedTuple):
    """Labels in flight of one thread, one in each slot c of WIDTH."""

    weights: np.ndarray  # w, float32, shape (d, WIDTH)
    gradients: np.ndarray  # g over all instances
    steps: (
        np.ndarray
    )  # p; the memory of g, which is the step of a feature that a sampled problem lacks
    slopes: np.ndarray  # c_i phi'(m_i) y_i, shape (n, WIDTH)
    by_label: np.ndarray  # phi'(m_i) y_i of negatives, 0 for positives: shape (WIDTH, n)
    shift: np.ndarray  # linear term of a sampled problem, by local feature
    rows: np.ndarray  # of a sampled problem: int32, shape (n + 1,)
    squares: np.ndarray  # |g|^2, float64
    histogram: np.ndarray  # scratch
    powers: np.ndarray  # scratch, and the same memory as int32
    power_bits: np.ndarray


class SampledLabel(NamedTuple):
    """A label in flight."""

    slot: int
    positives: np.ndarray
    positive_cost: np.float32
    target: float  # gradient norm at which it ends


def make_slot_panel(n, d):
    """Allocate the slots of one thread, for n instances and d features."""
    large = allocate_separately(
        weights=(np.float32, d, PANEL_WIDTH),
        gradients=(np.float32, d, PANEL_WIDTH),
        slopes=(np.float32, n, PANEL_WIDTH),
        by_label=(np.float32, PANEL_WIDTH, n),
        shift=(np.float32, d),
        rows=(np.int32, n + 1),
    )
    large["weights"][:] = large["gradients"][:] = 0.0
    bits = np.zeros(PANEL_WIDTH, np.int32)
    scratch = {
        "histogram": np.zeros(1024, np.int64),
        "powers": bits.view(np.float32),
        "power_bits": bits,
    }
    return SlotPanel(**large, steps=large["gradients"], squares=np.zeros(PANEL_WIDTH), **scratch)


@strict_kernel
def count_exact_negatives(n_positives):
    """Instances of large slopes that are taken exactly, as the positives are."""
    return 250 + 4 * n_positives


@kernel
def reset_slots(slots, anchor, panel) -> None:
    """w and g of the anchor, for new labels."""
    for f in range(len(anchor.weights)):
        for c in slots:
            panel.weights[f, c] = anchor.weights[f]
            panel.gradients[f, c] = anchor.gradient[f]


@kernel
def step_and_score(X, instances, panel) -> None:
    """Take the steps w -= p, and sigma(<w, x_i>), times v_i the slopes of negatives, for all
    labels.
    """
    for f in range(len(panel.weights)):
        for c in range(PANEL_WIDTH):
            panel.weights[f, c] -= panel.steps[f, c]
    n = len(panel.slopes)
    for start in range(0, n, TRANSPOSED_INSTANCES):
        end = min(start + TRANSPOSED_INSTANCES, n)
        multiply_panel(
            X.data, X.indices, X.indptr[start : end + 1], panel.weights, panel.slopes[start:end]
        )
        for i in range(start, end):
            fill_sigmoids(panel.slopes[i], panel.powers, panel.power_bits)
        for c in range(PANEL_WIDTH):
            for i in range(start, end):
                panel.by_label[c, i] = panel.slopes[i, c]
        for i in range(start, end):
            panel.slopes[i] *= instances.weights[i]


@kernel
def fill_sigmoids(scores, powers, power_bits) -> None:
    """sigma(s) = 1 / (1 + e^-s) of WIDTH scores, in their place; ``power_bits`` are the bits of
    ``powers``.
    """
    # e^-s = 2^k e^r with |r| <= log(2) / 2, by Cephes' polynomial: vector code, which math.exp is
    # not
    for c in range(PANEL_WIDTH):
        exponent = min(max(-scores[c], np.float32(-80.0)), np.float32(80.0))
        biased = np.int32(exponent * _LOG2_E + np.float32(127.5))
        power_bits[c] = biased << 23
        r = exponent - np.float32(biased - 127) * _LOG_2
        polynomial = np.float32(1.9875691500e-4)
        for coefficient in _EXPONENTIAL:
            polynomial = polynomial * r + coefficient
        scores[c] = polynomial * r * r + r + np.float32(1.0)
    for c in range(PANEL_WIDTH):
        scores[c] = np.float32(1.0) / (np.float32(1.0) + powers[c] * scores[c])


@strict_kernel
def flip_positive_rows(label, instances, panel) -> None:
    """-v_i c_+ (1 - sigma(<w, x_i>)), the slopes of positives; 0 for names of other labels."""
    c = label.slot
    panel.slopes[instances.n_documents :, c] = 0.0
    for i in label.positives:
        slope = panel.by_label[c, i] - np.float32(1.0)
        panel.slopes[i, c] = instances.weights[i] * (label.positive_cost * slope)
        panel.by_label[c, i] = 0.0
    panel.by_label[c, instances.n_documents :] = 0.0


@kernel
def fill_gradients(columns, C, panel) -> None:
    """g = w + C sum_i c_i phi'(m_i) y_i x_i and |g|^2, for all labels."""
    multiply_panel(columns.data, columns.indices, columns.indptr, panel.slopes, panel.gradients)
    panel.squares[:] = 0.0
    scale = np.float32(C)
    for f in range(len(panel.weights)):
        for c in range(PANEL_WIDTH):
            gradient = panel.weights[f, c] + scale * panel.gradients[f, c]
            panel.gradients[f, c] = gradient
            panel.squares[c] += np.float64(gradient) * np.float64(gradient)


@kernel
def solve_at_anchor(label, X, anchor, panel, local, settings):
    """Solve a label's first sampled problem, made where its positives still are negatives; returns
    the Outcome.
    """
    exact = _take_rows(label.positives, 0, panel, local)
    part, work = _set_up_problem(label, exact, X, anchor, panel, local)
    _fill_shift(label.slot, part, work, panel, local, settings)
    _flip_rows(label, anchor, work)
    return _solve(label, part, work, panel, local, settings)


@kernel
def solve_at_weights(label, X, anchor, panel, local, settings):
    """Solve the sampled problem made at a label's weights, with instances of large slopes; returns
    the Outcome.
    """
    exact = _take_rows(label.positives, 0, panel, local)
    slopes = panel.by_label[label.slot]
    active = local.work.active
    n_near = min(count_exact_negatives(exact), len(slopes))
    threshold = estimate_threshold(slopes, len(slopes), n_near, panel.histogram)
    n_near = collect_above(slopes, len(slopes), threshold, 0, active, 0)
    exact = _take_rows(active[:n_near], exact, panel, local)
    part, work = _set_up_problem(label, exact, X, anchor, panel, local)
    _flip_rows(label, anchor, work)
    _fill_shift(label.slot, part, work, panel, local, settings)
    return _solve(label, part, work, panel, local, settings)


@kernel
def _take_rows(candidates, count, panel, local):
    """Append instances that are not yet rows of the sampled problem; returns the number of rows."""
    for i in candidates:
        panel.rows[count] = i
        count += not local.member[i]
        local.member[i] = True
    return count


@kernel
def _set_up_problem(label, exact, X, anchor, panel, local):
    """The rows taken so far and the sample, which stands for all other negatives, with w and its
    scores.
    """
    count = _take_rows(anchor.sample, exact, panel, local)
    for i in panel.rows[:count]:
        local.member[i] = False
    part, work = gather_local_problem(X, panel.rows[:count], local)
    n = anchor.instances.n_documents
    weights = anchor.instances.weights
    others = anchor.total
    sampled = 0.0
    for r in range(exact):
        i = panel.rows[r]
        work.signed_costs[r] = -weights[i] if i < n else np.float32(0.0)
        others -= weights[i]
    for i in panel.rows[exact:count]:
        sampled += weights[i]
    share = np.float32(max(others, 0.0)) / max(sampled, _LIGHTEST)
    for r in range(exact, count):
        work.signed_costs[r] = -weights[panel.rows[r]] * share
    for e in range(part.n_columns):
        work.weights[e] = panel.weights[local.features[e], label.slot]
    multiply_vector(part.data, part.indices, part.indptr, work.weights, work.scores)
    return part, work


@kernel
def _flip_rows(label, anchor, work) -> None:
    """v_i c_+, the costs of positives, which are the first rows."""
    for r, i in enumerate(label.positives):
        work.signed_costs[r] = anchor.instances.weights[i] * label.positive_cost


@kernel
def _fill_shift(c, part, work, panel, local, settings) -> None:
    """g - g', the linear term that makes the gradient of the sampled problem that over all
    instances.
    """
    fill_gradient(part, work, collect_active(work, settings), settings.C)
    for e in range(part.n_columns):
        panel.shift[e] = panel.gradients[local.features[e], c] - work.gradient[e]


@kernel
def _solve(label, part, work, panel, local, settings):
    """Minimise the sampled problem, and leave the step to its solution in p."""
    shift = panel.shift
    for e in range(part.n_columns):
        work.weights[e] += shift[e]
    solved = minimize(part, SAMPLED_TOLERANCE_SHARE * label.target, work, settings)
    for e in range(part.n_columns):
        f = local.features[e]
        solution = work.weights[e] - shift[e]
        panel.steps[f, label.slot] = panel.weights[f, label.slot] - solution
    return solved


@kernel
def compute_sampled_objective(label, X, instances, weights, panel, settings):
    """1/2 |w|^2 + C sum_i c_i phi(m_i), where phi(m_i) = -log(1 - phi'(m_i) y_i) for a negative of
    small slope.
    """
    slopes = panel.by_label[label.slot]
    losses = 0.0
    for start in range(0, len(slopes), _FACTORS):
        product = 1.0
        for i in range(start, min(start + _FACTORS, len(slopes))):
            if slopes[i] >= _SMALL:
                losses += instances.weights[i] * loss_value(settings.loss, -_score(X, i, weights))
            elif instances.weights[i] == 1:
                product *= 1.0 - slopes[i]
            else:
                losses -= instances.weights[i] * math.log(1.0 - slopes[i])
        losses -= math.log(product)
    for i in label.positives:
        cost = instances.weights[i] * label.positive_cost
        losses += cost * loss_value(settings.loss, _score(X, i, weights))
    return 0.5 * dot(weights, weights) + settings.C * losses


@kernel
def _score(X, i, weights):
    """<w, x_i>."""
    return row_dot(X.data, X.indices, X.indptr[i], X.indptr[i + 1], weights)
