"""The two pages: one for people at /, and the documentation of the interface at /docs.

Each is one document without any further request. Its policy lets the browser
run and apply what is in the document, by hash, and nothing else.
"""

import base64
import hashlib
from importlib import resources

import jinja2
from starlette.responses import HTMLResponse

from ovaflow.serving.schemas import MOST_WORDS

_ASSETS = resources.files("ovaflow.serving") / "assets"


def page(options):
    return _rendered("page.html.j2", options=options, most_words=MOST_WORDS)


def documentation(document):
    return _rendered("docs.html.j2", document=_resolved(document, document["components"]["schemas"]))


def _resolved(part, schemas):
    """A part of the document with schemas in place of references to them."""
    if isinstance(part, list):
        return [_resolved(each, schemas) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _resolved(schemas[part["$ref"].rsplit("/", 1)[1]], schemas)
    return {key: _resolved(each, schemas) for key, each in part.items()}


def _rendered(name, **values):
    style, script = _asset("style.css"), _asset("script.js")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    html = environment.from_string(_asset(name)).render(style=style, script=script, **values)
    policy = [
        "default-src 'none'",
        f"style-src {_hash(style)}",
        f"script-src {_hash(script)}" if script in html else "script-src 'none'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
    return HTMLResponse(html, headers={"Content-Security-Policy": "; ".join(policy)})


def _asset(name):
    return (_ASSETS / name).read_text(encoding="utf-8").strip()


def _hash(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
