import pytest
from finished_run import RunFolder, make_finished_run, make_run_with_every_method


@pytest.fixture(scope="session")
def finished(make_once) -> RunFolder:
    """A finished run of every method."""
    return make_run_with_every_method(make_once)


@pytest.fixture(scope="session")
def other(make_once) -> RunFolder:
    """A finished run of every method on other data."""

    def make(folder) -> None:
        make_finished_run(folder / "tiny", 1100, 1)

    return RunFolder(make_once("other-data", make) / "tiny")
