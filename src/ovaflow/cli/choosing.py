"""Commands that choose settings on held-out training instances."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from ovaflow.cli.data import LABELS_OPTION, VOCABULARY_OPTION, open_source
from ovaflow.cli.options import (
    DATASET_ARGUMENT,
    THREADS_OPTION,
    output_option,
    source_files_option,
    step_options,
)
from ovaflow.dataset.dataset import open_dataset
from ovaflow.report import wording
from ovaflow.settings.prepare import ChooseFeatures
from ovaflow.settings.train import ChooseC
from ovaflow.storage.texts import write_json
from ovaflow.tuning import cost, features


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
def choose_features_command(
    settings: ChooseFeatures, threads: int, output: Path, **files: Any
) -> None:
    """Compare blocks of text features on held-out training instances."""
    choice = features.choose_features(open_source(settings, files), settings, threads)
    write_json(output, features.FEATURES_KIND, choice)
    _print_choice(choice)


@click.command("choose-c")
@DATASET_ARGUMENT
@step_options("choose-c")
@THREADS_OPTION
@output_option("JSON file to write, for --C=auto of the commands that train.")
def choose_c_command(dataset: Path, settings: ChooseC, threads: int, output: Path) -> None:
    """Compare values of C on held-out training instances of DATASET (dataset.h5)."""
    choice = cost.choose_C(open_dataset(dataset), settings, settings, threads)
    write_json(output, cost.COST_KIND, choice)
    _print_choice(choice)


def _print_choice(choice: Mapping[str, Any]) -> None:
    """Print the compared values of a setting, and the chosen one."""
    _print_trials(choice["candidates"], choice["metric"])
    if "check" in choice:
        click.echo("checked with all training instances:")
        _print_trials(choice["check"], choice["metric"])
    # the last line is what a run shows of the log
    click.echo(f"{choice['chosen']}  chosen, {_describe_gain(choice)}")


def _print_trials(entries: Iterable[Mapping[str, Any]], metric: str) -> None:
    """Print how each value performs on held-out instances."""
    for each in entries:
        difference = wording.points_with_error(each["difference"], each["error"])
        metrics = each["metrics"]
        quality = f"{metric} {100 * metrics[metric]:.1f} ({difference})"
        quality += f", P@1 {100 * metrics['P@1']:.1f}"
        amounts = f"{each['held_out']:,} instances, {each['seconds']:.0f} s"
        click.echo(f"{each['candidate']}: {quality} on {amounts}")


def _describe_gain(choice: Mapping[str, Any]) -> str:
    """Describe the gain of a choice over the default."""
    default = choice["default"]
    if choice["chosen"] == default:
        return "the default: no other is surely better"
    entries = choice.get("check", choice["candidates"])
    [entry] = [each for each in entries if each["candidate"] == default]
    gain = wording.points_with_error(-entry["difference"], entry["error"])
    return f"{choice['metric']} {gain} to the default, {default}"
