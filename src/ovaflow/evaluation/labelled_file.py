"""A model on a labelled file other than its dataset, and the metrics of ``annif eval``."""

import itertools
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.evaluation import ranking
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.model_comparison import RecordMetrics
from ovaflow.evaluation.reliability import PRECISION_LEVELS, measure_assigned_labels
from ovaflow.labels.hierarchy import compute_levels, list_ancestors
from ovaflow.labels.matrix import count_labels_from_zero, number_labels
from ovaflow.model.model_file import Model
from ovaflow.model.top_k import NO_LABEL
from ovaflow.prediction.familiarity import WordCount, has_many_unknown_words
from ovaflow.prediction.predictor import FeaturesAndFamiliarity, Predictor
from ovaflow.prediction.question import Question
from ovaflow.prediction.sources import (
    BATCH_SIZE,
    NamedColumns,
    choose_file_settings,
    transform_vectors,
)
from ovaflow.prediction.usual_texts import read_usual_texts
from ovaflow.reading.formats import FORMATS, LINES_FORMAT
from ovaflow.reading.instances import count_relabelled, merge_repeated
from ovaflow.records.source import read_file
from ovaflow.reranking.expected_quality import measure_sure_records
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.settings.prepare import PrepareSource, require_settings_of_format
from ovaflow.sparse.csr import CSR, from_scipy


class RankedRecords(NamedTuple):
    """Labels that a model ranks for the records of a file, and what was read of these."""

    measured: EvaluatedPredictions  # n_assigned counts unknown labels, too
    word_count: WordCount  # of records that are texts
    counts: Counter  # of the reading, see remark_on_reading


class _Batch(NamedTuple):
    """Records of a labelled file."""

    instances: FeaturesAndFamiliarity
    labels: list[set[int]]  # labels of each record that the model knows
    n_labels: list[int]  # number of all labels of each record


def choose_reading_settings(model: Model, path: Path, **chosen: Any) -> PrepareSource:
    """Choose the settings to read a file of labelled records.

    They are those of the model's data, except what is ``chosen``.
    """
    settings = choose_file_settings(model, path, **chosen)
    if settings.format == LINES_FORMAT:
        trained_format = model.transform.get("source", {}).get("format")
        settings = settings.model_copy(update={"format": trained_format})
    if settings.format not in FORMATS:
        raise InputError("unknown format", path=path, remedy="give it with --format")
    require_settings_of_format(settings, chosen, path)
    kind = FORMATS[settings.format]
    columns = NamedColumns.from_model(model).feature_names
    if columns and kind.holds_texts and not kind.has_columns:
        message = f"{settings.format} has no columns, and the model also reads {', '.join(columns)}"
        raise InputError(message, path=path, remedy="give a table, such as csv or jsonl")
    return settings


def rank_file(
    predictors: Mapping[str, Predictor],
    path: Path,
    chosen: Mapping[str, Any],
    threads: int = 1,
    question: Question | None = None,
) -> dict[str, RankedRecords]:
    """Rank labels for the records of a file by several models.

    Parameters
    ----------
    predictors : mapping
        The models by their names.
    path : Path
    chosen : mapping
        Settings to read the file, see :func:`choose_reading_settings`.
    threads : int
    question : Question, optional

    Raises
    ------
    InputError
        The models read different numbers of labels.
    """
    answers = {}
    file_labels = chosen.get("file_labels")
    for name, predictor in predictors.items():
        settings = choose_reading_settings(predictor.model, path, **chosen)
        answers[name] = rank_records(predictor, path, settings, question, threads, file_labels)
    (first, theirs), *others = answers.items()
    for name, ours in others:
        if not np.array_equal(ours.measured.n_assigned, theirs.measured.n_assigned):
            their_counts = _describe_counts(theirs.measured)
            our_counts = _describe_counts(ours.measured)
            message = f"{first} reads {their_counts}, {name} {our_counts}"
            options = [*_list_label_options(settings.format), "--format"]
            remedy = f"say how to read it with {' or '.join(options)}"
            raise InputError(message, path=path, remedy=remedy)
    return answers


