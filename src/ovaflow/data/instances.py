"""The labelled texts of a source, one by one: training and test instances, as its settings want them."""

import re
from collections import Counter
from functools import partial
from itertools import chain

from ovaflow.console.errors import InputError
from ovaflow.data.docstrings import docstrings
from ovaflow.data.hold_out import in_test
from ovaflow.data.labels import labels_of
from ovaflow.data.readers.annif import read_annif
from ovaflow.data.readers.texts import FIELD, Instances, read_texts, without_markup
from ovaflow.settings.models import TEXT_FORMATS, listed

_MARKUP = re.compile(
    r"&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,6});"
    r"|</?(?:a|b|br|div|em|h[1-6]|i|img|li|ol|p|span|strong|su[bp]|t[dr]|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
"""Entities and tags of HTML."""


def training_instances(source):
    """The training instances alone, without those of the test set."""
    source.require_files()
    if source.format not in ("builtin", *TEXT_FORMATS):
        message = f"{source.format} holds features, not texts"
        raise InputError(message, path=source.train_name, remedy="leave out features: auto")
    return read_instances(source, labels_of(source)).train


def read_instances(source, labels):
    settings = source.settings
    if source.format == "builtin":
        return docstrings(test_fraction=settings.test_fraction, seed=settings.seed)
    counts = Counter()
    read = partial(_read_files, source, labels.n_labels, counts)
    adapt = partial(_adapted, settings=settings, new_names=labels.new_names, counts=counts)
    if source.test is not None:
        return Instances(adapt(read("train")), adapt(read("test")), counts)

    def set_aside(instance):
        return in_test(instance.text.replace(FIELD, " "), settings.test_fraction, settings.seed)

    train = (instance for instance in read("train") if not set_aside(instance))
    return Instances(adapt(train), adapt(filter(set_aside, read("train"))), counts)


def _read_files(source, n_labels, counts, role):
    if source.format == "annif":
        return chain.from_iterable(read_annif(location, counts) for location in listed(source.files[role]))
    paths = source.paths[role]
    if len(paths) == 1:
        return read_texts(source.settings, paths[0], n_labels)
    return (
        instance._replace(record=f"{path.name}, {instance.name}")
        for path in paths
        for instance in read_texts(source.settings, path, n_labels)
    )


def _adapted(instances, settings, new_names, counts):
    """Instances with new names of labels, without markup and without unlabelled ones, as the settings say."""
    for instance in instances:
        if renamed := new_names.keys() & set(instance.labels):
            counts["labels_renamed"] += len(renamed)
            names = dict.fromkeys(new_names.get(label, label) for label in instance.labels)
            instance = instance._replace(labels=tuple(filter(None, names)))
        if settings.unlabelled == "drop" and not instance.labels:
            counts["instances_without_labels"] += 1
            continue
        if settings.html:
            instance = instance._replace(text=without_markup(instance.text))
        elif _MARKUP.search(instance.text) is not None:
            counts["texts_with_markup"] += 1
        yield instance
