"""Commands that make datasets, or choose settings on held-out training instances."""

from dataclasses import replace

import click
import numpy as np

from ovaflow.cli.options import (
    DATASET_ARGUMENT,
    THREADS_OPTION,
    file_option,
    number_option,
    output_option,
    setting_option,
    source_files_option,
    step_options,
)
from ovaflow.dataset.dataset import open_dataset, write_dataset
from ovaflow.dataset.hold_out import hold_out
from ovaflow.dataset.prepare import prepare
from ovaflow.dataset.remarks import collect_remarks, explain_kept_together
from ovaflow.dataset.sizes import Shape, write_sizes
from ovaflow.labels.label_map import UNKNOWN_SUBJECTS, require_another_file, write_unknown_subjects
from ovaflow.reading.summary import ReadingSummary, describe_weights
from ovaflow.records.drawing import is_far_from_share
from ovaflow.records.source import SourceFiles
from ovaflow.settings.section import as_list
from ovaflow.settings.source import holds_texts
from ovaflow.settings.train import Train
from ovaflow.storage.texts import write_json
from ovaflow.storage.writing import explain_write_errors, write_csv
from ovaflow.tuning import cost, features


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
    help="Checksums, recorded at the first download and enforced afterwards; OUTPUT.sha256 by default.",
)
def download_command(dataset, catalogue, url, sha256, output, record) -> None:
    """Download a dataset or a file, unless it exists with the recorded checksum."""
    # the libraries that download are loaded by no other command
    from ovaflow.records.download import download_dataset, download_file

    if (dataset is None) == (url is None):
        raise click.UsageError("give either --dataset or --url")
    if dataset and sha256:
        raise click.UsageError("--sha256 goes with --url")
    if url:
        download_file(url, output, sha256, record)
    else:
        download_dataset(dataset, output, catalogue, record)


_IDS = "Label names, one per line in id order; texts then have ids as labels."
_SUBJECTS = "Subject vocabulary, whose URIs or names texts have as labels."
LABELS_OPTION = file_option("--labels", help=_IDS)
VOCABULARY_OPTION = file_option("--vocabulary", help=_SUBJECTS)


SIZES_OPTION = file_option(
    "--sizes", help="JSON file to write: instances, features, labels, positives."
)


def write_dataset_sizes(path, train, parameters) -> None:
    if path is not None:
        X = train.X
        Y = train.Y
        files = parameters.get("source", {}).get("files", {})
        names = {role: file["name"] for role, file in files.items()}
        write_sizes(path, Shape(X.n_rows, X.n_columns, Y.n_columns, len(Y.indices)), names)


