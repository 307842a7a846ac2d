"""ovaflow near-twins: test records that a model may remember."""

from operator import itemgetter

import click
from rich.console import Console

from ovaflow.cli.options import file_argument, file_option
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.near_twins import HEADER, table
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.storage.writing import write_csv

SHOWN = 10
_TITLE = "Test records with a near twin in training"
_COLUMNS = (
    Column("training record", itemgetter(1)),
    Column("shared", itemgetter(2)),
    Column("text", lambda row: row[3][:60]),
)


@click.command("near-twins")
@file_argument("dataset")
@file_option("--output", help="Table of all of them to write, twins.csv.")
def near_twins_command(dataset, output):
    """List test records of DATASET (dataset.h5) with a near twin in training, such as a copy or another edition.

    Figures contain some memory of them. Shared is how many of the two records' features both have.
    """
    opened = open_dataset(dataset)
    if opened.test.twins is None:
        remedy = "it was made from dense features, among which none are looked for"
        raise InputError("near twins are not known", path=dataset, remedy=remedy)
    rows = table(opened)
    if output:
        write_csv(output, [HEADER, *rows])
    if rows:
        shown = make_table(_TITLE, "test record", _COLUMNS, rows[:SHOWN], lambda row, cells: Row(row[0], cells))
        Console(highlight=False).print(shown.terminal, "")
    place = f"{output}: " if output else ""
    click.echo(f"{place}{len(rows):,} of {opened.test.X.n_rows:,} test records have a near twin in training")
