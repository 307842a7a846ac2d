"""The prepare step: from the files of a source to all that the dataset file holds."""

from dataclasses import replace
from functools import partial
from pathlib import Path

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
from ovaflow.features.label_names import append_label_names
from ovaflow.features.normalize import is_dense, make_model_features, store_zeros
from ovaflow.features.tfidf import apply_tfidf_to_counts
from ovaflow.features.tokens import remove_words
from ovaflow.features.vocabulary import fit_tokens, transform_in_parts
from ovaflow.labels.choice import LabelFinder, drop_labels, expand_entries
from ovaflow.labels.lists import LabelLists
from ovaflow.labels.matrix import make_labels, read_names_by_id
from ovaflow.reading.declared_sizes import require_plausible_size
from ovaflow.reading.formats import FORMATS
from ovaflow.records.near_twins import find_near_twins
from ovaflow.records.parts import read_parts
from ovaflow.records.splitting import split_rows
from ovaflow.records.units import find_feature_units, number_copies
from ovaflow.settings.prepare import resolve_blocks

_FEWEST = 3
"""Ready-made features of a copy: rows of one or two are alike by chance, on delicious in a fifth of
the test set.
"""
_IN_MEMORY = Path("prepared")
_LIMITS = ("min_df", "max_df", "max_features")


def prepare(source, threads=1, folder=None):
    """A source as a :class:`Dataset` in memory; with a folder, features of texts are mapped from
    there.
    """
    source.require_files()
    if source.settings.has_texts:
        return _prepare_texts(source, threads, folder)
    return _prepare_features(source, source.settings)


def _prepare_texts(source, threads, folder):
    settings = source.settings
    labels = make_labels(source)
    train, test, read, doubt, dev = read_parts(source, labels, threads, folder, EXCERPT_CHARACTERS)
    if doubt is not None and doubt.is_sure:
        message = f"label_separator is {settings.label_separator!r}, but {doubt}"
        raise InputError(message, path=source.train_name, remedy=f"set {doubt.setting}")
    of_labels = partial(labels.names_in, train.labels)
    blocks = resolve_blocks(settings.features, source.has_vocabulary)
    chosen = settings.model_copy(update={"features": blocks})
    fitted = fit_tokens(
        train.tokens, chosen, of_labels, settings.uses_tfidf, threads, folder, train.beside
    )
    transform = fitted.transform
    left_out = frozenset(transform.left_out)

    def measured(records, Y):
        X, norms = transform_in_parts(transform, records.tokens, threads, folder, records.beside)
        tokens = (
            remove_words(records.tokens, left_out).drop_unused_words()
            if settings.label_names
            else None
        )
        return Split(X, Y, list(records.excerpts), norms, records.names, tokens=tokens)

    names, Y, Y_test, label_counts = labels.matrices(train.labels, test.labels)
    split = Split(fitted.X, Y, norms=fitted.norms, records=train.names, units=train.units)
    weights = train.column("weight")
    if train.extra.any() or (weights != 1).any():
        split = replace(split, extra=train.extra if train.extra.any() else None, weights=weights)
    test_split = _with_twins(
        measured(test, Y_test), split, test.word_sets, train.word_sets, transform.parameters
    )
    parts = {"test": test_split}
    if dev is not None:
        _, _, Y_dev, of_dev = labels.matrices(train.labels, dev.labels)
        label_counts["dev_with_unknown_labels_only"] = of_dev.get(
            "test_with_unknown_labels_only", 0
        )
        parts["dev"] = measured(dev, Y_dev)
    counts = dict(read) | fitted.counts | label_counts
    if labels.choice is not None:
        counts["labels_left_out"] = labels.choice.n_left_out()
    training = split
    named = {}
    if settings.label_names:
        split = replace(split, tokens=remove_words(train.tokens, left_out))
        learnt = labels.select_learnt_names(names)
        training = append_label_names(split, learnt, transform, folder, labels.others)
        named["named_labels"] = training.X.n_rows - split.X.n_rows
        amount = sum(map(bool, learnt)) + sum(map(len, labels.others))
        counts["label_names_without_features"] = amount - named["named_labels"]
    if doubt is not None:
        counts["doubt_about_labels"] = str(doubt)
    counts |= _counts({"train": split, **parts}, transform.parameters, counts)
    parameters = _parameters_of_texts(source, labels, train, transform, counts, named)
    features, idf = transform.all_features
    names = Names(names, features, idf if settings.uses_tfidf else None, **labels.described)
    unknown = labels.unknown_subjects(train.labels, test.labels)
    described = {"names_in_memory": names, "unknown_subjects": unknown}
    return Dataset(_IN_MEMORY, training, **parts, checksum="", parameters=parameters, **described)


