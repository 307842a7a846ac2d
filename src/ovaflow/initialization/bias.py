"""The start on the bias feature alone: every score is -lambda (MSI sec. 3).

At lambda = 1 all negatives lie on the kink of the squared hinge, which is a
poor start although the loss is small there; lambda = 2 leaves them behind it.
"""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.initialization.start import Start


class Bias(Start):
    """w_0 = -lambda / b on the bias feature, the last one, and 0 elsewhere.

    Parameters
    ----------
    bias_lambda : float
        Every instance's score at the start, negated.
    bias : float
        Value b of the bias feature.

    Raises
    ------
    InputError
        If there is no bias feature.
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
