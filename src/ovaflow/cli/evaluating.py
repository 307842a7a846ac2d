"""Commands that measure a model on instances with known labels."""

from pathlib import Path

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
from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.analysis import analyse, tabulate_labels
from ovaflow.evaluation.errors import RunErrors
from ovaflow.evaluation.labelled_file import (
    compare_unknown_words,
    compute_annif_metrics,
    measure_by_label,
    measure_by_level,
    measure_by_precision,
    measure_by_probability,
    rank_file,
    summarize_figures,
)
from ovaflow.evaluation.measured import describe_predicted_labels
from ovaflow.evaluation.metric import CUTOFFS
from ovaflow.evaluation.metrics import evaluate, measure
from ovaflow.evaluation.model_comparison import (
    Figures,
    find_changed_labels,
    merge_label_entries,
    tabulate_label_comparison,
)
from ovaflow.model.model_file import open_any_model
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.usual_texts import count_test_texts
from ovaflow.report.errors_page import render_errors
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
    "--output", help="JSON file to write: metrics.json for PREDICTIONS, what is printed for a FILE."
)
@file_option(
    "--analysis", help="PREDICTIONS: also write what the report says of labels, analysis.json."
)
@file_option("--errors", help="PREDICTIONS: also write a page of the worst records, errors.html.")
@click.option(
    "--metrics",
    "table",
    type=click.Choice(["annif"]),
    help="PREDICTIONS: also print what annif eval prints.",
)
def evaluate_command(
    data, models, dataset, threads, labels, settings, table, question, **options
) -> None:
    """Measure models on a labelled FILE, or compare PREDICTIONS with the test labels.

    FILE holds records that the models have not seen, with their labels, and is read as the data of
    each model was. With a second stage next to a model, F1 of the labels that fit and a table by
    probability are added. Several models are compared with the first one, record by record. With
    --include or --exclude other labels do not count at all.

    PREDICTIONS (predictions.h5) are compared with the labels of the test instances of --dataset;
    --training and --output are then needed.
    """
    reading = options.pop("reading")
    if dataset is None:
        for name, value in {**options, "metrics": table}.items():
            if value is not None and name != "output":
                raise click.UsageError(f"--{name} goes with --dataset")
        _evaluate_file(data, models, labels, options["output"], threads, reading, question)
        return
    if question.chooses_labels:
        raise click.UsageError("--include and --exclude go with a FILE")
    lacking = [name for name in ("training", "output") if options[name] is None]
    if lacking or len(models) > 1:
        raise click.UsageError(
            f"--dataset needs --{lacking[0]}" if lacking else "--dataset goes with one --model"
        )
    _evaluate_predictions(data, dataset, *models, settings, table, labels=labels, **options)


def _evaluate_predictions(
    predictions, dataset, model, settings, table, training, output, analysis, errors, labels
) -> None:
    predicted = Predictions.open(predictions)
    opened = open_dataset(dataset)
    trained = open_any_model(model)
    measured = measure(predicted, opened, trained, settings)
    metrics = (
        evaluate(measured, predicted, opened, trained, Training.open(training))
        | settings.model_dump()
    )
    metrics |= count_test_texts(opened, Predictor(trained))
    write_json(output, "metrics", metrics, described=trained.checksum)
    if analysis:
        write_json(
            analysis,
            "analysis",
            {"model": trained.checksum} | analyse(measured.order, opened.counts),
        )
    if errors:
        names = (folder.name for folder in (model.absolute().parents[1], model.absolute().parent))
        write_text(errors, render_errors(*names, RunErrors(opened, measured)))
    if labels:
        write_csv(labels, tabulate_labels(measured, opened))
    accuracy = f", accuracy {100 * metrics['accuracy']:.1f}" if "accuracy" in metrics else ""
    dev = f", dev {format_at_cutoffs(metrics['dev'], 'P')}" if "dev" in metrics else ""
    click.echo(
        f"{output}: {format_at_cutoffs(metrics, 'P')}, {format_at_cutoffs(metrics, 'PSP')}{accuracy}{dev}"
    )
    if table:
        for name, value in compute_annif_metrics(measured.order).items():
            click.echo(f"{name:<31}{value}" if isinstance(value, int) else f"{name:<31}{value:.4f}")


def _evaluate_file(path, models, labels, output, threads, reading, question) -> None:
    predictors = {}
    for model in map(str, models):
        if model in predictors:
            raise click.UsageError(f"--model {model} appears twice")
        predictors[model] = open_predictor(model)
    answers = rank_file(predictors, path, reading, threads, question)
    names = make_distinct_names(models)
    each_label = dict.fromkeys(names)
    if labels or len(names) > 1:
        for name, (model, predictor) in zip(names, predictors.items(), strict=True):
            each_label[name] = measure_by_label(answers[model].measured, predictor.model)
    entries = _entries(predictors, answers, each_label)
    named = [entry | {"model": name} for entry, name in zip(entries, names, strict=True)]
    for table in make_tables(path, named):
        click.echo(table.title)
        print_table(table)
        click.echo()
    for entry in named:
        if line := describe_unknown_words(**entry["unknown_words"]):
            click.echo(line if len(named) == 1 else f"{entry['model']}: {line}")
    if output:
        write_json(output, "evaluation", {"file": str(path), "models": entries})
    if labels:
        write_csv(labels, tabulate_label_comparison(each_label))
        rules = {
            describe_predicted_labels(each.model.probabilistic) for each in predictors.values()
        }
        click.echo(f"{labels}: {' or '.join(sorted(rules))} of each record count as predicted")


def _entries(predictors, answers, each_label):
    """Figures of each model, their intervals, and their differences from those of the first."""
    entries = []
    first = None
    for (model, predictor), name in zip(predictors.items(), each_label, strict=True):
        measured = answers[model].measured
        figures = Figures.of(measured)
        metrics = summarize_figures(measured, figures)
        entry = {"model": model, "metrics": metrics, "intervals": figures.intervals}
        if first is not None:
            differences = figures.compute_differences(first)
            entry["differences"] = {figure: each.entry for figure, each in differences.items()}
            entry["changed_labels"] = find_changed_labels(
                merge_label_entries(each_label), next(iter(each_label)), name
            )
        entry["checksum"] = predictor.model.checksum
        entry["unknown_words"] = compare_unknown_words(answers[model], predictor.model)
        entry["by_level"] = measure_by_level(measured, predictor.model)
        entry["automatic"] = measure_by_probability(measured) if measured.probabilistic else None
        entry["sure"] = measure_by_precision(measured) if measured.probabilistic else None
        entries.append(entry)
        first = first or figures
    return entries


def format_at_cutoffs(metrics, name):
    """A metric in percent at all places that there are: ``P@1/3/5 82.5/69.6/55.5``."""
    places = [k for k in CUTOFFS if f"{name}@{k}" in metrics]
    values = "/".join(f"{100 * metrics[f'{name}@{k}']:.1f}" for k in places)
    return f"{name}@{'/'.join(map(str, places))} {values}"