def _parameters_of_texts(source, labels, train, transform, counts, named):
    """How texts were read and made into features, for the dataset file."""
    settings = source.settings
    parameters = {
        "format": source.format,
        "tfidf": settings.uses_tfidf,
        **transform.parameters,
        **{name: getattr(settings, name) for name in _LIMITS},
        "source": source.provenance() | {"counts": counts},
    }
    if labels.language is not None:
        parameters["language"] = labels.language
    if settings.hierarchy:
        parameters["hierarchy"] = settings.hierarchy
    if settings.html and source.format != "builtin":
        parameters["html"] = True
    parameters |= named
    # parts that later steps hold out are divided likewise
    if settings.split == "random" and source.format != "builtin":
        parameters["split"] = "random"
    if (train.column("group") >= 0).any():
        parameters["group_column"] = settings.group_column
    return parameters


def _with_twins(test, train, copies, others, parameters=None):
    """Test instances, marked if a training instance has the same number, or else is a near twin, in
    their words.
    """
    twins = np.isin(copies, others[others >= 0])
    if not is_dense(train.X):
        words, words_of_training = (
            select_text_features(each.X, parameters or {}) for each in (test, train)
        )
        twins |= find_near_twins(words, words_of_training)
    return replace(test, twins=twins)


def _prepare_features(source, settings):
    """Prepare files of features and label ids, which keep their numbers; dense training rows are
    stored in full.
    """
    numbering, names, train, test, counts = _read_records(source)
    include = expand_entries(settings.include)
    exclude = expand_entries(settings.exclude)
    if include or exclude:
        allowed = LabelFinder(names).allowed(include, exclude)
        left_out = sum(np.count_nonzero(~allowed[part.Y.indices]) for part in (train, test))
        train, test = (replace(part, Y=drop_labels(part.Y, allowed)) for part in (train, test))
        counts["labels_left_out"] = int(np.count_nonzero(~allowed))
        counts["labels_of_instances_left_out"] = int(left_out)
    if settings.unlabelled == "drop":
        n = train.X.n_rows + test.X.n_rows
        train, test = (part.take(np.flatnonzero(np.diff(part.Y.indptr))) for part in (train, test))
        counts["instances_without_labels"] = n - train.X.n_rows - test.X.n_rows
    weighting = {"tfidf": settings.uses_tfidf}
    idf = None
    X = train.X
    X_test = test.X
    copies, others = (number_copies(each, fewest=_FEWEST) for each in (X_test, X))
    if settings.uses_tfidf:
        weighting["sublinear"] = settings.sublinear
        X, idf = apply_tfidf_to_counts(X, settings.sublinear)
        X_test, _ = apply_tfidf_to_counts(X_test, settings.sublinear, idf)
    splits = []
    for part, weighted in ((train, X), (test, X_test)):
        features, norms = make_model_features(weighted, settings.normalize, settings.bias)
        splits.append(replace(part, X=features, norms=norms))
    dense = is_dense(splits[0].X)
    if not dense:
        splits[1] = _with_twins(splits[1], splits[0], copies, others)
    parts = {"train": splits[0], "test": splits[1]}
    parameters = {
        "format": source.format,
        **numbering,
        **weighting,
        "normalize": settings.normalize,
        "bias": settings.bias,
        "dense": dense,
        "source": source.provenance()
        | {"counts": counts | _counts(parts, {"bias": settings.bias}, {})},
    }
    if settings.split == "random":
        parameters["split"] = "random"
    if dense:
        splits[0] = replace(splits[0], X=store_zeros(splits[0].X))
    return Dataset(_IN_MEMORY, *splits, "", parameters, Names(names, [], idf))


