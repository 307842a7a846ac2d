"""The overview and the sections on quality: metrics of the runs, alone and compared with published results."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.near_twins import are_noticed
from ovaflow.evaluation.metrics import PLACES, SAMPLED
from ovaflow.reading.streams import read_lines
from ovaflow.report import wording
from ovaflow.report.section import ReportSection
from ovaflow.report.tables import Cell, Column, Row, Table, make_table, metric, samples, table_of_runs

FAMILIES = ("P", "nDCG", "PSP", "recall")

FURTHER = ("micro-F1", "macro-F1", "coverage", "PSnDCG")

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


class Published(NamedTuple):
    """A published result; its metrics are fractions, without those that were not published."""

    dataset: str
    method: str
    metrics: dict
    source: str
    note: str
    predict_milliseconds: None = None  # as a run has it
    samples: None = None

    @property
    def caveat(self):
        return "; ".join(filter(None, (self.note, CAVEATS.get(self.source, ""))))


def read_published(path):
    """Read a tab-separated table of published results: metrics in percent, empty where not published."""
    rows = [(number, line.split("\t")) for number, line in read_lines(path) if line]
    if not rows or rows[0][1] != COLUMNS:
        raise InputError("unknown columns", path=path, line=1, remedy=f"expected {', '.join(COLUMNS)}")
    return [_published(path, number, defaultdict(str, zip(COLUMNS, row, strict=False))) for number, row in rows[1:]]


def _published(path, number, values):
    try:
        metrics = {name: float(values[name]) / 100 for name in PUBLISHED if values[name].strip()}
    except ValueError as error:
        raise InputError(str(error), path=path, line=number, remedy="metrics are percentages") from None
    return Published(values["dataset"], values["method"], metrics, values["source"], values["note"])


def results_for(published, dataset):
    """Published results of a dataset, ignoring the case of its name, best P@1 first."""
    entries = [entry for entry in published if entry.dataset.casefold() == dataset.casefold()]
    return sorted(entries, key=lambda entry: -entry.metrics.get("P@1", 0))


def _metric(family, k):
    name = f"{family}@{k}"
    return Column(f"@{k}", metric(name), wording.percent, family, unit="fraction", best=max, samples=samples(name))


COST = (
    Column("training", metric("train_seconds"), wording.duration, hint="processor time of the solver", unit="s"),
    Column("model", metric("model_bytes"), wording.size, hint="bytes of the model file", unit="bytes"),
    Column("ms / instance", lambda run: run.predict_milliseconds, wording.decimal, hint="wall time of prediction"),
)
OVERVIEW = [_metric(family, k) for family in ("P", "PSP") for k in PLACES]
OVERVIEW += [column._replace(group="cost", best=min) for column in COST]


def overview(all_results):
    """Main figures of all runs with published ones among them, and the footnotes to these."""
    rows, notes, columns = [], [], _columns_of_overview(all_results)
    for results in all_results:
        name = results.card.name

        def ours(run, cells, name=name):
            return Row(name, [Cell(run.name), *cells], run.series)

        def theirs(entry, cells, name=name):
            note = ": ".join(filter(None, (entry.source, entry.caveat)))
            if note not in notes:
                notes.append(note)
            return Row(name, [Cell(entry.method, note=notes.index(note) + 1), *cells], kind="theirs")

        unmarked = [column._replace(best=None) for column in columns]
        rows += make_table("", "", columns, results.runs, ours).rows
        rows += make_table("", "", unmarked, results.published, theirs).rows
    return Table("dataset", [Column("run", None), *columns], rows, "All runs"), notes


def _columns_of_overview(all_results):
    """Columns of the overview, without P@3 and P@5 where no dataset has so many labels."""
    runs = [run for results in all_results for run in results.runs]
    return [each for each in OVERVIEW if each.group == "cost" or any(each.value(run) is not None for run in runs)]


class Assigned(NamedTuple):
    instances: int
    labels: int  # (instance, label) pairs, including those that prepare left out
    unknown: int  # pairs whose label no model knows
    unseen: int  # unknown pairs that prepare did not leave out
    hopeless: int  # instances without a label that a model knows
    unlabelled: int | None  # of these, instances without any label; None if not counted


_NAMED = 3  # a sentence has figures of at most this many runs, otherwise of the first and the best

_HOPELESS = 0.01
"""With a larger share of instances without a known label, the overview has P@k of the others."""

_COUNTED = "No prediction can be right for them, and P@k counts them as wrong."


def count_assigned(dataset, known):
    """Count the labels of a dataset's test instances, of which models know some."""
    Y, counts = dataset.test.Y, dataset.parameters.get("source", {}).get("counts", {})
    left_out = counts.get("test_labels_unknown_in_train", 0)
    unseen = int((~known[Y.indices]).sum())
    instances = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    hopeless = Y.n_rows - len(np.unique(instances[known[Y.indices]]))
    unlabelled = int((np.diff(Y.indptr) == 0).sum()) - counts.get("test_with_unknown_labels_only", 0)
    if left_out and "test_with_unknown_labels_only" not in counts:
        unlabelled = None
    return Assigned(Y.n_rows, len(Y.indices) + left_out, unseen + left_out, unseen, hopeless, unlabelled)


