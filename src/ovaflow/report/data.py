"""The section Data: size and origin of a dataset, and how its features were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ovaflow.dataset.dataset import Dataset, count_without_known_labels
from ovaflow.features.columns import select_text_features
from ovaflow.features.tokens import SYMBOLS
from ovaflow.reading.feature_columns import COLUMN_KINDS
from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.sparse.csr import CSR, count_row_nonzeros

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults

FEW_POSITIVES = 5
"""Labels with at most this many training positives are rare."""

# endings of counts of a source that facts show, so that they are not listed again
_SHOWN_AMONG_FACTS = ("_instances", "_without_labels", "_labels_only", "_without_features")


@dataclass(frozen=True)
class DatasetSummary:
    """Size and origin of a dataset."""

    name: str
    noun: str  # the plural noun for instances: texts, or instances
    n_train: int
    n_test: int
    # True: the setting split does not choose the test set, which is a file or that of builtin
    has_given_test_set: bool
    counts: np.ndarray  # training positives of each label
    # bool (l,): labels that models can predict; their names count as positives
    known: np.ndarray
    unlabelled: int  # training instances without any label
    facts: list[tuple[str, str, str]]  # title, number and remark of each
    source: list[tuple[str, str]]  # origin, pairs of name and words
    transform: str  # how features were made
    reading: list[tuple[str, str]]  # how the files were read, pairs of name and words


def summarize_dataset(
    name: str, dataset: Dataset, reading: Iterable[tuple[str, str]] = ()
) -> DatasetSummary:
    """Summarize a dataset.

    Parameters
    ----------
    name : str
        Its name on the page.
    dataset : Dataset
        The dataset, with names of labels among the training instances where it has some.
    reading : iterable of (str, str)
        How its files were read, pairs of name and words.
    """
    known = np.bincount(dataset.train.Y.indices, minlength=dataset.n_labels) > 0
    dataset = dataset.documents
    source = dataset.parameters.get("source", {})
    left_out = source.get("counts", {}).get("train_with_unknown_labels_only", 0)
    unlabelled, _ = count_without_known_labels(dataset.train.Y, dataset.counts, left_out)
    return DatasetSummary(
        name=name,
        noun="texts" if dataset.test_texts([0]) else "instances",
        n_train=dataset.train.X.n_rows,
        n_test=dataset.test.X.n_rows,
        has_given_test_set=source.get("format") == "builtin" or "test" in source.get("files", {}),
        counts=dataset.counts,
        known=known,
        unlabelled=unlabelled,
        facts=_list_facts(dataset),
        source=list(describe_source(source)),
        transform=describe_features(dataset.parameters),
        reading=list(reading),
    )


def describe_source(source: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Describe the origin of a dataset, as pairs of name and words."""
    if source.get("format"):
        yield "format", source["format"]
    for role, file in source.get("files", {}).items():
        words = f"{file['name']}, {wording.size(file['bytes'])}, sha256 {file['sha256']}"
        yield role.replace("_", " "), words
    if source.get("text_column"):
        yield "text column", source["text_column"]
    for name, number in source.get("counts", {}).items():
        if not number or name.endswith(_SHOWN_AMONG_FACTS):
            continue
        # among the counts of the built-in dataset is the version of Python, a string
        words = number if isinstance(number, str) else wording.count(number)
        yield name.replace("_", " "), words


def _list_facts(dataset: Dataset) -> list[tuple[str, str, str]]:
    """Return the facts of the summary: title, number and remark of each."""
    return [*_list_facts_of_parts(dataset), *_list_facts_of_matrices(dataset)]


def _list_facts_of_parts(dataset: Dataset) -> Iterator[tuple[str, str, str]]:
    """Return the number of instances of each part."""
    n_train = wording.count(dataset.train.X.n_rows)
    yield "training instances", n_train, _describe_gaps(dataset, "train", "the vocabulary lacks")
    unknown = "no training instance has"
    if dataset.dev is not None:
        n_dev = wording.count(dataset.dev.X.n_rows)
        yield "dev instances", n_dev, _describe_gaps(dataset, "dev", unknown)
    n_test = wording.count(dataset.test.X.n_rows)
    yield "test instances", n_test, _describe_gaps(dataset, "test", unknown)


