import pytest
from finished_run import Folder, finish, of_every_method


@pytest.fixture(scope="session")
def finished(made_once):
    return of_every_method(made_once)


@pytest.fixture(scope="session")
def other(made_once):
    """The same on other data."""
    return Folder(made_once("other-data", lambda folder: finish(folder / "tiny", 1100, 1)) / "tiny")
