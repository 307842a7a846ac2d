"""The training, test and dev records of a source: collected, as the settings want them, and
divided.
"""

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.labels.matrix import make_labels
from ovaflow.labels.separators import SeparatorDoubt
from ovaflow.records.collected import CollectedRecords, collect_records
from ovaflow.records.corpus import Corpus
from ovaflow.records.repeated import count_repeated, find_last_rows, group_repeated_rows
from ovaflow.records.splitting import split_records
from ovaflow.settings.source import holds_texts


class InstanceParts(NamedTuple):
    """Training, test and dev records, and figures."""

    train: CollectedRecords
    test: CollectedRecords
    counts: Counter
    doubt: SeparatorDoubt | None  # about the separator of labels
    dev: CollectedRecords | None = None


def read_parts(source, labels, threads=1, folder=None, excerpt=0):
    """The training, test and dev records of a source."""
    source.require_files()
    settings = source.settings
    divided = source.test is None and source.format != "builtin"
    # only test texts are shown
    kept = {"test": excerpt, "train": excerpt * divided}
    parts = {}
    counts = {}
    for role in _roles(source, divided):
        corpus = Corpus(source, labels, role)
        records = collect_records(
            corpus,
            labels.meanings.number_of,
            settings.seed,
            threads=threads,
            folder=folder,
            excerpt=kept.get(role, 0),
            feature_columns=corpus.feature_columns,
        )
        written = records.labels
        records = replace(records, labels=labels.meanings.of(written, corpus.counts))
        parts[role] = _as_wanted(records, settings, corpus.counts, folder)
        if role == "train":
            doubt = corpus.doubt(written.take(parts[role].rows), corpus.counts)
        _add(counts, corpus.counts)
    records = parts["train"] = parts["train"].with_units(settings.split)
    if not divided:
        return InstanceParts(**parts, counts=counts, doubt=doubt)
    n = records.n - _count_extra(records)
    # extra instances are the last, and never set aside
    division = split_records(records, n, settings)
    counts |= division.counts
    extra = np.ones(records.n - n, bool)
    sides = {"train": np.append(division.train, extra), "test": np.append(division.test, ~extra)}
    if division.dev is not None:
        if "dev" in parts:
            message = (
                f"{division.dev.sum():,} records are dev in the column {settings.split_column}"
            )
            raise InputError(f"{message}, and there is a dev file", remedy="leave out one of them")
        sides["dev"] = np.append(division.dev, ~extra)
    parts |= {role: records.take(np.flatnonzero(rows), folder) for role, rows in sides.items()}
    return InstanceParts(**parts, counts=counts, doubt=doubt)


def _roles(source, divided):
    """Parts that have records of their own."""
    return ["train", *["test"] * (not divided), *["dev"] * (source.dev is not None)]


def _add(counts, others) -> None:
    """Add numbers; what else there is stays as it was first."""
    for name, value in others.items():
        counts[name] = (
            counts.get(name, 0) + value if isinstance(value, int) else counts.get(name, value)
        )


def _as_wanted(records, settings, counts, folder):
    """Records without those that others replace or that have no label, as the settings say."""
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


def _count_extra(records):
    return int(np.count_nonzero(records.extra))


def _require_one_weight(records, firsts, numbers) -> None:
    """Refuse records to be joined that do not weigh the same."""
    weights = records.column("weight")
    if (other := np.flatnonzero(weights != weights[firsts][numbers])).size:
        names = records.names[firsts[numbers[other[0]]]], records.names[other[0]]
        message = f"records that are joined have other weights: {names[0]} and {names[1]}"
        raise InputError(
            message, remedy="give rows of one record the same weight, or leave out repeated: join"
        )


def read_training_instances(source, threads=1):
    """Yield training instances that may be held out, with their texts, and units as groups: a
    second reading.
    """
    source.require_files()
    if source.format != "builtin" and not holds_texts(source.format):
        message = f"{source.format} holds features, not texts"
        raise InputError(message, path=source.train_name, remedy="leave out features: auto")
    labels = make_labels(source)
    records = read_parts(source, labels, threads).train
    place_of = {row: place for place, row in enumerate(records.rows.tolist())}
    for row, instance in enumerate(Corpus(source, labels, "train")):
        if row in place_of and not instance.extra:
            place = place_of[row]
            names = tuple(
                labels.written(number) for number in records.labels.of(place) if number >= 0
            )
            yield instance._replace(labels=names, group=records.units[place])
