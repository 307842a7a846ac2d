"""The files of a dataset out of its archive, and the layouts of public datasets as XMC text."""

import shutil
import tarfile
import zipfile
import zlib
from contextlib import contextmanager
from lzma import LZMAError

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import open_stream
from ovaflow.data.readers.xmc_text import read_header

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
