"""The whole workflow, on a config file or on one table, and what it leaves."""

import base64
import contextlib
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import click
import yaml

from ovaflow.cli.options import file_argument, reading_options
from ovaflow.console.errors import InputError, StrPath
from ovaflow.labels.label_map import UNKNOWN_SUBJECTS
from ovaflow.machine.limits import read_allowance
from ovaflow.reading import formats
from ovaflow.reading.foreign import refuse_foreign
from ovaflow.reading.formats import FORMATS
from ovaflow.reading.streams import find_matching_paths
from ovaflow.reading.summary import ReadingSummary
from ovaflow.records.source import preview_datasets
from ovaflow.settings import paths
from ovaflow.settings.config import load_config, resolve_config
from ovaflow.settings.section import NAME_PATTERN, RESERVED_NAMES
from ovaflow.settings.source import ReadTexts
from ovaflow.storage.parts import parts_folder
from ovaflow.workflow import find_owner, require_writable, snakefile

# a profile may say how many jobs there are at a time
_TELLS_CORES = re.compile(r"(--cores|--jobs|--profile|--workflow-profile)(=|$)|-[cj]").match


@click.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("config", required=False, type=click.Path())
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
def run_command(config, options) -> None:
    """Run the pipeline here: all that CONFIG asks for; without it config/config.yaml, or else the
    default run.

    The same as snakemake --snakefile "$(ovaflow snakefile)" --cores all --configfile CONFIG.
    Options after CONFIG go to Snakemake, such as --dry-run, --cores 4 or --workflow-profile slurm.
    """
    if config is not None and config.startswith("-"):
        config, options = None, (config, *options)
    exec_snakemake(config, options)


def exec_snakemake(config, options) -> None:
    """Run the pipeline in the current folder: Snakemake takes this process over, with its signals
    and its terminal.
    """
    command = make_pipeline_command(config, options)
    if any(Path(".snakemake/locks").glob("*")) and find_owner() == 0:
        # the locks are those of a process that was killed
        subprocess.run([*command, "--unlock"], check=False)
    sys.stdout.flush()
    os.execv(sys.executable, command)


def make_pipeline_command(config, options):
    """Command line of Snakemake, on as many cores as there are unless the options say otherwise."""
    _require_folders()
    command = make_snakemake_command(config)
    if config is not None:
        show_readings(config)
    if not any(map(_TELLS_CORES, options)):
        command += ["--cores", "all"]
    return [*command, *options]


def make_snakemake_command(config):
    """The beginning of a command line of Snakemake; a wrong config is one line, before Snakemake
    reads it.
    """
    workflow = snakefile()
    # -P: Python does not import what is in the folder
    command = [
        sys.executable,
        "-P",
        "-m",
        "ovaflow.console.snakemake",
        "--snakefile",
        str(workflow),
    ]
    if config is None:
        return command
    return [*command, "--configfile", str(config)]


def show_readings(config) -> None:
    """Print how the data of a config are read; what cannot be read is refused before anything is
    computed.
    """
    settings = resolve_config(
        load_config(config), load_config(snakefile().parent / "config" / "config.yaml"), config
    )
    for name, preview in preview_datasets(settings).items():
        if not Path(paths.DATASET.format(dataset=name)).exists():
            click.echo(
                f"datasets.{name} is read like this:\n{ReadingSummary.from_preview(preview, settings.datasets[name].format)}",
                err=True,
            )


def _require_folders() -> None:
    """Refuse a place where Snakemake cannot begin."""
    require_writable(f"{folder}/new" for folder in (".snakemake", "results", "logs"))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "snakemake"
    require_writable([cache], remedy="set XDG_CACHE_HOME to a folder where Snakemake may write")


@click.command("snakefile")
def snakefile_command() -> None:
    """Print where the workflow's Snakefile is.

    Use it as: snakemake --snakefile "$(ovaflow snakefile)" --cores all
    """
    click.echo(snakefile())


DEFAULT_RUN = "msi"


