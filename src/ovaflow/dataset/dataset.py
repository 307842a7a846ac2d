"""The dataset file: train, test and optional dev parts as CSR, names, and the parameters of the
transform that made the features.
"""

import mmap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Self

import h5py
import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.features.columns import ColumnFeatures, count_column_features, select_text_features
from ovaflow.features.normalize import unscale_rows
from ovaflow.features.tokens import Tokens
from ovaflow.machine.pinning import Pinning
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
    """Names of labels, of features (without the bias feature) and inverse document frequencies.

    Labels of a subject vocabulary also have URIs, notations, names in further languages and
    alternative names, which are empty where a subject has none, and groups: ids of labels by URI of
    scheme, collection or type.
    """

    labels: Sequence[str]
    features: Sequence[str]
    idf: np.ndarray | None = None
    uris: Sequence[str] = ()
    notations: Sequence[str] = ()
    translations: dict[str, Sequence[str]] = field(default_factory=dict)  # by language
    # by language, for each label its alternative names, separated by line feeds
    alternatives: dict[str, Sequence[str]] = field(default_factory=dict)
    groups: dict[str, np.ndarray] = field(default_factory=dict)
    above: CSR | None = None  # (l, l): labels above each label, where they are a hierarchy
    # for each label the URIs of the deprecated subjects that it replaces, separated by spaces
    former_uris: Sequence[str] = ()

    @cached_property
    def replaced(self) -> dict[str, int]:
        """Labels by the URIs of the deprecated subjects that they replace."""
        labels = {}
        for label, uris in enumerate(self.former_uris):
            for uri in uris.split():
                labels[uri] = label
        return labels


_FIELDS = {
    "label_names": "labels",
    "feature_names": "features",
    "label_uris": "uris",
    "label_notations": "notations",
    "label_former_uris": "former_uris",
}
"""Fields of :class:`Names` by their names in artifacts."""
_TRANSLATIONS = "label_translations"
_ALTERNATIVES = "label_alternatives"
_GROUPS = "label_groups"
_ABOVE = "labels_above"


def read_names(path: StrPath, kind: str) -> Names:
    """Read the names in an artifact."""
    with open_artifact(path, kind) as file:
        strings = {key: _read_optional_strings(file, name) for name, key in _FIELDS.items()}
        return Names(
            **strings,
            translations=_read_by_language(file, _TRANSLATIONS),
            alternatives=_read_by_language(file, _ALTERNATIVES),
            idf=map_array(file["idf"]) if "idf" in file else None,
            groups=_read_groups(file),
            above=read_csr(file[_ABOVE]) if _ABOVE in file else None,
        )


def _read_optional_strings(file: h5py.Group, name: str) -> Sequence[str]:
    return read_strings(file, name) if name in file else []


def _read_by_language(file: h5py.Group, name: str) -> dict[str, Sequence[str]]:
    return {language: read_strings(file[name], language) for language in file.get(name, ())}


def _read_groups(file: h5py.Group) -> dict[str, np.ndarray]:
    if _GROUPS not in file:
        return {}
    group = file[_GROUPS]
    members = map_array(group["members"])
    indptr = map_array(group["indptr"]).tolist()
    groups = {}
    for number, uri in enumerate(read_strings(group, "uris")):
        groups[uri] = members[indptr[number] : indptr[number + 1]]
    return groups


def write_names(file: h5py.Group, names: Names) -> None:
    """Write names into an artifact; labels always, even if there are none."""
    for name, key in _FIELDS.items():
        strings = getattr(names, key)
        if key == "labels" or len(strings):
            write_strings(file, name, strings)
    if names.idf is not None:
        create_array(file, "idf", np.asarray(names.idf, np.float32))
    for language, translated in names.translations.items():
        write_strings(file.require_group(_TRANSLATIONS), language, translated)
    for language, joined in names.alternatives.items():
        write_strings(file.require_group(_ALTERNATIVES), language, joined)
    if names.above is not None:
        write_csr(file.create_group(_ABOVE), names.above)
    if names.groups:
        group = file.create_group(_GROUPS)
        write_strings(group, "uris", list(names.groups))
        create_array(group, "members", np.concatenate(list(names.groups.values())), dtype=np.int32)
        create_array(group, "indptr", offsets([len(members) for members in names.groups.values()]))


