"""The Jinja environment of all pages: names from the data are escaped, filters format numbers."""

import base64
import hashlib
import re
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from ovaflow.report import wording

TEMPLATES = Path(__file__).parent / "templates"
"""Folder of the templates, style sheets and scripts."""


def make_environment() -> jinja2.Environment:
    """Make an environment with the filters of all pages."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    filters = (wording.count, wording.percent, wording.plain, breakable, slug)
    for function in filters:
        environment.filters[function.__name__] = function
    return environment


def read_script(name: str) -> dict[str, str]:
    """Read a script for a template, with the hash by which a page allows only this script."""
    script = (TEMPLATES / name).read_text(encoding="utf-8")
    digest = hashlib.sha256(script.encode()).digest()
    return {"script": Markup(script), "script_hash": base64.b64encode(digest).decode()}


def slug(name: str) -> str:
    """Reduce a name to at most 60 lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-")


def breakable(text: str) -> Markup:
    """Convert a text to HTML whose paths and names may break into lines between their parts."""
    return Markup(re.sub(r"(?<=[/_.:=-])(?=[^\W\d])", "<wbr>", str(escape(text))))
