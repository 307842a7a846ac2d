"""Subcommands of the whole workflow: run it, on a config or on one table, and clean up."""

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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import yaml

from ovaflow.cli.options import file_argument, reading_options
from ovaflow.console.errors import InputError, StrPath
from ovaflow.labels.label_map import UNKNOWN_SUBJECTS
from ovaflow.machine.limits import read_allowance
from ovaflow.reading import formats
from ovaflow.reading.foreign import refuse_foreign
from ovaflow.reading.formats import FORMATS
from ovaflow.reading.part_files import guess_folder_format
from ovaflow.reading.streams import find_matching_paths
from ovaflow.reading.summary import ReadingSummary
from ovaflow.records.source import preview_datasets
from ovaflow.settings import paths
from ovaflow.settings.config import load_config, resolve_config
from ovaflow.settings.prepare import PrepareSource, require_settings_of_format
from ovaflow.settings.section import NAME_PATTERN, RESERVED_NAMES
from ovaflow.settings.source import ReadTexts
from ovaflow.storage.links import remove_link
from ovaflow.storage.parts import parts_folder
from ovaflow.workflow import find_owner, require_writable, snakefile

_CORES_OPTION = re.compile(r"(--cores|--jobs|--profile|--workflow-profile)(=|$)|-[cj]")
"""Options that set the number of jobs at a time, as a profile may do."""
_DRY_RUN_OPTIONS = {"--dry-run", "--dryrun", "-n"}


@click.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("config", required=False, type=click.Path())
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
def run_command(config: str | None, options: tuple[str, ...]) -> None:
    """Run the pipeline in this folder, as CONFIG says; without CONFIG, as config/config.yaml
    says, or else the default run.

    It calls snakemake --snakefile "$(ovaflow snakefile)" --cores all --configfile CONFIG. Options
    after CONFIG go to Snakemake, such as --cores 4 or --workflow-profile slurm; --dry-run shows the
    jobs in a table, and with --printshellcmds as Snakemake does.
    """
    if config is not None and config.startswith("-"):
        # the first argument is an option of Snakemake
        options = (config, *options)
        config = None
    exec_snakemake(config, options)


def exec_snakemake(config: StrPath | None, options: Sequence[str]) -> None:
    """Run the pipeline in the current folder.

    Snakemake replaces this process, with its signals and its terminal.
    """
    command = make_pipeline_command(config, options)
    if any(Path(".snakemake/locks").glob("*")) and find_owner() == 0:
        # the process that made the locks was killed
        subprocess.run([*command, "--unlock"], check=False)
    sys.stdout.flush()
    os.execv(sys.executable, command)


def make_pipeline_command(config: StrPath | None, options: Sequence[str]) -> list[str]:
    """Return the command line of Snakemake, by default on all cores."""
    _require_folders()
    command = make_snakemake_command(config)
    if config is not None:
        show_readings(config)
    if not any(_CORES_OPTION.match(option) for option in options):
        command += ["--cores", "all"]
    if _DRY_RUN_OPTIONS.intersection(options):
        command.append("--logger-ovaflow-job-table")
    return [*command, *options]


def make_snakemake_command(config: StrPath | None) -> list[str]:
    """Return the beginning of a command line of Snakemake."""
    workflow = snakefile()
    # -P: Python does not import modules from the folder
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


def show_readings(config: StrPath) -> None:
    """Print how the data of a config are read; refuse unreadable data before any computation."""
    settings = resolve_config(
        load_config(config), load_config(snakefile().parent / "config" / "config.yaml"), config
    )
    for name, preview in preview_datasets(settings).items():
        if not Path(paths.DATASET.format(dataset=name)).exists():
            data_format = settings.datasets[name].format
            assert data_format is not None
            summary = ReadingSummary.from_preview(preview, data_format)
            click.echo(f"datasets.{name} is read like this:\n{summary}", err=True)


def _require_folders() -> None:
    """Refuse folders where Snakemake cannot start."""
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
"""Name of the run in a config of `ovaflow train`."""


def guess_format(path: StrPath) -> str:
    """Return the format of a data file by its name, compressed or not, or of a folder's files."""
    if Path(path).is_dir():
        named = guess_folder_format(Path(path))
    else:
        refuse_foreign(path)
        named = formats.guess_format(path)
    if named is None:
        legal = ", ".join(FORMATS)
        raise InputError(
            "the name does not tell the format", path=path, remedy=f"give --format, one of {legal}"
        )
    return named


