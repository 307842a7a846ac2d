"""Folds of the training documents: each document is tested once, by a model of the other folds."""

from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.labels.choice import without_labels
from ovaflow.records.hold_out import held_out_documents
from ovaflow.sparse.csr import rows_of

SEED = 1
"""Of the draw; by that of a second stage, which is 0, all or none of a fold's training documents would be held out."""


def folds_of_documents(dataset, folds, seed=0):
    """The fold of each training document, from 0 on: int (n,); copies, near twins and groups are in one."""
    shares = np.arange(1, folds)[:, None] / folds
    # what a share sets aside, a larger one does, too
    return folds - 1 - np.sum(held_out_documents(dataset, shares, seed), axis=0)


def hold_out_fold(dataset, fold, folds):
    """A dataset whose test set is a fold, from 0 on, of the training documents, its training set the other folds.

    Extra instances are never tested; those of the fold, which may be near twins of tested ones, are left out.
    """
    n, whole = dataset.n_documents, dataset.train
    held = np.zeros(whole.X.n_rows, bool)
    held[:n] = folds_of_documents(dataset, folds, SEED) == fold
    tested = held if whole.extra is None else held & ~whole.extra
    if held[:n].all() or not tested.any():
        message = f"{tested.sum():,} of {n:,} training instances would be in fold {fold + 1} of {folds}"
        raise InputError(message, path=dataset.path, remedy="more instances or fewer folds")
    test = whole.take(np.flatnonzero(tested))
    test = replace(test, tokens=test.tokens and test.tokens.of_used_words())
    left_out = held.copy()
    if dataset.counts.all():
        # labels are those of training documents, so others are unknown, as in prepare
        seen = np.bincount(rows_of(whole.Y, np.flatnonzero(~held[:n])).indices, minlength=dataset.n_labels) > 0
        test = replace(test, Y=without_labels(test.Y, seen))
        names = without_labels(whole.Y.part(n, whole.Y.n_rows), seen)
        left_out[n:] = np.diff(names.indptr) == 0
    train = whole.take(np.flatnonzero(~left_out))
    if whole.groups is not None:
        train = replace(train, groups=whole.groups[~held[:n]])
    parameters = dataset.parameters | {"fold": {"of": dataset.checksum, "fold": fold + 1, "folds": folds}}
    if "named_labels" in parameters:
        parameters["named_labels"] = int(np.count_nonzero(~left_out[n:]))
    return replace(dataset, train=train, test=test, dev=None, checksum="", parameters=parameters)
