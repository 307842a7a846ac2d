"""Remarks that commands print beside their results."""

from collections.abc import Iterable, Mapping
from typing import Any

import click

from ovaflow.reading.remarks import remark_on_reading


def print_reading_remarks(counts_of_readings: Iterable[Mapping[str, Any]]) -> None:
    """Print each remark on what was read of files once."""
    remarks: dict[str, None] = {}
    for counts in counts_of_readings:
        remarks |= dict.fromkeys(remark_on_reading(counts))
    for remark in remarks:
        click.echo(f"ovaflow: {remark}", err=True)
