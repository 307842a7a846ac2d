"""The files that a dataset is prepared from."""

import hashlib
import os
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob
from itertools import chain
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.labels.matrix import read_label_names
from ovaflow.reading.columns import join_column_names, split_column_names
from ovaflow.reading.feature_columns import COLUMN_KINDS, make_feature_columns
from ovaflow.reading.formats import FORMATS
from ovaflow.reading.instances import IdentifiedNames, Reading, join_repeated
from ovaflow.reading.preview import add_weights, preview_files
from ovaflow.reading.streams import (
    RecordFile,
    find_matching_files,
    find_matching_paths,
    open_stream,
)
from ovaflow.records.docstrings import collect_docstrings
from ovaflow.settings.inputs import make_step_settings
from ovaflow.settings.prepare import PrepareSource
from ovaflow.settings.section import as_list
from ovaflow.settings.source import FILE_ROLES, ReadTexts, accepts_several_files, holds_texts
from ovaflow.storage.opening import open_regular

_LABELLED = ("train", "test", "dev")
"""Roles of files whose records have labels, and whose beginnings are looked at."""


@dataclass(frozen=True)
class SourceFiles:
    """Files of a source; for texts patterns or lists, for Annif's corpora also folders."""

    settings: PrepareSource
    train: Path | list[Path] | None = None
    test: Path | list[Path] | None = None  # None: a share of the training instances
    dev: Path | list[Path] | None = None  # validation
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
        paths = {role: getattr(self, role) for role in FILE_ROLES}
        return {role: path for role, path in paths.items() if path is not None}

    @property
    def train_name(self):
        """The training files, as messages call them."""
        return ", ".join(map(str, as_list(self.train)))

    @cached_property
    def paths(self):
        paths = {role: as_list(location) for role, location in self.files.items()}
        for role in filter(self._may_be_several, paths):
            paths[role] = list(chain.from_iterable(map(find_matching_paths, paths[role])))
        return paths

    def _may_be_several(self, role):
        return accepts_several_files(role, self.format)

    def require_files(self) -> None:
        if self.dev is not None and not self.settings.has_texts:
            raise InputError("dev goes with texts, not with features", remedy="leave it out")
        for role, path in self.files.items():
            if isinstance(path, list) and not self._may_be_several(role):
                raise InputError(
                    f"{self.format} takes one {role} file", remedy="join the files, or give texts"
                )
        for path in chain.from_iterable(self.paths.values()):
            for each in find_matching_files(path) if self.format == "annif" else [path]:
                _require_file(each)

    @property
    def has_vocabulary(self):
        """Whether labels have names of their own, in a vocabulary or a file."""
        return self.vocabulary is not None or self.labels is not None

    @cached_property
    def docstrings(self):
        """The built-in dataset."""
        return collect_docstrings(
            test_fraction=self.settings.test_fraction, seed=self.settings.seed
        )

    @cached_property
    def preview(self):
        """What the beginnings of the training, test and dev files say about how they are to be
        read.
        """
        n_labels = None if self.labels is None else len(read_label_names(self.labels)[0])
        paths = [path for role in _LABELLED for path in self.paths.get(role, ())]
        reading = make_reading(self.settings, n_labels)
        preview = preview_files(paths, FORMATS[self.format], reading)
        if column := self.settings.weight_column:
            preview = add_weights(preview, FORMATS[self.format], column)
        n = len(reading.texts)
        texts = preview.reading.texts
        if reading.weighted and len(texts) != n:
            message = f"{n} column_weights for {', '.join(map(repr, texts))}"
            raise InputError(
                message, path=paths[0], remedy="set column_weights to one for each column"
            )
        return (
            replace(preview, instances=list(join_repeated(preview.instances)))
            if self.settings.repeated == "join"
            else preview
        )

    def reading_for(self, labels):
        """How records with these labels are made, with counts of their own."""
        if self.format == "builtin":
            return Reading([], [])
        own = {"n_labels": labels.n_labels, "identified": labels.identified, "counts": Counter()}
        return replace(self.preview.reading, **own)

    def provenance(self):
        """Format, and each file's name, size and hash."""
        files = {role: _identity(self.files[role], paths) for role, paths in self.paths.items()}
        remembered = {"format": self.format, "files": files}
        if self.format in FORMATS:
            names = ["text_column", "labels_column"] if FORMATS[self.format].has_columns else []
            names += ["label_separator"] * FORMATS[self.format].has_separator
            remembered |= {
                name: self._column_names(name) or getattr(self.settings, name) for name in names
            }
        if holds_texts(self.format):
            # what is as by default need not be remembered
            read = self.settings.model_dump(include=set(_REMEMBERED)) | self.preview.settings
            remembered |= {
                name: value for name, value in read.items() if value != _REMEMBERED[name]
            }
        return remembered

    def _column_names(self, setting):
        """Names of columns in a setting, where the header says that a comma is in one of them."""
        found = {
            "text_column": self.preview.reading.texts,
            "labels_column": self.preview.reading.labels,
        }.get(setting)
        if found is not None and found != split_column_names(getattr(self.settings, setting)):
            return join_column_names(found)
        return None


