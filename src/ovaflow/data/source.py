"""The files of a dataset, and the settings that say how they are read."""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.settings.models import COLUMN_FORMATS, PrepareSource


@dataclass(frozen=True)
class Source:
    """A training file and what belongs to it.

    Without ``test`` a share of the training file is set aside. With ``labels``, the names of the labels in id order,
    the labels of texts are ids instead of names. ``train_labels`` and ``test_labels`` are of npz.
    """

    settings: PrepareSource
    train: Path | None = None
    test: Path | None = None
    labels: Path | None = None
    train_labels: Path | None = None
    test_labels: Path | None = None

    @property
    def format(self):
        """Format of the files, or builtin."""
        return self.settings.format

    @property
    def _files(self):
        roles = ("train", "train_labels", "test", "test_labels", "labels")
        given = {role: getattr(self, role) for role in roles}
        return {role: path for role, path in given.items() if path is not None}

    def require_files(self):
        """Refuse what cannot be read several times, or has no end."""
        for path in self._files.values():
            _require_file(path)

    def provenance(self):
        """Format, and each file's name, size and hash."""
        files = {role: _identity(path) for role, path in self._files.items()}
        columns = {"text_column": self.settings.text_column} if self.format in COLUMN_FORMATS else {}
        return {"format": self.format, "files": files, **columns}


def _require_file(path):
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise InputError("no such file", path=path, remedy="give the path of a file that is there") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", error)
        remedy = "check its permissions, or give another file"
        raise InputError(f"cannot be read ({reason})", path=path, remedy=remedy) from None
    if not stat.S_ISREG(mode):
        raise InputError("is not a regular file", path=path, remedy="write its content to a file, which is read twice")


def _identity(path):
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"name": Path(path).name, "bytes": file.tell(), "sha256": digest}
