"""A share of the training documents held out for the second stage, by a model of the others."""

from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.partition import partition_documents
from ovaflow.features.truncation import truncate_features
from ovaflow.records.drawing import draw_at_random, draw_by_hash, hash_rows
from ovaflow.sparse.csr import NO_POSITION

SHORTEST_TRUNCATED = 8
"""Tokens of the shortest text that is cut."""

_GOLDEN_RATIO = 0.6180339887498949
"""Multiples of it spread evenly over 0 to 1."""


def draw_held_out_documents(dataset, fraction, seed=0):
    """Return which training documents a draw holds out: bool (n,); shares (m, 1) give bool (m, n)."""
    units = dataset.units
    if dataset.parameters.get("split") == "random":
        return draw_at_random(units, fraction, seed)
    X, bias_feature = dataset.word_features
    return draw_by_hash(units, hash_rows(X, seed, bias_feature), fraction)


def hold_out(dataset, fraction, seed=0):
    """Return a dataset that tests a share of the training documents and trains on the others.

    Of extra instances a share is left out of training, too, near twins of held-out documents with
    them.
    """
    held = draw_held_out_documents(dataset, fraction, seed)
    if held.all() or not held.any():
        n = dataset.train.X.n_rows
        message = f"{held.sum():,} of {n:,} training instances would be held out"
        raise InputError(message, path=dataset.path, remedy="more instances or another fraction")
    tested = held & ~dataset.extra_documents
    settings = {"of": dataset.checksum, "fraction": fraction, "seed": seed}
    parts = partition_documents(
        dataset, np.flatnonzero(~held), np.flatnonzero(tested), held_out=settings
    )
    # who fits a second stage has the names of the whole dataset
    train = replace(parts.train, tokens=None)
    test = truncate_every_third(parts.test, dataset.parameters.get("normalize", False))
    return replace(parts, train=train, test=test)


def truncate_every_third(split, normalized):
    """Return texts of which each third ends early, as titles do: log-uniformly from
    :data:`SHORTEST_TRUNCATED` tokens on.
    """
    X = split.X
    n = split.X.n_rows
    if X.places is None:
        return split
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    words = X.places != NO_POSITION
    tokens = np.zeros(n)
    np.maximum.at(tokens, rows[words], X.places[words] + 1.0)
    shares = np.arange(n) * _GOLDEN_RATIO % 1
    ends = SHORTEST_TRUNCATED * np.maximum(tokens / SHORTEST_TRUNCATED, 1) ** shares
    ends[np.arange(n) % 3 > 0] = np.inf
    X, lengths = truncate_features(X, ends, normalized)
    norms = (split.norms * lengths).astype(np.float32) if normalized else split.norms
    cut = split.tokens and split.tokens.beginnings(ends)
    return replace(split, X=X, norms=norms, tokens=cut)
