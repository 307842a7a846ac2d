"""Metrics where an instance has one label: accuracy, confusion, and how well a score separates two
classes.
"""

import numpy as np
import scipy.sparse


def has_one_label(dataset):
    """Whether no instance of a dataset has more than one label."""
    return all(
        np.diff(split.Y.indptr).max(initial=0) <= 1 for split in (dataset.train, dataset.test)
    )


def single_label_metrics(measured, dataset):
    """Accuracy and balanced accuracy of the first label, on instances that have one, and metrics of
    two classes.
    """
    true = _true_labels(dataset.test.Y)
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
    return accuracy | _of_two_classes(measured, dataset, true)


def _true_labels(Y):
    """The label of each instance, -1 for none: int64 (n,)."""
    labels = np.full(Y.n_rows, -1)
    labels[np.diff(Y.indptr) > 0] = Y.indices
    return labels


def find_rarer_label(dataset):
    """The label that metrics of two classes call positive."""
    return int(np.argmin(dataset.counts))


def _of_two_classes(measured, dataset, true):
    """Area under the ROC curve and average precision of the rarer label; nothing where classes are
    more or fewer.
    """
    ids, values = (
        each[:, : dataset.n_labels] for each in (measured.candidates.ids, measured.values)
    )
    positive = true == find_rarer_label(dataset)
    classes = dataset.n_labels + bool((true < 0).any())
    every_score = ids.shape[1] == dataset.n_labels and (ids >= 0).all()
    if classes != 2 or not every_score or positive.all() or not positive.any():
        return {}
    # loading scikit-learn takes a second
    from sklearn.metrics import average_precision_score, roc_auc_score

    margins = np.where(ids == find_rarer_label(dataset), values, -values).sum(axis=1)
    return {
        "roc_auc": float(roc_auc_score(positive, margins)),
        "average_precision": float(average_precision_score(positive, margins)),
    }


def compute_confusion_matrix(ranked):
    """How often each label is predicted first for instances of each label: CSR of int64 (l, l),
    true by predicted.
    """
    true = _true_labels(ranked.Y)
    first = ranked.ids[:, 0].astype(np.int64)
    both = (true >= 0) & (first >= 0)
    ones = np.ones(int(both.sum()), np.int64)
    return scipy.sparse.csr_array(
        (ones, (true[both], first[both])), shape=(ranked.Y.n_columns,) * 2
    )
