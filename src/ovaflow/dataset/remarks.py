"""What a person should know about prepared data before believing a figure, in one line each."""

from collections import defaultdict

import numpy as np

from ovaflow.features.blocks import advise_on_spaceless
from ovaflow.labels.label_map import DEPRECATED_REASON
from ovaflow.labels.successors import REPLACED_BY_SEVERAL, REPLACED_BY_UNKNOWN, REPLACED_IN_CIRCLE
from ovaflow.settings.source import holds_texts

_NOTICED = 0.01
_SEVERAL = 5
"""Share and number of test instances with a near twin in training from which on a remark is made.
"""

_NO_FEATURE = "have no feature: an empty text, or only words that are too rare or too frequent"
_COUNTED = {
    "instances_without_labels": "{count:,} instances have no label: left out",
    "labels_renamed": "{count:,} labels of instances were renamed or dropped by label_map",
    "labels_left_out": "{count:,} labels are left out by include and exclude, "
    "{labels_of_instances_left_out:,} times in instances",
    "lines_without_a_tab": "{count:,} lines of the corpus have no tab, so no subjects: left out",
    "documents_without_subjects": "{count:,} documents of the corpus have no subjects: left out",
    "records_with_replaced_subjects": "{count:,} records had {replaced_subjects_of_records:,} deprecated subjects, "
    "which stand for their successors now, such as {replaced_subjects_such_as}",
    "deprecated_subjects": "{count:,} subjects of the vocabulary are deprecated: left out",
    REPLACED_BY_SEVERAL: "{count:,} of the deprecated subjects are replaced by several, and records do not say which they mean",
    REPLACED_IN_CIRCLE: "{count:,} of the deprecated subjects are replaced by one another, in circles",
    REPLACED_BY_UNKNOWN: "{count:,} of the deprecated subjects are replaced by subjects that the vocabulary lacks",
    "subjects_named_in_another_language": "{count:,} subjects have no name in the language: they have another's",
    "subjects_not_in_vocabulary": "{count:,} subjects of instances are not in the vocabulary: left out{listed}",
    "train_without_features": f"{{count:,}} of {{train_instances:,}} training instances {_NO_FEATURE}",
    "train_without_labels": "{count:,} of {train_instances:,} training instances have no label: "
    "they are negatives of all labels; unlabelled: drop leaves them out",
    "test_without_features": f"{{count:,}} of {{test_instances:,}} test instances {_NO_FEATURE}",
    "train_with_unseen_labels_only": "{count:,} of {train_instances:,} training instances have only "
    "subjects that the vocabulary lacks: they are negatives of all labels",
    "test_without_labels": "{count:,} of {test_instances:,} test instances have no label",
    "test_with_unseen_labels_only": "{count:,} of {test_instances:,} test instances have only labels "
    "that no training instance has",
    "doubt_about_labels": "{count}",
    "labels_cut": "labels seem to be sentences that commas cut, such as {count!r:.100}: label_separator: none "
    "takes each cell as one label",
    "headers_left_out": "the first line of a file names the columns: it is no record",
    "fields_like_records": "{count:,} fields span lines, and all of them look like several records: "
    "quotes: none takes quotes as they are, if they mean nothing in this file",
    "missing_labels": "{count:,} labels are words for nothing such as nan, None, NULL, N/A or -: "
    "they are none; missing: [] keeps them",
    "missing_texts": "{count:,} cells of texts are words for nothing such as nan, None, NULL, N/A or -: "
    "they are empty; missing: [] keeps them",
    "records_not_in_utf8": "{count:,} records say that they are UTF-8 and have other bytes, which are replaced; "
    "export them again",
    "records_joined": "{count:,} records are joined with an earlier one",
    "short_copies": "{count:,} records have the words of another one, and such records are never parted: if new "
    "records, too, will repeat known texts, as job titles and queries do, split: random measures that",
    "labels_without_a_test_record": "{count:,} of {labels_of_several_records:,} labels of two records or more have no "
    "test record: with a larger test_fraction more of them have",
    "records_replaced": "{count:,} records whose id occurs again later: left out",
    "test_labels_unknown_in_train": "{count:,} of {test_labels:,} labels of test instances occur in no training "
    "instance ({different_test_labels_unknown_in_train:,} different ones): nobody can learn them, metrics leave them "
    "out",
}
_COUNTED |= {
    name.replace("test", "dev"): _COUNTED[name].replace("test", "dev")
    for name in ("test_without_features", "test_without_labels", "test_with_unseen_labels_only")
}
_REPEATED = 0.05
"""Share of texts without ids that occur again with other labels, above which they may be rows of
one record.
"""
_RARE = 0.1
"""Share of labels without instances below which it is strange that the first is one of them."""
_HTML = 0.01
"""Share of texts with markup above which a remark is made."""
_ODD = 0.9
"""Share of labels that occur once, and of test instances without a known label, above which
something is wrong.
"""


