"""Commands that make a model out of shards or of another model."""

import zipfile
from dataclasses import replace
from pathlib import Path

import click

from ovaflow.cli.options import (
    THREADS_OPTION,
    file_argument,
    file_option,
    output_option,
    setting_option,
)
from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import open_dataset
from ovaflow.evaluation.pruned_models import measure_quality
from ovaflow.model.index import index_path, renew_index, write_index
from ovaflow.model.model_file import LabelWeights
from ovaflow.model.npz_file import read_npz, write_npz
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.model.pruning import write_pruned
from ovaflow.reading.streams import open_stream
from ovaflow.settings.prepare import Prepare
from ovaflow.settings.train import Propensities


@click.command("prune")
@file_argument("model")
@click.option(
    "--threshold",
    type=click.FloatRange(min=0),
    required=True,
    help="Drop weights smaller than this.",
)
@file_option("--dataset", help="Measure what it costs on the test instances of this dataset.h5.")
@THREADS_OPTION
@output_option("Model file to write.")
def prune_command(
    model: Path, threshold: float, dataset: Path | None, threads: int, output: Path
) -> None:
    """Drop the smallest weights of MODEL (model.h5)."""
    opened = OneVsAll.open(model)
    measured = None if dataset is None else open_dataset(dataset)
    pruned = write_pruned(opened, threshold, output)
    renew_index(LabelWeights.open(output))
    size = output.stat().st_size
    kept = f"{pruned.nonzeros:,} of {opened.nonzeros:,} weights"
    click.echo(
        f"{output}: {kept}, those of at least {pruned.parameters['prune']:.6g}, {size:,} bytes"
    )
    if measured is not None:
        propensities = Propensities()
        a = propensities.propensity_a
        b = propensities.propensity_b
        before = measure_quality(opened, measured, a, b, threads)
        after = measure_quality(pruned, measured, a, b, threads)
        changes = [f"{name} {100 * before[name]:.2f} -> {100 * after[name]:.2f}" for name in before]
        click.echo(", ".join(changes))


@click.command("convert")
@file_argument("source")
@click.option(
    "--to",
    type=click.Choice(["model", "npz"]),
    default="model",
    show_default=True,
    help="Format to write.",
)
@file_option(
    "--like",
    help="Model of the same labels and features, from which all but the weights is taken.",
)
@setting_option(
    Prepare, "bias", help="For an npz from another program: value of the last column's feature."
)
@setting_option(
    Prepare, "normalize", help="For an npz from another program: instances had length 1."
)
@file_option("--output", required=True, help="File to write.")
def convert_command(
    *, source: Path, to: str, like: Path | None, bias: float, normalize: bool, output: Path
) -> None:
    """Convert the model SOURCE, a model.h5 or an npz, to the npz that SciPy and PECOS read and
    write, or back.

    Weights are the same to the last bit.
    """
    with open_stream(source) as file:
        is_npz = zipfile.is_zipfile(file)
    if is_npz:
        model = read_npz(source, bias, normalize=normalize)
    else:
        model = OneVsAll.open(source)
    if like is not None:
        model = _copy_names(model, OneVsAll.open(like))
    if to == "npz":
        write_npz(output, model)
    else:
        model.write(output)
    size = f"{model.n_labels:,} labels, {model.n_features:,} features, {model.nonzeros:,} weights"
    click.echo(f"{output}: {size}")


def _copy_names(model: OneVsAll, other: OneVsAll) -> OneVsAll:
    """Return the weights of a model with the names and parameters of another one."""
    if (model.n_labels, model.n_features) != (other.n_labels, other.n_features):
        shape = f"{model.n_labels:,} labels and {model.n_features:,} features"
        other_shape = f"{other.path} has {other.n_labels:,} and {other.n_features:,}"
        remedy = f"give --like a model of the same size; {other_shape}"
        raise InputError(shape, path=model.path, remedy=remedy)
    return replace(other, weights=model.weights)


@click.command("index")
@file_argument("model")
def index_command(model: Path) -> None:
    """Write the index of MODEL (model.h5) next to it, for processes that score one text at a time.

    They map the file and share it. Without it, each of them builds an index in its own memory after
    some instances. An index of an earlier model is ignored.
    """
    path = index_path(model)
    write_index(path, LabelWeights.open(model))
    click.echo(f"{path}: {path.stat().st_size / 1e6:,.1f} MB")
