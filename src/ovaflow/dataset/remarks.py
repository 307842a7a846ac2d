"""Remarks on prepared data, one line each, which a person should know before trusting a figure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ovaflow.console.errors import StrPath
from ovaflow.dataset.dataset import Dataset
from ovaflow.features.blocks import advise_on_spaceless
from ovaflow.labels.label_map import (
    DEPRECATED_REASON,
    NAMELESS_REASON,
    RESPELLED_REASON,
    UnknownSubject,
)
from ovaflow.labels.successors import REPLACED_BY_SEVERAL, REPLACED_BY_UNKNOWN, REPLACED_IN_CIRCLE
from ovaflow.reading.formats import FORMATS
from ovaflow.reading.remarks import LARGE_SHARE_REPEATED, remark_on_reading
from ovaflow.settings.source import holds_texts

_NOTABLE_SHARE_OF_TWINS = 0.01
_NOTABLE_NUMBER_OF_TWINS = 5
"""Share and number of test instances with a near twin in training from which on a remark is made.
"""

_NO_FEATURE = "have no feature: an empty text, or only words that are too rare or too frequent"
_COUNTED_REMARKS = {
    "instances_without_labels": "{count:,} instances have no label: left out",
    "labels_renamed": "{count:,} labels of instances were renamed or dropped by label_map",
    "labels_left_out": "{count:,} labels are left out by include and exclude, "
    "{labels_of_instances_left_out:,} times in instances",
    "records_with_replaced_subjects": "{count:,} records had "
    "{replaced_subjects_of_records:,} deprecated subjects, which are replaced by their successors, "
    "such as {replaced_subjects_such_as}",
    "deprecated_subjects": "{count:,} subjects of the vocabulary are deprecated: left out",
    "nameless_subjects": "{count:,} subjects of the vocabulary have no name, such as "
    "{nameless_subjects_such_as}: left out",
    REPLACED_BY_SEVERAL: "{count:,} of the deprecated subjects are replaced by several, "
    "and records do not say which they mean",
    REPLACED_IN_CIRCLE: "{count:,} of the deprecated subjects are replaced by one another, in"
    " circles",
    REPLACED_BY_UNKNOWN: "{count:,} of the deprecated subjects are replaced by subjects "
    "that the vocabulary lacks",
    "subjects_named_in_another_language": "{count:,} subjects have no name in the language: their "
    "names in another one are used",
    "subjects_not_in_vocabulary": "{count:,} subjects of instances are not in the vocabulary: "
    "left out{listed}",
    "respelled_subjects": "{count:,} of these are written in another way than in the vocabulary, "
    "by http or https or a final slash, such as {respelled_subjects_such_as}",
    "train_without_features": "{count:,} of {train_instances:,} training instances " + _NO_FEATURE,
    "train_without_labels": "{count:,} of {train_instances:,} training instances have no label: "
    "they are negatives of all labels; unlabelled: drop leaves them out",
    "test_without_features": "{count:,} of {test_instances:,} test instances " + _NO_FEATURE,
    "train_with_unseen_labels_only": "{count:,} of {train_instances:,} training instances "
    "have only subjects that the vocabulary lacks: they are negatives of all labels",
    "test_without_labels": "{count:,} of {test_instances:,} test instances have no label",
    "test_with_unseen_labels_only": "{count:,} of {test_instances:,} test instances "
    "have only labels that no training instance has",
    "names_of_symbols": "{count:,} labels have names that are in texts, but have no word of two "
    "letters or more, such as {names_of_symbols_such_as}: words: symbols makes words of single "
    "letters and signs",
    "doubt_about_labels": "{count}",
    "labels_cut": "labels seem to be sentences that commas cut, such as {count!r:.100}: "
    "label_separator: none takes each cell as one label",
    "names_with_separator": "{count:,} different labels of lists contain the separator at which "
    "other cells are cut, such as {first_of_names_with_separator!r:.100}: if it is part of names "
    "there, too, label_separator: none takes each cell as one label",
    "combined_names": "{count:,} different labels are others with commas between, such as "
    '{first_of_combined_names!r:.100}: label_separator: "," cuts cells that are no lists at commas',
    "combined_names_in_quotes": "{count:,} different labels are others with separators between, "
    "such as {first_of_combined_names_in_quotes!r:.100}: if quotes are around whole cells, write "
    "these without quotes",
    "names_in_brackets": "{count:,} different labels are in brackets, such as "
    "{first_of_names_in_brackets!r:.100}, and elsewhere brackets hold several: label_enclosure: "
    "brackets takes them as no part of names",
    "names_in_quotes": "{count:,} different labels begin or end with a quote, such as "
    "{first_of_names_in_quotes!r:.100}: label_enclosure: quotes takes quotes as no part of names",
    "records_joined": "{count:,} records are joined with an earlier one",
    "short_copies": "{count:,} records have the words of another one, and such records are "
    "never parted: if new records, too, will repeat known texts, as job titles and queries do, "
    "split: random measures that",
    "labels_without_a_test_record": "{count:,} of {labels_of_several_records:,} labels of two "
    "records or more have no test record: with a larger test_fraction more of them have",
    "records_replaced": "{count:,} records whose id occurs again later: left out",
    "test_labels_unknown_in_train": "{count:,} of {test_labels:,} labels of test instances occur "
    "in no training instance ({different_test_labels_unknown_in_train:,} different ones): "
    "they cannot be learned, and metrics leave them out",
}
"""Remarks on figures of preparation that are not 0, by the name of the figure."""

_TEST_REMARKS_FOR_DEV = (
    "test_without_features",
    "test_without_labels",
    "test_with_unseen_labels_only",
)
for _name in _TEST_REMARKS_FOR_DEV:
    _text = _COUNTED_REMARKS[_name]
    _COUNTED_REMARKS[_name.replace("test", "dev")] = _text.replace("test", "dev")

_SMALL_SHARE_UNUSED = 0.1
"""Share of labels without instances below which it is strange that the first is one of them."""
_LARGE_SHARE_WITH_MARKUP = 0.01
"""Share of texts with markup above which a remark is made."""
_STRANGE_SHARE = 0.9
"""Share of labels that occur once, and of test instances without a known label, above which
something is wrong.
"""


def collect_remarks(prepared: Dataset, listed: StrPath | None = None) -> list[str]:
    """Collect the remarks on a prepared dataset; ``listed`` is the file of unknown subjects."""
    source = prepared.parameters["source"]
    counts = source["counts"]
    return [
        *_remark_on_share(prepared, counts),
        *_remark_on_test_file(source, counts),
        *_remark_on_counts(prepared, counts, listed),
        *remark_on_reading(counts),
        *_remark_on_extra(counts),
        *_remark_on_repeated(counts),
        *_remark_on_spaces(prepared, counts),
        *_remark_on_markup(counts),
        *_remark_on_given_names(prepared, counts),
        *_remark_on_ids(prepared, source),
    ]


def _remark_on_counts(
    prepared: Dataset, counts: dict[str, Any], listed: StrPath | None
) -> Iterator[str]:
    """Remark on each figure of :data:`_COUNTED_REMARKS` that is not 0."""
    test_labels = counts.get("test_labels_unknown_in_train", 0) + len(prepared.test.Y.indices)
    figures = counts | {
        "test_labels": test_labels,
        "listed": _explain_list(prepared.unknown_subjects, listed),
    }
    for name, text in _COUNTED_REMARKS.items():
        if counts.get(name):
            yield text.format(count=counts[name], **figures)


def _remark_on_test_file(source: dict[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """Remark on files and near twins that make figures too good."""
    files = source.get("files", {})
    twins = counts.get("test_with_near_twin", 0)
    instances = counts["test_instances"]
    sums = {role: file["sha256"] for role, file in files.items()}
    if "dev" in sums and sums["dev"] in (sums["train"], sums.get("test")):
        yield (
            "the dev file is the training file or the test file: settings that are chosen on it "
            "may not suit new texts"
        )
    if "test" in sums and sums["test"] == sums["train"]:
        yield (
            "the test file is the training file: figures say what the model remembers, not how "
            "good it is"
        )
    elif are_twins_notable(twins, instances):
        others = "there are no others"
        if twins < instances:
            others = "the report also has those of the others"
        yield (
            f"{twins:,} of {instances:,} test instances have a near twin in training, such as a "
            f"copy or another edition: figures overstate the quality on new texts, and {others}"
        )


def _explain_list(subjects: Sequence[UnknownSubject], path: StrPath | None) -> str:
    """Name the file that lists unknown subjects, and its use."""
    if path is None or not subjects:
        return ""
    amounts = Counter(subject.why for subject in subjects)
    reasons = [f"{amounts[DEPRECATED_REASON]:,} of them {DEPRECATED_REASON}"]
    for reason in (NAMELESS_REASON, RESPELLED_REASON):
        if amounts[reason]:
            reasons.append(f"{amounts[reason]:,} {reason}")
    to_do = "fill in its column stands_for, and"
    if amounts[RESPELLED_REASON] == len(subjects):
        to_do = "its column stands_for is filled in:"
    return (
        f"; {path} lists the {len(subjects):,} different ones, {', '.join(reasons)}: "
        f"{to_do} set label_map to a copy of it in another folder"
    )


_EXTRA_LEFT_OUT = {
    "extra_replaced": "{:,} whose id occurs again later",
    "extra_joined": "{:,} joined with an earlier record",
    "extra_unlabelled": "{:,} without a label",
}
"""Reasons why records of extra files are no training instances of their own."""


def _remark_on_extra(counts: dict[str, Any]) -> Iterator[str]:
    """Remark on the extra records that are training instances, and on the others."""
    left_out = []
    for name, words in _EXTRA_LEFT_OUT.items():
        if counts.get(name):
            left_out.append(words.format(counts[name]))
    used = (
        f"{counts.get('extra_instances', 0):,} of {counts['train_instances']:,} training instances "
        "are extra ones"
    )
    if left_out:
        reasons = ", ".join(left_out)
        yield f"{used}; other records of the extra files are left out: {reasons}"
    elif counts.get("extra_instances"):
        yield used


def _remark_on_repeated(counts: dict[str, Any]) -> Iterator[str]:
    """Remark on rows that may be one record, or several versions of a record."""
    joins = "repeated: join makes one record of each, with all of their labels"
    different = counts.get("ids_with_different_labels", 0)
    alike = counts.get("ids_with_different_labels_alike", 0)
    if different:
        first = counts["first_id_with_different_labels"]
        remedy = "repeated: last keeps the last record of each id"
        if alike > different / 2:
            texts = f"the texts of {alike:,} of them are"
            if alike == different:
                texts = "their texts are"
            remedy = (
                f"{texts} the same, as in tables of one row per label: {joins}; "
                f"after corrections, {remedy}"
            )
        yield (
            f"{different:,} ids occur more than once with different labels, such as {first}; "
            f"{remedy}"
        )
    texts = counts.get("texts_with_different_labels", 0)
    if texts > LARGE_SHARE_REPEATED * counts["train_instances"]:
        yield f"{texts:,} texts occur more than once with different labels; {joins}"


def _remark_on_share(prepared: Dataset, counts: dict[str, Any]) -> Iterator[str]:
    """Remark on a test set whose size is far from the one asked for."""
    if "set_aside" in counts:
        reason = explain_kept_together(prepared.parameters, counts["largest_part_kept_together"])
        yield (
            f"{counts['set_aside']:,} of {counts['set_aside_of']:,} records are set aside for "
            f"testing instead of about {counts['to_be_set_aside']:,}: {reason}"
        )


def are_twins_notable(twins: int, instances: int) -> bool:
    """Return whether the number of test instances with a near twin in training needs a remark."""
    return twins >= max(_NOTABLE_SHARE_OF_TWINS * instances, _NOTABLE_NUMBER_OF_TWINS)


def explain_kept_together(parameters: dict[str, Any], largest: int | None = None) -> str:
    """Explain why a share is far from the one asked for, and the remedy."""
    alike = "records that are alike"
    advice = "split: random draws each record by itself"
    if "group_column" in parameters:
        alike = "records of a group, and those that are alike,"
        advice = f"choose a group_column with more values, or if copies are the reason, {advice}"
    most = ""
    if largest is not None:
        most = f" (up to {largest:,})"
    return f"{alike} stay together{most}; {advice}"


def _remark_on_spaces(prepared: Dataset, counts: dict[str, Any]) -> Iterator[str]:
    """Remark on texts without spaces between words, unless characters are features."""
    spaceless = counts.get("texts_without_spaces", 0)
    n = counts["train_instances"]
    if spaceless and "characters" not in " ".join(prepared.parameters["features"]):
        texts = f"{spaceless:,} of {n:,} training texts"
        if spaceless > n / 2:
            texts = "many texts"
        yield f"{texts} have no spaces between words: {advise_on_spaceless(spaceless, n)}"


def _remark_on_markup(counts: dict[str, Any]) -> Iterator[str]:
    """Remark on texts with HTML."""
    marked = counts.get("texts_with_markup", 0)
    instances = counts["train_instances"] + counts["test_instances"]
    if marked > _LARGE_SHARE_WITH_MARKUP * instances:
        yield (
            f"{marked:,} of {instances:,} texts contain HTML such as &amp; or <b>, which becomes "
            "words: html: true removes it"
        )


def _remark_on_ids(prepared: Dataset, source: dict[str, Any]) -> Iterator[str]:
    """Remark on ids, as lines in a file of label names, that may be counted from 1."""
    has_names = "labels" in source.get("files", {})
    if not has_names or not holds_texts(source["format"]) or source.get("first_label"):
        return
    unused = prepared.counts == 0
    few = max(1, _SMALL_SHARE_UNUSED * prepared.n_labels)
    if unused[0] and np.count_nonzero(unused) <= few:
        yield (
            f"no training instance has the id 0, {prepared.label_names[0]!r}: if ids are counted "
            "from 1, set first_label: 1"
        )


def _remark_on_given_names(prepared: Dataset, counts: dict[str, Any]) -> Iterator[str]:
    """Remark on strange labels where the records name them."""
    if "different_test_labels_unknown_in_train" not in counts:
        return
    yield from _remark_on_similar_names(prepared)
    yield from _remark_on_numbers(prepared)
    yield from _remark_on_numbered_names(prepared)
    format = FORMATS.get(prepared.parameters["source"]["format"])
    doubtful = ["the file"]
    if format is not None and format.label_settings:
        doubtful = format.label_settings
    marks = []
    for name in prepared.label_names:
        if not any(character.isalnum() for character in name):
            marks.append(name)
    if marks:
        yield (
            f"{len(marks):,} labels have neither letter nor digit, such as {marks[0]!r}: "
            f"{' or '.join(doubtful)} may be wrong"
        )
    once = np.count_nonzero(prepared.counts == 1)
    unknown = counts["test_without_labels"] + counts["test_with_unseen_labels_only"]
    if (
        once > _STRANGE_SHARE * prepared.n_labels
        and unknown > _STRANGE_SHARE * counts["test_instances"]
    ):
        yield (
            "nearly all labels occur once, and nearly no test instance has one of them: "
            f"text and labels may be swapped, or {' or '.join(doubtful)} wrong"
        )


def _remark_on_numbers(prepared: Dataset) -> Iterator[str]:
    """Remark on labels that are numbers where most others are words."""
    numbers = []
    n_times = 0
    n_words = 0
    for name, count in zip(prepared.label_names, prepared.counts.tolist(), strict=True):
        if _CODE.fullmatch(name):
            return
        if _NUMBER.fullmatch(name):
            numbers.append(name)
            n_times += count
        elif any(character.isalpha() for character in name):
            n_words += count
    # where numbers prevail, they are ids
    if not numbers or n_times > _MOST_NUMBERS_PER_WORD * n_words:
        return
    quoted = ", ".join(f'"{number}"' for number in numbers[:_FEW_NUMBERS])
    advice = f"exclude: [{quoted}] leaves them out"
    if len(numbers) > _FEW_NUMBERS:
        advice = "exclude: numbers.txt leaves them out, a file with one of them on each line"
    yield (
        f"{len(numbers):,} of {prepared.n_labels:,} labels are numbers among names, such as "
        f"{numbers[0]!r}, {n_times:,} times in training: if they are offsets, counts or scores, "
        f"{advice}"
    )


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_CODE = re.compile(r"0[0-9].*")
"""Numbers that begin with 0, as among codes."""
_FEW_NUMBERS = 5
"""Numbers up to which a remark lists them all."""
_MOST_NUMBERS_PER_WORD = 2.5
"""Numbers per name, more of which are ids; spans have two."""


def _remark_on_numbered_names(prepared: Dataset) -> Iterator[str]:
    """Remark on labels that differ only in a number at their end, if most labels have one."""
    names_by_word = defaultdict(list)
    for name in prepared.label_names:
        match = _NUMBERED_NAME.fullmatch(name)
        if match:
            names_by_word[match[1]].append(name)
    several = [names for names in names_by_word.values() if len(names) > 1]
    n_names = sum(len(names) for names in several)
    if n_names > prepared.n_labels / 2:
        first, second = several[0][:2]
        yield (
            f"{n_names:,} of {prepared.n_labels:,} labels differ only in a number at their end, "
            f"such as {first!r} and {second!r}: if it is a count or a score, label_map renames "
            "them to their names"
        )


_NUMBERED_NAME = re.compile(r"(.*[^\W\d].*?)\s*(?:[:=]\s*-?[0-9.]+|\(-?[0-9.]+\))")


def _remark_on_similar_names(prepared: Dataset) -> Iterator[str]:
    """Remark on labels that differ only in case or a final full stop."""
    names_by_form = defaultdict(list)
    for name in prepared.label_names:
        names_by_form[name.casefold().rstrip(".")].append(name)
    groups = [names for names in names_by_form.values() if len(names) > 1]
    if not groups:
        return
    first, second = groups[0][:2]
    advice = ""
    if holds_texts(prepared.parameters["format"]):
        advice = "; label_map merges them"
    yield (
        f"{sum(len(names) for names in groups):,} labels differ only in case or a final full stop, "
        f"such as {first!r} and {second!r}: they are different labels{advice}"
    )
