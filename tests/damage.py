import os

import h5py


def flip_bit(path, place, bit=0) -> None:
    """Flip one bit of a file, of which nobody else holds a mapping; its times stay, as when a disk
    errs.
    """
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def find_array_offset(path, name):
    with h5py.File(path) as file:
        return file[name].id.get_offset()
