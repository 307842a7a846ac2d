"""How answers, errors and the two pages are sent, and how the OpenAPI document describes answers."""

import base64
import hashlib
import http
import json
from importlib import resources

import jinja2
from starlette.responses import HTMLResponse, Response

from ovaflow.serving.schemas import LONGEST_RECORD, MOST_WORDS

_ASSETS = resources.files("ovaflow.serving") / "assets"
_PROBLEM_TYPE = "application/problem+json"

_PROBLEM = {
    "type": "object",
    "required": ["title", "status", "detail"],
    "properties": {"title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"}},
}

_WHY = {
    400: "Not JSON in UTF-8.",
    404: "No such label.",
    408: "The body did not arrive in time.",
    409: "The served model cannot do this.",
    413: "The body is too large.",
    422: "The request is not as described.",
    503: "Too many requests at once; try again after Retry-After seconds. Or the file cannot be written.",
    507: "The disk is full.",
}

_RETRY = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}


def json_reply(answer):
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), media_type="application/json")


def problem(status, detail, headers=None):
    """An error as an object of RFC 9457; it never repeats what was sent but the names of fields."""
    title = http.HTTPStatus(status).phrase
    body = {"title": title, "status": status, "detail": " ".join(detail.split())}
    return Response(json.dumps(body), status, headers, _PROBLEM_TYPE)


def described(error):
    """What pydantic found wrong, such as ``"texts.3: String should have at most 1000 characters"``."""
    within = error["loc"][:1] in (("body",), ("query",), ("path",))
    place = ".".join(map(str, error["loc"][within:]))
    return ": ".join(filter(None, [place[:100], error["msg"].removeprefix("Value error, ")]))


def documented(answer, *statuses, why=_WHY, plain=()):
    """How the OpenAPI document describes a route: the model of its answer, its errors, and those in plain text."""
    answered = {} if answer is None else {200: {"model": answer}}
    return {
        "response_class": Response,
        "responses": answered | {each: _error(each, why[each], each in plain) for each in statuses},
    }


def _error(status, why, plain):
    content = {"text/plain": {"schema": {"type": "string"}}} if plain else {_PROBLEM_TYPE: {"schema": _PROBLEM}}
    return {"description": why, "content": content} | ({"headers": _RETRY} if status == 503 else {})


def page(options, corrects):
    limits = {"most_words": MOST_WORDS, "longest_record": LONGEST_RECORD}
    return _rendered("page.html.j2", options=options, corrects=corrects, **limits)


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
    """A page without further requests; its policy lets browsers apply what is in it, by hash, and nothing else."""
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
