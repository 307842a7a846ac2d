"""The whole workflow on one file: ``ovaflow train`` writes a config file and runs it."""

import hashlib
import os
import re
import tempfile
from pathlib import Path

import click
import yaml

from ovaflow.cli.run import become_snakemake
from ovaflow.console.errors import InputError, StrPath
from ovaflow.machine.limits import read_allowance
from ovaflow.settings import paths
from ovaflow.settings.config import load, resolve
from ovaflow.settings.models import NAME, RESERVED
from ovaflow.workflow import snakefile

FORMATS = {
    "csv": "csv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "tsv": "text-tsv",
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "txt": "xmc-text",
}
"""Formats by the endings of names."""

_PACKED = (".gz", ".bz2", ".xz", ".zst")
_MARK = "# unchanged since ovaflow train wrote it: "
RUN = "msi"


def format_of(path: StrPath) -> str:
    """Format of a data file by its name, compressed or not."""
    names = [part.lower() for part in Path(path).name.split(".")[1:] if f".{part.lower()}" not in _PACKED]
    if not names or names[-1] not in FORMATS:
        raise InputError(
            "the name does not tell the format",
            path=path,
            remedy=f"give --format, one of {', '.join(dict.fromkeys(FORMATS.values()))}",
        )
    return FORMATS[names[-1]]


def name_of(path: StrPath) -> str:
    """Name of the dataset that a file becomes, legal in a config file."""
    name = re.sub(r"[^A-Za-z0-9_-]", "-", Path(path).name.split(".")[0])[:100].lstrip("-")
    return name if re.fullmatch(NAME, name) and name not in RESERVED else "data"


def config_for(data: StrPath, shards: int, **entry: str | None) -> str:
    """YAML of one dataset and one run; keys of the dataset's entry without a value are left out."""
    given = {key: value for key, value in entry.items() if value is not None}
    given = {"format": format_of(data), "train": str(data)} | given
    config = {
        "datasets": {name_of(data): given},
        "runs": {RUN: {"method": "one-vs-all", "initialization": "mean-separating"}},
        "train": {"shards": shards},
    }
    workflow = snakefile().parent
    resolve(config, load(workflow / "config" / "config.yaml"))
    return (
        f"# yaml-language-server: $schema={workflow / 'workflow' / 'schemas' / 'config.schema.json'}\n"
        f"# Every key and its default: {workflow / 'config' / 'config.yaml'}\n"
        + yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    )


def _marked(text: str) -> str:
    """With a last line by which is seen whether somebody has changed it."""
    return f"{text}{_MARK}{hashlib.sha256(text.encode()).hexdigest()[:16]}\n"


def write_config(path: StrPath, text: str) -> None:
    """Write a config file, also over an earlier one, but not over one that somebody has written or changed."""
    path = Path(path)
    if path.exists():
        written = path.read_text(encoding="utf-8")
        if written != _marked(written.rpartition(_MARK)[0]):
            raise InputError(
                "somebody has changed it since it was written",
                path=path,
                remedy=f"run what it says: ovaflow run {path}; or delete it",
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_marked(text), encoding="utf-8")


_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command("train", context_settings={"ignore_unknown_options": True})
@click.argument("data", type=_FILE)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
@click.option("--text-column", help="csv, jsonl, parquet: column of the text, or several: title,abstract.")
@click.option("--labels-column", help="csv, jsonl, parquet: column of the labels.")
@click.option("--label-separator", help="What separates two labels.")
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
def train_command(data, options, output, cores, dry_run, print_config, format_, **entry):
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
