"""From config files to settings: defaults, the user's values, and the files that must exist."""

import json
import re
import sys
from collections.abc import Callable
from glob import glob
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from ovaflow.console.errors import InputError, StrPath
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
"""Settings whose values are texts, which YAML must not take for anything else."""
_YAML_TYPES = {
    "int": "a number",
    "float": "a number",
    "bool": "a truth value",
    "timestamp": "a date",
    "null": "nothing",
}
"""Descriptions of YAML's types."""


class _UnquotedTextError(yaml.MarkedYAMLError):
    """A text that YAML takes for something else."""


class _ConfigLoader(UniqueKeyLoader):
    """A loader that refuses names which YAML does not read as they are written.

    So other loaders, such as Snakemake's, make the same of the file.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        """Construct the file's content after its texts are checked."""
        self._check(node, (), set(), is_entry=False)
        return super().construct_document(node)

    def _check(self, node: yaml.Node, keys: tuple[str, ...], done: set, *, is_entry: bool) -> None:
        """Refuse what is written below some keys, all of it or one of its entries, even if an alias
        refers to it.

        Parameters
        ----------
        node : yaml.Node
            Node to check.
        keys : tuple of str
            The last three keys above it.
        done : set
            Nodes and keys that were checked.
        is_entry : bool
            Whether the node is a key of a mapping or an entry of a list.
        """
        if (id(node), keys) in done:
            return
        done.add((id(node), keys))
        if isinstance(node, yaml.SequenceNode):
            for entry in node.value:
                self._check(entry, keys, done, is_entry=True)
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.tag == "tag:yaml.org,2002:merge":
                    self._check(value, keys, done, is_entry=False)
                else:
                    self._check(key, keys, done, is_entry=True)
                    keys_of_value = (*keys, str(key.value))[-3:]
                    self._check(value, keys_of_value, done, is_entry=False)
        # in a module's sections, too, which are anywhere in the file
        elif keys and keys[-1] in _TEXT_SETTINGS and Config.model_fields.keys() & set(keys[:-1]):
            self._require_text(node, keys, is_entry=is_entry)

    @staticmethod
    def _require_text(node: yaml.ScalarNode, keys: tuple[str, ...], *, is_entry: bool) -> None:
        """Refuse a node that YAML does not read as a text, plain numbers and null excepted."""
        kind = node.tag.rpartition(":")[2]
        is_plain_number = kind == "int" and re.fullmatch("0|-?[1-9][0-9]*", node.value)
        is_null = kind == "null" and not is_entry
        if kind == "str" or is_plain_number or is_null:
            return
        written = node.value or "an empty entry"
        taken = f"YAML takes {written} for {_YAML_TYPES.get(kind, 'no text')}"
        raise _UnquotedTextError(
            problem=f"{'.'.join(keys)}: {taken}; put it in quotes", problem_mark=node.start_mark
        )


def load_config(path: StrPath) -> dict[str, Any]:
    """Load the content of a config file, which must be a YAML mapping with each key once."""
    try:
        with open_regular(path) as file:
            content = yaml.load(file.read().decode("utf-8"), _ConfigLoader)
    except OSError as error:
        raise read_error(path, error) from None
    except yaml.MarkedYAMLError as error:
        line = None
        if error.problem_mark:
            line = error.problem_mark.line + 1
        message = str(error.problem)
        if not isinstance(error, _UnquotedTextError):
            message = f"not valid YAML: {message}"
        raise InputError(message, path=path, line=line) from None
    except YAML_FAILURES as error:
        raise InputError(
            f"not valid YAML: {error}", path=path, remedy="fix this file, or give another one"
        ) from None
    if not isinstance(content, dict):
        raise InputError("expected a mapping with keys such as datasets and runs", path=path)
    return content


