"""The prepare step: from the files of a source to all that the dataset file holds."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.corpus import read_corpus
from ovaflow.data.dataset import EXCERPT, Split, held_out, write_dataset
from ovaflow.data.instances import labels_of, read_instances
from ovaflow.data.label_names import read_label_names, with_label_names
from ovaflow.data.labels import NamedLabels
from ovaflow.data.normalize import fill_rows, is_dense, model_features
from ovaflow.data.readers import npz
from ovaflow.data.readers.sparse_text import read_svmlight, read_xmc_text
from ovaflow.data.tfidf import RECORDED, weigh_counts
from ovaflow.data.tokens import TOKEN_PATTERN
from ovaflow.data.vocabulary import fit_features
from ovaflow.settings.models import TEXT_FORMATS
from ovaflow.sparse.csr import CSR, nonzeros_of_rows, rows_of

_LIMITS = ("min_df", "max_df", "max_features")


class Prepared(NamedTuple):
    """All that the dataset file holds; fields as :func:`ovaflow.data.dataset.write_dataset` takes them."""

    train: Split
    test: Split
    label_names: list
    feature_names: list
    parameters: dict
    idf: np.ndarray | None
    uris: Sequence = ()
    notations: Sequence = ()

    def write(self, path):
        """Write the dataset file."""
        write_dataset(path, *self)

    def summary(self):
        """The dataset in one line."""
        named = self.parameters.get("named_labels", 0)
        n, m = self.train.X.n_rows - named, self.test.X.n_rows
        nnz = int(nonzeros_of_rows(self.train.X)[:n].sum())
        names = f"; {named:,} names of labels as instances" if named else ""
        return (
            f"{n:,} training and {m:,} test instances, {self.train.X.n_columns:,} features, "
            f"{self.train.Y.n_columns:,} labels ({self.train.Y.indptr[n] / n:.1f} per instance), "
            f"{nnz:,} nonzeros in training ({nnz / n:.1f} per instance){names}"
        )


def prepare(source, processes=1, folder=None):
    """A source's instances as features and labels, with their names and what made them: a :class:`Prepared`.

    With a folder for temporary files, features of texts are mapped from there.
    """
    source.require_files()
    if source.format in ("builtin", *TEXT_FORMATS):
        return _prepare_texts(source, processes, folder)
    return _prepare_features(source, source.settings)


def _prepare_texts(source, processes, folder):
    settings, labels = source.settings, labels_of(source)
    instances = read_instances(source, labels)
    fit = partial(fit_features, settings=settings, tfidf=settings.weighs, processes=processes, folder=folder)
    train = read_corpus(instances.train, labels, fit)
    if isinstance(labels, NamedLabels) and source.format not in ("builtin", "annif"):
        labels.check_separator(train.labels, source)
    transform = train.features.transform
    count = partial(transform.features_and_norms, processes=processes, folder=folder)
    test = read_corpus(instances.test, labels, count, EXCERPT)
    names, Y, Y_test, label_counts = labels.matrices(train.labels, test.labels)
    splits = (
        Split(train.features.X, Y, norms=train.features.norms, records=train.records),
        Split(test.features.X, Y_test, test.excerpts, test.features.norms, test.records),
    )
    counts = instances.counts | train.features.counts | label_counts | _counts(*splits, settings.bias)
    if settings.label_names:
        documents, others = splits[0], labels.others
        splits = with_label_names(documents, names, transform, folder, others), splits[1]
        named = splits[0].X.n_rows - documents.X.n_rows
        counts["label_names_without_features"] = len(names) + sum(map(len, others)) - named
    parameters = {
        "format": source.format,
        "tfidf": settings.weighs,
        **{name: getattr(transform, name) for name in RECORDED},
        **{name: getattr(settings, name) for name in _LIMITS},
        "token_pattern": TOKEN_PATTERN,
        "normal_form": "NFKC, case-folded",
        "source": source.provenance() | {"counts": counts},
    }
    if labels.language is not None:
        parameters["language"] = labels.language
    if settings.html and source.format != "builtin":
        parameters["html"] = True
    if settings.label_names:
        parameters["named_labels"] = named
    idf = transform.idf if settings.weighs else None
    return Prepared(*splits, names, transform.feature_names, parameters, idf, labels.uris, labels.notations)


class _Records(NamedTuple):
    """Features and labels of some rows of a file."""

    X: CSR
    Y: CSR
    rows: np.ndarray

    def take(self, positions):
        """Some of the records."""
        return _Records(rows_of(self.X, positions), rows_of(self.Y, positions), self.rows[positions])


def _prepare_features(source, settings):
    """Prepare files of features and label ids, which keep their numbers; dense training rows are stored in full."""
    numbering, train, test = _read_features(source, settings)
    dropped = {}
    if settings.unlabelled == "drop":
        n = len(train.rows) + len(test.rows)
        train, test = (part.take(np.flatnonzero(np.diff(part.Y.indptr))) for part in (train, test))
        dropped = {"instances_without_labels": n - len(train.rows) - len(test.rows)}
    names = _names_of_ids(source, train.Y.n_columns)
    weighting, idf = {"tfidf": settings.weighs}, None
    X, X_test = train.X, test.X
    if settings.weighs:
        weighting["sublinear"] = settings.sublinear
        X, idf = weigh_counts(X, settings.sublinear)
        X_test, _ = weigh_counts(X_test, settings.sublinear, idf)
    splits = [_split(records, weighted, len(names), settings) for records, weighted in ((train, X), (test, X_test))]
    dense = is_dense(splits[0].X)
    parameters = {
        "format": source.format,
        **numbering,
        **weighting,
        "normalize": settings.normalize,
        "bias": settings.bias,
        "dense": dense,
        "source": source.provenance() | {"counts": dropped | _counts(*splits, settings.bias)},
    }
    if dense:
        splits[0] = replace(splits[0], X=fill_rows(splits[0].X))
    return Prepared(*splits, names, [], parameters, idf)


def _split(records, X, n_labels, settings):
    """Weighted features X of records, as models take them, with their labels."""
    X, norms = model_features(X, settings.normalize, settings.bias)
    names = [f"record {row + 1}" for row in records.rows.tolist()]
    return Split(X, records.Y._replace(n_columns=n_labels), norms=norms, records=names)


def _read_features(source, settings):
    """How features are numbered, as far as the format leaves it open, and training and test records."""
    paths, labels_paths = [source.train, source.test], [source.train_labels, source.test_labels]
    if source.test is not None:
        numbering, matrices = _read_files(source.format, paths, labels_paths)
        return numbering, *(_Records(X, Y, np.arange(X.n_rows)) for X, Y in matrices)
    numbering, [(X, Y)] = _read_files(source.format, paths[:1], labels_paths[:1])
    held = held_out(X, settings.test_fraction, settings.seed)
    if held.all():
        raise InputError("no training instances are left", path=source.train, remedy="name a test file")
    records = _Records(X, Y, np.arange(X.n_rows))
    return numbering, records.take(np.flatnonzero(~held)), records.take(np.flatnonzero(held))


def _read_files(format, paths, labels_paths):
    if format == "svmlight":
        first, splits = read_svmlight(paths)
        return {"first_feature": first}, splits
    if format == "npz":
        splits = [npz.read(*pair) for pair in zip(paths, labels_paths, strict=True)]
    else:
        splits = [read_xmc_text(path) for path in paths]
    d = max(X.n_columns for X, _ in splits)
    l = max(Y.n_columns for _, Y in splits)  # noqa: E741
    return {}, [(X._replace(n_columns=d), Y._replace(n_columns=l)) for X, Y in splits]


def _names_of_ids(source, n_labels):
    if source.labels is None:
        return [str(label) for label in range(n_labels)]
    names, _ = read_label_names(source.labels)
    # svmlight does not say how many labels there are
    if len(names) < n_labels or (len(names) > n_labels and source.format != "svmlight"):
        message = f"{len(names)} names for {n_labels} labels"
        raise InputError(message, path=source.labels, remedy="give one line per label, in id order")
    return names


def _counts(train, test, bias):
    """Figures on instances, for the provenance."""
    if len(train.Y.indices) == 0:
        raise InputError(
            f"none of the {train.Y.n_rows:,} training instances has a label",
            remedy="check the settings labels_column and label_separator",
        )
    counts = {}
    for name, split in (("train", train), ("test", test)):
        counts[f"{name}_instances"] = split.X.n_rows
        counts[f"{name}_without_features"] = int(np.count_nonzero(np.diff(split.X.indptr) == (bias != 0)))
        counts[f"{name}_without_labels"] = int(np.count_nonzero(np.diff(split.Y.indptr) == 0))
    return counts
