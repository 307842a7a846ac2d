"""Comparison of models on the same labelled records, and the role of chance in differences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ovaflow.evaluation import ranking
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.metric import find_cutoffs, list_labelled_file_metrics
from ovaflow.evaluation.ranking import InstanceSums, ratio
from ovaflow.evaluation.resampling import interval, interval_of_difference, resample
from ovaflow.reranking.answer_length import count_fitting_labels

DIFFERENCE_METRICS = {"P@1": "P@1", "P@5": "P@5", "F1": "F1 of labels that fit"}
"""Metrics whose differences between models are computed, by short names."""

MIN_BOOTSTRAP_RECORDS = 30
"""Fewest records for which the intervals of a bootstrap are wide enough."""

MAX_CHANGED_LABELS = 10
"""Most labels that are listed of each end of those that changed most."""

_MODEL_COLUMNS = ("predicted", "precision", "recall", "F1")
"""Columns of each model in a table of labels."""


class Difference(NamedTuple):
    """Difference of a model's metric from another model's."""

    difference: float
    low: float  # with high: the interval of the bootstrap
    high: float
    better: int  # number of records in which it is better
    worse: int

    @property
    def verdict(self) -> str:
        """Judgement of the difference in words."""
        if self.low <= 0 <= self.high:
            return "may be chance"
        return "better" if self.low > 0 else "worse"

    @property
    def entry(self) -> dict[str, Any]:
        """The difference and its verdict, for JSON."""
        return self._asdict() | {"verdict": self.verdict}


class RecordMetrics(NamedTuple):
    """Metrics of a model by name, for the records with labels, known to it or not."""

    records: dict[str, InstanceSums]  # what each record adds to two sums, whose ratio is the metric
    # the metrics on the bootstrap's samples of the records, float64 (RESAMPLES,)
    samples: dict[str, np.ndarray]

    @classmethod
    def from_measured(cls, measured: EvaluatedPredictions) -> "RecordMetrics":
        """Compute the metrics of the records that have labels."""
        records = _compute_record_sums(measured.keep_labelled())
        gains = np.column_stack([gains for gains, _ in records.values()])
        best = np.column_stack([best for _, best in records.values()])
        samples = resample(gains, best)
        return cls(records, dict(zip(records, samples.T, strict=True)))

    @property
    def n_records(self) -> int:
        """Number of records with labels."""
        gains, _ = next(iter(self.records.values()))
        return len(gains)

    @property
    def means(self) -> dict[str, float]:
        """The metrics by name."""
        return {
            name: ratio(gains.sum(), best.sum()) for name, (gains, best) in self.records.items()
        }

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Intervals of the metrics by name."""
        return {name: interval(values) for name, values in self.samples.items()}

    def compute_differences(self, other: "RecordMetrics") -> dict[str, Difference]:
        """Compute the difference from another model in each metric that both have."""
        differences = {}
        for name in DIFFERENCE_METRICS.values():
            if name in self.records and name in other.records:
                # compared metrics are means, in which each record counts as one
                own_gains, _ = self.records[name]
                other_gains, _ = other.records[name]
                gains = own_gains - other_gains
                low, high = interval_of_difference(self.samples[name], other.samples[name])
                differences[name] = Difference(
                    difference=float(gains.mean()),
                    low=low,
                    high=high,
                    better=int((gains > 0).sum()),
                    worse=int((gains < 0).sum()),
                )
        return differences


