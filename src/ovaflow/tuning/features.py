"""Which blocks of features suit a dataset: ``features: auto``."""

import hashlib
import re
from functools import cache
from heapq import nsmallest
from itertools import count
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence_progress
from ovaflow.dataset.dataset import Dataset, Names, Split
from ovaflow.features.blocks import advise_on_spaceless, is_spaceless
from ovaflow.features.label_names import append_label_names
from ovaflow.features.tokens import number_word_sets, tokenize
from ovaflow.features.vocabulary import NoTermsError, fit_features
from ovaflow.labels.lists import LabelLists
from ovaflow.labels.matrix import NamedLabels, read_names_by_mark
from ovaflow.reading.instances import TextInstance
from ovaflow.records.parts import read_training_instances
from ovaflow.records.units import find_text_units, select_units
from ovaflow.settings.prepare import DEFAULT_FEATURES, resolve_blocks
from ovaflow.settings.train import TrainLabels
from ovaflow.tuning.comparison import (
    COMPARED_METRICS,
    Trial,
    compare_candidates,
    decide,
    divide_into_rounds,
    train_and_score,
)

FEATURES_KIND = "features"

_SMALL_SAMPLE = 3000
_LARGE_SAMPLE = 12_000
"""How many instances to search on: more would mostly find the same blocks, and what is found is
checked with all.
"""
_LARGE_DATASET = 200_000
"""Training instances from which on comparing many takes less than a tenth of the training."""
_EPSILON = 0.1
"""Where the solver stops: blocks compare as at 0.01 in two thirds of the time."""
_WORD = re.compile(r"[^\W\d]\w|\d[^\W\d]")
"""Two characters of a word."""
_SPACELESS_CANDIDATES = (
    "characters=1-2",
    "characters=1-3",
    "words+characters=1-3",
    "words+prefixes=6+characters=1-3",
)
"""Candidates besides those of the settings, where texts have no spaces between words."""


def choose_features(source, settings, threads=1):
    """Compare the candidates of ``settings`` on instances of the source's training file; returns
    JSON-able figures.
    """

    def read():
        return read_training_instances(source, threads)

    return _compare_blocks(
        read,
        settings,
        threads,
        read_names_by_mark(source),
        source.has_vocabulary,
        source.train_name,
    )


def choose_features_of_texts(texts, labels, settings):
    """Compare the candidates on texts and names of their labels."""
    tokens = tokenize(texts)
    units = find_text_units(
        tokens, number_word_sets(tokens), np.full(len(texts), -1), settings.split
    )
    instances = [
        TextInstance(text, names, group=unit)
        for text, names, unit in zip(texts, labels, units, strict=True)
    ]
    return _compare_blocks(lambda: instances, settings)


def _compare_blocks(
    read, settings, threads=1, names_by_label=None, has_vocabulary=False, path=None
):
    """Compare the candidates on instances that ``read`` gives; labels are names unless
    ``names_by_label`` has these.
    """
    sample, available = _sample_instances(read(), settings.instances)
    if len(sample) < 2:
        raise InputError(
            f"{len(sample)} training instances are too few to choose features on", path=path
        )
    training = TrainLabels(epsilon=_EPSILON)
    rounds = list(_rounds(sample, settings))
    with Progress("choosing features", 0, "trainings") as progress:

        def train(instances, part, candidate):
            with silence_progress():
                blocks = settings.model_copy(update={"features": candidate.split("+")})
                try:
                    dataset = _dataset(instances, part, blocks, names_by_label)
                    trial = train_and_score(dataset, training, settings.metric, threads)
                except NoTermsError:
                    none = np.zeros(len(part[1]))
                    trial = Trial(none, none, dict.fromkeys(COMPARED_METRICS, 0.0), 0.0)
            progress.advance()
            return trial

        @cache
        def everything():
            instances, _ = _sample_instances(read(), available)
            return instances, next(_rounds(instances, settings))

        def try_on_all(candidate):
            return train(*everything(), candidate)

        candidates, default = _candidates(settings.candidates, sample, has_vocabulary)
        trials, best = compare_candidates(
            rounds, lambda candidate, part: train(sample, part, candidate), candidates
        )
        is_part = len(sample) < available
        decision = decide(settings.metric, trials, best, default, try_on_all if is_part else None)
    return {"instances": len(sample)} | decision


