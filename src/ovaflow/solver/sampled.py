"""The fast path of losses that are curved everywhere: many labels in flight, each solved on a sample.

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
from ovaflow.solver.problem import Outcome, Status, make_workspace
from ovaflow.solver.sampled_problem import (
    copy_weights,
    fill_gradients,
    make_panel,
    objective,
    reset_slots,
    solve_sampled,
    step_and_score,
    turn_positives,
)
from ovaflow.solver.working_set import make_local
from ovaflow.sparse.csr import CSR, transpose
from ovaflow.sparse.panel import WIDTH

SAMPLE = 1024
"""Instances of the sample that stands for all."""

MOST_ROUNDS = 12
"""Sampled problems of a label before the plain solver takes it."""

_SEED = 0


class Anchor(NamedTuple):
    """Where the labels' first sampled problems are made, and the sample; read by all threads."""

    weights: np.ndarray  # solution of the problem without positives: float32, shape (d,)
    gradient: np.ndarray  # its gradient there
    sample: np.ndarray  # random instances, ascending
    columns: CSR  # X transposed
    n_documents: int  # the first instances, which are negatives of all labels that they do not carry


def make_anchor(X, n_documents, target, settings):
    """Solve the problem without positives and draw the sample; a small target of its gradient saves work later."""
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0
    solve_label(X, np.empty(0, np.int32), target, work, settings, n_documents=n_documents)
    sample = np.random.default_rng(_SEED).choice(n_documents, min(SAMPLE, n_documents), replace=False)
    sample = np.sort(sample).astype(np.int32)
    return Anchor(work.weights.copy(), work.gradient.copy(), sample, transpose(X), n_documents)


class _Label:
    def __init__(self, slot, positives, positive_cost, target):
        self.slot, self.positives, self.target = slot, positives, target
        self.positive_cost = np.float32(positive_cost)
        self.rounds = self.newton = self.cg = self.halvings = 0
        self.norm = np.inf


class SampledSolver:
    """Solves labels for one thread, with the protocol of :class:`ovaflow.solver.batch.BatchSolver`."""

    def __init__(self, X, anchor, settings):
        self._X, self._anchor, self._settings = X, anchor, settings
        self._panel = make_panel(X.n_rows, X.n_columns)
        self._local = make_local(X)
        self._free = list(range(WIDTH))
        self._labels = {}
        self._features = np.arange(X.n_columns, dtype=np.int32)

    @property
    def has_room(self):
        """Whether another label can be admitted."""
        return bool(self._free)

    def admit(self, label, positives, target, positive_cost=1.0):
        """Take a label."""
        self._labels[label] = _Label(self._free.pop(), positives, positive_cost, target)

    def screen(self):
        """Solve the first problems of new labels, and compute the gradients of all labels in flight."""
        labels = self._labels.values()
        new = [label for label in labels if not label.rounds]
        reset_slots(np.array([label.slot for label in new], np.int64), self._anchor, self._panel)
        for label in new:
            self._solve(label)
        step_and_score(self._X, self._panel)
        for label in labels:
            turn_positives(label.slot, label.positives, label.positive_cost, self._anchor.n_documents, self._panel)
        fill_gradients(self._anchor.columns, self._settings.C, self._panel)

    def advance(self, label):
        """Use the gradient of one label; returns its features, weights and Outcome if it has reached its target."""
        at = self._labels[label]
        before, at.norm = at.norm, float(np.sqrt(self._panel.squares[at.slot]))
        if at.norm > at.target and at.norm < before and at.rounds < MOST_ROUNDS:
            self._solve(at)
            return None
        self._free.append(at.slot)
        del self._labels[label]
        copy_weights(at.slot, self._panel, self._local.work.weights)
        outcome = self._outcome(at) if at.norm <= at.target else self._solve_plainly(at)
        return self._features, self._local.work.weights, outcome

    def _solve(self, at):
        solved = solve_sampled(
            at.slot, not at.rounds, self._X, at.positives, at.positive_cost, self._anchor.sample,
            self._anchor.n_documents, at.target, self._panel, self._local, self._settings,
        )  # fmt: skip
        at.newton += solved.newton_steps
        at.cg += solved.cg_steps
        at.halvings += solved.line_search_halvings
        at.rounds += 1

    def _outcome(self, at):
        n, weights = self._anchor.n_documents, self._local.work.weights
        value = objective(at.slot, self._X, at.positives, at.positive_cost, weights, self._panel, self._settings)
        steps = at.newton, at.cg, at.halvings
        return Outcome(*steps, n, n, value, at.norm, at.target, int(Status.CONVERGED), at.rounds)

    def _solve_plainly(self, at):
        work = self._local.work
        cost, n = at.positive_cost, self._anchor.n_documents
        plain = solve_label(self._X, at.positives, at.target, work, self._settings, cost, n)
        return plain._replace(
            newton_steps=plain.newton_steps + at.newton,
            cg_steps=plain.cg_steps + at.cg,
            line_search_halvings=plain.line_search_halvings + at.halvings,
            full_passes=plain.full_passes + at.rounds,
        )
