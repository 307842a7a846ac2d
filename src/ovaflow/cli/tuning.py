"""Commands that choose settings on held-out training instances."""

import click

from ovaflow.cli.options import DATASET, FILE, THREADS, output, reads, source_files
from ovaflow.data.dataset import open_dataset
from ovaflow.data.source import SourceFiles
from ovaflow.storage.texts import write_json
from ovaflow.tuning import cost, features


@click.command("choose-features")
@reads("choose-features")
@source_files("--train", "Training instances")
@source_files("--test", "Test instances, which are not read (without them a share of the others is set aside)")
@click.option("--labels", type=FILE, help="Label names, one per line in id order; texts then have ids as labels.")
@click.option("--vocabulary", type=FILE, help="Subject vocabulary, whose URIs or names texts have as labels.")
@THREADS
@output("JSON file to write, for ovaflow prepare --features=auto.")
def choose_features_command(settings, threads, output, **files):
    """Compare blocks of text features on held-out training instances."""
    if settings.format != "builtin" and files["train"] is None:
        raise click.UsageError(f"--format={settings.format} needs --train")
    choice = features.choose_features(SourceFiles(settings, **files), settings, threads)
    write_json(output, features.KIND, choice)
    _print(choice)


@click.command("choose-c")
@DATASET
@reads("choose-c")
@THREADS
@output("JSON file to write, for --C=auto of the commands that train.")
def choose_c_command(dataset, settings, threads, output):
    """Compare values of C on held-out training instances of DATASET (dataset.h5)."""
    choice = cost.choose_C(open_dataset(dataset), settings, settings, threads)
    write_json(output, cost.KIND, choice)
    _print(choice)


def _print(choice):
    metric, chosen = choice["metric"], choice["chosen"]
    # the last line is what a run shows of the log
    for each in sorted(choice["candidates"], key=lambda each: each["candidate"] == chosen):
        mark = "  chosen" if each["candidate"] == chosen else ""
        difference = f"{100 * each['difference']:+.1f} ± {200 * each['error']:.1f}"
        value = 100 * each["metrics"][metric]
        click.echo(
            f"{each['candidate']}: {metric} {value:.1f} ({difference}) on {each['held_out']:,} instances, "
            f"{each['seconds']:.0f} s{mark}"
        )
