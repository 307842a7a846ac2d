"""Artifacts as frozen dataclasses: the fields of a class declare the content of its files.

Numbers become attributes; arrays, matrices, and named tuples, lists of these, or dictionaries
become datasets and groups, in the order of the fields. A value that is None or empty is left out
where the field has a default.
"""

from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from inspect import get_annotations
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, NamedTuple, Self, get_args, get_origin, get_type_hints

import h5py
import numpy as np

from ovaflow.console.errors import StrPath
from ovaflow.sparse.csr import CSR
from ovaflow.storage.arrays import create_array, map_array, read_csr, write_csr
from ovaflow.storage.errors import stale_error
from ovaflow.storage.hdf5 import (
    create_artifact,
    open_artifact,
    read_checksum,
    read_inputs,
    read_parameters,
)

AT_ROOT = {"at_root": True}
"""Metadata of a named tuple or dictionary that is stored next to the other fields."""

NOT_STORED = {"not_stored": True}
"""Metadata of a field that is not written to the file."""

MayBeInfinite = Annotated[np.ndarray, "may be infinite"]
"""Type of an array whose infinite values have a meaning."""


def stored_as(name: str) -> dict[str, str]:
    """Make the metadata of a field that has another name in files."""
    return {"stored_as": name}


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """The content of a file of one kind, with the file's own header.

    Arrays of an opened artifact are mapped.

    Attributes
    ----------
    path : Path or None
        The file.
    parameters : dict
        Settings that made the artifact.
    inputs : dict
        Checksums of the artifacts that it was made from, by kind.
    checksum : str
        Checksum of the file.
    """

    # none until it is written or opened
    path: Path = field(default=None, metadata=NOT_STORED)  # type: ignore[assignment]
    parameters: dict[str, Any] = field(default_factory=dict, metadata=NOT_STORED)
    inputs: dict[str, str] = field(default_factory=dict, metadata=NOT_STORED)
    checksum: str = field(default="", metadata=NOT_STORED)

    kind: ClassVar[str]
    made_from: ClassVar[tuple[str, ...]] = ()
    remedy: ClassVar[str | None] = None

    def __init_subclass__(
        cls,
        kind: str | None = None,
        made_from: tuple[str, ...] = (),
        remedy: str | None = None,
        **options: Any,
    ) -> None:
        """Declare the kind of a class's files, the kinds that they are made from, and the remedy
        for a stale file.
        """
        super().__init_subclass__(**options)
        if kind is not None:
            cls.kind = kind
            cls.made_from = made_from
            cls.remedy = remedy

    def write(self, path: StrPath, **made_from: Any) -> None:
        """Write the file, completely or not at all.

        ``made_from`` are the artifacts that it was made from, by their kinds.
        """
        inputs = {kind: other.checksum for kind, other in made_from.items()}
        with create_artifact(path, self.kind, self.parameters, self.inputs | inputs) as file:
            self.store(file)

    def store(self, file: h5py.File) -> None:
        """Store the fields in a new file."""
        store_fields(file, self)

    @classmethod
    def open(cls, path: StrPath, **made_from: Any) -> Self:
        """Open a file; ``made_from`` as in :meth:`require`."""
        with open_artifact(path, cls.kind) as file:
            opened = cls(**cls.read_fields(file), **read_header(file))
        opened.require(**made_from)
        return opened

    @classmethod
    def read_fields(cls, file: h5py.File) -> dict[str, Any]:
        """Read the fields of an open file, as arguments of the class."""
        return load_fields(file, cls)

    @property
    def nbytes(self) -> int:
        """Size of its arrays in bytes."""
        return sum(_count_bytes(getattr(self, each.name)) for each in fields(self))

    def require(self, **made_from: Any) -> None:
        """Refuse an artifact that was made from others than these.

        ``made_from`` has artifacts by their kinds; None allows any artifact of the kind.
        """
        for kind, other in made_from.items():
            if other is not None and self.inputs.get(kind) != other.checksum:
                message = f"made from another {kind} than {other.path}"
                raise stale_error(self.kind, self.path, message, self.remedy)


def _count_bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        return sum(_count_bytes(part) for part in value.values())
    if isinstance(value, tuple):
        return sum(_count_bytes(part) for part in value)
    return 0