def make_dataset_name(path: StrPath) -> str:
    """Return a name for the dataset of a file that is legal in a config file."""
    stem = Path(path).name.split(".")[0]
    name = re.sub(r"[^A-Za-z0-9_-]", "-", stem)[:100].lstrip("-")
    if not re.fullmatch(NAME_PATTERN, name) or name in RESERVED_NAMES:
        return "data"
    return name


def make_config(data: StrPath, **entry: str) -> str:
    """Return the YAML of a config of one dataset, with the keys of its entry, and one run."""
    if "format" not in entry:
        entry["format"] = guess_format(data)
    dataset = {"format": entry["format"], "train": str(data)} | entry
    run = {"method": "one-vs-all", "initialization": "mean-separating"}
    config = {"datasets": {make_dataset_name(data): dataset}, "runs": {DEFAULT_RUN: run}}
    root = snakefile().parent
    defaults = root / "config" / "config.yaml"
    schema = root / "workflow" / "schemas" / "config.schema.json"
    resolve_config(config, load_config(defaults))
    return (
        f"# yaml-language-server: $schema={schema}\n"
        f"# Every key and its default: {defaults}\n"
        + yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    )


def _refuse_unknown(options: Sequence[str]) -> None:
    """Refuse an option that neither this command nor Snakemake has.

    That happens before a config file is written.
    """
    # imported here, since it takes a second
    from snakemake.cli import get_argument_parser

    context = click.get_current_context()
    known: list[str] = []
    for option in context.command.params:
        known += option.opts
    _, unknown = get_argument_parser().parse_known_args(list(options))
    for word in unknown:
        name = word.partition("=")[0]
        raise click.NoSuchOption(
            name, possibilities=difflib.get_close_matches(name, known), ctx=context
        )


_EXISTING_FILE_TYPE = click.Path(path_type=Path, dir_okay=False, exists=True)
_DATA_TYPE = click.Path(path_type=Path)


@click.command("train", context_settings={"ignore_unknown_options": True})
@click.argument("data", type=_DATA_TYPE)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
@reading_options(ReadTexts.model_fields)
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS)),
    help="Format of DATA; by default from its name, and annif with a vocabulary.",
)
@click.option(
    "--test", type=_DATA_TYPE, help="Test file; by default a fifth of the instances is set aside."
)
@click.option("--dev", type=_DATA_TYPE, help="Validation file, on which settings are chosen.")
@click.option(
    "--labels", type=_EXISTING_FILE_TYPE, help="Label names, one per line in order of their ids."
)
@click.option(
    "--vocabulary",
    type=_EXISTING_FILE_TYPE,
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
    *,
    data: Path,
    options: tuple[str, ...],
    reading: dict[str, Any],
    output: Path,
    cores: int | None,
    dry_run: bool,
    print_config: bool,
    force: bool,
    format_: str | None,
    **files: Any,
) -> None:
    """Train on DATA, a file of texts and labels or a pattern of several, from raw file to model and
    report.

    Writes a config file, NAME.yaml, and does what `ovaflow run NAME.yaml` does; called again, it
    continues where it stopped. The config is yours to extend with more datasets, runs and settings.

    \b
    ovaflow train records.csv --text-column=title --labels-column=subjects --label-separator=';'

    Options after DATA that this command does not know go to Snakemake.
    """  # noqa: D301
    if options:
        _refuse_unknown(options)
    _require_one_data(data, options)
    _require_existing([data, files["test"], files["dev"]])
    entry = {"train": data, "format": format_} | files
    if format_ is None and files["vocabulary"]:
        entry["format"] = "annif"
    format_name = entry["format"] or guess_format(data)
    settings = PrepareSource.model_construct(format=format_name, **reading)
    require_settings_of_format(settings, reading, data)
    text = make_config(data, **(_make_entry(entry, output) | reading))
    if dry_run or print_config:
        click.echo(text, nl=dry_run)
    if print_config:
        return
    name = make_dataset_name(data)
    path = output / f"{name}.yaml"
    if not force and path.exists() and path.read_text(encoding="utf-8") != text:
        # the user may have edited it
        remedy = f"run it as it is: ovaflow run {path}; or replace it: --force"
        raise InputError("differs from the config of this command", path=path, remedy=remedy)
    if cores is None:
        cores = read_allowance().cores
    all_options = [f"--cores={cores}", *options]
    if dry_run:
        _show_jobs(text, output, all_options)
        return
    output.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"config: {path}")
    os.chdir(output)
    exec_snakemake(path.name, all_options)


