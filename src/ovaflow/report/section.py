"""What a section of the report is: what it shows of the runs of a dataset, and how."""

from collections.abc import Callable
from typing import NamedTuple


class ReportSection(NamedTuple):
    """A section of the report, which is left out where it has nothing to show.

    What it needs of a run's folder that :class:`~ovaflow.results.run.Run` does not have, it reads
    by a function of its own, :meth:`~ovaflow.results.run.Run.read`.
    """

    key: str  # ends its anchor
    title: str
    show: Callable  # content for its template, or nothing, of the dataset's anchor and results
    template: str = (
        ""  # Jinja of the content ``it``; by default the macro of its key in sections.html.j2
    )
    folded: bool = False  # whether a reader has to open it
