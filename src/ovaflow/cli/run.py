"""The whole workflow on a config file or on one table, and how Snakemake is stopped and continued."""

import contextlib
import difflib
import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import psutil
import yaml

from ovaflow.console.ending import end_with
from ovaflow.console.errors import InputError, StrPath
from ovaflow.data.readers.streams import matching
from ovaflow.data.source import check_beginnings
from ovaflow.machine.limits import read_allowance
from ovaflow.settings import paths
from ovaflow.settings.config import load, resolve
from ovaflow.settings.models import NAME, RESERVED
from ovaflow.workflow import snakefile

_OWNER = Path(".snakemake/ovaflow.pid")

# a profile may say how many jobs there are at a time
_TELLS_CORES = re.compile(r"(--cores|--jobs|--profile|--workflow-profile)(=|$)|-[cj]").match


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("config", required=False, type=click.Path())
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
def run_command(config, options):
    """Run the pipeline here: all that CONFIG asks for, or without CONFIG the default run.

    The same as snakemake --snakefile "$(ovaflow snakefile)" --cores all --configfile CONFIG. Options after CONFIG go to
    Snakemake, such as --dry-run, --cores 4 or --workflow-profile slurm.
    """
    if config is not None and config.startswith("-"):
        config, options = None, (config, *options)
    become_snakemake(config, options)


def become_snakemake(config, options):
    """Run the pipeline in the current folder: Snakemake takes this process over, with its signals and its terminal."""
    _require_folders()
    command = snakemake_on(config)
    if not any(map(_TELLS_CORES, options)):
        command += ["--cores", "all"]
    if _owner_was_killed():
        subprocess.run([*command, "--unlock", *options], check=False)
    sys.stdout.flush()
    os.execv(sys.executable, [*command, *options])


def snakemake_on(config):
    """The beginning of a command line of Snakemake; of a wrong config one line, before Snakemake sees it."""
    workflow = snakefile()
    # -P: what is in the folder is not a Python module
    command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", str(workflow)]
    if config is None:
        return command
    check_beginnings(resolve(load(config), load(workflow.parent / "config" / "config.yaml"), config))
    return [*command, "--configfile", str(config)]


def _require_folders():
    """Refuse a place where the pipeline cannot write, before Snakemake finds out."""
    for path in (Path(), Path(".snakemake"), Path("results"), Path("logs")):
        if path.exists() and not path.is_dir():
            raise InputError("must be a folder", path=path, remedy="rename this file, or use another folder")
        if path.exists() and not os.access(path, os.W_OK | os.X_OK):
            raise InputError("not writable", path=path.resolve(), remedy="allow writing there, or use another folder")


def sign_in():
    """Write down which Snakemake runs in this folder, since its locks do not tell."""
    _OWNER.write_text(f"{socket.gethostname()} {os.getpid()}", encoding="utf-8")


def _owner_was_killed():
    """Whether Snakemake's locks are those of a process of this machine that is gone."""
    return any(Path(".snakemake/locks").glob("*")) and owner() == 0


def owner():
    """The Snakemake of this machine that runs here, 0 if it is gone; None if nothing tells, or it was elsewhere."""
    host, number = _OWNER.read_text(encoding="utf-8").split() if _OWNER.exists() else ("", 0)
    if host != socket.gethostname():
        return None
    with contextlib.suppress(psutil.NoSuchProcess):
        return int(number) if "snakemake" in " ".join(psutil.Process(int(number)).cmdline()) else 0
    return 0


def end_by_signals(jobs_are_here):
    """Let SIGINT and SIGTERM end the jobs of this machine, for which Snakemake would wait, and then it as Ctrl-C does.

    Jobs elsewhere are Snakemake's: it cancels them on SIGINT and waits for them on SIGTERM.
    """
    signal.signal(signal.SIGINT, _end_jobs if jobs_are_here else _interrupt)
    if jobs_are_here:
        signal.signal(signal.SIGTERM, _end_jobs)


def _end_jobs(number, frame):
    # first, so that the jobs that now end do not count as failed
    end_with(128 + number)
    for shell in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in shell.children(recursive=True):
                process.terminate()
    _interrupt(number, frame)


def _interrupt(number, frame):
    end_with(128 + number)
    raise KeyboardInterrupt


@click.command("snakefile")
def snakefile_command():
    """Print where the workflow's Snakefile is.

    Use it as: snakemake --snakefile "$(ovaflow snakefile)" --cores all
    """
    click.echo(snakefile())


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

_PACKED = ("gz", "bz2", "xz", "zst")
_MARK = "# unchanged since ovaflow train wrote it: "
RUN = "msi"


def format_of(path: StrPath) -> str:
    """Format of a data file by its name, compressed or not; folders are Annif's."""
    if Path(path).is_dir():
        return "annif"
    names = [part.lower() for part in Path(path).name.split(".")[1:] if part.lower() not in _PACKED]
    if not names or names[-1] not in FORMATS:
        legal = ", ".join(dict.fromkeys(FORMATS.values()))
        raise InputError("the name does not tell the format", path=path, remedy=f"give --format, one of {legal}")
    return FORMATS[names[-1]]


def name_of(path: StrPath) -> str:
    """Name of the dataset that a file becomes, legal in a config file."""
    name = re.sub(r"[^A-Za-z0-9_-]", "-", Path(path).name.split(".")[0])[:100].lstrip("-")
    return name if re.fullmatch(NAME, name) and name not in RESERVED else "data"


