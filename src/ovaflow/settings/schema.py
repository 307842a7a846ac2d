"""Legal values of settings, and explanations of mistakes."""

import difflib
import json
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ovaflow.removed import find_replacement
from ovaflow.settings.spelling import parse_value

REPLACED_SECTIONS = ("datasets", "runs")
"""Sections of a config file that replace those of the defaults."""

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a text",
    "object": "a mapping of keys to values",
    "null": "null",
}
_LEGAL_NAMES = (
    "names have at most 100 letters, digits, dots, dashes and underscores, begin with a letter, "
    "a digit or an underscore, and need quotes if they are a number"
)
_BOUNDS = {
    "exclusiveMinimum": "above",
    "minimum": "of at least",
    "exclusiveMaximum": "below",
    "maximum": "of at most",
}


def describe_legal_values(schema: dict) -> str:
    """Describe the legal values of a key by its JSON schema, such as "a number above 0"."""
    if "anyOf" in schema:
        return " or ".join([describe_legal_values(each) for each in schema["anyOf"]])
    words = _find_words(schema)
    if words:
        return " or ".join([str(word) for word in words])
    if schema.get("type") == "array":
        least = schema.get("minItems", 0)
        size = f" of at least {least}, " if least > 1 else ", "
        return f"a list{size}each entry {describe_legal_values(schema['items'])}"
    if schema.get("type") == "string" and schema.get("minLength"):
        return "a text that is not empty"
    bounds = [f"{word} {schema[key]:g}" for key, word in _BOUNDS.items() if key in schema]
    text = _TYPES.get(schema.get("type", ""), "another value")
    if bounds:
        text += f" {' and '.join(bounds)}"
    if schema.get("minProperties"):
        text += " with at least one entry"
    return text


@cache
def _make_schema(model: type[BaseModel]) -> dict:
    # once for all of its keys: a command looks each of its options up
    return model.model_json_schema()


def find_schema(model: type[BaseModel], keys: list) -> dict:
    """Find the JSON schema of a key of a model, or of an entry of a list there."""
    root = _make_schema(model)
    schema = root
    for key in keys:
        if isinstance(key, int):
            alternative = _find_alternative(schema, "items")
            schema = {} if alternative is None else alternative["items"]
            continue
        # a mapping that may be left out is "anyOf" of it and null
        if "anyOf" in schema:
            schema = _find_alternative(schema, "additionalProperties") or schema
        entries = schema.get("patternProperties") or {"": schema.get("additionalProperties", {})}
        schema = schema.get("properties", {}).get(key) or next(iter(entries.values())) or {}
        # so is a section that may be left out
        reference = _find_alternative(schema, "$ref")
        if reference is not None:
            schema = root["$defs"][reference["$ref"].rsplit("/", 1)[-1]]
    return schema


def _list_alternatives(schema: dict) -> list[dict]:
    """Return the alternatives of a key, or its only schema."""
    return schema.get("anyOf", [schema])


def _find_alternative(schema: dict, key: str) -> dict | None:
    """Return the first alternative that has a key."""
    for alternative in _list_alternatives(schema):
        if key in alternative:
            return alternative
    return None


_SCHEMA_TYPES = {
    bool: ("boolean", "string"),
    int: ("integer", "number", "string"),
    float: ("integer", "number", "string"),
    str: ("string",),
    list: ("array",),
    dict: ("object",),
}
"""Types in JSON schemas of which a value of a Python type may be meant."""


def _select_alternatives(schema: dict, value: Any) -> list[dict]:
    """Return the alternatives of a wrong value's type; all if there are none, or only words."""
    types = _SCHEMA_TYPES.get(type(value), ())
    selected = []
    for alternative in _list_alternatives(schema):
        if alternative.get("type") in types and not _find_words(alternative):
            selected.append(alternative)
    return selected or _list_alternatives(schema)


def _find_words(schema: dict) -> list:
    """Return the legal words of a key by its JSON schema."""
    if "enum" in schema:
        return schema["enum"]
    return [schema["const"]] if "const" in schema else []


_RANKS = {"extra_forbidden": 0, "value_error": 1}
"""Order of pydantic's complaints by type; others come last."""


class _LocatedError(NamedTuple):
    """A complaint of pydantic, and what is wrong."""

    error: ErrorDetails
    keys: list[Any]  # keys and numbers of entries down to the wrong value
    value: Any

    @property
    def place(self) -> str:
        """Keys of the wrong value, separated by dots."""
        return ".".join([str(key) for key in self.keys if not isinstance(key, int)])


def explain_error(error: ValidationError, content: dict, model: type[BaseModel]) -> str:
    """Explain pydantic's first complaint in one line: where, what is wrong, and what is legal."""
    where, explanation = _explain_first(error.errors(), content, model)
    return f"{where}: {explanation}" if where else explanation


