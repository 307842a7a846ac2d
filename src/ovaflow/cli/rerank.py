"""Commands of the second stage: fit it, and measure its probabilities."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ovaflow.cli.options import (
    DATASET_OPTION,
    THREADS_OPTION,
    file_argument,
    file_option,
    output_option,
)
from ovaflow.cli.suggestions import (
    RECORD_IDS_REMEDY,
    SUGGESTIONS_OPTION,
    NamedPath,
    read_suggestion_files,
)
from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.evaluation.measured import EvaluatedPredictions
from ovaflow.evaluation.reliability import measure_reliability
from ovaflow.model.model_file import open_any_model
from ovaflow.prediction.predictions import Predictions
from ovaflow.reranking.fitting import fit_reranker, require_same_dataset
from ovaflow.reranking.reranker_file import Reranker
from ovaflow.reranking.suggestions import SuggestionFile, Suggestions, SuggestionSource
from ovaflow.storage.texts import write_json


@click.command("rerank")
@file_argument("model")
@DATASET_OPTION
@file_option("--held-out", required=True, help="Dataset file, by ovaflow hold-out.")
@file_option(
    "--predictions", required=True, help="Predictions for it by a model of its training data."
)
@file_option(
    "--held-out-model",
    help="That model, whose scores of the first words of a text may be further evidence.",
)
@SUGGESTIONS_OPTION
@THREADS_OPTION
@output_option("Second stage to write, reranker.h5.")
def rerank_command(
    *,
    model: Path,
    dataset: Path,
    held_out: Path,
    held_out_model: Path | None,
    predictions: Path,
    suggestions: Sequence[NamedPath],
    threads: int,
    output: Path,
) -> None:
    """Fit a second stage for MODEL (model.h5): it ranks candidates by more than scores, and gives
    probabilities.
    """
    opened = open_any_model(model)
    parts = open_dataset(held_out)
    predicted = Predictions.open(predictions)
    whole = open_dataset(dataset)
    opened.require(dataset=whole)
    require_same_dataset(whole, parts, predicted)
    sources = {}
    files = read_suggestion_files(suggestions, whole, whole.parameters)
    for name, file in files.items():
        sources[SuggestionSource(name, file.checksum)] = _find_suggestions(file, whole, parts)
    unseen = None
    if held_out_model is not None:
        unseen = open_any_model(held_out_model)
        predicted.require(model=unseen)
    reranker = fit_reranker(
        opened, whole, parts, predicted, threads=threads, suggestions=sources, held_out_model=unseen
    )
    reranker.write(output)
    if reranker.unused:
        click.echo(f"{output}: the second stage is not used: {reranker.unused}")
        return
    click.echo(f"{output}: {_describe_gain(reranker)}")


def _describe_gain(reranker: Reranker) -> str:
    """Describe the gain of a second stage on the instances that check it."""
    check = reranker.parameters["check"]
    before = f"{100 * check['first_stage']:.1f}"
    after = f"{100 * check['second_stage']:.1f} ± {100 * check['error']:.1f}"
    description = (
        f"from {reranker.parameters['texts']:,} instances; nDCG@5 {before} to {after}"
        f" on {check['texts']:,} of them"
    )
    if reranker.keeps_order:
        description += "; so labels stay in the order of their scores"
    return description


def _find_suggestions(file: SuggestionFile, dataset: Dataset, held_out: Dataset) -> Suggestions:
    """Find a file's suggestions for held-out instances; print how much of it is unknown."""
    n = held_out.test.X.n_rows
    ids = held_out.records("test", range(n))
    suggestions = file.find_suggestions(ids)
    file.require_common_texts(suggestions, ids, RECORD_IDS_REMEDY)
    n_unknown = file.n_texts - file.count_common_texts(
        [*dataset.ids("train"), *dataset.ids("test")]
    )
    click.echo(
        f"{file.path}: for {suggestions.known.sum():,} of {n:,} held-out instances;"
        f" {n_unknown:,} of {file.n_texts:,} ids are unknown,"
        f" and the labels of {file.unknown:,} of {file.amount:,} suggestions"
    )
    return suggestions


@click.command("reliability")
@file_argument("predictions")
@DATASET_OPTION
@file_option("--reranker", required=True, help="The second stage that made them, reranker.h5.")
@output_option("Measurements to write, reliability.json.")
def reliability_command(predictions: Path, dataset: Path, reranker: Path, output: Path) -> None:
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
    measured = measure_reliability(
        EvaluatedPredictions.from_predictions(predicted, opened.test.Y), second
    )
    write_json(output, "reliability", measured)
    if second.unused:
        click.echo(f"{output}: the second stage is not used: {second.unused}")
        return
    fit = measured["suggested"][-1]
    f1 = f"F1 {100 * fit['F1']:.1f} with {fit['labels']:.1f} labels that fit"
    click.echo(f"{output}: {_describe_likely(measured)}; {f1}")


def _describe_likely(measured: Mapping[str, Any]) -> str:
    """Describe how far probabilities of at least 50 % are right."""
    likely = measured["likely"]
    row = measured["automatic"][0]
    if likely is None:
        return "no label is 50 % sure"
    expected = (
        f"{100 * row['expected']:.1f} % of {row['predictions']:,} labels that are at least 50 %"
        " sure"
        " were expected to be right"
    )
    precision = f"{100 * row['precision']:.1f} % are"
    return f"{expected}, {precision}; calibration error {100 * likely['ece']:.1f} %"
