"""Prepare datasets whose instances are texts."""

from dataclasses import asdict
from functools import partial

from ovaflow.console.errors import InputError
from ovaflow.data.dataset import EXCERPT, Split
from ovaflow.data.docstrings import docstrings
from ovaflow.data.labels import NamedLabels, NumberedLabels, check_separator
from ovaflow.data.preparation import Prepared, checked_counts
from ovaflow.data.readers.formats import read_texts
from ovaflow.data.readers.label_names import read_label_names
from ovaflow.data.split import in_test
from ovaflow.data.tfidf import learn


def prepare_docstrings(source, settings):
    """Prepare the built-in dataset.

    Parameters
    ----------
    source : Source
    settings : Settings

    Returns
    -------
    Prepared
    """
    found = docstrings(test_fraction=settings.test_fraction, seed=settings.seed)
    provenance = source.provenance() | {"counts": found.counts}
    return prepare_texts(found.train, found.test, NamedLabels(), settings, provenance)


def prepare_text_files(source, settings):
    """Prepare files of texts.

    Parameters
    ----------
    source : Source
    settings : Settings

    Returns
    -------
    Prepared
    """
    labels = _labels_of(source)
    read = partial(
        read_texts,
        source.format,
        text_column=source.text_column,
        labels_column=source.labels_column,
        label_separator=source.label_separator,
        n_labels=labels.n_labels,
    )
    if source.test is None:
        held_out = partial(in_test, fraction=settings.test_fraction, seed=settings.seed)
        train = (instance for instance in read(source.train) if not held_out(instance.text))
        test = (instance for instance in read(source.train) if held_out(instance.text))
    else:
        train, test = read(source.train), read(source.test)
    prepared = prepare_texts(train, test, labels, settings, source.provenance())
    if source.labels is None:
        check_separator(prepared.train.Y, prepared.label_names, source)
    return prepared


def _labels_of(source):
    if source.labels is None:
        return NamedLabels()
    names = read_label_names(source.labels)
    if not names:
        raise InputError("has no names", path=source.labels, remedy="mend this file, or give another one")
    return NumberedLabels(names)


def prepare_texts(train, test, labels, settings, provenance):
    """Prepare instances that come as texts.

    Parameters
    ----------
    train, test : iterable
        Instances with the attributes ``text`` and ``labels``; each is read once.
    labels : NamedLabels or NumberedLabels
        Still empty.
    settings : Settings
    provenance : dict
        Kept in the file; ``counts`` are added.

    Returns
    -------
    Prepared

    Raises
    ------
    InputError
        If there are no training instances, or no labels or tokens in them.
    """
    tfidf = settings.tfidf is not False
    weights = {"sublinear": settings.sublinear, "normalize": settings.normalize, "bias": settings.bias}
    transform, X, counts = learn(_texts_of(train, labels.add_train), settings.selection, tfidf, **weights)
    excerpts = []
    X_test = transform.transform(_excerpted(_texts_of(test, labels.add_test), excerpts))
    names, Y, Y_test, unknown = labels.finish()
    splits = Split(X, Y), Split(X_test, Y_test, excerpts)
    counts = provenance.get("counts", {}) | counts | unknown | checked_counts(*splits, settings.bias)
    parameters = {
        "format": provenance["format"],
        "tfidf": tfidf,
        **weights,
        **asdict(settings.selection),
        "token_pattern": transform.token_pattern,
        "normal_form": "NFKC, case-folded",
        "source": provenance | {"counts": counts},
    }
    return Prepared(*splits, names, transform.feature_names, parameters, transform.idf if tfidf else None)


def _texts_of(instances, add_labels):
    for instance in instances:
        add_labels(instance.labels)
        yield instance.text


def _excerpted(texts, excerpts):
    for text in texts:
        excerpts.append(text[:EXCERPT])
        yield text
