"""ovaflow errors: wrong predictions of a run for its test records, by record or for one label."""

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.text import Text

from ovaflow.cli.listing import Listing
from ovaflow.cli.options import file_option
from ovaflow.console.progress import Progress
from ovaflow.evaluation.errors import (
    ERROR_ORDER,
    RecordErrors,
    RunErrors,
    explain_prediction,
    sort_by_value,
)
from ovaflow.prediction.explanation import find_labels
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import wording
from ovaflow.report.tables import Column
from ovaflow.results.runs import open_run
from ovaflow.storage.tables import StoredColumn

SHOWN_RECORDS = 10
"""Records on the terminal."""

SHOWN_RECORDS_PER_KIND = 5
"""Records on the terminal of each kind of error of a label."""

SHOWN_WORDS_PER_SIGN = 5
"""Words of a record that push a label up, and as many that push it down."""

SHOWN_FREQUENT_LABELS = 5
"""Labels that are named as missed most often, and as many as wrong most often."""


@click.command("errors")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--label",
    "names",
    multiple=True,
    help="Only errors of this label, given by name or URI, with the words and the evidence behind "
    "each; repeatable.",
)
@file_option(
    "--output", help="Table of all errors to write: Parquet if it ends in .parquet, else CSV."
)
def errors_command(run: Path, names: tuple[str, ...], output: Path | None) -> None:
    """List the test records of RUN with a label that was missed or wrongly predicted, the worst
    first.

    RUN is the folder of a run, such as results/catalog/msi. The labels that fit count as predicted,
    without a second stage the first five. Records without known labels are left out.
    """
    opened = open_run(run)
    errors = RunErrors(opened.dataset, opened.measured)
    if names:
        n_listed = None if output else SHOWN_RECORDS_PER_KIND
        listing = _list_errors_of_labels(errors, opened.open_predictor(), names, n_listed)
    else:
        listing = _list_records(errors, None if output else SHOWN_RECORDS)
    if output:
        listing.write(output)
    elif names:
        _print_reasons(listing.rows, errors.value)
    else:
        listing.show()
    if not names:
        _print_summary(errors)
    if output:
        click.echo(f"{output}: all of them")
    else:
        click.echo(_describe_full_list(run, names))


def _list_records(errors: RunErrors, n_listed: int | None) -> Listing:
    """List the records with an error, or the worst ``n_listed`` of them."""
    rows = [
        _make_record_row(errors, record) for record in errors.records(errors.error_rows[:n_listed])
    ]
    columns = [*_RECORD_COLUMNS, StoredColumn(errors.value, list[float])]
    return Listing("Errors", columns, _SHOWN_COLUMNS, rows)


def _list_errors_of_labels(
    errors: RunErrors, predictor: Predictor, names: Sequence[str], n_listed: int | None
) -> Listing:
    """List the errors of some labels, or ``n_listed`` of each kind, with their reasons."""
    rows = []
    for label in find_labels(predictor, names):
        rows += _make_label_rows(errors, predictor, label, n_listed)
    columns = [*_LABEL_COLUMNS, StoredColumn(errors.value, float)]
    return Listing("Errors", columns, (), rows)


def _print_summary(errors: RunErrors) -> None:
    """Print how many labels are missed and wrong, and which ones most often."""
    click.echo(errors.summary())
    for kind, labels in errors.most_frequent(SHOWN_FREQUENT_LABELS).items():
        named = []
        for label, amount in labels:
            name = wording.plain(errors.dataset.label_name(label), 40)
            named.append(f"{name} ({amount:,})")
        if named:
            click.echo(f"{kind} most often: {', '.join(named)}")
    click.echo(f"worst records first: {ERROR_ORDER}")


def _describe_full_list(run: Path, names: Sequence[str]) -> str:
    """Return the command that lists all errors, and the page that shows the worst."""
    options = [f"--label={name}" for name in names]
    command = shlex.join(["ovaflow", "errors", str(run), *options, "--output=errors.csv"])
    description = f"all of them: {command}"
    page = run / "errors.html"
    if page.exists() and not names:
        description += f"; in a browser: {page}"
    return description


