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
finished or a new sampled problem is made. The first is made at the solution of
the problem without positives (:mod:`ovaflow.solver.pivot`), where the gradient
is known for every label; two passes over all instances are then mostly enough.

Why this is exact: a label ends only when the gradient over all n instances, in
which nothing is sampled, is below the plain solver's target. A poor sample
costs more rounds and changes nothing else; a label whose gradient does not
fall goes to the plain solver.
"""

import numpy as np

from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import Outcome, Status
from ovaflow.solver.sampled_columns import (
    copy_weights,
    fill_gradients,
    make_panel,
    objective,
    reset_columns,
    solve_sampled,
    step_and_score,
    turn_positives,
)
from ovaflow.solver.working_set import make_local
from ovaflow.sparse.panel import WIDTH

MOST_ROUNDS = 12
"""Sampled problems of a label before the plain solver takes it."""


class _Label:
    def __init__(self, column, positives, positive_cost, target):
        self.column, self.positives, self.target = column, positives, target
        self.positive_cost = np.float32(positive_cost)
        self.evaluated = False
        self.rounds = self.newton = self.cg = self.halvings = 0
        self.norm = np.inf


class SampledSolver:
    """Solves labels for one thread, up to :data:`~ovaflow.sparse.panel.WIDTH` at a time.

    Parameters
    ----------
    X : CSR, shape (n, d)
    pivot : Pivot
        Made from X, shared by all threads.
    settings : Settings
        With the logistic loss.
    """

    def __init__(self, X, pivot, settings):
        self._X, self._pivot, self._settings = X, pivot, settings
        self._panel = make_panel(X.n_rows, X.n_columns)
        self._local = make_local(X)
        self._free = list(range(WIDTH))
        self._labels = {}
        self._features = np.arange(X.n_columns, dtype=np.int32)

    @property
    def has_room(self):
        """Whether another label can be admitted."""
        return bool(self._free)

    def admit(self, label, positives, ranking, target, positive_cost=1.0):
        """Take a label.

        Parameters
        ----------
        label : int
        positives : ndarray of int32, shape (n_positives,)
        ranking : ndarray of float32, shape (d,)
            Not used: no instance is left out.
        target : float
            What the gradient's norm must reach.
        positive_cost : float
            Weight of the losses of positives.
        """
        self._labels[label] = _Label(self._free.pop(), positives, positive_cost, target)

    def is_new(self, label):
        """Whether a label still waits for its start.

        Parameters
        ----------
        label : int

        Returns
        -------
        bool
        """
        return self._labels[label].rounds == 0

    def begin(self, label, start):
        """Solve a label's first sampled problem.

        Parameters
        ----------
        label : int
        start : ndarray of float32, shape (d,)
        """
        self._solve(self._labels[label], start)

    def screen(self):
        """Compute the gradients of all labels that have been solved on a sample."""
        labels = self._labels.values()
        solved = [label for label in labels if label.rounds]
        if solved:
            step_and_score(self._X, self._panel)
            for label in solved:
                turn_positives(label.column, label.positives, label.positive_cost, self._panel)
                label.evaluated = True
            fill_gradients(self._pivot.columns, self._settings.C, self._panel)
        new = np.array([label.column for label in labels if not label.rounds], np.int64)
        reset_columns(new, self._pivot, self._panel)

    def advance(self, label):
        """Use the gradient of one label, unless it has just begun.

        Parameters
        ----------
        label : int

        Returns
        -------
        (indices, weights, Outcome) or None
            The solution, if the label has reached its target; its column is
            then free. The weights are a view.
        """
        at = self._labels[label]
        if not at.evaluated:
            return None
        before, at.norm = at.norm, float(np.sqrt(self._panel.squares[at.column]))
        if at.norm > at.target and at.norm < before and at.rounds < MOST_ROUNDS:
            self._solve(at, None)
            return None
        self._free.append(at.column)
        del self._labels[label]
        copy_weights(at.column, self._panel, self._local.work.weights)
        outcome = self._outcome(at) if at.norm <= at.target else self._solve_plainly(at)
        return self._features, self._local.work.weights, outcome

    def _solve(self, at, start):
        first = start is not None
        figures = solve_sampled(
            at.column, first, self._X, at.positives, at.positive_cost, self._pivot.sample,
            start if first else self._pivot.weights, at.target, self._panel, self._local, self._settings,
        )  # fmt: skip
        at.newton += int(figures[0])
        at.cg += int(figures[1])
        at.halvings += int(figures[2])
        at.rounds += 1
        at.evaluated = False

    def _outcome(self, at):
        n = self._X.n_rows
        weights, cost = self._local.work.weights, at.positive_cost
        value = objective(at.column, self._X, at.positives, cost, weights, self._panel, self._settings)
        return Outcome(
            at.newton, at.cg, at.halvings, n, n, value, at.norm, at.target, int(Status.CONVERGED), at.rounds
        )  # fmt: skip

    def _solve_plainly(self, at):
        work = self._local.work
        plain = solve_label(self._X, at.positives, at.target, work, self._settings, at.positive_cost)
        return plain._replace(
            newton_steps=plain.newton_steps + at.newton,
            cg_steps=plain.cg_steps + at.cg,
            line_search_halvings=plain.line_search_halvings + at.halvings,
            full_passes=plain.full_passes + at.rounds,
        )
