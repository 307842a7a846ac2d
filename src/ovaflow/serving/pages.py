"""The page for people, in each of its languages, and the page of the documentation."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from types import SimpleNamespace
from typing import Any

import jinja2
from starlette.responses import HTMLResponse

from ovaflow.features.columns import FormField
from ovaflow.reranking.evidence.kinds import KINDS, find_explained_kinds
from ovaflow.serving.schemas import MAX_RECORD_ID_CHARACTERS, MAX_WORDS

_ASSETS = resources.files("ovaflow.serving") / "assets"
SCRIPT_FILES = ("words.js", "record.js", "reasons.js", "saving.js", "page.js")
"""Files of the page's script, in the order in which they are joined."""

PAGE_LANGUAGES = ("en", "de", "fr")
"""Languages of the page, the default first."""


def choose_page_language(accepted: str, requested: str | None = None) -> str:
    """Choose the requested language of the page, else the one that an Accept-Language header
    prefers.
    """
    if requested in PAGE_LANGUAGES:
        return requested
    qualities: dict[str, float] = {}
    for part in accepted.split(","):
        code, _, parameter = part.partition(";")
        language = code.strip().lower().partition("-")[0]
        if language == "*":
            language = PAGE_LANGUAGES[0]
        qualities.setdefault(language, _parse_quality(parameter))
    return max(PAGE_LANGUAGES, key=lambda language: qualities.get(language, 0.0))


def _parse_quality(parameter: str) -> float:
    """Parse a quality such as ``q=0.8``; 1 if there is none."""
    if not parameter:
        return 1.0
    try:
        return float(parameter.strip().removeprefix("q="))
    except ValueError:
        return 0.0


def load_page_words(language: str) -> dict[str, Any]:
    """Load the texts of the page; names of evidence come from the service in English."""
    words = json.loads(_read_asset(f"words/{language}.json"))
    if language == PAGE_LANGUAGES[0]:
        return words
    names = {}
    for kind, kind_words in find_explained_kinds(KINDS):
        names[kind.name] = kind_words.translations[language]
    return words | {"evidence": names}


def render_pages(
    options: SimpleNamespace, form_fields: Sequence[FormField], *, saves_corrections: bool
) -> dict[str, HTMLResponse]:
    """Render the page for people by language.

    Parameters
    ----------
    options : namespace
        Options of the service.
    form_fields : sequence of FormField
        A field for each column that the model reads next to the text.
    saves_corrections : bool
        Show the form that saves corrections.
    """
    words = {language: load_page_words(language) for language in PAGE_LANGUAGES}
    values = {
        "options": options,
        "corrects": saves_corrections,
        "languages": {language: words[language]["own name"] for language in PAGE_LANGUAGES},
        "most_words": MAX_WORDS,
        "longest_record": MAX_RECORD_ID_CHARACTERS,
        "form_fields": form_fields,
    }
    script = "\n".join(_read_asset(name) for name in SCRIPT_FILES)
    headers = {"Vary": "Accept-Language"}
    rendered = {}
    for language in PAGE_LANGUAGES:
        page_values = values | {"language": language, "words": words[language]}
        rendered[language] = _render_page("page.html.j2", page_values, headers, script)
    return rendered


def render_documentation(document: Mapping[str, Any]) -> HTMLResponse:
    """Render an OpenAPI document as a page."""
    resolved = _resolve_references(document, document["components"]["schemas"])
    return _render_page("docs.html.j2", {"document": resolved})


def _resolve_references(part: Any, schemas: Mapping[str, Any]) -> Any:
    """Replace references to schemas by these schemas, in a part of the document."""
    if isinstance(part, list):
        return [_resolve_references(each, schemas) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[1]
        return _resolve_references(schemas[name], schemas)
    return {key: _resolve_references(each, schemas) for key, each in part.items()}


def _render_page(
    name: str,
    values: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    script: str = "",
) -> HTMLResponse:
    """Render a page without further requests.

    Its policy lets browsers apply the style and the script of the page, by hash, and nothing else.
    """
    style = _read_asset("style.css")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_read_asset(name))
    html = template.render(style=style, script=script, **values)
    script_source = _hash_source(script) if script else "'none'"
    policy = [
        "default-src 'none'",
        f"style-src {_hash_source(style)}",
        f"script-src {script_source}",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
    all_headers = {"Content-Security-Policy": "; ".join(policy)} | dict(headers or {})
    return HTMLResponse(html, headers=all_headers)


def _read_asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8").strip()


def _hash_source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
