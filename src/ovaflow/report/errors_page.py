"""The page of a run's errors: a single HTML file, filtered and sorted in the browser."""

from ovaflow.dataset.dataset import EXCERPT_CHARACTERS
from ovaflow.evaluation.errors import ERROR_ORDER
from ovaflow.report import wording
from ovaflow.report.environment import make_environment, read_script

FILE_NAME = "errors.html"

MAX_RECORDS = 1000
"""Records on a page, the worst ones."""

FOLDED_LENGTH = 420
"""Characters of a text that are shown before it is unfolded."""


def render_errors(dataset, run, errors):
    """Render the page about the errors of a run, :class:`ovaflow.evaluation.errors.RunErrors`.

    ``dataset`` and ``run`` are the names to show.
    """
    environment = make_environment()
    environment.filters["folded"] = fold_text
    records = errors.records(errors.tested[:MAX_RECORDS])
    return environment.get_template("errors.html.j2").render(
        dataset=dataset,
        run=run,
        errors=errors,
        measure=ERROR_ORDER,
        records=records,
        kept=EXCERPT_CHARACTERS
        if any(len(record.text) >= EXCERPT_CHARACTERS for record in records)
        else None,
        **read_script("errors.js"),
    )


def fold_text(text):
    """Divide a text where it is folded: what is always shown, and the rest, which begins with a
    space or a word.
    """
    shown = wording.plain(text, EXCERPT_CHARACTERS)
    if len(shown) <= FOLDED_LENGTH:
        return shown, ""
    # a text without spaces is divided anywhere
    end = shown.rfind(" ", 0, FOLDED_LENGTH + 1)
    if end <= 0:
        end = FOLDED_LENGTH
    return shown[:end], shown[end:]
