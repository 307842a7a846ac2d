"""``ovaflow train``: the whole workflow on one file."""

import os
import sys
import tempfile
from pathlib import Path

import click

from ovaflow.configuration.first_run import FORMATS, RUN, config_for, name_of, write_config
from ovaflow.configuration.places import snakefile
from ovaflow.machine.allowance import read_allowance

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
_CONFIGS = (".yaml", ".yml")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("data", type=_FILE)
@click.argument("snakemake", nargs=-1, type=click.UNPROCESSED)
@click.option("--text-column", help="csv, jsonl, parquet: column of the text, or several: title,abstract.")
@click.option("--labels-column", help="csv, jsonl, parquet: column of the labels.")
@click.option("--label-separator", help="What stands between two labels.")
@click.option(
    "--format", "format_", type=click.Choice(sorted(set(FORMATS.values()))), help="If the name does not tell."
)
@click.option("--test", type=_FILE, help="Test file; otherwise a fifth of the instances is set aside.")
@click.option("--labels", type=_FILE, help="Label names, one a line in id order, for formats with ids.")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), help="Folder of all results.  [default: NAME-model]"
)
@click.option("--cores", type=click.IntRange(1), help="CPUs to use.  [default: all that this process may use]")
@click.option("--dry-run", is_flag=True, help="Say which jobs would run, and write nothing.")
@click.option("--print-config", is_flag=True, help="Print the config file, and write nothing.")
def command(data, snakemake, output, cores, dry_run, print_config, format_, **entry):
    """Train on DATA, a file of texts and labels, from raw file to model and report.

    Writes a config file, and calls Snakemake on it; call it again and it goes on where it stopped. The config is yours
    to extend with more datasets and runs: then DATA is the config file.

    \b
    ovaflow train records.csv --text-column=title --labels-column=subjects --label-separator=';'
    ovaflow train records-model/config.yaml

    What follows DATA and is no option of this command goes to Snakemake, such as --forceall.
    """
    cores = cores or read_allowance().cores
    if data.suffix in _CONFIGS:
        text, config, dataset = data.read_text(encoding="utf-8"), data, "DATASET"
    else:
        files = {key: str(entry.pop(key).resolve()) for key in ("test", "labels") if entry[key] is not None}
        # at least as many shards as cores keep them busy
        text, dataset = config_for(data, max(8, cores), format=format_, **(entry | files)), name_of(data)
        config = (output or Path(f"{dataset}-model")) / "config.yaml"
    if print_config:
        click.echo(text, nl=False)
    elif dry_run:
        _try(text, cores, snakemake)
    else:
        if config is not data:
            write_config(config, text)
        model = config.parent / "results" / dataset / RUN / "model.h5"
        click.echo(f"config: {config}")
        click.echo(f"labels of a text, afterwards: ovaflow predict --model {model} --text ...")
        # Snakemake takes this process over, with its signals and its terminal
        sys.stdout.flush()
        os.execv(sys.executable, _snakemake(config.parent, config, cores, snakemake))


def _try(text, cores, options):
    with tempfile.TemporaryDirectory() as name:
        config = Path(name) / "config.yaml"
        config.write_text(text, encoding="utf-8")
        click.echo(text)
        sys.stdout.flush()
        status = os.spawnv(
            os.P_WAIT,
            sys.executable,
            _snakemake(Path(name), config, cores, ["--dry-run", "--quiet", "rules", "host", *options]),
        )
    raise click.exceptions.Exit(status)


def _snakemake(folder, config, cores, options):
    given = [f"--snakefile={snakefile()}", f"--directory={folder}", f"--cores={cores}", *options]
    return [sys.executable, "-m", "snakemake", *given, "--configfile", str(config)]
