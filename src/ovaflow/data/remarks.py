"""What a person should know about prepared data before believing a figure, in one line each."""

from collections import defaultdict

import numpy as np

from ovaflow.data.blocks import PIECES, without_spaces

_NO_FEATURE = "have no feature: an empty text, or only words that are too rare or too frequent"
_COUNTED = {
    "instances_without_labels": "{count:,} instances have no label: left out",
    "labels_renamed": "{count:,} labels of instances were renamed or dropped by label_map",
    "lines_without_a_tab": "{count:,} lines of the corpus have no tab, so no subjects: left out",
    "documents_without_subjects": "{count:,} documents of the corpus have no subjects: left out",
    "deprecated_subjects": "{count:,} subjects of the vocabulary are deprecated: left out",
    "subjects_named_in_another_language": "{count:,} subjects have no name in the language: they have another's",
    "subjects_not_in_vocabulary": "{count:,} subjects of instances are not in the vocabulary: left out",
    "train_without_features": f"{{count:,}} of {{train_instances:,}} training instances {_NO_FEATURE}",
    "train_without_labels": "{count:,} of {train_instances:,} training instances have no label: "
    "they are negatives of all labels; unlabelled: drop leaves them out",
    "test_without_features": f"{{count:,}} of {{test_instances:,}} test instances {_NO_FEATURE}",
    "test_without_labels": "{count:,} of {test_instances:,} test instances have no label",
}
_HTML = 0.01
"""Share of texts with markup above which a remark is made."""
_ODD = 0.9
"""Share of labels that occur once, and of test instances without a known label, above which something is wrong."""


def remarks_on(prepared):
    source = prepared.parameters["source"]
    counts = source["counts"]
    return [
        *_on_files(source.get("files", {})),
        *(text.format(count=counts[name], **counts) for name, text in _COUNTED.items() if counts.get(name)),
        *_on_spaces(prepared),
        *_on_unknown_labels(prepared, counts),
        *_on_markup(counts),
        *_on_given_names(prepared, counts),
    ]


def _on_files(files):
    if "test" in files and files["test"]["sha256"] == files["train"]["sha256"]:
        yield "the test file is the training file: figures say what the model remembers, not how good it is"


def _on_spaces(prepared):
    blocks = prepared.parameters.get("features", ())
    if blocks and "characters" not in " ".join(blocks) and without_spaces(prepared.feature_names):
        yield f"many texts have no spaces between words: {PIECES}"


def _on_unknown_labels(prepared, counts):
    unknown = counts.get("test_labels_unknown_in_train", 0)
    if unknown:
        yield (
            f"{unknown:,} of {unknown + len(prepared.test.Y.indices):,} labels of test instances occur in no training "
            f"instance ({counts['different_test_labels_unknown_in_train']:,} different ones): nobody can learn them, "
            "metrics leave them out"
        )


def _on_markup(counts):
    marked, instances = counts.get("texts_with_markup", 0), counts["train_instances"] + counts["test_instances"]
    if marked > _HTML * instances:
        yield (
            f"{marked:,} of {instances:,} texts contain HTML such as &amp; or <b>, which becomes words: "
            "html: true removes it"
        )


def _on_given_names(prepared, counts):
    """What may be wrong with labels that the texts name."""
    if "different_test_labels_unknown_in_train" not in counts:
        return
    alike = defaultdict(list)
    for name in prepared.label_names:
        alike[" ".join(name.split()).casefold()].append(name)
    groups = [group for group in alike.values() if len(group) > 1]
    if groups:
        first, second, *_ = groups[0]
        yield (
            f"{sum(map(len, groups)):,} labels differ only in case or spaces, such as {first!r} and {second!r}: "
            "they are different labels"
        )
    Y = prepared.train.Y
    positives = np.bincount(Y.indices[: Y.indptr[counts["train_instances"]]])
    once = np.count_nonzero(positives == 1)
    if once > _ODD * Y.n_columns and counts["test_without_labels"] > _ODD * counts["test_instances"]:
        yield (
            "nearly all labels occur once, and nearly no test instance has one of them: "
            "text_column and labels_column may be swapped, or label_separator wrong"
        )
