"""The whole workflow from a config file, and what the Snakefile adds to how Snakemake is stopped and continued."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import psutil

from ovaflow.settings.config import load, resolve
from ovaflow.workflow import snakefile

_OWNER = Path(".snakemake/ovaflow.pid")

# a profile may say how many jobs there are at a time
_TELLS_CORES = re.compile(r"(--cores|--jobs|--profile|--workflow-profile)(=|$)|-[cj]").match


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("config", required=False, type=click.Path())
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
def run_command(config, options):
    """Run the pipeline here: all that CONFIG asks for, or without CONFIG the default run.

    The same as snakemake --snakefile "$(ovaflow snakefile)" --cores all --configfile CONFIG. Options after CONFIG are
    handed to Snakemake, such as --dry-run, --cores 4 or --workflow-profile slurm.
    """
    if config is not None and config.startswith("-"):
        config, options = None, (config, *options)
    become_snakemake(config, options)


def become_snakemake(config, options):
    """Run the pipeline in the current folder: Snakemake takes this process over, with its signals and its terminal."""
    workflow = snakefile()
    # -P: what is in the folder is not a Python module
    program = [sys.executable, "-P", "-m", "snakemake"]
    given = ["--snakefile", str(workflow)]
    if config is not None:
        # one line about a mistake, before Snakemake sees it
        resolve(load(config), load(workflow.parent / "config" / "config.yaml"), config)
        given += ["--configfile", str(config)]
    if not any(map(_TELLS_CORES, options)):
        given += ["--cores", "all"]
    if _owner_was_killed():
        subprocess.run([*program, "--unlock", *given, *options], check=False)
    sys.stdout.flush()
    os.execv(sys.executable, [*program, *given, *options])


def sign_in():
    """Write down which Snakemake runs in this folder, since its locks do not tell."""
    _OWNER.write_text(f"{socket.gethostname()} {os.getpid()}", encoding="utf-8")


def _owner_was_killed():
    """Whether Snakemake's locks are those of a process of this machine that is gone."""
    if not any(Path(".snakemake/locks").glob("*")) or not _OWNER.exists():
        return False
    host, number = _OWNER.read_text(encoding="utf-8").split()
    with contextlib.suppress(psutil.NoSuchProcess):
        return host == socket.gethostname() and "snakemake" not in " ".join(psutil.Process(int(number)).cmdline())
    return host == socket.gethostname()


def end_local_jobs_by_signals():
    """Let SIGINT and SIGTERM end the jobs, for which Snakemake would wait, and then Snakemake as Ctrl-C does."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end_jobs)


def _end_jobs(number, frame):
    for shell in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in shell.children(recursive=True):
                process.terminate()
    raise KeyboardInterrupt


@click.command("snakefile")
def snakefile_command():
    """Print where the workflow's Snakefile is.

    Use it as: snakemake --snakefile "$(ovaflow snakefile)" --cores all
    """
    click.echo(snakefile())
