"""Folds of the training documents: each document is tested once, by a model of the other folds."""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.hold_out import draw_held_out_documents
from ovaflow.dataset.partition import drop_unseen_labels, partition_documents

FOLD_SEED = 1
"""Of the draw; by that of a second stage, which is 0, all or none of a fold's training documents
would be held out.
"""


def assign_folds(dataset, folds, seed=0):
    """Return the fold of each training document, from 0 on: int (n,); documents of a unit are in
    one.
    """
    shares = np.arange(1, folds)[:, None] / folds
    # what a share sets aside, a larger one does, too
    return folds - 1 - np.sum(draw_held_out_documents(dataset, shares, seed), axis=0)


def hold_out_fold(dataset, fold, folds):
    """Return a dataset that tests a fold, from 0 on, of the training documents, and trains on the
    other folds.

    Extra instances are never tested; those of the fold, which may be near twins of tested ones, are
    left out.
    """
    held = assign_folds(dataset, folds, FOLD_SEED) == fold
    tested = held & ~dataset.extra_documents
    if held.all() or not tested.any():
        message = f"{tested.sum():,} of {len(held):,} training instances would be in fold {fold + 1} of {folds}"
        raise InputError(message, path=dataset.path, remedy="more instances or fewer folds")
    settings = {"of": dataset.checksum, "fold": fold + 1, "folds": folds}
    parts = partition_documents(
        dataset, np.flatnonzero(~held), np.flatnonzero(tested), fold=settings
    )
    # where all labels are those of training documents, others are unknown, as in prepare
    return drop_unseen_labels(parts) if dataset.counts.all() else parts