def collect_remarks(prepared, listed=None):
    """Remarks, which name the file where unknown subjects are listed."""
    source = prepared.parameters["source"]
    counts = source["counts"]
    test_labels = counts.get("test_labels_unknown_in_train", 0) + len(prepared.test.Y.indices)
    figures = counts | {
        "test_labels": test_labels,
        "listed": _how_to_map(prepared.unknown_subjects, listed),
    }
    return [
        *_on_share(prepared, counts),
        *_on_test_file(source, counts),
        *(
            text.format(count=counts[name], **figures)
            for name, text in _COUNTED.items()
            if counts.get(name)
        ),
        *_on_extra(counts),
        *_on_headings(counts),
        *_on_repeated(counts),
        *_on_spaces(prepared, counts),
        *_on_markup(counts),
        *_on_given_names(prepared, counts),
        *_on_ids(prepared, source),
    ]


def _on_test_file(source, counts):
    """Why figures may be too good."""
    files = source.get("files", {})
    twins = counts.get("test_with_near_twin", 0)
    instances = counts["test_instances"]
    sums = {role: file["sha256"] for role, file in files.items()}
    if "dev" in sums and sums["dev"] in (sums["train"], sums.get("test")):
        yield "the dev file is the training file or the test file: what is chosen on it is not fit for new texts"
    if "test" in sums and sums["test"] == sums["train"]:
        yield "the test file is the training file: figures say what the model remembers, not how good it is"
    elif are_twins_notable(twins, instances):
        others = (
            "the report also has those of the others"
            if twins < instances
            else "there are no others"
        )
        yield (
            f"{twins:,} of {instances:,} test instances have a near twin in training, such as a copy or another "
            f"edition: figures contain some memory, and {others}"
        )


def _how_to_map(subjects, path):
    """Where unknown subjects are listed, and what to do with the list."""
    if path is None or not subjects:
        return ""
    deprecated = sum(each.why == DEPRECATED_REASON for each in subjects)
    return (
        f"; {path} lists the {len(subjects):,} different ones, {deprecated:,} of them deprecated: "
        "fill in its column stands_for, and set label_map to a copy of it in another folder"
    )


_EXTRA_LEFT_OUT = {
    "extra_replaced": "{:,} whose id occurs again later",
    "extra_joined": "{:,} joined with an earlier record",
    "extra_unlabelled": "{:,} without a label",
}
"""Why records of extra files are no training instances of their own."""


def _on_extra(counts):
    """Say how many records of extra files are training instances, and why others are not."""
    left_out = [
        words.format(counts[name]) for name, words in _EXTRA_LEFT_OUT.items() if counts.get(name)
    ]
    used = f"{counts.get('extra_instances', 0):,} of {counts['train_instances']:,} training instances are extra ones"
    if left_out:
        yield f"{used}; others of the extra files are not among them: {', '.join(left_out)}"
    elif counts.get("extra_instances"):
        yield used


def _on_headings(counts):
    """What is odd in a catalogue that has identifiers."""
    without = counts.get("headings_without_identifier", 0)
    headings = counts.get("headings", 0)
    if 0 < without < headings / 2:
        yield f"{without:,} of {headings:,} headings have no identifier ($0): they are the labels of the same name"


