"""Failures worth a look, with names, texts and words."""

from dataclasses import dataclass

from ovaflow.prediction.explanation import strongest_features
from ovaflow.report import explained, tables, wording
from ovaflow.report.examples import label_name
from ovaflow.report.tables import Cell, Column, Row, Table

WORDS = 4
"""Words told of a label."""


@dataclass(frozen=True)
class Failures:
    """Failures of a run.

    Attributes
    ----------
    run : Run
    k : int
        Of the best k predictions.
    wrong : list of Example
        Documents with the highest scores that are wrong.
    missed, confused : Table or None
        Labels missed most often; labels predicted in place of others.
    """

    run: object
    k: int
    wrong: list
    missed: Table | None
    confused: Table | None


def describe(documents, runs, amount):
    """Put names, texts and words to the failures of the run that is explained, or else of the first one.

    Parameters
    ----------
    documents : ovaflow.report.examples.Documents
    runs : list of Run
        Those of the documents, by number.
    amount : int
        Documents to show, and labels and pairs.

    Returns
    -------
    Failures or None
        None where nothing was analysed or nothing fails.
    """
    number, predictor = documents.explained or (0, None)
    run = runs[number]
    found = run.analysis
    if not amount or found is None or not (found.wrong or found.missed):
        return None
    wrong = documents.describe([each["row"] for each in found.wrong[:amount]], [number])
    missed = _missed_table(documents, found.missed[:amount]) if found.missed else None
    confused = _confused_table(documents, predictor, found.confused[:amount]) if found.confused else None
    return Failures(run, found.k, wrong, missed, confused)


def _missed_table(documents, missed):
    columns = [
        Column("training positives"),
        Column("true", "test instances"),
        Column("found", "test instances"),
        Column("missed", "test instances"),
        Column("found, %", "test instances"),
    ]
    rows = []
    for each in missed:
        label, true, found = each["label"], each["true"], each["found"]
        figures = int(documents.counts[label]), true, found, true - found
        cells = [tables.figure(number, wording.count) for number in figures]
        cells.append(tables.figure(found / true, lambda share: wording.percent(share, 0)))
        rows.append(Row(label_name(documents.dataset, label), cells))
    return Table("label", columns, rows, title="Labels missed most often")


def _confused_table(documents, predictor, confused):
    columns = [
        Column("predicted in its place", words=True),
        Column("instances"),
        Column("by chance", hint="expected if wrong predictions stood anywhere"),
    ]
    columns += [Column("words of the missed label", words=True), Column("words of the predicted one", words=True)]
    rows = []
    for each in confused:
        true, predicted = (label_name(documents.dataset, each[side]) for side in ("true", "predicted"))
        told = [Cell(_words(predictor, each[side])) for side in ("true", "predicted")]
        cells = [
            Cell(predicted),
            tables.figure(each["times"], wording.count),
            tables.figure(each["expected"], wording.decimal),
        ]
        rows.append(Row(true, cells + (told if predictor else [])))
    return Table("missed label", columns[: 5 if predictor else 3], rows, title="Labels predicted in place of others")


def _words(predictor, label):
    # a label that never occurs in training has no weights
    if predictor is None or not predictor.model.trained[label]:
        return wording.MISSING
    return ", ".join(word for word, _ in explained.named(predictor, strongest_features(predictor, label, WORDS).up))
