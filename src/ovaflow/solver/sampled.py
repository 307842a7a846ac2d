"""The fast path of the logistic loss: many labels at a time, each solved on a sample.

Under the logistic loss no instance can be left out, but far negatives all have
nearly the same small slope. A label is solved on its positives, the negatives
of large slopes and a random sample that represents the others, with a linear
term that makes the gradient right where the sampled problem was made:

    F(w) = 1/2 |w|^2 + <g - g', w> + C sum_{i in sample} c_i phi(y_i <w, x_i>)

with g the gradient over all instances there, g' that of the sampled problem
without the term, and c_i the number of instances that a sampled one
represents (DANE; Shamir, Srebro and Zhang 2014). Then the gradient over all instances
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

from collections.abc import Callable

import numpy as np

from ovaflow.solver.batch import SolvedLabel
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import (
    OUTCOME_AT_START,
    Instances,
    LabelProblem,
    Outcome,
    Settings,
    Status,
    add_round,
    make_workspace,
)
from ovaflow.solver.sampled_problem import (
    Anchor,
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
"""Instances of the sample that represents all."""

MOST_SAMPLED_ROUNDS = 12
"""Sampled problems of a label before the plain solver takes it."""

_SAMPLE_SEED = 0
"""Seed of the sample, the same for all trainings."""


def make_anchor(X: CSR, instances: Instances, target: float, settings: Settings) -> Anchor:
    """Solve the problem without positives, and draw the sample.

    A small target of its gradient saves work later.
    """
    work = make_workspace(X.n_rows, X.n_columns)
    work.weights[:] = 0.0
    problem = LabelProblem(np.empty(0, np.int32), target, settings.C)
    solve_label(X, instances, problem, work, settings)
    n = instances.n_documents
    rng = np.random.default_rng(_SAMPLE_SEED)
    sample = np.sort(rng.choice(n, min(SAMPLE_SIZE, n), replace=False)).astype(np.int32)
    weights = work.weights.copy()
    gradient = work.gradient.copy()
    return Anchor(weights, gradient, sample, transpose(X), instances, instances.total)


class _Progress:
    """Progress of a label in flight."""

    def __init__(self, label: SampledLabel, problem: LabelProblem) -> None:
        self.label = label
        self.problem = problem
        self.rounds = 0
        self.total = OUTCOME_AT_START
        self.norm = np.inf


class SampledSolver:
    """Solver of one thread, with the methods of :class:`ovaflow.solver.batch.BatchSolver`.

    All labels have the C of the settings, which is that of the anchor.
    """

    def __init__(self, X: CSR, anchor: Anchor, settings: Settings) -> None:
        self._X = X
        self._anchor = anchor
        self._settings = settings
        self._panel = make_slot_panel(X.n_rows, X.n_columns)
        self._local = make_local_problem(X)
        self._free_slots = list(range(PANEL_WIDTH))
        self._progress: dict[int, _Progress] = {}
        self._features = np.arange(X.n_columns, dtype=np.int32)

    @property
    def has_free_slot(self) -> bool:
        """True while another label can be admitted."""
        return bool(self._free_slots)

    def admit(self, label: int, problem: LabelProblem) -> None:
        """Take a label."""
        slot = self._free_slots.pop()
        positive_cost = np.float32(problem.positive_cost)
        in_flight = SampledLabel(slot, problem.positives, positive_cost, problem.target)
        self._progress[label] = _Progress(in_flight, problem)

    def screen(self) -> None:
        """Solve the first problems of new labels, and compute the gradients of all in flight."""
        in_flight = self._progress.values()
        new = [progress for progress in in_flight if progress.rounds == 0]
        slots = np.array([progress.label.slot for progress in new], np.int64)
        reset_slots(slots, self._anchor, self._panel)
        for progress in new:
            self._solve_round(progress, solve_at_anchor)
        step_and_score(self._X, self._anchor.instances, self._panel)
        for progress in in_flight:
            flip_positive_rows(progress.label, self._anchor.instances, self._panel)
        fill_gradients(self._anchor.columns, self._settings.C, self._panel)

    def advance(self, label: int) -> SolvedLabel | None:
        """Use the gradient of one label; return its solution if it is finished.

        It is finished if the gradient has reached the target. If the gradient no longer falls, or
        no rounds are left, the plain solver finishes it.
        """
        progress = self._progress[label]
        slot = progress.label.slot
        norm_before = progress.norm
        progress.norm = float(np.sqrt(self._panel.squares[slot]))
        has_converged = progress.norm <= progress.label.target
        is_falling = progress.norm < norm_before
        has_rounds_left = progress.rounds < MOST_SAMPLED_ROUNDS
        if not has_converged and is_falling and has_rounds_left:
            self._solve_round(progress, solve_at_weights)
            return None
        self._free_slots.append(slot)
        del self._progress[label]
        weights = self._local.work.weights
        weights[:] = self._panel.weights[:, slot]
        if has_converged:
            outcome = self._make_outcome(progress, weights)
        else:
            outcome = self._solve_plainly(progress)
        return SolvedLabel(self._features, weights, outcome)

    def _solve_round(self, progress: _Progress, solve: Callable[..., Outcome]) -> None:
        solved = solve(
            progress.label, self._X, self._anchor, self._panel, self._local, self._settings
        )
        progress.total = add_round(progress.total, solved, progress.rounds)
        progress.rounds += 1

    def _make_outcome(self, progress: _Progress, weights: np.ndarray) -> Outcome:
        """Make the outcome of a label whose gradient over all instances has reached its target."""
        instances = self._anchor.instances
        objective = compute_sampled_objective(
            progress.label, self._X, instances, weights, self._panel, self._settings
        )
        return progress.total._replace(
            active_start=instances.n_documents,
            active_end=instances.n_documents,
            objective=objective,
            gradient_norm=progress.norm,
            gradient_target=progress.label.target,
            status=int(Status.CONVERGED),
            full_passes=progress.rounds,
        )

    def _solve_plainly(self, progress: _Progress) -> Outcome:
        """Solve a label on all instances, from ``work.weights``, which its rounds have reached."""
        plain = solve_label(
            self._X,
            self._anchor.instances,
            progress.problem,
            self._local.work,
            self._settings,
        )
        total = add_round(progress.total, plain, progress.rounds)
        return total._replace(
            active_start=plain.active_start, full_passes=plain.full_passes + progress.rounds
        )
