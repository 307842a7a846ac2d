import pytest
from finished_run import make_run_with_every_method


@pytest.fixture(scope="session")
def finished(make_once):
    return make_run_with_every_method(make_once)
