import fcntl
import os
import shlex
import shutil
from pathlib import Path

# several processes share the cores, where threads that wait for work must not keep them; read once,
# by OpenMP
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest
from fake_sys import FakeSys
from hypothesis import settings
from pipeline_folder import PipelineFolder
from tiny_table import write_table

from ovaflow.cli import main
from ovaflow.dataset.dataset import open_dataset
from ovaflow.machine import shared_files, topology

# the first example compiles kernels: no deadline; the same examples each time
settings.register_profile("ovaflow", deadline=None, derandomize=True)
settings.load_profile("ovaflow")


SLOW = ("workflow", "numa", "long")
"""Marks of tests that come first, so that no process has one left when the others are done."""


def pytest_collection_modifyitems(items) -> None:
    items.sort(key=lambda item: not any(item.get_closest_marker(mark) for mark in SLOW))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real datasets, named by OVAFLOW_DATA."""
    folder = os.environ.get("OVAFLOW_DATA")
    if not folder:
        pytest.skip("OVAFLOW_DATA names no folder of real datasets")
    if not Path(folder).is_dir():
        pytest.fail(f"OVAFLOW_DATA={folder} is not a folder")
    return Path(folder)


@pytest.fixture(scope="module")
def chromium():
    """A browser, for tests that open pages."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = None
    for name in ("chromium", "chromium-browser", "google-chrome"):
        program = program or shutil.which(name)
    if program is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium):
    """Function that opens pages of a browser, each with options and cookies of its own."""
    contexts = []

    def open_page(**options):
        context = chromium.new_context(**options)
        contexts.append(context)
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def place(tmp_path):
    """Folder with the tiny table and its config, before any run."""
    write_table(tmp_path / "records.csv")
    place = PipelineFolder(tmp_path)
    place.configure()
    return place


@pytest.fixture
def fake_sys(tmp_path, monkeypatch):
    """An empty /sys to fill, and a folder for what jobs share."""
    monkeypatch.setattr(topology, "SYS_FOLDER", tmp_path / "sys")
    monkeypatch.setattr(shared_files, "MEMORY_FOLDER", tmp_path)
    return FakeSys(tmp_path / "sys")


def make_large(table) -> None:
    """Add a long column: training on small tables is not estimated, and Snakemake always compares
    their content.
    """
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join(f"{line},{'x' * 45_000}" for line in lines), encoding="utf-8")
    assert table.stat().st_size > 8_000_000


@pytest.fixture(scope="session")
def make_once(tmp_path_factory):
    """Function that makes a folder once for all processes that run tests: the first one calls
    ``make``.
    """
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def make_folder(name, make) -> Path:
        folder = base / name
        done = base / f"{name}.done"
        with open(base / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return make_folder


@pytest.fixture(scope="session")
def finished(make_once, tmp_path_factory):
    """Finished workflow of two runs of two shards, with its output ``written``.

    Tests that change more than the config copy it.
    """

    def make(folder) -> None:
        write_table(folder / "records.csv")
        make_large(folder / "records.csv")
        place = PipelineFolder(folder)
        place.configure()
        written = place.snakemake()
        folder.with_name("finished-once.log").write_text(written, encoding="utf-8")

    original = PipelineFolder(make_once("finished-once", make))
    place = original.copy(tmp_path_factory.mktemp("finished"))
    place.written = original.folder.with_name("finished-once.log").read_text(encoding="utf-8")
    return place


@pytest.fixture
def prepare(tmp_path, monkeypatch, capsys):
    """Function that runs ``ovaflow prepare`` with the options of a line and further ones.

    It returns the dataset, or the output of a refusal; the output is ``prepare.said``, too.
    """
    monkeypatch.chdir(tmp_path)

    def prepare_dataset(line, *options, status=0):
        words = ["prepare", "--output=dataset.h5", *shlex.split(line), *options]
        assert main(words) == status
        prepare_dataset.said = "".join(capsys.readouterr())
        if status == 0:
            return open_dataset("dataset.h5")
        return prepare_dataset.said

    return prepare_dataset
