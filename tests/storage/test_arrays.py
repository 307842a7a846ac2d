import contextlib

import numpy as np
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovaflow.storage.arrays import (
    create_array,
    map_array,
    read_strings,
    write_strings,
)
from ovaflow.storage.hdf5 import create_artifact, open_artifact


@pytest.fixture
def stored(tmp_path):
    """What a function writes, open for reading."""
    with contextlib.ExitStack() as stack:

        def write(content):
            with create_artifact(tmp_path / "arrays.h5", "arrays") as file:
                content(file)
            return stack.enter_context(open_artifact(tmp_path / "arrays.h5", "arrays"))

        yield write


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text()))
def test_any_text_comes_back(stored, texts) -> None:
    file = stored(lambda file: write_strings(file, "names", texts))
    ours = read_strings(file, "names")
    assert ours == texts
    assert len(ours) == len(texts)
    assert [ours[place] for place in range(-len(texts), len(texts))] == texts * 2
    assert ours[1:-1:2] == texts[1:-1:2]
    with pytest.raises(IndexError):
        ours[len(texts)]


def test_mapped_arrays_share_their_pages_and_never_write_to_their_file(stored) -> None:
    file = stored(lambda file: create_array(file, "values", np.ones(1 << 20)))
    mapped = map_array(file["values"])
    assert mapped.sum() == 1 << 20
    (own,) = (
        each.anonymous for each in psutil.Process().memory_maps() if each.path.endswith("arrays.h5")
    )
    assert own == 0
    mapped[0] = 99
    assert file["values"][0] == 1


def test_compressed_arrays_of_other_programs_are_read(stored) -> None:
    file = stored(
        lambda file: file.create_dataset("packed", data=np.arange(5000), compression="gzip")
    )
    assert map_array(file["packed"]).tolist() == list(range(5000))
