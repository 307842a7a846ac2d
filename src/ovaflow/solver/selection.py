"""Selection of the solver of each label.

| problem | solver |
| --- | --- |
| L2, squared hinge | working sets, for many labels at a time; Newton for the most frequent labels |
| L2, logistic | samples, for many labels at a time; Newton for the most frequent labels |
| L1, sparse features | coordinate descent on working sets of features |
| L1, dense features | coordinate descent on all features |
| any, for reference | Newton or coordinate descent on everything |

The solvers for many labels at a time are *fast paths*. They have the same
methods, called label by label: ``admit`` takes a label, ``screen`` passes over
all instances for all labels in flight, and ``advance`` uses the results for one
of them.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ovaflow.solver.batch import BatchSolver, FirstWeights, count_first_rows
from ovaflow.solver.label_solvers import (
    CoordinateDescentSolver,
    L1Solver,
    LabelSolver,
    NewtonSolver,
    WorkingFeaturesSolver,
)
from ovaflow.solver.losses import LOGISTIC
from ovaflow.solver.problem import Instances, Settings
from ovaflow.solver.sampled import SAMPLE_SIZE, SampledSolver, make_anchor
from ovaflow.solver.sampled_problem import Anchor, count_exact_negatives
from ovaflow.solver.screening import Screen, make_screen
from ovaflow.solver.stopping import Tolerance
from ovaflow.solver.working_features import LARGEST_DENSITY, make_working_features
from ovaflow.sparse.csr import CSR

MANY_INSTANCES = 50_000
"""Number of instances. Of fewer, a larger share is active at the optimum."""

LARGEST_WORKING_SHARE_OF_FEW = 0.08
LARGEST_WORKING_SHARE_OF_MANY = 0.2
"""Shares of the instances beyond which a working set saves less than it costs.

Measured with 0.2 in place of 0.08: the 16 most frequent labels of tibkat, which has many instances,
take two thirds of the time, all labels of delicious, which has few, 6 % more.
"""

LARGEST_SAMPLED_SHARE = 0.3
"""Share of the instances beyond which a sampled problem saves less than it costs."""


def choose_label_solver(
    X: CSR,
    instances: Instances,
    settings: Settings,
    tolerance: Tolerance,
    *,
    regularization: str,
    reference: bool,
) -> LabelSolver:
    """Choose the solver of one label at a time; ``reference`` asks for the plainest one."""
    if regularization == "l2":
        return NewtonSolver(X, instances, settings, tolerance)
    features = make_working_features(X, instances)
    is_sparse = len(X.data) <= LARGEST_DENSITY * X.n_rows * X.n_columns
    if is_sparse and not reference:
        return WorkingFeaturesSolver(X, instances, settings, tolerance, features)
    return CoordinateDescentSolver(X, instances, settings, tolerance, features)


@dataclass(frozen=True)
class FastPath(ABC):
    """Solution of many labels at a time; read by all threads."""

    X: CSR
    instances: Instances
    settings: Settings

    @abstractmethod
    def find_suited(self, counts: np.ndarray) -> np.ndarray:
        """Find the labels that it solves faster than one at a time, by their positives: bool."""

    @abstractmethod
    def make_solver(self) -> BatchSolver | SampledSolver:
        """Make the solver of one thread."""


@dataclass(frozen=True)
class WorkingSetPath(FastPath):
    """Fast path of the squared hinge: labels are solved on the instances that matter."""

    screen: Screen
    start: FirstWeights
    ranking: FirstWeights  # of the instances, for the first working set

    def find_suited(self, counts: np.ndarray) -> np.ndarray:
        return _suit_working_sets(counts, self.instances.n_documents)

    def make_solver(self) -> BatchSolver:
        return BatchSolver(
            self.X, self.instances, self.screen, self.settings, self.start, self.ranking
        )


@dataclass(frozen=True)
class SampledPath(FastPath):
    """Fast path of the logistic loss: labels are solved on samples under exact gradients.

    All start at the anchor, a better start than their own.
    """

    anchor: Anchor

    def find_suited(self, counts: np.ndarray) -> np.ndarray:
        return _suit_samples(counts, self.instances.n_documents)

    def make_solver(self) -> SampledSolver:
        return SampledSolver(self.X, self.anchor, self.settings)


def choose_fast_path(
    solver: LabelSolver,
    counts: np.ndarray,
    targets: np.ndarray,
    C: np.ndarray,
    start: FirstWeights,
    ranking: FirstWeights,
) -> FastPath | None:
    """Choose the fast path of a training; None where it has none, or no label suits it.

    Parameters
    ----------
    solver
        Solver of one label at a time, which has features, instances and settings.
    counts, targets, C
        Positives, gradient norm to reach, and weight of the losses of each label.
    start, ranking
        First weights of each label, and weights whose scores choose its first working set.
    """
    X = solver.X
    instances = solver.instances
    settings = solver.settings
    n = instances.n_documents
    if isinstance(solver, L1Solver):
        return None
    if settings.loss == LOGISTIC:
        suited = _suit_samples(counts, n)
        # the anchor has one C
        if not suited.any() or (C != settings.C).any():
            return None
        anchor = make_anchor(X, instances, targets[suited].min(), settings)
        return SampledPath(X, instances, settings, anchor)
    if not _suit_working_sets(counts, n).any():
        return None
    screen = make_screen(X.part(0, n), counts[counts > 0].mean())
    return WorkingSetPath(X, instances, settings, screen, start, ranking)


def _suit_working_sets(counts: np.ndarray, n: int) -> np.ndarray:
    """Find labels whose first working set is a small part of n instances: bool (l,)."""
    rows = np.array([count + count_first_rows(n, count) for count in counts.tolist()])
    share = LARGEST_WORKING_SHARE_OF_FEW if n < MANY_INSTANCES else LARGEST_WORKING_SHARE_OF_MANY
    return (counts > 0) & (rows <= share * n)


def _suit_samples(counts: np.ndarray, n: int) -> np.ndarray:
    """Find labels whose sampled problem is a small part of n instances: bool (l,)."""
    rows = counts + count_exact_negatives(counts) + SAMPLE_SIZE
    return (counts > 0) & (rows <= LARGEST_SAMPLED_SHARE * n)
