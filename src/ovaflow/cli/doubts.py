"""ovaflow doubts: training labels that are probably wrong or missing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ovaflow.cli.listing import Listing
from ovaflow.cli.options import THREADS_OPTION, file_option
from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.evaluation.doubts import (
    DOUBT_COLUMNS,
    find_cross_validated_doubts,
    find_held_out_doubts,
    tabulate_doubts,
)
from ovaflow.model.model_file import open_any_model
from ovaflow.report.doubts import COLUMNS_WITHOUT_KIND, MAX_RECORD_NAME_CHARACTERS
from ovaflow.reranking.fitting import require_same_dataset
from ovaflow.reranking.held_out_texts import MIN_HELD_OUT_TEXTS
from ovaflow.reranking.reranker_file import FILE_NAME, Reranker
from ovaflow.settings.section import HELD_OUT_PREFIX

SHOWN_DOUBTS_PER_KIND = 10
"""Rows of each kind on the terminal."""

_TITLES = {"wrong": "Given, but improbable", "missing": "Not given, but probable"}


@click.command("doubts")
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN|MODEL")
@file_option("--dataset", help="The dataset file; by default that of the RUN.")
@file_option(
    "--held-out", help="Dataset by ovaflow hold-out, on whose training data MODEL was then trained."
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="All training records instead of a fifth: train five times, each time without a fifth of"
    " them.",
)
@THREADS_OPTION
@file_option(
    "--output", help="Table of all doubts to write: Parquet if it ends in .parquet, else CSV."
)
def doubts_command(
    *,
    run: Path,
    dataset: Path | None,
    held_out: Path | None,
    every: bool,
    threads: int,
    output: Path | None,
) -> None:
    """List training labels that are probably wrong or missing, by models that have not seen their
    records.

    RUN is the folder of a run with a second stage, such as results/catalog/msi: the fifth of the
    training records that was held out for it is looked at.
    """
    if every and held_out:
        raise click.UsageError("--all and --held-out exclude each other")
    model = run / "model.h5" if run.is_dir() else run
    opened = open_dataset(dataset or model.parent.parent / "dataset.h5")
    if every:
        trained = open_any_model(model)
        trained.require(dataset=opened)
        doubts, n = find_cross_validated_doubts(opened, trained, threads)
    else:
        if held_out is None:
            held_out = _find_held_out(model)
            model = held_out.parent / model.parent.name / model.name
        parts = open_dataset(held_out)
        trained = open_any_model(model)
        require_same_dataset(opened, parts, trained)
        doubts, n = find_held_out_doubts(opened, parts, trained, threads)
    rows = tabulate_doubts(opened, doubts.sort_worst_first())
    if output:
        _make_listing("Doubts", rows).write(output)
    for kind, title in _TITLES.items():
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            click.echo(title)
            _make_listing(title, of_kind[:SHOWN_DOUBTS_PER_KIND]).show()
    _print_summary(rows, n, opened, output)


def _make_listing(title: str, rows: Sequence[dict[str, Any]]) -> Listing:
    return Listing(
        title, DOUBT_COLUMNS, COLUMNS_WITHOUT_KIND, rows, name_length=MAX_RECORD_NAME_CHARACTERS
    )


def _find_held_out(model: Path) -> Path:
    """Return the held-out dataset of a run's second stage, in the layout of results/."""
    reranker = model.with_name(FILE_NAME)
    if not reranker.exists():
        message = "no second stage, so every model has seen all training records"
        remedy = "give --all, or set predict: {rerank: 0.2} in the config and run again"
        raise InputError(message, path=model, remedy=remedy)
    share = Reranker.open_header(reranker).parameters["fraction"]
    return model.parent.parent / f"{HELD_OUT_PREFIX}{share:g}" / "dataset.h5"


def _print_summary(
    rows: Sequence[dict[str, Any]], n: int, dataset: Dataset, output: Path | None
) -> None:
    """Print how many labels are doubtful, in n held-out records."""
    if n < MIN_HELD_OUT_TEXTS:
        click.echo(f"{n:,} records were held out; at least {MIN_HELD_OUT_TEXTS:,} are needed")
        return
    n_wrong = 0
    for row in rows:
        if row["kind"] == "wrong":
            n_wrong += 1
    prefix = f"{output}: " if output else ""
    click.echo(
        f"{prefix}{n_wrong:,} labels are less likely than chance, {len(rows) - n_wrong:,} are"
        " missing"
        f" with a probability of 50 % or more, of {n:,} of {dataset.n_documents:,} training records"
    )
