"""The dataset file: train, test and perhaps dev as CSR, names, and the transform that made the
features.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.features.columns import ColumnFeatures, count_column_features, select_text_features
from ovaflow.features.normalize import unscale_rows
from ovaflow.features.tokens import Tokens
from ovaflow.records.units import find_feature_units, select_units
from ovaflow.sparse.csr import CSR, count_row_nonzeros, offsets, select_rows, transpose
from ovaflow.storage.arrays import (
    create_array,
    map_array,
    read_csr,
    read_into,
    read_strings,
    write_csr,
    write_strings,
)
from ovaflow.storage.hdf5 import create_artifact, open_artifact, read_checksum, read_parameters


@dataclass(frozen=True)
class Names:
    """Names of labels, of features (without the bias feature, or none), and inverse document
    frequencies.

    Labels of a subject vocabulary also have URIs, notations and names in further languages, which
    are empty where a subject has none, and groups: ids of labels by URI of scheme, collection or
    type.
    """

    labels: list
    features: list
    idf: np.ndarray | None = None
    uris: Sequence = ()
    notations: Sequence = ()
    translations: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)
    above: CSR | None = None  # (l, l): labels above each label, where they are a hierarchy
    # of each label those of the deprecated subjects that it stands for, with spaces between
    former_uris: Sequence = ()

    @cached_property
    def replaced(self):
        """Labels by the URIs of the subjects that they stand for."""
        return {uri: label for label, uris in enumerate(self.former_uris) for uri in uris.split()}


_FIELDS = {
    "label_names": "labels",
    "feature_names": "features",
    "label_uris": "uris",
    "label_notations": "notations",
    "label_former_uris": "former_uris",
}
"""Fields of :class:`Names` by their names in artifacts."""
_TRANSLATIONS = "label_translations"
_GROUPS = "label_groups"
_ABOVE = "labels_above"


def read_names(path, kind):
    with open_artifact(path, kind) as file:
        names = {key: _strings(file, name) for name, key in _FIELDS.items()}
        idf = map_array(file["idf"]) if "idf" in file else None
        names |= {"translations": _read_translations(file), "groups": _read_groups(file)}
        if _ABOVE in file:
            names["above"] = read_csr(file[_ABOVE])
        return Names(**names, idf=idf)


def _strings(file, name):
    return read_strings(file, name) if name in file else []


def _read_translations(file):
    return {name: read_strings(file[_TRANSLATIONS], name) for name in file.get(_TRANSLATIONS, ())}


def _read_groups(file):
    if _GROUPS not in file:
        return {}
    group = file[_GROUPS]
    members = map_array(group["members"])
    indptr = map_array(group["indptr"]).tolist()
    ranges = pairwise(indptr)
    uris = read_strings(group, "uris")
    return {uri: members[start:end] for uri, (start, end) in zip(uris, ranges, strict=True)}


def write_names(file, names) -> None:
    """Write names into an artifact; labels always, even if there are none."""
    for name, key in _FIELDS.items():
        strings = getattr(names, key)
        if key == "labels" or len(strings):
            write_strings(file, name, strings)
    if names.idf is not None:
        create_array(file, "idf", np.asarray(names.idf, np.float32))
    for language, translated in names.translations.items():
        write_strings(file.require_group(_TRANSLATIONS), language, translated)
    if names.above is not None:
        write_csr(file.create_group(_ABOVE), names.above)
    if names.groups:
        group = file.create_group(_GROUPS)
        write_strings(group, "uris", list(names.groups))
        create_array(group, "members", np.concatenate(list(names.groups.values())), dtype=np.int32)
        create_array(group, "indptr", offsets([len(members) for members in names.groups.values()]))


DATASET_KIND = "dataset"
EXCERPT_CHARACTERS = 5000
"""Characters of a test text that are kept for the report and the page of errors."""


_PARTS = ("train", "test", "dev")
_INSTANCE_ARRAYS = ("norms", "units", "twins", "weights", "extra")


@dataclass(frozen=True)
class Split:
    """X (n, d) as the solver sees it, labels Y (n, l) of ones, texts, and what records they are."""

    X: CSR
    Y: CSR
    texts: list = field(default_factory=list)
    norms: np.ndarray | None = None  # float32 (n,), of rows that were scaled to length 1
    records: list = field(
        default_factory=list
    )  # ids, or places in the file; none of names of labels
    units: np.ndarray | None = (
        None  # int64, of training documents: the first of those that no split parts from it
    )
    twins: np.ndarray | None = None  # bool (n,), of test instances with a near twin in training
    weights: np.ndarray | None = None  # float32 (n,), of the losses; all 1 by default
    extra: np.ndarray | None = None  # bool (n,), of training instances that are never held out
    tokens: Tokens | None = (
        None  # of texts, without stop words, where names of labels are looked for in them
    )

    def take(self, rows):
        """Return some of the instances, without their texts."""
        # names of labels come last and are no records
        records = [self.records[row] for row in rows if row < len(self.records)]
        units = None
        if self.units is not None:
            units = select_units(self.units, rows[rows < len(self.units)])
        return Split(
            select_rows(self.X, rows),
            select_rows(self.Y, rows),
            records=records,
            units=units,
            tokens=self.tokens and self.tokens.take(rows),
            **self.select_arrays(rows),
        )

    def select_arrays(self, rows):
        """What else some of the instances have, without their units."""
        arrays = {name: getattr(self, name) for name in ("norms", "weights", "extra")}
        return {name: array[rows] for name, array in arrays.items() if array is not None}

    def unscale(self, bias):
        """X before rows were scaled to length 1."""
        return self.X if self.norms is None else unscale_rows(self.X, self.norms, bias)


class LazyNames:
    """A dataset or a model whose names are in memory, or read from its file on demand."""

    kind: ClassVar[str]
    path: Path
    names_in_memory: Names | None

    @cached_property
    def names(self):
        return self.names_in_memory or read_names(self.path, self.kind)

    @property
    def label_names(self):
        return self.names.labels

    @property
    def label_uris(self):
        """URIs of the labels; empty where they are of no subject vocabulary."""
        return self.names.uris

    @property
    def label_notations(self):
        """Notations of the labels, some empty; none where they are of no subject vocabulary."""
        return self.names.notations

    @property
    def above(self):
        """Labels above each label, CSR (l, l); None where they are no hierarchy."""
        return self.names.above

    @property
    def feature_names(self):
        """Names of the features without the bias feature; empty when the source has none."""
        return self.names.features


@dataclass(frozen=True)
class Dataset(LazyNames):
    """An open dataset file, whose matrices are mapped, or one in memory; only this has its test
    texts at hand.
    """

    path: Path
    train: Split
    test: Split
    checksum: str
    parameters: dict
    names_in_memory: Names | None = None
    dev: Split | None = None  # for choosing settings; None where there is none
    unknown_subjects: Sequence = ()  # those of records that are no labels; only in memory
    kind: ClassVar[str] = DATASET_KIND

    @property
    def parts(self):
        """Its splits by name."""
        return {name: split for name in _PARTS if (split := getattr(self, name)) is not None}

    @property
    def measured(self):
        """Its splits for measuring models, by name: test, and dev if there is one."""
        return {name: split for name, split in self.parts.items() if name != "train"}

    @property
    def n_features(self):
        """Number of columns of X, bias feature included."""
        return self.train.X.n_columns

    @property
    def n_labels(self):
        return self.train.Y.n_columns

    @property
    def bias_feature(self):
        """Its number; -1 where there is none."""
        return self.n_features - 1 if self.parameters.get("bias") else -1

    @property
    def column_descriptions(self):
        """What training records have in columns of numbers and categories, by kind; empty without
        such columns.
        """
        columns = ColumnFeatures.from_parameters(self.parameters, self.feature_names)
        return (
            {kind: f"{words} (training)" for kind, words in columns.in_words.items()}
            if columns
            else {}
        )

    @property
    def n_word_features(self):
        """Number of features before those of columns and the bias feature, which come last."""
        return self.n_features - (self.bias_feature >= 0) - count_column_features(self.parameters)

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
        arrays = self.train.select_arrays(slice(n))
        tokens = self.train.tokens and self.train.tokens.part(0, n)
        train = Split(
            self.train.X.part(0, n),
            self.train.Y.part(0, n),
            units=self.train.units,
            tokens=tokens,
            **arrays,
        )
        return replace(self, train=train, parameters=self.parameters | {"named_labels": 0})

    @cached_property
    def units(self):
        """First training document of each one's unit, whose documents no split parts: int64 (n,)."""
        if self.train.units is not None:
            return self.train.units
        return find_feature_units(*self.word_features, split=self.parameters.get("split"))

    @property
    def word_features(self):
        """Features of the training documents without those of columns, CSR (n, d), and the bias
        feature or -1.
        """
        X = select_text_features(self.train.X.part(0, self.n_documents), self.parameters)
        return X, X.n_columns - 1 if self.bias_feature >= 0 else -1

    @property
    def extra_documents(self):
        """Which training documents are extra instances, which are never tested: bool (n,)."""
        if self.train.extra is None:
            return np.zeros(self.n_documents, bool)
        return self.train.extra[: self.n_documents]

    @property
    def instance_weights(self):
        """What the losses of training instances weigh: float32 (n,)."""
        if self.train.weights is None:
            return np.ones(self.train.X.n_rows, np.float32)
        return self.train.weights

    def require_equal_weights(self, method) -> None:
        """Refuse weights of training instances, which only one-vs-all models take."""
        if (self.instance_weights != 1).any():
            message = f"has records of other weights than 1, which {method} does not take"
            remedy = "leave out weight_column, and give the extra files the weight 1"
            raise InputError(message, path=self.path, remedy=remedy)

    @cached_property
    def counts(self):
        """Training positives of each label; names of labels do not count."""
        Y = self.train.Y
        return np.bincount(Y.indices[: Y.indptr[self.n_documents]], minlength=self.n_labels)

    def label_counts(self):
        """How many records have each label, by name, and how many records there are."""
        counts = self.counts
        n = self.n_documents
        for split in self.measured.values():
            counts = counts + np.bincount(split.Y.indices, minlength=self.n_labels)
            n = n + split.Y.n_rows
        return Counter(dict(zip(self.label_names, counts.tolist(), strict=True))), n

    def summary(self):
        """Sizes, in one line."""
        n = self.n_documents
        X = self.train.X
        named = f"; {X.n_rows - n:,} names of labels as instances" if X.n_rows > n else ""
        nnz = int(count_row_nonzeros(X)[:n].sum())
        dev = f", {self.dev.X.n_rows:,} dev" if self.dev is not None else ""
        return (
            f"{n:,} training{dev} and {self.test.X.n_rows:,} test instances, {X.n_columns:,} features, "
            f"{self.n_labels:,} labels ({self.train.Y.indptr[n] / n:.1f} per instance), "
            f"{nnz:,} nonzeros in training ({nnz / n:.1f} per instance){named}"
        )

    def write(self, path) -> None:
        """Write the dataset file; parameters are what shaped it, ``source`` among them."""
        with create_artifact(path, DATASET_KIND, self.parameters) as file:
            for name, split in self.parts.items():
                write_csr(file.create_group(f"{name}/X"), split.X)
                write_csr(file.create_group(f"{name}/Y"), split.Y)
                if split.norms is not None:
                    norms = np.minimum(split.norms, np.finfo(np.float32).max)
                    create_array(file, f"{name}/norms", norms.astype(np.float32))
                for key in _INSTANCE_ARRAYS[1:]:
                    if getattr(split, key) is not None:
                        create_array(file, f"{name}/{key}", getattr(split, key))
                if split.tokens is not None:
                    _write_tokens(file.create_group(f"{name}/tokens"), split.tokens)
                if any(split.records):
                    write_strings(file, f"{name}_records", split.records)
            write_names(file, self.names)
            if self.test.texts:
                write_strings(
                    file, "test_texts", [text[:EXCERPT_CHARACTERS] for text in self.test.texts]
                )

    def inverse_propensity(self, a, b):
        return compute_inverse_propensity(self.counts, self.n_documents, a, b)

    @cached_property
    def positives(self):
        """Training instances of each label: CSR (l, n)."""
        return transpose(self.train.Y)

    def test_texts(self, rows=None):
        """Beginnings of test texts, of some rows; empty when the source had features instead of
        texts.
        """
        with open_artifact(self.path, DATASET_KIND) as file:
            texts = _strings(file, "test_texts")
        return list(texts) if rows is None or not texts else [texts[row] for row in rows]

    def records(self, part, rows):
        """What some instances of a part, such as ``"test"``, are called in their file; empty where
        not known.
        """
        with open_artifact(self.path, DATASET_KIND) as file:
            records = _strings(file, f"{part}_records")
        return [records[row] for row in rows] if records else [""] * len(rows)

    def ids(self, part):
        """Ids of the instances of a part: ``line 3``, or ``train line 3`` if another part has it,
        too.
        """
        amounts = {name: split.X.n_rows for name, split in self.parts.items()} | {
            "train": self.n_documents
        }
        ids = {each: self.records(each, range(amount)) for each, amount in amounts.items()}
        if any(set(some) & set(others) - {""} for some, others in combinations(ids.values(), 2)):
            return [f"{part} {record}" for record in ids[part]]
        return ids[part]

    def label_name(self, label):
        """Name of a label for people, ``label 17`` where the source has none."""
        names = self.label_names
        return names[label] if len(names) and names[label].strip() else f"label {label}"

    def heaviest_features(self, part, row, amount):
        """Names of the largest features of an instance of ``"train"`` or ``"test"``, as far as they
        have names.
        """
        x = getattr(self, part).X.part(row, row + 1)
        names = self.feature_names
        named = x.indices < len(names)
        order = np.argsort(-np.abs(x.data[named]), kind="stable")[:amount]
        return [names[feature] for feature in x.indices[named][order]]


