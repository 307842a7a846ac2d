"""Parts of a dataset: some of its training documents to train on, others to test."""

from dataclasses import replace
from typing import Any

import numpy as np

from ovaflow.dataset.dataset import Dataset
from ovaflow.labels.choice import drop_labels
from ovaflow.sparse.csr import count_row_nonzeros


def partition_documents(
    dataset: Dataset,
    training_rows: np.ndarray,
    test_rows: np.ndarray,
    parameters: dict[str, Any] | None = None,
) -> Dataset:
    """Return a dataset that trains on some training documents and all names of labels, and tests
    others.

    Parameters
    ----------
    dataset : Dataset
        Dataset whose training documents are divided.
    training_rows : int64 (m,)
        Rows of the training documents to train on.
    test_rows : int64 (k,)
        Rows of the training documents to test.
    parameters : dict, optional
        Parameters to add, which describe the partition.
    """
    label_name_rows = np.arange(dataset.n_documents, dataset.train.X.n_rows)
    train = dataset.train.take(np.concatenate([training_rows, label_name_rows]))
    test = dataset.train.take(test_rows)
    test = replace(test, units=None, tokens=test.tokens and test.tokens.drop_unused_words())
    return replace(
        dataset,
        train=train,
        test=test,
        dev=None,
        checksum="",
        parameters=dataset.parameters | (parameters or {}),
    )


def drop_unseen_labels(dataset: Dataset) -> Dataset:
    """Return a dataset without labels that no training document has, as if prepared from these
    documents.
    """
    n = dataset.n_documents
    seen = dataset.counts > 0
    test = replace(dataset.test, Y=drop_labels(dataset.test.Y, seen))
    if n == dataset.train.X.n_rows:
        return replace(dataset, test=test)
    names = drop_labels(dataset.train.Y.part(n, dataset.train.Y.n_rows), seen)
    kept = n + np.flatnonzero(count_row_nonzeros(names))
    train = dataset.train.take(np.concatenate([np.arange(n), kept]))
    parameters = dataset.parameters | {"named_labels": len(kept)}
    return replace(dataset, train=train, test=test, parameters=parameters)
