"""The model card: what the models are, what they took, and what they cannot do."""

from dataclasses import dataclass
from datetime import UTC, datetime

from ovaflow.report import wording
from ovaflow.report.dataset_card import FEW
from ovaflow.report.resources import add
from ovaflow.report.tables import Cell, Column, Row, Table, figure

NOT_STATED = "not stated"


SCORES = {
    "one-vs-all": "A score is the margin of a label’s own classifier: above 0 the label is more likely than not to "
    "have been assigned, but it is no probability, and scores of different labels are not calibrated to one another.",
    "one-vs-all, logistic": "A score is the log-odds that a label’s own classifier gives, as sure as the training data "
    "make it.",
    "fastxml": "A score of FastXML is the share of the label in the leaves that an instance falls into, the mean over "
    "all trees; it is not the probability of the label, and labels outside these leaves cannot be predicted.",
    "rembrandt": "A score of Rembrandt is that of a decoder on the embedded instance; it is comparable within a run "
    "alone.",
}
"""What a score means, by method."""


def show(anchor, section):
    """What the card says of the dataset’s models.

    Parameters
    ----------
    anchor : str
        Of the dataset, for names that are unique on the page.
    section : Section

    Returns
    -------
    dict or None
        None leaves the section out.
    """
    return {
        "statement": section.statement,
        "not_stated": NOT_STATED,
        "models": models_table(section.runs),
        "energy": energy(section),
        "limits": limits(section),
    }


def models_table(runs):
    """What each run is, and when it was made.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    Table
    """
    columns = [
        Column("method", words=True),
        Column("labels", hint="with a classifier, where labels have one each"),
        Column("model", unit="bytes"),
        Column("written, UTC", words=True),
        Column("by ovaflow", words=True),
        Column("probabilities", words=True),
    ]
    rows = []
    for run in runs:
        version, seconds = run.made
        cells = [
            Cell(run.summary or wording.MISSING),
            figure(run.trained, wording.count),
            figure(run.model_bytes, wording.size),
            Cell(datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")),
            Cell(version or wording.MISSING),
            Cell("calibrated" if run.calibration else "not calibrated"),
        ]
        rows.append(Row(run.name, cells, run.series))
    return Table("run", columns, rows, "Models")


@dataclass(frozen=True)
class Energy:
    """An estimate of the electricity that went into a dataset's models.

    Attributes
    ----------
    cpu_seconds : float
    measured : bool
        True: all jobs of the workflow; False: the solver alone.
    watt_hours : float
    grams : float or None
        Carbon dioxide.
    """

    cpu_seconds: float
    measured: bool
    watt_hours: float
    grams: float | None


def energy(section):
    """Estimate the electricity from processor time.

    Parameters
    ----------
    section : Section

    Returns
    -------
    Energy or None
        None where no time was recorded.
    """
    cpu = add("", "", section.resources).cpu_seconds
    measured = cpu is not None
    if not measured:
        known = [run.train_seconds for run in section.runs if run.train_seconds is not None]
        cpu = sum(known) if known else None
    if cpu is None:
        return None
    watt_hours = cpu * section.statement.watts_per_core / 3600
    per_kwh = section.statement.grams_per_kwh
    return Energy(cpu, measured, watt_hours, None if per_kwh is None else watt_hours / 1000 * per_kwh)


def limits(section):
    """What the models cannot do, in sentences, with the figures of this dataset.

    Parameters
    ----------
    section : Section

    Returns
    -------
    list of str
    """
    return [
        *_of_rare_labels(section),
        *_of_unknown_labels(section),
        *dict.fromkeys(SCORES[kind] for run in section.runs if (kind := _kind(run)) in SCORES),
        f"The first {section.runs[0].k} labels are always predicted, however low their scores: without calibrated "
        "thresholds a model does not say that nothing fits.",
        "A model knows the words of its training texts alone: other languages, other subjects and words that are new "
        "since then mean nothing to it. It repeats what annotators did, their omissions and habits included.",
    ]


def _of_rare_labels(section):
    counts = section.card.counts
    trained, rare = int((counts > 0).sum()), int(((counts > 0) & (counts <= FEW)).sum())
    if not rare:
        return []
    text = f"{wording.count(rare)} of {wording.count(trained)} labels have at most {FEW} training instances. "
    analysed = [run for run in section.runs if run.analysis is not None]
    tail = analysed[0].analysis.groups[0] if analysed and analysed[0].analysis.groups else None
    if tail is not None and tail.name == "tail" and tail.recall is not None:
        run = analysed[0]
        text += f"{run.name} finds {wording.percent(tail.recall, 0)} % of their occurrences in the test set among its "
        text += f"first {run.analysis.k} labels: the figures above are mostly those of frequent labels."
    return [text]


def _of_unknown_labels(section):
    untrained = int((section.card.counts == 0).sum())
    texts = []
    if untrained:
        texts.append(f"{wording.count(untrained)} labels have no training instance and are never predicted.")
    if section.unseen:
        texts.append(f"{wording.count(section.unseen)} true labels of test instances never occur in training.")
    return texts


def _kind(run):
    settings = dict(run.parameters)
    method = settings.get("method", "one-vs-all")
    return f"{method}, logistic" if method == "one-vs-all" and settings.get("loss") == "logistic" else method