def guess_format(path: StrPath) -> str:
    """Format of a data file by its name, compressed or not; folders are Annif's."""
    if Path(path).is_dir():
        return "annif"
    refuse_foreign(path)
    named = formats.guess_format(path)
    if named is None:
        legal = ", ".join(FORMATS)
        raise InputError(
            "the name does not tell the format", path=path, remedy=f"give --format, one of {legal}"
        )
    return named


def make_dataset_name(path: StrPath) -> str:
    """Name of the dataset that a file becomes, legal in a config file."""
    name = re.sub(r"[^A-Za-z0-9_-]", "-", Path(path).name.split(".")[0])[:100].lstrip("-")
    return name if re.fullmatch(NAME_PATTERN, name) and name not in RESERVED_NAMES else "data"


def make_config(data: StrPath, **entry: str) -> str:
    """YAML of one dataset, with the keys of its entry, and one run."""
    if "format" not in entry:
        entry["format"] = guess_format(data)
    config = {
        "datasets": {
            make_dataset_name(data): {"format": entry["format"], "train": str(data)} | entry
        },
        "runs": {DEFAULT_RUN: {"method": "one-vs-all", "initialization": "mean-separating"}},
    }
    workflow = snakefile().parent
    resolve_config(config, load_config(workflow / "config" / "config.yaml"))
    return (
        f"# yaml-language-server: $schema={workflow / 'workflow' / 'schemas' / 'config.schema.json'}\n"
        f"# Every key and its default: {workflow / 'config' / 'config.yaml'}\n"
        + yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    )


def _refuse_unknown(options) -> None:
    """Refuse an option that neither this command nor Snakemake has, before a config file is
    written.
    """
    # loaded here: it takes a second
    from snakemake.cli import get_argument_parser

    context = click.get_current_context()
    known = [name for option in context.command.params for name in option.opts]
    for word in get_argument_parser().parse_known_args(list(options))[1]:
        name = word.partition("=")[0]
        raise click.NoSuchOption(
            name, possibilities=difflib.get_close_matches(name, known), ctx=context
        )


_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
_DATA = click.Path(path_type=Path)


@click.command("train", context_settings={"ignore_unknown_options": True})
@click.argument("data", type=_DATA)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
@reading_options(ReadTexts.model_fields)
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS)),
    help="Format of DATA; by default from its name, and annif with a vocabulary.",
)
@click.option(
    "--test", type=_DATA, help="Test file; by default a fifth of the instances is set aside."
)
@click.option("--dev", type=_DATA, help="Validation file, on which settings are chosen.")
@click.option("--labels", type=_FILE, help="Label names, one per line in order of their ids.")
@click.option(
    "--vocabulary",
    type=_FILE,
    help="Subject vocabulary whose subjects are the labels: SKOS or Annif's.",
)
@click.option("--language", help="Language of the subjects' names, if the vocabulary has several.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="Folder of the config and the results.  [default: the current folder]",
)
@click.option("--cores", type=click.IntRange(1), help="CPUs to use.  [default: all available]")
@click.option("--dry-run", is_flag=True, help="Print the config file and the jobs that would run.")
@click.option("--print-config", is_flag=True, help="Print only the config file.")
@click.option("--force", is_flag=True, help="Replace a config file that differs.")
def train_command(
    data, options, reading, output, cores, dry_run, print_config, force, format_, **entry
) -> None:
    """Train on DATA, a file of texts and labels or a pattern of several, from raw file to model and report.

    Writes a config file, NAME.yaml, and does what `ovaflow run NAME.yaml` does; called again, it continues where it
    stopped. The config is yours to extend with more datasets, runs and settings.

    \b
    ovaflow train records.csv --text-column=title --labels-column=subjects --label-separator=';'

    Options after DATA that this command does not know go to Snakemake.
    """  # noqa: D301
    if options:
        _refuse_unknown(options)
    others = [
        option
        for option in options
        if Path(option).suffix == data.suffix and Path(option).is_file()
    ]
    if others:
        message = f"{data} and {others[0]}: give one DATA; several are a pattern in quotes, '*{data.suffix}'"
        raise click.UsageError(message)
    for location in filter(None, (data, entry["test"], entry["dev"])):
        if not find_matching_paths(location)[0].exists():
            raise InputError(
                "no such file", path=location, remedy=f"paths are relative to {Path.cwd()}"
            )
    entry["train"] = data
    entry["format"] = format_ or ("annif" if entry["vocabulary"] else None)
    if output.resolve() != Path.cwd():
        # paths in a config are relative to the folder where it is run
        entry |= {key: path.resolve() for key, path in entry.items() if isinstance(path, Path)}
    entry = {key: str(value) for key, value in entry.items() if value is not None} | reading
    cores = cores or read_allowance().cores
    text = make_config(data, **entry)
    if dry_run or print_config:
        click.echo(text, nl=dry_run)
    if print_config:
        return
    name = make_dataset_name(data)
    path = output / f"{name}.yaml"
    if not force and path.exists() and path.read_text(encoding="utf-8") != text:
        # a person may have edited it
        remedy = f"run it as it is: ovaflow run {path}; or replace it: --force"
        raise InputError("differs from the config of this command", path=path, remedy=remedy)
    options = [f"--cores={cores}", *options]
    if dry_run:
        _show_jobs(text, output, options)
        return
    output.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"config: {path}")
    os.chdir(output)
    exec_snakemake(path.name, options)


