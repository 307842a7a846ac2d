"""The prepare step: from the files of a source to the content of the dataset file."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import (
    EXCERPT_CHARACTERS,
    Dataset,
    Names,
    Split,
    count_without_known_labels,
)
from ovaflow.dataset.vectors import read_vectors
from ovaflow.features.columns import select_text_features
from ovaflow.features.label_names import append_label_names, find_names_of_symbols
from ovaflow.features.normalize import is_dense, make_model_features, store_zeros
from ovaflow.features.tfidf import TfIdf, apply_tfidf_to_counts
from ovaflow.features.tokens import PLAIN, remove_words
from ovaflow.features.vocabulary import FittedFeatures, fit_tokens, transform_in_parts
from ovaflow.labels.choice import LabelFinder, drop_labels, expand_entries
from ovaflow.labels.lists import LabelLists
from ovaflow.labels.matrix import (
    LabelMatrices,
    Labels,
    count_labels_from_zero,
    make_labels,
    read_names_by_id,
)
from ovaflow.labels.separators import SeparatorDoubt
from ovaflow.reading.declared_sizes import require_plausible_size
from ovaflow.reading.formats import FORMATS
from ovaflow.records.collected import CollectedRecords
from ovaflow.records.near_twins import find_near_twins
from ovaflow.records.parts import InstanceParts, read_parts
from ovaflow.records.source import SourceFiles
from ovaflow.records.splitting import split_rows
from ovaflow.records.units import find_feature_units, number_copies
from ovaflow.settings.prepare import PrepareSource, resolve_blocks
from ovaflow.settings.section import as_list
from ovaflow.sparse.csr import CSR

_FEWEST_FEATURES_OF_COPIES = 3
"""Rows of one or two ready-made features are equal by chance, on delicious in a fifth of the test
set.
"""
_MAX_SEARCHED_TEXTS = 5000
"""Texts in which names without a plain word are looked for: all of them would take 3 % of the time.
"""
_MAX_LISTED_NAMES = 5
"""Names of labels that a remark lists."""
_PATH_IN_MEMORY = Path("prepared")
_VOCABULARY_LIMITS = ("min_df", "max_df", "max_features")


def prepare(source: SourceFiles, threads: int = 1, folder: Path | None = None) -> Dataset:
    """Prepare a source as a :class:`Dataset` in memory; with a folder, features of texts are mapped
    from there.
    """
    source.require_files()
    if source.settings.has_texts:
        return _prepare_texts(source, threads, folder)
    return _prepare_features(source)


class _ReadTexts(NamedTuple):
    """Records of texts and their labels, and the features that were fitted to them."""

    source: SourceFiles
    labels: Labels
    records: InstanceParts
    fitted: FittedFeatures
    threads: int
    folder: Path | None  # of mapped features


def _prepare_texts(source: SourceFiles, threads: int, folder: Path | None) -> Dataset:
    labels = make_labels(source)
    records = read_parts(source, labels, threads, folder, EXCERPT_CHARACTERS)
    _require_separator(source, records.doubt)
    fitted = _fit_features(source, labels, records.train, threads, folder)
    read = _ReadTexts(source, labels, records, fitted, threads, folder)
    matrices = labels.matrices(records.train.labels, records.test.labels)
    parts, dev_counts = _make_parts(read, matrices)
    counts = dict(records.counts) | fitted.counts | matrices.counts | dev_counts
    if labels.choice is not None:
        counts["labels_left_out"] = labels.choice.n_left_out()
    train = parts["train"]
    named = {}
    if source.settings.label_names:
        train = _append_names(read, train, matrices.names)
        named["named_labels"] = train.X.n_rows - parts["train"].X.n_rows
        n_names = _count_names(labels.select_learnt_names(matrices.names), labels.others)
        counts["label_names_without_features"] = n_names - named["named_labels"]
    if source.settings.words == PLAIN:
        # of all texts only the beginnings of test texts are kept
        counts |= _count_names_of_symbols(matrices.names, records.test.excerpts)
    if records.doubt is not None:
        counts["doubt_about_labels"] = str(records.doubt)
    transform = fitted.transform
    _require_labels(parts["train"], source.format, counts)
    counts |= _count_instances(parts, transform.parameters, counts)
    features, idf = transform.all_features
    return Dataset(
        path=_PATH_IN_MEMORY,
        train=train,
        test=parts["test"],
        dev=parts.get("dev"),
        checksum="",
        parameters=_make_text_parameters(source, labels, records.train, transform, counts, named),
        names_in_memory=Names(
            matrices.names,
            features,
            idf if source.settings.uses_tfidf else None,
            **labels.described,
        ),
        unknown_subjects=labels.unknown_subjects(records.train.labels, records.test.labels),
    )


def _make_parts(
    read: _ReadTexts, matrices: LabelMatrices
) -> tuple[dict[str, Split], dict[str, int]]:
    """Make training, test and perhaps dev part, and count the labels of the dev part."""
    records = read.records
    train = _make_training_split(records.train, read.fitted, matrices.train)
    test = _mark_twins(
        _make_test_split(read, records.test, matrices.test),
        train,
        records.test.word_sets,
        records.train.word_sets,
        read.fitted.transform.parameters,
    )
    parts = {"train": train, "test": test}
    if records.dev is None:
        return parts, {}
    of_dev = read.labels.matrices(records.train.labels, records.dev.labels)
    parts["dev"] = _make_test_split(read, records.dev, of_dev.test)
    # the label matrix counts them as those of a test set
    n_unknown = of_dev.counts.get("test_with_unknown_labels_only", 0)
    return parts, {"dev_with_unknown_labels_only": n_unknown}


def _append_names(read: _ReadTexts, documents: Split, names: Sequence[str]) -> Split:
    """Append names of labels to the training documents."""
    transform = read.fitted.transform
    labels = read.labels
    tokens = remove_words(read.records.train.tokens, frozenset(transform.left_out))
    return append_label_names(
        replace(documents, tokens=tokens),
        labels.select_learnt_names(names),
        transform,
        read.folder,
        labels.others,
    )


def _require_separator(source: SourceFiles, doubt: SeparatorDoubt | None) -> None:
    """Refuse a separator of labels that is surely another one."""
    if doubt is not None and doubt.is_sure:
        message = f"label_separator is {source.label_separator!r}, but {doubt}"
        raise InputError(message, path=source.train_name, remedy=f"set {doubt.setting}")


def _fit_features(
    source: SourceFiles,
    labels: Labels,
    train: CollectedRecords,
    threads: int,
    folder: Path | None,
) -> FittedFeatures:
    """Fit the transform of texts to the training records."""
    settings = source.settings
    blocks = resolve_blocks(as_list(settings.features), has_vocabulary=source.has_vocabulary)
    return fit_tokens(
        train.tokens,
        settings.model_copy(update={"features": blocks}),
        partial(labels.names_in, train.labels),
        tfidf=settings.uses_tfidf,
        threads=threads,
        folder=folder,
        beside=train.feature_values,
    )


def _make_training_split(records: CollectedRecords, fitted: FittedFeatures, Y: CSR) -> Split:
    """Make the split of the training documents, with weights if any of them weighs otherwise."""
    split = Split(fitted.X, Y, norms=fitted.norms, records=records.names, units=records.units)
    weights = records.column("weight")
    has_extra = records.extra.any()
    if has_extra or (weights != 1).any():
        split = replace(split, extra=records.extra if has_extra else None, weights=weights)
    return split


def _make_test_split(read: _ReadTexts, records: CollectedRecords, Y: CSR) -> Split:
    """Make the split of test or dev records, with tokens if names of labels are used."""
    transform = read.fitted.transform
    X, norms = transform_in_parts(
        transform, records.tokens, read.threads, read.folder, records.feature_values
    )
    tokens = None
    if read.source.settings.label_names:
        kept = remove_words(records.tokens, frozenset(transform.left_out))
        tokens = kept.drop_unused_words()
    return Split(X, Y, list(records.excerpts), norms, records.names, tokens=tokens)


def _mark_twins(
    test: Split,
    train: Split,
    test_numbers: np.ndarray,
    train_numbers: np.ndarray,
    parameters: dict[str, Any],
) -> Split:
    """Mark the test instances that have a near twin in training.

    Parameters
    ----------
    test, train : Split
        Instances with their features.
    test_numbers, train_numbers : int64 (n,)
        Numbers that instances of the same words or features have in common; -1 for none.
    parameters : dict
        Parameters of the features, which tell those of words from those of columns.
    """
    twins = np.isin(test_numbers, train_numbers[train_numbers >= 0])
    if not is_dense(train.X):
        twins |= find_near_twins(
            select_text_features(test.X, parameters), select_text_features(train.X, parameters)
        )
    return replace(test, twins=twins)


def _count_names(names: Iterable[str], others: Sequence[Sequence[str]]) -> int:
    """Count names of labels that are not empty, and their other names."""
    n_names = sum(1 for name in names if name)
    return n_names + sum(len(each) for each in others)


def _count_names_of_symbols(names: Sequence[str], texts: Iterable[str]) -> dict[str, Any]:
    """Count the names of labels that are in texts, but have no plain word, and list some."""
    found = find_names_of_symbols(names, islice(texts, _MAX_SEARCHED_TEXTS))
    if not found:
        return {}
    listed = ", ".join(found[:_MAX_LISTED_NAMES])
    return {"names_of_symbols": len(found), "names_of_symbols_such_as": listed}


def _make_text_parameters(
    source: SourceFiles,
    labels: Labels,
    train: CollectedRecords,
    transform: TfIdf,
    counts: dict[str, Any],
    named: dict[str, int],
) -> dict[str, Any]:
    """Describe how texts were read and made into features, for the dataset file."""
    settings = source.settings
    parameters = {
        "format": source.format,
        "tfidf": settings.uses_tfidf,
        **transform.parameters,
        **{name: getattr(settings, name) for name in _VOCABULARY_LIMITS},
        "source": source.provenance() | {"counts": counts},
    }
    if labels.language is not None:
        parameters["language"] = labels.language
    if settings.hierarchy:
        parameters["hierarchy"] = settings.hierarchy
    if settings.html and source.format != "builtin":
        parameters["html"] = True
    parameters |= named
    # parts that later steps hold out are divided in the same way
    if settings.split == "random" and source.format != "builtin":
        parameters["split"] = "random"
    if (train.column("group") >= 0).any():
        parameters["group_column"] = settings.group_column
    return parameters


class _FeatureRecords(NamedTuple):
    """Training and test instances of ready-made features."""

    train: Split
    test: Split
    label_names: Sequence[str]
    numbering: dict[str, Any]  # how features are numbered, if the format leaves it open
    counts: dict[str, int]  # figures of the division


def _prepare_features(source: SourceFiles) -> Dataset:
    """Prepare files of features and label ids, which keep their numbers.

    Dense training rows are stored in full.
    """
    settings = source.settings
    records = _choose_labels(_read_feature_records(source), settings)
    train = records.train
    test = records.test
    test_copies = number_copies(test.X, fewest=_FEWEST_FEATURES_OF_COPIES)
    train_copies = number_copies(train.X, fewest=_FEWEST_FEATURES_OF_COPIES)
    weighting = {"tfidf": settings.uses_tfidf}
    idf = None
    if settings.uses_tfidf:
        weighting["sublinear"] = settings.sublinear
        X, idf = apply_tfidf_to_counts(train.X, sublinear=settings.sublinear)
        X_test, _ = apply_tfidf_to_counts(test.X, idf, sublinear=settings.sublinear)
        train = replace(train, X=X)
        test = replace(test, X=X_test)
    train = _scale_rows(train, settings)
    test = _scale_rows(test, settings)
    dense = is_dense(train.X)
    if not dense:
        test = _mark_twins(test, train, test_copies, train_copies, {})
    _require_labels(train, source.format, {})
    counts = records.counts | _count_instances(
        {"train": train, "test": test}, {"bias": settings.bias}, {}
    )
    parameters = {
        "format": source.format,
        **records.numbering,
        **weighting,
        "normalize": settings.normalize,
        "bias": settings.bias,
        "dense": dense,
        "source": source.provenance() | {"counts": counts},
    }
    if settings.split == "random":
        parameters["split"] = "random"
    if dense:
        train = replace(train, X=store_zeros(train.X))
    names = Names(records.label_names, [], idf)
    return Dataset(_PATH_IN_MEMORY, train, test, "", parameters, names)


def _scale_rows(split: Split, settings: PrepareSource) -> Split:
    """Scale rows to length 1 and append the bias feature, as the settings say."""
    X, norms = make_model_features(split.X, settings.bias, normalize=settings.normalize)
    return replace(split, X=X, norms=norms)


def _choose_labels(records: _FeatureRecords, settings: PrepareSource) -> _FeatureRecords:
    """Leave out labels by ``include`` and ``exclude``, and unlabelled instances if wanted."""
    train = records.train
    test = records.test
    counts = dict(records.counts)
    include = expand_entries(settings.include)
    exclude = expand_entries(settings.exclude)
    if include or exclude:
        allowed = LabelFinder(records.label_names).allowed(include, exclude)
        left_out = 0
        for split in (train, test):
            left_out += int(np.count_nonzero(~allowed[split.Y.indices]))
        train = replace(train, Y=drop_labels(train.Y, allowed))
        test = replace(test, Y=drop_labels(test.Y, allowed))
        counts["labels_left_out"] = int(np.count_nonzero(~allowed))
        counts["labels_of_instances_left_out"] = left_out
    if settings.unlabelled == "drop":
        n = train.X.n_rows + test.X.n_rows
        train = train.take(np.flatnonzero(np.diff(train.Y.indptr)))
        test = test.take(np.flatnonzero(np.diff(test.Y.indptr)))
        counts["instances_without_labels"] = n - train.X.n_rows - test.X.n_rows
    return records._replace(train=train, test=test, counts=counts)


def _read_feature_records(source: SourceFiles) -> _FeatureRecords:
    """Read instances of ready-made features; without a test file, some are set aside."""
    roles = ("train",) if source.test is None else ("train", "test")
    numbering: dict[str, Any] = {}
    counts: dict[str, int] = {}
    labels = None
    if source.settings.vector_column:
        labels = make_labels(source)
        parts = [read_vectors(source, labels, role) for role in roles]
    else:
        numbering, names, parts = _read_matrices(source, roles)
    train = parts[0]
    units = find_feature_units(train.X, split=source.settings.split)
    train = replace(train, units=units)
    if source.test is None:
        in_train, in_test, counts, _ = split_rows(train.X, train.Y, units, source.settings)
        test = train.take(np.flatnonzero(in_test))
        test = replace(test, weights=None, units=None)
        train = train.take(np.flatnonzero(in_train))
    else:
        test = parts[1]
    if labels is not None:
        _require_equal_lengths(source, train, test)
        names, Y, Y_test, _ = labels.matrices(
            LabelLists.from_arrays(train.Y.indices, train.Y.indptr),
            LabelLists.from_arrays(test.Y.indices, test.Y.indptr),
        )
        train = replace(train, Y=Y)
        test = replace(test, Y=Y_test)
    return _FeatureRecords(train, test, names, numbering, counts)


def _require_equal_lengths(source: SourceFiles, train: Split, test: Split) -> None:
    """Refuse test vectors of another length than those of training."""
    length = train.X.n_columns
    test_length = test.X.n_columns
    if length != test_length:
        path = ", ".join(str(each) for each in as_list(source.test))
        message = f"vectors of {test_length} numbers, those of training have {length}"
        raise InputError(message, path=path, remedy="give vectors of the same model")


def _read_matrices(
    source: SourceFiles, roles: Sequence[str]
) -> tuple[dict[str, Any], Sequence[str], list[Split]]:
    """Read files of features and label ids: numbering of features, label names, and splits."""
    paths = [getattr(source, role) for role in roles]
    labels_paths = [getattr(source, f"{role}_labels") for role in roles]
    numbering, matrices = FORMATS[source.format].read(paths, labels_paths)
    first = source.settings.first_label
    matrices = [(X, count_labels_from_zero(Y, first, source.train_name)) for X, Y in matrices]
    names = read_names_by_id(source, max(Y.n_columns for _, Y in matrices))
    d = max(X.n_columns for X, _ in matrices)
    n_entries = sum(len(X.data) for X, _ in matrices)
    require_plausible_size(d, "features", n_entries, source.train_name)
    parts = []
    for X, Y in matrices:
        records = [f"record {number}" for number in range(1, X.n_rows + 1)]
        parts.append(
            Split(X._replace(n_columns=d), Y._replace(n_columns=len(names)), records=records)
        )
    return numbering, names, parts


def _count_instances(
    parts: dict[str, Split], parameters: dict[str, Any], label_counts: dict[str, Any]
) -> dict[str, int]:
    """Count the instances of each part, and those without features or known labels.

    Parameters
    ----------
    parts : dict
        Splits by name: train, test and perhaps dev.
    parameters : dict
        Parameters of the features, ``bias`` included.
    label_counts : dict
        Figures of reading the labels.
    """
    train = parts["train"]
    counts = {}
    positives = np.bincount(train.Y.indices, minlength=train.Y.n_columns)
    # a row without features has only the bias feature
    n_bias_features = 1 if parameters["bias"] != 0 else 0
    for name, split in parts.items():
        left_out = label_counts.get(f"{name}_with_unknown_labels_only", 0)
        unlabelled, unseen = count_without_known_labels(split.Y, positives, left_out)
        n_features = np.diff(select_text_features(split.X, parameters).indptr)
        counts[f"{name}_instances"] = split.X.n_rows
        counts[f"{name}_without_features"] = int(np.count_nonzero(n_features == n_bias_features))
        counts[f"{name}_without_labels"] = unlabelled
        counts[f"{name}_with_unseen_labels_only"] = unseen
    twins = parts["test"].twins
    if twins is not None:
        counts["test_with_near_twin"] = int(np.count_nonzero(twins))
    return counts


def _require_labels(train: Split, format: str, label_counts: dict[str, Any]) -> None:
    """Refuse training instances of which none has a label."""
    if len(train.Y.indices):
        return
    message = f"none of the {train.Y.n_rows:,} training instances has a label"
    remedy = "check the labels in the file"
    if format in FORMATS and FORMATS[format].label_settings:
        remedy = f"check the settings {' and '.join(FORMATS[format].label_settings)}"
    respelled = label_counts.get("respelled_subjects_such_as")
    if respelled:
        message += f" of the vocabulary; only http or https or a final slash differs: {respelled}"
        remedy = (
            "write the URIs of the records as in the vocabulary, or set label_map to a file of two "
            "columns, the URIs of records and those of the vocabulary"
        )
    elif label_counts.get("train_with_unknown_labels_only"):
        message += " of the vocabulary, by URI or name"
        remedy += "; labels that are numbers get their names from labels: FILE, without vocabulary"
    raise InputError(message, remedy=remedy)