def write_dataset(path, train, test, label_names, feature_names, parameters) -> None:
    """Write a dataset file of its parts."""
    Dataset(path, train, test, "", parameters, Names(label_names, feature_names)).write(path)


def open_dataset(path):
    with open_artifact(path, DATASET_KIND) as file:
        splits = {name: _read_split(file[name]) for name in _PARTS if name in file}
        return Dataset(
            Path(path), **splits, checksum=read_checksum(file), parameters=read_parameters(file)
        )


def _read_split(group):
    arrays = {key: map_array(group[key]) for key in _INSTANCE_ARRAYS if key in group}
    tokens = _read_tokens(group["tokens"]) if "tokens" in group else None
    return Split(read_csr(group["X"]), read_csr(group["Y"]), tokens=tokens, **arrays)


def _write_tokens(group, tokens) -> None:
    write_strings(group, "words", [word or "" for word in tokens.words])
    for name in ("ids", "indptr", "fields"):
        create_array(group, name, getattr(tokens, name))


def _read_tokens(group):
    return Tokens(
        read_strings(group, "words"),
        *(map_array(group[name]) for name in ("ids", "indptr", "fields")),
    )


def count_without_known_labels(Y, positives, left_out=0):
    """How many instances have no label, and how many only labels without training positives.

    ``left_out``: instances whose labels are all missing in Y, since no training instance has them.
    """
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    known = len(np.unique(rows[positives[Y.indices] > 0]))
    unlabelled = int(np.count_nonzero(np.diff(Y.indptr) == 0)) - left_out
    return unlabelled, Y.n_rows - known - unlabelled