DATASET_KIND = "dataset"
"""Kind of artifact, as its file says."""
EXCERPT_CHARACTERS = 5000
"""Characters of a test text that are kept for the report and the page of errors."""
_PARTS = ("train", "test", "dev")
_INSTANCE_ARRAYS = ("norms", "units", "twins", "weights", "extra")
"""Arrays of a split with one value for each instance or document, in the order of the file."""


@dataclass(frozen=True)
class Split:
    """X (n, d) as the solver sees it, labels Y (n, l) of ones, and what is known of the records."""

    X: CSR
    Y: CSR
    texts: Sequence[str] = field(default_factory=list)
    # float32 (n,): lengths of rows that were scaled to length 1
    norms: np.ndarray | None = None
    # ids, or positions in the file; names of labels that are instances have none
    records: Sequence[str] = field(default_factory=list)
    # int64, of training documents: the first document of each one's unit
    units: np.ndarray | None = None
    # bool (n,): test instances with a near twin in training
    twins: np.ndarray | None = None
    # float32 (n,): weights of the losses; all 1 by default
    weights: np.ndarray | None = None
    # bool (n,): training instances that are never held out
    extra: np.ndarray | None = None
    # of texts, without stop words, if names of labels are searched in them
    tokens: Tokens | None = None

    def take(self, rows: np.ndarray) -> Self:
        """Return some of the instances, without their texts."""
        # names of labels come last and have no record
        records = [self.records[row] for row in rows if row < len(self.records)]
        units = None
        if self.units is not None:
            units = select_units(self.units, rows[rows < len(self.units)])
        return type(self)(
            select_rows(self.X, rows),
            select_rows(self.Y, rows),
            records=records,
            units=units,
            norms=_select(self.norms, rows),
            weights=_select(self.weights, rows),
            extra=_select(self.extra, rows),
            tokens=self.tokens and self.tokens.take(rows),
        )

    def unscale_rows(self, bias: float) -> CSR:
        """Return X before rows were scaled to length 1."""
        if self.norms is None:
            return self.X
        return unscale_rows(self.X, self.norms, bias)


def _select(values: np.ndarray | None, rows: np.ndarray | slice) -> np.ndarray | None:
    return None if values is None else values[rows]


class LazyNames:
    """Base of datasets and models, whose names are in memory or read from the file on demand."""

    kind: ClassVar[str]
    path: Path
    names_in_memory: Names | None

    @cached_property
    def names(self) -> Names:
        """All names."""
        return self.names_in_memory or read_names(self.path, self.kind)

    @property
    def label_names(self) -> Sequence[str]:
        """Names of the labels."""
        return self.names.labels

    @property
    def label_uris(self) -> Sequence[str]:
        """URIs of the labels; empty without a subject vocabulary."""
        return self.names.uris

    @property
    def label_notations(self) -> Sequence[str]:
        """Notations of the labels, some empty; an empty list without a subject vocabulary."""
        return self.names.notations

    @property
    def above(self) -> CSR | None:
        """Labels above each label, CSR (l, l); None if labels are no hierarchy."""
        return self.names.above

    @property
    def feature_names(self) -> Sequence[str]:
        """Names of the features without the bias feature; empty if the source has none."""
        return self.names.features


