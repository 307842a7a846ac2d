"""P@k for model selection."""

from dataclasses import dataclass
from typing import Any

from ovaflow.estimators.labels import Labels, Matrix


@dataclass(frozen=True)
class precision_at_k_scorer:
    """P@k as ``scoring`` of ``GridSearchCV`` and ``cross_val_score``.

    Parameters
    ----------
    k : int
        Labels that are looked at, those of the highest scores.
    """

    k: int = 1

    def __call__(self, estimator: Any, X: Matrix, Y: Labels) -> float:
        """P@k of a fitted estimator.

        Parameters
        ----------
        estimator : LabelClassifier
            Or a pipeline that ends with one.
        X : array_like, shape (n, d)
            What the estimator takes.
        Y : array_like, sparse matrix, or sequence of sequences
            True labels.

        Returns
        -------
        float
            Share of true labels among the first k.
        """
        steps = getattr(estimator, "steps", None)
        if steps is not None:
            X, estimator = estimator[:-1].transform(X), steps[-1][1]
        return estimator.precision_at_k(X, Y, self.k)
