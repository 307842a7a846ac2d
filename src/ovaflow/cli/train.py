"""``ovaflow train``: the whole workflow on one file."""

import os
import tempfile
from pathlib import Path

import click

from ovaflow.cli.first_run import FORMATS, RUN, config_for, name_of, write_config
from ovaflow.cli.run import become_snakemake
from ovaflow.machine.limits import read_allowance
from ovaflow.settings import paths

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("data", type=_FILE)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
@click.option("--text-column", help="csv, jsonl, parquet: column of the text, or several: title,abstract.")
@click.option("--labels-column", help="csv, jsonl, parquet: column of the labels.")
@click.option("--label-separator", help="What stands between two labels.")
@click.option(
    "--format", "format_", type=click.Choice(sorted(set(FORMATS.values()))), help="If the name does not tell."
)
@click.option("--test", type=_FILE, help="Test file; otherwise a fifth of the instances is set aside.")
@click.option("--labels", type=_FILE, help="Label names, one a line in id order, for formats with ids.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="Folder of config and results.  [default: this folder]",
)
@click.option("--cores", type=click.IntRange(1), help="CPUs to use.  [default: all that this process may use]")
@click.option("--dry-run", is_flag=True, help="Print the config file and the jobs that would run.")
@click.option("--print-config", is_flag=True, help="Print the config file alone.")
def command(data, options, output, cores, dry_run, print_config, format_, **entry):
    """Train on DATA, a file of texts and labels, from raw file to model and report.

    Writes a config file, NAME.yaml, and does what `ovaflow run NAME.yaml` does; call it again and it goes on where it
    stopped. The config is yours to extend with more datasets, runs and settings.

    \b
    ovaflow train records.csv --text-column=title --labels-column=subjects --label-separator=';'

    What follows DATA and is no option of this command goes to Snakemake.
    """  # noqa: D301
    cores = cores or read_allowance().cores
    name = name_of(data)
    files = {key: _seen_from(output, entry.pop(key)) for key in ("test", "labels")}
    # at least as many shards as cores keep them busy
    given = {"format": format_, **entry, **files}
    text = config_for(_seen_from(output, data), max(8, cores), **given)
    if print_config:
        click.echo(text, nl=False)
        return
    options = [f"--cores={cores}", *options]
    if dry_run:
        click.echo(text)
        _try(text, output, options)
    config = Path(f"{name}.yaml")
    write_config(output / config, text)
    click.echo(f"config: {output / config}")
    model = output / paths.MODEL.format(dataset=name, run=RUN)
    click.echo(f"labels of a text, afterwards: ovaflow predict --model {model} --text ...")
    os.chdir(output)
    become_snakemake(config, options)


def _seen_from(folder, path):
    if path is None:
        return None
    return str(path if folder.resolve() == Path.cwd() else path.resolve())


def _try(text, output, options):
    os.chdir(output if output.is_dir() else ".")
    # a file without a name, for the process that this one becomes
    with tempfile.TemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.set_inheritable(file.fileno(), True)
        become_snakemake(f"/proc/self/fd/{file.fileno()}", ["--dry-run", "--quiet", "rules", "host", *options])
