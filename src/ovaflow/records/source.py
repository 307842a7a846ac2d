"""The files that a dataset is prepared from."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any

from ovaflow.console.errors import InputError, StrPath
from ovaflow.labels.matrix import read_label_names
from ovaflow.reading.columns import join_column_names, split_column_names
from ovaflow.reading.feature_columns import COLUMN_KINDS, make_feature_columns
from ovaflow.reading.formats import FORMATS, Format
from ovaflow.reading.instances import (
    IdentifiedNames,
    Reading,
    TextInstance,
    join_repeated,
    read_kept_instances,
)
from ovaflow.reading.part_files import PartFiles, find_part_files
from ovaflow.reading.preview import Preview, add_weights, preview_files
from ovaflow.reading.streams import (
    find_matching_files,
    find_matching_paths,
    open_stream,
)
from ovaflow.records.docstrings import Docstrings, collect_docstrings
from ovaflow.settings.inputs import make_step_settings
from ovaflow.settings.prepare import PrepareSource
from ovaflow.settings.section import as_list
from ovaflow.settings.source import FILE_ROLES, ReadTexts, accepts_several_files, holds_texts
from ovaflow.storage.opening import open_regular

_LABELLED_ROLES = ("train", "test", "dev")
"""Roles of files whose records have labels, and which are previewed."""


@dataclass(frozen=True)
class SourceFiles:
    """Files of a source; for texts patterns, folders or lists of these."""

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
    def format(self) -> str:
        """The name of the files' format."""
        return self.settings.format

    @property
    def files(self) -> dict[str, Path | list[Path]]:
        """The given locations of files, by role."""
        locations = {role: getattr(self, role) for role in FILE_ROLES}
        return {role: location for role, location in locations.items() if location is not None}

    @property
    def train_name(self) -> str:
        """The name of the training files in messages."""
        return ", ".join(str(path) for path in as_list(self.train))

    @cached_property
    def paths(self) -> dict[str, list[Path]]:
        """Paths of the files by role, those of patterns and folders one by one."""
        paths = {}
        for role, location in self.files.items():
            paths[role] = as_list(location)
            if self._accepts_several(role):
                paths[role] = []
                for each in as_list(location):
                    paths[role] += find_record_files(each, self.format).paths
        return paths

    def _accepts_several(self, role: str) -> bool:
        return accepts_several_files(role, self.format)

    def require_files(self) -> None:
        """Refuse files that are missing, or that do not go with the format."""
        if self.dev is not None and not self.settings.has_texts:
            raise InputError("dev goes with texts, not with features", remedy="leave it out")
        if self.settings.first_label and holds_texts(self.format) and self.labels is None:
            raise InputError("first_label goes with labels, a file of names", remedy="leave it out")
        for role, location in self.files.items():
            if isinstance(location, list) and not self._accepts_several(role):
                raise InputError(
                    f"{self.format} takes one {role} file", remedy="join the files, or give texts"
                )
        for paths in self.paths.values():
            for path in paths:
                files = find_matching_files(path) if self.format == "annif" else [path]
                for file in files:
                    _require_file(file)

    @property
    def has_vocabulary(self) -> bool:
        """True if labels have names of their own, in a vocabulary or a file."""
        return self.vocabulary is not None or self.labels is not None

    @cached_property
    def docstrings(self) -> Docstrings:
        """The built-in data set."""
        return collect_docstrings(
            test_fraction=self.settings.test_fraction, seed=self.settings.seed
        )

    @cached_property
    def preview(self) -> Preview:
        """The preview of the training, test and dev files, which says how they are to be read."""
        n_labels = None if self.labels is None else len(read_label_names(self.labels)[0])
        paths = []
        left_out = []
        for role in _LABELLED_ROLES:
            paths += self.paths.get(role, [])
            for location in as_list(self.files.get(role, [])):
                left_out += find_record_files(location, self.format).left_out
        format = FORMATS[self.format]
        reading = make_reading(self.settings, n_labels)
        preview = preview_files(paths, format, reading)
        weight_column = self.settings.weight_column
        if weight_column:
            preview = add_weights(preview, format, weight_column)
        preview = replace(preview, left_out=left_out)
        n_weights = len(reading.texts)
        texts = preview.reading.texts
        if reading.weighted and len(texts) != n_weights:
            columns = ", ".join(repr(name) for name in texts)
            raise InputError(
                f"{n_weights} column_weights for {columns}",
                path=paths[0],
                remedy="set column_weights to one for each column",
            )
        if self.settings.repeated == "join":
            return replace(preview, instances=list(join_repeated(preview.instances)))
        return preview

    def make_corpus_reading(self, labels: Any) -> Reading:
        """Make the reading of records with some labels, with counts of its own.

        Parameters
        ----------
        labels : ovaflow.labels.matrix.Labels
        """
        if self.format == "builtin":
            return Reading([], [])
        return replace(
            self.preview.reading,
            n_labels=labels.n_labels,
            identified=labels.identified,
            counts=Counter(),
        )

    def provenance(self) -> dict[str, Any]:
        """Return the format, the identity of each file, and settings other than defaults."""
        files = {role: _identify(self.files[role], paths) for role, paths in self.paths.items()}
        provenance: dict[str, Any] = {"format": self.format, "files": files}
        if self.format in FORMATS:
            if FORMATS[self.format].has_columns:
                reading = self.preview.reading
                text_column = self._join_changed_names("text_column", reading.texts)
                labels_column = self._join_changed_names("labels_column", reading.labels)
                provenance["text_column"] = text_column
                provenance["labels_column"] = labels_column
            if FORMATS[self.format].has_separator:
                provenance["label_separator"] = self.label_separator
        if holds_texts(self.format):
            settings = self.settings.model_dump(include=set(_DEFAULTS)) | self.preview.settings
            for name, default in _DEFAULTS.items():
                if settings[name] != default:
                    provenance[name] = settings[name]
        elif self.settings.first_label:
            provenance["first_label"] = self.settings.first_label
        return provenance

    @property
    def label_separator(self) -> str:
        """The setting of this name, or what the preview decided."""
        return self.preview.settings.get("label_separator", self.settings.label_separator)

    def _join_changed_names(self, setting: str, names: list[str]) -> Any:
        """Return a setting, or the names of columns if the header has a comma in one of them."""
        chosen = getattr(self.settings, setting)
        if names != split_column_names(chosen):
            return join_column_names(names)
        return chosen