def _describe_counts(measured: EvaluatedPredictions) -> str:
    return f"{len(measured.n_assigned):,} records with {measured.n_assigned.sum():,} labels"


def rank_records(
    predictor: Predictor,
    path: Path,
    settings: PrepareSource,
    question: Question | None = None,
    threads: int = 1,
    file_labels: Path | None = None,
) -> RankedRecords:
    """Rank the labels that a question allows for the records of a file.

    ``file_labels`` is the file of labels where another one has the features.
    """
    counts: Counter = Counter()
    if FORMATS[settings.format].holds_texts:
        batches = _read_texts(predictor, path, settings, counts)
    else:
        batches = _read_features(predictor, path, settings, file_labels)
    question = (question or Question()).model_copy(update={"top_k": N_CANDIDATES})
    allowed = predictor.allowed_labels(question)
    ids = []
    scores = []
    rows = []
    n_assigned = []
    word_counts = []
    for batch in batches:
        ranked = predictor.rank(batch.instances, question, threads)
        ids.append(ranked.ids)
        scores.append(ranked.scores)
        for known, n_labels in zip(batch.labels, batch.n_labels, strict=True):
            # labels that are not asked for are not missing
            asked = known
            if allowed is not None:
                asked = {label for label in known if allowed[label]}
            rows.append(asked)
            n_assigned.append(n_labels - len(known) + len(asked))
        if batch.instances.familiarity is not None:
            word_counts.append(batch.instances.familiarity.word_count)
    if not any(rows):
        _refuse_without_labels(predictor, path, settings.format, has_labels=any(n_assigned))
    order = ranking.Ranked(np.concatenate(ids), _make_label_matrix(rows, predictor.n_labels))
    measured = EvaluatedPredictions(
        order=order,
        candidates=order,
        values=np.concatenate(scores),
        probabilistic=predictor.model.probabilistic,
        n_assigned=np.array(n_assigned),
    )
    return RankedRecords(measured, WordCount.sum(word_counts), counts)


def _refuse_without_labels(
    predictor: Predictor, path: Path, format: str, *, has_labels: bool
) -> NoReturn:
    """Refuse a file that has no labels, or none that the model knows."""
    message = "no record has a label"
    if has_labels:
        message = f"no label of any record is one of those of {predictor.model.path}"
    remedy = "check the file"
    options = _list_label_options(format)
    if options:
        remedy = f"check {' and '.join(options)}"
    raise InputError(message, path=path, remedy=remedy)


def _list_label_options(format: str) -> list[str]:
    """List the options that say where the labels of a record are."""
    return [f"--{name.replace('_', '-')}" for name in FORMATS[format].label_settings]


def _make_label_matrix(rows: Sequence[set[int]], n_labels: int) -> CSR:
    """Make the matrix of the labels of each record."""
    indices: list[int] = []
    indptr = [0]
    for labels in rows:
        indices += sorted(labels)
        indptr.append(len(indices))
    ones = np.ones(len(indices), np.float32)
    matrix = scipy.sparse.csr_array(
        (ones, np.array(indices, np.int32), indptr), shape=(len(rows), n_labels)
    )
    return from_scipy(matrix)


def _read_texts(
    predictor: Predictor, path: Path, settings: PrepareSource, counts: Counter
) -> Iterator[_Batch]:
    """Read records that are texts, or vectors in a column."""
    uris = [*predictor.label_uris, *predictor.model.names.replaced]
    instances = merge_repeated(read_file(settings, path, counts, uris), settings.repeated)
    if settings.repeated == "keep" and not settings.vector_column:
        instances = count_relabelled(instances, counts)
    model = predictor.model
    numbers = number_labels(model, model.transform, settings.first_label)
    while batch := list(itertools.islice(instances, BATCH_SIZE)):
        labels = []
        n_labels = []
        for instance in batch:
            known = {numbers[label] for label in instance.labels if label in numbers}
            ancestors = _find_ancestors(model.above, known)
            labels.append(known | ancestors)
            n_labels.append(len(instance.labels) + len(ancestors))
        # a column of vectors has arrays in place of texts
        texts: list[Any] = [instance.text for instance in batch]
        if settings.vector_column:
            features = FeaturesAndFamiliarity(transform_vectors(predictor, texts, str(path)))
        else:
            features = predictor.read_texts(texts, [instance.feature_values for instance in batch])
        yield _Batch(features, labels, n_labels)


