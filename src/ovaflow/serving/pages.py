"""The page for people, in each of its languages, and the documentation."""

import base64
import hashlib
import json
from importlib import resources

import jinja2
from starlette.responses import HTMLResponse

from ovaflow.reranking.evidence.kinds import KINDS, find_explained_kinds
from ovaflow.serving.schemas import MAX_RECORD_ID_CHARACTERS, MAX_WORDS

_ASSETS = resources.files("ovaflow.serving") / "assets"
SCRIPT_FILES = ("words.js", "record.js", "reasons.js", "saving.js", "page.js")

PAGE_LANGUAGES = ("en", "de", "fr")
"""Languages of the page, the default first."""


def choose_page_language(accepted, asked=None):
    """The language of the page that is asked for, else the one liked best by an Accept-Language
    header.
    """
    if asked in PAGE_LANGUAGES:
        return asked
    liked = {}
    for part in accepted.split(","):
        code, _, quality = part.partition(";")
        language = code.strip().lower().partition("-")[0]
        liked.setdefault(
            PAGE_LANGUAGES[0] if language == "*" else language, _parse_quality(quality)
        )
    return max(PAGE_LANGUAGES, key=lambda language: liked.get(language, 0.0))


def _parse_quality(parameter):
    try:
        return float(parameter.strip().removeprefix("q=")) if parameter else 1.0
    except ValueError:
        return 0.0


def load_page_words(language):
    """What the page says; of evidence, in English, what the service says."""
    said = json.loads(_read_asset(f"words/{language}.json"))
    if language == PAGE_LANGUAGES[0]:
        return said
    return said | {
        "evidence": {
            kind.name: words.translations[language] for kind, words in find_explained_kinds(KINDS)
        }
    }


def render_pages(options, corrects, form_fields):
    """The page for people by language, with a field for each column that the model reads beside the
    text.
    """
    limits = {"most_words": MAX_WORDS, "longest_record": MAX_RECORD_ID_CHARACTERS}
    said = {language: load_page_words(language) for language in PAGE_LANGUAGES}
    names = {language: each["own name"] for language, each in said.items()}
    script = "\n".join(map(_read_asset, SCRIPT_FILES))
    given = {
        "options": options,
        "corrects": corrects,
        "languages": names,
        "script": script,
        **limits,
    }
    given["form_fields"] = form_fields
    return {
        language: _render_page(
            "page.html.j2", {"Vary": "Accept-Language"}, language=language, words=each, **given
        )
        for language, each in said.items()
    }


def render_documentation(document):
    return _render_page(
        "docs.html.j2", document=_resolve_references(document, document["components"]["schemas"])
    )


def _resolve_references(part, schemas):
    """A part of the document with schemas in place of references to them."""
    if isinstance(part, list):
        return [_resolve_references(each, schemas) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _resolve_references(schemas[part["$ref"].rsplit("/", 1)[1]], schemas)
    return {key: _resolve_references(each, schemas) for key, each in part.items()}


def _render_page(name, headers=None, script="", **values):
    """A page without further requests; its policy lets browsers apply what is in it, by hash, and
    nothing else.
    """
    style = _read_asset("style.css")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    html = environment.from_string(_read_asset(name)).render(style=style, script=script, **values)
    policy = [
        "default-src 'none'",
        f"style-src {_hash_source(style)}",
        f"script-src {_hash_source(script)}" if script else "script-src 'none'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
    return HTMLResponse(
        html, headers={"Content-Security-Policy": "; ".join(policy)} | (headers or {})
    )


def _read_asset(name):
    return (_ASSETS / name).read_text(encoding="utf-8").strip()


def _hash_source(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
