"""``ovaflow snakefile``: where the workflow is."""

import click

from ovaflow.workflow import snakefile


@click.command()
def command():
    """Print where the workflow's Snakefile is.

    Use it as: snakemake --snakefile "$(ovaflow snakefile)" --cores all
    """
    click.echo(snakefile())
