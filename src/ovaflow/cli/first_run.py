"""A config file for one data file: what a person starts from."""

import hashlib
import re
from pathlib import Path

import yaml

from ovaflow.console.errors import InputError, StrPath
from ovaflow.settings.config import load, resolve
from ovaflow.settings.models import NAME, RESERVED
from ovaflow.workflow import snakefile

FORMATS = {
    "csv": "csv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "parquet": "parquet",
    "tsv": "text-tsv",
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "txt": "xmc-text",
}
"""Formats by the endings of names."""

_PACKED = (".gz", ".bz2", ".xz", ".zst")
_MARK = "# unchanged since ovaflow train wrote it: "
RUN = "msi"


def format_of(path: StrPath) -> str:
    """Format of a data file by its name, compressed or not."""
    names = [part.lower() for part in Path(path).name.split(".")[1:] if f".{part.lower()}" not in _PACKED]
    if not names or names[-1] not in FORMATS:
        raise InputError(
            "the name does not tell the format",
            path=path,
            remedy=f"give --format, one of {', '.join(dict.fromkeys(FORMATS.values()))}",
        )
    return FORMATS[names[-1]]


def name_of(path: StrPath) -> str:
    """Name of the dataset that a file becomes, legal in a config file."""
    name = re.sub(r"[^A-Za-z0-9_-]", "-", Path(path).name.split(".")[0])[:100].lstrip("-")
    return name if re.fullmatch(NAME, name) and name not in RESERVED else "data"


def config_for(data: StrPath, shards: int, **entry: str | None) -> str:
    """YAML of one dataset and one run; keys of the dataset's entry without a value are left out."""
    given = {key: value for key, value in entry.items() if value is not None}
    given = {"format": format_of(data), "train": str(data)} | given
    config = {
        "datasets": {name_of(data): given},
        "runs": {RUN: {"method": "one-vs-all", "initialization": "mean-separating"}},
        "train": {"shards": shards},
    }
    workflow = snakefile().parent
    resolve(config, load(workflow / "config" / "config.yaml"))
    return (
        f"# yaml-language-server: $schema={workflow / 'workflow' / 'schemas' / 'config.schema.json'}\n"
        f"# Every key and its default: {workflow / 'config' / 'config.yaml'}\n"
        + yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    )


def _marked(text: str) -> str:
    """With a last line by which is seen whether somebody has changed it."""
    return f"{text}{_MARK}{hashlib.sha256(text.encode()).hexdigest()[:16]}\n"


def write_config(path: StrPath, text: str) -> None:
    """Write a config file, also over an earlier one, but not over one that somebody has written or changed."""
    path = Path(path)
    if path.exists():
        written = path.read_text(encoding="utf-8")
        if written != _marked(written.rpartition(_MARK)[0]):
            raise InputError(
                "somebody has changed it since it was written",
                path=path,
                remedy=f"run what it says: ovaflow run {path}; or delete it",
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_marked(text), encoding="utf-8")
