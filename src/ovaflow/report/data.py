"""The section Data: what was read, from where, and how features were made."""

from dataclasses import dataclass

import numpy as np

from ovaflow.dataset.dataset import count_without_known_labels
from ovaflow.features.columns import select_text_features
from ovaflow.reading.feature_columns import COLUMN_KINDS
from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.sparse.csr import count_row_nonzeros

FEW_POSITIVES = 5  # labels with at most this many training positives are rare

_SHOWN_AMONG_FACTS = ("_instances", "_without_labels", "_labels_only", "_without_features")


@dataclass(frozen=True)
class DatasetSummary:
    name: str
    things: str  # what instances are: texts, or instances
    n_train: int
    n_test: int
    is_builtin: bool  # whether its texts are the docstrings of this machine
    counts: np.ndarray  # training positives of each label
    known: (
        np.ndarray
    )  # labels that models can predict: those without positives may be known by their names
    unlabelled: int  # training instances without any label
    facts: list  # title, figure and remark of each
    source: list  # provenance, pairs of name and words
    transform: str  # how features were made
    reading: list  # how the files were read, pairs of name and words


def summarize_dataset(name, dataset, reading=()):
    known = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels) > 0
    dataset = dataset.documents
    things = "texts" if dataset.test_texts([0]) else "instances"
    source = list(describe_source(dataset.parameters.get("source", {})))
    left_out = (
        dataset.parameters.get("source", {})
        .get("counts", {})
        .get("train_with_unknown_labels_only", 0)
    )
    unlabelled, _ = count_without_known_labels(dataset.train.Y, dataset.counts, left_out)
    return DatasetSummary(
        name=name,
        things=things,
        n_train=dataset.train.X.n_rows,
        n_test=dataset.test.X.n_rows,
        is_builtin=dataset.parameters.get("source", {}).get("format") == "builtin",
        counts=dataset.counts,
        known=known,
        unlabelled=unlabelled,
        facts=_facts(dataset),
        source=source,
        transform=describe_features(dataset.parameters),
        reading=list(reading),
    )


def describe_source(source):
    """Where a dataset comes from, as pairs of name and words."""
    if source.get("format"):
        yield "format", source["format"]
    for role, file in source.get("files", {}).items():
        yield (
            role.replace("_", " "),
            f"{file['name']}, {wording.size(file['bytes'])}, sha256 {file['sha256']}",
        )
    if source.get("text_column"):
        yield "text column", source["text_column"]
    for name, number in source.get("counts", {}).items():
        if number and not name.endswith(_SHOWN_AMONG_FACTS):
            # the built-in dataset has the version of Python there, too
            yield (
                name.replace("_", " "),
                number if isinstance(number, str) else wording.count(number),
            )


def _facts(dataset):
    train = dataset.train
    test = dataset.test
    counts = dataset.counts
    bias = dataset.parameters.get("bias", 0) != 0
    trained = int((counts > 0).sum())
    storage = (
        "training mean; rows stored in full" if dataset.parameters.get("dense") else "training mean"
    )
    rare = count_rare(counts) / max(trained, 1)
    mean = len(train.Y.indices) / max(trained, 1)
    untrained = f"{dataset.n_labels - trained:,} without training positives"
    with_bias = "and a bias feature" if bias else "no bias feature"
    gaps = _gaps(dataset, "train", "the vocabulary lacks")
    gaps_in_test = _gaps(dataset, "test", "no training instance has")
    dev = []
    if dataset.dev is not None:
        gaps_in_dev = _gaps(dataset, "dev", "no training instance has")
        dev = [("dev instances", wording.count(dataset.dev.X.n_rows), gaps_in_dev)]
    return [
        ("training instances", wording.count(train.X.n_rows), gaps),
        *dev,
        ("test instances", wording.count(test.X.n_rows), gaps_in_test),
        ("features", wording.count(dataset.n_features - bias), with_bias),
        ("labels", wording.count(dataset.n_labels), untrained),
        ("nonzeros per instance", wording.decimal(_mean(train.X) - bias), storage),
        (
            "labels per instance",
            wording.decimal(_mean(train.Y)),
            f"test {wording.decimal(_mean(test.Y))}",
        ),
        ("positives per label", wording.decimal(mean), "training mean"),
        (
            f"labels with ≤ {FEW_POSITIVES} positives",
            f"{wording.percent(rare, 1)} %",
            "of those with any",
        ),
    ]


def _mean(matrix):
    return int(count_row_nonzeros(matrix).sum()) / max(matrix.n_rows, 1)


def _gaps(dataset, part, why):
    counts = dataset.parameters.get("source", {}).get("counts", {})
    split = getattr(dataset, part)
    left_out = counts.get(f"{part}_with_unknown_labels_only", 0)
    unlabelled, unknown = count_without_known_labels(split.Y, dataset.counts, left_out)
    empty = int(
        (
            count_row_nonzeros(select_text_features(split.X, dataset.parameters))
            <= (dataset.bias_feature >= 0)
        ).sum()
    )
    of_labels = f", {unknown:,} only labels that {why}" if unknown else ""
    return f"{unlabelled:,} have no label{of_labels}, {empty:,} no feature"


def describe_features(parameters):
    """How features were made, from the settings in the dataset file."""
    bias = parameters.get("bias", 0)
    words = [
        _tfidf_words(parameters) if parameters.get("tfidf") else "feature values as in the source",
        "rows scaled to unit length" if parameters.get("normalize") else "rows not scaled",
        f"bias feature of value {bias:g}" if bias else "no bias feature",
    ]
    if beside := parameters.get("columns"):
        names = ", ".join(
            each["name"] for kind in COLUMN_KINDS for each in beside.get(kind.plural, ())
        )
        words.append(
            f"{beside['features']:,} features of {names}, each weighs {beside['weight']:g}"
        )
    if "label_names_without_features" in parameters.get("source", {}).get("counts", {}):
        words.append("labels also learn from their names")
    return "; ".join(words)


def _tfidf_words(parameters):
    details = []
    if parameters.get("features"):
        details.append(" and ".join(block.replace("=", " ") for block in parameters["features"]))
    if parameters.get("left_out"):
        details.append(f"without {len(parameters['left_out']):,} stop words")
    weights = parameters.get("column_weights") or [1.0]
    if max(weights) != min(weights):
        details.append(f"columns weighted {', '.join(f'{weight:g}' for weight in weights)}")
    if parameters.get("sublinear"):
        details.append("ln(1 + tf)")
    if parameters.get("min_df") is not None:
        details.append(
            f"terms in at least {_frequency(parameters['min_df'])} of the training texts"
        )
    if parameters.get("max_df") not in (None, 1.0):
        details.append(f"in at most {_frequency(parameters['max_df'])} of them")
    if parameters.get("max_features"):
        details.append(f"the {parameters['max_features']:,} most frequent")
    brackets = f" ({', '.join(details)})" if details else ""
    return f"tf-idf, vocabulary and idf from the training set only{brackets}"


def _frequency(bound):
    return f"{100 * bound:g} %" if isinstance(bound, float) else f"{bound:,}"


def show_data(anchor, results):
    return {"card": results.card}


def count_rare(counts):
    """Count the labels with few training positives, but some."""
    return int(((counts > 0) & (counts <= FEW_POSITIVES)).sum())


SECTION = ReportSection("data", "Data", show_data)
