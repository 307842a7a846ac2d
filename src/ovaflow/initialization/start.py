"""What every start offers to the threads that train labels, and the two starts that need no data."""

from abc import ABC, abstractmethod

import numpy as np

from ovaflow.console.errors import InputError


class Start(ABC):
    """First weights of each label."""

    parents = None
    """Label whose solution each label starts from, -1 where none: int32, shape (l,); None if all are independent."""

    @abstractmethod
    def fill(self, label, X, positives, weights):
        """Write the start of a label into ``weights``."""

    def resume(self, labels, solutions):  # noqa: B027 (most starts learn nothing)
        """Learn what an earlier attempt of the same job solved, from the labels left and what :meth:`keep` returned."""

    def keep(self, label, features, weights):  # noqa: B027 (most starts learn nothing)
        """Learn the solution of a label, not pruned yet, which starts of other labels may need.

        Returns a copy of both arrays if labels start there, since they may be overwritten after the call.
        """


class Zero(Start):
    """Every label starts at w = 0: vanilla DiSMEC."""

    def fill(self, label, X, positives, weights):
        weights[:] = 0.0


class Bias(Start):
    """w_0 = -lambda / b on the bias feature, the last one, of value b, and 0 elsewhere: every score is -lambda.

    At lambda = 1 all negatives are on the kink of the squared hinge, which is a poor start although the loss is small
    there; lambda = 2 leaves them behind it (MSI sec. 3).
    """

    def __init__(self, bias_lambda, bias):
        if not bias:
            raise InputError(
                "the bias start needs a bias feature", remedy="prepare the data with bias: 1.0, or choose another start"
            )
        self._weight = np.float32(-bias_lambda / bias)

    def fill(self, label, X, positives, weights):
        weights[:] = 0.0
        weights[-1] = self._weight
