"""Datasets of the catalogue and single files: fetched, unpacked, counted, checksummed."""

import contextlib
import hashlib
import shutil
import sys
from pathlib import Path

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.archive import extract
from ovaflow.data.catalogue import entry_of
from ovaflow.data.checksums import enforce_record, read_record, sha256_of
from ovaflow.data.layouts import join_features_and_labels, read_header, split_instances
from ovaflow.data.transfer import exclusively, fetch_drive, fetch_url, shown
from ovaflow.storage.artifact import write_atomically
from ovaflow.storage.writing import explained

_WORK = ".download"


def default_record(output):
    """Where the checksums of a download are recorded: beside its folder or file.

    Parameters
    ----------
    output : path-like

    Returns
    -------
    pathlib.Path
        Such as ``downloads/eurlex-4k.sha256`` for ``downloads/eurlex-4k``.
    """
    output = Path(output)
    return output.with_name(f"{output.name}.sha256")


def download_file(url, path, sha256=None, record=None):
    """Download one file.

    Nothing is sent when the file is there and matches its checksum.

    Parameters
    ----------
    url : str
        http or https.
    path : path-like
    sha256 : str, optional
        What its checksum must be; otherwise it is recorded at the first
        download and enforced afterwards.
    record : path-like, optional
        :func:`default_record` by default.

    Raises
    ------
    InputError
        If the download fails, or the checksum is another one.
    """
    path, record = Path(path), Path(record or default_record(path))
    expected = sha256.lower() if sha256 else read_record(record).get(path.name)
    if path.exists() and expected and sha256_of(path) == expected:
        return
    waiting = path.with_name(f".{path.name}.{_key(url)}")
    with explained(path), exclusively(f"{waiting}.lock"):
        if not waiting.exists():
            fetch_url(url, waiting, path.name)
        with _useless_ones_deleted(waiting):
            if sha256:
                _compare(waiting, sha256.lower(), shown(url))
            enforce_record(record, {path.name: waiting})
        _deliver(waiting, path)
        Path(f"{waiting}.lock").unlink()


def _key(address):
    """Short name for what stands at an address, so that no run goes on with another one's bytes."""
    return hashlib.sha256(address.encode()).hexdigest()[:12]


def _deliver(finished, path):
    with write_atomically(path) as temporary:
        Path(finished).replace(temporary)


@contextlib.contextmanager
def _useless_ones_deleted(path):
    """An interruption leaves the file for the next run, a refusal does not."""
    try:
        yield
    except InputError:
        path.unlink()
        raise


def _compare(path, expected, origin):
    found = sha256_of(path)
    if found != expected:
        raise InputError(f"{origin}: sha256 is {found} and must be {expected}")


def download_dataset(name, folder, catalogue=None, record=None):
    """Download a dataset of the catalogue and unpack it.

    The folder then holds the files that
    :func:`ovaflow.data.catalogue.files_of` names. Sources are tried in order;
    an archive that a person has put at ``FOLDER/NAME.archive`` goes first.
    Nothing is sent when the files are there and match their record. What an
    interrupted download has got stays in ``FOLDER/.download``.

    Parameters
    ----------
    name : str
    folder : path-like
    catalogue : path-like, optional
        The one that comes with ovaflow by default.
    record : path-like, optional
        :func:`default_record` by default.

    Raises
    ------
    InputError
        If no source gives the dataset: what each answered, and what to do.
    """
    entry = entry_of(name, catalogue)
    folder = Path(folder)
    record = Path(record or default_record(folder))
    if _is_there(entry, folder, record):
        return
    with explained(folder / name), exclusively(folder / _WORK / "lock"):
        refusals = []
        for origin, source, archive in _offers(entry, name, folder):
            try:
                _obtain(entry, name, source, archive, folder, record)
                shutil.rmtree(folder / _WORK)
                return
            except InputError as refusal:
                refusals.append(f"{origin}: {refusal}")
                print(f"{name}: {refusals[-1]}", file=sys.stderr)
    raise InputError(f"no source gave it ({'; '.join(refusals)})", path=name, remedy=_by_hand(entry, name, folder))


def _by_hand(entry, name, folder):
    return f"download {entry.sources[0].page} by hand, put the archive at {_put_by_hand(name, folder)} and run again"


def _put_by_hand(name, folder):
    return folder / f"{name}.archive"


def _is_there(entry, folder, record):
    recorded = read_record(record)
    paths = {file: folder / file for file in entry.files.values()}
    return all(file in recorded and path.exists() and sha256_of(path) == recorded[file] for file, path in paths.items())


def _offers(entry, name, folder):
    """What to try, in order: how it is called, the source, where its archive is or will be."""
    given = _put_by_hand(name, folder)
    if given.exists():
        for number, source in enumerate(entry.sources, 1):
            yield f"{given} read as source {number}", source, given
    for number, source in enumerate(entry.sources, 1):
        yield f"source {number}", source, folder / _WORK / _key(source.page)


def _obtain(entry, name, source, archive, folder, record):
    fetched = archive.parent.name == _WORK
    if not archive.exists():
        _fetch(source, archive, name)
    with _useless_ones_deleted(archive) if fetched else contextlib.nullcontext():
        if source.sha256:
            _compare(archive, source.sha256, source.page)
        place = folder / _WORK / "unpacked"
        shutil.rmtree(place, ignore_errors=True)
        made = _unpacked(entry, source, archive, place, name)
        _compare_counts(entry, made)
        enforce_record(record, {path.name: path for path in made.values()})
    for path in made.values():
        _deliver(path, folder / path.name)


def _fetch(source, archive, name):
    if source.url:
        fetch_url(source.url, archive, name)
    else:
        fetch_drive(source.drive, archive, source.resourcekey, name)


def _unpacked(entry, source, archive, place, title):
    """Unpack and bring into the format's files; returns their paths by role."""
    raw, made = place / "raw", {role: place / file for role, file in entry.files.items()}
    extract(archive, source.members, raw, title)
    if source.layout == "split":
        split_instances(raw / "data", raw / "train", raw / "test", made["train"], made["test"])
    elif source.layout == "pairs" and entry.format == "xmc-text":
        for role in ("train", "test"):
            join_features_and_labels(raw / role, raw / f"{role}_labels", made[role])
    else:
        for role, path in made.items():
            (raw / role).replace(path)
    return made


def _compare_counts(entry, made):
    for role in ("train", "test"):
        expected = {"n": getattr(entry.counts, role), "d": entry.counts.features, "l": entry.counts.labels}
        found = dict(zip("ndl", _sizes(entry, made, role), strict=True))
        wrong = [name for name in "ndl" if expected[name] not in (None, found[name])]
        if wrong:
            listed = ", ".join(f"{name} = {found[name]:,} and not {expected[name]:,}" for name in wrong)
            raise InputError(
                f"{role} has {listed} as the catalogue says", remedy="get the file again, or mend the catalogue's entry"
            )


def _sizes(entry, made, role):
    if entry.format == "npz":
        n, d = _shape(made[role])
        return n, d, _shape(made[f"{role}_labels"])[1]
    header = read_header(made[role])
    if len(header) != 3:
        raise InputError("the header must be n d l", path=made[role].name, line=1)
    return header


def _shape(path):
    try:
        with np.load(path, allow_pickle=False) as arrays:
            n, d = (int(size) for size in arrays["shape"])
    except (KeyError, ValueError, EOFError) as error:
        raise InputError(
            f"no sparse matrix of SciPy ({error})",
            path=path.name,
            remedy="get the file again, or mend the catalogue's entry",
        ) from None
    return n, d
