"""Kernels of labels on a sample: see :mod:`ovaflow.solver.sampled` for the method."""

import math
from typing import NamedTuple

import numpy as np

from ovaflow.solver.losses import loss_value
from ovaflow.solver.newton import minimize
from ovaflow.solver.objective import collect_active, dot, fill_gradient
from ovaflow.solver.problem import (
    Instances,
    Outcome,
    Settings,
    Workspace,
    allocate_separately,
)
from ovaflow.solver.screening import TRANSPOSED_INSTANCES, collect_above, estimate_threshold
from ovaflow.solver.working_set import LocalProblem, gather_local_problem
from ovaflow.sparse.csr import CSR, multiply_vector, row_dot
from ovaflow.sparse.jit import callee, kernel, strict_kernel
from ovaflow.sparse.panel import PANEL_WIDTH, multiply_panel

SAMPLED_TOLERANCE_SHARE = 0.5
"""Gradient of a sampled problem, as a share of what the label's gradient must reach: the rest is
left to the error of the sample.
"""

_LOG2_E = np.float32(1 / math.log(2))
_LOG_2 = np.float32(math.log(2))
_LARGEST_EXPONENT = np.float32(80.0)
"""Scores are cut off here, since e^88 exceeds float32."""

_HIGHEST_COEFFICIENT = np.float32(1.9875691500e-4)
_LOWER_COEFFICIENTS = (
    np.float32(1.3981999507e-3),
    np.float32(8.3334519073e-3),
    np.float32(4.1665795894e-2),
    np.float32(1.6666665459e-1),
    np.float32(0.5),
)
"""Coefficients of Cephes' polynomial for (e^r - 1 - r) / r^2, by falling power."""

_LARGE_SLOPE = 0.5
"""Slope of a negative from which its loss is computed from its score: -log(1 - slope) loses digits
for slopes near 1.
"""

_SMALLEST_SAMPLE_WEIGHT = 1e-30
"""Replaces a weight of 0 of the sampled instances, so that it can be divided by."""

_FACTORS_PER_LOGARITHM = 16
"""Factors of at least 1/2 that are multiplied before their logarithm is taken, which costs most."""

_HISTOGRAM_BINS = 1024
"""Bins from which a threshold of slopes is estimated."""


class Anchor(NamedTuple):
    """Common start of all labels, and the sample; read by all threads."""

    weights: np.ndarray  # solution of the problem without positives: float32, shape (d,)
    gradient: np.ndarray  # its gradient there
    sample: np.ndarray  # random instances, ascending
    columns: CSR  # X transposed
    instances: Instances
    total: float  # weight of all documents


class SlotPanel(NamedTuple):
    """Labels in flight of one thread, one in each slot c of PANEL_WIDTH."""

    weights: np.ndarray  # w, float32, shape (d, PANEL_WIDTH)
    gradients: np.ndarray  # g over all instances
    # p; the memory of g, which is the step of a feature that a sampled problem lacks
    steps: np.ndarray
    slopes: np.ndarray  # c_i phi'(m_i) y_i, shape (n, PANEL_WIDTH)
    by_label: np.ndarray  # phi'(m_i) y_i of negatives, 0 for positives: shape (PANEL_WIDTH, n)
    shift: np.ndarray  # linear term of a sampled problem, by local feature
    rows: np.ndarray  # of a sampled problem: int32, shape (n + 1,)
    squares: np.ndarray  # |g|^2, float64
    histogram: np.ndarray  # scratch
    powers: np.ndarray  # scratch, shape (PANEL_WIDTH,)
    power_bits: np.ndarray  # the memory of powers as int32


class SampledLabel(NamedTuple):
    """A label in flight."""

    slot: int
    positives: np.ndarray
    positive_cost: np.float32
    target: float  # gradient norm at which it ends


def make_slot_panel(n: int, d: int) -> SlotPanel:
    """Allocate the slots of one thread, for n instances and d features."""
    large = allocate_separately(
        weights=(np.float32, d, PANEL_WIDTH),
        gradients=(np.float32, d, PANEL_WIDTH),
        slopes=(np.float32, n, PANEL_WIDTH),
        by_label=(np.float32, PANEL_WIDTH, n),
        shift=(np.float32, d),
        rows=(np.int32, n + 1),
    )
    large["weights"][:] = 0.0
    large["gradients"][:] = 0.0
    bits = np.zeros(PANEL_WIDTH, np.int32)
    return SlotPanel(
        **large,
        steps=large["gradients"],
        squares=np.zeros(PANEL_WIDTH),
        histogram=np.zeros(_HISTOGRAM_BINS, np.int64),
        powers=bits.view(np.float32),
        power_bits=bits,
    )


@strict_kernel
def count_exact_negatives(n_positives: int) -> int:
    """Count the negatives of the largest slopes that a sampled problem takes exactly."""
    return 250 + 4 * n_positives


