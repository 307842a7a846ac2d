"""Jinja as all pages use it: names from the data are escaped, numbers are put into words by
filters.
"""

import base64
import hashlib
import re
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from ovaflow.report import wording

TEMPLATES = Path(__file__).parent / "templates"


def make_environment():
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    for words_of in (wording.count, wording.percent, wording.plain, parted, slug):
        environment.filters[words_of.__name__] = words_of
    return environment


def read_script(name):
    """A script as a template takes it, and the hash by which a page allows it alone."""
    script = (TEMPLATES / name).read_text(encoding="utf-8")
    return {
        "script": Markup(script),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def slug(name):
    """A name of at most 60 lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-")


def parted(text):
    """HTML of a text whose paths and names break between their parts."""
    return Markup(re.sub(r"(?<=[/_.:=-])(?=[^\W\d])", "<wbr>", str(escape(text))))
