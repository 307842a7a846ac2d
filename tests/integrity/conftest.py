import pytest
from finished_run import RunFolder, make_finished_run, make_run_of_every_method


@pytest.fixture(scope="session")
def finished(made_once):
    return make_run_of_every_method(made_once)


@pytest.fixture(scope="session")
def other(made_once):
    """The same on other data."""
    return RunFolder(
        made_once("other-data", lambda folder: make_finished_run(folder / "tiny", 1100, 1)) / "tiny"
    )
