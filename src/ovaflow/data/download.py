"""Datasets of the catalogue and single files: downloaded, unpacked, counted, checksums compared."""

import contextlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pooch

from ovaflow.console.errors import InputError
from ovaflow.data.catalogue import entry_of
from ovaflow.data.readers.streams import open_stream
from ovaflow.data.readers.xmc_text import read_header
from ovaflow.data.transfer import default_record, enforce_record, fetch_drive, fetch_url, read_record
from ovaflow.data.unpack import extract, join_features_and_labels, select_instances
from ovaflow.storage.writing import explained, write_atomically

_AGAIN = "download it again, or correct the catalogue's entry"


def download_file(url, path, sha256=None, record=None):
    """Download one file, unless it is there with the checksum that is given or recorded."""
    path, record = Path(path), Path(record or default_record(path))
    expected = sha256.lower() if sha256 else read_record(record).get(path.name)
    if path.exists() and expected and pooch.file_hash(path) == expected:
        return
    with explained(path), _working_in(path.with_name(f".{path.name}.download")) as work:
        fetch_url(url, work / path.name, sha256 and expected)
        enforce_record(record, {path.name: work / path.name})
        _deliver(work / path.name, path)


def download_dataset(name, folder, catalogue=None, record=None):
    """Download a dataset of the catalogue into ``folder``, unless its files are there and match their record.

    The folder then holds the files that :func:`ovaflow.data.catalogue.files_of` names. Sources are tried in order;
    an archive that a person has put at ``FOLDER/NAME.archive`` goes first.
    """
    entry, folder = entry_of(name, catalogue), Path(folder)
    record = Path(record or default_record(folder))
    if _is_there(entry, folder, record):
        return
    by_hand, refusals = folder / f"{name}.archive", []
    with explained(folder / name), _working_in(folder / ".download") as work:
        for number, source in enumerate(entry.sources * (1 + by_hand.exists())):
            given = number < len(entry.sources) and by_hand.exists()
            archive = by_hand if given else work / f"{name}.{number}"
            try:
                _fetch(source, archive, name)
                _unpack(entry, source, archive, folder, record)
                return
            except InputError as refusal:
                origin = f"source {number % len(entry.sources) + 1}"
                refusals.append(f"{f'{by_hand} read as {origin}' if given else origin}: {refusal}")
                print(f"{name}: {refusals[-1]}", file=sys.stderr)
    remedy = f"download {entry.sources[0].page} by hand, put the archive at {by_hand} and run again"
    raise InputError(f"no source gave it ({'; '.join(refusals)})", path=name, remedy=remedy)


@contextlib.contextmanager
def _working_in(folder):
    """A folder for what is not finished; what a kill left there is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _deliver(finished, path):
    with write_atomically(path) as temporary:
        finished.replace(temporary)


def _is_there(entry, folder, record):
    recorded = read_record(record)
    paths = [folder / file for file in entry.files.values()]
    return all(path.exists() and pooch.file_hash(path) == recorded.get(path.name) for path in paths)


def _fetch(source, archive, title):
    if archive.exists():
        if source.sha256 and (found := pooch.file_hash(archive)) != source.sha256:
            raise InputError(f"its sha256 is {found} and must be {source.sha256}", path=archive, remedy=_AGAIN)
    elif source.url:
        fetch_url(source.url, archive, source.sha256, title)
    else:
        fetch_drive(source.drive, archive, source.resourcekey, source.sha256, title)


def _unpack(entry, source, archive, folder, record):
    place = folder / ".download" / "unpacked"
    made = {role: place / file for role, file in entry.files.items()}
    extract(archive, source.members, place)
    if source.layout == "split":
        for role in ("train", "test"):
            select_instances(place / "data", place / role, made[role])
    elif source.layout == "pairs" and entry.format == "xmc-text":
        for role in ("train", "test"):
            join_features_and_labels(place / role, place / f"{role}_labels", made[role])
    else:
        for role, path in made.items():
            (place / role).replace(path)
    for role in ("train", "test"):
        _compare_counts(entry, made, role)
    enforce_record(record, {path.name: path for path in made.values()})
    for path in made.values():
        _deliver(path, folder / path.name)


def _compare_counts(entry, made, role):
    expected = {"n": getattr(entry.counts, role), "d": entry.counts.features, "l": entry.counts.labels}
    found = dict(zip("ndl", _sizes(entry, made, role), strict=True))
    wrong = [name for name in "ndl" if expected[name] not in (None, found[name])]
    if wrong:
        listed = ", ".join(f"{name} = {found[name]:,} and not {expected[name]:,}" for name in wrong)
        raise InputError(f"{role} has {listed} as the catalogue says", remedy=_AGAIN)


def _sizes(entry, made, role):
    """n, d and l."""
    if entry.format == "npz":
        return *_shape(made[role]), _shape(made[f"{role}_labels"])[1]
    with open_stream(made[role]) as stream:
        return read_header(stream, made[role].name)


def _shape(path):
    try:
        with np.load(path, allow_pickle=False) as arrays:
            n, d = arrays["shape"].tolist()
    except (KeyError, ValueError, EOFError) as error:
        raise InputError(f"not a sparse matrix of SciPy ({error})", path=path.name, remedy=_AGAIN) from None
    return n, d
