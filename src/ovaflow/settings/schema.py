"""Legal values of settings, mistakes in one line, and the JSON schema for editors."""

import difflib
import json
from datetime import date
from typing import Any

from pydantic import BaseModel, ValidationError

from ovaflow.removed import find_replacement
from ovaflow.settings.configuration import Config
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
_NAMES = (
    "names have at most 100 letters, digits, dots, dashes and underscores, begin with a letter, a digit or an "
    "underscore, and need quotes if they are a number"
)
_BOUNDS = {
    "exclusiveMinimum": "above",
    "minimum": "of at least",
    "exclusiveMaximum": "below",
    "maximum": "of at most",
}


def describe_legal_values(schema: dict) -> str:
    """Legal values of a key by its JSON schema, such as "a number above 0"."""
    if "anyOf" in schema:
        return " or ".join(map(describe_legal_values, schema["anyOf"]))
    if words := _words(schema):
        return " or ".join(map(str, words))
    if schema.get("type") == "array":
        least = schema.get("minItems", 0)
        size = f" of at least {least}, " if least > 1 else ", "
        return f"a list{size}each entry {describe_legal_values(schema['items'])}"
    if schema.get("type") == "string" and schema.get("minLength"):
        return "a text that is not empty"
    bounds = [f"{word} {schema[key]:g}" for key, word in _BOUNDS.items() if key in schema]
    text = " ".join(
        [_TYPES.get(schema.get("type", ""), "another value"), " and ".join(bounds)]
    ).rstrip()
    return f"{text} with at least one entry" if schema.get("minProperties") else text


def find_schema(model: type[BaseModel], keys: list) -> dict:
    """JSON schema of a key of a model, or of an entry of a list there."""
    root = model.model_json_schema()
    schema = root
    for key in keys:
        if isinstance(key, int):
            schema = next((each["items"] for each in _alternatives(schema) if "items" in each), {})
            continue
        # a mapping that may be left out, too
        schema = next(
            (each for each in schema.get("anyOf", ()) if "additionalProperties" in each), schema
        )
        entries = schema.get("patternProperties") or {"": schema.get("additionalProperties", {})}
        schema = schema.get("properties", {}).get(key) or next(iter(entries.values())) or {}
        # a section that may be left out is "anyOf" of it and null
        reference = next((each for each in _alternatives(schema) if "$ref" in each), None)
        if reference is not None:
            schema = root["$defs"][reference["$ref"].rsplit("/", 1)[-1]]
    return schema


def _alternatives(schema: dict) -> list[dict]:
    return schema.get("anyOf", [schema])


_FITTING = {
    bool: ("boolean", "string"),
    int: ("integer", "number", "string"),
    float: ("integer", "number", "string"),
    str: ("string",),
    list: ("array",),
    dict: ("object",),
}


def _meant(schema: dict, value: Any) -> list[dict]:
    """Alternatives of a wrong value's type; all where there are none, or only words."""
    types = _FITTING.get(type(value), ())
    meant = [
        each for each in _alternatives(schema) if each.get("type") in types and not _words(each)
    ]
    return meant or _alternatives(schema)


def _words(schema: dict) -> list:
    """Legal words of a key by its JSON schema."""
    return schema.get("enum", [schema["const"]] if "const" in schema else [])


_FIRST = {"extra_forbidden": 0, "value_error": 1}


def explain_error(error: ValidationError, content: dict, model: type[BaseModel] = Config) -> str:
    """The first complaint of pydantic in one line: where, what is wrong, and what would be legal."""
    return ": ".join(filter(None, _first_complaint(error.errors(), content, model)))


def explain_value(
    error: ValidationError, key: str, value: Any, model: type[BaseModel]
) -> str | None:
    """What is wrong with the value of one key, unless it only does not go with others."""
    errors = [entry for entry in error.errors() if entry["loc"][:1] == (key,)]
    return _first_complaint(errors, {key: value}, model)[1] if errors else None


def _first_complaint(errors, content, model):
    rank = min(map(_rank, errors))
    found = [(entry, *_locate(entry["loc"], content)) for entry in errors if _rank(entry) == rank]
    where = _place(found[0][1])
    # each alternative of a value complains: the one that takes most of it was meant
    complaint, keys, value = max(
        (each for each in found if _place(each[1]) == where), key=lambda each: len(each[1])
    )
    kind = complaint["type"]
    if kind == "extra_forbidden":
        instead = find_replacement(keys[-1])
        if instead:
            return where, f"this setting is gone; {instead}"
        known = list(find_schema(model, keys[:-1])["properties"])
        home = _home_of(keys[-1], model) if len(keys) < 4 else ""
        hint = home or _did_you_mean(keys[-1], known)
        return where, f"unknown key{hint}; legal here: {', '.join(known)}"
    if "[key]" in complaint["loc"] and kind != "value_error":
        return str(keys[0]), f"{_shown(complaint['loc'][-2])} cannot be a name; {_NAMES}"
    if kind == "invalid_key":
        where = ".".join(map(str, complaint["loc"][:-1]))
        return where, f"the key {_shown(complaint['input'])} is not a text; put it in quotes"
    if kind == "missing":
        return ".".join(map(str, complaint["loc"])), "missing"
    if kind == "value_error":
        return where, str(complaint["ctx"]["error"])
    schema = find_schema(model, keys)
    if not any(each.get("type") == "string" and not _words(each) for each in _alternatives(schema)):
        value = parse_value(value)
    words = [word for each in _alternatives(schema) for word in _words(each)]
    meant = _meant(schema, value)
    expected = " or ".join(dict.fromkeys(map(describe_legal_values, meant)))
    # a value of the right form whose parts are no texts
    is_unquoted = kind == "string_type" and isinstance(value, list) == any(
        "items" in each for each in meant
    )
    hint = "; put it in quotes" if is_unquoted else _did_you_mean(value, words)
    return where, f"found {_shown(value)}, expected {expected}{hint}"


def _rank(entry):
    return _FIRST.get(entry["type"], len(_FIRST))


def _locate(loc, content):
    """Keys and numbers of entries down to what is wrong, and its value; between them pydantic names
    alternatives.
    """
    keys = []
    value = content
    for key in loc:
        if isinstance(key, int):
            # a list may be a text, and one value stands for a list of one
            value = parse_value(value)
            value = value[key] if isinstance(value, list) else value
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            continue
        keys.append(key)
    return keys, value


def _place(keys):
    return ".".join(str(key) for key in keys if not isinstance(key, int))


def _home_of(key, model):
    """Sections of a config file that have a key."""
    sections = (name for name in model.model_fields if name not in REPLACED_SECTIONS)
    homes = [name for name in sections if key in find_schema(model, [name]).get("properties", ())]
    return f"; it belongs to {' or '.join(homes)}" if homes else ""


def _did_you_mean(word, known):
    spelled = {candidate.lower(): candidate for candidate in map(str, known)}
    close = difflib.get_close_matches(str(word).lower(), spelled, n=1)
    return f"; did you mean {spelled[close[0]]}?" if close else ""


def _shown(value: Any) -> str:
    if isinstance(value, date):
        return str(value)
    text = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    return text if len(text) <= 60 else f"{text[:57]}..."


def json_schema() -> str:
    """The config file's JSON schema, as ``workflow/schemas/config.schema.json`` holds it for
    editors.
    """
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(),
    }
    # a user's file need not repeat what the defaults say
    schema.pop("required", None)
    for section in REPLACED_SECTIONS:
        schema["properties"][section]["additionalProperties"] = False
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
