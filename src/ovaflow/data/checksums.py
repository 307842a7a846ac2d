"""Checksums of downloaded files: recorded at the first download, enforced afterwards.

A record is a text file as ``sha256sum`` writes it, one for each download and
beside its folder: jobs that run at once never write the same record, deleting
the data does not delete it, and it can be committed.
"""

import hashlib
import re
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.storage.artifact import write_text

_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def sha256_of(path):
    """SHA-256 of a file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_record(record):
    """Checksums of a record.

    Parameters
    ----------
    record : path-like

    Returns
    -------
    dict of str to str
        By file name; empty when there is no record yet.

    Raises
    ------
    InputError
        If a line is not of the form that ``sha256sum`` writes.
    """
    record = Path(record)
    if not record.exists():
        return {}
    found = {}
    for number, line in enumerate(record.read_text(encoding="utf-8").splitlines(), 1):
        match = _LINE.fullmatch(line)
        if not match:
            raise InputError("not a line of sha256sum", path=record, line=number, remedy="delete the record")
        found[match[2]] = match[1]
    return found


def enforce_record(record, files):
    """Compare files with their record; make the record when there is none.

    Parameters
    ----------
    record : path-like
    files : dict of str to path-like
        The file recorded under each name.

    Raises
    ------
    InputError
        If a file has another checksum than the recorded one.
    """
    recorded = read_record(record)
    found = {name: sha256_of(path) for name, path in files.items()}
    for name, digest in found.items():
        if recorded.get(name, digest) != digest:
            raise InputError(
                f"{name} has the sha256 {digest}, recorded is {recorded[name]}",
                path=record,
                remedy="if the publisher has changed the data on purpose, delete this record and download again",
            )
    if not found.keys() <= recorded.keys():
        together = recorded | found
        write_text(record, "".join(f"{digest}  {name}\n" for name, digest in together.items()))
