import pytest
from finished_run import make_run_of_every_method


@pytest.fixture(scope="session")
def finished(make_once):
    return make_run_of_every_method(make_once)
