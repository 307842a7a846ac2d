"""Instances set aside: of a source that has no test set, or of a dataset's training set."""

import hashlib
from dataclasses import replace

import numpy as np

from ovaflow.console.errors import InputError

_SPAN = float(1 << 64)


def in_test(content, fraction, seed=0):
    """Whether an instance, a text or bytes, belongs to the share ``fraction`` that is set aside.

    Decided by a hash of the content alone: the same on every machine and in any order of the instances, repeated
    instances stay together, and more instances move none of those already there.
    """
    block = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    digest = hashlib.blake2b(block, digest_size=8, salt=seed.to_bytes(16, "little", signed=True)).digest()
    return int.from_bytes(digest, "little") < fraction * _SPAN


def held_out(X, fraction, seed=0):
    """Which instances are set aside, decided by their features: bool, shape (n,)."""
    ends = X.indptr

    def content(row):
        entries = slice(ends[row], ends[row + 1])
        return X.indices[entries].tobytes() + X.data[entries].tobytes()

    return np.fromiter((in_test(content(row), fraction, seed) for row in range(X.n_rows)), bool, X.n_rows)


def hold_out(dataset, fraction, seed=0):
    """A dataset in memory whose test set is a share of the training set, and whose training set is the rest.

    The test instances of ``dataset`` are left out. Labels whose positives are all held out stay. The parameter
    ``held_out`` says of which dataset, by checksum, and with which fraction and seed.
    """
    held = held_out(dataset.train.X, fraction, seed)
    if held.all() or not held.any():
        raise InputError(
            f"{held.sum():,} of {len(held):,} training instances would be held out",
            path=dataset.path,
            remedy="more instances or another fraction",
        )
    parts = [dataset.train.take(np.flatnonzero(rows)) for rows in (~held, held)]
    settings = dataset.parameters | {"held_out": {"of": dataset.checksum, "fraction": fraction, "seed": seed}}
    return replace(dataset, train=parts[0], test=parts[1], checksum="", parameters=settings)