@kernel
def reset_slots(slots: np.ndarray, anchor: Anchor, panel: SlotPanel) -> None:
    """Set w and g of new labels to those of the anchor."""
    for f in range(len(anchor.weights)):
        for c in slots:
            panel.weights[f, c] = anchor.weights[f]
            panel.gradients[f, c] = anchor.gradient[f]


@kernel
def step_and_score(X: CSR, instances: Instances, panel: SlotPanel) -> None:
    """Take the steps w -= p, and compute slopes as if all instances were negatives.

    ``by_label`` gets sigma(<w, x_i>), and ``slopes`` the same times v_i, for all labels.
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
def fill_sigmoids(scores: np.ndarray, powers: np.ndarray, power_bits: np.ndarray) -> None:
    """Replace PANEL_WIDTH scores by sigma(s) = 1 / (1 + e^-s).

    ``powers`` is scratch, and ``power_bits`` its memory as int32.
    """
    # e^-s = 2^k e^r with |r| <= log(2) / 2, by Cephes' polynomial: vector code, which math.exp is
    # not
    for c in range(PANEL_WIDTH):
        exponent = min(max(-scores[c], -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
        # 127 is the exponent's bias in float32, 23 the bits of its fraction
        biased = np.int32(exponent * _LOG2_E + np.float32(127.5))
        power_bits[c] = biased << 23
        r = exponent - np.float32(biased - 127) * _LOG_2
        polynomial = _HIGHEST_COEFFICIENT
        for coefficient in _LOWER_COEFFICIENTS:
            polynomial = polynomial * r + coefficient
        scores[c] = polynomial * r * r + r + np.float32(1.0)
    for c in range(PANEL_WIDTH):
        scores[c] = np.float32(1.0) / (np.float32(1.0) + powers[c] * scores[c])


@strict_kernel
def flip_positive_rows(label: SampledLabel, instances: Instances, panel: SlotPanel) -> None:
    """Set the slopes of positives, -v_i c_+ (1 - sigma(<w, x_i>)).

    Names of other labels have none.
    """
    c = label.slot
    panel.slopes[instances.n_documents :, c] = 0.0
    for i in label.positives:
        slope = panel.by_label[c, i] - np.float32(1.0)
        panel.slopes[i, c] = instances.weights[i] * (label.positive_cost * slope)
        panel.by_label[c, i] = 0.0
    panel.by_label[c, instances.n_documents :] = 0.0


@kernel
def fill_gradients(columns: CSR, C: float, panel: SlotPanel) -> None:
    """Fill g = w + C sum_i c_i phi'(m_i) y_i x_i and |g|^2, for all labels."""
    multiply_panel(columns.data, columns.indices, columns.indptr, panel.slopes, panel.gradients)
    panel.squares[:] = 0.0
    scale = np.float32(C)
    for f in range(len(panel.weights)):
        for c in range(PANEL_WIDTH):
            gradient = panel.weights[f, c] + scale * panel.gradients[f, c]
            panel.gradients[f, c] = gradient
            panel.squares[c] += np.float64(gradient) * np.float64(gradient)


@kernel
def solve_at_anchor(
    label: SampledLabel,
    X: CSR,
    anchor: Anchor,
    panel: SlotPanel,
    local: LocalProblem,
    settings: Settings,
) -> Outcome:
    """Solve a label's first sampled problem.

    Its linear term is that of the anchor, where the label's positives still are negatives.
    """
    n_exact = _take_rows(label.positives, 0, panel, local)
    part, work = _set_up_sampled_problem(label, n_exact, X, anchor, panel, local)
    _fill_shift(label.slot, part, work, panel, local, settings)
    _set_positive_costs(label, anchor, work)
    return _solve_sampled_problem(label, part, work, panel, local, settings)


@kernel
def solve_at_weights(
    label: SampledLabel,
    X: CSR,
    anchor: Anchor,
    panel: SlotPanel,
    local: LocalProblem,
    settings: Settings,
) -> Outcome:
    """Solve the sampled problem at a label's weights, with the instances of large slopes exact."""
    n_exact = _take_rows(label.positives, 0, panel, local)
    slopes = panel.by_label[label.slot]
    active = local.work.active
    n_near = min(count_exact_negatives(n_exact), len(slopes))
    threshold = estimate_threshold(slopes, len(slopes), n_near, panel.histogram)
    n_near = collect_above(slopes, len(slopes), threshold, 0, active, 0)
    n_exact = _take_rows(active[:n_near], n_exact, panel, local)
    part, work = _set_up_sampled_problem(label, n_exact, X, anchor, panel, local)
    _set_positive_costs(label, anchor, work)
    _fill_shift(label.slot, part, work, panel, local, settings)
    return _solve_sampled_problem(label, part, work, panel, local, settings)


