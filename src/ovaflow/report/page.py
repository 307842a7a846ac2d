"""The page: a single HTML file."""

import base64
import hashlib
import platform
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import jinja2
import psutil
from markupsafe import Markup, escape

from ovaflow import __version__
from ovaflow.machine.topology import processor, read_topology
from ovaflow.report import (
    cards,
    costs,
    doubts,
    frequency,
    quality,
    second_stage,
    sweeps,
    training,
    trees_and_embeddings,
    wording,
)
from ovaflow.report.drawing import MARKERS

PACKAGES = ("numba", "llvmlite", "numpy", "scipy", "scikit-learn", "h5py", "pyarrow", "snakemake")

_TEMPLATES = Path(__file__).parent / "templates"


class PageSection(NamedTuple):
    key: str  # names its macro in sections.html.j2 and ends its anchor
    title: str
    show: Callable  # content for the macro, or nothing, from the dataset's anchor and DatasetResults


def _gathered(name):
    return lambda anchor, results: getattr(results, name)


SECTIONS = (
    PageSection("data", "Data", cards.show_data),
    PageSection("choices", "Choices", _gathered("choices")),
    PageSection("quality", "Quality", quality.show),
    PageSection("published", "Comparison with published results", quality.show_published),
    PageSection("second-stage", "Second stage", second_stage.show),
    PageSection("trade-offs", "Trade-offs", costs.show_trade_offs),
    PageSection("cost", "Cost", costs.show_cost),
    PageSection("sweeps", "Sweeps", sweeps.show_sweeps),
    PageSection("frequency", "Rare and frequent labels", frequency.show),
    PageSection("trust", "Best and worst labels", _gathered("trust")),
    PageSection("doubts", "Training labels to check", doubts.show),
    PageSection("training", "Training", training.show),
    PageSection("pruning", "Pruning", sweeps.show_pruning),
    PageSection("trees", "Trees of instances", trees_and_embeddings.show_trees),
    PageSection("embeddings", "Label embeddings", trees_and_embeddings.show_embeddings),
    PageSection("labels", "Labels and their words", _gathered("labels")),
    PageSection("examples", "Test documents", _gathered("examples")),
    PageSection("failures", "Failures worth a look", _gathered("failures")),
    PageSection("resources", "Resources", costs.show_resources),
    PageSection("model-card", "Model card", cards.show_model_card),
    PageSection("settings", "Settings", cards.show_settings),
)


def render(all_results, machine=(), software=(), written=""):
    """The page about some datasets' results; its foot has pairs of name and value, and the date."""
    anchors = anchors_of([results.card.name for results in all_results])
    table, notes = quality.overview(all_results)
    script = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
    template = _environment().get_template("page.html.j2")
    return template.render(
        views=[_view(anchor, results) for anchor, results in zip(anchors, all_results, strict=True)],
        links={results.card.name: anchor for anchor, results in zip(anchors, all_results, strict=True)},
        n_runs=sum(len(results.runs) for results in all_results),
        overview=table,
        notes=notes,
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        machine=machine,
        software=software,
        written=written,
    )


def _environment():
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    for words_of in (wording.count, wording.percent, wording.plain, parted, slug):
        environment.filters[words_of.__name__] = words_of
    environment.globals["markers"] = len(MARKERS)
    return environment


def _view(anchor, results):
    """What the templates show of a dataset: the sections that have something to show."""
    contents = {section: section.show(anchor, results) for section in SECTIONS}
    sections = [(section, content) for section, content in contents.items() if content]
    return {
        "anchor": anchor,
        "results": results,
        "remarks": quality.remarks(results),
        "sections": sections,
        "has": {section.key for section, _ in sections},
    }


def anchors_of(names):
    """Anchors of datasets, all different; made of their names, so that links last."""
    anchors = []
    for number, name in enumerate(names, 1):
        anchor = slug(name) or f"dataset-{number}"
        anchors.append(anchor if anchor not in anchors else f"{anchor}.{number}")
    return anchors


def slug(name):
    """A name of at most 60 lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-")


def parted(text):
    """HTML of a text whose paths and names break between their parts."""
    return Markup(re.sub(r"(?<=[/_.:=-])(?=[^\W\d])", "<wbr>", str(escape(text))))


def describe_machine():
    return [
        ("processor", processor()),
        ("cores", f"{psutil.cpu_count(logical=False) or '?'} physical, {psutil.cpu_count() or '?'} logical"),
        ("NUMA nodes", str(len(read_topology()))),
        ("memory", wording.size(psutil.virtual_memory().total)),
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
    ]


def describe_software():
    versions = [("ovaflow", __version__), ("Python", platform.python_version())]
    return versions + [(package, version(package)) for package in PACKAGES]
