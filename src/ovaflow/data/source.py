"""The files that a dataset is prepared from."""

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from glob import glob
from itertools import chain
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import matching_files, matching_paths, open_stream
from ovaflow.data.readers.texts import check_beginning
from ovaflow.settings.inputs import settings_of
from ovaflow.settings.models import COLUMN_FORMATS, ROLES, SEVERAL, PrepareSource, listed
from ovaflow.storage.opening import open_regular


@dataclass(frozen=True)
class SourceFiles:
    """Files of a source; for texts patterns or lists, for Annif's corpora also folders."""

    settings: PrepareSource
    train: Path | list[Path] | None = None
    test: Path | list[Path] | None = None  # None: a share of the training instances
    extra: Path | list[Path] | None = None  # further training files, of other weights
    labels: Path | None = None  # names in id order; texts then have ids as labels
    train_labels: Path | None = None
    test_labels: Path | None = None
    vocabulary: Path | None = None  # whose subjects are the labels

    @property
    def format(self):
        return self.settings.format

    @property
    def files(self):
        """What was given as files, by role."""
        paths = {role: getattr(self, role) for role in ROLES}
        return {role: path for role, path in paths.items() if path is not None}

    @property
    def train_name(self):
        """The training files, as messages call them."""
        return ", ".join(map(str, listed(self.train)))

    @cached_property
    def paths(self):
        several = SEVERAL.get(self.format, ())
        matching = matching_files if self.format == "annif" else matching_paths
        paths = {role: listed(location) for role, location in self.files.items()}
        for role in paths.keys() & set(several):
            paths[role] = list(chain.from_iterable(map(matching, paths[role])))
        return paths

    def require_files(self):
        for role, path in self.files.items():
            if isinstance(path, list) and role not in SEVERAL.get(self.format, ()):
                raise InputError(f"{self.format} takes one {role} file", remedy="join the files, or give texts")
        for path in chain.from_iterable(self.paths.values()):
            _require_file(path)

    def provenance(self):
        """Format, and each file's name, size and hash."""
        files = {role: _identity(self.files[role], paths) for role, paths in self.paths.items()}
        names = []
        if self.format in COLUMN_FORMATS:
            names += ["text_column", "labels_column"]
            # by default there is none to remember
            names += ["id_column"] * (self.settings.id_column is not None)
        if self.format in (*COLUMN_FORMATS, "text-tsv"):
            names.append("label_separator")
        return {"format": self.format, "files": files} | {name: getattr(self.settings, name) for name in names}


def check_beginnings(config):
    """Refuse a config whose tables lack a column, from the beginnings of those files that are there."""
    for name, entry in config.datasets.items():
        if entry.format not in SEVERAL or entry.format == "annif":
            continue
        settings = settings_of("prepare", config, name)
        for location in [*listed(entry.train), *listed(entry.test or [])]:
            for path in filter(Path.is_file, map(Path, glob(location) or [location])):
                check_beginning(settings, path)


def _require_file(path):
    if os.path.isdir(path):
        remedy = "give a file, a pattern such as exports/*.csv, or format: annif for a folder of documents"
        raise InputError("is a directory", path=path, remedy=remedy)
    with open_stream(path):
        pass


def _identity(location, paths):
    """Name, size and hash of a file; of several files the sum of sizes and the hash of hashes."""
    size, digests = 0, []
    for path in paths:
        with open_regular(path) as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
            size += file.tell()
    digest = digests[0]
    if len(digests) > 1:
        digest = hashlib.sha256(" ".join(digests).encode()).hexdigest()
    return {"name": ", ".join(Path(each).name for each in listed(location)), "bytes": size, "sha256": digest}
