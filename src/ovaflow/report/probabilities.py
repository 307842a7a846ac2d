"""Tables of what is right by probability, which the report and ``ovaflow evaluate`` show."""

from functools import partial
from operator import itemgetter

from ovaflow.report import wording
from ovaflow.report.tables import Column, Row, make_table


def make_automatic_table(title, rows):
    """Labels with at least some probability, as :func:`ovaflow.evaluation.reliability.measure_assigned_labels`
    measures them.
    """

    def row_of(entry, cells):
        return Row(f"at least {100 * entry['probability']:g} %", cells)

    return make_table(title, "probability", AUTOMATIC_COLUMNS, rows, row_of)


def make_sure_table(title, rows):
    """Records of some expected precision, as
    :func:`ovaflow.reranking.expected_quality.measure_sure_records` measures them.
    """

    def row_of(entry, cells):
        return Row(f"at least {100 * entry['level']:g} %", cells)

    return make_table(title, "expected precision", SURE_COLUMNS, rows, row_of)


def _fraction(title, name, group, hint=""):
    return Column(
        title, itemgetter(name), partial(wording.percent, digits=1), group, hint, "fraction"
    )


AUTOMATIC_COLUMNS = (
    Column("labels", itemgetter("predictions"), wording.count, hint="of all test instances"),
    _fraction("right", "precision", "labels, %"),
    _fraction("expected", "expected", "labels, %", "mean of their probabilities"),
    _fraction("found", "recall", "labels, %", "recall"),
    _fraction("with a label", "instances", "test instances, %", "that get at least one label"),
    Column("labels each", itemgetter("labels"), wording.decimal),
)

SURE_COLUMNS = (
    Column("records", itemgetter("records"), wording.count),
    _fraction("of all", "instances", "records, %", "test instances"),
    Column("labels", itemgetter("labels"), wording.count),
    _fraction("right", "right", "labels, %"),
    _fraction("expected", "expected", "labels, %", "mean of their probabilities"),
)