def _find_ancestors(above: CSR | None, labels: set[int]) -> set[int]:
    """Find the broader labels that are implied by labels and not among them."""
    ancestors: set[int] = set()
    if above is not None:
        for label in labels:
            ancestors.update(list_ancestors(above, label))
    return ancestors - labels


def _read_features(
    predictor: Predictor, path: Path, settings: PrepareSource, file_labels: Path | None
) -> Iterator[_Batch]:
    """Read records that are features."""
    first = predictor.model.transform.get("first_feature")
    _, [(X, Y)] = FORMATS[settings.format].read([path], [file_labels], first)
    d = predictor.n_source_features
    if X.n_columns > d:
        message = f"{X.n_columns:,} features, the model has {d:,}"
        raise InputError(message, path=path, remedy="give a file with its features")
    Y = count_labels_from_zero(Y, settings.first_label, path)
    labels = np.split(Y.indices, Y.indptr[1:-1])
    known = [set(row[row < predictor.n_labels].tolist()) for row in labels]
    features = FeaturesAndFamiliarity(predictor.transformed(X._replace(n_columns=d)))
    yield _Batch(features, known, [len(row) for row in labels])


def summarize_metrics(measured: EvaluatedPredictions, metrics: RecordMetrics) -> dict[str, float]:
    """Count records and labels, and add the means of metrics, by name."""
    n_assigned = measured.n_assigned
    n_known = measured.candidates.positives
    return {
        "records": len(n_assigned),
        "records without labels": int((n_assigned == 0).sum()),
        "records with a known label": int((n_known > 0).sum()),
        "records with an unknown label": int((n_assigned > n_known).sum()),
        "labels": int(n_assigned.sum()),
        "unknown labels": int((n_assigned - n_known).sum()),
        **metrics.means,
    }


def measure_by_probability(measured: EvaluatedPredictions) -> list[dict[str, Any]]:
    """Measure probable labels of records with labels, see :func:`measure_assigned_labels`.

    True labels that the model does not know count, too.
    """
    labelled = measured.keep_labelled()
    return measure_assigned_labels(labelled.values, labelled.hits, measured.n_assigned.sum())


def measure_by_precision(measured: EvaluatedPredictions) -> list[dict[str, Any]]:
    """Measure answers of high expected precision, see :func:`measure_sure_records`.

    Only records with labels count.
    """
    labelled = measured.keep_labelled()
    return measure_sure_records(PRECISION_LEVELS, labelled.values, labelled.hits)


def measure_by_level(measured: EvaluatedPredictions, model: Model) -> list[dict[str, Any]]:
    """Measure how often the first label predicted at each level of the hierarchy is right.

    Only records with a label at that level count.
    """
    if model.above is None:
        return []
    levels = compute_levels(model.above)
    candidates = measured.candidates
    Y = candidates.Y.to_scipy()
    rows = []
    for level in range(1, levels.max() + 1):
        is_labelled = Y[:, levels == level].sum(axis=1) > 0
        is_at_level = (candidates.ids >= 0) & (levels[candidates.ids] == level)
        is_first = is_at_level & (is_at_level.cumsum(axis=1) == 1)
        right = (is_first & candidates.hits).any(axis=1)[is_labelled]
        n_records = int(is_labelled.sum())
        row = {
            "level": level,
            "labels": int((levels == level).sum()),
            "records": n_records,
            "right": float(right.mean()) if n_records else None,
        }
        rows.append(row)
    return rows


def compare_unknown_words(answers: RankedRecords, model: Model) -> dict[str, Any]:
    """Compare the share of words that a model does not know with that of its test set.

    A share is None where it is not known.
    """
    share = answers.word_count.unknown_share
    usual_share = read_usual_texts(model).unknown_share
    far_off = has_many_unknown_words(len(answers.measured.n_assigned), share, usual_share)
    return {"share": share, "reference": usual_share, "far_off": far_off}