_DEFAULTS = {
    name: field.default
    for name, field in ReadTexts.model_fields.items()
    if name not in ("text_column", "labels_column", "label_separator", "html")
}
"""Defaults of the settings that a data set records only where they differ."""


def make_reading(settings: Any, n_labels: int | None = None, **more: Any) -> Reading:
    """Make the reading of records that settings describe.

    Parameters
    ----------
    settings : PrepareSource
    n_labels : int, optional
        Number of labels, if labels are ids.
    more
        Fields of the :class:`Reading` that the settings do not decide.
    """
    fields: dict[str, Any] = {"texts": ["text"], "labels": ["labels"]}
    if settings.format in FORMATS and FORMATS[settings.format].has_columns:
        fields = _choose_columns(settings)
    if settings.missing != "auto":
        fields["missing"] = tuple(settings.missing)
    for name in _COPIED_SETTINGS:
        fields[name] = getattr(settings, name)
    # the command line has escapes
    fields["separator"] = settings.label_separator.replace("\\n", "\n").replace("\\t", "\t")
    fields["weighted"] = bool(settings.column_weights)
    fields["n_labels"] = n_labels
    return Reading(**fields | more)


def _choose_columns(settings: Any) -> dict[str, Any]:
    """Choose the fields of a reading that name columns of a table."""
    if settings.vector_column:
        texts = [settings.vector_column]
    else:
        texts = split_column_names(settings.text_column)
    column_settings = [*_COLUMN_SETTINGS, *(kind.setting for kind in COLUMN_KINDS)]
    given = [name for name in column_settings if getattr(settings, name)]
    return {
        "texts": texts,
        "vectors": settings.vector_column is not None,
        "labels": split_column_names(settings.labels_column),
        "id_column": settings.id_column,
        "group_column": settings.group_column,
        "feature_columns": make_feature_columns(lambda name: getattr(settings, name)),
        "time_column": settings.split_column,
        "parts": bool(settings.split_column) and settings.split != "last",
        "remedy": f"set {', '.join(given)} and labels_column",
    }


