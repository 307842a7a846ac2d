"""Damage to files, and places in them."""

import os

import h5py


def flip_bit(path, offset, bit=0) -> None:
    """Flip one bit of a file that no process has mapped; its times stay, as when a disk fails."""
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(offset)
        [byte] = file.read(1)
        file.seek(offset)
        file.write(bytes([byte ^ 1 << bit]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def find_array_offset(path, name) -> int:
    """Find the offset of an array in an HDF5 file, in bytes."""
    with h5py.File(path) as file:
        return file[name].id.get_offset()
