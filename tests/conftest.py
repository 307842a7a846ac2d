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
    items.sort(key=lambda item: not any(map(item.get_closest_marker, SLOW)))


@pytest.fixture(scope="session")
def real_data():
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
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium):
    """Opens pages of a browser, each with options and cookies of its own."""
    contexts = []

    def opened(**options):
        contexts.append(chromium.new_context(**options))
        return contexts[-1].new_page()

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def place(tmp_path):
    """A place with the tiny table and its config, nothing run."""
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
    """Add a column: no training on small tables is estimated, and Snakemake compares their content
    in any case.
    """
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join(f"{line},{'x' * 45_000}" for line in lines), encoding="utf-8")
    assert table.stat().st_size > 8_000_000


@pytest.fixture(scope="session")
def make_once(tmp_path_factory):
    """Makes a folder for all processes that run tests: whoever comes first calls the function."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make_folder(name, make):
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
    """A finished run of two runs of two shards, and what it wrote.

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
    """Prepare ``dataset.h5`` as options say, of a line and further ones; of what is refused what
    was ``said``.
    """
    monkeypatch.chdir(tmp_path)

    def prepared(line, *options, status=0):
        assert main(["prepare", "--output=dataset.h5", *shlex.split(line), *options]) == status
        prepared.said = "".join(capsys.readouterr())
        return open_dataset("dataset.h5") if status == 0 else prepared.said

    return prepared
