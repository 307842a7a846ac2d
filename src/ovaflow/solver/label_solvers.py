"""Solvers of one label at a time: Newton's method, and two for L1 problems.

:mod:`ovaflow.solver.selection` says which of them is used when.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ovaflow.solver.coordinate_descent import solve_label_l1
from ovaflow.solver.losses import SLOPE_AT_ZERO
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import (
    Costs,
    Instances,
    LabelProblem,
    Outcome,
    Settings,
    Workspace,
    make_workspace,
)
from ovaflow.solver.stopping import (
    LabelMeans,
    Tolerance,
    compute_gradient_targets,
    compute_violation_targets,
)
from ovaflow.solver.working_features import (
    WorkingFeatures,
    WorkingScratch,
    make_working_scratch,
    solve_on_features,
)
from ovaflow.sparse.csr import CSR


class LabelData(NamedTuple):
    """Data of all labels from which their stopping rules follow."""

    positives: CSR  # (l, n)
    means: LabelMeans
    costs: Costs


@dataclass(frozen=True)
class LabelSolver(ABC):
    """Solver of one label at a time; read by all threads."""

    X: CSR
    instances: Instances
    settings: Settings
    tolerance: Tolerance

    @abstractmethod
    def compute_targets(self, labels: LabelData) -> np.ndarray:
        """Compute the gradient norm, or with L1 the violation, at which each label ends."""

    @abstractmethod
    def make_work(self) -> Workspace | WorkingScratch:
        """Allocate the arrays of one thread; ``weights`` take the start, and hold the solution."""

    @abstractmethod
    def solve(self, problem: LabelProblem, work: Any) -> Outcome:
        """Solve one label, from ``work.weights`` and into them."""


class NewtonSolver(LabelSolver):
    """L2 problems by Newton's method on all instances."""

    def compute_targets(self, labels: LabelData) -> np.ndarray:
        slope = SLOPE_AT_ZERO[self.settings.loss]
        return compute_gradient_targets(
            self.tolerance, slope, self.instances, labels.means, labels.costs
        )

    def make_work(self) -> Workspace:
        return make_workspace(self.X.n_rows, self.X.n_columns)

    def solve(self, problem: LabelProblem, work: Workspace) -> Outcome:
        return solve_label(self.X, self.instances, problem, work, self.settings)


@dataclass(frozen=True)
class L1Solver(LabelSolver):
    """Stopping rule of both solvers of L1 problems."""

    features: WorkingFeatures

    def compute_targets(self, labels: LabelData) -> np.ndarray:
        return compute_violation_targets(
            self.tolerance,
            SLOPE_AT_ZERO[self.settings.loss],
            self.X,
            self.features,
            labels.positives,
            labels.costs,
        )


class CoordinateDescentSolver(L1Solver):
    """L1 problems by coordinate descent on all features."""

    def make_work(self) -> Workspace:
        return make_workspace(self.X.n_rows, self.X.n_columns)

    def solve(self, problem: LabelProblem, work: Workspace) -> Outcome:
        columns = self.features.columns
        return solve_label_l1(self.X, columns, self.instances, problem, work, self.settings)


class WorkingFeaturesSolver(L1Solver):
    """L1 problems by coordinate descent on working sets of features."""

    def make_work(self) -> WorkingScratch:
        return make_working_scratch(self.X.n_rows, self.X.n_columns)

    def solve(self, problem: LabelProblem, work: WorkingScratch) -> Outcome:
        return solve_on_features(self.X, self.features, problem, work, self.settings)
