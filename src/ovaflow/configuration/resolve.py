"""From config files to settings: defaults, what the user says otherwise, and one clear line where it is wrong."""

import difflib
import json
from itertools import islice

from pydantic import ValidationError

from ovaflow.configuration.chains import check_chains, expand_sweeps
from ovaflow.configuration.files import DOWNLOADS
from ovaflow.configuration.schema import Dataset, Settings
from ovaflow.configuration.yaml_file import read_yaml
from ovaflow.console.errors import InputError

REPLACED_WHOLE = ("datasets", "runs")


def load(path):
    """Read a config file.

    Parameters
    ----------
    path : path-like
        YAML.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If it is no YAML mapping, see :func:`ovaflow.configuration.yaml_file.read_yaml`.
    """
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise InputError("expected a mapping with keys such as datasets and runs", path=path)
    return content


def resolve(config, defaults, path=None, catalogue=None):
    """Settings of a pipeline run.

    Parameters
    ----------
    config : dict
        What the user says; ``datasets`` and ``runs`` replace those of the
        defaults whole, keys of other sections replace single values.
    defaults : dict
        The config file that comes with the workflow.
    path : path-like, optional
        Where ``config`` comes from, for messages.
    catalogue : callable, optional
        :func:`ovaflow.data.catalogue.files_of`; with it, datasets of the
        catalogue become datasets of downloaded files.

    Returns
    -------
    Settings
        Each sweep expanded to its runs.

    Raises
    ------
    InputError
        If a key is unknown, a value not legal, or runs start from each other in a circle.
    """
    merged = _merge(defaults, config)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise InputError(explain(error, merged), path=path) from None
    settings = expand_sweeps(settings, path)
    check_chains(settings, path)
    return settings if catalogue is None else _with_downloads(settings, catalogue)


def _with_downloads(settings, catalogue):
    entries = {
        name: _downloaded(entry, name, catalogue) if entry.source == "catalogue" else entry
        for name, entry in settings.datasets.items()
    }
    return settings.model_copy(update={"datasets": entries})


def _downloaded(entry, key, catalogue):
    name = entry.name or key
    given = catalogue(name)
    roles = ("train", "train_labels", "test", "test_labels") if given["format"] == "npz" else ("train", "test")
    files = {role: f"{DOWNLOADS}/{name}/{file}" for role, file in zip(roles, given["files"], strict=True)}
    propensities = {key: given[key] for key in ("propensity_a", "propensity_b")}
    own = {key: getattr(entry, key) for key in entry.model_fields_set - {"source", "name"}}
    return Dataset.model_validate({**propensities, **own, "format": given["format"], **files})


def _merge(defaults, config):
    merged = dict(defaults)
    for section, content in config.items():
        old = merged.get(section)
        partial = section not in REPLACED_WHOLE and isinstance(content, dict) and isinstance(old, dict)
        merged[section] = old | content if partial else content
    return merged


def explain(error, config):
    """The first complaint of pydantic, as a person wants to read it.

    Parameters
    ----------
    error : pydantic.ValidationError
    config : dict
        What was validated.

    Returns
    -------
    str
        Where, what is wrong, and what would be legal.
    """
    complaint = min(error.errors(), key=lambda entry: entry["type"] != "extra_forbidden")
    keys, value = _locate(complaint["loc"], config)
    where = ".".join(map(str, keys))
    schema = _schema_at(keys)
    kind = complaint["type"]
    if kind == "extra_forbidden":
        return _unknown_key(keys, _schema_at(keys[:-1]))
    if "[key]" in complaint["loc"]:
        return _illegal_name(complaint)
    if kind == "missing":
        return f"{'.'.join(map(str, complaint['loc']))}: missing"
    if kind == "value_error" and not isinstance(value, bool):
        return f"{where}: {complaint['ctx']['error']}".removeprefix(": ")
    hint = _did_you_mean(value, schema.get("enum", ()))
    return f"{where}: found {_shown(value)}, expected {legal_values(schema)}{hint}"


def _locate(loc, config):
    keys, value = [], config
    for key in loc:
        if not isinstance(value, dict) or key not in value:
            break
        keys.append(key)
        value = value[key]
    return keys, value


def _unknown_key(keys, schema):
    known = list(schema["properties"])
    hint = _did_you_mean(keys[-1], known)
    where = ".".join(map(str, keys))
    return f"{where}: unknown key{hint}; legal here: {', '.join(known)}"


def _illegal_name(complaint):
    name = _shown(complaint["loc"][-2])
    section = complaint["loc"][0]
    if complaint["type"] == "value_error":
        return f"{section}: {complaint['ctx']['error']}"
    return (
        f"{section}: {name} cannot be a name; names have at most 100 letters, digits, dots, dashes and underscores, "
        "begin with a letter, a digit or an underscore, and stand in quotes if they are a number"
    )


def _did_you_mean(word, known):
    spelled = {candidate.lower(): candidate for candidate in map(str, known)}
    close = difflib.get_close_matches(str(word).lower(), spelled, n=1)
    return f"; did you mean {spelled[close[0]]}?" if close else ""


def _shown(value):
    # a value may be of any size
    text = json.dumps(_cut(value, 4), ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _cut(value, depth):
    if isinstance(value, dict):
        return {str(key): _cut(each, depth - 1) for key, each in islice(value.items(), 10 if depth else 0)}
    if isinstance(value, list):
        return [_cut(each, depth - 1) for each in islice(value, 10 if depth else 0)]
    return value[:100] if isinstance(value, str) else value


def _schema_at(keys):
    root = Settings.model_json_schema()
    schema = root
    for key in keys:
        entries = schema.get("patternProperties") or {"": schema.get("additionalProperties", {})}
        schema = schema.get("properties", {}).get(key) or next(iter(entries.values())) or {}
        # a section that may be left out is "anyOf" of it and null
        reference = next((each for each in (schema, *schema.get("anyOf", ())) if "$ref" in each), None)
        if reference is not None:
            schema = root["$defs"][reference["$ref"].rsplit("/", 1)[-1]]
    return schema


def legal_values(schema):
    """Legal values of a key in words.

    Parameters
    ----------
    schema : dict
        JSON schema of the key.

    Returns
    -------
    str
        Such as ``"a number above 0"``.
    """
    if "anyOf" in schema:
        return " or ".join(map(legal_values, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if schema.get("type") == "array":
        return f"a list, each entry {legal_values(schema['items'])}"
    return _TYPES.get(schema.get("type"), "another value") + _bounds(schema)


_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a text",
    "object": "a mapping of keys to values",
    "null": "null",
}

_BOUNDS = {
    "exclusiveMinimum": "above",
    "minimum": "of at least",
    "exclusiveMaximum": "below",
    "maximum": "of at most",
}


def _bounds(schema):
    if schema.get("type") == "string" and schema.get("minLength"):
        return " that is not empty"
    if schema.get("minProperties"):
        return " with at least one entry"
    said = [f"{word} {schema[key]:g}" for key, word in _BOUNDS.items() if key in schema]
    return f" {' and '.join(said)}" if said else ""


def json_schema():
    """The config file's JSON schema, as ``workflow/schemas/config.schema.json`` holds it for editors.

    Returns
    -------
    str
    """
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Settings.model_json_schema()}
    # a user's file need not repeat what the defaults say
    schema.pop("required", None)
    for section in REPLACED_WHOLE:
        schema["properties"][section]["additionalProperties"] = False
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
