"""The interface of starts, and the two starts that need no data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.sparse.csr import CSR

Solution = tuple[np.ndarray, np.ndarray]
"""Features and weights of a label before pruning: int32 and float32."""


class Start(ABC):
    """First weights of each label; read by all threads."""

    parents: np.ndarray | None = None
    """Label at whose solution each label starts, or -1: int32, (l,); None if all are independent.
    """

    @abstractmethod
    def fill(self, label: int, X: CSR, positives: np.ndarray, weights: np.ndarray) -> None:
        """Write the start of a label into ``weights``, float32 (d,)."""

    def resume(  # noqa: B027 (most starts learn nothing)
        self, labels: np.ndarray, solutions: Mapping[int, Solution]
    ) -> None:
        """Learn the solutions of an earlier attempt, as :meth:`keep` returned them.

        ``labels`` are those that remain to be solved.
        """

    def keep(self, label: int, features: np.ndarray, weights: np.ndarray) -> Solution | None:
        """Learn a label's solution before pruning; returns a copy if other labels start there."""
        return None


class ZeroStart(Start):
    """Every label starts at w = 0: vanilla DiSMEC."""

    def fill(self, label: int, X: CSR, positives: np.ndarray, weights: np.ndarray) -> None:
        weights[:] = 0.0


class BiasStart(Start):
    """w_0 = -lambda / b on the bias feature b, else 0: every score is -lambda (MSI sec. 3)."""

    def __init__(self, bias_lambda: float, bias: float) -> None:
        if not bias:
            remedy = "prepare the data with bias: 1.0, or choose another start"
            raise InputError("the bias start needs a bias feature", remedy=remedy)
        self._weight = np.float32(-bias_lambda / bias)

    def fill(self, label: int, X: CSR, positives: np.ndarray, weights: np.ndarray) -> None:
        weights[:] = 0.0
        weights[-1] = self._weight
