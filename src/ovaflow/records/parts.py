"""The training, test and dev records of a source: collected, filtered by settings, and divided."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.labels.matrix import Labels, make_labels
from ovaflow.labels.separators import SeparatorDoubt
from ovaflow.reading.instances import TextInstance
from ovaflow.records.collected import CollectedRecords, collect_records
from ovaflow.records.corpus import Corpus
from ovaflow.records.repeated import count_repeated, find_last_rows, group_repeated_rows
from ovaflow.records.source import SourceFiles
from ovaflow.records.splitting import split_records
from ovaflow.settings.prepare import PrepareSource
from ovaflow.settings.source import holds_texts


class InstanceParts(NamedTuple):
    """Training, test and dev records, and figures."""

    train: CollectedRecords
    test: CollectedRecords
    counts: dict[str, Any]
    doubt: SeparatorDoubt | None  # about the separator of labels
    dev: CollectedRecords | None = None


def read_parts(
    source: SourceFiles,
    labels: Labels,
    threads: int = 1,
    folder: StrPath | None = None,
    excerpt: int = 0,
) -> InstanceParts:
    """Read the training, test and dev records of a source.

    Parameters
    ----------
    source : SourceFiles
    labels : Labels
    threads : int
        Number of threads that find tokens.
    folder : path, optional
        Folder of temporary files that large arrays are mapped from.
    excerpt : int
        Number of characters of each test text that are kept.
    """
    source.require_files()
    settings = source.settings
    is_divided = source.test is None and source.format != "builtin"
    parts: dict[str, CollectedRecords] = {}
    counts: dict[str, Any] = {}
    doubt = None
    for role in _list_roles(source, is_divided=is_divided):
        corpus = Corpus(source, labels, role)
        may_be_tested = role == "test" or (role == "train" and is_divided)
        records = collect_records(
            corpus,
            labels.meanings.number_of,
            settings.seed,
            threads=threads,
            folder=folder,
            excerpt=excerpt if may_be_tested else 0,
            feature_columns=corpus.feature_columns,
            word_kind=settings.words,
        )
        written = records.labels
        records = replace(records, labels=labels.meanings.translate(written, corpus.counts))
        parts[role] = _filter_records(records, settings, corpus.counts, folder)
        if role == "train":
            doubt = corpus.find_doubt(written.take(parts[role].rows), corpus.counts)
        _add_counts(counts, corpus.counts)
    parts["train"] = parts["train"].with_units(settings.split)
    if is_divided:
        _divide(parts, settings, counts, folder)
    return InstanceParts(**parts, counts=counts, doubt=doubt)


def _list_roles(source: SourceFiles, *, is_divided: bool) -> list[str]:
    """List the parts that have files of their own."""
    roles = ["train"]
    if not is_divided:
        roles.append("test")
    if source.dev is not None:
        roles.append("dev")
    return roles


def _divide(
    parts: dict[str, CollectedRecords],
    settings: PrepareSource,
    counts: dict[str, Any],
    folder: StrPath | None,
) -> None:
    """Divide the training records, which become several parts."""
    records = parts["train"]
    n_extra = _count_extra(records)
    n = records.n - n_extra
    # extra instances are the last, and always for training
    split = split_records(records, n, settings)
    counts |= split.counts
    extra = np.ones(n_extra, bool)
    sides = {"train": np.append(split.train, extra), "test": np.append(split.test, ~extra)}
    if split.dev is not None:
        if "dev" in parts:
            message = f"{split.dev.sum():,} records are dev in the column {settings.split_column}"
            raise InputError(f"{message}, and there is a dev file", remedy="leave out one of them")
        sides["dev"] = np.append(split.dev, ~extra)
    for role, mask in sides.items():
        parts[role] = records.take(np.flatnonzero(mask), folder)


def _add_counts(counts: dict[str, Any], others: Counter) -> None:
    """Add numbers; of other values the first stays."""
    for name, value in others.items():
        if isinstance(value, int):
            counts[name] = counts.get(name, 0) + value
        else:
            counts.setdefault(name, value)


def _filter_records(
    records: CollectedRecords, settings: PrepareSource, counts: Counter, folder: StrPath | None
) -> CollectedRecords:
    """Leave out records that others replace or that have no label, as the settings say."""
    if settings.repeated == "last":
        kept = records.take(find_last_rows(records), folder)
        counts["records_replaced"] += records.n - kept.n
        counts["extra_replaced"] += _count_extra(records) - _count_extra(kept)
        records = kept
    if settings.repeated == "join":
        firsts, numbers = group_repeated_rows(records)
        _require_one_weight(records, firsts, numbers)
        labels = records.labels.merge_instances(numbers, len(firsts))
        kept = replace(records.take(firsts, folder), labels=labels)
        counts["records_joined"] += records.n - kept.n
        counts["extra_joined"] += _count_extra(records) - _count_extra(kept)
        records = kept
    count_repeated(records, counts)
    if settings.unlabelled == "drop":
        kept = records.take(np.flatnonzero(records.labels.lengths), folder)
        counts["instances_without_labels"] += records.n - kept.n
        counts["extra_unlabelled"] += _count_extra(records) - _count_extra(kept)
        records = kept
    counts["extra_instances"] += _count_extra(records)
    return records


def _count_extra(records: CollectedRecords) -> int:
    return int(np.count_nonzero(records.extra))


def _require_one_weight(records: CollectedRecords, firsts: np.ndarray, numbers: np.ndarray) -> None:
    """Refuse to join records of different weights."""
    weights = records.column("weight")
    others = np.flatnonzero(weights != weights[firsts][numbers])
    if len(others):
        other = others[0]
        names = records.names
        first_name = names[firsts[numbers[other]]]
        message = f"records to be joined have different weights: {first_name} and {names[other]}"
        raise InputError(
            message, remedy="give rows of one record the same weight, or leave out repeated: join"
        )


def read_training_instances(source: SourceFiles, threads: int = 1) -> Iterator[TextInstance]:
    """Yield the training instances that may be held out, with their texts, and units as groups.

    The source is read a second time.
    """
    source.require_files()
    if source.format != "builtin" and not holds_texts(source.format):
        message = f"{source.format} holds features, not texts"
        raise InputError(message, path=source.train_name, remedy="leave out features: auto")
    labels = make_labels(source)
    records = read_parts(source, labels, threads).train
    places = {row: place for place, row in enumerate(records.rows.tolist())}
    for row, instance in enumerate(Corpus(source, labels, "train")):
        if row in places and not instance.extra:
            place = places[row]
            assert records.units is not None
            numbers = records.labels.get_labels(place)
            names = tuple(labels.written(number) for number in numbers if number >= 0)
            yield instance._replace(labels=names, group=records.units[place])
