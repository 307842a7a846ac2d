"""Which labels are solved on the fast path, and what its solvers share, by loss."""

from dataclasses import dataclass

import numpy as np

from ovaflow.solver.batch import BatchSolver
from ovaflow.solver.columns import first_rows
from ovaflow.solver.losses import LOGISTIC, SQUARED_HINGE
from ovaflow.solver.pivot import SAMPLE, Pivot, make_pivot
from ovaflow.solver.problem import Settings
from ovaflow.solver.sampled import SampledSolver
from ovaflow.solver.sampled_columns import near_rows
from ovaflow.solver.screening import Screen, make_screen
from ovaflow.sparse.csr import CSR

LARGEST_WORKING_SET = 0.08
"""Share of the instances beyond which a working set saves less than it costs."""

GROWTH = 1.5
"""Rows of the final working set for one of the first (1.0 to 1.9 on four datasets)."""

LARGEST_SAMPLE = 0.3
"""Share of the instances beyond which a sampled problem saves less than it costs."""


@dataclass(frozen=True)
class WorkingSets:
    """Squared hinge: labels are solved on the instances that matter.

    Attributes
    ----------
    X : CSR, shape (n, d)
    screen : Screen
    settings : Settings
    ranks : bool
        Whether labels are admitted with weights that rank the instances.
    """

    X: CSR
    screen: Screen
    settings: Settings
    ranks = True

    @classmethod
    def of(cls, X, counts, targets, settings):
        """Prepare what all labels share.

        Parameters
        ----------
        X : CSR, shape (n, d)
        counts : ndarray of int64, shape (l,)
            Positives of each label.
        targets : ndarray of float64, shape (l,)
            What each label's gradient norm must reach.
        settings : Settings

        Returns
        -------
        WorkingSets
        """
        return cls(X, make_screen(X), settings)

    def suits(self, counts):
        """Whether labels need but a small part of the instances.

        Parameters
        ----------
        counts : ndarray of int64
            Positives of the labels.

        Returns
        -------
        ndarray of bool
        """
        n = self.X.n_rows
        rows = np.array([count + first_rows(n, count) for count in counts.tolist()])
        return (counts > 0) & (rows <= LARGEST_WORKING_SET * n)

    @staticmethod
    def largest_problem(count, n):
        """Instances of the last working set of a label.

        Parameters
        ----------
        count, n : int
            Positives, and instances.

        Returns
        -------
        int
        """
        return min(n, int(GROWTH * (count + first_rows(n, count))))

    def make_solver(self):
        """Solver of one thread."""
        return BatchSolver(self.X, self.screen, self.settings)


@dataclass(frozen=True)
class Samples:
    """Logistic loss: labels are solved on samples under exact gradients.

    Attributes
    ----------
    X : CSR, shape (n, d)
    pivot : Pivot
    settings : Settings
    """

    X: CSR
    pivot: Pivot
    settings: Settings
    ranks = False

    @classmethod
    def of(cls, X, counts, targets, settings):
        """See :meth:`WorkingSets.of`; None where no label would be solved on a sample."""
        suited = _suits_sample(counts, X.n_rows)
        return cls(X, make_pivot(X, targets[suited].min(), settings), settings) if suited.any() else None

    def suits(self, counts):
        """See :meth:`WorkingSets.suits`."""
        return _suits_sample(counts, self.X.n_rows)

    @staticmethod
    def largest_problem(count, n):
        """See :meth:`WorkingSets.largest_problem`."""
        return min(n, count + near_rows(count) + SAMPLE)

    def make_solver(self):
        """Solver of one thread."""
        return SampledSolver(self.X, self.pivot, self.settings)


def _suits_sample(counts, n):
    return (counts > 0) & (counts + near_rows(counts) + SAMPLE <= LARGEST_SAMPLE * n)


FAST_PATHS = {SQUARED_HINGE: WorkingSets, LOGISTIC: Samples}
"""Fast path of each loss."""