def _candidates(given, sample, has_vocabulary):
    """What is compared, and the default of features, or the first candidate where that is none."""
    spaceless = sum(is_spaceless(instance.text) for instance in sample)
    pieces = _SPACELESS_CANDIDATES if advise_on_spaceless(spaceless, len(sample)) else ()
    blocks = [candidate.split("+") for candidate in [*given, *pieces]]
    default, *candidates = (
        "+".join(resolve_blocks(each, has_vocabulary)) for each in [DEFAULT_FEATURES, *blocks]
    )
    return list(dict.fromkeys(candidates)), default if default in candidates else candidates[0]


def _rounds(instances, settings):
    units = np.array([instance.group for instance in instances], np.int64)
    return divide_into_rounds(select_units(units, np.arange(len(units))), settings.held_out)


def _sample_instances(instances, size):
    """So many instances, or else as many as the choice of features is worth, and how many there
    are.
    """
    counter = count()
    counted = zip(instances, counter, strict=False)
    smallest = nsmallest(size or _LARGE_SAMPLE, counted, key=lambda pair: _hash(*pair))
    sample = [instance for instance, _ in smallest]
    available = next(counter)
    few = size is None and available < _LARGE_DATASET
    return sample[:_SMALL_SAMPLE] if few else sample, available


def _hash(instance, number):
    # texts without a word are all alike, but no copies
    content = instance.text if _WORD.search(instance.text) else f"{number} {instance.text}"
    return hashlib.blake2b(
        content.encode("utf-8", "surrogatepass"), digest_size=16, salt=b"tuning"
    ).digest()


def _dataset(sample, part, settings, names_by_label):
    """The instances of a round as a dataset whose test set is held out; names are of labels that
    are not names.
    """
    if names_by_label is None:
        names_by_label = {label: (label,) for instance in sample for label in instance.labels}
    labels = NamedLabels()
    known = [_with_known_labels(instance, names_by_label) for instance in sample]
    fit, held = ([known[row] for row in rows] for rows in part)

    labels_of_parts = [LabelLists(labels.number_of) for _ in part]
    for lists, instances in zip(labels_of_parts, (fit, held), strict=True):
        for instance in instances:
            lists.append(instance.labels)

    def every_name():
        return [
            name for label in labels.names_in(labels_of_parts[0]) for name in names_by_label[label]
        ]

    fitted = fit_features(
        (instance.text for instance in fit), settings, every_name, settings.uses_tfidf
    )
    transform = fitted.transform
    X_test, _ = transform.transform_with_norms(instance.text for instance in held)
    names, Y, Y_test, _ = labels.matrices(*labels_of_parts)
    others = [names_by_label[name][1:] for name in names]
    names = [names_by_label[name][0] for name in names]
    documents = Split(
        fitted.X, Y, weights=np.array([instance.weight for instance in fit], np.float32)
    )
    split = (
        append_label_names(documents, names, transform, None, others)
        if settings.label_names
        else documents
    )
    named = split.X.n_rows - documents.X.n_rows
    parameters = {"bias": settings.bias, "normalize": settings.normalize, "named_labels": named}
    dataset_names = Names(names, transform.feature_names, transform.idf)
    return Dataset(Path("held-out"), split, Split(X_test, Y_test), "", parameters, dataset_names)


def _with_known_labels(instance, names_by_label):
    labels = map(str, instance.labels)
    return instance._replace(labels=list(filter(names_by_label.__contains__, labels)))
