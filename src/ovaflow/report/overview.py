"""All runs of all datasets at a glance, published results beside them."""

from ovaflow.report import published, wording
from ovaflow.report.tables import Cell, Column, Row, Table, figure, mark_columns

METRICS = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5")


def overview(sections):
    """Main figures of all runs, and published ones with footnotes.

    Parameters
    ----------
    sections : sequence of Section

    Returns
    -------
    table : Table
    notes : list of str
        Footnotes, the first one number 1.
    """
    columns = [Column("run", words=True)]
    columns += [Column(f"@{name[-1]}", name[:-2], unit="fraction") for name in METRICS]
    columns += [
        Column("training", "cost", "seconds times threads of the solver", unit="s"),
        Column("model", "cost", "bytes of the model file", unit="bytes"),
        Column("ms / instance", "cost", "wall time of prediction"),
    ]
    rows, notes = [], []
    for section in sections:
        rows += _ours(section) + [_theirs(section, entry, notes) for entry in section.published]
    return Table("dataset", columns, rows, "All runs"), notes


def _ours(section):
    cells = mark_columns([_cells(run) for run in section.runs], [False] * len(METRICS) + [True] * 3)
    return [
        Row(section.card.name, [Cell(run.name), *row], run.series) for run, row in zip(section.runs, cells, strict=True)
    ]


def _cells(run):
    metrics = [figure(run.metrics.get(name), wording.percent) for name in METRICS]
    costs = [figure(run.train_seconds, wording.duration), figure(run.model_bytes, wording.size)]
    return [*metrics, *costs, figure(run.predict_milliseconds_per_instance, wording.decimal)]


def _theirs(section, entry, notes):
    text = published.footnote(entry)
    if text not in notes:
        notes.append(text)
    metrics = [figure(entry.metrics.get(name), wording.percent) for name in METRICS]
    name = Cell(entry.method, note=notes.index(text) + 1)
    return Row(section.card.name, [name, *metrics, *[Cell(wording.MISSING)] * 3], kind="theirs")