_RECORD_COLUMNS = (
    StoredColumn("record"),
    StoredColumn("instance", int),
    StoredColumn("F1", float),
    StoredColumn("text"),
    StoredColumn("true", list[str]),
    StoredColumn("predicted", list[str]),
    StoredColumn("missed", list[str]),
    StoredColumn("wrong", list[str]),
)
_LABEL_COLUMNS = (
    StoredColumn("label"),
    StoredColumn("kind"),
    StoredColumn("record"),
    StoredColumn("instance", int),
    StoredColumn("text"),
    StoredColumn("up", list[str]),
    StoredColumn("down", list[str]),
    StoredColumn("evidence", list[str]),
)
_SHOWN_COLUMNS = (
    Column("F1", itemgetter("F1"), partial(wording.percent, digits=0)),
    Column("missed", lambda row: _counted_names(row["missed"])),
    Column("wrong", lambda row: _counted_names(row["wrong"])),
    Column("text", lambda row: wording.plain(row["text"], 80)),
)


def _counted_names(names: Sequence[str]) -> str:
    """Format the number of labels, and as many names as fit: ``2: libraries, museums``."""
    if not names:
        return "0"
    return f"{len(names)}: {wording.plain(', '.join(names), 80)}"


def _make_record_row(errors: RunErrors, record: RecordErrors) -> dict[str, Any]:
    """Return the columns of a record."""
    predicted = sort_by_value(record.right + record.wrong)
    labels = {
        "true": record.right + record.missed,
        "predicted": predicted,
        "missed": record.missed,
        "wrong": record.wrong,
    }
    row = _describe_record(record)
    row["F1"] = round(record.f1, 4)
    for kind, pairs in labels.items():
        row[kind] = [errors.dataset.label_name(label) for label, _ in pairs]
    row[errors.value] = [value for _, value in predicted]
    return row


def _describe_record(record: RecordErrors) -> dict[str, Any]:
    """Return the columns that say which record it is."""
    return {"record": record.name, "instance": record.row, "text": " ".join(record.text.split())}


def _make_label_rows(
    errors: RunErrors, predictor: Predictor, label: int, n_listed: int | None
) -> list[dict[str, Any]]:
    """Return the columns of a label's errors, or of ``n_listed`` of each kind."""
    *found, values = errors.find_label_errors(label, predictor.model)
    name = errors.dataset.label_name(label)
    rows = []
    click.echo(f"{name}: {len(found[0]):,} false positives, {len(found[1]):,} false negatives")
    for kind, instances in zip(("false positive", "false negative"), found, strict=True):
        with Progress(f"{kind}s", len(instances[:n_listed]), "records") as progress:
            for record in errors.records(instances[:n_listed]):
                value = round(float(values[record.row]), 4)
                row: dict[str, Any] = {
                    "label": name,
                    "kind": kind,
                    errors.value: value if np.isfinite(value) else None,
                }
                row |= _describe_record(record)
                row["up"], row["down"], row["evidence"] = explain_prediction(
                    predictor, errors.dataset, record.row, label, record.text, SHOWN_WORDS_PER_SIGN
                )
                rows.append(row)
                progress.advance()
    return rows


def _print_reasons(rows: Sequence[Mapping[str, Any]], value: str) -> None:
    """Print errors of labels with the words and the evidence behind each."""
    console = Console(highlight=False)
    for row in rows:
        record = wording.plain(row["record"], 60)
        error = wording.plain(f"{row['kind']} of {row['label']}")
        outcome = "unknown" if row[value] is None else row[value]
        console.print(
            Text.assemble("\n", (record, "bold"), f"  {error}, ", (f"{value} {outcome}", "cyan"))
        )
        console.print(Text(wording.plain(row["text"], 160)))
        if row["up"] or row["down"]:
            pushed_up = Text(", ".join(row["up"]), "green")
            pushed_down = Text(", ".join(row["down"]), "red")
            console.print(pushed_up, pushed_down, sep="; ")
        for text in row["evidence"]:
            console.print(Text(f"• {wording.plain(text, 200)}"))
    console.print()
