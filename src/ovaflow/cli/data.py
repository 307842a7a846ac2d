"""Commands that download files and make datasets."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from ovaflow.cli.options import (
    DATASET_ARGUMENT,
    file_option,
    number_option,
    output_option,
    setting_option,
    source_files_option,
    step_options,
)
from ovaflow.dataset.dataset import Dataset, Split, open_dataset, write_dataset
from ovaflow.dataset.hold_out import hold_out
from ovaflow.dataset.prepare import prepare
from ovaflow.dataset.remarks import collect_remarks, explain_kept_together
from ovaflow.dataset.sizes import Shape, write_sizes
from ovaflow.labels.label_map import UNKNOWN_SUBJECTS, require_another_file, write_unknown_subjects
from ovaflow.reading.summary import ReadingSummary, describe_weights
from ovaflow.records.drawing import is_far_from_share
from ovaflow.records.source import SourceFiles
from ovaflow.settings.prepare import PrepareSource, require_settings_of_format
from ovaflow.settings.section import as_list
from ovaflow.settings.source import holds_texts
from ovaflow.settings.train import Train
from ovaflow.storage.texts import write_json
from ovaflow.storage.writing import explain_write_errors, write_csv


@click.command("download")
@click.option("--dataset", help="Name in the catalogue.")
@click.option(
    "--catalogue", type=click.Path(dir_okay=False), help="Catalogue; ovaflow's own by default."
)
@click.option("--url", help="Address (http or https) of a single file to fetch instead.")
@click.option("--sha256", help="Checksum that the single file must have.")
@click.option(
    "--output", required=True, type=click.Path(), help="Folder of the dataset, or the single file."
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False),
    help="Checksums, recorded at the first download and enforced afterwards; OUTPUT.sha256 by"
    " default.",
)
def download_command(
    dataset: str | None,
    catalogue: str | None,
    url: str | None,
    sha256: str | None,
    output: str,
    record: str | None,
) -> None:
    """Download a dataset or a file, unless it exists with the recorded checksum."""
    # imported here, since no other command needs the libraries that download
    from ovaflow.records.download import download_dataset, download_file

    if (dataset is None) == (url is None):
        raise click.UsageError("give either --dataset or --url")
    if dataset and sha256:
        raise click.UsageError("--sha256 goes with --url")
    if url:
        download_file(url, output, sha256, record)
    elif dataset:
        download_dataset(dataset, output, catalogue, record)


_LABELS_HELP = "Label names, one per line in id order; texts then have ids as labels."
_VOCABULARY_HELP = "Subject vocabulary, whose URIs or names texts have as labels."
LABELS_OPTION = file_option("--labels", help=_LABELS_HELP)
VOCABULARY_OPTION = file_option("--vocabulary", help=_VOCABULARY_HELP)


SIZES_OPTION = file_option(
    "--sizes", help="JSON file to write: instances, features, labels, positives."
)


def write_dataset_sizes(path: Path | None, train: Split, parameters: Mapping[str, Any]) -> None:
    """Write the sizes of a dataset, and the names of its files, for ``--sizes``."""
    if path is not None:
        X = train.X
        Y = train.Y
        files = parameters.get("source", {}).get("files", {})
        names = {role: file["name"] for role, file in files.items()}
        write_sizes(path, Shape(X.n_rows, X.n_columns, Y.n_columns, len(Y.indices)), names)


def open_source(settings: PrepareSource, files: dict[str, Any]) -> SourceFiles:
    """Return the source of a dataset; refuse options that do not go together."""
    if settings.format != "builtin" and files["train"] is None:
        raise click.UsageError(f"--format={settings.format} needs --train")
    if len(as_list(files["extra"] or [])) != len(settings.extra_weight):
        raise click.UsageError("give an --extra-weight for each --extra")
    require_settings_of_format(settings, settings.model_dump(exclude_defaults=True))
    return SourceFiles(settings, **files)


@click.command("prepare")
@step_options("prepare")
@source_files_option("--train", "Training instances")
@file_option("--train-labels", help="Labels of the training instances (npz).")
@source_files_option("--test", "Test instances (by default a share of the training instances)")
@file_option("--test-labels", help="Labels of the test instances (npz).")
@source_files_option(
    "--dev", "Validation instances, on which models are measured apart from the test instances"
)
@source_files_option("--extra", "Further training instances, each file with an --extra-weight")
@LABELS_OPTION
@VOCABULARY_OPTION
@setting_option(
    Train, "threads", help="Number of threads that read texts; results do not depend on it."
)
@SIZES_OPTION
@file_option("--reading", help="JSON file to write: how the files were read, for the report.")
@output_option("The dataset file.")
def prepare_command(
    settings: PrepareSource,
    threads: int,
    sizes: Path | None,
    reading: Path | None,
    output: Path,
    **files: Any,
) -> None:
    """Turn a dataset's source into dataset.h5."""
    source = open_source(settings, files)
    unknown_path = output.with_name(UNKNOWN_SUBJECTS)
    require_another_file(settings.label_map, unknown_path)
    summary = ReadingSummary({})
    if holds_texts(settings.format):
        source.require_files()
        summary = ReadingSummary.from_preview(source.preview, settings.format)
        click.echo(f"records are read like this:\n{summary}")
    with explain_write_errors(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        prepared = prepare(source, threads, output.parent)
    prepared.write(output)
    if source.vocabulary is not None:
        write_unknown_subjects(unknown_path, prepared.unknown_subjects)
    write_dataset_sizes(sizes, prepared.train, prepared.parameters)
    if reading is not None:
        further = dict(prepared.column_descriptions)
        if settings.weight_column is not None:
            further["weights"] = _describe_weights(settings.weight_column, prepared.documents)
        counts, n_records = prepared.label_counts()
        lines = summary.with_all_labels(counts, n_records, further).lines
        write_json(reading, "reading", {"lines": lines})
    click.echo(f"{output}: {prepared.summary()}")
    for remark in collect_remarks(prepared, unknown_path):
        click.echo(f"remark: {remark}")


def _describe_weights(column: str, dataset: Dataset) -> Any:
    """Describe the weights of the training file's records, from a column."""
    weights = dataset.instance_weights
    if dataset.train.extra is not None:
        weights = weights[~dataset.train.extra]
    return describe_weights(column, weights.tolist())


_SHARE_TYPE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("hold-out")
@DATASET_ARGUMENT
@click.option(
    "--fraction",
    default=0.2,
    show_default=True,
    type=_SHARE_TYPE,
    help="Share of the training instances.",
)
@number_option("--seed", 0, "Seed of the draw.", least=0)
@file_option(
    "--records",
    help="CSV to write: the id of each instance and its part: train, held-out, test or dev.",
)
@SIZES_OPTION
@output_option("Dataset file to write; its test instances are those held out.")
def hold_out_command(
    dataset: Path,
    fraction: float,
    seed: int,
    records: Path | None,
    sizes: Path | None,
    output: Path,
) -> None:
    """Set training instances of DATASET (dataset.h5) aside, for the second stage."""
    opened = open_dataset(dataset)
    train = replace(opened.train, records=opened.ids("train"))
    parts = hold_out(replace(opened, train=train), fraction, seed)
    if records is not None:
        ids = {"train": parts.train.records, "held-out": parts.test.records}
        for name in opened.measured:
            ids[name] = opened.ids(name)
        rows = [("id", "part")]
        for part, names in ids.items():
            rows += [(name, part) for name in names]
        write_csv(records, rows)
    write_dataset(
        output, parts.train, parts.test, opened.label_names, opened.feature_names, parts.parameters
    )
    write_dataset_sizes(sizes, parts.train, parts.parameters)
    n_held_out = parts.test.X.n_rows
    n = opened.n_documents
    n_extra = 0
    if train.extra is not None:
        n_extra = int(np.count_nonzero(train.extra))
        n -= n_extra
    message = f"{output}: {n_held_out:,} of {n:,} training instances held out"
    n_left_out = train.X.n_rows - parts.train.X.n_rows - n_held_out
    if n_left_out:
        message += (
            f"; {n_left_out:,} of {n_extra:,} extra instances are left out as well, and not "
            "measured"
        )
    click.echo(message)
    if is_far_from_share(n_held_out, n, fraction):
        click.echo(
            f"remark: about {round(fraction * n):,} were expected: "
            f"{explain_kept_together(opened.parameters)}"
        )