def _compute_record_sums(measured: EvaluatedPredictions) -> dict[str, InstanceSums]:
    """Compute what each record with labels adds to the two sums of each metric."""
    ranked = measured.candidates
    hits = ranked.hits
    n_assigned = measured.n_assigned
    ones = np.ones(len(n_assigned))
    metrics: dict[str, InstanceSums] = {}
    for k in find_cutoffs(ranked.Y.n_columns):
        metrics[f"P@{k}"] = (hits[:, :k].sum(axis=1) / k, ones)
    metrics["recall@5 of all labels"] = (hits[:, :5].sum(axis=1) / n_assigned, ones)
    for name, metric, k in list_labelled_file_metrics(ranked):
        if name not in metrics:
            assert metric.per_instance is not None
            metrics[name] = metric.per_instance(ranked, k)
    if measured.probabilistic:
        lengths = count_fitting_labels(measured.values)
        fit = ranking.compute_answer_metrics(hits, lengths, n_assigned)
        metrics["F1 of labels that fit"] = (fit["F1"], ones)
        metrics["precision of labels that fit"] = (fit["P"], ones)
        metrics["recall of labels that fit"] = (fit["R"], ones)
    return metrics


LabelEntries = Mapping[int, Mapping[str, Any]]
"""Result of :func:`ovaflow.evaluation.labelled_file.measure_by_label`."""


def merge_label_entries(entries_of_models: Mapping[str, LabelEntries]) -> list[dict[str, Any]]:
    """Merge the entries of labels of each model, by its name, into rows of one table.

    Labels of models are the same if they have the same URI, or else the same name.
    """
    rows: dict[str, dict[str, Any]] = {}
    for model, entries in entries_of_models.items():
        for entry in entries.values():
            key = entry.get("uri") or entry["label"]
            new_row = {"label": entry["label"], "uri": entry.get("uri", ""), "positives": 0}
            row = rows.setdefault(key, new_row)
            row["positives"] = max(row["positives"], int(entry["positives"]))
            row[model] = {name: entry[name] for name in _MODEL_COLUMNS}
    return list(rows.values())


def tabulate_label_comparison(
    entries_of_models: Mapping[str, LabelEntries],
) -> Iterator[list[Any]]:
    """Yield the head and rows of a table of labels.

    With several models each has its columns. A share of nothing is empty.
    """
    rows = merge_label_entries(entries_of_models)
    label_columns = ["label", "positives"]
    if any(row["uri"] for row in rows):
        label_columns = ["label", "uri", "positives"]
    head = list(label_columns)
    for model in entries_of_models:
        for name in _MODEL_COLUMNS:
            head.append(f"{name} {model}" if len(entries_of_models) > 1 else name)
    yield head
    for row in rows:
        cells = [row[name] for name in label_columns]
        for model in entries_of_models:
            cells += _format_label(row.get(model), row["positives"])
        yield cells


def _format_label(entry: Mapping[str, Any] | None, positives: int) -> list[Any]:
    """Format the cells of a label of a model; they are empty where it is neither true nor
    predicted.
    """
    if entry is None:
        return [""] * len(_MODEL_COLUMNS)
    wholes = {"precision": entry["predicted"], "recall": positives, "F1": 1}
    cells = [entry["predicted"]]
    for name, whole in wholes.items():
        cells.append(f"{entry[name]:.4f}" if whole else "")
    return cells


def find_changed_labels(
    rows: Sequence[Mapping[str, Any]], before: str, after: str
) -> list[dict[str, Any]]:
    """Find the labels whose F1 changed most between two models, by their names, losses first.

    Labels are sorted by the change times their positives; some of each end are returned.
    """
    changes = []
    for row in rows:
        f1_before = _get_f1(row, before)
        f1_after = _get_f1(row, after)
        if row["positives"] and f1_before != f1_after:
            changes.append(
                {
                    "label": row["label"],
                    "positives": row["positives"],
                    "before": f1_before,
                    "after": f1_after,
                }
            )
    changes.sort(key=lambda change: (change["after"] - change["before"]) * change["positives"])
    if len(changes) > 2 * MAX_CHANGED_LABELS:
        changes = changes[:MAX_CHANGED_LABELS] + changes[-MAX_CHANGED_LABELS:]
    return changes


def _get_f1(row: Mapping[str, Any], model: str) -> float:
    """Get the F1 of a label by a model, 0 where it is neither true nor predicted."""
    if model not in row:
        return 0.0
    return float(row[model]["F1"])
