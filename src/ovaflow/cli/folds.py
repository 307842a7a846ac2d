"""Subcommands of a cross-validation: set a fold aside, and join the metrics of all folds."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from ovaflow.evaluation.metric import get_metric, report_metric_names
from ovaflow.model.model_file import open_any_model
from ovaflow.records.drawing import is_far_from_share
from ovaflow.report import wording
from ovaflow.storage.texts import read_json, write_json


@click.command("hold-out-fold")
@DATASET_ARGUMENT
@number_option("--fold", 1, "Number of the fold.")
@number_option("--folds", 5, "Folds into which the training instances are divided.", least=2)
@SIZES_OPTION
@output_option("Dataset file to write; its test instances are those of the fold.")
def hold_out_fold_command(
    dataset: Path, fold: int, folds: int, sizes: Path | None, output: Path
) -> None:
    """Set a fold of the training instances of DATASET (dataset.h5) aside, for cross-validation."""
    if fold > folds:
        raise click.UsageError(f"--fold={fold} is above --folds={folds}")
    opened = open_dataset(dataset)
    train = replace(opened.train, records=opened.ids("train"))
    parts = hold_out_fold(replace(opened, train=train), fold - 1, folds)
    parts.write(output)
    write_dataset_sizes(sizes, parts.train, parts.parameters)
    n_held_out = parts.test.X.n_rows
    n = opened.n_documents
    if train.extra is not None:
        n -= int(np.count_nonzero(train.extra))
    click.echo(
        f"{output}: {n_held_out:,} of {n:,} training instances are in fold {fold} of {folds}"
    )
    if is_far_from_share(n_held_out, n, 1 / folds):
        click.echo(
            f"remark: about {round(n / folds):,} were expected: "
            f"{explain_kept_together(opened.parameters)}"
        )


@click.command("join-folds")
@click.argument("metrics", nargs=-1, required=True, type=FILE_TYPE)
@file_option(
    "--model",
    required=True,
    help="The model of all training instances that these metrics are about.",
)
@output_option("JSON file to write, folds.json.")
def join_folds_command(metrics: tuple[Path, ...], model: Path, output: Path) -> None:
    """Join the METRICS (metrics.json) of a run on each fold: mean, deviation and interval of each
    metric.
    """
    if len(metrics) < 2:
        raise click.UsageError("give the metrics of at least two folds")
    folds = [read_json(path, "metrics") for path in metrics]
    joined = join_folds(folds)
    write_json(output, "folds", {"model": open_any_model(model).checksum, **joined})
    printed = []
    for name in report_metric_names():
        if name in joined["metrics"]:
            printed.append(_format_metric(name, joined["metrics"][name]))
    click.echo(f"{output}: {', '.join(printed)} in {len(folds)} folds")
    n_without = len([fold for fold in folds if "F1-fit" not in fold])
    if 0 < n_without < len(folds):
        click.echo(
            f"remark: {n_without} of {len(folds)} folds held out too few instances for a second"
            " stage; fewer folds help"
        )


def _format_metric(name: str, joined: Mapping[str, Any]) -> str:
    """Format the mean of a metric with half of its interval."""
    metric, _ = get_metric(name)
    text = wording.FORMAT_BY_UNIT[metric.unit].short
    low, high = joined["interval"]
    return f"{name} {text(joined['mean'])} ± {text((high - low) / 2)}"
