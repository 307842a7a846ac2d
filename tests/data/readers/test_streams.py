"""Plain and compressed files as bytes and as lines."""

import bz2
import gzip
import lzma

import pytest
import zstandard

from ovaflow.console.errors import InputError
from ovaflow.data.readers.streams import open_seekable, open_stream, read_lines

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstandard.compress}
CONTENT = "".join(f"line {number} äöü \u2028 x\n" for number in range(20000)).encode()


def written(folder, suffix, content):
    path = folder / f"file.txt{suffix}"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("suffix", ["", *COMPRESS])
@pytest.mark.parametrize("content", [CONTENT, b"x", b""], ids=["long", "short", "empty"])
def test_content_comes_back(tmp_path, suffix, content):
    path = written(tmp_path, suffix, COMPRESS[suffix](content) if suffix else content)
    with open_stream(path) as stream:
        assert stream.read() == content
    with open_seekable(path) as stream:
        assert stream.read()[:5] + stream.read() == content[:5]
        assert stream.seek(0) == 0


@pytest.mark.parametrize("suffix", COMPRESS)
def test_several_members_in_a_file(tmp_path, suffix):
    path = written(tmp_path, suffix, COMPRESS[suffix](b"one\n") + COMPRESS[suffix](b"two\n"))
    assert list(read_lines(path)) == [(1, "one"), (2, "two")]


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("left", [0.01, 0.5, 0.999])
def test_truncated_files_are_refused(tmp_path, suffix, left):
    whole = COMPRESS[suffix](CONTENT)
    path = written(tmp_path, suffix, whole[: max(int(len(whole) * left), 20)])
    with open_stream(path) as stream, pytest.raises(InputError, match=r"truncated or damaged.*copy it again") as error:
        stream.read()
    assert str(path) in str(error.value)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_damaged_files_are_refused(tmp_path, suffix):
    damaged = bytearray(COMPRESS[suffix](CONTENT))
    damaged[len(damaged) // 2] ^= 255
    path = written(tmp_path, suffix, bytes(damaged))
    with open_stream(path) as stream, pytest.raises(InputError, match="truncated or damaged"):
        stream.read()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_names_that_disagree_with_the_content(tmp_path, suffix):
    others = {".gz": ".xz", ".bz2": ".gz", ".xz": ".zst", ".zst": ".bz2"}
    for content, message in (
        (b"plain text", f"named {suffix} but its content is not"),
        (b"", "is empty"),
        (COMPRESS[others[suffix]](b"x"), f"its name says otherwise; name it {others[suffix]}"),
    ):
        with pytest.raises(InputError, match=message), open_stream(written(tmp_path, suffix, content)):
            pass
    with (
        pytest.raises(InputError, match=f"name it {suffix}"),
        open_stream(written(tmp_path, "", COMPRESS[suffix](b"x"))),
    ):
        pass


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="No such file"), open_stream(tmp_path / "none.txt"):
        pass
    with pytest.raises(InputError, match="directory"), open_stream(tmp_path):
        pass


def test_lines_end_at_line_feeds_only(tmp_path):
    path = written(tmp_path, "", "\ufeffone\r\ntwo\u2028\x0b\x0c\x85\rthree\n\nlast".encode())
    assert list(read_lines(path)) == [(1, "one"), (2, "two\u2028\x0b\x0c\x85\rthree"), (3, ""), (4, "last")]
    assert next(line for _, line in read_lines(path, keep_ends=True)) == "one\r\n"


def test_lines_that_are_no_utf8(tmp_path):
    path = written(tmp_path, "", b"fine\nfine\nB\xe4r\n")
    with pytest.raises(InputError, match=r"line 3: byte 2 of the line \(0xe4\) is no UTF-8"):
        list(read_lines(path))
    with pytest.raises(InputError, match="UTF-16"):
        list(read_lines(written(tmp_path, "", "text".encode("utf-16"))))
    with pytest.raises(InputError, match="UTF-16"):
        list(read_lines(written(tmp_path, "", "text".encode("utf-16-le"))))