@dataclass(frozen=True)
class Dataset(LazyNames):
    """An open dataset file, whose matrices are mapped, or a dataset in memory.

    Only a dataset in memory has the test texts in its splits.
    """

    path: Path
    train: Split
    test: Split
    checksum: str
    parameters: dict[str, Any]
    names_in_memory: Names | None = None
    dev: Split | None = None  # for choosing settings
    unknown_subjects: Sequence = ()  # subjects of records that are no labels; only in memory
    kind: ClassVar[str] = DATASET_KIND

    @property
    def parts(self) -> dict[str, Split]:
        """Splits by name: train, test, and dev if there is one."""
        splits = {"train": self.train, "test": self.test}
        if self.dev is not None:
            splits["dev"] = self.dev
        return splits

    @property
    def measured(self) -> dict[str, Split]:
        """Splits for measuring models, by name: test, and dev if there is one."""
        return {name: split for name, split in self.parts.items() if name != "train"}

    @property
    def n_features(self) -> int:
        """Number of columns of X, bias feature included."""
        return self.train.X.n_columns

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.train.Y.n_columns

    @property
    def bias_feature(self) -> int:
        """Column of the bias feature; -1 without one."""
        return self.n_features - 1 if self.parameters.get("bias") else -1

    @property
    def column_descriptions(self) -> dict[str, str]:
        """Values of training records in columns of numbers and categories, in words, by kind;
        empty without such columns.
        """
        columns = ColumnFeatures.from_parameters(self.parameters, self.feature_names)
        if not columns:
            return {}
        return {kind: f"{words} (training)" for kind, words in columns.in_words.items()}

    @property
    def n_text_features(self) -> int:
        """Number of features before those of columns and the bias feature, which come last."""
        n = self.n_features - count_column_features(self.parameters)
        if self.bias_feature >= 0:
            n -= 1
        return n

    @property
    def n_documents(self) -> int:
        """Number of training instances without those that are names of labels, which come last."""
        return self.train.X.n_rows - self.parameters.get("named_labels", 0)

    @property
    def documents(self) -> Self:
        """The same dataset without names of labels among the training instances."""
        n = self.n_documents
        if n == self.train.X.n_rows:
            return self
        train = Split(
            self.train.X.part(0, n),
            self.train.Y.part(0, n),
            units=self.train.units,
            norms=_select(self.train.norms, slice(n)),
            weights=_select(self.train.weights, slice(n)),
            extra=_select(self.train.extra, slice(n)),
            tokens=self.train.tokens and self.train.tokens.part(0, n),
        )
        return replace(self, train=train, parameters=self.parameters | {"named_labels": 0})

    @cached_property
    def units(self) -> np.ndarray:
        """First training document of each one's unit, whose documents no split separates: int64
        (n,).
        """
        if self.train.units is not None:
            return self.train.units
        X, bias_feature = self.text_features
        return find_feature_units(X, bias_feature, split=self.parameters.get("split", "together"))

    @property
    def text_features(self) -> tuple[CSR, int]:
        """Features of the training documents without those of columns, CSR (n, d), and the bias
        feature or -1.
        """
        X = select_text_features(self.train.X.part(0, self.n_documents), self.parameters)
        return X, X.n_columns - 1 if self.bias_feature >= 0 else -1

    @property
    def extra_documents(self) -> np.ndarray:
        """Mask of the training documents that are extra instances, which are never tested: bool
        (n,).
        """
        if self.train.extra is None:
            return np.zeros(self.n_documents, bool)
        return self.train.extra[: self.n_documents]

    @property
    def instance_weights(self) -> np.ndarray:
        """Weights of the losses of training instances: float32 (n,)."""
        if self.train.weights is None:
            return np.ones(self.train.X.n_rows, np.float32)
        return self.train.weights

    def require_equal_weights(self, method: str) -> None:
        """Refuse weights of training instances, which only one-vs-all models take."""
        if (self.instance_weights != 1).any():
            message = f"has records of other weights than 1, which {method} does not take"
            remedy = "leave out weight_column, and give the extra files the weight 1"
            raise InputError(message, path=self.path, remedy=remedy)

    @cached_property
    def counts(self) -> np.ndarray:
        """Training positives of each label, without names of labels: int64 (l,)."""
        Y = self.train.Y
        return np.bincount(Y.indices[: Y.indptr[self.n_documents]], minlength=self.n_labels)

    def label_counts(self) -> tuple[Counter[str], int]:
        """Count the records of each label, by name, and all records."""
        counts = self.counts
        n = self.n_documents
        for split in self.measured.values():
            counts = counts + np.bincount(split.Y.indices, minlength=self.n_labels)
            n += split.Y.n_rows
        return Counter(dict(zip(self.label_names, counts.tolist(), strict=True))), n

    def summary(self) -> str:
        """Describe the sizes in one line."""
        n = self.n_documents
        X = self.train.X
        nnz = int(count_row_nonzeros(X)[:n].sum())
        dev = ""
        if self.dev is not None:
            dev = f", {self.dev.X.n_rows:,} dev"
        named = ""
        if X.n_rows > n:
            named = f"; {X.n_rows - n:,} names of labels as instances"
        return (
            f"{n:,} training{dev} and {self.test.X.n_rows:,} test instances, "
            f"{X.n_columns:,} features, "
            f"{self.n_labels:,} labels ({self.train.Y.indptr[n] / n:.1f} per instance), "
            f"{nnz:,} nonzeros in training ({nnz / n:.1f} per instance){named}"
        )

    def write(self, path: StrPath) -> None:
        """Write the dataset file; parameters are all that shaped it, ``source`` included."""
        with create_artifact(path, DATASET_KIND, self.parameters) as file:
            for name, split in self.parts.items():
                _write_split(file, name, split)
            write_names(file, self.names)
            if self.test.texts:
                excerpts = [text[:EXCERPT_CHARACTERS] for text in self.test.texts]
                write_strings(file, "test_texts", excerpts)

    def inverse_propensity(self, a: float, b: float) -> np.ndarray:
        """Compute the inverse propensity of each label: float64 (l,)."""
        return compute_inverse_propensity(self.counts, self.n_documents, a, b)

    @cached_property
    def positives(self) -> CSR:
        """Training instances of each label: CSR (l, n)."""
        return transpose(self.train.Y)

    def test_texts(self, rows: Sequence[int] | None = None) -> list[str]:
        """Return the beginnings of test texts, all or some; empty if the source had features
        instead of texts.
        """
        with open_artifact(self.path, DATASET_KIND) as file:
            texts = _read_optional_strings(file, "test_texts")
        if rows is None or not texts:
            return list(texts)
        return [texts[row] for row in rows]

    def records(self, part: str, rows: Sequence[int]) -> list[str]:
        """Return the names of some instances of a part, such as ``"test"``, in their file; empty
        where unknown.
        """
        with open_artifact(self.path, DATASET_KIND) as file:
            records = _read_optional_strings(file, f"{part}_records")
        if not records:
            return [""] * len(rows)
        return [records[row] for row in rows]

    def ids(self, part: str) -> list[str]:
        """Return the ids of the instances of a part: ``line 3``, or ``train line 3`` if another
        part has it, too.
        """
        ids = {}
        for name, split in self.parts.items():
            amount = self.n_documents if name == "train" else split.X.n_rows
            ids[name] = self.records(name, range(amount))
        for some, others in combinations(ids.values(), 2):
            if set(some) & set(others) - {""}:
                return [f"{part} {record}" for record in ids[part]]
        return ids[part]

    def label_name(self, label: int) -> str:
        """Return the name of a label for people, such as ``label 17`` if the source has none."""
        names = self.label_names
        if len(names) and names[label].strip():
            return names[label]
        return f"label {label}"

    def heaviest_features(self, part: str, row: int, amount: int) -> list[str]:
        """Return the names of the largest features of an instance of ``"train"`` or ``"test"``, as
        far as they have names.
        """
        x = getattr(self, part).X.part(row, row + 1)
        names = self.feature_names
        named = x.indices < len(names)
        order = np.argsort(-np.abs(x.data[named]), kind="stable")[:amount]
        return [names[feature] for feature in x.indices[named][order]]


