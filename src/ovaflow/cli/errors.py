"""ovaflow errors: what a run predicts wrongly for its test records, record by record or for one label."""

import shlex
from functools import partial
from operator import attrgetter
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from ovaflow.cli.options import file_option
from ovaflow.console.progress import Progress
from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.errors import MEASURE, RunErrors, reasons_for, why_unexplained
from ovaflow.model.model_file import open_any_model
from ovaflow.prediction.explanation import find_labels
from ovaflow.prediction.predictions import Predictions, with_second_stage
from ovaflow.prediction.predictor import Predictor
from ovaflow.report import wording
from ovaflow.report.tables import Column, Row, make_table
from ovaflow.storage.tables import MARK, is_parquet, write_table

SHOWN = 20  # records on the terminal
OF_LABEL = 5  # records of each kind of a label there
WORDS = 5  # words of each sign
BEGINNING = 160  # characters of a text there

_KINDS = {False: "false positive", True: "false negative"}


@click.command("errors")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--label",
    "names",
    multiple=True,
    help="Only errors of this label, a name or URI, with the words and the evidence behind each; repeatable.",
)
@file_option("--output", help="Table of all errors to write: Parquet if it ends in .parquet, else CSV.")
def errors_command(run, names, output):
    """List the test records of RUN with a label that was missed or wrongly predicted, the worst first.

    RUN is the folder of a run, such as results/catalog/msi. Predicted are the labels that fit, without a second stage
    the first five. Records without known labels are left out.
    """
    dataset = open_dataset(run.parent / "dataset.h5")
    predictions, model = Predictions.open(run / "predictions.h5", dataset=dataset), open_any_model(run / "model.h5")
    predictions.require(model=model)
    errors = RunErrors(dataset, predictions)
    if names:
        _list_errors_of_labels(run, errors, _predictor_of(model, predictions), names, output)
    else:
        _list_records(run, errors, output)


def _predictor_of(model, predictions):
    """What made the predictions."""
    if predictions.ranking is None:
        return Predictor(model)
    reranked = with_second_stage(model)
    if reranked.probabilistic:
        predictions.require(reranker=reranked.reranker)
    return Predictor(reranked)


def _list_records(run, errors, output):
    missed, wrong = (int(amounts[errors.rows].sum()) for amounts in (errors.n_missed, errors.n_wrong))
    if output:
        _write(output, errors, _columns_of_records(errors), map(partial(_row, errors), errors.records(errors.rows)))
    else:
        shown = errors.records(errors.rows[:SHOWN])
        Console(highlight=False).print(make_table("Errors", "record", _RECORDS, shown, _named_row).terminal, "")
    click.echo(
        f"{len(errors.rows):,} of {errors.n_labelled:,} test records with labels have errors: {missed:,} labels missed,"
        f" {wrong:,} wrong; worst first: {MEASURE}"
    )
    click.echo(_where_all_are(run, output))


def _where_all_are(run, output):
    if output:
        return f"{output}: all of them"
    page = run / "errors.html"
    browser = f"; {page} filters and sorts them in a browser" if page.exists() else ""
    return f"all of them: ovaflow errors {run} --output=errors.csv{browser}"


def _name(record):
    return wording.plain(record.name, 60) or f"test instance {record.row}"


def _content(record, characters=BEGINNING):
    return wording.plain(record.text or ", ".join(record.features), characters)


_RECORDS = (
    Column("F1", attrgetter("f1"), partial(wording.percent, digits=0)),
    Column("missed", lambda record: len(record.missed), wording.count),
    Column("wrong", lambda record: len(record.wrong), wording.count),
    Column("text", partial(_content, characters=80)),
)


def _named_row(record, cells):
    return Row(_name(record), cells)


def _columns_of_records(errors):
    about = _content_column(errors) | dict.fromkeys(("true", "predicted"), list[str])
    labels = {errors.value: list[float]} | dict.fromkeys(("missed", "wrong"), list[str])
    return {"record": str, "instance": int, "F1": float} | about | labels


def _content_column(errors):
    """Of records without texts, the heaviest features."""
    return {"text": str} if errors.dataset.test_texts(errors.rows[:1]) else {"features": list[str]}


