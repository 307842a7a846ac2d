"""The page: one HTML file that needs nothing else."""

import base64
import hashlib
import re
from pathlib import Path

import jinja2
from markupsafe import Markup

from ovaflow.report import wording
from ovaflow.report.drawing import MARKERS
from ovaflow.report.overview import overview
from ovaflow.report.parts import PARTS

_TEMPLATES = Path(__file__).parent / "templates"


def _environment():
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    for words in (wording.count, wording.percent, wording.decimal, wording.duration, wording.plain):
        environment.filters[words.__name__] = words
    environment.filters["slug"] = slug
    environment.globals["markers"] = len(MARKERS)
    return environment


def render(sections, machine=(), software=(), written=""):
    """Write the page.

    Parameters
    ----------
    sections : list of Section
        One a dataset.
    machine, software : list of (str, str)
        Names and values for the foot of the page.
    written : str
        When.

    Returns
    -------
    str
        HTML; the same for the same arguments.
    """
    environment = _environment()
    anchors = anchors_of([section.card.name for section in sections])
    views = [_view(anchor, section) for anchor, section in zip(anchors, sections, strict=True)]
    table, notes = overview(sections)
    script = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
    shown = {
        "views": views,
        "links": {section.card.name: anchor for section, anchor in zip(sections, anchors, strict=True)},
        "n_runs": sum(len(section.runs) for section in sections),
        "overview": table,
        "notes": notes,
        "script": Markup(script),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }
    return environment.get_template("page.html.j2").render(shown, machine=machine, software=software, written=written)


def _view(anchor, section):
    """What the templates show of a dataset: parts that have something to show."""
    shown = [(part, part.show(anchor, section)) for part in PARTS]
    parts = [(part, view) for part, view in shown if view]
    return {"anchor": anchor, "section": section, "parts": parts, "has": {part.key for part, _ in parts}}


def anchors_of(names):
    """Anchors of datasets: by their names, so that links to a part of the page last.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    list of str
        Different from one another.
    """
    anchors = []
    for number, name in enumerate(names, 1):
        anchor = slug(name) or f"dataset-{number}"
        anchors.append(anchor if anchor not in anchors else f"{anchor}.{number}")
    return anchors


def slug(name):
    """A name of small letters, digits and dashes.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
        Of at most 60 characters; empty where none are left.
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-")