def write_dataset(
    path: StrPath,
    train: Split,
    test: Split,
    label_names: Sequence[str],
    feature_names: Sequence[str],
    parameters: dict[str, Any],
) -> None:
    """Write a dataset file of its parts."""
    names = Names(label_names, feature_names)
    Dataset(Path(path), train, test, "", parameters, names).write(path)


def open_dataset(path: StrPath) -> Dataset:
    """Open a dataset file; its matrices are mapped."""
    with open_artifact(path, DATASET_KIND) as file:
        splits = {name: _read_split(file[name]) for name in _PARTS if name in file}
        return Dataset(
            Path(path),
            train=splits["train"],
            test=splits["test"],
            dev=splits.get("dev"),
            checksum=read_checksum(file),
            parameters=read_parameters(file),
        )


def _write_split(file: h5py.File, name: str, split: Split) -> None:
    write_csr(file.create_group(f"{name}/X"), split.X)
    write_csr(file.create_group(f"{name}/Y"), split.Y)
    for key in _INSTANCE_ARRAYS:
        values = getattr(split, key)
        if key == "norms" and values is not None:
            # a length in float64 may exceed float32
            values = np.minimum(values, np.finfo(np.float32).max).astype(np.float32)
        if values is not None:
            create_array(file, f"{name}/{key}", values)
    if split.tokens is not None:
        _write_tokens(file.create_group(f"{name}/tokens"), split.tokens)
    if any(split.records):
        write_strings(file, f"{name}_records", split.records)