def _row(errors, record):
    true, predicted, missed, wrong = (
        [errors.label_name(label) for label, _ in pairs]
        for pairs in (record.true, record.predicted, record.missed, record.wrong)
    )
    values = [value for _, value in record.predicted]
    about = _name(record), record.row, round(record.f1, 4), _whole(record)
    return *about, true, predicted, values, missed, wrong


def _whole(record):
    return " ".join(record.text.split()) or record.features


def _write(output, errors, columns, rows):
    write_table(output, columns, rows)
    marked = next((name for name in errors.dataset.label_names if MARK in name), None)
    if marked is not None and not is_parquet(output):
        message = f"the label {marked!r} has {MARK!r} in its name, which stands between labels here"
        click.echo(f"ovaflow: warning: {message}; with --output=errors.parquet lists stay lists", err=True)


def _list_errors_of_labels(run, errors, predictor, names, output):
    console, rows = Console(highlight=False), []
    for label in find_labels(predictor, names):
        found, name = errors.of_label(label, predictor.model), errors.label_name(label)
        unexplained = why_unexplained(predictor.model, label)
        explained = partial(_explained, errors, predictor, label, bool(unexplained))
        if output:
            with Progress("errors", len(found), "records") as progress:
                for each in explained(found):
                    rows.append(_row_of_label(errors, name, *each))
                    progress.advance()
        else:
            _show_label(console, errors, name, found, explained)
        wrong = sum(not each.missed for each in found)
        remark = f"; no words: {unexplained}" if unexplained else ""
        click.echo(f"{name}: {wrong:,} false positives, {len(found) - wrong:,} false negatives{remark}")
    if output:
        _write(output, errors, _columns_of_labels(errors), rows)
    click.echo(_where_all_errors_of_labels_are(run, names, output))


def _where_all_errors_of_labels_are(run, names, output):
    if output:
        return f"{output}: all of them"
    return f"all of them: ovaflow errors {run} {shlex.join(f'--label={name}' for name in names)} --output=errors.csv"


def _explained(errors, predictor, label, unexplained, found):
    """Errors of a label, their records, and the words and the evidence of each."""
    records = errors.records([each.row for each in found])
    for each, record in zip(found, records, strict=True):
        reasons = [], [], []
        if not unexplained:
            reasons = reasons_for(predictor, errors.dataset, each.row, label, record.text, WORDS)
        yield each, record, reasons


def _columns_of_labels(errors):
    lists = dict.fromkeys(("up", "down", "evidence", "true", "predicted"), list[str])
    return (
        {"label": str, "kind": str, "record": str, "instance": int, errors.value: float}
        | lists
        | (_content_column(errors))
    )


def _row_of_label(errors, name, error, record, reasons):
    up, down, evidence = reasons
    words = [[f"{word} {value:+.3f}" for word, value in side] for side in (up, down)]
    true, predicted = ([errors.label_name(label) for label, _ in of] for of in (record.true, record.predicted))
    about = name, _KINDS[error.missed], _name(record), record.row, error.value
    return *about, *words, evidence, true, predicted, _whole(record)


def _show_label(console, errors, name, found, explained):
    for missed, kind in _KINDS.items():
        chosen = [each for each in found if each.missed == missed]
        if chosen:
            console.print(Text(f"{wording.plain(name)}: {kind}s", style="bold"))
            for each in explained(chosen[:OF_LABEL]):
                _show_error(console, errors, *each)
            console.print()


def _show_error(console, errors, error, record, reasons):
    up, down, evidence = reasons
    console.print(Text.assemble((_name(record), "bold"), "  ", (_sureness(errors, error.value), "cyan")))
    console.print(Text(_content(record)))
    if up or down:
        console.print(Text(" ".join(_words(up)), style="green"), Text(" ".join(_words(down)), style="red"))
    for text in evidence:
        console.print(Text(f"• {wording.plain(text, 200)}"))


def _sureness(errors, value):
    if value is None:
        return "no candidate"
    return f"probability {wording.percent(value, 0)} %" if errors.probabilistic else f"score {value:+.3f}"


def _words(side):
    return [f"{wording.plain(word, 40)} {value:+.2f}" for word, value in side]
