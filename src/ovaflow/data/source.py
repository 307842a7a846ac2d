"""The files that a dataset is prepared from."""

import hashlib
import os
import stat
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.data.readers.annif import parts_of
from ovaflow.settings.models import COLUMN_FORMATS, SEVERAL, PrepareSource

_ROLES = ("train", "train_labels", "test", "test_labels", "labels", "vocabulary")


@dataclass(frozen=True)
class Source:
    """A training file and what belongs to it.

    Without ``test`` a share of the training file is set aside. With ``labels``, the names of the labels in id order,
    the labels of texts are ids instead of names; with ``vocabulary`` they are its subjects. ``train_labels`` and
    ``test_labels`` are of npz. Of Annif's corpora ``train`` and ``test`` may be folders, or patterns of several files.
    """

    settings: PrepareSource
    train: Path | None = None
    test: Path | None = None
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
    def parts(self):
        """All files, by role; of a role that may be several, a list."""
        several = SEVERAL.get(self.format, ())
        return {role: parts_of(path) if role in several else [path] for role, path in self.files.items()}

    def require_files(self):
        """Refuse what cannot be read several times, or has no end."""
        for path in chain.from_iterable(self.parts.values()):
            _require_file(path)

    def provenance(self):
        """Format, and each file's name, size and hash."""
        files = {role: _identity(self.files[role], parts) for role, parts in self.parts.items()}
        read = ("text_column", "labels_column") if self.format in COLUMN_FORMATS else ()
        read += ("label_separator",) if self.format in (*COLUMN_FORMATS, "text-tsv") else ()
        return {"format": self.format, "files": files, **{name: getattr(self.settings, name) for name in read}}


def _require_file(path):
    """Refuse what cannot be read several times, or has no end."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        remedy = "check the path and its permissions"
        raise InputError(f"cannot be read ({error.strerror})", path=path, remedy=remedy) from None
    if stat.S_ISDIR(mode):
        raise InputError("is a directory", path=path, remedy="give a file; folders of documents are format: annif")
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
    return {"name": Path(path).name, "bytes": sum(sizes), "sha256": digest}
