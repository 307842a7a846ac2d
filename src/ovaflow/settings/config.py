"""From config files to settings: defaults, the user's values, and the files that must exist."""

import json
import re
import sys
from glob import glob
from itertools import product
from pathlib import Path

import yaml
from pydantic import ValidationError

from ovaflow.console.errors import InputError
from ovaflow.settings import paths
from ovaflow.settings.chains import check_chains, expand_sweeps, find_earlier_model
from ovaflow.settings.configuration import Config, DatasetEntry, RunEntry
from ovaflow.settings.predict import Report, Sweep
from ovaflow.settings.prepare import AutoCandidates
from ovaflow.settings.schema import REPLACED_SECTIONS, explain_error
from ovaflow.settings.section import as_list
from ovaflow.settings.source import FILE_ROLES, accepts_several_files, is_in_storage
from ovaflow.settings.spelling import YAML_FAILURES, UniqueKeyLoader
from ovaflow.settings.suggestion_sources import check_sources, find_sources
from ovaflow.storage.errors import read_error
from ovaflow.storage.opening import open_regular

_TEXT_SETTINGS = frozenset().union(
    *(each.texts() for each in (DatasetEntry, RunEntry, Report, Sweep, AutoCandidates))
)
_YAML_TYPES = {
    "int": "a number",
    "float": "a number",
    "bool": "a truth value",
    "timestamp": "a date",
    "null": "nothing",
}


class _UnquotedTextError(yaml.MarkedYAMLError):
    """A name that is none in YAML."""


class _ConfigLoader(UniqueKeyLoader):
    """A loader for which names are as they are written, whatever other loaders make of the same
    file.
    """

    def construct_document(self, node):
        self._check(node, (), False, set())
        return super().construct_document(node)

    def _check(self, node, keys, is_entry, done) -> None:
        """Refuse what is written below these keys, all of it or one of its entries, wherever an
        alias stands for it.
        """
        if (id(node), keys) in done:
            return
        done.add((id(node), keys))
        if isinstance(node, yaml.SequenceNode):
            for entry in node.value:
                self._check(entry, keys, True, done)
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.tag == "tag:yaml.org,2002:merge":
                    self._check(value, keys, False, done)
                else:
                    self._check(key, keys, True, done)
                    self._check(value, (*keys, str(key.value))[-3:], False, done)
        # in a module's sections, too, which are anywhere in the file
        elif keys and keys[-1] in _TEXT_SETTINGS and Config.model_fields.keys() & set(keys[:-1]):
            self._require_text(node, keys, is_entry)

    @staticmethod
    def _require_text(node, keys, is_entry):
        kind = node.tag.rpartition(":")[2]
        is_plain_number = kind == "int" and re.fullmatch("0|-?[1-9][0-9]*", node.value)
        if kind == "str" or is_plain_number or (kind == "null" and not is_entry):
            return
        taken = (
            f"YAML takes {node.value or 'an empty entry'} for {_YAML_TYPES.get(kind, 'no text')}"
        )
        raise _UnquotedTextError(
            problem=f"{'.'.join(keys)}: {taken}; put it in quotes", problem_mark=node.start_mark
        )


def load_config(path) -> dict:
    """Content of a config file, which must be a YAML mapping with each key once."""
    try:
        with open_regular(path) as file:
            content = yaml.load(file.read().decode("utf-8"), _ConfigLoader)
    except OSError as error:
        raise read_error(path, error) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        message = (
            error.problem
            if isinstance(error, _UnquotedTextError)
            else f"not valid YAML: {error.problem}"
        )
        raise InputError(message, path=path, line=line) from None
    except YAML_FAILURES as error:
        raise InputError(
            f"not valid YAML: {error}", path=path, remedy="fix this file, or give another one"
        ) from None
    if not isinstance(content, dict):
        raise InputError("expected a mapping with keys such as datasets and runs", path=path)
    return content


def resolve_config(config: dict, defaults: dict, path=None, catalogue=None) -> Config:
    """Settings of a run of the pipeline: sweeps become runs, the catalogue's datasets files."""
    merged = _merge(defaults, config)
    try:
        settings = Config.model_validate(merged)
    except ValidationError as error:
        raise InputError(explain_error(error, merged), path=path) from None
    settings = expand_sweeps(settings, path)
    check_chains(settings, path)
    check_sources(settings, path)
    if catalogue is None:
        return settings
    entries = {
        name: _downloaded(entry, name, catalogue) if entry.source == "catalogue" else entry
        for name, entry in settings.datasets.items()
    }
    return settings.model_copy(update={"datasets": entries})


def _merge(defaults, config):
    """Keys replace single values of a section; datasets and runs replace those of the defaults
    whole.
    """
    merged = dict(defaults)
    for section, content in config.items():
        old = merged.get(section)
        partial = (
            section not in REPLACED_SECTIONS and isinstance(content, dict) and isinstance(old, dict)
        )
        merged[section] = old | content if partial else content
    return merged


def _downloaded(entry, key, catalogue):
    name = entry.name or key
    published = catalogue(name)
    settings = {"propensity_a": published.propensity.a, "propensity_b": published.propensity.b}
    settings |= entry.model_dump(include=entry.model_fields_set - {"source", "name"})
    settings["format"] = published.format
    for role, file in published.files.items():
        settings[role] = paths.CATALOGUE.format(name=name, file=file)
    return DatasetEntry.model_validate(settings)


def _made_from(dataset, role, path):
    """Whether the dataset there was made from a file of this name; which file had stop words is not
    remembered.
    """
    sizes = Path(paths.SIZES.format(dataset=dataset))
    if not sizes.exists():
        return False
    files = json.loads(sizes.read_bytes())["files"]
    return role not in FILE_ROLES or Path(path).name in files.get(role, "").split(", ")


def require_files(config: Config) -> None:
    """Refuse a config whose files are missing; only warn where the dataset made from them exists."""
    for dataset in config.datasets:
        prepared = paths.DATASET.format(dataset=dataset)
        for role, locations in paths.find_raw_files(config, dataset).items():
            several = accepts_several_files(role, config.datasets[dataset].format)
            for path in as_list(locations):
                exists = Path(path).is_file() or (several and (Path(path).is_dir() or glob(path)))
                if exists or is_in_storage(path) or path.startswith(f"{paths.DOWNLOADS}/"):
                    continue
                message = f"datasets.{dataset}.{role}: no such file: {path}"
                if not _made_from(dataset, role, path):
                    raise _no_file(message)
                message += f"; {prepared} stays as it is, whatever else changes"
                print(f"ovaflow: warning: {message}", file=sys.stderr)
    made_here = paths.fill_for_runs(paths.MODEL, config, config.runs)
    for dataset, run in product(config.datasets, config.runs):
        model = find_earlier_model(config, dataset, run)
        if model is not None and model not in made_here and not Path(model).is_file():
            raise _no_file(
                f"runs.{run}.pretrained: no run and no file {config.runs[run].pretrained}"
            )
        for path in find_sources(config, dataset, run).values():
            if not Path(path).exists():
                message = f"runs.{run}.rerank_with: no such file: {path}"
                raise _no_file(f"{message}; runs of the config cannot be named any more, files can")


def _no_file(message):
    return InputError(message, remedy=f"paths are relative to {Path.cwd()}")
