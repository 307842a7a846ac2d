"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# the first example compiles kernels: no deadline
settings.register_profile("ovaflow", deadline=None)
settings.load_profile("ovaflow")


@pytest.fixture(scope="session")
def real_data():
    """Folder of real datasets, named by OVAFLOW_DATA."""
    folder = os.environ.get("OVAFLOW_DATA")
    if not folder:
        pytest.skip("OVAFLOW_DATA names no folder of real datasets")
    if not Path(folder).is_dir():
        pytest.fail(f"OVAFLOW_DATA={folder} is no folder")
    return Path(folder)
