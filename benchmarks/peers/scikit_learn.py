"""scikit-learn's LinearSVC, one label against the rest at a time."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from peers.interface import OneByOne

DUAL_TOLERANCE = 0.1
"""LIBLINEAR's default for the same solver; scikit-learn's own, 1e-4, takes far longer."""


class Primal(OneByOne):
    """``LinearSVC(loss="squared_hinge", dual=False)``."""

    DUAL = False

    def __init__(self, problem) -> None:
        super().__init__(problem)
        # float64, or each fit would convert the data again
        self._X = problem.X.astype(np.float64)

    def train_label(self, y) -> np.ndarray:
        problem = self._problem
        machine = LinearSVC(
            loss="squared_hinge",
            dual=self.DUAL,
            C=problem.C,
            tol=DUAL_TOLERANCE if self.DUAL else problem.epsilon,
            fit_intercept=False,
            random_state=problem.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return machine.fit(self._X, y).coef_[0]


class Dual(Primal):
    """``LinearSVC(loss="squared_hinge", dual=True)``."""

    DUAL = True
