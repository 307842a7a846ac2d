"""Folders of models that were promoted earlier, beside the link to the one in use."""

import os
import re

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import ModelFile
from ovaflow.prediction.model_folder import MODEL_NAME, is_model_file
from ovaflow.storage.hdf5 import open_artifact, read_checksum

_PROMOTED = re.compile(r"\d{4}-\d\d-\d\d-\d{6}-([0-9a-f]{8})")


def find_superseded_folders(link, keep, before):
    """Folders of promotions beside a link, oldest first, without the newest and those that a link
    leads to.

    The model in use and the one ``before`` it count as the newest: workers may still open its
    files.
    """
    used = {os.path.realpath(each) for each in link.parent.iterdir() if each.is_symlink()}
    first = {os.path.realpath(link), before}
    folders = sorted(filter(_is_promoted, link.parent.iterdir()))
    folders.sort(key=lambda folder: os.path.realpath(folder) in first)
    return [folder for folder in folders[:-keep] if not _holds_any(folder, used)]


def _holds_any(folder, paths):
    top = os.path.realpath(folder)
    return any(path == top or path.startswith(top + os.sep) for path in paths)


def _is_promoted(folder):
    """Whether a promotion made a folder, to which nothing else was added."""
    named = _PROMOTED.fullmatch(folder.name)
    if named is None or folder.is_symlink() or not folder.is_dir():
        return False
    files = (
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    )
    return all(map(is_model_file, files)) and _begins_with(folder / MODEL_NAME, named[1])


def _begins_with(model, checksum):
    try:
        with open_artifact(model, ModelFile.kind) as file:
            return read_checksum(file).startswith(checksum)
    except InputError:
        return False
