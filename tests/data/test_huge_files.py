"""Files that would fill the memory, and what is no file at all, through ``ovaflow prepare`` as a process."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

MB = 1 << 20
BEFORE = b"what was there before"
PROGRAM = """
import sys
from ovaflow.cli import main
status = main(sys.argv[2:])
with open("/proc/self/status") as lines, open(sys.argv[1], "w") as peak:
    peak.write(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
sys.exit(status)
"""
"""The command; what the kernel tells who waits for it counts the memory of its parent, too."""
TOKENS = ("--min-df=1", "--max-df=1.0", "--tfidf=false")


def prepare(folder, format, train, *options, seconds=100, **environment):
    """Run the command: status, what it wrote, and the most memory it had, in MB."""
    output = folder / "dataset.h5"
    output.write_bytes(BEFORE)
    given = [f"--{role}={train}" for role in ("train", "test")]
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        str(folder / "peak"),
        "prepare",
        f"--format={format}",
        *given,
        *options,
        f"--output={output}",
    ]
    limited = ["/bin/sh", "-c", 'ulimit -v 16000000; exec "$@"', "sh", *command, f"--output={output}"]
    with open(folder / "said", "w+b") as said:
        process = subprocess.Popen(limited, stdout=said, stderr=said, env=os.environ | environment)
        watch = subprocess.Popen(["/bin/sh", "-c", f"sleep {seconds}; kill -9 {process.pid}"], start_new_session=True)
        process.wait()
        os.killpg(watch.pid, 9)
        watch.wait()
        said.seek(0)
        written = said.read().decode()
    if process.returncode == 2:
        assert output.read_bytes() == BEFORE
        assert written.startswith("ovaflow: error: ")
        assert written.count("\n") == 1
    return process.returncode, written, int((folder / "peak").read_text()) / 1024


def write(path, *pieces):
    with open(path, "wb") as file:
        file.writelines(pieces)
    return path


LINES = {
    "xmc-text": (b"1 7 5\n0 ", b"1:1 " * (MB // 4), b"\n", 2),
    "svmlight": (b"0 1:1\n#", b":" * MB, b"\n", 2),
    "text-tsv": (b"a\tword\na\t", b"word two" * (MB // 8), b"\n", 2),
}


@pytest.mark.parametrize("format", LINES)
def test_a_line_of_200_megabytes(tmp_path, format):
    begin, middle, end, line = LINES[format]
    path = write(tmp_path / "data", begin, *[middle] * 200, end)
    status, written, memory = prepare(tmp_path, format, path)
    assert status == 2
    assert f"{path}, line {line}: a line of more than 67,108,864 bytes" in written
    assert memory < 600


def test_a_record_of_100_megabytes(tmp_path):
    path = write(tmp_path / "data", b'text,labels\none,a\n"', *[b"word two\n" * (MB // 9)] * 100, b'",a\n')
    status, written, memory = prepare(tmp_path, "csv", path)
    assert status == 2
    assert f"{path}, line 3: malformed record (field larger than field limit (67108864))" in written
    assert memory < 800


@pytest.mark.parametrize(
    ("format", "options", "megabytes", "most"), [("xmc-text", (), 63, 1000), ("text-tsv", TOKENS, 15, 700)]
)
def test_long_legal_lines(tmp_path, format, options, megabytes, most):
    begin, middle, end, _ = LINES[format]
    # the letter beyond 16 bits makes Python hold four bytes a character
    wide = "\U0001f600 ".encode() if format == "text-tsv" else b""
    path = write(tmp_path / "data", begin, wide, *[middle] * megabytes, end)
    status, written, memory = prepare(tmp_path, format, path, *options)
    assert status == 0, written
    assert memory < most


@pytest.mark.parametrize(
    ("format", "name", "message", "most"),
    [
        ("xmc-text", "a.txt.gz", "a line of more than", 600),
        ("text-tsv", "a.tsv.gz", "a line of more than", 600),
        ("parquet", "a.parquet.gz", "unpacks to more than 1,0", 1500),
    ],
)
def test_ten_gigabytes_of_zeros(tmp_path, format, name, message, most):
    member = gzip.compress(bytes(100 * MB), 9)
    path = write(tmp_path / name, *[gzip.compress(b"1 7 5\n")] * (format == "xmc-text"), *[member] * 100)
    status, written, memory = prepare(tmp_path, format, path)
    assert status == 2
    assert message in written
    assert memory < most


def test_a_dictionary_of_one_huge_text(tmp_path):
    text = pyarrow.array(["word two " * MB])
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 3000, pyarrow.int32()), text)
    table = pyarrow.table({"text": column, "labels": ["a"] * 3000})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    status, written, memory = prepare(tmp_path, "parquet", tmp_path / "a.parquet", *TOKENS)
    assert status == 2
    assert "rows of more than" in written
    assert memory < 1500


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name, message in (
        ("pipe", "is no regular file"),
        ("folder", "directory"),
        ("loop", "Too many levels of symbolic links"),
        ("dangling", "no such file"),
        ("device", "is no regular file"),
        ("x" * 300, "File name too long"),
    ):
        status, written, _ = prepare(tmp_path, "csv", tmp_path / name, seconds=30)
        assert status == 2, written
        assert message in written


def test_permission_denied(tmp_path):
    path = write(tmp_path / "data", b"0 1:1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    status, written, _ = prepare(tmp_path, "svmlight", path)
    assert status == 2
    assert f"{path}: cannot be read (Permission denied)" in written


def test_labels_may_be_no_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    np.save(tmp_path / "X.npy", np.eye(2))
    for format, option in (("npz", "train-labels"), ("text-tsv", "labels")):
        status, written, _ = prepare(
            tmp_path, format, tmp_path / "X.npy", f"--{option}={tmp_path / 'pipe'}", seconds=30
        )
        assert status == 2
        assert "is no regular file" in written