def _read_split(group: h5py.Group) -> Split:
    arrays: dict[str, Any] = {}
    for key in _INSTANCE_ARRAYS:
        if key in group:
            arrays[key] = map_array(group[key])
    tokens = _read_tokens(group["tokens"]) if "tokens" in group else None
    return Split(read_csr(group["X"]), read_csr(group["Y"]), tokens=tokens, **arrays)


def _write_tokens(group: h5py.Group, tokens: Tokens) -> None:
    write_strings(group, "words", [word or "" for word in tokens.words])
    for name in ("ids", "indptr", "fields"):
        create_array(group, name, getattr(tokens, name))


def _read_tokens(group: h5py.Group) -> Tokens:
    return Tokens(
        words=read_strings(group, "words"),
        ids=map_array(group["ids"]),
        indptr=map_array(group["indptr"]),
        fields=map_array(group["fields"]),
    )


def count_without_known_labels(Y: CSR, positives: np.ndarray, left_out: int = 0) -> tuple[int, int]:
    """Count instances without any label, and instances with only labels that have no training
    positives.

    Parameters
    ----------
    Y : CSR (n, l)
        Labels of the instances.
    positives : int64 (l,)
        Number of training positives of each label.
    left_out : int
        Number of instances whose labels are all missing in Y, since no training instance has them.

    Returns
    -------
    tuple of int
        Both numbers.
    """
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    known = len(np.unique(rows[positives[Y.indices] > 0]))
    unlabelled = int(np.count_nonzero(np.diff(Y.indptr) == 0)) - left_out
    return unlabelled, Y.n_rows - known - unlabelled


def compute_inverse_propensity(
    counts: np.ndarray, n_instances: int, a: float, b: float
) -> np.ndarray:
    """Compute 1/p_j = 1 + C (N_j + b)^-a, C = (ln n - 1) (b + 1)^a >= 0, of labels with N_j of n
    instances.

    A propensity is the probability that a true label was observed (Jain, Prabhu and Varma 2016,
    section 5).
    """
    c = max(np.log(max(n_instances, 1)) - 1, 0.0) * (b + 1) ** a
    return 1 + c * (np.asarray(counts, np.float64) + b) ** -a


_ALIGNMENT_BYTES = 4096
"""Arrays in shared memory begin at multiples of a page."""
_CSR_ARRAYS = ("data", "indices", "indptr")


def copy_to_local_node(dataset: Dataset, pinning: Pinning) -> Dataset:
    """Return the same dataset with its training features copied to the memory of the job's node, if
    they fit there.
    """
    X = dataset.train.X
    starts = {}
    size = 0
    for name in _CSR_ARRAYS:
        starts[name] = size
        pages = -(-getattr(X, name).nbytes // _ALIGNMENT_BYTES)
        size += pages * _ALIGNMENT_BYTES

    def view_arrays(memory: mmap.mmap) -> dict[str, np.ndarray]:
        arrays = {}
        for name, start in starts.items():
            array = getattr(X, name)
            arrays[name] = np.frombuffer(memory, array.dtype, array.size, start)
        return arrays

    def fill(memory: mmap.mmap) -> None:
        with open_artifact(dataset.path, DATASET_KIND) as file:
            for name, array in view_arrays(memory).items():
                read_into(file[f"train/X/{name}"], array)

    shared = pinning.share(f"{dataset.checksum}-features", size, fill)
    if shared is None:
        return dataset
    local = CSR(**view_arrays(shared), n_columns=X.n_columns)
    return replace(dataset, train=replace(dataset.train, X=local))