def config_for(data: StrPath, shards: int, **entry: str | None) -> str:
    """YAML of one dataset and one run; keys of the dataset's entry without a value are left out."""
    first: dict[str, str | None] = {"format": entry.pop("format", None) or format_of(data), "train": str(data)}
    entry = first | entry
    config = {
        "datasets": {name_of(data): {key: value for key, value in entry.items() if value is not None}},
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


def _refuse_misspelled(options):
    """Refuse an option that Snakemake does not know if it is almost one of ours."""
    context = click.get_current_context()
    ours = [name for option in context.command.params for name in option.opts]
    for name in (option.partition("=")[0] for option in options):
        close = difflib.get_close_matches(name, ours, n=1, cutoff=0.8) if name.startswith("--") else []
        if close and name not in _options_of_snakemake():
            raise click.NoSuchOption(name, possibilities=close, ctx=context)


def _options_of_snakemake():
    # loaded here: it takes a second
    from snakemake.cli import get_argument_parser

    return re.findall(r"--[\w-]+", get_argument_parser().format_help())


def _marked(text: str) -> str:
    """With a last line that shows whether somebody has changed the file."""
    return f"{text}{_MARK}{hashlib.sha256(text.encode()).hexdigest()[:16]}\n"


_CHANGED = "somebody has changed it since it was written"


def is_changed(path: Path) -> bool:
    """Whether somebody has written or changed a config file."""
    written = path.read_text(encoding="utf-8") if path.exists() else ""
    return written != "" and written != _marked(written.rpartition(_MARK)[0])


def write_config(path: Path, text: str) -> None:
    """Write a config file, also over an earlier one, but not over one that somebody has written or changed."""
    if is_changed(path):
        remedy = f"run what it says: ovaflow run {path}; or delete it"
        raise InputError(_CHANGED, path=path, remedy=remedy)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_marked(text), encoding="utf-8")


_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
_DATA = click.Path(path_type=Path)


@click.command("train", context_settings={"ignore_unknown_options": True})
@click.argument("data", type=_DATA)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
@click.option(
    "--text-column",
    multiple=True,
    help="csv, jsonl, parquet: column of the text, or several: title,abstract; repeatable.",
)
@click.option("--labels-column", multiple=True, help="csv, jsonl, parquet: column of the labels; repeatable.")
@click.option("--label-separator", help="What separates two labels.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(sorted({"annif", *FORMATS.values()})),
    help="Needed if the name does not tell; annif where there is a vocabulary.",
)
@click.option("--test", type=_DATA, help="Test file; otherwise a fifth of the instances is set aside.")
@click.option("--labels", type=_FILE, help="Label names, one per line in id order, for formats with ids.")
@click.option("--vocabulary", type=_FILE, help="Subject vocabulary whose subjects are the labels: SKOS, or Annif's.")
@click.option("--language", help="Language of the subjects' names; needed if the vocabulary has several.")
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
    """Train on DATA, a file of texts and labels or a pattern of several, from raw file to model and report.

    Writes a config file, NAME.yaml, and does what `ovaflow run NAME.yaml` does; called again, it continues where it
    stopped. The config is yours to extend with more datasets, runs and settings.

    \b
    ovaflow train records.csv --text-column=title --labels-column=subjects --label-separator=';'

    Options after DATA that this command does not know go to Snakemake.
    """  # noqa: D301
    _refuse_misspelled(options)
    if more := [each for each in options if Path(each).suffix == data.suffix and Path(each).is_file()]:
        raise click.UsageError(
            f"{data} and {more[0]}: give one DATA; several are a pattern in quotes, '*{data.suffix}'"
        )
    here = output.resolve() == Path.cwd()
    for location in filter(None, (data, entry["test"])):
        if not matching(location)[0].exists():
            raise InputError("no such file", path=location, remedy=f"paths are relative to {Path.cwd()}")
    entry |= {key: ",".join(entry[key]) or None for key in ("text_column", "labels_column")}
    entry |= {"format": format_ or ("annif" if entry["vocabulary"] else None), "train": data}
    # paths in a config are relative to the folder where it is run
    seen = {key: str(path if here else path.resolve()) for key, path in entry.items() if isinstance(path, Path)}
    cores = cores or read_allowance().cores
    # at least as many shards as cores keep them busy
    text = config_for(data, max(8, cores), **entry | seen)
    name = name_of(data)
    config = output / f"{name}.yaml"
    changed = dry_run and is_changed(config)
    if changed:
        click.echo(f"{config}: {_CHANGED}; these are the jobs of: ovaflow run {config}", err=True)
    elif dry_run or print_config:
        click.echo(text, nl=dry_run)
    if print_config:
        return
    options = [f"--cores={cores}", *options]
    if dry_run:
        # a file without a name, for the process that this one becomes
        unnamed = os.memfd_create("config", flags=0)
        os.write(unnamed, text.encode())
        os.chdir(output if output.is_dir() else ".")
        judged = config.name if changed else f"/proc/self/fd/{unnamed}"
        become_snakemake(judged, ["--dry-run", "--quiet", "rules", "host", *options])
    write_config(config, text)
    model = output / paths.MODEL.format(dataset=name, run=RUN)
    click.echo(f"config: {config}\nlabels of a text, afterwards: ovaflow predict --model {model} --text ...")
    os.chdir(output)
    become_snakemake(config.name, options)
