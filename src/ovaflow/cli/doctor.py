"""``ovaflow doctor``."""

import json
from itertools import chain
from pathlib import Path

import click

from ovaflow.diagnosis.finding import Verdict
from ovaflow.diagnosis.installation import check_packages, check_python, check_snakemake

_COLORS = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Findings as one JSON list, for programs and bug reports.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=".",
    help="Where Snakemake is called and results will be.  [default: this folder]",
)
def command(as_json, folder):
    """Check the installation, the machine and the disk, and train a tiny problem whose solution is known.

    Takes about two seconds; where no kernel is compiled yet, as long as compiling those of the tiny problem takes.
    Exit status 0 if ovaflow works here, 1 if something fails.
    """
    findings = []
    for finding in _findings(folder.resolve()):
        findings.append(finding)
        if not as_json:
            _show(finding)
    if as_json:
        click.echo(json.dumps([finding.as_json() for finding in findings], indent=2, ensure_ascii=False))
    else:
        _sum_up(findings)
    if any(finding.verdict == Verdict.FAIL for finding in findings):
        raise click.exceptions.Exit(1)


def _findings(folder):
    yield from check_python()
    packages = list(check_packages())
    yield from packages
    yield from check_snakemake()
    if any(finding.verdict == Verdict.FAIL for finding in packages):
        # what is missing would be imported now
        return
    from ovaflow.diagnosis.machine import (
        check_clock,
        check_disk,
        check_locale,
        check_memory,
        check_numa,
        check_threads,
    )
    from ovaflow.diagnosis.storage import check_artifacts, check_cache, compiled_kernels

    yield from chain(check_threads(), check_numa(), check_memory(), check_disk(folder), check_clock(folder))
    yield from chain(check_locale(), check_artifacts(folder), check_cache())
    from ovaflow.diagnosis.self_test import run_self_test

    if not compiled_kernels():
        click.echo("      compiling the kernels of the self-test, about 15 s, once", err=True)
    yield from run_self_test()


def _show(finding):
    verdict = click.style(f"{finding.verdict:<5}", fg=_COLORS[finding.verdict])
    click.echo(f"{verdict} {finding.area:<10} {finding.said}")
    if finding.remedy:
        click.echo(f"{'':<16} do: {finding.remedy}")


def _sum_up(findings):
    fails, warnings = (sum(each.verdict == verdict for each in findings) for verdict in (Verdict.FAIL, Verdict.WARN))
    if fails:
        click.echo(f"ovaflow does not work here: {fails} of {len(findings)} checks failed")
    else:
        click.echo(f"ovaflow works here{f', with {warnings} warnings' if warnings else ''}")
