"""The overview and the sections on quality: metrics of the runs, alone and compared with published results."""

import csv
import re
from dataclasses import dataclass
from functools import partial

from ovaflow.console.errors import InputError
from ovaflow.report import wording
from ovaflow.report.tables import Cell, Column, Row, Table, cell, mark_columns, table_of_runs

FAMILIES = ("P", "nDCG", "PSP", "recall")
"""Metrics of the main table, in this order; the others follow in a second one."""

OVERVIEW = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5")
PUBLISHED = ("P@1", "P@3", "P@5")

CAVEATS = {
    "XMC repository": "features and splits of the repository’s own files",
    "XMC repository 2019": "the repository’s page as of 2019, its own splits over the pooled data",
    "DiSMEC table 2": "the paper’s preprocessing, C chosen on held-out instances, weights pruned at 0.01",
    "OVA-Primal++ table 3": "one split, bias and scaling as in that paper",
    "FastXML table 2": "the paper’s preprocessing",
    "Rembrandt table 2": "P@1 is 1 − the published test error",
    "Rembrandt table 5": "features of the paper’s own",
}
"""What a reader should know before comparing, by source of the published result."""

COLUMNS = ["dataset", "method", *PUBLISHED, "source", "note"]


@dataclass(frozen=True)
class Published:
    """A published result; its metrics are fractions, without those that were not published."""

    dataset: str
    method: str
    metrics: dict
    source: str
    note: str

    @property
    def caveat(self):
        """What a reader should know before comparing."""
        return "; ".join(filter(None, (self.note, CAVEATS.get(self.source, ""))))


def read_published(path):
    """Read a tab-separated table of published results: metrics in percent, empty where not published."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except FileNotFoundError:
        remedy = "give the path of a table such as config/published.tsv"
        raise InputError("no such file", path=path, remedy=remedy) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not valid UTF-8 ({error})", path=path, remedy="save it as UTF-8") from None
    if not lines or lines[0] != COLUMNS:
        raise InputError("unknown columns", path=path, line=1, remedy=f"expected {', '.join(COLUMNS)}")
    return [_published(path, number, line) for number, line in enumerate(lines[1:], 2) if line]


def _published(path, number, line):
    if len(line) > len(COLUMNS):
        raise InputError(f"{len(line)} columns instead of {len(COLUMNS)}", path=path, line=number)
    values = dict(zip(COLUMNS, line + [""] * (len(COLUMNS) - len(line)), strict=True))
    try:
        metrics = {name: float(values[name]) / 100 for name in PUBLISHED if values[name].strip()}
    except ValueError as error:
        raise InputError(str(error), path=path, line=number, remedy="metrics are percentages") from None
    return Published(values["dataset"], values["method"], metrics, values["source"], values["note"])


def results_for(published, dataset):
    """Published results of a dataset, whatever the case of its name, best P@1 first."""
    ours = [entry for entry in published if entry.dataset.casefold() == dataset.casefold()]
    return sorted(ours, key=lambda entry: -entry.metrics.get("P@1", 0))


def overview(all_results):
    """Main figures of all runs with published ones among them, and the footnotes to these."""
    columns = [Column("run", words=True)]
    columns += [Column(f"@{name[-1]}", name[:-2], unit="fraction") for name in OVERVIEW]
    columns += [
        Column("training", "cost", "seconds times threads of the solver", unit="s"),
        Column("model", "cost", "bytes of the model file", unit="bytes"),
        Column("ms / instance", "cost", "wall time of prediction"),
    ]
    rows, notes = [], []
    for results in all_results:
        cells = mark_columns([_overview_cells(run) for run in results.runs], [False] * len(OVERVIEW) + [True] * 3)
        rows += [
            Row(results.card.name, [Cell(run.name), *row], run.series)
            for run, row in zip(results.runs, cells, strict=True)
        ]
        for entry in results.published:
            note = ": ".join(filter(None, (entry.source, entry.caveat)))
            notes += [note] if note not in notes else []
            name = Cell(entry.method, note=notes.index(note) + 1)
            metrics = _metric_cells(entry.metrics, OVERVIEW)
            rows.append(Row(results.card.name, [name, *metrics, *[Cell(wording.MISSING)] * 3], kind="theirs"))
    return Table("dataset", columns, rows, "All runs"), notes


def _metric_cells(metrics, names):
    return [cell(metrics.get(name), wording.percent) for name in names]


def _overview_cells(run):
    return [
        *_metric_cells(run.metrics, OVERVIEW),
        cell(run.metrics.get("train_seconds"), wording.duration),
        cell(run.metrics.get("model_bytes"), wording.size),
        cell(run.predict_milliseconds, wording.decimal),
    ]


def show(anchor, results):
    """The main metrics and, in a second table, the others."""
    return {"main": metric_table(results.runs), "further": metric_table(results.runs, further=True)}


def metric_columns(metrics, further=False):
    """Triples (name, family, k) of the metrics that any of the runs has."""
    found = {}
    for name in (name for of_run in metrics for name in of_run):
        if match := re.fullmatch(r"(.+)@(\d+)", name):
            found[name] = (name, match[1], int(match[2]))
    families = [family for _, family, _ in found.values()][::-1] if further else FAMILIES
    order = {family: place for place, family in enumerate(families)}
    known = [each for each in found.values() if (each[1] in FAMILIES) != further]
    return sorted(known, key=lambda each: (order[each[1]], each[2]))


def metric_table(runs, further=False):
    """Metrics of the runs side by side."""
    columns = [
        (Column(f"@{k}", family, unit="fraction"), partial(_metric, name), wording.percent)
        for name, family, k in metric_columns([run.metrics for run in runs], further)
    ]
    return table_of_runs("Further metrics" if further else "Quality", runs, columns, lowest=False)


def _metric(name, run):
    return run.metrics.get(name)


def show_published(anchor, results):
    """Our runs and published results of the same dataset name."""
    if not results.published:
        return None
    columns = [Column(name, unit="fraction") for name in PUBLISHED]
    columns += [Column("source", words=True), Column("caveat", words=True)]
    runs, published = results.runs, results.published
    marked = mark_columns([_metric_cells(each.metrics, PUBLISHED) for each in (*runs, *published)])
    rows = [
        Row(run.name, [*cells, Cell("this report"), Cell(run.summary)], run.series)
        for run, cells in zip(runs, marked[: len(runs)], strict=True)
    ]
    rows += [
        Row(entry.method, [*cells, Cell(entry.source), Cell(entry.caveat)], kind="theirs")
        for entry, cells in zip(published, marked[len(runs) :], strict=True)
    ]
    return {"table": Table("method", columns, rows, "Comparison with published results")}
