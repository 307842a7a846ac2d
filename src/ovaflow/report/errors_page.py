"""The page of a run's errors: a single HTML file, filtered and sorted in the browser."""

from ovaflow.evaluation.errors import MEASURE
from ovaflow.report.environment import make_environment, script_of

FILE_NAME = "errors.html"

MOST = 1000
"""Records on a page, the worst ones."""


def render_errors(dataset, run, errors):
    """The page about the errors of a run, :class:`ovaflow.evaluation.errors.RunErrors`; its names are shown."""
    template = make_environment().get_template("errors.html.j2")
    records = errors.records(errors.rows[:MOST])
    about = {"dataset": dataset, "run": run, "errors": errors, "measure": MEASURE, "records": records}
    return template.render(about, **script_of("errors.js"))
