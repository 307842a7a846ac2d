"""What all tests share."""

import fcntl
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from pipeline_place import Place
from tiny_table import write_config, write_table

# the first example compiles kernels: no deadline; the same examples each time
settings.register_profile("ovaflow", deadline=None, derandomize=True)
settings.load_profile("ovaflow")


TESTS = Path(__file__).parent

FIRST = (
    # one process compiles kernels, and others would wait for it
    "cli/test_warm_up.py",
    # meanwhile: what uses no kernels, or compiles its own
    *("workflow/test_terminal.py", "sparse/test_jit.py", "data/readers/test_bounds.py", "test_fingerprint.py"),
    *("cli/test_run.py", "storage/", "settings/", "machine/", "cli/test_main.py", "cli/test_completion.py"),
    *("docs/test_reference.py", "data/test_download.py", "data/test_catalogue.py", "test_project_files.py", "console/"),
    # the longest, so that no process has one left when the others have finished
    *("cluster/", "docs/test_examples.py", "workflow/", "estimate/", "serving/", "integrity/", "training/"),
)
"""Folders and files of tests in the order in which processes take them, before the others."""


def pytest_collection_modifyitems(items):
    """Put tests in the order of FIRST."""

    def rank(item):
        path = item.path.relative_to(TESTS).as_posix()
        return next((number for number, start in enumerate(FIRST) if path.startswith(start)), len(FIRST))

    items.sort(key=rank)


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
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def tiny_place(folder):
    """A place with the tiny table and its config."""
    write_table(folder / "records.csv")
    write_config(folder / "my.yaml")
    return Place(folder)


@pytest.fixture
def place(tmp_path):
    """A place with the tiny table and its config, nothing run."""
    return tiny_place(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A finished run of two runs and two shards, and what it wrote; tests that change more than the config copy it."""
    base = tmp_path_factory.getbasetemp()
    # one for all processes that run tests
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made, written = base / "finished-once", base / "finished-once.log"
    with open(base / "finished-once.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not written.exists():
            made.mkdir()
            said = tiny_place(made).quick_snakemake()
            written.write_text(said, encoding="utf-8")
    place = Place(made).copy(tmp_path_factory.mktemp("finished"))
    place.written = written.read_text(encoding="utf-8")
    return place
