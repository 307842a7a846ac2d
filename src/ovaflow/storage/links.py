"""Links to folders, and copies where the file system has no links."""

import os
import shutil
from pathlib import Path


def link_folder(folder: Path, link: Path) -> None:
    """Make a relative link to a folder, in place of an earlier link or folder."""
    remove_link(link)
    link.parent.mkdir(parents=True, exist_ok=True)
    try:
        link.symlink_to(os.path.relpath(folder, link.parent), target_is_directory=True)
    except OSError:
        shutil.copytree(folder, link)


def remove_link(link: Path) -> None:
    """Remove a link to a folder, or the copy in its place, if there is one."""
    if link.is_symlink():
        link.unlink()
    elif link.exists():
        shutil.rmtree(link)
