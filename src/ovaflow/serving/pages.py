"""The two pages: one for people at /, and the documentation of the interface at /docs.

Each is one document without any further request. Its policy lets the browser
run and apply what is in the document, by hash, and nothing else.
"""

import base64
import hashlib
import json
from importlib import resources
from typing import NamedTuple

import jinja2

from ovaflow.serving.schemas import MOST_WORDS

_ASSETS = resources.files("ovaflow.serving") / "assets"


class Page(NamedTuple):
    """A page as it is sent."""

    html: bytes
    policy: str


def page(options):
    """The page where a person pastes a text and sees its labels."""
    return _rendered("page.html.j2", options=options, most_words=MOST_WORDS)


def documentation(document):
    """The OpenAPI document as a page to read."""
    return _rendered("docs.html.j2", document=document, operations=list(_operations(document)))


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
    return Page(html.encode(), "; ".join(policy))


def _asset(name):
    return (_ASSETS / name).read_text(encoding="utf-8").strip()


def _hash(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _operations(document):
    """Method, path, words, parameters and answers of each operation, without references."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            answer = operation["responses"]["200"].get("content", {}).get("application/json", {}).get("schema")
            yield {
                "method": method.upper(),
                "path": path,
                "about": operation.get("description", operation.get("summary", "")),
                "parameters": [_field(each["name"], each, each["schema"]) for each in operation.get("parameters", ())],
                "body": _fields(document, body),
                "example": _example(document, body),
                "answer": _fields(document, answer),
                "errors": {
                    status: each["description"] for status, each in operation["responses"].items() if status != "200"
                },
            }


def _resolved(document, schema):
    if schema and "$ref" in schema:
        return document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema or {}


def _fields(document, schema):
    return [
        _field(name, each, each, document) for name, each in _resolved(document, schema).get("properties", {}).items()
    ]


def _example(document, schema):
    example = _resolved(document, schema).get("example")
    return None if example is None else json.dumps(example)


_BOUNDS = (
    ("minimum", "from {:,.0f}"),
    ("maximum", "to {:,.0f}"),
    ("minItems", "at least {:,}"),
    ("maxItems", "at most {:,}"),
    ("maxLength", "at most {:,} characters"),
)


def _field(name, described, schema, document=None):
    kind, inner = _kind(schema, document)
    bounds = " ".join(words.format(schema[key]) for key, words in _BOUNDS if key in schema)
    default = f"default {json.dumps(schema['default'])}" if schema.get("default") not in (None, "") else ""
    about = described.get("description", schema.get("description", ""))
    return {"name": name, "kind": ", ".join(filter(None, [kind, bounds, default])), "about": about, "inner": inner}


def _kind(schema, document):
    """Name of a type, and the fields of the objects in it."""
    if "anyOf" in schema:
        return _kind(schema["anyOf"][0], document)
    if "$ref" in schema:
        return "object", _fields(document, schema)
    if "prefixItems" in schema:
        return "pair", []
    if schema.get("type") == "array" and "items" in schema:
        kind, inner = _kind(schema["items"], document)
        return f"list of {kind}s", inner
    return schema["type"], []
