"""``ovaflow report``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from ovaflow.cli.options import file_option, number_option, output_option, step_options
from ovaflow.report.gather import gather_results
from ovaflow.report.page import describe_machine, describe_software, render_page
from ovaflow.report.tidy import format_tidy_csv
from ovaflow.settings.predict import Report
from ovaflow.storage.writing import write_text


def _parse_sweeps(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, list[str]]:
    """Parse NAME=RUN,RUN of sweeps."""
    sweeps = {}
    for value in values:
        name, _, runs = value.partition("=")
        if not name or not runs:
            raise click.BadParameter("expected NAME=RUN,RUN with all runs of a sweep")
        sweeps[name] = runs.split(",")
    return sweeps


@click.command("report")
@click.argument(
    "runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@number_option("--seed", 0, "Seed of the sample of test documents.", least=0)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    callback=_parse_sweeps,
    metavar="NAME=RUN,RUN...",
    help="Runs that differ in the value of a setting, for a section of their own; repeatable.",
)
@file_option(
    "--choice",
    "choices",
    multiple=True,
    help="Output of choose-features or choose-c, in the folder of its dataset; repeatable.",
)
@file_option(
    "--csv", "tidy", help="CSV file to write as well, with all numbers of all runs, one per row."
)
@step_options("report")
@output_option("The page to write, such as results/report.html.")
def report_command(
    *,
    runs: tuple[Path, ...],
    seed: int,
    sweeps: dict[str, list[str]],
    choices: tuple[Path, ...],
    tidy: Path | None,
    settings: Report,
    output: Path,
) -> None:
    """Write one self-contained HTML page about all RUNS.

    Each of RUNS is a folder results/{dataset}/{run} with model.h5, predictions.h5, metrics.json
    and, where the method keeps it, training.h5; dataset.h5 is in its parent.
    """
    page_folder = output.absolute().parent
    results = gather_results(
        runs, seed=seed, sweeps=sweeps, settings=settings, choices=choices, page_folder=page_folder
    )
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    write_text(output, render_page(results, describe_machine(), describe_software(), written))
    if tidy is not None:
        write_text(tidy, format_tidy_csv(results))
    click.echo(f"report: {output}")