def read_header(file: h5py.File) -> dict[str, Any]:
    """Read the header of an open file, as arguments of :class:`Artifact`."""
    return {
        "path": Path(file.filename),
        "parameters": read_parameters(file),
        "inputs": read_inputs(file),
        "checksum": read_checksum(file),
    }


class _StoredField(NamedTuple):
    """A field of a dataclass or of a named tuple, as it is stored."""

    name: str  # in the file
    attribute: str  # name in the class
    hint: Any
    has_default: bool
    at_root: bool = False


@cache
def _list_stored_fields(cls: Any) -> list[_StoredField]:
    """List the fields that are stored, those of a class itself before those of its bases."""
    hints = get_type_hints(cls, include_extras=True)
    if issubclass(cls, tuple):
        return [
            _StoredField(name, name, hint, name in cls._field_defaults)
            for name, hint in hints.items()
        ]
    names: list[str] = []
    for base in cls.__mro__:
        names += get_annotations(base)
    stored = [each for each in fields(cls) if not each.metadata.get("not_stored")]
    stored.sort(key=lambda each: names.index(each.name))
    return [
        _StoredField(
            name=each.metadata.get("stored_as", each.name),
            attribute=each.name,
            hint=hints[each.name],
            has_default=_has_default(each),
            at_root=each.metadata.get("at_root", False),
        )
        for each in stored
    ]


def _has_default(each: Field) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


def store_fields(group: h5py.Group, values: Any) -> None:
    """Store the fields of a dataclass or a named tuple in their order."""
    for each in _list_stored_fields(values.__class__):
        _store(group, each, getattr(values, each.attribute))


def _store(group: h5py.Group, each: _StoredField, value: Any) -> None:
    name = "/" if each.at_root else each.name
    if each.has_default and _is_empty(value):
        return
    match value:
        case np.ndarray():
            create_array(group, name, value, infinite=get_origin(each.hint) is Annotated)
        case CSR():
            write_csr(group.create_group(name), value)
        case tuple():
            store_fields(group.require_group(name), value)
        case list():
            parts = group.create_group(name)
            for number, part in enumerate(value):
                store_fields(parts.create_group(f"{number:06d}"), part)
        case dict():
            for key, array in value.items():
                create_array(group, f"{name}/{key}", array)
        case _:
            group.attrs[name] = value


def _is_empty(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return not value.size
    if isinstance(value, dict):
        return not value
    return value is None


def stored_names(cls: type) -> list[str]:
    """List the names that a group must have to store a class."""
    names = []
    for each in _list_stored_fields(cls):
        if each.at_root:
            names += stored_names(each.hint)
        elif not each.has_default:
            names.append(each.name)
    return names


def load_fields(group: h5py.Group, cls: type) -> dict[str, Any]:
    """Load the fields of a class by their names, without those that were left out."""
    loaded = {}
    for each in _list_stored_fields(cls):
        if not _is_left_out(group, each):
            loaded[each.attribute] = _load(group, each)
    return loaded


def _is_left_out(group: h5py.Group, each: _StoredField) -> bool:
    return each.has_default and not (each.at_root or each.name in group or each.name in group.attrs)


def _load(group: h5py.Group, each: _StoredField) -> Any:
    name = "/" if each.at_root else each.name
    hint = each.hint
    if isinstance(hint, UnionType):
        hint = get_args(hint)[0]
    if hint in (np.ndarray, MayBeInfinite):
        return map_array(group[name])
    if hint is CSR:
        return read_csr(group[name])
    if hint is dict:
        return _load_arrays(group[name])
    if get_origin(hint) is list:
        part_class = get_args(hint)[0]
        return [part_class(**load_fields(part, part_class)) for part in group[name].values()]
    if issubclass(hint, tuple):
        return hint(**load_fields(group[name], hint))
    return hint(group.attrs[name])


def _load_arrays(group: h5py.Group) -> dict[str, np.ndarray]:
    """Map the arrays of a group in the order in which they were written."""
    arrays = {}
    for name, values in group.items():
        if isinstance(values, h5py.Dataset):
            arrays[name] = values
    # HDF5 lists them by their names
    as_written = sorted(arrays, key=lambda name: h5py.h5o.get_info(arrays[name].id).addr)
    return {name: map_array(arrays[name]) for name in as_written}
