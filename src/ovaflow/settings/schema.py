"""Legal values of settings, mistakes in one line, and the JSON schema for editors."""

import difflib
import json
from typing import Any

from pydantic import BaseModel, ValidationError

from ovaflow.settings.models import Config

REPLACED_WHOLE = ("datasets", "runs")
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
_BOUNDS = {"exclusiveMinimum": "above", "minimum": "of at least", "exclusiveMaximum": "below", "maximum": "of at most"}


def legal_values(schema: dict) -> str:
    """Legal values of a key by its JSON schema, such as "a number above 0"."""
    if "anyOf" in schema:
        return " or ".join(map(legal_values, schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return " or ".join(map(str, schema.get("enum", [schema.get("const")])))
    if schema.get("type") == "array":
        least = schema.get("minItems", 0)
        size = f" of at least {least}, " if least > 1 else ", "
        return f"a list{size}each entry {legal_values(schema['items'])}"
    if schema.get("type") == "string" and schema.get("minLength"):
        return "a text that is not empty"
    bounds = [f"{word} {schema[key]:g}" for key, word in _BOUNDS.items() if key in schema]
    text = " ".join([_TYPES.get(schema.get("type", ""), "another value"), " and ".join(bounds)]).rstrip()
    return f"{text} with at least one entry" if schema.get("minProperties") else text


def schema_at(model: type[BaseModel], keys: list) -> dict:
    """JSON schema of a key of a model."""
    root = model.model_json_schema()
    schema = root
    for key in keys:
        # a mapping that may be left out, too
        schema = next((each for each in schema.get("anyOf", ()) if "additionalProperties" in each), schema)
        entries = schema.get("patternProperties") or {"": schema.get("additionalProperties", {})}
        schema = schema.get("properties", {}).get(key) or next(iter(entries.values())) or {}
        # a section that may be left out is "anyOf" of it and null
        reference = next((each for each in (schema, *schema.get("anyOf", ())) if "$ref" in each), None)
        if reference is not None:
            schema = root["$defs"][reference["$ref"].rsplit("/", 1)[-1]]
    return schema


_RENAMED = {"calibrate": "rerank"}

_FIRST = {"extra_forbidden": 0, "value_error": 1}


def explain(error: ValidationError, content: dict, model: type[BaseModel] = Config) -> str:
    """The first complaint of pydantic in one line: where, what is wrong, and what would be legal."""
    complaint = min(error.errors(), key=lambda entry: _FIRST.get(entry["type"], len(_FIRST)))
    keys, value = _locate(complaint["loc"], content)
    where, kind = ".".join(map(str, keys)), complaint["type"]
    if kind == "extra_forbidden":
        known = list(schema_at(model, keys[:-1])["properties"])
        home = _home_of(keys[-1], model) if len(keys) < 4 else ""
        hint = home or _did_you_mean(_RENAMED.get(keys[-1], keys[-1]), known)
        return f"{where}: unknown key{hint}; legal here: {', '.join(known)}"
    if "[key]" in complaint["loc"] and kind != "value_error":
        return f"{keys[0]}: {_shown(complaint['loc'][-2])} cannot be a name; {_NAMES}"
    if kind == "invalid_key":
        where = ".".join(map(str, complaint["loc"][:-1]))
        return f"{where}: the key {_shown(complaint['input'])} is not a text; put it in quotes".removeprefix(": ")
    if kind == "missing":
        return f"{'.'.join(map(str, complaint['loc']))}: missing"
    if kind == "value_error":
        return f"{where}: {complaint['ctx']['error']}".removeprefix(": ")
    schema = schema_at(model, keys)
    expected = legal_values(schema) + _did_you_mean(value, schema.get("enum", ()))
    return f"{where}: found {_shown(value)}, expected {expected}"


def _locate(loc, content):
    keys, value = [], content
    for key in loc:
        if not isinstance(value, dict) or key not in value:
            break
        keys.append(key)
        value = value[key]
    return keys, value


def _home_of(key, model):
    """Sections of a config file that have a key."""
    homes = []
    for name in schema_at(model, [])["properties"]:
        if name not in REPLACED_WHOLE and key in schema_at(model, [name]).get("properties", {}):
            homes.append(name)
    return f"; it belongs to {' or '.join(homes)}" if homes else ""


def _did_you_mean(word, known):
    spelled = {candidate.lower(): candidate for candidate in map(str, known)}
    close = difflib.get_close_matches(str(word).lower(), spelled, n=1)
    return f"; did you mean {spelled[close[0]]}?" if close else ""


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
    return text if len(text) <= 60 else f"{text[:57]}..."


def json_schema() -> str:
    """The config file's JSON schema, as ``workflow/schemas/config.schema.json`` holds it for editors."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema()}
    # a user's file need not repeat what the defaults say
    schema.pop("required", None)
    for section in REPLACED_WHOLE:
        schema["properties"][section]["additionalProperties"] = False
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
