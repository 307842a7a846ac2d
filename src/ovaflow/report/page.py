"""The page: a single HTML file."""

import platform
from importlib.metadata import version

import psutil
from markupsafe import Markup

from ovaflow import __version__
from ovaflow.evaluation.metric import METRICS
from ovaflow.machine.topology import processor_name, read_topology
from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS
from ovaflow.report.environment import make_environment, read_script, slug
from ovaflow.report.sections import SECTIONS

PACKAGES = ("numba", "llvmlite", "numpy", "scipy", "scikit-learn", "h5py", "pyarrow", "snakemake")


_MACROS = '{% from "macros.html.j2" import table, pairs, chart, gallery, legend, swatch, names, near, pushing %}'


def render_page(all_results, machine=(), software=(), written=""):
    """Render the page about some datasets' results; its foot has pairs of name and value, and the
    date.
    """
    anchors = make_anchors([results.card.name for results in all_results])
    template = _environment().get_template("page.html.j2")
    return template.render(
        views=[
            _make_view(anchor, results)
            for anchor, results in zip(anchors, all_results, strict=True)
        ],
        glossary=METRICS,
        compared=any(len(results.runs) > 1 for results in all_results),
        **read_script("page.js"),
        machine=machine,
        software=software,
        written=written,
    )


def _environment():
    environment = make_environment()
    environment.globals["markers"] = len(MARKERS)
    macros = environment.get_template("sections.html.j2").module

    def section_html(section, content, view):
        if not section.template:
            return getattr(macros, section.key.replace("-", "_"))(content, view)
        return Markup(
            environment.from_string(_MACROS + section.template).render(it=content, view=view)
        )

    environment.globals["section_html"] = section_html
    return environment


def _make_view(anchor, results):
    """Return what the templates show of a dataset: the sections that have something to show."""
    sections = []
    for section in SECTIONS:
        content = section.show(anchor, results)
        if content:
            sections.append((section, content))
    return {"anchor": anchor, "results": results, "sections": sections}


def make_anchors(names):
    """Anchors of datasets, all different; made of their names, so that links last."""
    anchors = []
    for number, name in enumerate(names, 1):
        anchor = slug(name) or f"dataset-{number}"
        anchors.append(anchor if anchor not in anchors else f"{anchor}.{number}")
    return anchors


def describe_machine():
    return [
        ("processor", processor_name()),
        (
            "cores",
            f"{psutil.cpu_count(logical=False) or '?'} physical, {psutil.cpu_count() or '?'} logical",
        ),
        ("NUMA nodes", str(len(read_topology()))),
        ("memory", wording.size(psutil.virtual_memory().total)),
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
    ]


def describe_software():
    versions = [("ovaflow", __version__), ("Python", platform.python_version())]
    return versions + [(package, version(package)) for package in PACKAGES]
