"""LIBLINEAR's own Python interface, one label at a time on data that are converted once.

Fan et al. 2008; the primal solver is the trust-region Newton method that
DiSMEC and ovaflow's stopping rule come from.
"""

import numpy as np
from liblinear import liblinear

from peers.interface import OneByOne

DUAL_TOLERANCE = 0.1
"""LIBLINEAR's default for its dual solvers, whose stopping rule looks at projected gradients of the
dual.
"""


class Primal(OneByOne):
    """Trust-region Newton, ``-s 2``."""

    SOLVER = 2

    def __init__(self, problem) -> None:
        super().__init__(problem)
        # float64 as LIBLINEAR keeps it, and the bias feature among the others
        X = problem.X.astype(np.float64)
        self._data = liblinear.problem(np.ones(X.shape[0]), X)
        self._targets = np.ctypeslib.as_array(self._data.y, (X.shape[0],))
        self._parameter = liblinear.parameter(
            f"-s {self.SOLVER} -c {problem.C} -e {self._tolerance()} -q"
        )

    @classmethod
    def warm_up(cls, problem) -> None:
        liblinear.problem(np.ones(1), problem.X[:1].astype(np.float64))

    def _tolerance(self) -> float:
        return self._problem.epsilon

    def train_label(self, y) -> np.ndarray:
        self._targets[:] = y
        model = liblinear.toPyModel(liblinear.liblinear.train(self._data, self._parameter))
        return np.ctypeslib.as_array(model.w, (self._data.n,)).copy()


class Dual(Primal):
    """Dual coordinate descent, ``-s 1``."""

    SOLVER = 1

    def _tolerance(self) -> float:
        return DUAL_TOLERANCE
