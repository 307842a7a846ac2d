"""What every start offers to the threads that train labels, and the two starts that need no data."""

from abc import ABC, abstractmethod

import numpy as np

from ovaflow.console.errors import InputError


class Start(ABC):
    """First weights of each label."""

    parents = None
    """Label at whose solution each label starts, or -1: int32, (l,); None if all are independent.
    """

    @abstractmethod
    def fill(self, label, X, positives, weights):
        """Write the start of a label into ``weights``."""

    def resume(self, labels, solutions):  # noqa: B027 (most starts learn nothing)
        """Learn the solutions of an earlier attempt, as :meth:`keep` returned them; ``labels``
        remain.
        """

    def keep(self, label, features, weights):  # noqa: B027 (most starts learn nothing)
        """Learn a label's solution before pruning; returns a copy if other labels start there."""


class ZeroStart(Start):
    """Every label starts at w = 0: vanilla DiSMEC."""

    def fill(self, label, X, positives, weights) -> None:
        weights[:] = 0.0


class BiasStart(Start):
    """w_0 = -lambda / b on the bias feature b, else 0: every score is -lambda (MSI sec. 3)."""

    def __init__(self, bias_lambda, bias) -> None:
        if not bias:
            remedy = "prepare the data with bias: 1.0, or choose another start"
            raise InputError("the bias start needs a bias feature", remedy=remedy)
        self._weight = np.float32(-bias_lambda / bias)

    def fill(self, label, X, positives, weights) -> None:
        weights[:] = 0.0
        weights[-1] = self._weight