def explain_value(
    error: ValidationError, key: str, value: Any, model: type[BaseModel]
) -> str | None:
    """Explain what is wrong with the value of one key; None if only others do not go with it."""
    errors = [entry for entry in error.errors() if entry["loc"][:1] == (key,)]
    if not errors:
        return None
    _, explanation = _explain_first(errors, {key: value}, model)
    return explanation


def _explain_first(
    errors: list[ErrorDetails], content: dict, model: type[BaseModel]
) -> tuple[str, str]:
    """Return the place of the most important complaint, and the explanation."""
    located = _locate_first(errors, content)
    error = located.error
    keys = located.keys
    if error["type"] == "extra_forbidden":
        return located.place, _explain_unknown_key(keys, model)
    if "[key]" in error["loc"] and error["type"] != "value_error":
        return str(keys[0]), f"{_shorten(error['loc'][-2])} cannot be a name; {_LEGAL_NAMES}"
    if error["type"] == "invalid_key":
        place = ".".join([str(key) for key in error["loc"][:-1]])
        return place, f"the key {_shorten(error['input'])} is not a text; put it in quotes"
    if error["type"] == "missing":
        return ".".join([str(key) for key in error["loc"]]), "missing"
    if error["type"] == "value_error":
        return located.place, str(error["ctx"]["error"])
    return located.place, _explain_value(located, find_schema(model, keys))


def _locate_first(errors: list[ErrorDetails], content: dict) -> _LocatedError:
    """Return the first of the most important complaints."""
    first_rank = min(_rank_error(error) for error in errors)
    located = []
    for error in errors:
        if _rank_error(error) == first_rank:
            keys, value = _locate(error["loc"], content)
            located.append(_LocatedError(error, keys, value))
    same_place = [each for each in located if each.place == located[0].place]
    # each alternative of a value complains: the one that takes most of it was meant
    return max(same_place, key=lambda each: len(each.keys))


def _explain_unknown_key(keys: list[Any], model: type[BaseModel]) -> str:
    """Explain an unknown key: its replacement, its home, or a similar one."""
    key = keys[-1]
    instead = find_replacement(key)
    if instead:
        return f"this setting is gone; {instead}"
    known = list(find_schema(model, keys[:-1])["properties"])
    home = ""
    if len(keys) < 4:
        home = _suggest_section(key, model)
    hint = home or _suggest_similar(key, known)
    return f"unknown key{hint}; legal here: {', '.join(known)}"


def _explain_value(located: _LocatedError, schema: dict) -> str:
    """Explain a wrong value: what was found, and what is expected."""
    value = located.value
    words = []
    takes_texts = False
    for alternative in _list_alternatives(schema):
        its_words = _find_words(alternative)
        words += its_words
        if alternative.get("type") == "string" and not its_words:
            takes_texts = True
    if not takes_texts:
        value = parse_value(value)
    alternatives = _select_alternatives(schema, value)
    legal = dict.fromkeys(describe_legal_values(each) for each in alternatives)
    takes_lists = any("items" in each for each in alternatives)
    hint = _suggest_similar(value, words)
    # a value of the right form whose parts are no texts
    if located.error["type"] == "string_type" and isinstance(value, list) == takes_lists:
        hint = "; put it in quotes"
    return f"found {_shorten(value)}, expected {' or '.join(legal)}{hint}"


def _rank_error(error: ErrorDetails) -> int:
    return _RANKS.get(error["type"], len(_RANKS))


def _locate(loc: tuple[int | str, ...], content: dict) -> tuple[list[Any], Any]:
    """Return the keys and numbers of entries down to a wrong value, and the value.

    Between them pydantic names alternatives.
    """
    keys = []
    value: Any = content
    for key in loc:
        if isinstance(key, int):
            # a list may be a text, and one value is a list of one
            value = parse_value(value)
            if isinstance(value, list):
                value = value[key]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            continue
        keys.append(key)
    return keys, value


def _suggest_section(key: str, model: type[BaseModel]) -> str:
    """Return a hint at the sections of a config file that have a key."""
    homes = []
    for name in model.model_fields:
        if name in REPLACED_SECTIONS:
            continue
        if key in find_schema(model, [name]).get("properties", ()):
            homes.append(name)
    if not homes:
        return ""
    return f"; it belongs to {' or '.join(homes)}"


def _suggest_similar(word: Any, known: list) -> str:
    """Return a hint at the known word that is most similar."""
    spelled = {str(candidate).lower(): str(candidate) for candidate in known}
    close = difflib.get_close_matches(str(word).lower(), spelled, n=1)
    if not close:
        return ""
    return f"; did you mean {spelled[close[0]]}?"


def _shorten(value: Any) -> str:
    """Return a value as JSON, or its beginning."""
    if isinstance(value, date):
        return str(value)
    text = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    if len(text) > 60:
        return f"{text[:57]}..."
    return text