def _source_of(settings, files):
    if settings.format != "builtin" and files["train"] is None:
        raise click.UsageError(f"--format={settings.format} needs --train")
    if len(as_list(files["extra"] or [])) != len(settings.extra_weight):
        raise click.UsageError("give an --extra-weight for each --extra")
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
def prepare_command(settings, threads, sizes, reading, output, **files) -> None:
    """Turn a dataset's source into dataset.h5."""
    source = _source_of(settings, files)
    listed = output.with_name(UNKNOWN_SUBJECTS)
    require_another_file(settings.label_map, listed)
    glance = ReadingSummary({})
    if holds_texts(settings.format):
        source.require_files()
        glance = ReadingSummary.at(source.look, settings.format)
        click.echo(f"records are read like this:\n{glance}")
    with explain_write_errors(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        prepared = prepare(source, threads, output.parent)
    prepared.write(output)
    if source.vocabulary is not None:
        write_unknown_subjects(listed, prepared.unknown_subjects)
    write_dataset_sizes(sizes, prepared.train, prepared.parameters)
    if reading is not None:
        further = prepared.column_descriptions | _weights_in_words(
            settings.weight_column, prepared.documents
        )
        write_json(
            reading, "reading", {"lines": glance.of_all(*prepared.label_counts(), further).lines}
        )
    click.echo(f"{output}: {prepared.summary()}")
    for remark in collect_remarks(prepared, listed):
        click.echo(f"remark: {remark}")


def _weights_in_words(column, dataset):
    """What the records of the training file weigh, if a column says so."""
    if column is None:
        return {}
    weights = dataset.instance_weights
    extra = dataset.train.extra
    return {"weights": describe_weights(column, weights if extra is None else weights[~extra])}


_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("hold-out")
@DATASET_ARGUMENT
@click.option(
    "--fraction",
    default=0.2,
    show_default=True,
    type=_SHARE,
    help="Share of the training instances.",
)
@number_option("--seed", 0, "Seed of the draw.", least=0)
@file_option(
    "--records",
    help="CSV to write: the id of each instance and its part: train, held-out, test or dev.",
)
@SIZES_OPTION
@output_option("Dataset file to write; its test instances are those held out.")
def hold_out_command(dataset, fraction, seed, records, sizes, output) -> None:
    """Set training instances of DATASET (dataset.h5) aside, for the second stage."""
    opened = open_dataset(dataset)
    train = replace(opened.train, records=opened.ids("train"))
    parts = hold_out(replace(opened, train=train), fraction, seed)
    if records is not None:
        ids = {"train": parts.train.records, "held-out": parts.test.records}
        ids |= {name: opened.ids(name) for name in opened.measured}
        write_csv(records, [("id", "part"), *((each, part) for part in ids for each in ids[part])])
    write_dataset(
        output, parts.train, parts.test, opened.label_names, opened.feature_names, parts.parameters
    )
    write_dataset_sizes(sizes, parts.train, parts.parameters)
    held = parts.test.X.n_rows
    n = opened.n_documents
    n_extra = 0
    if train.extra is not None:
        n_extra = int(np.count_nonzero(train.extra))
        n -= n_extra
    click.echo(
        f"{output}: {held:,} of {n:,} training instances held out{_extra_left_out(train, parts, n_extra)}"
    )
    if is_far_from_share(held, n, fraction):
        click.echo(
            f"remark: not about {round(fraction * n):,}: {explain_kept_together(opened.parameters)}"
        )


def _extra_left_out(train, parts, n_extra):
    """How many extra instances are neither held out nor trained on, in words."""
    left_out = train.X.n_rows - parts.train.X.n_rows - parts.test.X.n_rows
    if not left_out:
        return ""
    return f"; {left_out:,} of {n_extra:,} extra ones are left out like them, and not measured"


@click.command("choose-features")
@step_options("choose-features")
@source_files_option("--train", "Training instances")
@source_files_option(
    "--test", "Test instances, which are not read (without them a share of the others is set aside)"
)
@source_files_option("--dev", "Validation instances, which are not read")
@source_files_option("--extra", "Further training instances, which are not read")
@LABELS_OPTION
@VOCABULARY_OPTION
@THREADS_OPTION
@output_option("JSON file to write, for ovaflow prepare --features=auto.")
def choose_features_command(settings, threads, output, **files) -> None:
    """Compare blocks of text features on held-out training instances."""
    choice = features.choose_features(_source_of(settings, files), settings, threads)
    write_json(output, features.FEATURES_KIND, choice)
    _print_choice(choice)


@click.command("choose-c")
@DATASET_ARGUMENT
@step_options("choose-c")
@THREADS_OPTION
@output_option("JSON file to write, for --C=auto of the commands that train.")
def choose_c_command(dataset, settings, threads, output) -> None:
    """Compare values of C on held-out training instances of DATASET (dataset.h5)."""
    choice = cost.choose_C(open_dataset(dataset), settings, settings, threads)
    write_json(output, cost.COST_KIND, choice)
    _print_choice(choice)


def _print_choice(choice) -> None:
    _print_trials(choice["candidates"], choice["metric"])
    if "check" in choice:
        click.echo("checked with all training instances:")
        _print_trials(choice["check"], choice["metric"])
    # the last line is what a run shows of the log
    click.echo(f"{choice['chosen']}  chosen, {_gain_of(choice)}")


def _print_trials(entries, metric) -> None:
    for each in entries:
        difference = f"{100 * each['difference']:+.1f} ± {200 * each['error']:.1f}"
        quality = f"{metric} {100 * each['metrics'][metric]:.1f} ({difference}), P@1 {100 * each['metrics']['P@1']:.1f}"
        click.echo(
            f"{each['candidate']}: {quality} on {each['held_out']:,} instances, {each['seconds']:.0f} s"
        )


def _gain_of(choice):
    """What the choice gained over the default, in words."""
    default = choice["default"]
    chosen = choice["chosen"]
    if chosen == default:
        return "the default: no other is surely better"
    [entry] = [
        each for each in choice.get("check", choice["candidates"]) if each["candidate"] == default
    ]
    gain = f"{-100 * entry['difference']:+.1f} ± {200 * entry['error']:.1f}"
    return f"{choice['metric']} {gain} to the default, {default}"
