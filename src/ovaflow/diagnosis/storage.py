"""Files: HDF5 artifacts, and the folder of compiled kernels."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import h5py
import numpy as np

from ovaflow.diagnosis.finding import Finding, fail, ok, warn
from ovaflow.sparse.jit import cache_directory
from ovaflow.storage.artifact import create_artifact, open_artifact


def check_artifacts(folder: Path) -> Iterator[Finding]:
    """Whether an artifact can be written and read back where results will be.

    Parameters
    ----------
    folder : pathlib.Path
        Where Snakemake is called.

    Yields
    ------
    Finding
    """
    said = f"HDF5 {h5py.version.hdf5_version}, h5py {h5py.version.version}"
    numbers = np.arange(1000)
    try:
        with TemporaryDirectory(dir=folder, prefix=".ovaflow-doctor-") as name:
            path = Path(name) / "artifact.h5"
            with create_artifact(path, "doctor", {}, {}) as file:
                file["numbers"] = numbers
            with open_artifact(path, "doctor") as file:
                same = bool(np.array_equal(file["numbers"][()], numbers))
    except OSError as error:
        yield fail("hdf5", f"{said}: {error}", "try HDF5_USE_FILE_LOCKING=FALSE on file systems without locks")
        return
    if same:
        yield ok("hdf5", f"{said}, written and read back in {folder}")
    else:
        yield fail(
            "hdf5", f"{said}: other numbers came back than were written", "check this disk, and install h5py again"
        )


def check_cache() -> Iterator[Finding]:
    """Where compiled kernels are, and what older versions left.

    Yields
    ------
    Finding
    """
    now = cache_directory()
    wanted = Path(os.environ.get("OVAFLOW_CACHE") or Path.home() / ".cache" / "ovaflow")
    kernels = compiled_kernels()
    said = f"{now}: {kernels:,} compiled kernels, {_megabytes(now):.0f} MB"
    if now.parent != wanted:
        yield warn("cache", f"{wanted} cannot be written, {said}", "set OVAFLOW_CACHE to a folder of yours that stays")
    elif not kernels:
        yield ok("cache", f"{now}: empty, the first run compiles for a minute or two of CPU time")
    else:
        yield ok("cache", said)
    stale = [folder for folder in now.parent.glob("kernels-*") if folder != now]
    megabytes = sum(map(_megabytes, stale))
    if megabytes > 200:
        yield warn(
            "cache",
            f"{len(stale)} folders of other versions, {megabytes:,.0f} MB",
            f"if no other installation uses them: rm -r {now.parent}/kernels-*",
        )


def compiled_kernels() -> int:
    """How many versions of kernels are compiled."""
    return sum(1 for _ in cache_directory().rglob("*.nbc"))


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
