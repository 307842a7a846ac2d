"""Parts of a dataset: some of its training documents to train on, others to test."""

from dataclasses import replace

import numpy as np

from ovaflow.labels.choice import drop_labels
from ovaflow.sparse.csr import count_row_nonzeros


def partition_documents(dataset, trained_on, tested, **parameters):
    """Return a dataset that trains on some training documents and all names of labels, and tests
    others.

    Both are rows of training documents; the parameters say what was done.
    """
    names = np.arange(dataset.n_documents, dataset.train.X.n_rows)
    train = dataset.train.take(np.concatenate([trained_on, names]))
    test = dataset.train.take(tested)
    test = replace(test, units=None, tokens=test.tokens and test.tokens.drop_unused_words())
    return replace(
        dataset,
        train=train,
        test=test,
        dev=None,
        checksum="",
        parameters=dataset.parameters | parameters,
    )


def drop_unseen_labels(dataset):
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