@callee
def _take_rows(candidates: np.ndarray, count: int, panel: SlotPanel, local: LocalProblem) -> int:
    """Append instances that are not yet rows of the sampled problem; return the number of rows."""
    for i in candidates:
        panel.rows[count] = i
        if not local.member[i]:
            count += 1
        local.member[i] = True
    return count


@callee
def _set_up_sampled_problem(
    label: SampledLabel,
    n_exact: int,
    X: CSR,
    anchor: Anchor,
    panel: SlotPanel,
    local: LocalProblem,
) -> tuple[CSR, Workspace]:
    """Set up the problem on the exact rows and the sample, which represents all other negatives.

    The workspace gets costs, w and its scores; the costs of positives are those of negatives.
    """
    count = _take_rows(anchor.sample, n_exact, panel, local)
    for i in panel.rows[:count]:
        local.member[i] = False
    part, work = gather_local_problem(X, panel.rows[:count], local)
    n = anchor.instances.n_documents
    weights = anchor.instances.weights
    others = anchor.total
    sampled = 0.0
    for r in range(n_exact):
        i = panel.rows[r]
        work.signed_costs[r] = -weights[i] if i < n else np.float32(0.0)
        others -= weights[i]
    for i in panel.rows[n_exact:count]:
        sampled += weights[i]
    share = np.float32(max(others, 0.0)) / max(sampled, _SMALLEST_SAMPLE_WEIGHT)
    for r in range(n_exact, count):
        work.signed_costs[r] = -weights[panel.rows[r]] * share
    for e in range(part.n_columns):
        work.weights[e] = panel.weights[local.features[e], label.slot]
    multiply_vector(part.data, part.indices, part.indptr, work.weights, work.scores)
    return part, work


@callee
def _set_positive_costs(label: SampledLabel, anchor: Anchor, work: Workspace) -> None:
    """Set the costs v_i c_+ of positives, which are the first rows."""
    for r, i in enumerate(label.positives):
        work.signed_costs[r] = anchor.instances.weights[i] * label.positive_cost


@callee
def _fill_shift(
    c: int,
    part: CSR,
    work: Workspace,
    panel: SlotPanel,
    local: LocalProblem,
    settings: Settings,
) -> None:
    """Fill the linear term g - g', which makes the sampled problem's gradient exact here."""
    fill_gradient(part, work, collect_active(work, settings), settings.C)
    for e in range(part.n_columns):
        panel.shift[e] = panel.gradients[local.features[e], c] - work.gradient[e]


@callee
def _solve_sampled_problem(
    label: SampledLabel,
    part: CSR,
    work: Workspace,
    panel: SlotPanel,
    local: LocalProblem,
    settings: Settings,
) -> Outcome:
    """Minimize the sampled problem, and leave the step to its solution in p."""
    shift = panel.shift
    # 1/2 |w|^2 + <shift, w> is 1/2 |w + shift|^2 and a constant
    for e in range(part.n_columns):
        work.weights[e] += shift[e]
    solved = minimize(part, SAMPLED_TOLERANCE_SHARE * label.target, work, settings)
    for e in range(part.n_columns):
        f = local.features[e]
        solution = work.weights[e] - shift[e]
        panel.steps[f, label.slot] = panel.weights[f, label.slot] - solution
    return solved


@kernel
def compute_sampled_objective(
    label: SampledLabel,
    X: CSR,
    instances: Instances,
    weights: np.ndarray,
    panel: SlotPanel,
    settings: Settings,
) -> float:
    """Compute 1/2 |w|^2 + C sum_i c_i phi(m_i) over all instances.

    For a negative of small slope phi(m_i) = -log(1 - phi'(m_i) y_i), from the slope in the panel.
    """
    slopes = panel.by_label[label.slot]
    losses = 0.0
    for start in range(0, len(slopes), _FACTORS_PER_LOGARITHM):
        product = 1.0
        for i in range(start, min(start + _FACTORS_PER_LOGARITHM, len(slopes))):
            if slopes[i] >= _LARGE_SLOPE:
                score = _score_instance(X, i, weights)
                losses += instances.weights[i] * loss_value(settings.loss, -score)
            elif instances.weights[i] == 1:
                product *= 1.0 - slopes[i]
            else:
                losses -= instances.weights[i] * math.log(1.0 - slopes[i])
        losses -= math.log(product)
    for i in label.positives:
        cost = instances.weights[i] * label.positive_cost
        losses += cost * loss_value(settings.loss, _score_instance(X, i, weights))
    return 0.5 * dot(weights, weights) + settings.C * losses


@callee
def _score_instance(X: CSR, i: int, weights: np.ndarray) -> np.float32:
    """Compute <w, x_i>."""
    return row_dot(X.data, X.indices, X.indptr[i], X.indptr[i + 1], weights)
