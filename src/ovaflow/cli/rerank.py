"""Commands of the second stage: fit it, and measure its probabilities."""

import click

from ovaflow.cli.options import FILE, OF_DATASET, THREADS, output
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.ranking import find_hits
from ovaflow.evaluation.reliability import measure_reliability
from ovaflow.prediction.predictions import open_any_model, read_predictions
from ovaflow.reranking.fitting import fit_reranker, require_parts_of_one
from ovaflow.reranking.reranker_file import read_about, write_reranker
from ovaflow.storage.texts import write_json


@click.command("rerank")
@click.argument("model", type=FILE)
@OF_DATASET
@click.option("--held-out", required=True, type=FILE, help="Dataset file, by ovaflow hold-out.")
@click.option("--predictions", required=True, type=FILE, help="Predictions for it by a model of its training data.")
@THREADS
@output("Second stage to write, reranker.h5.")
def rerank_command(model, dataset, held_out, predictions, threads, output):
    """Fit a second stage for MODEL (model.h5): it ranks candidates by more than scores, and gives probabilities."""
    opened, parts, predicted = open_any_model(model), open_dataset(held_out), read_predictions(predictions)
    opened.require_dataset(whole := open_dataset(dataset))
    require_parts_of_one(whole, parts, predicted)
    hits = find_hits(predicted.ids, parts.test.Y)
    reranker = fit_reranker(opened, whole, parts, predicted, hits, threads)
    write_reranker(output, reranker)
    if reranker.unused:
        click.echo(f"{output}: predictions stay as they are: {reranker.unused}")
        return
    check = reranker.parameters["check"]
    change = f"nDCG@5 {100 * check['first_stage']:.1f} to {100 * check['second_stage']:.1f}"
    click.echo(f"{output}: from {reranker.parameters['texts']:,} instances; {change} on {check['texts']:,} of them")


@click.command("reliability")
@click.argument("predictions", type=FILE)
@OF_DATASET
@click.option("--reranker", required=True, type=FILE, help="The second stage that made them, reranker.h5.")
@output("Measurements to write, reliability.json.")
def reliability_command(predictions, dataset, reranker, output):
    """Measure the probabilities of PREDICTIONS (predictions.h5), and how many labels to suggest."""
    predicted, opened, second = read_predictions(predictions), open_dataset(dataset), read_about(reranker)
    if predicted.inputs.get("dataset") != opened.checksum:
        raise InputError("the predictions are of other instances", path=dataset, remedy="predict again")
    same_model = predicted.inputs["model"] == second.inputs["model"]
    if not same_model or predicted.inputs.get("reranker", second.checksum) != second.checksum:
        raise InputError("the predictions were not made with it", path=reranker, remedy="predict again")
    measured = measure_reliability(predicted, opened, second)
    write_json(output, "reliability", measured)
    if second.unused:
        click.echo(f"{output}: there is no second stage: {second.unused}")
        return
    error, fit = measured["probabilities"]["ece"], measured["suggested"][-1]
    f1 = f"F1 {100 * fit['F1']:.1f} with {fit['labels']:.1f} labels that fit"
    click.echo(f"{output}: expected calibration error {100 * error:.1f} %, {f1}")