def _show_jobs(text, folder, options) -> None:
    """Let Snakemake print the jobs of a config that is not written."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as config:
        config.write(text)
        config.flush()
        os.chdir(folder if folder.is_dir() else ".")
        command = make_pipeline_command(
            config.name, ["--dry-run", "--quiet", "rules", "host", *options]
        )
        sys.stdout.flush()
        status = subprocess.run(command, check=False).returncode
    if status:
        raise click.exceptions.Exit(status)


@click.command("clean")
@file_argument("config")
@click.option("--remove", is_flag=True, help="Remove them, too.")
def clean_command(config, remove) -> None:
    """List the pipeline's results in this folder that CONFIG does not produce.

    Results of other configs in this folder are among them. Files that the pipeline did not write
    and downloads are neither listed nor removed.
    """
    folders = defaultdict(list)
    for path in _left_over(config):
        folders[Path(*path.parts[:3]) if len(path.parts) > 3 else path.parent].append(path)
    for folder, files in sorted(folders.items()):
        # a finished shard has two names until it is merged
        size = sum({stat.st_ino: stat.st_size for stat in map(Path.stat, files)}.values())
        click.echo(f"{folder}: {len(files):,} file{'s' * (len(files) > 1)}, {size / 1e6:,.1f} MB")
        for path in files if remove else ():
            path.unlink()
            # others than this file may be there
            with contextlib.suppress(OSError):
                os.removedirs(path.parent)
    if not folders:
        click.echo("nothing is left over")
    else:
        click.echo(
            "removed" if remove else f"nothing was removed; ovaflow clean {config} --remove does it"
        )


def _left_over(config):
    """Files that Snakemake made here and that the config does not, with their logs."""
    listing = [*make_snakemake_command(config), "--list-untracked"]
    done = subprocess.run(listing, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputError(f"Snakemake could not list its files: {done.stderr.strip()}", path=config)
    untracked = set(done.stdout.splitlines())
    files = set()
    records = Path(".snakemake/metadata")
    for record in filter(Path.is_file, records.rglob("*")):
        # a long name is in folders that begin with @
        encoded = "".join(part.removeprefix("@") for part in record.relative_to(records).parts)
        output = base64.urlsafe_b64decode(encoded).decode()
        if output in untracked and output.startswith("results/"):
            logs = json.loads(record.read_text(encoding="utf-8"))["log"]
            # benchmark: of a rule is next to its log
            files |= {output, *logs, *(str(Path(log).with_suffix(".tsv")) for log in logs)}
            files |= set(map(str, parts_folder(output).glob("*")))
            files.add(str(Path(output).with_name(UNKNOWN_SUBJECTS)))
    return sorted(map(Path, files & untracked))
