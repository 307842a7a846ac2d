import pytest
from finished_run import finish


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A finished run of every method."""
    return finish(tmp_path_factory.mktemp("finished") / "tiny", 1150, 0)


@pytest.fixture(scope="session")
def other(tmp_path_factory):
    """The same on other data."""
    return finish(tmp_path_factory.mktemp("other") / "tiny", 1100, 1)
