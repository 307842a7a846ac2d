import pytest
from finished_run import RunFolder, make_finished_run, make_run_with_every_method


@pytest.fixture(scope="session")
def finished(make_once):
    return make_run_with_every_method(make_once)


@pytest.fixture(scope="session")
def other(make_once):
    """The same on other data."""
    return RunFolder(
        make_once("other-data", lambda folder: make_finished_run(folder / "tiny", 1100, 1)) / "tiny"
    )
