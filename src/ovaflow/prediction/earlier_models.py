"""Folders of models that were promoted earlier, next to the link to the model in use."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ovaflow.console.errors import InputError
from ovaflow.model.model_file import ModelFile
from ovaflow.prediction.model_folder import MODEL_NAME, is_model_file
from ovaflow.storage.hdf5 import open_artifact, read_checksum

# date and time of a promotion, and the beginning of the model's checksum
_PROMOTED_NAME = re.compile(r"\d{4}-\d\d-\d\d-\d{6}-([0-9a-f]{8})")


def find_superseded_folders(link: Path, keep: int, before: str | None) -> list[Path]:
    """Find folders of earlier promotions that nothing uses, oldest first.

    Parameters
    ----------
    link : Path
        The link to the model in use; folders next to it are examined.
    keep : int
        Number of the newest folders that are left out.
    before : str or None
        Real path of the model that was in use before. It and the model in use count as the newest:
        workers may still open its files.

    Returns
    -------
    list of Path
        Folders to which no link leads.
    """
    used = set()
    promoted = []
    for path in link.parent.iterdir():
        if path.is_symlink():
            used.add(os.path.realpath(path))
        if _is_promoted(path):
            promoted.append(path)
    newest = {os.path.realpath(link), before}
    promoted.sort(key=lambda folder: (os.path.realpath(folder) in newest, folder))
    return [folder for folder in promoted[:-keep] if not _contains_any(folder, used)]


def _contains_any(folder: Path, paths: Iterable[str]) -> bool:
    top = os.path.realpath(folder)
    return any(path == top or path.startswith(top + os.sep) for path in paths)


def _is_promoted(folder: Path) -> bool:
    """Return True if a promotion made the folder, and nothing else was added to it."""
    match = _PROMOTED_NAME.fullmatch(folder.name)
    if match is None or folder.is_symlink() or not folder.is_dir():
        return False
    for path in folder.rglob("*"):
        is_folder = path.is_dir() and not path.is_symlink()
        if not is_folder and not is_model_file(path.relative_to(folder)):
            return False
    return _has_checksum(folder / MODEL_NAME, match[1])


def _has_checksum(model: Path, beginning: str) -> bool:
    """Return True if the checksum of a model begins with these digits."""
    try:
        with open_artifact(model, ModelFile.kind) as file:
            return read_checksum(file).startswith(beginning)
    except InputError:
        return False
