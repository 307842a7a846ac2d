"""ovaflow errors: what a run predicts wrongly for its test records, record by record or for one
label.
"""

import shlex
from functools import partial
from operator import itemgetter
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.text import Text

from ovaflow.cli.listing import Listing
from ovaflow.cli.options import file_option
from ovaflow.console.progress import Progress
from ovaflow.evaluation.errors import ERROR_ORDER, RunErrors, explain_prediction, sort_by_value
from ovaflow.prediction.explanation import find_labels
from ovaflow.report import wording
from ovaflow.report.tables import Column
from ovaflow.results.runs import open_run
from ovaflow.storage.tables import StoredColumn

SHOWN_RECORDS = 10  # records on the terminal
SHOWN_RECORDS_PER_KIND = 5  # records of each kind of a label there
SHOWN_WORDS_PER_SIGN = 5  # words of each sign
SHOWN_FREQUENT_LABELS = 5  # labels named that are missed most often, and wrong


@click.command("errors")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--label",
    "names",
    multiple=True,
    help="Only errors of this label, a name or URI, with the words and the evidence behind each; repeatable.",
)
@file_option(
    "--output", help="Table of all errors to write: Parquet if it ends in .parquet, else CSV."
)
def errors_command(run, names, output) -> None:
    """List the test records of RUN with a label that was missed or wrongly predicted, the worst
    first.

    RUN is the folder of a run, such as results/catalog/msi. The labels that fit count as predicted,
    without a second stage the first five. Records without known labels are left out.
    """
    opened = open_run(run)
    errors = RunErrors(opened.dataset, opened.measured)
    if names:
        listing = _list_errors_of_labels(
            errors, opened.open_predictor(), names, None if output else SHOWN_RECORDS_PER_KIND
        )
    else:
        listing = _list_records(errors, None if output else SHOWN_RECORDS)
    if output:
        listing.write(output)
    elif names:
        _show_reasons(listing.rows, errors.value)
    else:
        listing.show()
    if not names:
        _say_what_is_wrong(errors)
    click.echo(f"{output}: all of them" if output else _where_all_are(run, names))


def _list_records(errors, most):
    """List the records with an error, the worst ``most`` of them."""
    rows = [_row(errors, record) for record in errors.records(errors.rows[:most])]
    return Listing("Errors", [*_OF_RECORD, StoredColumn(errors.value, list[float])], _SHOWN, rows)


def _list_errors_of_labels(errors, predictor, names, most):
    """List the errors of some labels, ``most`` of each kind, and why."""
    rows = []
    for label in find_labels(predictor, names):
        rows += _rows_of_label(errors, predictor, label, most)
    return Listing("Errors", [*_OF_LABEL, StoredColumn(errors.value, float)], (), rows)


def _say_what_is_wrong(errors) -> None:
    """Print how many labels are missed and wrong, which ones most often, and what the worst records
    are.
    """
    click.echo(errors.summary())
    for kind, labels in errors.most_frequent(SHOWN_FREQUENT_LABELS).items():
        named = [
            f"{wording.plain(errors.dataset.label_name(label), 40)} ({amount:,})"
            for label, amount in labels
        ]
        if named:
            click.echo(f"{kind} most often: {', '.join(named)}")
    click.echo(f"worst records first: {ERROR_ORDER}")


def _where_all_are(run, names):
    page = run / "errors.html"
    words = shlex.join(
        [
            "ovaflow",
            "errors",
            str(run),
            *(f"--label={name}" for name in names),
            "--output=errors.csv",
        ]
    )
    return f"all of them: {words}" + f"; in a browser: {page}" * (page.exists() and not names)


_OF_RECORD = (
    StoredColumn("record"),
    StoredColumn("instance", int),
    StoredColumn("F1", float),
    StoredColumn("text"),
    StoredColumn("true", list[str]),
    StoredColumn("predicted", list[str]),
    StoredColumn("missed", list[str]),
    StoredColumn("wrong", list[str]),
)
_OF_LABEL = (
    StoredColumn("label"),
    StoredColumn("kind"),
    StoredColumn("record"),
    StoredColumn("instance", int),
    StoredColumn("text"),
    StoredColumn("up", list[str]),
    StoredColumn("down", list[str]),
    StoredColumn("evidence", list[str]),
)
_SHOWN = (
    Column("F1", itemgetter("F1"), partial(wording.percent, digits=0)),
    Column("missed", lambda row: _counted_names(row["missed"])),
    Column("wrong", lambda row: _counted_names(row["wrong"])),
    Column("text", lambda row: wording.plain(row["text"], 80)),
)


def _counted_names(names):
    """Number of labels, and their names as far as they fit: ``2: libraries, museums``."""
    if not names:
        return "0"
    return f"{len(names)}: {wording.plain(', '.join(names), 80)}"


def _row(errors, record):
    predicted = sort_by_value(record.right + record.wrong)
    labels = {
        "true": record.right + record.missed,
        "predicted": predicted,
        "missed": record.missed,
        "wrong": record.wrong,
    }
    named = {
        kind: [errors.dataset.label_name(label) for label, _ in pairs]
        for kind, pairs in labels.items()
    }
    values = {errors.value: [value for _, value in predicted]}
    return _about(record) | {"F1": round(record.f1, 4)} | named | values


def _about(record):
    return {"record": record.name, "instance": record.row, "text": " ".join(record.text.split())}


def _rows_of_label(errors, predictor, label, most):
    """Errors of a label, ``most`` of each kind, and why."""
    *found, values = errors.of_label(label, predictor.model)
    name = errors.dataset.label_name(label)
    rows = []
    click.echo(f"{name}: {len(found[0]):,} false positives, {len(found[1]):,} false negatives")
    for kind, instances in zip(("false positive", "false negative"), found, strict=True):
        with Progress(f"{kind}s", len(instances[:most]), "records") as progress:
            for record in errors.records(instances[:most]):
                reasons = explain_prediction(
                    predictor, errors.dataset, record.row, label, record.text, SHOWN_WORDS_PER_SIGN
                )
                value = round(float(values[record.row]), 4)
                about = {
                    "label": name,
                    "kind": kind,
                    errors.value: value if np.isfinite(value) else None,
                }
                rows.append(
                    about
                    | _about(record)
                    | dict(zip(("up", "down", "evidence"), reasons, strict=True))
                )
                progress.advance()
    return rows


def _show_reasons(rows, value) -> None:
    console = Console(highlight=False)
    for row in rows:
        record = wording.plain(row["record"], 60)
        about = wording.plain(f"{row['kind']} of {row['label']}")
        outcome = "unknown" if row[value] is None else row[value]
        console.print(
            Text.assemble("\n", (record, "bold"), f"  {about}, ", (f"{value} {outcome}", "cyan"))
        )
        console.print(Text(wording.plain(row["text"], 160)))
        if row["up"] or row["down"]:
            console.print(
                Text(", ".join(row["up"]), "green"), Text(", ".join(row["down"]), "red"), sep="; "
            )
        for text in row["evidence"]:
            console.print(Text(f"• {wording.plain(text, 200)}"))
    console.print()