def _list_facts_of_matrices(dataset: Dataset) -> Iterator[tuple[str, str, str]]:
    """Return the numbers of features and labels, and of each for an instance or label."""
    train = dataset.train
    n_bias = int(dataset.parameters.get("bias", 0) != 0)
    n_features = wording.count(dataset.n_features - n_bias)
    yield "features", n_features, "and a bias feature" if n_bias else "no bias feature"
    n_trained = int((dataset.counts > 0).sum())
    untrained = f"{dataset.n_labels - n_trained:,} without training positives"
    yield "labels", wording.count(dataset.n_labels), untrained
    storage = "training mean"
    if dataset.parameters.get("dense"):
        storage = "training mean; rows stored in full"
    yield "nonzeros per instance", wording.decimal(_compute_mean(train.X) - n_bias), storage
    test_mean = f"test {wording.decimal(_compute_mean(dataset.test.Y))}"
    yield "labels per instance", wording.decimal(_compute_mean(train.Y)), test_mean
    positives_per_label = len(train.Y.indices) / max(n_trained, 1)
    yield "positives per label", wording.decimal(positives_per_label), "training mean"
    rare_share = wording.short_percent(count_rare(dataset.counts) / max(n_trained, 1))
    yield f"labels with ≤ {FEW_POSITIVES} positives", f"{rare_share} %", "of those with any"


def _compute_mean(matrix: CSR) -> float:
    """Compute the mean number of nonzeros of a row."""
    return int(count_row_nonzeros(matrix).sum()) / max(matrix.n_rows, 1)


def _describe_gaps(dataset: Dataset, part: str, reason: str) -> str:
    """Count the instances of a part without labels, known labels or features, in words."""
    counts = dataset.parameters.get("source", {}).get("counts", {})
    split = getattr(dataset, part)
    left_out = counts.get(f"{part}_with_unknown_labels_only", 0)
    unlabelled, unknown = count_without_known_labels(split.Y, dataset.counts, left_out)
    n_nonzeros = count_row_nonzeros(select_text_features(split.X, dataset.parameters))
    n_bias = int(dataset.bias_feature >= 0)
    empty = int(np.count_nonzero(n_nonzeros <= n_bias))
    gaps = [f"{unlabelled:,} have no label"]
    if unknown:
        gaps.append(f"{unknown:,} only labels that {reason}")
    gaps.append(f"{empty:,} no feature")
    return ", ".join(gaps)


def describe_features(parameters: dict[str, Any]) -> str:
    """Describe how features were made, by the settings in the dataset file."""
    bias = parameters.get("bias", 0)
    words = [
        _describe_tfidf(parameters)
        if parameters.get("tfidf")
        else "feature values as in the source",
        "rows scaled to unit length" if parameters.get("normalize") else "rows not scaled",
        f"bias feature of value {bias:g}" if bias else "no bias feature",
    ]
    columns = parameters.get("columns")
    if columns:
        names = []
        for kind in COLUMN_KINDS:
            names += [column["name"] for column in columns.get(kind.plural, ())]
        words.append(
            f"{columns['features']:,} features of {', '.join(names)}, "
            f"each weighs {columns['weight']:g}"
        )
    if "label_names_without_features" in parameters.get("source", {}).get("counts", {}):
        words.append("labels also learn from their names")
    return "; ".join(words)


def _describe_tfidf(parameters: dict[str, Any]) -> str:
    details = []
    if parameters.get("features"):
        details.append(" and ".join(block.replace("=", " ") for block in parameters["features"]))
    if parameters.get("words") == SYMBOLS:
        details.append("words with symbols")
    if parameters.get("left_out"):
        details.append(f"without {len(parameters['left_out']):,} stop words")
    weights = parameters.get("column_weights") or [1.0]
    if max(weights) != min(weights):
        details.append(f"columns weighted {', '.join(f'{weight:g}' for weight in weights)}")
    if parameters.get("sublinear"):
        details.append("ln(1 + tf)")
    if parameters.get("min_df") is not None:
        frequency = _format_frequency(parameters["min_df"])
        details.append(f"terms in at least {frequency} of the training texts")
    if parameters.get("max_df") not in (None, 1.0):
        details.append(f"in at most {_format_frequency(parameters['max_df'])} of them")
    if parameters.get("max_features"):
        details.append(f"the {parameters['max_features']:,} most frequent")
    brackets = f" ({', '.join(details)})" if details else ""
    return f"tf-idf, vocabulary and idf from the training set only{brackets}"


def _format_frequency(bound: float) -> str:
    """Format a bound on document frequency: a share of the texts, or a number of texts."""
    if isinstance(bound, float):
        return f"{100 * bound:g} %"
    return f"{bound:,}"


def show_data(results: DatasetResults) -> dict[str, DatasetSummary]:
    """Show the summary of the dataset."""
    return {"summary": results.data}


def count_rare(counts: np.ndarray) -> int:
    """Count the labels with few training positives, but some."""
    return int(((counts > 0) & (counts <= FEW_POSITIVES)).sum())


SECTION = ReportSection("data", "Data", show_data)
