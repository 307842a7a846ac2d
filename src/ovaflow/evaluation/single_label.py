"""Metrics where an instance has one label: accuracy, confusion, separation of two classes."""

import numpy as np
import scipy

from ovaflow.dataset.dataset import Dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.ranking import Ranked
from ovaflow.sparse.csr import CSR


def has_one_label(dataset: Dataset) -> bool:
    """Tell whether no instance of a dataset has more than one label."""
    return all(
        np.diff(split.Y.indptr).max(initial=0) <= 1 for split in (dataset.train, dataset.test)
    )


def single_label_metrics(measured: EvaluatedPredictions, dataset: Dataset) -> dict[str, float]:
    """Compute accuracy and balanced accuracy of the first label, and metrics of two classes.

    Only instances with a label count.
    """
    true = _find_true_labels(dataset.test.Y)
    right = measured.order.hits[:, 0]
    labelled = true >= 0
    if not labelled.any():
        return {}
    positives = np.bincount(true[labelled])
    recall = np.bincount(true[labelled], right[labelled]) / np.maximum(positives, 1)
    accuracy = {
        "accuracy": float(right[labelled].mean()),
        "balanced_accuracy": float(recall[positives > 0].mean()),
    }
    return accuracy | _compute_two_class_metrics(measured, dataset, true)


def _find_true_labels(Y: CSR) -> np.ndarray:
    """Find the label of each instance, -1 for none: int64 (n,)."""
    labels = np.full(Y.n_rows, -1)
    labels[np.diff(Y.indptr) > 0] = Y.indices
    return labels


def find_rarer_label(dataset: Dataset) -> int:
    """Find the label that metrics of two classes call positive."""
    return int(np.argmin(dataset.counts))


def _compute_two_class_metrics(
    measured: EvaluatedPredictions, dataset: Dataset, true: np.ndarray
) -> dict[str, float]:
    """Compute area under the ROC curve and average precision of the rarer label.

    Returns nothing where there are not two classes with test instances, or scores are missing.
    """
    ids = measured.candidates.ids[:, : dataset.n_labels]
    values = measured.values[:, : dataset.n_labels]
    is_positive = true == find_rarer_label(dataset)
    n_classes = dataset.n_labels
    if (true < 0).any():
        # no label is a class, too
        n_classes += 1
    has_every_score = ids.shape[1] == dataset.n_labels and (ids >= 0).all()
    if n_classes != 2 or not has_every_score or is_positive.all() or not is_positive.any():
        return {}
    # loading scikit-learn takes a second
    from sklearn.metrics import average_precision_score, roc_auc_score

    margins = np.where(ids == find_rarer_label(dataset), values, -values).sum(axis=1)
    return {
        "roc_auc": float(roc_auc_score(is_positive, margins)),
        "average_precision": float(average_precision_score(is_positive, margins)),
    }


def compute_confusion_matrix(ranked: Ranked) -> "scipy.sparse.csr_array":
    """Count how often each label is predicted first for instances of each label.

    Returns int64 (l, l), true by predicted labels.
    """
    true = _find_true_labels(ranked.Y)
    first = ranked.ids[:, 0].astype(np.int64)
    has_both = (true >= 0) & (first >= 0)
    ones = np.ones(int(has_both.sum()), np.int64)
    n_labels = ranked.Y.n_columns
    return scipy.sparse.csr_array(
        (ones, (true[has_both], first[has_both])), shape=(n_labels, n_labels)
    )
