"""ovaflow promote."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ovaflow.cli.labelled import (
    describe_unknown_words,
    format_percent,
    labelled_file_options,
)
from ovaflow.cli.options import THREADS_OPTION, file_argument
from ovaflow.cli.predict import open_predictor
from ovaflow.cli.remarks import print_reading_remarks
from ovaflow.console.errors import InputError
from ovaflow.evaluation.labelled_file import RankedRecords, compare_unknown_words, rank_file
from ovaflow.evaluation.model_comparison import (
    DIFFERENCE_METRICS,
    MIN_BOOTSTRAP_RECORDS,
    Difference,
    RecordMetrics,
)
from ovaflow.prediction.earlier_models import find_superseded_folders
from ovaflow.prediction.predictor import Predictor
from ovaflow.prediction.promotion import (
    discard_folder,
    find_model_in_use,
    promote,
    promotion_lock,
    read_checksums,
)
from ovaflow.report import wording

LOST_PROBABILITIES = (
    "it has no second stage, so no probabilities, which the model in use has"
    " (--without-probabilities accepts it)"
)
"""Reason against a model without a second stage."""


@click.command("promote")
@file_argument("new")
@click.option(
    "--over",
    "link",
    type=click.Path(path_type=Path),
    required=True,
    metavar="CURRENT",
    help="Link to the folder of the model in use, models/current; made for the first model.",
)
@click.option(
    "--on",
    "path",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="Records with labels that neither model has seen.",
)
@labelled_file_options
@click.option(
    "--metric",
    type=click.Choice(DIFFERENCE_METRICS),
    default="P@1",
    show_default=True,
    help="What is compared; F1 is that of the labels that fit, of models with a second stage.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=0.02,
    show_default=True,
    help="Largest loss that is accepted if it may be chance; 0.02 is two points.",
)
@click.option(
    "--without-probabilities",
    is_flag=True,
    help="Accept a model without a second stage as the successor of one that has it.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=2),
    metavar="N",
    help="Keep only the newest N folders of promotions next to CURRENT, counting the new one and"
    " the one before it; by default all are kept. Folders to which another link next to CURRENT"
    " leads, and those with other files, are never removed.",
)
@THREADS_OPTION
@click.pass_context
def promote_command(
    context: click.Context,
    *,
    new: Path,
    link: Path,
    path: Path,
    reading: dict[str, Any],
    metric: str,
    tolerance: float,
    without_probabilities: bool,
    keep: int | None,
    threads: int,
) -> None:
    """Take the model NEW (model.h5) into use, unless it is worse than the CURRENT one.

    Both are measured on the records of FILE that have labels. NEW is refused, with exit status 1,
    if it loses more than the tolerance, or if the loss is not by chance: the whole 95 % interval of
    the difference is below 0. It is also refused if it has no probabilities and the
    CURRENT one has, since requests with --fit or --min-probability would fail.

    Otherwise NEW, its index and its second stage are copied into a folder of their own next to
    CURRENT, which then leads there. A program that opens CURRENT/model.h5 meanwhile gets the old
    files or the new ones. Earlier folders stay, unless --keep says otherwise.
    """
    model = open_predictor(new)
    metric = DIFFERENCE_METRICS[metric]
    with promotion_lock(link):
        current = find_model_in_use(link)
        predictors = {str(new): model}
        lost = False
        if current is not None:
            theirs = open_predictor(current)
            predictors[str(current)] = theirs
            if read_checksums(theirs.model) == read_checksums(model.model):
                click.echo(f"{link}: {new} is already in use")
                return
            lost = theirs.model.probabilistic and not model.model.probabilistic
        if lost and not without_probabilities:
            _refuse(context, new, link, LOST_PROBABILITIES)
        answers = rank_file(predictors, path, reading, threads)
        print_reading_remarks([each.counts for each in answers.values()])
        ours, *others = _compute_metrics(predictors, answers, path, metric)
        line = describe_unknown_words(**compare_unknown_words(answers[str(new)], model.model))
        if line:
            click.echo(f"{new}: {line}")
        words = f"{metric} {format_percent(ours.means[metric])}"
        refusal = ""
        if others:
            difference = ours.compute_differences(others[0])[metric]
            words += (
                f" after {format_percent(others[0].means[metric])},"
                f" {_describe_difference(difference)}"
            )
            refusal = _explain_refusal(difference, tolerance)
        if refusal:
            _refuse(context, new, link, f"{words}: {refusal}")
        before = os.path.realpath(link)
        folder = promote(model.model, link)
        click.echo(f"{link} -> {folder.name}: {words}")
        if keep is not None:
            _discard(find_superseded_folders(link, keep, before), link)


def _discard(folders: Iterable[Path], link: Path) -> None:
    """Remove folders; the new model is in use, whether that succeeds or not."""
    for folder in folders:
        try:
            discard_folder(folder, link)
        except OSError as error:
            click.echo(
                f"ovaflow: {folder}: not removed ({error.strerror}); remove it yourself", err=True
            )
        else:
            click.echo(f"removed {folder}")


def _refuse(context: click.Context, new: Path, link: Path, reason: str) -> None:
    """Print why the new model is refused, and end with status 1."""
    click.echo(f"ovaflow: {new}: {reason}; {link} stays as it is", err=True)
    context.exit(1)


def _compute_metrics(
    predictors: Mapping[str, Predictor],
    answers: Mapping[str, RankedRecords],
    path: Path,
    metric: str,
) -> Iterator[RecordMetrics]:
    """Compute the metrics of each model; refuse models without the metric, and few records."""
    for model in predictors:
        metrics = RecordMetrics.from_measured(answers[model].measured)
        if metric not in metrics.records:
            message = f"has no second stage, so no {metric}"
            remedy = "choose another --metric"
            raise InputError(message, path=model, remedy=remedy)
        n = metrics.n_records
        if n < MIN_BOOTSTRAP_RECORDS:
            message = f"{n:,} records with labels are too few to compare models"
            raise InputError(
                message,
                path=path,
                remedy=f"give {MIN_BOOTSTRAP_RECORDS} at least, better some hundred",
            )
        yield metrics


def _describe_difference(difference: Difference) -> str:
    """Describe a difference with its interval and the records behind it."""
    bounds = f"95 % interval {wording.points(difference.low)} to {wording.points(difference.high)}"
    records = f"{difference.better:,} records better, {difference.worse:,} worse"
    return f"{wording.points(difference.difference)} points ({bounds}; {records})"


def _explain_refusal(difference: Difference, tolerance: float) -> str:
    """Return why a model is worse than the one in use; empty if it is not."""
    if -difference.difference > tolerance:
        return f"more than {100 * tolerance:g} points less"
    if difference.verdict == "worse":
        return "less, and not by chance"
    return ""
