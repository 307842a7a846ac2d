"""The prepare step: from the files of a source to all that the dataset file holds."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.blocks import PIECES, without_spaces
from ovaflow.data.dataset import EXCERPT, Split, held_out, in_test, write_dataset
from ovaflow.data.docstrings import docstrings
from ovaflow.data.label_names import read_label_map, read_label_names, with_label_names
from ovaflow.data.labels import NamedLabels, NumberedLabels, SubjectLabels, check_separator
from ovaflow.data.normalize import fill_rows, finish, is_dense
from ovaflow.data.readers import npz
from ovaflow.data.readers.annif import read_annif
from ovaflow.data.readers.sparse_text import read_svmlight, read_xmc_text
from ovaflow.data.readers.texts import FIELD, read_texts, without_markup
from ovaflow.data.subjects import read_vocabulary
from ovaflow.data.tfidf import RECORDED, TfIdf, weigh_counts
from ovaflow.data.tokens import TOKEN_PATTERN
from ovaflow.data.vocabulary import learn
from ovaflow.settings.models import TEXT_FORMATS, listed
from ovaflow.sparse.csr import nonzeros_of_rows, rows_of

_LIMITS = ("min_df", "max_df", "max_features")
_LACKING = {
    ("train", "training", "features"): "no feature: an empty text, or only words that are too rare or too frequent",
    ("train", "training", "labels"): "no label: they are negatives of all labels; unlabelled: drop leaves them out",
    ("test", "test", "features"): "no feature: an empty text, or only words that are too rare or too frequent",
    ("test", "test", "labels"): "no label",
}
_LEFT_OUT = {
    "instances_without_labels": "instances have no label: left out",
    "labels_renamed": "assignments of labels are of others, or of none, by label_map",
    "lines_without_a_tab": "lines of the corpus have no tab, and no subjects: left out",
    "documents_without_subjects": "documents of the corpus have no subjects: left out",
    "deprecated_subjects": "subjects of the vocabulary are deprecated: left out",
    "subjects_named_in_another_language": "subjects have no name in the language: they are named in another",
    "subjects_not_in_vocabulary": "subjects of instances are not in the vocabulary: left out",
}
_MARKUP = re.compile(
    r"&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,6});"
    r"|</?(?:a|b|br|div|em|h[1-6]|i|img|li|ol|p|span|strong|su[bp]|t[dr]|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
"""Entities and tags of HTML."""
_HTML = 0.01
"""Share of texts with markup above which a remark is made."""
_ODD = 0.9
"""Share of labels that occur once, and of test instances without a known label, above which something is wrong."""


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
        return (
            f"{n:,} training and {m:,} test instances, {self.train.X.n_columns:,} features, "
            f"{self.train.Y.n_columns:,} labels ({self.train.Y.indptr[n] / n:.1f} an instance), "
            f"{nnz:,} nonzeros in training ({nnz / n:.1f} an instance)"
            + (f"; {named:,} names of labels as instances" if named else "")
        )

    def remarks(self):
        """What a person should know of the data before believing a figure, one line each."""
        counts, files = self.parameters["source"]["counts"], self.parameters["source"].get("files", {})
        told = []
        if "test" in files and files["test"]["sha256"] == files["train"]["sha256"]:
            told = ["the test file is the training file: figures say what the model remembers, not how good it is"]
        told += [f"{counts[name]:,} {words}" for name, words in _LEFT_OUT.items() if counts.get(name)]
        told += [
            f"{counts[f'{part}_without_{what}']:,} of {counts[f'{part}_instances']:,} {name} instances have {words}"
            for (part, name, what), words in _LACKING.items()
            if counts[f"{part}_without_{what}"]
        ]
        blocks = self.parameters.get("features", ())
        if blocks and "characters" not in " ".join(blocks) and without_spaces(self.feature_names):
            told.append(f"many texts have no spaces between words: {PIECES}")
        if unknown := counts.get("test_labels_unknown_in_train"):
            total = unknown + len(self.test.Y.indices)
            told.append(
                f"{unknown:,} of {total:,} assignments of labels to test instances are of labels that occur in no "
                f"training instance ({counts['different_test_labels_unknown_in_train']:,} different ones): "
                "nobody can learn them, metrics leave them out"
            )
        return [*told, *self._doubts(counts)]

    def _doubts(self, counts):
        """What may be wrong with texts and their labels."""
        instances = counts["train_instances"] + counts["test_instances"]
        if (marked := counts.get("texts_with_markup", 0)) > _HTML * instances:
            yield (
                f"{marked:,} of {instances:,} texts contain HTML, such as &amp; or <b>, of which words are made: "
                "html: true leaves it out"
            )
        if "different_test_labels_unknown_in_train" not in counts:
            return
        alike = defaultdict(list)
        for name in self.label_names:
            alike[" ".join(name.split()).casefold()].append(name)
        several = [names for names in alike.values() if len(names) > 1]
        if several:
            first, second, *_ = several[0]
            yield (
                f"{sum(map(len, several)):,} labels differ only in case or spaces, such as {first!r} and {second!r}: "
                "they are different labels"
            )
        positives = np.bincount(self.train.Y.indices[: self.train.Y.indptr[counts["train_instances"]]])
        if (
            np.count_nonzero(positives == 1) > _ODD * len(self.label_names)
            and counts["test_without_labels"] > _ODD * counts["test_instances"]
        ):
            yield (
                "nearly all labels occur once, and nearly no test instance has one of them: "
                "text_column and labels_column may be swapped, or label_separator wrong"
            )


def prepare(source, processes=1, folder=None):
    """A source's instances as features and labels, with their names and what made them: a :class:`Prepared`.

    With a folder for temporary files, features of texts are mapped from there.
    """
    settings = source.settings
    source.require_files()
    if source.format == "builtin":
        found = docstrings(test_fraction=settings.test_fraction, seed=settings.seed)
        provenance = source.provenance() | {"counts": found.counts}
        prepared = _with_texts(found.train, found.test, NamedLabels(), settings, provenance, processes, folder)
        return _with_names(prepared, (), folder) if settings.label_names else prepared
    if source.format in TEXT_FORMATS:
        return _of_texts(source, settings, processes, folder)
    return _of_features(source, settings)


def _of_texts(source, settings, processes, folder):
    labels, left_out = labels_of(source), Counter()
    train, test = _read_instances(source, labels.n_labels, left_out)
    prepared = _with_texts(train, test, labels, settings, source.provenance(), processes, folder)
    if isinstance(labels, NamedLabels) and settings.format != "annif":
        check_separator(labels.first, source)
    counts = prepared.parameters["source"]["counts"]
    counts.update(+left_out)
    if settings.html:
        prepared.parameters["html"] = True
    return _with_names(prepared, labels.others, folder) if settings.label_names else prepared


def labels_of(source):
    """How the labels of texts are given: by name, by number in a file of names, or by a subject vocabulary."""
    if source.vocabulary is not None:
        return SubjectLabels(read_vocabulary(source.vocabulary, source.settings.language))
    return NamedLabels() if source.labels is None else NumberedLabels(*read_label_names(source.labels))


def _with_names(prepared, others, folder):
    """The same with names of labels as training instances; the figures of the source count them apart."""
    names, parameters = prepared.label_names, prepared.parameters
    transform = TfIdf.from_parameters(parameters, prepared.feature_names, prepared.idf)
    train = with_label_names(prepared.train, names, transform, folder, others)
    named, source = train.X.n_rows - prepared.train.X.n_rows, parameters["source"]
    without = len(names) + sum(map(len, others)) - named
    source = source | {"counts": source["counts"] | {"label_names_without_features": without}}
    return prepared._replace(train=train, parameters=parameters | {"named_labels": named, "source": source})


def training_instances(source):
    """Texts and labels of the training instances, one by one; those of the test set are not among them."""
    settings = source.settings
    source.require_files()
    if source.format == "builtin":
        return docstrings(test_fraction=settings.test_fraction, seed=settings.seed).train
    if source.format not in TEXT_FORMATS:
        raise InputError(
            f"{source.format} holds features, not texts", path=source.trained_on, remedy="leave out features: auto"
        )
    return _read_instances(source, labels_of(source).n_labels, Counter())[0]


def _read_instances(source, n_labels, left_out):
    """Generators of the training and of the test instances."""
    settings = source.settings

    def read(role):
        if source.format == "annif":
            files = (read_annif(location, left_out) for location in listed(source.files[role]))
        else:
            paths = source.parts[role]
            files = (read_texts(settings, path, n_labels) for path in paths)
            if len(paths) > 1:
                files = map(_of_file, paths, files)
        return chain.from_iterable(files)

    if settings.label_map and n_labels is not None:
        raise InputError("label_map is for names of labels, not for ids", remedy="correct the file of label names")
    renamed = read_label_map(settings.label_map) if settings.label_map else {}
    kept = partial(_kept, renamed=renamed, drop=settings.unlabelled == "drop", html=settings.html, counts=left_out)
    if source.test is not None:
        return kept(read("train")), kept(read("test"))
    aside = partial(in_test, fraction=settings.test_fraction, seed=settings.seed)
    train = (instance for instance in read("train") if not aside(instance.text.replace(FIELD, " ")))
    test = (instance for instance in read("train") if aside(instance.text.replace(FIELD, " ")))
    return kept(train), kept(test)


def _of_file(path, instances):
    """Instances of one of several files, whose name their records bear."""
    return (instance._replace(record=f"{path.name}, {instance.record}") for instance in instances)


def _kept(instances, renamed, drop, html, counts):
    """Instances with new names of labels, some without labels left out; what is odd is counted."""
    for instance in instances:
        if old := renamed.keys() & set(instance.labels):
            counts["labels_renamed"] += len(old)
            labels = dict.fromkeys(renamed.get(label, label) for label in instance.labels)
            instance = instance._replace(labels=tuple(filter(None, labels)))
        if drop and not instance.labels:
            counts["instances_without_labels"] += 1
            continue
        counts["texts_with_markup"] += not html and _MARKUP.search(instance.text) is not None
        yield instance._replace(text=without_markup(instance.text)) if html else instance


def _with_texts(train, test, labels, settings, provenance, processes, folder):
    """Prepare instances with the attributes ``text`` and ``labels``, each read once."""
    tfidf = settings.weighs
    records, test_records = [], []
    texts = _texts_of(train, labels.add_train, records)
    transform, X, norms, counts = learn(texts, settings, tfidf, processes, folder)
    excerpts, test_norms = [], []
    texts = _excerpted(_texts_of(test, labels.add_test, test_records), excerpts)
    X_test = transform.transform(texts, norms=test_norms, processes=processes, folder=folder)
    names, Y, Y_test, unknown = labels.finish()
    splits = Split(X, Y, records=records), Split(X_test, Y_test, excerpts, records=test_records)
    if settings.normalize:
        splits = [
            replace(split, norms=np.concatenate([np.empty(0), *part]))
            for split, part in zip(splits, (norms, test_norms), strict=True)
        ]
    counts = provenance.get("counts", {}) | counts | unknown | _counts(*splits, settings.bias)
    parameters = {
        "format": provenance["format"],
        "tfidf": tfidf,
        **{name: getattr(transform, name) for name in RECORDED},
        **{name: getattr(settings, name) for name in _LIMITS},
        "token_pattern": TOKEN_PATTERN,
        "normal_form": "NFKC, case-folded",
        "source": provenance | {"counts": counts},
    }
    if labels.language is not None:
        parameters["language"] = labels.language
    of_labels = labels.uris, labels.notations
    return Prepared(*splits, names, transform.feature_names, parameters, transform.idf if tfidf else None, *of_labels)


def _texts_of(instances, add_labels, records):
    for instance in instances:
        add_labels(instance.labels)
        records.append(instance.record)
        yield instance.text


def _excerpted(texts, excerpts):
    for text in texts:
        excerpts.append(text[:EXCERPT].replace(FIELD, " "))
        yield text


def _of_features(source, settings):
    """Prepare files of features and label ids, which keep their numbers; dense training rows are stored in full."""
    counting, parts = _read_features(source, settings)
    dropped = {}
    if settings.unlabelled == "drop":
        labelled = [np.flatnonzero(np.diff(Y.indptr)) for _, Y, _ in parts]
        dropped = {"instances_without_labels": sum(Y.n_rows for _, Y, _ in parts) - sum(map(len, labelled))}
        parts = [_some_of(part, rows) for part, rows in zip(parts, labelled, strict=True)]
    (X, Y, rows), (X_test, Y_test, test_rows) = parts
    names = _names_of_ids(source, Y.n_columns)
    Y, Y_test = (labels._replace(n_columns=len(names)) for labels in (Y, Y_test))
    weighed, idf = {"tfidf": settings.weighs}, None
    if settings.weighs:
        weighed["sublinear"] = settings.sublinear
        X, idf = weigh_counts(X, settings.sublinear)
        X_test, _ = weigh_counts(X_test, settings.sublinear, idf)
    X, norms = finish(X, settings.normalize, settings.bias)
    X_test, test_norms = finish(X_test, settings.normalize, settings.bias)
    records, test_records = ([f"record {row + 1}" for row in each.tolist()] for each in (rows, test_rows))
    splits = Split(X, Y, norms=norms, records=records), Split(X_test, Y_test, norms=test_norms, records=test_records)
    parameters = {
        "format": source.format,
        **counting,
        **weighed,
        "normalize": settings.normalize,
        "bias": settings.bias,
        "dense": is_dense(X),
        "source": source.provenance() | {"counts": dropped | _counts(*splits, settings.bias)},
    }
    train = replace(splits[0], X=fill_rows(X)) if is_dense(X) else splits[0]
    return Prepared(train, splits[1], names, [], parameters, idf)


def _read_features(source, settings):
    """How features are numbered, as far as the format leaves it open, and training and test instances.

    These are X, Y and the rows of the file.
    """
    paths, labels_paths = [source.train, source.test], [source.train_labels, source.test_labels]
    if source.test is not None:
        counting, parts = _read_files(source.format, paths, labels_paths)
        return counting, [(X, Y, np.arange(X.n_rows)) for X, Y in parts]
    counting, [(X, Y)] = _read_files(source.format, paths[:1], labels_paths[:1])
    held = held_out(X, settings.test_fraction, settings.seed)
    if held.all():
        raise InputError("no training instances are left", path=source.train, remedy="name a test file")
    whole = X, Y, np.arange(X.n_rows)
    return counting, [_some_of(whole, rows) for rows in map(np.flatnonzero, (~held, held))]


def _some_of(part, rows):
    X, Y, numbers = part
    return rows_of(X, rows), rows_of(Y, rows), numbers[rows]


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
