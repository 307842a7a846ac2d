"""ovaflow runs: all runs of a config in one table."""

import json
from pathlib import Path

import click

from ovaflow.cli.listing import print_table
from ovaflow.cli.options import file_argument
from ovaflow.report.runs import (
    list_brief_metrics,
    list_measured_metrics,
    list_runs,
    make_json_entry,
    make_listing_table,
)
from ovaflow.report.tables import format_csv
from ovaflow.settings.config import load_config, resolve_config
from ovaflow.workflow import snakefile


@click.command("runs")
@file_argument("config", required=False)
@click.option(
    "--csv",
    "as_csv",
    is_flag=True,
    help="Print CSV, numbers in full, with all metrics that have intervals.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all settings and metrics.")
def runs_command(*, config: Path | None, as_csv: bool, as_json: bool) -> None:
    """Compare all runs of CONFIG in one table, also those that are still to be made.

    Without CONFIG, the runs are those of config/config.yaml, or else the default run. The table has
    the settings in which runs differ, metrics with half of their 95 % intervals, processor time of
    training, wall time of prediction, and sizes of models.
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other")
    default = Path("config", "config.yaml")
    path = config or (default if default.is_file() else None)
    defaults = load_config(snakefile().parent / "config" / "config.yaml")
    runs = list_runs(resolve_config(load_config(path) if path else {}, defaults, path))
    if as_json:
        click.echo(json.dumps([make_json_entry(run) for run in runs], ensure_ascii=False))
    elif as_csv:
        click.echo(
            format_csv(*make_listing_table(runs, list_measured_metrics(runs)).full_content),
            nl=False,
        )
    else:
        print_table(make_listing_table(runs, list_brief_metrics()), whole=True)
        if any(run.remark for run in runs):
            click.echo(
                f"\novaflow run {path or ''}".rstrip()
                + " makes what is missing or was made with other settings"
            )
