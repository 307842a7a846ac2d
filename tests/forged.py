"""Artifacts as a stranger could write them: any content, with checksums that fit."""

import json
import os

import numpy as np
from xxhash import xxh3_128

from ovaflow.storage.container import PAGE, header_of


class Forgery:
    """An artifact taken apart; what is changed is written with checksums that fit.

    Parameters
    ----------
    path : path-like

    Attributes
    ----------
    table : dict
        The table of contents, its ``arrays`` apart.
    arrays : dict of str to ndarray
    places : dict of str to int
        First byte of each array.
    entries : dict of str to dict
        What the table shall say of an array instead of the truth: ``dtype``,
        ``shape``, ``offset`` or ``checksum``.
    """

    def __init__(self, path):
        content = open(path, "rb").read()  # noqa: SIM115
        start, length = map(int, content[:PAGE].split(b"\n")[1].split()[1:])
        self.table = json.loads(content[start : start + length])
        del self.table["rest"]
        self.arrays, self.places, self.entries = {}, {}, {}
        for name, (dtype, shape, offset, _) in self.table.pop("arrays").items():
            self.places[name] = offset
            count = int(np.prod(shape))
            self.arrays[name] = np.frombuffer(content, dtype, count, offset if count else 0).reshape(shape).copy()

    def write(self, path, text=None):
        """Write it, under another name, so that nothing mapped changes.

        Parameters
        ----------
        path : path-like
        text : bytes, optional
            In place of the table of contents.
        """
        content, entries = bytearray(PAGE), {}
        for name, array in self.arrays.items():
            content += bytes(-len(content) % 64)
            raw = np.ascontiguousarray(array).tobytes()
            said = {"dtype": array.dtype.str, "shape": list(array.shape), "offset": len(content),
                    "checksum": xxh3_128(raw).hexdigest()}  # fmt: skip
            entries[name] = list((said | self.entries.get(name, {})).values())
            content += raw
        if text is None:
            rest = {} if "rest" in self.table else {"rest": _rest(content, entries)}
            text = json.dumps(rest | self.table | {"arrays": entries}).encode()
        content[:PAGE] = header_of(len(content), len(text), xxh3_128(text).hexdigest())
        partial = f"{path}.forged"
        with open(partial, "wb") as file:
            file.write(content + text)
        os.replace(partial, path)


def _rest(content, entries):
    digest, end = xxh3_128(), PAGE
    for dtype, shape, offset, _ in entries.values():
        size = np.dtype(dtype).itemsize * int(np.prod(shape))
        if size:
            digest.update(content[end:offset])
            end = offset + size
    digest.update(content[end:])
    return digest.hexdigest()


def flip(path, place, bit=0):
    """Flip one bit of a file, of which nobody else holds a mapping; its times stay, as when a disk errs.

    Parameters
    ----------
    path : path-like
    place : int
        Of the byte.
    bit : int
    """
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(place)
        (byte,) = file.read(1)
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