def resolve_config(
    config: dict[str, Any],
    defaults: dict[str, Any],
    path: StrPath | None = None,
    catalogue: Callable[[str], Any] | None = None,
) -> Config:
    """Make the settings of the pipeline from a config: sweeps become runs.

    Parameters
    ----------
    config : dict
        Content of the user's config files.
    defaults : dict
        Content of the default config file.
    path : path, optional
        Name of the user's config files in messages.
    catalogue : callable, optional
        Function from a name to an entry of the catalogue; datasets of the catalogue then become
        those of files to download.
    """
    merged = _merge_sections(defaults, config)
    try:
        settings = Config.model_validate(merged)
    except ValidationError as error:
        raise InputError(explain_error(error, merged, Config), path=path) from None
    settings = expand_sweeps(settings, path)
    check_chains(settings, path)
    check_sources(settings, path)
    if catalogue is None:
        return settings
    entries = dict(settings.datasets)
    for name, entry in settings.datasets.items():
        if entry.source == "catalogue":
            entries[name] = _make_downloaded_entry(entry, name, catalogue)
    return settings.model_copy(update={"datasets": entries})


def _merge_sections(defaults: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """Merge sections: keys replace single values, datasets and runs replace all of the defaults."""
    merged = dict(defaults)
    for section, content in config.items():
        old = merged.get(section)
        are_mappings = isinstance(content, dict) and isinstance(old, dict)
        if are_mappings and section not in REPLACED_SECTIONS:
            merged[section] = old | content
        else:
            merged[section] = content
    return merged


def _make_downloaded_entry(
    entry: DatasetEntry, key: str, catalogue: Callable[[str], Any]
) -> DatasetEntry:
    """Make the entry of a dataset whose files are downloaded from the catalogue."""
    name = entry.name or key
    published = catalogue(name)
    settings = {"propensity_a": published.propensity.a, "propensity_b": published.propensity.b}
    settings |= entry.model_dump(include=entry.model_fields_set - {"source", "name"})
    settings["format"] = published.format
    for role, file in published.files.items():
        settings[role] = paths.CATALOGUE.format(name=name, file=file)
    return DatasetEntry.model_validate(settings)


def require_files(config: Config) -> None:
    """Refuse a config whose files are missing; only warn if the dataset made from them exists."""
    for dataset in config.datasets:
        _require_raw_files(config, dataset)
    made_here = paths.fill_for_runs(paths.MODEL, config, config.runs)
    for dataset, run in product(config.datasets, config.runs):
        model = find_earlier_model(config, dataset, run)
        if model is not None and model not in made_here and not Path(model).is_file():
            raise _missing_file_error(
                f"runs.{run}.pretrained: no run and no file {config.runs[run].pretrained}"
            )
        for path in find_sources(config, dataset, run).values():
            if not Path(path).exists():
                raise _missing_file_error(
                    f"runs.{run}.rerank_with: no such file: {path}; "
                    "runs of the config cannot be named any more, files can"
                )


def _require_raw_files(config: Config, dataset: str) -> None:
    prepared = paths.DATASET.format(dataset=dataset)
    for role, locations in paths.find_raw_files(config, dataset).items():
        several = accepts_several_files(role, config.datasets[dataset].format)
        for path in as_list(locations):
            if is_in_storage(path) or path.startswith(f"{paths.DOWNLOADS}/"):
                continue
            if Path(path).is_file() or (several and (Path(path).is_dir() or glob(path))):
                continue
            message = f"datasets.{dataset}.{role}: no such file: {path}"
            if not _is_made_from(dataset, role, path):
                raise _missing_file_error(message)
            message += f"; {prepared} stays as it is, whatever else changes"
            print(f"ovaflow: warning: {message}", file=sys.stderr)


def _is_made_from(dataset: str, role: str, path: str) -> bool:
    """Return whether the existing dataset was made from a file of this name.

    Names of other files, such as stop words, are not stored: they count as the same.
    """
    sizes = Path(paths.SIZES.format(dataset=dataset))
    if not sizes.exists():
        return False
    if role not in FILE_ROLES:
        return True
    files = json.loads(sizes.read_bytes())["files"]
    return Path(path).name in files.get(role, "").split(", ")


def _missing_file_error(message: str) -> InputError:
    return InputError(message, remedy=f"paths are relative to {Path.cwd()}")