def measure_by_label(measured: EvaluatedPredictions, model: Model) -> dict[int, dict[str, Any]]:
    """Measure each label, by its number.

    Labels that are neither true nor predicted are left out.
    """
    labelled = measured.keep_labelled()
    candidates = labelled.candidates
    counts = candidates.count_labels(labelled.predicted)
    predicted_ids = np.where(labelled.predicted, candidates.ids, NO_LABEL)
    assigned = ranking.make_indicator_matrix(predicted_ids, candidates.Y)
    precision, recall, f1 = compute_averages(candidates.Y.to_scipy() > 0, assigned, None)
    columns: dict[str, Any] = {"label": model.label_names}
    if len(model.label_uris):
        columns["uri"] = model.label_uris
    columns["positives"] = counts.true
    columns["predicted"] = counts.predicted
    columns["precision"] = precision
    columns["recall"] = recall
    columns["F1"] = f1
    entries = {}
    for label in np.flatnonzero(counts.true + counts.predicted).tolist():
        entries[label] = {name: values[label] for name, values in columns.items()}
    return entries


_AVERAGES = {
    "doc avg": "samples",
    "subj avg": "macro",
    "weighted subj avg": "weighted",
    "microavg": "micro",
}
"""Averages of scikit-learn by the names that ``annif eval`` gives them."""


def compute_annif_metrics(ranked: ranking.Ranked) -> dict[str, float]:
    """Compute the metrics of ``annif eval``.

    All predicted labels count as assigned, at k the first k. Averages are scikit-learn's, with 0
    for 0 / 0; instances without labels have an NDCG of 1.
    """
    ids = ranked.ids
    Y = ranked.Y
    true = Y.to_scipy() > 0
    predicted = ranking.make_indicator_matrix(ids, Y)
    metrics: dict[str, float] = {}
    for name, average in _AVERAGES.items():
        precision, recall, f1 = compute_averages(true, predicted, average)
        metrics[f"Precision ({name})"] = float(precision)
        metrics[f"Recall ({name})"] = float(recall)
        metrics[f"F1 score ({name})"] = float(f1)
    _, _, f1 = compute_averages(true, ranking.make_indicator_matrix(ids[:, :5], Y), "samples")
    metrics["F1@5"] = float(f1)
    metrics["NDCG"] = _compute_ndcg(ranked, Y.n_columns)
    for k in (5, 10):
        metrics[f"NDCG@{k}"] = _compute_ndcg(ranked, k)
    for k in (1, 3, 5):
        first = ranking.make_indicator_matrix(ids[:, :k], Y)
        precision, _, _ = compute_averages(true, first, "samples")
        metrics[f"Precision@{k}"] = float(precision)
    true_positives = int(ranked.hits.sum())
    n_assigned = int((ids >= 0).sum())
    return metrics | {
        "True positives": true_positives,
        "False positives": n_assigned - true_positives,
        "False negatives": len(Y.indices) - true_positives,
        "Documents evaluated": Y.n_rows,
    }


def compute_averages(
    true: "scipy.sparse.csr_array", assigned: "scipy.sparse.csr_array", average: str | None
) -> tuple[Any, Any, Any]:
    """Compute precision, recall and F1 by an average of scikit-learn; None: of each label."""
    # loading scikit-learn takes a second
    from sklearn.metrics import precision_recall_fscore_support

    with warnings.catch_warnings():
        # scikit-learn warns whenever it divides by zero
        warnings.simplefilter("ignore")
        precision, recall, f1, _ = precision_recall_fscore_support(true, assigned, average=average)
    return precision, recall, f1


def _compute_ndcg(ranked: ranking.Ranked, k: int) -> float:
    """Compute the mean of DCG / ideal DCG; 1 for instances without labels.

    The ideal has at most k labels of the instance.
    """
    reached, has_label = ranking.ndcg(ranked, k)
    return float(np.where(has_label, reached, 1).mean())
