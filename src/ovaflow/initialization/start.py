"""What every start offers to the threads that train labels, and the two starts that need no data."""

from abc import ABC, abstractmethod

import numpy as np

from ovaflow.console.errors import InputError


class Start(ABC):
    """First weights of each label."""

    parents = None
    """Label at whose solution each label starts, or -1: int32, (l,); None if all are independent."""

    @abstractmethod
    def fill(self, label, X, positives, weights):
        """Write the start of a label into ``weights``."""

    def resume(self, labels, solutions):  # noqa: B027 (most starts learn nothing)
        """Learn the solutions of an earlier attempt, as :meth:`keep` returned them; ``labels`` remain."""

    def keep(self, label, features, weights):  # noqa: B027 (most starts learn nothing)
        """Learn the solution of a label before pruning, which starts of other labels may need.

        Returns a copy of both arrays if labels start there, since the caller may overwrite them.
        """


class Zero(Start):
    """Every label starts at w = 0: vanilla DiSMEC."""

    def fill(self, label, X, positives, weights):
        weights[:] = 0.0


class Bias(Start):
    """w_0 = -lambda / b on the last feature, the bias of value b, else 0: every score is -lambda.

    At lambda = 1 all negatives are on the kink of the squared hinge, a poor start although the loss
    is small there; lambda = 2 leaves them behind it (MSI sec. 3).
    """

    def __init__(self, bias_lambda, bias):
        if not bias:
            remedy = "prepare the data with bias: 1.0, or choose another start"
            raise InputError("the bias start needs a bias feature", remedy=remedy)
        self._weight = np.float32(-bias_lambda / bias)

    def fill(self, label, X, positives, weights):
        weights[:] = 0.0
        weights[-1] = self._weight