def remarks(results):
    """What a reader of the overview should know about a dataset's test instances, in sentences."""
    runs = [run for run in results.shown if run.metrics.get("P@1") is not None]
    if not runs:
        return []
    if len(runs) > _NAMED:
        best = max(runs, key=lambda run: run.metrics["P@1"])
        runs = runs[:1] if best is runs[0] else [runs[0], best]
    recall = [_recall(results.test, runs)] if "recall@5" in runs[0].metrics else []
    return [*_hopeless(results.test, runs), *_twins(runs), *recall]


def _hopeless(test, runs):
    if test.hopeless <= _HOPELESS * test.instances:
        return
    why = ""
    if test.unlabelled is not None:
        others = test.hopeless - test.unlabelled
        why = f": {test.unlabelled:,} have no label, {others:,} only labels that no training instance has"
    share, others = test.hopeless / test.instances, test.instances - test.hopeless
    which = f"{test.hopeless:,} of {test.instances:,} test instances ({wording.percent(share, 1)} %)"
    yield f"{which} have no label that a model can know{why}. {_COUNTED}"
    if others:
        figures = [_percents(run.metrics, 1 - share) for run in runs]
        yield f"Among the other {others:,} {_places(runs[0].metrics)} is {_each(runs, figures)}."


def _twins(runs):
    metrics = runs[0].metrics
    instances, twins = metrics.get("instances", 0), metrics.get("instances_with_near_twin", 0)
    if not are_noticed(twins, instances):
        return
    share = wording.percent(twins / instances, 1)
    yield (
        f"{twins:,} of {instances:,} test instances ({share} %) have a near twin in training, such as "
        "another edition: most of their features are the same, so that figures contain some memory."
    )
    if twins < instances:
        figures = [_percents(run.metrics["without_near_twins"]) for run in runs]
        yield f"Among the other {instances - twins:,} {_places(runs[0].metrics)} is {_each(runs, figures)}."


def _percents(metrics, of=1):
    return "/".join(wording.percent(metrics[f"P@{k}"] / of, 1) for k in PLACES if f"P@{k}" in metrics)


def _places(metrics):
    return f"P@{'/'.join(str(k) for k in PLACES if f'P@{k}' in metrics)}"


def _recall(test, runs):
    of_known = _each(runs, [f"{wording.percent(run.metrics['recall@5'], 1)} %" for run in runs])
    which = " that occur in training" if test.unknown > test.unseen else ""
    sentence = (
        f"On average, the first five predictions contain {of_known} of the labels of a test instance{which} "
        "(recall@5): an indexer need not search for these."
    )
    if not test.unknown:
        return sentence
    # over labels, not over instances: the number of unknown labels of an instance is not kept
    of_all = _share_of_hits(test, runs, test.labels)
    of_others = _share_of_hits(test, runs, test.labels - test.unknown)
    return (
        f"{sentence} But {test.unknown:,} of the {test.labels:,} labels assigned to test instances "
        f"({wording.percent(test.unknown / test.labels, 1)} %) occur in no training instance, so they cannot be "
        f"learned: of all labels assigned, {of_all} are among the first five; of those in training, {of_others}."
    )


def _share_of_hits(test, runs, labels):
    """Hits among the first five predictions, as a share of so many labels."""
    shares = []
    for run in runs:
        hits = 5 * test.instances * run.metrics["P@5"]
        shares.append(f"{wording.percent(hits / labels if labels else None, 1)} %")
    return _each(runs, shares)


def _each(runs, figures):
    """A figure of each run, with its name where they differ."""
    if len(set(figures)) == 1:
        return figures[0]
    return ", ".join(f"{figure} ({run.name})" for run, figure in zip(runs, figures, strict=True))


def show(anchor, results):
    runs = results.runs
    on_dev = list(filter(None, (run.on_dev for run in runs)))
    return {
        "main": table_of_runs("Quality", runs, metric_columns(runs, FAMILIES)),
        "further": table_of_runs("Further metrics", runs, metric_columns(runs, FURTHER)),
        "on_dev": on_dev and table_of_runs("On the dev part", on_dev, metric_columns(on_dev, FAMILIES)),
    }


def metric_columns(runs, families):
    """Columns of the metrics that any of the runs has, family by family."""
    names = {name for run in runs for name in run.metrics if "@" in name}
    columns = []
    for family in families:
        places = sorted(int(name.partition("@")[2]) for name in names if name.startswith(f"{family}@"))
        # figures without intervals: nobody knows which of them is the best
        best = max if family in SAMPLED else None
        columns += [_metric(family, k)._replace(best=best) for k in places]
    return columns


def show_published(anchor, results):
    if not results.published:
        return None
    columns = [
        *(_metric("P", k)._replace(title=f"P@{k}", group="") for k in PLACES),
        Column("source", lambda result: getattr(result, "source", "this report")),
        Column("caveat", lambda result: result.caveat if isinstance(result, Published) else result.summary),
    ]

    def row_of(result, cells):
        if isinstance(result, Published):
            return Row(result.method, cells, kind="theirs")
        return Row(result.name, cells, result.series)

    compared = [*results.runs, *results.published]
    return {"table": make_table("Comparison with published results", "method", columns, compared, row_of)}


SECTION = ReportSection("quality", "Quality", show)
PUBLISHED_SECTION = ReportSection("published", "Comparison with published results", show_published)
