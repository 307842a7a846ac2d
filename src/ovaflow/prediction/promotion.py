"""The model in use: a link to its folder, next to which each promoted model has its own folder."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import open_any_model
from ovaflow.prediction.model_folder import MODEL_NAME, list_model_files
from ovaflow.prediction.predictions import attach_second_stage
from ovaflow.reranking.reranker_file import FILE_NAME, Reranker

_PARTIAL = ".promoting"


def find_model_in_use(link):
    """The model file to which a link leads; None before the first one is promoted."""
    if not os.path.lexists(link):
        return None
    if not link.is_symlink():
        remedy = f"give the path of a link, such as {link.with_name('current')}"
        if link.is_dir():
            remedy = f"give the path of a link, such as {link / 'current'}"
        if (link / MODEL_NAME).exists():
            other = link.with_name(f"{link.name}-1")
            remedy = f"make it one: mv {link} {other} && ln -s {other.name} {link}"
        raise InputError("not a symbolic link", path=link, remedy=remedy)
    path = link / MODEL_NAME
    if not path.exists():
        message = f"leads to {link.readlink()}, where there is no {MODEL_NAME}"
        remedy = f"let it lead to the folder of a model (ln -sfn FOLDER {link}), or remove it"
        raise InputError(message, path=link, remedy=remedy)
    return path


def read_checksums(model):
    """Checksums of an open model and of the second stage next to it, which may be unused."""
    beside = model.path.with_name(FILE_NAME)
    second = ""
    if beside.exists():
        second = Reranker.open_header(beside).checksum
    return model.checksum, second


@contextlib.contextmanager
def promotion_lock(link):
    """Wait until no other promotion uses a link, and remove what one that was killed has left.

    The folder of the link is made if need be, and goes again if nothing was promoted.
    """
    made, handle = _lock_folder(link.parent)
    try:
        for partial in link.parent.glob(f".{link.name}.*{_PARTIAL}"):
            _remove(partial)
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):
                link.parent.rmdir()
        os.close(handle)


def _lock_folder(folder):
    """Whether a folder had to be made, and a descriptor by which it is locked."""
    made = False
    while True:
        try:
            folder.mkdir(parents=True)
            made = True
        except FileExistsError:
            if folder.is_file() or (folder.is_symlink() and not folder.is_dir()):
                raise
        # whoever made it and promoted nothing may have removed it just now, or while this one waits
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(folder, os.O_RDONLY)
            # network file systems may not lock folders
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_at(handle, folder):
                return made, handle
            os.close(handle)


def _is_at(handle, folder):
    """Whether an open folder is the one that has this path now."""
    try:
        return os.path.samestat(os.fstat(handle), folder.stat())
    except FileNotFoundError:
        return False


def promote(model, link):
    """Copy the files of an open model into a folder, and let the link lead to it; returns the
    folder.
    """
    folder = link.with_name(f"{time.strftime('%Y-%m-%d-%H%M%S')}-{model.checksum[:8]}")
    if folder.exists():
        raise InputError("exists", path=folder, remedy="wait a second, and run the command again")
    with _partial_of(link) as partial:
        _copy_files(model, partial / folder.name)
        copy = attach_second_stage(open_any_model(partial / folder.name / MODEL_NAME))
        if copy.checksum != model.checksum:
            message = "has changed since it was measured"
            raise InputError(message, path=model.path, remedy="run the command again")
        # first, so that whoever finds it here knows that the folder is not in use
        new_link = partial / link.name
        new_link.symlink_to(folder.name)
        (partial / folder.name).rename(folder)
        new_link.replace(link)
    return folder


def discard_folder(folder, link) -> None:
    """Remove a folder beside a link, at once for whoever looks for it."""
    with _partial_of(link) as partial:
        folder.rename(partial / folder.name)


@contextlib.contextmanager
def _partial_of(link):
    """A folder for what is unfinished, which the next promotion removes if this one is killed."""
    partial = Path(tempfile.mkdtemp(prefix=f".{link.name}.", suffix=_PARTIAL, dir=link.parent))
    try:
        yield partial
    finally:
        _remove(partial)


def _copy_files(model, folder) -> None:
    for name, path in list_model_files(model).items():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _remove(partial) -> None:
    """Remove an unfinished promotion, and its folder if no link leads there yet."""
    for link in filter(Path.is_symlink, partial.iterdir()):
        shutil.rmtree(partial.parent / link.readlink(), ignore_errors=True)
    shutil.rmtree(partial)
