"""The model in use: a link to its folder, next to the folders of all promoted models."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import Model, open_any_model
from ovaflow.prediction.model_folder import MODEL_NAME, list_model_files
from ovaflow.prediction.predictions import attach_second_stage
from ovaflow.reranking.reranker_file import FILE_NAME, Reranker

_UNFINISHED_SUFFIX = ".promoting"
"""Ending of the names of folders of unfinished promotions."""


def find_model_in_use(link: Path) -> Path | None:
    """Find the model file to which a link leads; None before the first one is promoted.

    Raises
    ------
    InputError
        If the path is not a link, or leads to no model.
    """
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


def read_checksums(model: Model) -> tuple[str, str]:
    """Read the checksums of an open model and of the second stage next to it, or else ``""``.

    The second stage may be unused.
    """
    second_stage = model.path.with_name(FILE_NAME)
    if not second_stage.exists():
        return model.checksum, ""
    return model.checksum, Reranker.open_header(second_stage).checksum


@contextlib.contextmanager
def promotion_lock(link: Path) -> Iterator[None]:
    """Wait until no other promotion uses a link, and remove what a killed promotion left.

    The folder of the link is made if necessary, and removed again if nothing was promoted.
    """
    made, handle = _lock_folder(link.parent)
    try:
        for unfinished in link.parent.glob(f".{link.name}.*{_UNFINISHED_SUFFIX}"):
            _remove(unfinished)
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):
                link.parent.rmdir()
        os.close(handle)


def _lock_folder(folder: Path) -> tuple[bool, int]:
    """Lock a folder, which is made if necessary.

    Returns
    -------
    made : bool
        Whether the folder was made.
    handle : int
        Descriptor of the locked folder.
    """
    made = False
    while True:
        try:
            folder.mkdir(parents=True)
            made = True
        except FileExistsError:
            if folder.is_file() or (folder.is_symlink() and not folder.is_dir()):
                raise
        # another promotion that made the folder and promoted nothing may remove it at any time
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(folder, os.O_RDONLY)
            # network file systems may not lock folders
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_open_folder(handle, folder):
                return made, handle
            os.close(handle)


def _is_open_folder(handle: int, folder: Path) -> bool:
    """Return True if an open folder still has this path."""
    try:
        return os.path.samestat(os.fstat(handle), folder.stat())
    except FileNotFoundError:
        return False


def promote(model: Model, link: Path) -> Path:
    """Copy the files of an open model into a new folder, and let the link lead to it.

    Returns
    -------
    Path
        The new folder.

    Raises
    ------
    InputError
        If the folder exists, or the model has changed since it was opened.
    """
    folder = link.with_name(f"{time.strftime('%Y-%m-%d-%H%M%S')}-{model.checksum[:8]}")
    if folder.exists():
        raise InputError("exists", path=folder, remedy="wait a second, and run the command again")
    with _make_temporary_folder(link) as temporary:
        _copy_files(model, temporary / folder.name)
        copy = attach_second_stage(open_any_model(temporary / folder.name / MODEL_NAME))
        if copy.checksum != model.checksum:
            message = "has changed since it was measured"
            raise InputError(message, path=model.path, remedy="run the command again")
        # the new link is made first: a later promotion that finds it in the temporary folder of a
        # killed one knows that the folder is not in use
        new_link = temporary / link.name
        new_link.symlink_to(folder.name)
        (temporary / folder.name).rename(folder)
        new_link.replace(link)
    return folder


def discard_folder(folder: Path, link: Path) -> None:
    """Remove a folder next to a link; readers see all of it or nothing."""
    with _make_temporary_folder(link) as temporary:
        folder.rename(temporary / folder.name)


@contextlib.contextmanager
def _make_temporary_folder(link: Path) -> Iterator[Path]:
    """Make a folder for unfinished work, which the next promotion removes if this one is killed."""
    temporary = Path(
        tempfile.mkdtemp(prefix=f".{link.name}.", suffix=_UNFINISHED_SUFFIX, dir=link.parent)
    )
    try:
        yield temporary
    finally:
        _remove(temporary)


def _copy_files(model: Model, folder: Path) -> None:
    for name, path in list_model_files(model).items():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _remove(temporary: Path) -> None:
    """Remove an unfinished promotion, and its folder if no link leads there yet."""
    for path in temporary.iterdir():
        if path.is_symlink():
            shutil.rmtree(temporary.parent / path.readlink(), ignore_errors=True)
    shutil.rmtree(temporary)