def compute_inverse_propensity(counts, n_instances, a, b):
    """1/p_j = 1 + C (N_j + b)^-a, C = (ln n - 1) (b + 1)^a >= 0, of labels with N_j of n instances.

    A propensity is how likely a true label was observed (Jain, Prabhu and Varma 2016, section 5).
    """
    c = max(np.log(max(n_instances, 1)) - 1, 0.0) * (b + 1) ** a
    return 1 + c * (np.asarray(counts, np.float64) + b) ** -a


_ALIGNMENT_BYTES = 4096


def copy_to_local_node(dataset, pinning):
    """The same dataset, its training features copied to the job's node if it has room."""
    X = dataset.train.X
    ends = np.cumsum(
        [_ALIGNMENT_BYTES * -(-array.nbytes // _ALIGNMENT_BYTES) for array in X.arrays]
    )
    starts = [0, *ends[:-1].tolist()]

    def arrays_in(memory):
        parts = zip(X.arrays, starts, strict=True)
        return [np.frombuffer(memory, array.dtype, array.size, start) for array, start in parts]

    def fill(memory) -> None:
        with open_artifact(dataset.path, DATASET_KIND) as file:
            for name, array in zip(("data", "indices", "indptr"), arrays_in(memory), strict=True):
                read_into(file[f"train/X/{name}"], array)

    shared = pinning.share(f"{dataset.checksum}-features", int(ends[-1]), fill)
    if shared is None:
        return dataset
    return replace(dataset, train=replace(dataset.train, X=CSR(*arrays_in(shared), X.n_columns)))
