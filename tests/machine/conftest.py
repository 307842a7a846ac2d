"""Trees of files in the form of /sys and /proc, for machines that are not here."""

import pytest


@pytest.fixture
def two_sockets(fake_sys):
    """Two nodes of four cores with two SMT siblings each: CPU c and c + 8 are a core."""
    for core in range(8):
        fake_sys.siblings(core, core + 8)
    fake_sys.node(0, "0-3,8-11", 1000, "10 21")
    fake_sys.node(1, "4-7,12-15", 1000, "21 10")
    return fake_sys
