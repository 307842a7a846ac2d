"""How labels are solved: one by one, or many at a time on the fast path of their loss.

Both fast paths have one protocol, label by label: ``admit`` takes a label,
``screen`` passes over all instances for all labels in flight, and ``advance``
uses what it found for one of them.
"""

from dataclasses import dataclass

import numpy as np

from ovaflow.solver.batch import BatchSolver, count_first_rows
from ovaflow.solver.coordinate_descent import solve_label_l1
from ovaflow.solver.losses import LOGISTIC, SLOPE_AT_ZERO, SQUARED_HINGE
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import L1, Instances, Settings, make_workspace
from ovaflow.solver.sampled import SAMPLE_SIZE, Anchor, SampledSolver, make_anchor
from ovaflow.solver.sampled_problem import count_exact_negatives
from ovaflow.solver.screening import Screen, make_screen
from ovaflow.solver.stopping import compute_gradient_targets, compute_violation_targets
from ovaflow.solver.working_features import (
    LARGEST_DENSITY,
    WorkingFeatures,
    make_working_features,
    make_working_scratch,
    solve_on_features,
)
from ovaflow.sparse.csr import CSR

MANY_INSTANCES = 50_000
"""Instances. Of fewer, a larger share is curved at the optimum."""

LARGEST_WORKING_SHARE_OF_FEW = 0.08
LARGEST_WORKING_SHARE_OF_MANY = 0.2
"""Shares of the instances beyond which a working set saves less than it costs. Measured: the 16
most frequent labels of tibkat take two thirds of the time with 0.2, all of delicious 6 % more."""

LARGEST_SAMPLED_SHARE = 0.3
"""Share of the instances beyond which a sampled problem saves less than it costs."""


@dataclass(frozen=True)
class NewtonSolver:
    """Labels one by one: L2 problems, by Newton's method on all instances."""

    X: CSR
    instances: Instances
    settings: Settings

    def targets(self, positives, means, costs):
        """What the gradient's norm, or with L1 the violation, must reach for each label; ``costs``:
        :class:`Costs`.
        """
        slope = SLOPE_AT_ZERO[self.settings.loss]
        return compute_gradient_targets(self.settings, slope, self.instances, means, costs)

    def make_work(self):
        """Allocate what a thread works in; its ``weights`` take the start, and hold the solution
        after.
        """
        return make_workspace(self.X.n_rows, self.X.n_columns)

    def solve(self, positives, target, work, cost, C):
        """Solve one label, from ``work.weights`` and into them; returns the Outcome."""
        return solve_label(
            self.X, self.instances, positives, target, work, self.settings._replace(C=C), cost
        )


@dataclass(frozen=True)
class CoordinateDescentSolver(NewtonSolver):
    """Labels one by one: L1 problems, on all features."""

    features: WorkingFeatures

    def targets(self, positives, means, costs):
        slope = SLOPE_AT_ZERO[self.settings.loss]
        return compute_violation_targets(
            self.settings, costs.C, slope, self.X, positives, self.features, costs.positives
        )

    def solve(self, positives, target, work, cost, C):
        problem = self.X, self.features.columns, self.instances, positives
        return solve_label_l1(*problem, target, work, self.settings._replace(C=C), cost)


@dataclass(frozen=True)
class WorkingFeaturesSolver(CoordinateDescentSolver):
    """Labels one by one: L1 problems, on the features that matter."""

    def make_work(self):
        return make_working_scratch(self.X.n_rows, self.X.n_columns)

    def solve(self, positives, target, work, cost, C):
        return solve_on_features(
            self.X, self.features, positives, target, work, self.settings._replace(C=C), cost
        )


def choose_label_solver(X, instances, settings, reference):
    """How labels are solved one by one; ``reference`` asks for the plainest way."""
    if settings.regularization != L1:
        return NewtonSolver(X, instances, settings)
    sparse = len(X.data) <= LARGEST_DENSITY * X.n_rows * X.n_columns
    way = WorkingFeaturesSolver if sparse and not reference else CoordinateDescentSolver
    return way(X, instances, settings, make_working_features(X, instances))


@dataclass(frozen=True)
class WorkingSetPath:
    """The fast path of the squared hinge: labels are solved on the instances that matter."""

    X: CSR
    instances: Instances
    screen: Screen
    settings: Settings

    @staticmethod
    def suits(counts, n):
        """Which labels need only a small part of n instances, by their positives."""
        rows = np.array([count + count_first_rows(n, count) for count in counts.tolist()])
        largest = (
            LARGEST_WORKING_SHARE_OF_FEW if n < MANY_INSTANCES else LARGEST_WORKING_SHARE_OF_MANY
        )
        return (counts > 0) & (rows <= largest * n)

    @classmethod
    def of(cls, X, instances, counts, targets, settings):
        """Prepare what all labels share, by their positives and targets."""
        documents = X.part(0, instances.n_documents)
        return cls(X, instances, make_screen(documents, counts[counts > 0].mean()), settings)

    def make_solver(self, start, ranking):
        """Solver of one thread."""
        return BatchSolver(self.X, self.instances, self.screen, self.settings, start, ranking)


@dataclass(frozen=True)
class SampledPath:
    """The fast path of the logistic loss: labels are solved on samples under exact gradients."""

    X: CSR
    anchor: Anchor
    settings: Settings

    @staticmethod
    def suits(counts, n):
        return (counts > 0) & (
            counts + count_exact_negatives(counts) + SAMPLE_SIZE <= LARGEST_SAMPLED_SHARE * n
        )

    @classmethod
    def of(cls, X, instances, counts, targets, settings):
        smallest = targets[cls.suits(counts, instances.n_documents)].min()
        return cls(X, make_anchor(X, instances, smallest, settings), settings)

    def make_solver(self, start, ranking):
        """Solver of one thread; the anchor is a better start than the label's own, and nothing is
        ranked.
        """
        return SampledSolver(self.X, self.anchor, self.settings)


_FAST_PATHS = {SQUARED_HINGE: WorkingSetPath, LOGISTIC: SampledPath}


def choose_fast_path(X, instances, counts, targets, C, settings):
    """The fast path of a problem; None where it has none, or no label suits it."""
    # the anchor of samples has one C
    if settings.regularization == L1 or (settings.loss == LOGISTIC and (C != settings.C).any()):
        return None
    path = _FAST_PATHS[settings.loss]
    if not path.suits(counts, instances.n_documents).any():
        return None
    return path.of(X, instances, counts, targets, settings)
