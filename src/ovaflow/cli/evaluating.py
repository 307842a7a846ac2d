"""Commands that measure a model on instances with known labels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from ovaflow.cli.labelled import (
    describe_unknown_words,
    labelled_file_options,
    make_distinct_names,
    make_tables,
)
from ovaflow.cli.listing import print_table
from ovaflow.cli.options import THREADS_OPTION, file_option, step_options
from ovaflow.cli.predict import open_predictor
from ovaflow.cli.questions import question_options
from ovaflow.cli.remarks import print_reading_remarks
from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.analysis import analyse, tabulate_labels
from ovaflow.evaluation.errors import RunErrors
from ovaflow.evaluation.labelled_file import (
    RankedRecords,
    compare_unknown_words,
    compute_annif_metrics,
    measure_by_label,
    measure_by_level,
    measure_by_precision,
    measure_by_probability,
    rank_file,
    summarize_metrics,
)
from ovaflow.evaluation.measured import describe_predicted_labels
from ovaflow.evaluation.metric import format_at_cutoffs
from ovaflow.evaluation.metrics import evaluate, measure
from ovaflow.evaluation.model_comparison import (
    RecordMetrics,
    find_changed_labels,
    merge_label_entries,
    tabulate_label_comparison,
)
from ovaflow.model.model_file import open_any_model
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.question import Question
from ovaflow.prediction.usual_texts import count_test_texts
from ovaflow.report.errors_page import render_errors
from ovaflow.settings.train import Evaluate
from ovaflow.storage.texts import write_json
from ovaflow.storage.writing import write_csv, write_text


@click.command("evaluate")
@click.argument("data", type=click.Path(path_type=Path), metavar="FILE|PREDICTIONS")
@file_option(
    "--model", "models", required=True, multiple=True, help="A model.h5; repeatable for a FILE."
)
@labelled_file_options
@question_options("include", "exclude")
@file_option(
    "--labels", help="Table of labels to write, labels.csv; of several models side by side."
)
@THREADS_OPTION
@file_option("--dataset", help="The dataset.h5 of the PREDICTIONS.")
@file_option("--training", help="PREDICTIONS: statistics of the training, training.h5.")
@step_options("evaluate")
@file_option(
    "--output",
    help="JSON file to write: metrics.json for PREDICTIONS, the printed figures for a FILE.",
)
@file_option(
    "--analysis",
    help="PREDICTIONS: also write analysis.json, with figures of labels for the report.",
)
@file_option("--errors", help="PREDICTIONS: also write a page of the worst records, errors.html.")
@click.option(
    "--metrics",
    "table",
    type=click.Choice(["annif"]),
    help="PREDICTIONS: also print what annif eval prints.",
)
def evaluate_command(
    *,
    data: Path,
    models: tuple[Path, ...],
    reading: dict[str, Any],
    question: Question,
    labels: Path | None,
    threads: int,
    dataset: Path | None,
    training: Path | None,
    settings: Evaluate,
    output: Path | None,
    analysis: Path | None,
    errors: Path | None,
    table: str | None,
) -> None:
    """Measure models on a labelled FILE, or compare PREDICTIONS with the test labels.

    FILE holds records that the models have not seen, with their labels, and is read as the data of
    each model was. With a second stage next to a model, F1 of the labels that fit and a table by
    probability are added. Several models are compared with the first one, record by record. With
    --include or --exclude other labels do not count at all.

    PREDICTIONS (predictions.h5) are compared with the labels of the test instances of --dataset;
    --training is then needed. Only files that an option names are written.
    """
    if dataset is None:
        of_predictions = {
            "training": training,
            "analysis": analysis,
            "errors": errors,
            "metrics": table,
        }
        for name, value in of_predictions.items():
            if value is not None:
                raise click.UsageError(f"--{name} goes with --dataset")
        _evaluate_file(
            data,
            models,
            labels=labels,
            output=output,
            threads=threads,
            reading=reading,
            question=question,
        )
        return
    if question.chooses_labels:
        raise click.UsageError("--include and --exclude go with a FILE")
    if training is None:
        raise click.UsageError("--dataset needs --training")
    if len(models) > 1:
        raise click.UsageError("--dataset goes with one --model")
    inputs = _Inputs(data, dataset, models[0], training)
    outputs = _Outputs(output, analysis, errors, labels)
    _evaluate_predictions(inputs, outputs, settings, table)


class _Inputs(NamedTuple):
    """Files from which predictions are evaluated."""

    predictions: Path
    dataset: Path
    model: Path
    training: Path


class _Outputs(NamedTuple):
    """Files that are written about predictions; None for those that are not asked for."""

    metrics: Path | None
    analysis: Path | None
    errors: Path | None
    labels: Path | None


def _evaluate_predictions(
    inputs: _Inputs, outputs: _Outputs, settings: Evaluate, table: str | None
) -> None:
    """Compare predictions with the test labels."""
    predictions = Predictions.open(inputs.predictions)
    dataset = open_dataset(inputs.dataset)
    model = open_any_model(inputs.model)
    measured = measure(predictions, dataset, model, settings)
    training = Training.open(inputs.training)
    metrics = evaluate(measured, predictions, dataset, model, training)
    metrics |= settings.model_dump()
    metrics |= count_test_texts(dataset, Predictor(model))
    if outputs.metrics:
        write_json(outputs.metrics, "metrics", metrics, described=model.checksum)
    if outputs.analysis:
        analysis = {"model": model.checksum} | analyse(measured.order, dataset.counts)
        write_json(outputs.analysis, "analysis", analysis)
    if outputs.errors:
        run_folder = inputs.model.absolute().parent
        run_errors = RunErrors(dataset, measured)
        page = render_errors(run_folder.parent.name, run_folder.name, run_errors)
        write_text(outputs.errors, page)
    if outputs.labels:
        write_csv(outputs.labels, tabulate_labels(measured, dataset))
    printed = [format_at_cutoffs(metrics, "P"), format_at_cutoffs(metrics, "PSP")]
    if "accuracy" in metrics:
        printed.append(f"accuracy {100 * metrics['accuracy']:.1f}")
    if "dev" in metrics:
        printed.append(f"dev {format_at_cutoffs(metrics['dev'], 'P')}")
    click.echo(f"{outputs.metrics or inputs.predictions}: {', '.join(printed)}")
    if table:
        for name, value in compute_annif_metrics(measured.order).items():
            text = str(value) if isinstance(value, int) else f"{value:.4f}"
            click.echo(f"{name:<31}{text}")


def _evaluate_file(
    path: Path,
    models: Sequence[Path],
    *,
    labels: Path | None,
    output: Path | None,
    threads: int,
    reading: Mapping[str, Any],
    question: Question,
) -> None:
    """Measure models on a labelled file, and compare them."""
    predictors: dict[str, Predictor] = {}
    for model_path in models:
        model = str(model_path)
        if model in predictors:
            raise click.UsageError(f"--model {model} appears twice")
        predictors[model] = open_predictor(model)
    answers = rank_file(predictors, path, reading, threads, question)
    print_reading_remarks([each.counts for each in answers.values()])
    names = make_distinct_names(models)
    each_label: dict[str, Any] = dict.fromkeys(names)
    if labels or len(names) > 1:
        for name, (model, predictor) in zip(names, predictors.items(), strict=True):
            each_label[name] = measure_by_label(answers[model].measured, predictor.model)
    entries = _make_entries(predictors, answers, each_label)
    named = [entry | {"model": name} for entry, name in zip(entries, names, strict=True)]
    for table in make_tables(path, named):
        click.echo(table.title)
        print_table(table)
        click.echo()
    for entry in named:
        line = describe_unknown_words(**entry["unknown_words"])
        if line and len(named) > 1:
            line = f"{entry['model']}: {line}"
        if line:
            click.echo(line)
    if output:
        write_json(output, "evaluation", {"file": str(path), "models": entries})
    if labels:
        write_csv(labels, tabulate_label_comparison(each_label))
        rules = {
            describe_predicted_labels(probabilistic=each.model.probabilistic)
            for each in predictors.values()
        }
        click.echo(f"{labels}: {' or '.join(sorted(rules))} of each record count as predicted")


def _make_entries(
    predictors: Mapping[str, Predictor],
    answers: Mapping[str, RankedRecords],
    each_label: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return metrics of each model, their intervals, and differences from those of the first."""
    entries: list[dict[str, Any]] = []
    first = None
    for (model, predictor), name in zip(predictors.items(), each_label, strict=True):
        measured = answers[model].measured
        metrics = RecordMetrics.from_measured(measured)
        entry: dict[str, Any] = {
            "model": model,
            "metrics": summarize_metrics(measured, metrics),
            "intervals": metrics.intervals,
        }
        if first is not None:
            differences = metrics.compute_differences(first)
            entry["differences"] = {metric: each.entry for metric, each in differences.items()}
            entry["changed_labels"] = find_changed_labels(
                merge_label_entries(each_label), next(iter(each_label)), name
            )
        entry["checksum"] = predictor.model.checksum
        entry["unknown_words"] = compare_unknown_words(answers[model], predictor.model)
        entry["by_level"] = measure_by_level(measured, predictor.model)
        entry["automatic"] = None
        entry["sure"] = None
        if measured.probabilistic:
            entry["automatic"] = measure_by_probability(measured)
            entry["sure"] = measure_by_precision(measured)
        entries.append(entry)
        if first is None:
            first = metrics
    return entries
