"""The page of a run's errors: a single HTML file, filtered and sorted in the browser."""

from ovaflow.dataset.dataset import EXCERPT_CHARACTERS
from ovaflow.evaluation.errors import ERROR_ORDER, RunErrors
from ovaflow.report import wording
from ovaflow.report.environment import make_environment, read_script

FILE_NAME = "errors.html"

MAX_RECORDS = 1000
"""Records on a page, the worst ones."""

FOLDED_LENGTH = 420
"""Characters of a text that are shown before a reader unfolds it."""


def render_errors(dataset: str, run: str, errors: RunErrors) -> str:
    """Render the page about the errors of a run; ``dataset`` and ``run`` are the names to show."""
    environment = make_environment()
    environment.filters["folded"] = fold_text
    records = errors.records(errors.labelled_rows[:MAX_RECORDS])
    is_cut = any(len(record.text) >= EXCERPT_CHARACTERS for record in records)
    return environment.get_template("errors.html.j2").render(
        dataset=dataset,
        run=run,
        errors=errors,
        measure=ERROR_ORDER,
        records=records,
        kept=EXCERPT_CHARACTERS if is_cut else None,
        **read_script("errors.js"),
    )


def fold_text(text: str) -> tuple[str, str]:
    """Divide a text into its first characters, which are always shown, and the rest.

    The rest begins with a space, or anywhere in a text without spaces.
    """
    shown = wording.plain(text, EXCERPT_CHARACTERS)
    if len(shown) <= FOLDED_LENGTH:
        return shown, ""
    end = shown.rfind(" ", 0, FOLDED_LENGTH + 1)
    if end <= 0:
        end = FOLDED_LENGTH
    return shown[:end], shown[end:]
