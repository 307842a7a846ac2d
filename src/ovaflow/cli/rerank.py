"""Commands of the second stage: fit it, and measure its probabilities."""

import click

from ovaflow.cli.options import (
    DATASET_OPTION,
    THREADS_OPTION,
    file_argument,
    file_option,
    output_option,
)
from ovaflow.cli.suggestions import RECORD_IDS_REMEDY, SUGGESTIONS_OPTION, read_suggestion_files
from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.reliability import measure_reliability
from ovaflow.model.model_file import open_any_model
from ovaflow.prediction.predictions import Predictions
from ovaflow.reranking.fitting import fit_reranker, require_same_dataset
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import SuggestionSource
from ovaflow.storage.texts import write_json


@click.command("rerank")
@file_argument("model")
@DATASET_OPTION
@file_option("--held-out", required=True, help="Dataset file, by ovaflow hold-out.")
@file_option(
    "--predictions", required=True, help="Predictions for it by a model of its training data."
)
@file_option(
    "--held-out-model", help="This model: its scores of a text's first words may be evidence, too."
)
@SUGGESTIONS_OPTION
@THREADS_OPTION
@output_option("Second stage to write, reranker.h5.")
def rerank_command(
    model, dataset, held_out, held_out_model, predictions, suggestions, threads, output
) -> None:
    """Fit a second stage for MODEL (model.h5): it ranks candidates by more than scores, and gives
    probabilities.
    """
    opened = open_any_model(model)
    parts = open_dataset(held_out)
    predicted = Predictions.open(predictions)
    opened.require(dataset=(whole := open_dataset(dataset)))
    require_same_dataset(whole, parts, predicted)
    sources = {}
    files = read_suggestion_files(suggestions, whole, whole.parameters)
    for name, file in files.items():
        sources[SuggestionSource(name, file.checksum)] = _suggestions_of_file(file, whole, parts)
    unseen = held_out_model and open_any_model(held_out_model)
    if unseen:
        predicted.require(model=unseen)
    reranker = fit_reranker(opened, whole, parts, predicted, threads, sources, unseen)
    reranker.write(output)
    if reranker.unused:
        click.echo(f"{output}: predictions stay as they are: {reranker.unused}")
        return
    check = reranker.parameters["check"]
    change = f"nDCG@5 {100 * check['first_stage']:.1f} to {100 * check['second_stage']:.1f} ± {100 * check['error']:.1f}"
    order = "; so the order stays that of the scores" if reranker.keeps_order else ""
    click.echo(
        f"{output}: from {reranker.parameters['texts']:,} instances; {change} on {check['texts']:,} of them{order}"
    )


def _suggestions_of_file(file, dataset, held_out):
    """Suggestions of a file for held-out instances; a remark says how much of it is unknown."""
    n = held_out.test.X.n_rows
    ids = held_out.records("test", range(n))
    suggestions = file.find_suggestions(ids)
    file.require_common_texts(suggestions, ids, RECORD_IDS_REMEDY)
    strangers = file.n_texts - file.count_common_texts(
        [*dataset.ids("train"), *dataset.ids("test")]
    )
    click.echo(
        f"{file.path}: for {suggestions.known.sum():,} of {n:,} held-out instances;"
        f" unknown are {strangers:,} of {file.n_texts:,} ids"
        f" and the labels of {file.unknown:,} of {file.amount:,} suggestions"
    )
    return suggestions


@click.command("reliability")
@file_argument("predictions")
@DATASET_OPTION
@file_option("--reranker", required=True, help="The second stage that made them, reranker.h5.")
@output_option("Measurements to write, reliability.json.")
def reliability_command(predictions, dataset, reranker, output) -> None:
    """Measure the probabilities of PREDICTIONS (predictions.h5), and how many labels to suggest."""
    predicted = Predictions.open(predictions)
    opened = open_dataset(dataset)
    second = Reranker.open_header(reranker)
    predicted.require(dataset=opened)
    same_model = predicted.inputs["model"] == second.inputs["model"]
    if not same_model or predicted.inputs.get("reranker", second.checksum) != second.checksum:
        raise InputError(
            "the predictions were not made with it", path=reranker, remedy="predict again"
        )
    measured = measure_reliability(EvaluatedPredictions.of(predicted, opened.test.Y), second)
    write_json(output, "reliability", measured)
    if second.unused:
        click.echo(f"{output}: there is no second stage: {second.unused}")
        return
    fit = measured["suggested"][-1]
    f1 = f"F1 {100 * fit['F1']:.1f} with {fit['labels']:.1f} labels that fit"
    click.echo(f"{output}: {_words_of_likely(measured)}; {f1}")


def _words_of_likely(measured):
    """How far probabilities of labels that one would assign are right."""
    likely = measured["likely"]
    row = measured["automatic"][0]
    if likely is None:
        return "no label is 50 % sure"
    said = f"{100 * row['expected']:.1f} % of {row['predictions']:,} labels that are at least 50 % sure were expected"
    return f"{said} to be right, {100 * row['precision']:.1f} % are; calibration error {100 * likely['ece']:.1f} %"
