"""Choice of the blocks of features for a dataset: ``features: auto``."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import nsmallest
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError, StrPath
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
from ovaflow.records.source import SourceFiles
from ovaflow.records.units import find_text_units, select_units
from ovaflow.settings.prepare import DEFAULT_FEATURES, ChooseFeatures, resolve_blocks
from ovaflow.settings.train import TrainLabels
from ovaflow.tuning.comparison import (
    COMPARED_METRICS,
    Round,
    Trial,
    compare_candidates,
    decide,
    divide_into_rounds,
    train_and_score,
)

FEATURES_KIND = "features"
"""Kind of the file with the choice."""

_SMALL_SAMPLE = 3000
"""Number of instances to search on: more would mostly find the same blocks, and the result is
checked with all.
"""

_LARGE_SAMPLE = 12_000
"""The same for large datasets."""

_LARGE_DATASET = 200_000
"""Training instances from which comparing on the large sample takes less than a tenth of the
training.
"""

_EPSILON = 0.1
"""Stopping tolerance of the solver: blocks compare as at 0.01 in two thirds of the time."""

_WORD = re.compile(r"[^\W\d]\w|\d[^\W\d]")
"""Two characters of a word."""

_SPACELESS_CANDIDATES = (
    "characters=1-2",
    "characters=1-3",
    "words+characters=1-3",
    "words+prefixes=6+characters=1-3",
)
"""Further candidates where texts have no spaces between words."""

NamesByLabel = Mapping[str, Sequence[str]]
"""Names of each label, by its name or URI in the instances."""


def choose_features(
    source: SourceFiles, settings: ChooseFeatures, threads: int = 1
) -> dict[str, Any]:
    """Choose the blocks of features by instances of the source's training file; returns JSON."""

    def read() -> Iterable[TextInstance]:
        return read_training_instances(source, threads)

    return _compare_blocks(
        read,
        settings,
        threads,
        names_by_label=read_names_by_mark(source),
        has_vocabulary=source.has_vocabulary,
        path=source.train_name,
    )


def choose_features_of_texts(
    texts: Sequence[str], labels: Sequence[tuple[str, ...]], settings: ChooseFeatures
) -> dict[str, Any]:
    """Choose the blocks of features by texts and names of their labels; returns JSON."""
    tokens = tokenize(texts, word_kind=settings.words)
    no_groups = np.full(len(texts), -1)
    units = find_text_units(tokens, number_word_sets(tokens), no_groups, settings.split)
    instances = []
    for text, names, unit in zip(texts, labels, units, strict=True):
        instances.append(TextInstance(text, names, group=unit))
    return _compare_blocks(lambda: instances, settings)


def _compare_blocks(
    read: Callable[[], Iterable[TextInstance]],
    settings: ChooseFeatures,
    threads: int = 1,
    *,
    names_by_label: NamesByLabel | None = None,
    has_vocabulary: bool = False,
    path: StrPath | None = None,
) -> dict[str, Any]:
    """Compare the candidates on instances; returns JSON.

    Parameters
    ----------
    read : callable
        Reads the instances anew.
    settings : ChooseFeatures
    threads : int
    names_by_label : mapping, optional
        By default labels are names.
    has_vocabulary : bool
        Whether the labels have a vocabulary.
    path : path, optional
        The file of the instances.
    """
    sample, n_available = _sample_instances(read(), settings.instances)
    if len(sample) < 2:
        message = f"{len(sample)} training instances are too few to choose features on"
        raise InputError(message, path=path)
    training = TrainLabels(epsilon=_EPSILON)
    rounds = list(_divide(sample, settings.held_out))
    with Progress("choosing features", 0, "trainings") as progress:

        def train(instances: Sequence[TextInstance], part: Round, candidate: str) -> Trial:
            with silence_progress():
                blocks = settings.model_copy(update={"features": candidate.split("+")})
                try:
                    dataset = _make_dataset(instances, part, blocks, names_by_label)
                    trial = train_and_score(dataset, training, settings.metric, threads)
                except NoTermsError:
                    trial = _make_failed_trial(part)
            progress.advance()
            return trial

        @cache
        def read_all() -> tuple[list[TextInstance], Round]:
            instances, _ = _sample_instances(read(), n_available)
            return instances, next(_divide(instances, settings.held_out))

        def attempt(candidate: str, part: Round) -> Trial:
            return train(sample, part, candidate)

        def try_on_all(candidate: str) -> Trial:
            instances, part = read_all()
            return train(instances, part, candidate)

        candidates, default = _list_candidates(
            settings.candidates, sample, has_vocabulary=has_vocabulary
        )
        trials, best = compare_candidates(rounds, attempt, candidates)
        is_part = len(sample) < n_available
        decision = decide(settings.metric, trials, best, default, try_on_all if is_part else None)
    return {"instances": len(sample)} | decision


