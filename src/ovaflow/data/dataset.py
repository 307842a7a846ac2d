"""The dataset file: train and test as CSR, names, the transform that made the features, instances set aside."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.normalize import unscale
from ovaflow.sparse.csr import CSR, rows_of, transpose
from ovaflow.storage.arrays import (
    create_array,
    map_array,
    read_csr,
    read_into,
    read_strings,
    write_csr,
    write_strings,
)
from ovaflow.storage.artifact import checksum_of, create_artifact, open_artifact, parameters_of


@dataclass(frozen=True)
class Names:
    """Names of labels, of features (without the bias feature, or none), and inverse document frequencies.

    Labels of a subject vocabulary also have URIs and notations, which are empty where a subject has none.
    """

    labels: list
    features: list
    idf: np.ndarray | None = None
    uris: Sequence = ()
    notations: Sequence = ()


def read_names(path, kind, name):
    """``"label_names"`` or ``"feature_names"`` of an artifact; empty where it has none."""
    with open_artifact(path, kind) as file:
        return read_strings(file, name) if name in file else []


def read_idf(path, kind):
    """Inverse document frequencies of an artifact, without the bias feature; None without tf-idf."""
    with open_artifact(path, kind) as file:
        return map_array(file["idf"]) if "idf" in file else None


_FIELDS = {
    "label_names": "labels",
    "feature_names": "features",
    "label_uris": "uris",
    "label_notations": "notations",
}
"""Fields of :class:`Names` by their names in artifacts."""


def read_all_names(path, kind):
    """All :class:`Names` of an artifact."""
    names = {key: read_names(path, kind, name) for name, key in _FIELDS.items()}
    return Names(**names, idf=read_idf(path, kind))


def write_names(file, names):
    """Write names into an artifact; labels always, even if there are none."""
    for name, key in _FIELDS.items():
        strings = getattr(names, key)
        if key == "labels" or len(strings):
            write_strings(file, name, strings)
    if names.idf is not None:
        create_array(file, "idf", np.asarray(names.idf, np.float32))


KIND = "dataset"
EXCERPT = 2000
"""Characters of a test text that are kept for the report."""


@dataclass(frozen=True)
class Split:
    """Instances and their labels: X (n, d) as the solver sees it, Y (n, l) of ones, texts, and what records they are.

    There are no texts when the source had features instead.
    """

    X: CSR
    Y: CSR
    texts: list = field(default_factory=list)
    norms: np.ndarray | None = None  # float32 (n,), of rows that were scaled to length 1
    records: list = field(default_factory=list)  # ids, or places in the file; none of names of labels

    def take(self, rows):
        """Some of the instances, without their texts."""
        norms = None if self.norms is None else self.norms[rows]
        return Split(rows_of(self.X, rows), rows_of(self.Y, rows), norms=norms)

    def unscaled(self, bias):
        """X before rows were scaled to length 1."""
        return self.X if self.norms is None else unscale(self.X, self.norms, bias)


class Named:
    """A dataset or a model whose names are in memory, or read from its file on demand."""

    kind: ClassVar[str]
    path: Path
    names_in_memory: Names | None

    @cached_property
    def label_names(self):
        """Names of the labels, in id order."""
        return self._read("label_names")

    @cached_property
    def label_uris(self):
        """URIs of the labels, in id order; empty where they are of no subject vocabulary."""
        return self._read("label_uris")

    @cached_property
    def label_notations(self):
        """Notations of the labels, in id order, some empty; none where they are of no subject vocabulary."""
        return self._read("label_notations")

    @cached_property
    def feature_names(self):
        """Names of the features without the bias feature, in id order; empty when the source has none."""
        return self._read("feature_names")

    @property
    def names(self):
        """Names of labels and features, with the inverse document frequencies."""
        return self.names_in_memory or read_all_names(self.path, self.kind)

    def _read(self, name):
        if self.names_in_memory is None:
            return read_names(self.path, self.kind, name)
        return getattr(self.names_in_memory, _FIELDS[name])


@dataclass(frozen=True)
class Dataset(Named):
    """An open dataset file; matrices are mapped, not copied.

    ``parameters`` are the settings of the prepare step. The texts of ``test`` are not loaded, see :meth:`test_texts`.
    Names of a dataset in memory come with it; others are read on demand.
    """

    path: Path
    train: Split
    test: Split
    checksum: str
    parameters: dict
    names_in_memory: Names | None = None
    kind: ClassVar[str] = KIND

    @property
    def n_features(self):
        """Number of columns of X, bias feature included."""
        return self.train.X.n_columns

    @property
    def n_labels(self):
        """Number of labels."""
        return self.train.Y.n_columns

    @property
    def n_documents(self):
        """Number of training instances without those that are names of labels, which come last."""
        return self.train.X.n_rows - self.parameters.get("named_labels", 0)

    @property
    def documents(self):
        """The same dataset without names of labels among the training instances."""
        n = self.n_documents
        if n == self.train.X.n_rows:
            return self
        norms = None if self.train.norms is None else self.train.norms[:n]
        train = Split(self.train.X.part(0, n), self.train.Y.part(0, n), norms=norms)
        return replace(self, train=train, parameters=self.parameters | {"named_labels": 0})

    @cached_property
    def counts(self):
        """Training positives of each label; names of labels do not count."""
        Y = self.train.Y
        return np.bincount(Y.indices[: Y.indptr[self.n_documents]], minlength=self.n_labels)

    def inverse_propensity(self, a, b):
        """:func:`inverse_propensity` of the labels."""
        return inverse_propensity(self.counts, self.n_documents, a, b)

    @cached_property
    def positives(self):
        """Training instances of each label: CSR of shape (l, n)."""
        return transpose(self.train.Y)

    def test_texts(self, rows=None):
        """Beginnings of test texts, of some rows; empty when the source had features instead of texts."""
        with open_artifact(self.path, KIND) as file:
            texts = read_strings(file, "test_texts") if "test_texts" in file else []
        return list(texts) if rows is None or not texts else [texts[row] for row in rows]

    def records(self, part, rows):
        """What some instances of ``"train"`` or ``"test"`` are called in their file; empty where that is not known."""
        with open_artifact(self.path, KIND) as file:
            records = read_strings(file, f"{part}_records") if f"{part}_records" in file else []
            return [records[row] for row in rows] if records else [""] * len(rows)

    def heaviest_features(self, part, row, amount):
        """Names of the largest features of an instance of ``"train"`` or ``"test"``, as far as they have names."""
        x, names = getattr(self, part).X.part(row, row + 1), self.feature_names
        named = x.indices < len(names)
        order = np.argsort(-np.abs(x.data[named]), kind="stable")[:amount]
        return [names[feature] for feature in x.indices[named][order]]


def write_dataset(path, train, test, label_names, feature_names, parameters, idf=None, uris=(), notations=()):
    """Write the dataset file.

    ``parameters`` are every setting that shaped the file: ``bias``, ``normalize``, ``tfidf`` and, for texts, what
    :mod:`ovaflow.data.tfidf` needs to repeat the transform; plus ``source`` (files with their sha256).
    """
    with create_artifact(path, KIND, parameters) as file:
        for name, split in (("train", train), ("test", test)):
            write_csr(file.create_group(f"{name}/X"), split.X)
            write_csr(file.create_group(f"{name}/Y"), split.Y)
            if split.norms is not None:
                norms = np.minimum(split.norms, np.finfo(np.float32).max)
                create_array(file, f"{name}/norms", norms.astype(np.float32))
            if any(split.records):
                write_strings(file, f"{name}_records", split.records)
        write_names(file, Names(label_names, feature_names, idf, uris, notations))
        if test.texts:
            write_strings(file, "test_texts", [text[:EXCERPT] for text in test.texts])


def open_dataset(path):
    """Open a dataset file."""
    with open_artifact(path, KIND) as file:
        splits = [_read_split(file[name]) for name in ("train", "test")]
        return Dataset(Path(path), *splits, checksum_of(file), parameters_of(file))


def _read_split(group):
    norms = map_array(group["norms"]) if "norms" in group else None
    return Split(read_csr(group["X"]), read_csr(group["Y"]), norms=norms)


def inverse_propensity(counts, n_instances, a, b):
    """Inverse propensities 1/p_j = 1 + C (N_j + b)^-a with C = (ln n - 1) (b + 1)^a, of labels with N_j of n instances.

    A propensity is how likely a true label was observed (Jain, Prabhu and Varma 2016, section 5).

    At least 1: with fewer than e = 2.7 instances C would be negative and is taken as 0, since no propensity exceeds 1.
    """
    c = max(np.log(max(n_instances, 1)) - 1, 0.0) * (b + 1) ** a
    return 1 + c * (np.asarray(counts, np.float64) + b) ** -a


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
    held[dataset.n_documents :] = False
    if held.all() or not held.any():
        raise InputError(
            f"{held.sum():,} of {len(held):,} training instances would be held out",
            path=dataset.path,
            remedy="more instances or another fraction",
        )
    parts = [dataset.train.take(np.flatnonzero(rows)) for rows in (~held, held)]
    settings = dataset.parameters | {"held_out": {"of": dataset.checksum, "fraction": fraction, "seed": seed}}
    return replace(dataset, train=parts[0], test=parts[1], checksum="", parameters=settings)


_ALIGNMENT = 4096


def bring_near(dataset, pinning):
    """The same dataset, its training features copied to the job's node if need be.

    A mapped file is on the node that read it first. Without room on the node, which is noted, the dataset stays as it
    was.
    """
    X = dataset.train.X
    ends = np.cumsum([_ALIGNMENT * -(-array.nbytes // _ALIGNMENT) for array in X.arrays])
    starts = [0, *ends[:-1].tolist()]

    def arrays_in(memory):
        parts = zip(X.arrays, starts, strict=True)
        return [np.frombuffer(memory, array.dtype, array.size, start) for array, start in parts]

    def fill(memory):
        with open_artifact(dataset.path, KIND) as file:
            for name, array in zip(("data", "indices", "indptr"), arrays_in(memory), strict=True):
                read_into(file[f"train/X/{name}"], array)

    shared = pinning.share(f"{dataset.checksum}-features", int(ends[-1]), fill)
    if shared is None:
        return dataset
    return replace(dataset, train=replace(dataset.train, X=CSR(*arrays_in(shared), X.n_columns)))
