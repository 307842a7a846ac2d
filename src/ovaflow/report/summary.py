"""The section Summary: quality of the best run in words, and a table of all runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ovaflow.report import wording
from ovaflow.report.costs import MODEL_COLUMN, TRAINING_COLUMN
from ovaflow.report.quality import make_main_columns
from ovaflow.report.second_stage import get_reliability, read_outcomes
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import find_as_good_as_best, make_runs_table
from ovaflow.results.best_run import choose_comparison_metric

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults

SURE_PRECISION = 0.9
"""Expected precision of texts whose labels can be assigned automatically."""


def show_summary(results: DatasetResults) -> dict[str, Any]:
    """Show sentences about the best run, and a table of all runs."""
    learned = _describe_data(results)
    if not results.best.has_test_labels:
        sentences = [learned, "No test text has a label, so nothing was measured."]
        return {"sentences": sentences, "compared": None, "table": None}
    columns = [*make_main_columns(results.runs), TRAINING_COLUMN, MODEL_COLUMN]
    return {
        "sentences": [learned, *describe_quality(results), *_describe_sure_texts(results)],
        "compared": _compare_runs(results),
        "table": make_runs_table("Runs", results.runs, columns),
        "shared": [run for run in results.runs if run.same_training_run is not None],
    }


def _describe_data(results: DatasetResults) -> str:
    data = results.data
    labels = wording.count(results.best.n_trained)
    n_train = wording.count(data.n_train)
    n_test = wording.count(data.n_test)
    return (
        f"{labels} labels were learned from {n_train} {data.noun}, and tested on {n_test} others."
    )


def describe_quality(results: DatasetResults) -> Iterator[str]:
    """Describe how many first labels, suggested labels and assigned labels are right and found."""
    metrics = results.best.metrics
    right_first = _format_of_100(metrics["P@1"])
    yield f"Of 100 {results.data.noun}, {right_first} get a right first label."
    outcomes = results.best.read(read_outcomes)
    if outcomes is not None and outcomes.suggested:
        right = _format_of_100(outcomes.found / outcomes.suggested)
        # those that people assigned and no model knows count, too
        found = _format_of_100(outcomes.found / results.assigned_labels.labels)
        yield (
            f"It suggests {wording.decimal(metrics['labels-fit'])} labels on average: of 100 of "
            f"these {right} are right, and of 100 labels that people assigned {found} are among "
            "them."
        )


def _describe_sure_texts(results: DatasetResults) -> Iterator[str]:
    """Describe how many answers need no person; nothing where that was not measured."""
    if not results.best.reranked:
        yield "It gives no probabilities, so a person has to check every answer."
        return
    sure = get_reliability(results.best).get("sure")
    if sure is None:
        return
    [row] = [row for row in sure if row["level"] == SURE_PRECISION]
    if not row["records"]:
        level = f"{100 * SURE_PRECISION:.0f} %"
        yield f"No answer is {level} sure as a whole, so a person has to check every one."
        return
    yield (
        f"{_format_of_100(row['instances'])} of 100 answers are sure enough to be used "
        f"unchecked: of 100 of their labels {_format_of_100(row['right'])} are right."
    )


def _format_of_100(share: float) -> str:
    number = 100 * share
    if 0 < number < 1:
        return "fewer than 1"
    if 99 < number < 100:
        return "more than 99"
    return f"{number:.0f}"


def _compare_runs(results: DatasetResults) -> dict[str, Any] | None:
    """Find the runs whose difference from the best one may be chance; None for a single run."""
    runs = results.runs
    metric = choose_comparison_metric(runs)
    if len(runs) == 1 or metric is None:
        return None
    values = [run.metrics.get(metric) for run in runs]
    sampled = [run.samples.get(metric) for run in runs]
    as_good = []
    for index in find_as_good_as_best(values, sampled):
        if runs[index] is not results.best:
            as_good.append(runs[index])
    return {"metric": metric, "as_good": as_good, "all": len(as_good) == len(runs) - 1}


SECTION = ReportSection("summary", "Summary", show_summary)
