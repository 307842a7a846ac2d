"""Commands of a cross-validation: set a fold aside, and join what was measured on all of them."""

from dataclasses import replace

import click
import numpy as np

from ovaflow.cli.data import SIZES_OPTION, write_dataset_sizes
from ovaflow.cli.options import (
    DATASET_ARGUMENT,
    FILE_TYPE,
    file_option,
    number_option,
    output_option,
)
from ovaflow.dataset.dataset import open_dataset
from ovaflow.dataset.folds import hold_out_fold
from ovaflow.dataset.remarks import explain_kept_together
from ovaflow.evaluation.cross_validation import join_folds
from ovaflow.evaluation.metric import report_metric_names
from ovaflow.model.model_file import open_any_model
from ovaflow.records.drawing import is_far_from_share
from ovaflow.storage.texts import read_json, write_json


@click.command("hold-out-fold")
@DATASET_ARGUMENT
@number_option("--fold", 1, "Number of the fold.")
@number_option("--folds", 5, "Folds into which the training instances are divided.", least=2)
@SIZES_OPTION
@output_option("Dataset file to write; its test instances are those of the fold.")
def hold_out_fold_command(dataset, fold, folds, sizes, output) -> None:
    """Set a fold of the training instances of DATASET (dataset.h5) aside, for cross-validation."""
    if fold > folds:
        raise click.UsageError(f"--fold={fold} is above --folds={folds}")
    opened = open_dataset(dataset)
    train = replace(opened.train, records=opened.ids("train"))
    parts = hold_out_fold(replace(opened, train=train), fold - 1, folds)
    parts.write(output)
    write_dataset_sizes(sizes, parts.train, parts.parameters)
    held = parts.test.X.n_rows
    n = opened.n_documents
    n -= 0 if train.extra is None else int(np.count_nonzero(train.extra))
    click.echo(f"{output}: {held:,} of {n:,} training instances are in fold {fold} of {folds}")
    if is_far_from_share(held, n, 1 / folds):
        click.echo(
            f"remark: not about {round(n / folds):,}: {explain_kept_together(opened.parameters)}"
        )


@click.command("join-folds")
@click.argument("metrics", nargs=-1, required=True, type=FILE_TYPE)
@file_option(
    "--model",
    required=True,
    help="The model of all training instances that these figures are about.",
)
@output_option("JSON file to write, folds.json.")
def join_folds_command(metrics, model, output) -> None:
    """Join the METRICS (metrics.json) of a run on each fold: mean, deviation and interval of each
    figure.
    """
    if len(metrics) < 2:
        raise click.UsageError("give the metrics of at least two folds")
    folds = [read_json(path, "metrics") for path in metrics]
    joined = join_folds(folds)
    write_json(output, "folds", {"model": open_any_model(model).checksum, **joined})
    words = (
        _words(name, joined["metrics"][name])
        for name in report_metric_names()
        if name in joined["metrics"]
    )
    click.echo(f"{output}: {', '.join(words)} in {len(folds)} folds")
    without = sum("F1-fit" not in fold for fold in folds)
    if 0 < without < len(folds):
        click.echo(
            f"remark: {without} of {len(folds)} folds held out too few instances for a second stage; fewer folds help"
        )


def _words(name, figure):
    low, high = figure["interval"]
    return f"{name} {100 * figure['mean']:.1f} ± {50 * (high - low):.1f}"
