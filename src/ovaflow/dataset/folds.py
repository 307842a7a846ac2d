"""Folds of the training documents: each document is tested once, by a model of the other folds."""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset
from ovaflow.dataset.hold_out import draw_held_out_documents
from ovaflow.dataset.partition import drop_unseen_labels, partition_documents

FOLD_SEED = 1
"""Seed of the draw of folds. With 0, the seed of the second stage's draw, all or none of a fold's
training documents would be held out.
"""


def assign_folds(dataset: Dataset, folds: int, seed: int = 0) -> np.ndarray:
    """Return the fold of each training document, from 0 on: int (n,).

    Documents of a unit are in the same fold.
    """
    shares = np.arange(1, folds)[:, None] / folds
    # a larger share includes the documents of a smaller one
    return folds - 1 - np.sum(draw_held_out_documents(dataset, shares, seed), axis=0)


def hold_out_fold(dataset: Dataset, fold: int, folds: int) -> Dataset:
    """Return a dataset that tests one fold of the training documents and trains on the others.

    Extra instances are never tested; those of the fold, which may be near twins of tested ones, are
    left out.

    Parameters
    ----------
    dataset : Dataset
        Dataset whose training documents are divided.
    fold : int
        Number of the fold, from 0 on.
    folds : int
        Number of folds.
    """
    held = assign_folds(dataset, folds, FOLD_SEED) == fold
    tested = held & ~dataset.extra_documents
    if held.all() or not tested.any():
        message = (
            f"{tested.sum():,} of {len(held):,} training instances would be in "
            f"fold {fold + 1} of {folds}"
        )
        raise InputError(message, path=dataset.path, remedy="give more instances, or fewer folds")
    settings = {"of": dataset.checksum, "fold": fold + 1, "folds": folds}
    part = partition_documents(
        dataset, np.flatnonzero(~held), np.flatnonzero(tested), {"fold": settings}
    )
    # if all labels are those of training documents, others are unknown, as in prepare
    if dataset.counts.all():
        return drop_unseen_labels(part)
    return part
