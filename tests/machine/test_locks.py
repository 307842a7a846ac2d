import fcntl
import os
import time

import pytest

from ovaflow.machine.locks import open_locked


def test_patience_ends(tmp_path):
    held = open_locked(tmp_path / "a", fcntl.LOCK_EX)
    began = time.monotonic()
    with pytest.raises(BlockingIOError):
        open_locked(tmp_path / "a", fcntl.LOCK_EX, 0.2)
    assert time.monotonic() - began >= 0.2
    os.close(held)
    os.close(open_locked(tmp_path / "a", fcntl.LOCK_EX, 0.2))


def test_readers_share(tmp_path):
    handles = [open_locked(tmp_path / "a", fcntl.LOCK_SH) for _ in range(2)]
    with pytest.raises(BlockingIOError):
        open_locked(tmp_path / "a", fcntl.LOCK_EX | fcntl.LOCK_NB)
    for handle in handles:
        os.close(handle)
