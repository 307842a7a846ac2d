"""What a step writes, declared once: a frozen dataclass whose fields are what its file stores.

Numbers become attributes; arrays, matrices, and named tuples, lists of these, or dictionaries
become datasets and groups, in the order of the fields. What is None or empty is left out where the
field has a default.
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
"""Metadata of a named tuple or dictionary that is stored beside the other fields."""

NOT_STORED = {"not_stored": True}
"""Metadata of a field that is no part of the file."""

MayBeInfinite = Annotated[np.ndarray, "may be infinite"]
"""An array in which infinity means something."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """What is stored in a file of a kind, and what the file says of itself; arrays of an open one
    are mapped.
    """

    path: Path | None = field(default=None, metadata=NOT_STORED)
    parameters: dict[str, Any] = field(
        default_factory=dict, metadata=NOT_STORED
    )  # settings that made it
    # checksums of what it was made from, by kind
    inputs: dict[str, str] = field(default_factory=dict, metadata=NOT_STORED)
    checksum: str = field(default="", metadata=NOT_STORED)  # of its file

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
        """Say what files of the class are, the kinds that they are made from, and what to do about
        a stale one.
        """
        super().__init_subclass__(**options)
        if kind is not None:
            cls.kind = kind
            cls.made_from = made_from
            cls.remedy = remedy

    def write(self, path: StrPath, **made_from: Any) -> None:
        """Write the file, whole or not at all; by their kinds, the other artifacts that it was made
        from.
        """
        inputs = {kind: other.checksum for kind, other in made_from.items()}
        with create_artifact(path, self.kind, self.parameters, self.inputs | inputs) as file:
            self.store(file)

    def store(self, file: h5py.File) -> None:
        """Store the fields in a new file."""
        store_fields(file, self)

    @classmethod
    def open(cls, path: StrPath, **made_from: Any) -> Self:
        """Open a file, made from these other artifacts, by their kinds; None: from any."""
        with open_artifact(path, cls.kind) as file:
            opened = cls(**cls.read_fields(file), **read_header(file))
        opened.require(**made_from)
        return opened

    @classmethod
    def read_fields(cls, file: h5py.File) -> dict[str, Any]:
        """What an open file stores, as arguments of the class."""
        return load_fields(file, cls)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(_bytes_of(getattr(self, each.name)) for each in fields(self))

    def require(self, **made_from: Any) -> None:
        """Refuse it unless it was made from these other artifacts, by their kinds; None: from any."""
        for kind, other in made_from.items():
            if other is not None and self.inputs.get(kind) != other.checksum:
                raise stale_error(
                    self.kind, self.path, f"made from another {kind} than {other.path}", self.remedy
                )


def _bytes_of(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return sum(map(_bytes_of, parts))


def read_header(file: h5py.File) -> dict[str, Any]:
    """What an open file says of itself, as arguments of :class:`Artifact`."""
    return {
        "path": Path(file.filename),
        "parameters": read_parameters(file),
        "inputs": read_inputs(file),
        "checksum": read_checksum(file),
    }


class _Stored(NamedTuple):
    """A field of a dataclass or of a named tuple."""

    name: str
    hint: Any
    has_default: bool
    at_root: bool = False


@cache
def _stored(of: Any) -> list[_Stored]:
    """Fields that are stored, those of a class itself before those of its bases."""
    hints = get_type_hints(of, include_extras=True)
    if issubclass(of, tuple):
        return [_Stored(name, hint, name in of._field_defaults) for name, hint in hints.items()]
    stored = [each for each in fields(of) if not each.metadata.get("not_stored")]
    places = [name for each in of.__mro__ for name in get_annotations(each)]
    stored.sort(key=lambda each: places.index(each.name))
    return [
        _Stored(
            each.name, hints[each.name], _has_default(each), each.metadata.get("at_root", False)
        )
        for each in stored
    ]


def _has_default(each: Field) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


def store_fields(group: h5py.Group, values: Any) -> None:
    """Store the fields of a dataclass or a named tuple in their order."""
    for each in _stored(values.__class__):
        _store(group, each, getattr(values, each.name))


def _store(group: h5py.Group, each: _Stored, value: Any) -> None:
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
    return value is None or (isinstance(value, dict) and not value)


def stored_names(of: type) -> list[str]:
    """Names of all that a group must have of a class."""
    names = []
    for each in _stored(of):
        if each.at_root:
            names += stored_names(each.hint)
        elif not each.has_default:
            names.append(each.name)
    return names


def load_fields(group: h5py.Group, of: type) -> dict[str, Any]:
    """Fields of a class by their names, without those that were left out."""
    return {each.name: _load(group, each) for each in _stored(of) if not _is_left_out(group, each)}


def _is_left_out(group: h5py.Group, each: _Stored) -> bool:
    return each.has_default and not (each.at_root or each.name in group or each.name in group.attrs)


def _load(group: h5py.Group, each: _Stored) -> Any:
    name = "/" if each.at_root else each.name
    hint = each.hint
    if isinstance(hint, UnionType):
        hint = get_args(hint)[0]
    if hint in (np.ndarray, MayBeInfinite):
        return map_array(group[name])
    if hint is CSR:
        return read_csr(group[name])
    if hint is dict:
        arrays = {
            key: values for key, values in group[name].items() if isinstance(values, h5py.Dataset)
        }
        # HDF5 lists them by their names
        as_written = sorted(arrays, key=lambda key: h5py.h5o.get_info(arrays[key].id).addr)
        return {key: map_array(arrays[key]) for key in as_written}
    if get_origin(hint) is list:
        part = get_args(hint)[0]
        return [part(**load_fields(each, part)) for each in group[name].values()]
    if issubclass(hint, tuple):
        return hint(**load_fields(group[name], hint))
    return hint(group.attrs[name])
