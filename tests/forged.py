"""Artifacts with other content, whose checksums fit, and damaged ones."""

import json
import os

import h5py

from ovaflow.storage.arrays import create_array
from ovaflow.storage.artifact import create_artifact

_OWN = {"kind", "format_version", "ovaflow_version", "parameters", "inputs", "checksum", "xxh3"}


class Forgery:
    """An artifact taken apart, to be changed and written with checksums that fit."""

    def __init__(self, path):
        with h5py.File(path) as file:
            about = {name: file.attrs[name].decode() for name in ("kind", "parameters", "inputs")}
            self.kind, self.parameters, self.inputs = about["kind"], *map(json.loads, list(about.values())[1:])
            self.attributes, self.arrays = {"": _attributes(file)}, {}
            file.visititems(self._add)

    def _add(self, name, item):
        if isinstance(item, h5py.Dataset):
            self.arrays[name] = item[()]
        else:
            self.attributes[name] = _attributes(item)

    def write(self, path):
        """Write it, under another name first, so that nothing mapped changes."""
        with create_artifact(path, self.kind, self.parameters, self.inputs) as file:
            for name, attributes in self.attributes.items():
                (file.require_group(name) if name else file).attrs.update(attributes)
            for name, array in self.arrays.items():
                create_array(file, name, array, infinite=True)


def _attributes(item):
    return {name: value for name, value in item.attrs.items() if name not in _OWN}


def flip(path, place, bit=0):
    """Flip one bit of a file, of which nobody else holds a mapping; its times stay, as when a disk errs."""
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def offset_of(path, name):
    """First byte of an array in a file."""
    with h5py.File(path) as file:
        return file[name].id.get_offset()
