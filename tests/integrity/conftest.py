import pytest
from finished_run import Folder, finish


@pytest.fixture(scope="session")
def finished(made_once):
    """A finished run of every method."""
    return Folder(made_once("every-method", lambda folder: finish(folder / "tiny", 1150, 0)) / "tiny")


@pytest.fixture(scope="session")
def other(made_once):
    """The same on other data."""
    return Folder(made_once("other-data", lambda folder: finish(folder / "tiny", 1100, 1)) / "tiny")