def _require_one_data(data: Path, options: Sequence[str]) -> None:
    """Refuse further data files, which would be taken for options of Snakemake."""
    for option in options:
        if Path(option).suffix == data.suffix and Path(option).is_file():
            message = (
                f"{data} and {option}: give one DATA; several are a pattern in quotes,"
                f" '*{data.suffix}'"
            )
            raise click.UsageError(message)


def _require_existing(locations: Sequence[Path | None]) -> None:
    """Refuse files that do not exist."""
    for location in locations:
        if location is not None and not find_matching_paths(location)[0].exists():
            raise InputError(
                "no such file", path=location, remedy=f"paths are relative to {Path.cwd()}"
            )


def _make_entry(values: dict[str, Any], output: Path) -> dict[str, str]:
    """Return the entry of a dataset in a config that is run in the folder ``output``."""
    entry = {}
    for key, value in values.items():
        if value is None:
            continue
        if isinstance(value, Path) and output.resolve() != Path.cwd():
            # paths in a config are relative to the folder where it is run
            value = value.resolve()
        entry[key] = str(value)
    return entry


def _show_jobs(text: str, folder: Path, options: Sequence[str]) -> None:
    """Let Snakemake print the jobs of a config that is not written."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as config:
        config.write(text)
        config.flush()
        os.chdir(folder if folder.is_dir() else ".")
        command = make_pipeline_command(config.name, ["--dry-run", *options])
        sys.stdout.flush()
        status = subprocess.run(command, check=False).returncode
    if status:
        raise click.exceptions.Exit(status)


@click.command("clean")
@file_argument("config")
@click.option("--remove", is_flag=True, help="Remove them, too.")
def clean_command(*, config: Path, remove: bool) -> None:
    """List the pipeline's results in this folder that CONFIG does not produce.

    Results of other configs in this folder are among them. Files that the pipeline did not write
    and downloads are neither listed nor removed.
    """
    folders: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in _find_leftovers(config):
        folder = path.parent
        if len(path.parts) > 3:
            folder = Path(*path.parts[:3])
        folders[folder].append(path)
    for folder, files in sorted(folders.items()):
        n_files = "1 file" if len(files) == 1 else f"{len(files):,} files"
        click.echo(f"{folder}: {n_files}, {_compute_size(files) / 1e6:,.1f} MB")
        if remove:
            _remove(files)
    if not folders:
        click.echo("nothing is left over")
    elif remove:
        click.echo("removed")
    else:
        click.echo(f"nothing was removed; ovaflow clean {config} --remove does it")


def _compute_size(files: Sequence[Path]) -> int:
    """Sum the sizes of files in bytes; a file with two names counts once.

    A finished shard has two names until it is merged.
    """
    sizes = {}
    for path in files:
        status = path.stat()
        sizes[status.st_ino] = status.st_size
    return sum(sizes.values())


def _remove(files: Sequence[Path]) -> None:
    """Remove files, and folders that are then empty."""
    for path in files:
        path.unlink()
        if path.name == Path(paths.MODEL).name:
            remove_link(path.with_name(Path(paths.SHARDS_LINK).name))
        with contextlib.suppress(OSError):
            os.removedirs(path.parent)


def _find_leftovers(config: Path) -> list[Path]:
    """Find files that Snakemake made here and that the config does not make, with their logs."""
    listing = [*make_snakemake_command(config), "--list-untracked"]
    done = subprocess.run(listing, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputError(f"Snakemake could not list its files: {done.stderr.strip()}", path=config)
    untracked = set(done.stdout.splitlines())
    files: set[str] = set()
    records = Path(".snakemake/metadata")
    for record in records.rglob("*"):
        if not record.is_file():
            continue
        # a long name is in folders that begin with @
        encoded = "".join(part.removeprefix("@") for part in record.relative_to(records).parts)
        output = base64.urlsafe_b64decode(encoded).decode()
        if output in untracked and output.startswith("results/"):
            logs = json.loads(record.read_text(encoding="utf-8"))["log"]
            files |= {output, *logs}
            for log in logs:
                # the benchmark of a rule is next to its log
                files.add(str(Path(log).with_suffix(".tsv")))
            for part in parts_folder(output).glob("*"):
                files.add(str(part))
            files.add(str(Path(output).with_name(UNKNOWN_SUBJECTS)))
    return sorted(Path(file) for file in files & untracked)
