"""Datasets of the catalogue and single files: downloaded, unpacked, counted, checksums compared."""

import contextlib
import shutil
import sys
import tarfile
import zipfile
import zlib
from contextlib import contextmanager
from lzma import LZMAError
from pathlib import Path

import numpy as np
import pooch

from ovaflow.console.errors import InputError
from ovaflow.data.catalogue import entry_of
from ovaflow.data.readers.sparse_text import read_header
from ovaflow.data.readers.streams import open_stream
from ovaflow.data.transfer import default_record, enforce_record, fetch_drive, fetch_url, read_record
from ovaflow.storage.writing import explained, write_atomically

_AGAIN = "download it again, or correct the catalogue's entry"
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, LZMAError, EOFError, RuntimeError, NotImplementedError)


def extract(archive, wanted, folder):
    """Take members out of a zip or tar archive (plain, gz, bz2 or xz) into ``folder``, under names of our own.

    ``wanted`` gives for each name the end of the member's path: "train.txt" takes ".../train.txt", whatever the folder
    in the archive is called, and not ".../my_train.txt".
    """
    folder.mkdir(parents=True, exist_ok=True)
    taken = {name: [] for name in wanted}
    try:
        with _members_of(archive) as members:
            for path, open_member in members:
                for name in _names_for(path, wanted):
                    taken[name].append(path)
                    with open_member() as source, open(folder / name, "wb") as target:
                        shutil.copyfileobj(source, target, 1 << 20)
    except _DAMAGED as error:
        raise InputError(f"not a zip or tar archive, or a damaged one ({error})", archive, remedy=_AGAIN) from None
    for name, paths in taken.items():
        if len(paths) != 1:
            found = f"several members that end in {wanted[name]!r}" if paths else f"no member {wanted[name]}"
            raise InputError(f"has {found}", path=archive, remedy=_AGAIN)


@contextmanager
def _members_of(archive):
    """Paths of the files in an archive, in its order, each with a function that opens it."""
    # zipfile.is_zipfile looks at the end, where a tar may hold an .npz
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            yield ((info.name, lambda info=info: tar.extractfile(info)) for info in tar if info.isfile())
    else:
        with zipfile.ZipFile(archive) as file:
            yield ((info.filename, lambda info=info: file.open(info)) for info in file.infolist() if not info.is_dir())


def _names_for(path, wanted):
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    # macOS packs a shadow "._name" of each file
    if parts[:1] == ["__MACOSX"]:
        return []
    return [name for name, end in wanted.items() if parts[-len(end.split("/")) :] == end.split("/")]


def select_instances(data, ids, output):
    """Write the instances of an XMC text file whose 1-based numbers are the first column of ``ids``, in its order."""
    with open_stream(data) as source, open(output, "wb") as target:
        n, d, l = read_header(source, data)  # noqa: E741
        chosen = _instance_numbers(ids, n)
        target.write(b"%d %d %d\n" % (len(chosen), d, l))
        target.writelines(line.rstrip(b"\n") + b"\n" for number, line in enumerate(source, 1) if number in chosen)


def _instance_numbers(ids, n):
    try:
        numbers = np.loadtxt(ids, np.int64, usecols=0, ndmin=1).tolist()
    except ValueError as error:
        raise InputError(f"not a file of instance numbers ({error})", path=ids, remedy=_AGAIN) from None
    chosen = set(numbers)
    if len(chosen) != len(numbers) or not chosen <= set(range(1, n + 1)):
        raise InputError(f"expected different instance numbers from 1 to {n}", path=ids, remedy=_AGAIN)
    return chosen


def join_features_and_labels(features, labels, output):
    """Write one XMC text file out of "feature:value ..." rows (header n d) and "label:1 ..." rows (header n l)."""
    with open_stream(features) as rows, open_stream(labels) as label_rows, open(output, "wb") as target:
        n, d = _two_counts(rows, features)
        n_labelled, l = _two_counts(label_rows, labels)  # noqa: E741
        if n != n_labelled:
            raise InputError(f"{n_labelled} rows of labels for {n} of features", path=labels, remedy=_AGAIN)
        target.write(b"%d %d %d\n" % (n, d, l))
        for row, label_row in zip(rows, label_rows, strict=False):
            target.write(b",".join(_labels_of(label_row, labels)) + b" " + row.strip() + b"\n")


def _two_counts(stream, path):
    words = stream.readline(200).split()
    if len(words) != 2 or not all(word.isdigit() for word in words):
        raise InputError("the first line must hold the numbers of rows and columns", path=path, line=1, remedy=_AGAIN)
    return map(int, words)


def _labels_of(row, path):
    """Labels of a row, without those of value 0."""
    pairs = [pair.partition(b":") for pair in row.split()]
    try:
        return [label for label, _, value in pairs if not value or float(value)]
    except ValueError:
        raise InputError(f"expected label:value, found {row[:40]!r}", path=path, remedy=_AGAIN) from None


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
