"""A model on a labelled file other than its dataset, and the metrics of ``annif eval``."""

import itertools
import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from ovaflow.console.errors import InputError
from ovaflow.evaluation import ranking
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.reliability import PRECISION_LEVELS, measure_assigned_labels
from ovaflow.labels.hierarchy import compute_levels, list_ancestors
from ovaflow.labels.matrix import number_labels
from ovaflow.prediction.familiarity import WordCount, has_many_unknown_words
from ovaflow.prediction.predictor import FeaturesAndFamiliarity
from ovaflow.prediction.question import Question
from ovaflow.prediction.sources import (
    BATCH_SIZE,
    LINES_FORMAT,
    NamedColumns,
    choose_file_settings,
    transform_vectors,
)
from ovaflow.prediction.usual_texts import read_usual_texts
from ovaflow.reading.formats import FORMATS
from ovaflow.reading.instances import merge_repeated
from ovaflow.records.source import read_file
from ovaflow.reranking.expected_quality import measure_sure_records
from ovaflow.settings.predict import N_CANDIDATES
from ovaflow.sparse.csr import from_scipy


class RankedRecords(NamedTuple):
    """What a model ranks for the records of a file, and its words."""

    measured: EvaluatedPredictions  # n_true counts unknown labels, too
    word_count: WordCount  # of records that are texts


def choose_reading_settings(model, path, **chosen):
    """Settings to read a file of labelled records: those of the model's data, except what is
    chosen.
    """
    settings = choose_file_settings(model, path, **chosen)
    if settings.format == LINES_FORMAT:
        trained = model.transform.get("source", {}).get("format")
        settings = settings.model_copy(update={"format": trained})
    if settings.format not in FORMATS:
        raise InputError("unknown format", path=path, remedy="give it with --format")
    kind = FORMATS[settings.format]
    beside = NamedColumns.from_model(model).feature_names
    if beside and kind.holds_texts and not kind.has_columns:
        message = f"{settings.format} has no columns, and the model also reads {', '.join(beside)}"
        raise InputError(message, path=path, remedy="give a table, such as csv or jsonl")
    return settings


def rank_file(predictors, path, chosen, threads=1, question=None):
    """What models rank for the records of a file, by their names; all must read the same."""
    answers = {}
    file_labels = chosen.get("file_labels")
    for name, predictor in predictors.items():
        settings = choose_reading_settings(predictor.model, path, **chosen)
        answers[name] = rank_records(predictor, path, settings, question, threads, file_labels)
    (first, theirs), *others = answers.items()
    for name, ours in others:
        if not np.array_equal(ours.measured.n_true, theirs.measured.n_true):
            message = f"{first} reads {_amounts(theirs.measured)}, {name} {_amounts(ours.measured)}"
            remedy = "say how to read it with --labels-column, --label-separator or --format"
            raise InputError(message, path=path, remedy=remedy)
    return answers


def _amounts(measured):
    return f"{len(measured.n_true):,} records with {measured.n_true.sum():,} labels"


def rank_records(predictor, path, settings, question=None, threads=1, file_labels=None):
    """What a model ranks for the records of a file, of the labels that a question allows."""
    read = _read_texts
    if not FORMATS[settings.format].holds_texts:
        read = partial(_read_features, file_labels=file_labels)
    question = (question or Question()).model_copy(update={"top_k": N_CANDIDATES})
    allowed = predictor.allowed_labels(question)
    predictions = []
    rows = []
    n_true = []
    word_counts = []
    for instances, labels, counts in read(predictor, path, settings):
        ranked = predictor.rank(instances, question, threads)
        predictions.append((ranked.ids, ranked.scores))
        for known, count in zip(labels, counts, strict=True):
            # others are not asked for, so they are not missing
            asked = known if allowed is None else {label for label in known if allowed[label]}
            rows.append(asked)
            n_true.append(count - len(known) + len(asked))
        if instances.familiarity is not None:
            word_counts.append(instances.familiarity.word_count)
    if not any(rows):
        what = "no record has a label"
        if any(n_true):
            what = f"no label of any record is one of those of {predictor.model.path}"
        remedy = (
            "check --labels-column and --label-separator"
            if read is _read_texts
            else "check the file"
        )
        raise InputError(what, path=path, remedy=remedy)
    ids, scores = map(np.concatenate, zip(*predictions, strict=True))
    ranked = ranking.Ranked(ids, _matrix(rows, predictor.n_labels))
    measured = EvaluatedPredictions(
        ranked, ranked, scores, predictor.model.probabilistic, np.array(n_true)
    )
    return RankedRecords(measured, WordCount.sum(word_counts))


