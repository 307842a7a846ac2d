"""``ovaflow run``."""

import os
import re
import sys

import click

from ovaflow.configuration.places import snakefile
from ovaflow.configuration.resolve import load, resolve


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("config", required=False, type=click.Path())
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE OPTION]...")
def command(config, options):
    """Run the pipeline here: all that CONFIG asks for, or without CONFIG the default run.

    The same as snakemake --snakefile "$(ovaflow snakefile)" --cores all --configfile CONFIG. Options after CONFIG are
    handed to Snakemake, such as --dry-run, --cores 4 or --workflow-profile slurm.
    """
    if config is not None and config.startswith("-"):
        config, options = None, (config, *options)
    become_snakemake(config, options)


def become_snakemake(config, options):
    """Run the pipeline in the current folder: Snakemake takes this process over, with its signals and its terminal.

    Parameters
    ----------
    config : path-like or None
        Config file; None for the default run.
    options : sequence of str
        More options of Snakemake.
    """
    workflow = snakefile()
    chosen = ["--snakefile", str(workflow)]
    if config is not None:
        # one line about a mistake, before Snakemake sees it
        resolve(load(config), load(workflow.parent / "config" / "config.yaml"), config)
        chosen += ["--configfile", str(config)]
    if not any(map(_TELLS_CORES, options)):
        chosen += ["--cores", "all"]
    sys.stdout.flush()
    # -P: what lies in the folder is no Python module
    os.execv(sys.executable, [sys.executable, "-P", "-m", "snakemake", *chosen, *options])


# a profile may say how many jobs there are at a time
_TELLS_CORES = re.compile(r"(--cores|--jobs|--profile|--workflow-profile)(=|$)|-[cj]").match