def _read_records(source):
    """How features are numbered, if the format leaves it open, label names, train, test, counts of
    the division.
    """
    roles = ("train", "test")[: 1 + (source.test is not None)]
    numbering = {}
    counts = {}
    labels = make_labels(source) if source.settings.vector_column else None
    if labels is None:
        numbering, names, parts = _read_matrices(source, roles)
    else:
        parts = [read_vectors(source, labels, role) for role in roles]
    whole = parts[0]
    units = find_feature_units(whole.X, split=source.settings.split)
    parts[0] = replace(whole, units=units)
    if source.test is None:
        train, test, counts, _ = split_rows(whole.X, whole.Y, units, source.settings)
        parts = [parts[0].take(np.flatnonzero(rows)) for rows in (train, test)]
        parts[1] = replace(parts[1], weights=None, units=None)
    if labels is not None:
        widths = [part.X.n_columns for part in parts]
        if widths[0] != widths[1]:
            message = f"vectors of {widths[1]} numbers, those of training have {widths[0]}"
            raise InputError(message, path=source.test, remedy="give vectors of the same model")
        lists = [LabelLists.from_arrays(part.Y.indices, part.Y.indptr) for part in parts]
        names, *matrices, _ = labels.matrices(*lists)
        parts = [replace(part, Y=Y) for part, Y in zip(parts, matrices, strict=True)]
    return numbering, names, *parts, counts


def _read_matrices(source, roles):
    paths, labels_paths = (
        [getattr(source, f"{role}{end}") for role in roles] for end in ("", "_labels")
    )
    numbering, matrices = FORMATS[source.format].read(paths, labels_paths)
    matrices = [(X, _from_first_label(Y, source)) for X, Y in matrices]
    names = read_names_by_id(source, max(Y.n_columns for _, Y in matrices))
    d = max(X.n_columns for X, _ in matrices)
    parts = []
    require_plausible_size(d, "features", sum(len(X.data) for X, _ in matrices), source.train_name)
    for X, Y in matrices:
        X = X._replace(n_columns=d)
        Y = Y._replace(n_columns=len(names))
        parts.append(Split(X, Y, records=[f"record {number}" for number in range(1, X.n_rows + 1)]))
    return numbering, names, parts


def _from_first_label(Y, source):
    """Labels (n, l) whose first one has the number 0."""
    first = source.settings.first_label
    if first and Y.indices.min(initial=first) < first:
        raise InputError(
            "a label has the number 0", path=source.train_name, remedy="leave out first_label: 1"
        )
    return (
        Y._replace(indices=Y.indices - np.int32(first), n_columns=Y.n_columns - first)
        if first
        else Y
    )


def _counts(parts, parameters, label_counts):
    train = parts["train"]
    test = parts["test"]
    if len(train.Y.indices) == 0:
        message = f"none of the {train.Y.n_rows:,} training instances has a label"
        remedy = "check the settings labels_column and label_separator"
        if label_counts.get("train_with_unknown_labels_only"):
            message += " of the vocabulary, by URI or name"
            remedy += (
                "; labels that are numbers get their names from labels: FILE, without vocabulary"
            )
        raise InputError(message, remedy=remedy)
    counts = {}
    positives = np.bincount(train.Y.indices, minlength=train.Y.n_columns)
    for name, split in parts.items():
        left_out = label_counts.get(f"{name}_with_unknown_labels_only", 0)
        unlabelled, unseen = count_without_known_labels(split.Y, positives, left_out)
        counts[f"{name}_instances"] = split.X.n_rows
        n_features = np.diff(select_text_features(split.X, parameters).indptr)
        counts[f"{name}_without_features"] = int(
            np.count_nonzero(n_features == (parameters["bias"] != 0))
        )
        counts[f"{name}_without_labels"] = unlabelled
        counts[f"{name}_with_unseen_labels_only"] = unseen
    if test.twins is not None:
        counts["test_with_near_twin"] = int(np.count_nonzero(test.twins))
    return counts
