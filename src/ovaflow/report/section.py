"""A section of the report: its content, and the template that shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ovaflow.report.gather import DatasetResults


class ReportSection(NamedTuple):
    """A section of the report, which is left out where it has nothing to show.

    A section that needs a file that :class:`~ovaflow.results.run.Run` does not read itself reads it
    by a function of its own, through :meth:`~ovaflow.results.run.Run.read`.
    """

    key: str  # end of the section's anchor
    title: str
    # content for the template, or None, given the results of a dataset
    show: Callable[[DatasetResults], Any]
    # Jinja of the content ``it``; empty: the macro of the key in sections.html.j2
    template: str = ""
    folded: bool = False  # True: closed until a reader opens it