def find_record_files(location: StrPath, format: str) -> PartFiles:
    """Find the files of a path, a pattern or a folder; a folder of Annif's stays one."""
    if format == "annif":
        return PartFiles(find_matching_paths(location), [])
    return find_part_files(location)


def read_file(
    settings: Any, path: StrPath, counts: Counter, known_identifiers: Iterable[str] = ()
) -> Iterator[TextInstance]:
    """Read the instances of a file, or of those of a pattern or a folder, after a preview.

    Parameters
    ----------
    settings : PrepareSource
    path : path
    counts : Counter
        Gets the counts of the :class:`Reading`, see :func:`remark_on_reading`.
    known_identifiers : iterable of str
        Identifiers of labels that are used as names themselves.
    """
    format = FORMATS[settings.format]
    paths = find_record_files(path, settings.format).paths
    reading = make_reading(settings, identified=IdentifiedNames(known_identifiers))
    reading = replace(preview_files(paths, format, reading).reading, counts=counts)
    return _read_files(paths, format, reading)


def _read_files(paths: list[Path], format: Format, reading: Reading) -> Iterator[TextInstance]:
    for path in paths:
        yield from read_kept_instances(format.read, path, reading)


_COLUMN_SETTINGS = (
    "text_column",
    "id_column",
    "group_column",
    "split_column",
    "weight_column",
)
"""Settings that name columns, besides labels_column and those of feature columns."""
_COPIED_SETTINGS = (
    "label_enclosure",
    "label_key",
    "label_threshold",
    "labels_are",
    "not_judged",
    "first_label",
    "encoding",
    "quotes",
    "sheet",
)
"""Settings that are fields of a reading."""


def preview_datasets(config: Any) -> dict[str, Preview]:
    """Preview each data set of texts whose files exist; refuse files that lack a column.

    Parameters
    ----------
    config : ovaflow.settings.configuration.Config

    Returns
    -------
    dict
        Previews by the name of the data set.
    """
    previews = {}
    for name, entry in config.datasets.items():
        if holds_texts(entry.format) and _have_files(entry):
            files: dict[str, Any] = {}
            for role in (*_LABELLED_ROLES, "labels"):
                location = getattr(entry, role)
                if location:
                    files[role] = _make_paths(location)
            source = SourceFiles(make_step_settings("prepare", config, name), **files)
            previews[name] = source.preview
    return previews


def _have_files(entry: Any) -> bool:
    """Tell whether the files of a data set exist, at least as many as it has locations."""
    locations = []
    for role in _LABELLED_ROLES:
        locations += as_list(getattr(entry, role) or [])
    n_existing = 0
    for location in locations:
        paths = glob(location) or [location]
        n_existing += sum(Path(path).exists() for path in paths)
    return n_existing >= len(locations)


def _make_paths(location: str | list[str]) -> Path | list[Path]:
    if isinstance(location, list):
        return [Path(each) for each in location]
    return Path(location)


def _require_file(path: Path) -> None:
    """Refuse a folder, and a file that cannot be opened."""
    if os.path.isdir(path):
        raise InputError(
            "is a directory",
            path=path,
            remedy="give a file",
        )
    with open_stream(path):
        pass


def _identify(location: Path | list[Path], paths: list[Path]) -> dict[str, Any]:
    """Return name, size and hash of a file.

    Of several files, or those of a folder, these are the sum of sizes and the hash of hashes.
    """
    size = 0
    digests = []
    for path in paths:
        for file_path in find_matching_files(path):
            with open_regular(file_path) as file:
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