def _on_repeated(counts):
    """What may be one record in several rows, or several versions of a record."""
    joins = "repeated: join makes one record of each, with all of their labels"
    different, alike = (
        counts.get(f"ids_with_different_labels{name}", 0) for name in ("", "_alike")
    )
    if different:
        first = counts["first_id_with_different_labels"]
        remedy = "repeated: last keeps the last record of each id"
        if alike > different / 2:
            whose = (
                "their texts are" if alike == different else f"the texts of {alike:,} of them are"
            )
            remedy = f"{whose} the same, as in tables of one row per label: {joins}; after corrections, {remedy}"
        yield f"{different:,} ids occur more than once with different labels, such as {first}; {remedy}"
    texts = counts.get("texts_with_different_labels", 0)
    if texts > _REPEATED * counts["train_instances"]:
        yield f"{texts:,} texts occur more than once with different labels; {joins}"


def _on_share(prepared, counts):
    if "set_aside" in counts:
        asked = "{set_aside:,} of {set_aside_of:,} records are set aside for testing, not about {to_be_set_aside:,}"
        yield f"{asked.format(**counts)}: {explain_kept_together(prepared.parameters, counts['largest_part_kept_together'])}"


def are_twins_notable(twins, instances):
    """Whether so many test instances with a near twin in training are worth a remark."""
    return twins >= max(_NOTICED * instances, _SEVERAL)


def explain_kept_together(parameters, largest=None):
    """Why a share is far from the one asked for, and what to do about it."""
    has_groups = "group_column" in parameters
    alike = (
        "records of a group, and those that are alike," if has_groups else "records that are alike"
    )
    most = "" if largest is None else f" (up to {largest:,})"
    advice = "split: random draws each by itself"
    if has_groups:
        advice = f"choose a group_column with more values, or if copies are the reason, {advice}"
    return f"{alike} stay together{most}; {advice}"


def _on_spaces(prepared, counts):
    spaceless = counts.get("texts_without_spaces", 0)
    n = counts["train_instances"]
    if spaceless and "characters" not in " ".join(prepared.parameters["features"]):
        many = "many" if spaceless > n / 2 else f"{spaceless:,} of {n:,} training"
        yield f"{many} texts have no spaces between words: {advise_on_spaceless(spaceless, n)}"


def _on_markup(counts):
    marked = counts.get("texts_with_markup", 0)
    instances = counts["train_instances"] + counts["test_instances"]
    if marked > _HTML * instances:
        yield (
            f"{marked:,} of {instances:,} texts contain HTML such as &amp; or <b>, which becomes words: "
            "html: true removes it"
        )


def _on_ids(prepared, source):
    """Whether ids, of the lines of a file of names, may be counted from 1."""
    if (
        "labels" not in source.get("files", {})
        or not holds_texts(source["format"])
        or source.get("first_label")
    ):
        return
    unused = prepared.counts == 0
    if unused[0] and np.count_nonzero(unused) <= max(1, _RARE * prepared.n_labels):
        yield (
            f"no training instance has the id 0, {prepared.label_names[0]!r}: if ids are counted from 1, "
            "set first_label: 1"
        )


def _on_given_names(prepared, counts):
    """What may be wrong with labels that the texts name."""
    if "different_test_labels_unknown_in_train" not in counts:
        return
    alike = defaultdict(list)
    for name in prepared.label_names:
        alike[name.casefold().rstrip(".")].append(name)
    groups = [group for group in alike.values() if len(group) > 1]
    if groups:
        first, second, *_ = groups[0]
        advice = "; label_map merges them" if holds_texts(prepared.parameters["format"]) else ""
        yield (
            f"{sum(map(len, groups)):,} labels differ only in case or a final full stop, such as {first!r} and "
            f"{second!r}: they are different labels{advice}"
        )
    marks = [name for name in prepared.label_names if not any(map(str.isalnum, name))]
    if marks:
        yield f"{len(marks):,} labels have no letter, such as {marks[0]!r}: label_separator may be wrong"
    once = np.count_nonzero(prepared.counts == 1)
    unknown = counts["test_without_labels"] + counts["test_with_unseen_labels_only"]
    if once > _ODD * prepared.n_labels and unknown > _ODD * counts["test_instances"]:
        yield (
            "nearly all labels occur once, and nearly no test instance has one of them: "
            "text_column and labels_column may be swapped, or label_separator wrong"
        )