def _matrix(rows, n_labels):
    indices = np.fromiter(itertools.chain.from_iterable(map(sorted, rows)), np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    ones = np.ones(len(indices), np.float32)
    return from_scipy(scipy.sparse.csr_array((ones, indices, indptr), shape=(len(rows), n_labels)))


def _read_texts(predictor, path, settings):
    """Batches of features, known labels of each record, and the number of all its labels."""
    uris = [*predictor.label_uris, *predictor.model.names.replaced]
    instances = merge_repeated(read_file(settings, path, uris), settings.repeated)
    numbers = number_labels(predictor.model, predictor.model.transform)
    above = predictor.model.above
    while batch := list(itertools.islice(instances, BATCH_SIZE)):
        labels = [set(map(numbers.get, each.labels)) - {None} for each in batch]
        counts = [len(each.labels) for each in batch]
        if above is not None:
            for number, known in enumerate(labels):
                higher = set().union(*(list_ancestors(above, label) for label in known)) - known
                labels[number] = known | higher
                counts[number] = counts[number] + len(higher)
        texts = [each.text for each in batch]
        if settings.vector_column:
            features = FeaturesAndFamiliarity(transform_vectors(predictor, texts, path))
        else:
            features = predictor.read_texts(texts, [each.feature_values for each in batch])
        yield features, labels, counts


def _read_features(predictor, path, settings, file_labels):
    first = predictor.model.transform.get("first_feature")
    _, [(X, Y)] = FORMATS[settings.format].read([path], [file_labels], first)
    d = predictor.n_source_features
    if X.n_columns > d:
        raise InputError(
            f"{X.n_columns:,} features, the model has {d:,}", path=path, remedy="give its features"
        )
    labels = np.split(Y.indices, Y.indptr[1:-1])
    known = [set(row[row < predictor.n_labels].tolist()) for row in labels]
    features = FeaturesAndFamiliarity(predictor.transformed(X._replace(n_columns=d)))
    yield features, known, list(map(len, labels))


def summarize_figures(measured, figures):
    """Numbers of records and labels, and the means of figures, by name."""
    n_true = measured.n_true
    known = measured.candidates.positives
    return {
        "records": len(n_true),
        "records without labels": int((n_true == 0).sum()),
        "records with a known label": int((known > 0).sum()),
        "records with an unknown label": int((n_true > known).sum()),
        "labels": int(n_true.sum()),
        "unknown labels": int((n_true - known).sum()),
        **figures.means,
    }


def measure_by_probability(measured):
    """How good probable labels are, on records with labels; as :func:`automatic`, for all labels."""
    labelled = measured.keep_labelled()
    return measure_assigned_labels(labelled.values, labelled.hits, measured.n_true.sum())


def measure_by_precision(measured):
    """How good answers of high expected precision are, on records with labels; as
    :func:`sure_records`.
    """
    labelled = measured.keep_labelled()
    return measure_sure_records(PRECISION_LEVELS, labelled.values, labelled.hits)


def measure_by_level(measured, model):
    """How often the first label predicted at each level is right, of the records with a label
    there.
    """
    if model.above is None:
        return []
    levels = compute_levels(model.above)
    ranked = measured.candidates
    Y = ranked.Y.to_scipy()
    rows = []
    for level in range(1, levels.max() + 1):
        labelled = Y[:, levels == level].sum(axis=1) > 0
        here = (ranked.ids >= 0) & (levels[ranked.ids] == level)
        first = here & (here.cumsum(axis=1) == 1)
        right = (first & ranked.hits).any(axis=1)[labelled]
        n_labels = int((levels == level).sum())
        records = int(labelled.sum())
        share = float(right.mean()) if records else None
        rows.append({"level": level, "labels": n_labels, "records": records, "right": share})
    return rows


def compare_unknown_words(answers, model):
    """Compare the share of words that a model does not know with that of its test set; None where
    one is not known.
    """
    share = answers.word_count.unknown_share
    usual_share = read_usual_texts(model).unknown_share
    far_off = has_many_unknown_words(len(answers.measured.n_true), share, usual_share)
    return {"share": share, "reference": usual_share, "far_off": far_off}


def measure_by_label(measured, model):
    """How often labels are true and predicted, and how well, by their numbers; those that are
    neither are left out.
    """
    labelled = measured.keep_labelled()
    positives, predicted, _ = labelled.candidates.count_labels(labelled.predicted)
    assigned = ranking.make_indicator_matrix(
        np.where(labelled.predicted, labelled.candidates.ids, -1), labelled.candidates.Y
    )
    precision, recall, f1 = compute_averages(labelled.candidates.Y.to_scipy() > 0, assigned, None)
    columns = {"label": model.label_names}
    if len(model.label_uris):
        columns["uri"] = model.label_uris
    columns |= {"positives": positives, "predicted": predicted}
    columns |= {"precision": precision, "recall": recall, "F1": f1}
    return {
        label: {name: values[label] for name, values in columns.items()}
        for label in np.flatnonzero(positives + predicted).tolist()
    }


_AVERAGES = {
    "doc avg": "samples",
    "subj avg": "macro",
    "weighted subj avg": "weighted",
    "microavg": "micro",
}


def compute_annif_metrics(ranked):
    """The metrics of ``annif eval``: all predicted labels count as assigned, at k the first k.

    Averages are scikit-learn's, with 0 for 0 / 0; instances without labels have an NDCG of 1.
    """
    ids = ranked.ids
    Y = ranked.Y
    true = Y.to_scipy() > 0
    predicted = ranking.make_indicator_matrix(ids, Y)
    metrics = {}
    for name, average in _AVERAGES.items():
        values = compute_averages(true, predicted, average)
        for measure, value in zip(("Precision", "Recall", "F1 score"), values, strict=True):
            metrics[f"{measure} ({name})"] = float(value)
    metrics["F1@5"] = float(
        compute_averages(true, ranking.make_indicator_matrix(ids[:, :5], Y), "samples")[2]
    )
    metrics["NDCG"] = _ndcg(ranked, Y.n_columns)
    for k in (5, 10):
        metrics[f"NDCG@{k}"] = _ndcg(ranked, k)
    for k in (1, 3, 5):
        metrics[f"Precision@{k}"] = float(
            compute_averages(true, ranking.make_indicator_matrix(ids[:, :k], Y), "samples")[0]
        )
    true_positives = int(ranked.hits.sum())
    assigned = int((ids >= 0).sum())
    return metrics | {
        "True positives": true_positives,
        "False positives": assigned - true_positives,
        "False negatives": len(Y.indices) - true_positives,
        "Documents evaluated": Y.n_rows,
    }


def compute_averages(true, assigned, average):
    """Precision, recall and F1 by scikit-learn's averages; None: of each label."""
    # loading scikit-learn takes a second
    from sklearn.metrics import precision_recall_fscore_support

    with warnings.catch_warnings():
        # scikit-learn warns whenever it divides by zero
        warnings.simplefilter("ignore")
        return precision_recall_fscore_support(true, assigned, average=average)[:3]


def _ndcg(ranked, k):
    """Mean of DCG / ideal DCG, the ideal with k labels of the instance at most; 1 for instances
    without labels.
    """
    reached, some = ranking.ndcg(ranked, k)
    return float(np.where(some, reached, 1).mean())
