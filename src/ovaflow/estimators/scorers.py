"""P@k and F1 for model selection."""

from dataclasses import dataclass
from typing import Any

from sklearn.metrics import f1_score

from ovaflow.estimators.labels import Labels, Matrix, convert_to_indicators


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
            # a pipeline may be the classifier alone
            X = estimator[:-1].transform(X) if len(steps) > 1 else X
            estimator = steps[-1][1]
        return estimator.precision_at_k(X, Y, self.k)


@dataclass(frozen=True)
class f1_scorer:
    """F1 as ``scoring`` of ``GridSearchCV`` and ``cross_val_score``, also of lists of labels.

    Parameters
    ----------
    average : str
        ``"micro"``: of all pairs of an instance and a label; ``"macro"`` or ``"weighted"``: mean
        over the labels; ``"samples"``: mean over the instances; as in ``sklearn.metrics.f1_score``.
    """

    average: str = "micro"

    def __call__(self, estimator: Any, X: Matrix, Y: Labels) -> float:
        """F1 of what a fitted estimator predicts.

        Parameters
        ----------
        estimator : LabelClassifier
            Or a pipeline that ends with one.
        X : array_like, shape (n, d)
            What the estimator takes.
        Y : array_like, sparse matrix, or sequence of sequences
            True labels, in the form that :meth:`fit` was given.

        Returns
        -------
        float
            Lists: of the labels that are true or predicted for an instance, also of those that no
            training instance has.
        """
        return float(
            f1_score(*convert_to_indicators(Y, estimator.predict(X)), average=self.average)
        )