def _make_failed_trial(part: Round) -> Trial:
    """Make the trial of blocks that find no features in the texts."""
    _, held_out = part
    zeros = np.zeros(len(held_out))
    return Trial(
        scores=zeros, first=zeros, metrics=dict.fromkeys(COMPARED_METRICS, 0.0), seconds=0.0
    )


def _list_candidates(
    given: Sequence[str], sample: Sequence[TextInstance], *, has_vocabulary: bool
) -> tuple[list[str], str]:
    """List the candidates, and the default of features, or the first one where that is none."""
    n_spaceless = sum(is_spaceless(instance.text) for instance in sample)
    named = list(given)
    if advise_on_spaceless(n_spaceless, len(sample)):
        named += _SPACELESS_CANDIDATES
    candidates = []
    for candidate in named:
        candidates.append(
            "+".join(resolve_blocks(candidate.split("+"), has_vocabulary=has_vocabulary))
        )
    default = "+".join(resolve_blocks(DEFAULT_FEATURES, has_vocabulary=has_vocabulary))
    if default not in candidates:
        default = candidates[0]
    return list(dict.fromkeys(candidates)), default


def _divide(instances: Sequence[TextInstance], held_out: float) -> Iterator[Round]:
    """Divide instances into others and held-out ones, groups as a whole."""
    units = np.array([instance.group for instance in instances], np.int64)
    return divide_into_rounds(select_units(units, np.arange(len(units))), held_out)


def _sample_instances(
    instances: Iterable[TextInstance], size: int | None
) -> tuple[list[TextInstance], int]:
    """Sample instances by hashes of their texts, so that copies stay together.

    Returns the sample, of ``size`` or as many instances as the choice of features is worth, and how
    many instances there are.
    """
    counter = count()
    numbered = zip(instances, counter, strict=False)
    smallest = nsmallest(
        size or _LARGE_SAMPLE, numbered, key=lambda pair: _hash_instance(pair[0], pair[1])
    )
    sample = [instance for instance, _ in smallest]
    n_available = next(counter)
    if size is None and n_available < _LARGE_DATASET:
        sample = sample[:_SMALL_SAMPLE]
    return sample, n_available


def _hash_instance(instance: TextInstance, number: int) -> bytes:
    """Hash the text of an instance, with its number where it has no word."""
    content = instance.text
    if not _WORD.search(content):
        # texts without a word are all alike, but no copies
        content = f"{number} {content}"
    encoded = content.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=16, salt=b"tuning").digest()


def _make_dataset(
    sample: Sequence[TextInstance],
    part: Round,
    settings: ChooseFeatures,
    names_by_label: NamesByLabel | None,
) -> Dataset:
    """Make a dataset of a round: its test set is held out.

    ``names_by_label`` has the names of labels that are not names.
    """
    if names_by_label is None:
        names_by_label = {}
        for instance in sample:
            for label in instance.labels:
                names_by_label[label] = (label,)
    fit_rows, held_out_rows = part
    known = [_keep_known_labels(instance, names_by_label) for instance in sample]
    fit = [known[row] for row in fit_rows]
    held_out = [known[row] for row in held_out_rows]
    labels = NamedLabels()
    fit_labels = _list_labels(fit, labels)
    held_out_labels = _list_labels(held_out, labels)

    def list_names() -> list[str]:
        names: list[str] = []
        for label in labels.names_in(fit_labels):
            names += names_by_label[label]
        return names

    texts = (instance.text for instance in fit)
    fitted = fit_features(texts, settings, list_names, tfidf=settings.uses_tfidf)
    transform = fitted.transform
    X_test, _ = transform.transform_with_norms(instance.text for instance in held_out)
    label_keys, Y, Y_test, _ = labels.matrices(fit_labels, held_out_labels)
    names = [names_by_label[key][0] for key in label_keys]
    other_names = [names_by_label[key][1:] for key in label_keys]
    weights = np.array([instance.weight for instance in fit], np.float32)
    documents = Split(fitted.X, Y, weights=weights)
    train = documents
    if settings.label_names:
        train = append_label_names(documents, names, transform, None, other_names)
    parameters = {
        "bias": settings.bias,
        "normalize": settings.normalize,
        "named_labels": train.X.n_rows - documents.X.n_rows,
    }
    dataset_names = Names(names, transform.feature_names, transform.idf)
    return Dataset(Path("held-out"), train, Split(X_test, Y_test), "", parameters, dataset_names)


def _list_labels(instances: Sequence[TextInstance], labels: NamedLabels) -> LabelLists:
    """List the labels of instances by number."""
    lists = LabelLists(labels.number_of)
    for instance in instances:
        lists.append(instance.labels)
    return lists


def _keep_known_labels(instance: TextInstance, names_by_label: NamesByLabel) -> TextInstance:
    """Keep the labels of an instance that have names."""
    labels = [str(label) for label in instance.labels]
    return instance._replace(labels=tuple(label for label in labels if label in names_by_label))
