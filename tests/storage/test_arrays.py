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
def store(tmp_path):
    """A function that stores what its argument writes, and opens the file for reading."""
    with contextlib.ExitStack() as stack:

        def write(content):
            with create_artifact(tmp_path / "arrays.h5", "arrays") as file:
                content(file)
            return stack.enter_context(open_artifact(tmp_path / "arrays.h5", "arrays"))

        yield write


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text()))
def test_any_text_comes_back(store, texts) -> None:
    file = store(lambda file: write_strings(file, "names", texts))
    ours = read_strings(file, "names")
    assert ours == texts
    assert len(ours) == len(texts)
    assert [ours[number] for number in range(-len(texts), len(texts))] == texts * 2
    assert ours[1:-1:2] == texts[1:-1:2]
    with pytest.raises(IndexError):
        ours[len(texts)]


def test_mapped_arrays_share_their_pages_and_never_write_to_their_file(store) -> None:
    file = store(lambda file: create_array(file, "values", np.ones(1 << 20)))
    mapped = map_array(file["values"])
    assert mapped.sum() == 1 << 20
    maps = psutil.Process().memory_maps()
    [own_map] = [each for each in maps if each.path.endswith("arrays.h5")]
    assert own_map.anonymous == 0
    mapped[0] = 99
    assert file["values"][0] == 1


def test_compressed_arrays_of_other_programs_are_read(store) -> None:
    file = store(
        lambda file: file.create_dataset("packed", data=np.arange(5000), compression="gzip")
    )
    assert map_array(file["packed"]).tolist() == list(range(5000))
