import pytest
from finished_run import of_every_method


@pytest.fixture(scope="session")
def finished(made_once):
    return of_every_method(made_once)
