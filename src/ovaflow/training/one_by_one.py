"""How labels are solved one by one: Newton's method, and with L1 coordinate descent."""

from dataclasses import dataclass

import numpy as np

from ovaflow.solver.coordinate_descent import solve_label_l1
from ovaflow.solver.feature_set import DENSEST, Features, make_features, make_scratch, solve_on_features
from ovaflow.solver.losses import SLOPE_AT_ZERO
from ovaflow.solver.newton import solve_label
from ovaflow.solver.problem import L1, Settings, make_workspace
from ovaflow.solver.stopping import gradient_targets, violation_targets
from ovaflow.sparse.csr import CSR


@dataclass(frozen=True)
class Newton:
    """L2 problems, by Newton's method on all instances.

    Attributes
    ----------
    X : CSR, shape (n, d)
    settings : Settings
    """

    X: CSR
    settings: Settings

    def targets(self, positives, means, costs):
        """What the gradient's norm, or with L1 the violation, must reach.

        Parameters
        ----------
        positives : CSR, shape (l, n)
        means : Means
        costs : ndarray of float64, shape (l,)
            What losses of positives weigh.

        Returns
        -------
        ndarray of float64, shape (l,)
        """
        slope = SLOPE_AT_ZERO[self.settings.loss]
        known = means.counts, means.pp, means.xp, means.xx
        return gradient_targets(self.settings, slope, self.X.n_rows, *known, costs)

    def make_work(self):
        """Allocate what a thread works in; its ``weights`` take the start, and hold the solution after."""
        return make_workspace(self.X.n_rows, self.X.n_columns)

    def solve(self, positives, target, work, cost):
        """Solve one label, from ``work.weights`` and into them.

        Parameters
        ----------
        positives : ndarray of int32, shape (n_positives,)
        target : float
            One of :meth:`targets`.
        work : object
            By :meth:`make_work`.
        cost : float

        Returns
        -------
        Outcome
        """
        return solve_label(self.X, positives, target, work, self.settings, cost)


@dataclass(frozen=True)
class CoordinateDescent(Newton):
    """L1 problems on all features.

    Attributes
    ----------
    features : Features
    """

    features: Features

    def targets(self, positives, means, costs):
        """See :meth:`Newton.targets`."""
        slope = SLOPE_AT_ZERO[self.settings.loss]
        return violation_targets(self.settings, slope, self.X, positives, self.features.sums, np.asarray(costs))

    def solve(self, positives, target, work, cost):
        """See :meth:`Newton.solve`."""
        return solve_label_l1(self.X, self.features.columns, positives, target, work, self.settings, cost)


@dataclass(frozen=True)
class OnFeatures(CoordinateDescent):
    """L1 problems on the features that matter."""

    def make_work(self):
        """See :meth:`Newton.make_work`."""
        return make_scratch(self.X.n_rows, self.X.n_columns)

    def solve(self, positives, target, work, cost):
        """See :meth:`Newton.solve`."""
        return solve_on_features(self.X, self.features, positives, target, work, self.settings, cost)


def one_by_one(X, settings, reference):
    """The way that suits a problem.

    Parameters
    ----------
    X : CSR, shape (n, d)
    settings : Settings
    reference : bool
        The plainest way.

    Returns
    -------
    Newton
    """
    if settings.regularization != L1:
        return Newton(X, settings)
    sparse = len(X.data) <= DENSEST * X.n_rows * X.n_columns
    way = OnFeatures if sparse and not reference else CoordinateDescent
    return way(X, settings, make_features(X))
