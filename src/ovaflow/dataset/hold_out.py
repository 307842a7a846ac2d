"""A share of the training documents held out for the second stage, by a model of the others."""

from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset, Split
from ovaflow.dataset.partition import partition_documents
from ovaflow.features.truncation import truncate_features
from ovaflow.records.drawing import draw_at_random, draw_by_hash, hash_rows
from ovaflow.sparse.csr import NO_POSITION

SHORTEST_TRUNCATED = 8
"""Number of tokens of the shortest truncated text."""
_GOLDEN_RATIO = 0.6180339887498949
"""Fractional parts of its multiples are spread evenly over 0 to 1."""


def draw_held_out_documents(
    dataset: Dataset, fraction: float | np.ndarray, seed: int = 0
) -> np.ndarray:
    """Return which training documents a draw holds out.

    Parameters
    ----------
    dataset : Dataset
        Dataset with n training documents.
    fraction : float or float64 (m, 1)
        Share of the documents to hold out, or several shares.
    seed : int
        Seed of the draw.

    Returns
    -------
    bool (n,) or bool (m, n)
        Documents that are held out, for one or several shares.
    """
    units = dataset.units
    if dataset.parameters.get("split") == "random":
        return draw_at_random(units, fraction, seed)
    X, bias_feature = dataset.text_features
    return draw_by_hash(units, hash_rows(X, seed, bias_feature), fraction)


def hold_out(dataset: Dataset, fraction: float, seed: int = 0) -> Dataset:
    """Return a dataset that tests a share of the training documents and trains on the others.

    The same share of extra instances is left out of training, too, and with them near twins of
    held-out documents.
    """
    held = draw_held_out_documents(dataset, fraction, seed)
    if held.all() or not held.any():
        n = dataset.train.X.n_rows
        message = f"{held.sum():,} of {n:,} training instances would be held out"
        remedy = "give more instances, or another fraction"
        raise InputError(message, path=dataset.path, remedy=remedy)
    tested = held & ~dataset.extra_documents
    settings = {"of": dataset.checksum, "fraction": fraction, "seed": seed}
    part = partition_documents(
        dataset, np.flatnonzero(~held), np.flatnonzero(tested), {"held_out": settings}
    )
    # a second stage is fitted with the names of the whole dataset
    train = replace(part.train, tokens=None)
    normalized = dataset.parameters.get("normalize", False)
    test = truncate_every_third(part.test, normalized=normalized)
    return replace(part, train=train, test=test)


def truncate_every_third(split: Split, *, normalized: bool) -> Split:
    """Truncate every third text at a random token, to imitate titles.

    Lengths are log-uniform, from :data:`SHORTEST_TRUNCATED` tokens to the whole text.
    """
    X = split.X
    n = X.n_rows
    if X.places is None:
        return split
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    is_word = X.places != NO_POSITION
    n_tokens = np.zeros(n)
    np.maximum.at(n_tokens, rows[is_word], X.places[is_word] + 1.0)
    shares = np.arange(n) * _GOLDEN_RATIO % 1
    ends = SHORTEST_TRUNCATED * np.maximum(n_tokens / SHORTEST_TRUNCATED, 1) ** shares
    ends[np.arange(n) % 3 > 0] = np.inf
    X, lengths = truncate_features(X, ends, rescale=normalized)
    norms = split.norms
    if normalized:
        norms = (norms * lengths).astype(np.float32)
    tokens = split.tokens and split.tokens.truncate(ends)
    return replace(split, X=X, norms=norms, tokens=tokens)
