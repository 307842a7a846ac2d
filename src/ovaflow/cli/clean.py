"""``ovaflow clean``."""

import base64
import contextlib
import json
import subprocess
from collections import defaultdict
from pathlib import Path

import click

from ovaflow.cli.options import FILE
from ovaflow.cli.run import snakemake_command
from ovaflow.console.errors import InputError
from ovaflow.storage.parts import parts_folder

_RECORDS = Path(".snakemake/metadata")


@click.command("clean")
@click.argument("config", type=FILE)
@click.option("--remove", is_flag=True, help="Remove them, too.")
def clean_command(config, remove):
    """List the pipeline's results in this folder that CONFIG does not produce.

    Results of other configs in this folder are among them. Files that the pipeline did not write and downloads are
    neither listed nor removed.
    """
    folders = defaultdict(list)
    for path in _left_over(config):
        folders[Path(*path.parts[:3]) if len(path.parts) > 3 else path.parent].append(path)
    for folder, paths in sorted(folders.items()):
        # a finished shard has two names until it is merged
        size = sum({stat.st_ino: stat.st_size for stat in map(Path.stat, paths)}.values())
        click.echo(f"{folder}: {len(paths):,} file{'s' * (len(paths) > 1)}, {size / 1e6:,.1f} MB")
        for path in paths if remove else ():
            path.unlink()
            _remove_empty(path.parent)
    if not folders:
        click.echo("nothing is left over")
    else:
        click.echo("removed" if remove else f"nothing was removed; ovaflow clean {config} --remove does it")


def _left_over(config):
    """Files that Snakemake made here and that the config does not, with their logs."""
    listing = [*snakemake_command(config), "--list-untracked"]
    done = subprocess.run(listing, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputError(f"Snakemake could not list its files: {done.stderr.strip()}", path=config)
    untracked, files = set(done.stdout.splitlines()), set()
    for record in filter(Path.is_file, _RECORDS.rglob("*")):
        output = _name_of(record)
        if output in untracked and output.startswith("results/"):
            logs = json.loads(record.read_text(encoding="utf-8"))["log"]
            # benchmark: of a rule is next to its log
            files |= {output, *logs, *(str(Path(log).with_suffix(".tsv")) for log in logs)}
            files |= set(map(str, parts_folder(output).glob("*")))
    return sorted(map(Path, files & untracked))


def _name_of(record):
    """The output that a record of Snakemake is about: long names are in folders that begin with @."""
    name = "".join(part.removeprefix("@") for part in record.relative_to(_RECORDS).parts)
    return base64.urlsafe_b64decode(name).decode()


def _remove_empty(folder):
    with contextlib.suppress(OSError):
        while folder != Path():
            folder.rmdir()
            folder = folder.parent
