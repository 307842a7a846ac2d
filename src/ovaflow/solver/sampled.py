"""The fast path of losses that are curved everywhere: many labels in flight, each solved on a
sample.

Under the logistic loss no instance can be left out, but far negatives all have
nearly the same small slope. A label is solved on its positives, the negatives
of large slopes and a random sample that stands for the others, under a linear
term that makes the gradient right where the sampled problem was made:

    F(w) = 1/2 |w|^2 + <g - g', w> + C sum_{i in sample} c_i phi(y_i <w, x_i>)

with g the gradient over all instances there, g' that of the sampled problem
without the term, and c_i the number of instances that a sampled one stands
for (DANE; Shamir, Srebro and Zhang 2014). Then the gradient over all instances
is computed at its solution, for all labels in flight at once, and the label is
finished or a new sampled problem is made. The first is made at the *anchor*,
the solution of the problem without positives: a rare label's solution differs
little from it, and its gradient there is known but for the positives' part. So
labels begin there, whatever the start of the training, and one or two passes
over all instances are mostly enough.

Why this is exact: a label ends only when the gradient over all n instances, in
which nothing is sampled, is below the plain solver's target. A poor sample
costs more rounds and changes nothing else; a label whose gradient does not
fall goes to the plain solver.
"""

from typing import NamedTuple

import numpy as np

from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import Instances, Outcome, Status, make_workspace
from ovaflow.solver.sampled_problem import (
    SampledLabel,
    compute_sampled_objective,
    fill_gradients,
    flip_positive_rows,
    make_slot_panel,
    reset_slots,
    solve_at_anchor,
    solve_at_weights,
    step_and_score,
)
from ovaflow.solver.working_set import make_local_problem
from ovaflow.sparse.csr import CSR, transpose
from ovaflow.sparse.panel import PANEL_WIDTH

SAMPLE_SIZE = 1024
"""Instances of the sample that stands for all."""

MOST_SAMPLED_ROUNDS = 12
"""Sampled problems of a label before the plain solver takes it."""

_SEED = 0


class Anchor(NamedTuple):
    """Where the labels' first sampled problems are made, and the sample; read by all threads."""

    weights: np.ndarray  # solution of the problem without positives: float32, shape (d,)
    gradient: np.ndarray  # its gradient there
    sample: np.ndarray  # random instances, ascending
    columns: CSR  # X transposed
    instances: Instances
    total: float  # weight of all documents


def make_anchor(X, instances, target, settings):
    """Solve the problem without positives and draw the sample; a small target of its gradient saves
    work later.
    """
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0
    solve_label(X, instances, np.empty(0, np.int32), target, work, settings)
    n = instances.n_documents
    rng = np.random.default_rng(_SEED)
    sample = np.sort(rng.choice(n, min(SAMPLE_SIZE, n), replace=False)).astype(np.int32)
    weights = work.weights.copy()
    gradient = work.gradient.copy()
    return Anchor(weights, gradient, sample, transpose(X), instances, instances.total)


class _Progress:
    """How far a label is."""

    def __init__(self, label) -> None:
        self.label = label
        self.rounds = self.newton = self.cg = self.halvings = 0
        self.norm = np.inf


class SampledSolver:
    """Solves labels for one thread, with the protocol of :class:`ovaflow.solver.batch.BatchSolver`."""

    def __init__(self, X, anchor, settings) -> None:
        self._X = X
        self._anchor = anchor
        self._settings = settings
        self._panel = make_slot_panel(X.n_rows, X.n_columns)
        self._local = make_local_problem(X)
        self._free = list(range(PANEL_WIDTH))
        self._progress = {}
        self._features = np.arange(X.n_columns, dtype=np.int32)

    @property
    def has_free_slot(self):
        return bool(self._free)

    def admit(self, label, positives, target, positive_cost, C) -> None:
        # C is that of the settings
        slot = self._free.pop()
        in_flight = SampledLabel(slot, positives, np.float32(positive_cost), target)
        self._progress[label] = _Progress(in_flight)

    def screen(self) -> None:
        """Solve the first problems of new labels, and compute the gradients of all labels in
        flight.
        """
        labels = self._progress.values()
        new = [progress for progress in labels if not progress.rounds]
        slots = np.array([progress.label.slot for progress in new], np.int64)
        reset_slots(slots, self._anchor, self._panel)
        for progress in new:
            self._solve(progress, solve_at_anchor)
        step_and_score(self._X, self._anchor.instances, self._panel)
        for progress in labels:
            flip_positive_rows(progress.label, self._anchor.instances, self._panel)
        fill_gradients(self._anchor.columns, self._settings.C, self._panel)

    def advance(self, label):
        """Use the gradient of one label; returns its features, weights and Outcome if it has
        reached its target.
        """
        at = self._progress[label]
        slot = at.label.slot
        target = at.label.target
        before = at.norm
        at.norm = float(np.sqrt(self._panel.squares[slot]))
        if at.norm > target and at.norm < before and at.rounds < MOST_SAMPLED_ROUNDS:
            self._solve(at, solve_at_weights)
            return None
        self._free.append(slot)
        del self._progress[label]
        self._local.work.weights[:] = self._panel.weights[:, slot]
        outcome = self._outcome(at) if at.norm <= target else self._solve_plainly(at)
        return self._features, self._local.work.weights, outcome

    def _solve(self, at, solve) -> None:
        solved = solve(at.label, self._X, self._anchor, self._panel, self._local, self._settings)
        at.newton += solved.newton_steps
        at.cg += solved.cg_steps
        at.halvings += solved.line_search_halvings
        at.rounds += 1

    def _outcome(self, at):
        instances = self._anchor.instances
        weights = self._local.work.weights
        value = compute_sampled_objective(
            at.label, self._X, instances, weights, self._panel, self._settings
        )
        n = instances.n_documents
        steps = at.newton, at.cg, at.halvings
        target = at.label.target
        status = int(Status.CONVERGED)
        return Outcome(*steps, n, n, value, at.norm, target, status, at.rounds)

    def _solve_plainly(self, at):
        work = self._local.work
        instances = self._anchor.instances
        _, positives, cost, target = at.label
        plain = solve_label(self._X, instances, positives, target, work, self._settings, cost)
        return plain._replace(
            newton_steps=plain.newton_steps + at.newton,
            cg_steps=plain.cg_steps + at.cg,
            line_search_halvings=plain.line_search_halvings + at.halvings,
            full_passes=plain.full_passes + at.rounds,
        )
