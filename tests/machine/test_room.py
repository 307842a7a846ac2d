"""What a file announces is compared with the memory that there is."""

import resource

import psutil
import pytest

from ovaflow.console.errors import InputError
from ovaflow.machine.room import ALWAYS, memory_left, require_room


def test_memory_that_is_left():
    assert 0 < memory_left() <= psutil.virtual_memory().total


def test_a_limit_of_the_address_space_counts(monkeypatch):
    used = psutil.Process().memory_info().vms
    monkeypatch.setattr(resource, "getrlimit", lambda what: (used + (1 << 20), resource.RLIM_INFINITY))
    assert memory_left() <= 1 << 20


def test_what_is_announced():
    require_room(ALWAYS // 16, 16, "columns", "m.h5")
    with pytest.raises(InputError, match=r"m\.h5: it announces 1,\d{3},.* columns, which take .* MB are left"):
        require_room(1 << 60, 16, "columns", "m.h5")
