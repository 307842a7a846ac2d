"""The page: a single HTML file."""

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import jinja2
import psutil
from markupsafe import Markup

from ovaflow import __version__
from ovaflow.evaluation.metric import METRICS
from ovaflow.machine.topology import processor_name, read_topology
from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS
from ovaflow.report.environment import make_environment, read_script
from ovaflow.report.gather import DatasetResults
from ovaflow.report.section import ReportSection
from ovaflow.report.sections import SECTIONS

PACKAGES = ("numba", "llvmlite", "numpy", "scipy", "scikit-learn", "h5py", "pyarrow", "snakemake")
"""Packages whose versions the foot of the page lists."""

# import of the macros that templates of sections may use
_MACROS = (
    '{% from "macros.html.j2" import table, pairs, chart, gallery, legend, swatch, names, near,'
    " pushing %}"
)


def render_page(
    all_results: Sequence[DatasetResults],
    machine: Sequence[tuple[str, str]] = (),
    software: Sequence[tuple[str, str]] = (),
    written: str = "",
) -> str:
    """Render the page about the results of some datasets.

    Parameters
    ----------
    all_results : sequence of DatasetResults
        Results by dataset.
    machine, software : sequence of (name, value)
        Pairs in the foot of the page.
    written : str
        Date in the foot of the page.
    """
    views = [_make_view(results) for results in all_results]
    return (
        _make_page_environment()
        .get_template("page.html.j2")
        .render(
            views=views,
            glossary=METRICS,
            compared=any(len(results.runs) > 1 for results in all_results),
            **read_script("page.js"),
            machine=machine,
            software=software,
            written=written,
        )
    )


def _make_page_environment() -> jinja2.Environment:
    environment = make_environment()
    environment.globals["markers"] = len(MARKERS)
    macros = environment.get_template("sections.html.j2").module

    def section_html(section: ReportSection, content: Any, view: dict[str, Any]) -> Markup:
        if not section.template:
            macro = getattr(macros, section.key.replace("-", "_"))
            return macro(content, view)
        template = environment.from_string(_MACROS + section.template)
        return Markup(template.render(it=content, view=view))

    environment.globals["section_html"] = section_html
    return environment


def _make_view(results: DatasetResults) -> dict[str, Any]:
    """Collect the sections of a dataset that have something to show, for the templates."""
    sections = []
    for section in SECTIONS:
        content = section.show(results)
        if content:
            sections.append((section, content))
    return {"results": results, "sections": sections}


def describe_machine() -> list[tuple[str, str]]:
    """Describe the machine that writes the page, as pairs of name and value."""
    physical = psutil.cpu_count(logical=False) or "?"
    logical = psutil.cpu_count() or "?"
    return [
        ("processor", processor_name()),
        ("cores", f"{physical} physical, {logical} logical"),
        ("NUMA nodes", str(len(read_topology()))),
        ("memory", wording.size(psutil.virtual_memory().total)),
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
    ]


def describe_software() -> list[tuple[str, str]]:
    """List the versions of ovaflow, Python and the main packages, as pairs of name and value."""
    versions = [("ovaflow", __version__), ("Python", platform.python_version())]
    for package in PACKAGES:
        versions.append((package, version(package)))
    return versions
