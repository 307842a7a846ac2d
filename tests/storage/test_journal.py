"""Journals: whatever happens to the file, what is read from it was written to it, as far as it is whole."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ovaflow.storage.journal import digest_of, journal_of, open_journal, remove_journals

DTYPES = st.sampled_from([np.float32, np.float64, np.int32, np.int64])
ARRAYS = st.lists(DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, st.integers(0, 5))), max_size=4)

HOLDER = """
import sys, time
import numpy as np
from ovaflow.storage.journal import open_journal

with open_journal(sys.argv[1], "digest", 9, "labels", "first") as journal:
    journal.finished()
    for number in range(3):
        journal.add(number, 1.0, 1.0, b"", [np.arange(number)])
    print("ready", flush=True)
    time.sleep(600)
"""


def write(output, parts, digest="digest"):
    with open_journal(output, digest, 99, "labels", "test") as journal:
        journal.finished()
        for number, arrays in parts:
            journal.add(number, 0.01, float(number), str(number).encode(), arrays)
    return journal_of(output).read_bytes()


def read(output, digest="digest"):
    with open_journal(output, digest, 99, "labels", "test") as journal:
        parts = journal.finished()
    assert [note for _, note, _ in parts] == [str(number).encode() for number, _, _ in parts]
    return [(number, arrays) for number, _, arrays in parts]


def assert_same(ours, theirs):
    assert [number for number, _ in ours] == [number for number, _ in theirs]
    for (_, ours_of), (_, theirs_of) in zip(ours, theirs, strict=True):
        assert [array.dtype for array in ours_of] == [array.dtype for array in theirs_of]
        assert [array.tobytes() for array in ours_of] == [array.tobytes() for array in theirs_of]


PARTS = [
    (7, [np.arange(3, dtype=np.int64), np.array([0.5, np.nan])]),
    (0, []),
    (2, [np.array([1.5], np.float32), np.empty(0, np.int32)]),
]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 2**40), ARRAYS), max_size=5))
def test_what_was_written_is_read(tmp_path_factory, parts):
    output = tmp_path_factory.mktemp("journal") / "0.h5"
    write(output, parts)
    assert_same(read(output), parts)


def test_cut_at_every_byte(tmp_path):
    output = tmp_path / "0.h5"
    whole = write(output, PARTS)
    ends = [len(write(tmp_path / f"{count}.h5", PARTS[:count])) for count in range(4)]
    for size in range(len(whole)):
        journal_of(output).write_bytes(whole[:size])
        found = read(output)
        assert_same(found, PARTS[: max(np.searchsorted(ends, size, "right") - 1, 0)])
        # what is added to the rest is read again
        write(output, [(5, [])])
        assert_same(read(output), [*found, (5, [])])


def test_every_bit_flipped(tmp_path):
    output = tmp_path / "0.h5"
    whole = write(output, PARTS)
    ends = [len(write(tmp_path / f"{count}.h5", PARTS[:count])) for count in range(4)]
    for place in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            journal_of(output).write_bytes(damaged)
            assert_same(read(output), PARTS[: max(np.searchsorted(ends, place, "right") - 1, 0)])


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_anything_else_is_no_journal(tmp_path_factory, content):
    output = tmp_path_factory.mktemp("journal") / "0.h5"
    journal_of(output).write_bytes(content)
    assert read(output) == []
    # nor is it after a valid beginning, such as the blocks of zeros that a file has when the power failed
    begun = write(output, PARTS)
    journal_of(output).write_bytes(begun + content)
    assert_same(read(output), PARTS)
    journal_of(output).write_bytes(begun + bytes(200))
    assert_same(read(output), PARTS)


def test_other_settings_begin_again(tmp_path):
    write(tmp_path / "0.h5", PARTS)
    assert read(tmp_path / "0.h5", "other") == []
    assert read(tmp_path / "0.h5") == []


def test_written_twice(tmp_path):
    write(tmp_path / "0.h5", PARTS)
    write(tmp_path / "0.h5", PARTS)
    assert_same(read(tmp_path / "0.h5"), PARTS + PARTS)


def test_digests_tell_things_apart():
    things = [
        [np.arange(3)],
        [np.arange(3.0)],
        [np.arange(3).astype(np.int32)],
        [np.arange(4)],
        [np.arange(2), np.array([2])],
        [{"C": 1.0}],
        [{"C": 1.1}],
        ["C", 1.0],
        [["C", 1.0]],
        [None],
    ]
    assert len({digest_of(*of_one) for of_one in things}) == len(things)
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})


@pytest.fixture
def holder(tmp_path):
    """A process that holds a journal with three parts."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "0.h5")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.communicate()


def test_one_waits_for_the_other_and_goes_on(holder, tmp_path):
    output = tmp_path / "0.h5"
    remove_journals([output])
    assert journal_of(output).exists(), "a living process holds it"
    more = subprocess.Popen(
        [sys.executable, "-c", HOLDER.replace('"first"', '"second"'), str(output)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert more.stderr.readline() == (
            f"second: another process works on it and holds {journal_of(output)}; waiting for its end\n"
        )
        time.sleep(0.2)
        assert more.poll() is None
        holder.kill()
        assert more.stdout.readline() == "ready\n"
    finally:
        more.kill()
        more.communicate()
    with open_journal(output, "digest", 9, "labels", "third") as journal:
        assert [number for number, _, _ in journal.finished()] == [0, 1, 2, 0, 1, 2]


def test_one_that_waits_begins_again_if_the_other_removes_it(holder, tmp_path):
    output = tmp_path / "0.h5"
    os.unlink(journal_of(output))
    assert read(output) == []


def test_journals_go_with_their_job(tmp_path):
    for number in range(3):
        write(tmp_path / f"{number}.h5", PARTS)
    (tmp_path / "0.h5").touch()
    remove_journals([tmp_path / "0.h5", tmp_path / "1.h5"])
    assert os.listdir(tmp_path) == ["0.h5"]
