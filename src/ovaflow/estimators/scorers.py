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
        Number of labels with the highest scores.
    """

    k: int = 1

    def __call__(self, estimator: Any, X: Matrix, Y: Labels) -> float:
        """Compute P@k of a fitted estimator.

        Parameters
        ----------
        estimator : LabelClassifier or sklearn.pipeline.Pipeline
            A classifier, or a pipeline that ends with one.
        X : array_like, shape (n, d)
            Input of the estimator.
        Y : array_like, sparse matrix, or sequence of sequences
            True labels.

        Returns
        -------
        float
            Share of true labels among the first k.
        """
        steps = getattr(estimator, "steps", None)
        if steps is not None:
            # a pipeline may have the classifier as its only step
            if len(steps) > 1:
                X = estimator[:-1].transform(X)
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
        """Compute F1 of the predictions of a fitted estimator.

        Parameters
        ----------
        estimator : LabelClassifier or sklearn.pipeline.Pipeline
            A classifier, or a pipeline that ends with one.
        X : array_like, shape (n, d)
            Input of the estimator.
        Y : array_like, sparse matrix, or sequence of sequences
            True labels, in the form that :meth:`fit` was given.

        Returns
        -------
        float
            F1; of lists, over the labels that are true or predicted for an instance, also over
            those that no training instance has.
        """
        true, predicted = convert_to_indicators(Y, estimator.predict(X))
        return float(f1_score(true, predicted, average=self.average))
