"""The files that a dataset is prepared from."""

import hashlib
import os
import stat
from dataclasses import dataclass
from glob import glob
from itertools import chain
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import matching, parts_of
from ovaflow.data.readers.texts import check_beginning
from ovaflow.settings.inputs import settings_of
from ovaflow.settings.models import COLUMN_FORMATS, SEVERAL, PrepareSource, listed

_ROLES = ("train", "train_labels", "test", "test_labels", "labels", "vocabulary")


@dataclass(frozen=True)
class Source:
    """A training file and what belongs to it.

    Without ``test`` a share of the training file is set aside. With ``labels``, the names of the labels in id order,
    the labels of texts are ids instead of names; with ``vocabulary`` they are its subjects. ``train_labels`` and
    ``test_labels`` are of npz. Of texts ``train`` and ``test`` may be patterns, or lists, of several files, and of
    Annif's corpora also folders.
    """

    settings: PrepareSource
    train: Path | list[Path] | None = None
    test: Path | list[Path] | None = None
    labels: Path | None = None
    train_labels: Path | None = None
    test_labels: Path | None = None
    vocabulary: Path | None = None

    @property
    def format(self):
        """Format of the files, or builtin."""
        return self.settings.format

    @property
    def files(self):
        """Paths that are given, by role."""
        return {role: path for role in _ROLES if (path := getattr(self, role)) is not None}

    @property
    def trained_on(self):
        """The training files, as messages call them."""
        return ", ".join(map(str, listed(self.train)))

    @property
    def parts(self):
        """All files, by role."""
        several, find = SEVERAL.get(self.format, ()), parts_of if self.format == "annif" else matching
        return {
            role: [part for path in listed(paths) for part in (find(path) if role in several else [path])]
            for role, paths in self.files.items()
        }

    def require_files(self):
        """Refuse what cannot be read several times, or has no end."""
        for role, path in self.files.items():
            if isinstance(path, list) and role not in SEVERAL.get(self.format, ()):
                raise InputError(f"{self.format} takes one {role} file", remedy="join the files, or give texts")
        for path in chain.from_iterable(self.parts.values()):
            _require_file(path)

    def provenance(self):
        """Format, and each file's name, size and hash."""
        files = {role: _identity(self.files[role], parts) for role, parts in self.parts.items()}
        read = ("text_column", "labels_column") if self.format in COLUMN_FORMATS else ()
        read += ("label_separator",) if self.format in (*COLUMN_FORMATS, "text-tsv") else ()
        return {"format": self.format, "files": files, **{name: getattr(self.settings, name) for name in read}}


def check_beginnings(config):
    """Refuse a config whose tables lack a column, from the beginnings of those files that are there."""
    for name, entry in config.datasets.items():
        if entry.format not in SEVERAL or entry.format == "annif":
            continue
        settings = settings_of("prepare", config, name)
        for location in chain.from_iterable(listed(each) for each in (entry.train, entry.test) if each is not None):
            for path in filter(Path.is_file, map(Path, glob(location) or [location])):
                check_beginning(settings, path)


def _require_file(path):
    """Refuse what cannot be read several times, or has no end."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        remedy = "check the path and its permissions"
        raise InputError(f"cannot be read ({error.strerror})", path=path, remedy=remedy) from None
    if stat.S_ISDIR(mode):
        remedy = "give a file; folders of documents are format: annif, other files a pattern such as exports/*.csv"
        raise InputError("is a directory", path=path, remedy=remedy)
    if not stat.S_ISREG(mode):
        raise InputError("is not a regular file", path=path, remedy="write its content to a file, which is read twice")


def _identity(path, parts):
    """Name, size and hash of a file; of several files the sum of sizes and the hash of hashes."""
    sizes, digests = [], []
    for part in parts:
        with open(part, "rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
            sizes.append(file.tell())
    digest = digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()
    return {"name": ", ".join(Path(each).name for each in listed(path)), "bytes": sum(sizes), "sha256": digest}