_REMEMBERED = {
    name: field.default
    for name, field in ReadTexts.model_fields.items()
    if name not in ("text_column", "labels_column", "label_separator", "html")
}


def make_reading(settings, n_labels=None, **more):
    """How records are made, as settings say."""
    columns = {"texts": ["text"], "labels": ["labels"]}
    if settings.format in FORMATS and FORMATS[settings.format].has_columns:
        chosen = [
            name
            for name in (*_CHOSEN, *(kind.setting for kind in COLUMN_KINDS))
            if getattr(settings, name)
        ]
        columns = {
            "texts": [settings.vector_column]
            if settings.vector_column
            else split_column_names(settings.text_column),
            "vectors": settings.vector_column is not None,
            "labels": split_column_names(settings.labels_column),
            "id_column": settings.id_column,
            "group_column": settings.group_column,
            "feature_columns": make_feature_columns(lambda name: getattr(settings, name)),
            "time_column": settings.split_column,
            "parts": bool(settings.split_column) and settings.split != "last",
            "remedy": f"set {', '.join(chosen)} and labels_column",
        }
    if settings.missing != "auto":
        columns["missing"] = tuple(settings.missing)
    as_they_are = {name: getattr(settings, name) for name in _AS_THEY_ARE}
    others = {
        # as the command line has them
        "separator": settings.label_separator.replace("\\n", "\n").replace("\\t", "\t"),
        "weighted": bool(settings.column_weights),
        "n_labels": n_labels,
    }
    return Reading(**columns | as_they_are | others | more)


def read_file(settings, path, known=()):
    """Instances of a file, or of several by a pattern, after a look at their beginnings; labels
    known by identifier.
    """
    kind = FORMATS[settings.format]
    paths = find_matching_paths(path)
    reading = preview_files(
        paths, kind, make_reading(settings, identified=IdentifiedNames(known))
    ).reading
    return chain.from_iterable(
        kind.read(RecordFile(each, reading.encoding), reading) for each in paths
    )


_CHOSEN = (
    "text_column",
    "id_column",
    "group_column",
    "split_column",
    "weight_column",
)
"""Settings that name columns, besides labels_column and those beside the text."""
_AS_THEY_ARE = ("label_key", "labels_are", "first_label", "encoding", "quotes", "sheet")


def preview_datasets(config):
    """The :class:`Look` at each dataset of texts whose files are there; refuses those that lack a
    column.
    """
    previews = {}
    for name, entry in config.datasets.items():
        locations = [
            *chain.from_iterable(as_list(getattr(entry, role) or []) for role in _LABELLED)
        ]
        there = [
            path for each in locations for path in map(Path, glob(each) or [each]) if path.exists()
        ]
        if holds_texts(entry.format) and len(there) >= len(locations):
            files = {
                role: _paths_of(getattr(entry, role))
                for role in (*_LABELLED, "labels")
                if getattr(entry, role)
            }
            previews[name] = SourceFiles(
                make_step_settings("prepare", config, name), **files
            ).preview
    return previews


def _paths_of(location):
    return [Path(each) for each in location] if isinstance(location, list) else Path(location)


def _require_file(path) -> None:
    if os.path.isdir(path):
        remedy = "give a file, a pattern such as exports/*.csv, or format: annif for a folder of documents"
        raise InputError("is a directory", path=path, remedy=remedy)
    with open_stream(path):
        pass


def _identity(location, paths):
    """Name, size and hash of a file; of several, or those of a folder, the sum of sizes and the
    hash of hashes.
    """
    size = 0
    digests = []
    for path in chain.from_iterable(map(find_matching_files, paths)):
        with open_regular(path) as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
            size += file.tell()
    digest = digests[0]
    if len(digests) > 1:
        digest = hashlib.sha256(" ".join(digests).encode()).hexdigest()
    return {
        "name": ", ".join(Path(each).name for each in as_list(location)),
        "bytes": size,
        "sha256": digest,
    }
