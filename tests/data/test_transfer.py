import os
import random
import signal
import subprocess
import sys
import time

import gdown
import pytest
from local_server import local_server, status

from ovaflow.console.errors import InputError
from ovaflow.data import transfer
from ovaflow.data.transfer import exclusively, fetch_drive, fetch_url, shown

CONTENT = random.Random(0).randbytes(3_000_000)
HALF = 1_700_000


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(transfer, "WAITS", (0, 0.01, 0.01))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with local_server() as running:
        running.files["/file"] = CONTENT
        yield running


@pytest.fixture
def url(server):
    return f"{server.root}/file"


def ranges_asked(server):
    return [asked for _, asked in server.asked]


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_plain_download(server, url, tmp_path):
    fetch_url(url, tmp_path / "deep" / "file")
    assert (tmp_path / "deep" / "file").read_bytes() == CONTENT
    assert left_in(tmp_path / "deep") == ["file"]


def test_broken_off_is_continued_with_a_range(server, url, tmp_path):
    server.answers["/file"] = [server.broken_off(HALF)]
    fetch_url(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert ranges_asked(server) == [None, f"bytes={HALF}-"]


def test_without_ranges_it_starts_again(server, url, tmp_path):
    server.ranges = False
    server.answers["/file"] = [server.broken_off(HALF)]
    fetch_url(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_changed_file_is_not_spliced(server, url, tmp_path):
    new = CONTENT[::-1]

    def breaks_off_then_changes(handler, content):
        server.whole(handler, content, sent=HALF)
        server.files["/file"], server.etag = new, '"2"'

    server.answers["/file"] = [breaks_off_then_changes]
    fetch_url(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == new


def test_partial_file_of_another_address_is_not_continued(server, url, tmp_path):
    server.files["/other"] = CONTENT[::-1]
    server.answers["/other"] = [server.broken_off(HALF)] * 9
    with pytest.raises(InputError):
        fetch_url(f"{server.root}/other", tmp_path / "file")
    assert "file.part" in left_in(tmp_path)
    server.asked.clear()
    fetch_url(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert ranges_asked(server) == [None]


def test_complete_partial_file_needs_no_more_bytes(server, url, tmp_path):
    server.answers["/file"] = [server.broken_off(HALF)] + [status(500)] * 9
    with pytest.raises(InputError):
        fetch_url(url, tmp_path / "file")
    with open(tmp_path / "file.part", "ab") as part:
        part.write(CONTENT[HALF:])
    server.answers.clear()
    fetch_url(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize("ranges", [True, False])
def test_announced_too_long(server, url, tmp_path, ranges):
    server.ranges = ranges
    server.answers["/file"] = [lambda handler, content: server.whole(handler, content, len(content) + 7)] * 9
    with pytest.raises(InputError, match=r"/file: .* after 4 tries"):
        fetch_url(url, tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_busy_server_is_asked_again(server, url, tmp_path):
    server.answers["/file"] = [status(500), status(503), status(429)]
    fetch_url(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_progress_earns_new_tries(server, url, tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "CHUNK", 1000)
    steps = [server.broken_off(500_000)]
    for _ in range(5):
        steps += [status(500), status(500), lambda handler, content: part_of_range(server, handler, content)]
    server.answers["/file"] = steps
    fetch_url(url, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert len(server.asked) > 1 + len(transfer.WAITS) + 1


def part_of_range(server, handler, content):
    class Limited:
        def write(self, data):
            handler.connection.sendall(data[:100_000])

    header_writer, handler.wfile = handler.wfile, handler.wfile
    original = handler.end_headers

    def end_headers():
        original()
        header_writer.flush()
        handler.wfile = Limited()

    handler.end_headers = end_headers
    server.normal(handler, content)
    handler.wfile = header_writer


def test_lasting_refusal_is_not_repeated(server, tmp_path):
    with pytest.raises(InputError, match="/none: answered 404 Not Found"):
        fetch_url(f"{server.root}/none", tmp_path / "file")
    assert len(server.asked) == 1


def test_nobody_listens(tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "WAITS", (0,))
    with local_server() as gone:
        pass
    with pytest.raises(InputError, match=r"the connection failed \(ConnectionError\).* after 2 tries"):
        fetch_url(f"{gone.root}/file", tmp_path / "file")


def test_web_page_instead_of_a_file(server, url, tmp_path):
    server.files["/file"] = b"\n<!DOCTYPE html><html><head><title>Google Drive - Quota\n exceeded</title>..."
    with pytest.raises(InputError, match=r"a web page \(Google Drive - Quota exceeded\) instead of a file"):
        fetch_url(url, tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_redirects_are_followed(server, url, tmp_path):
    server.answers["/there"] = [status(302, Location="/file")]
    fetch_url(f"{server.root}/there", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1"])
def test_redirect_to_another_scheme_is_refused(server, tmp_path, target):
    server.answers["/there"] = [status(302, Location=target)]
    with pytest.raises(InputError, match=f"redirects to {target[:3]}.*only http and https"):
        fetch_url(f"{server.root}/there", tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_redirect_from_https_to_http_is_refused():
    with pytest.raises(InputError, match="redirects from https to http"):
        transfer._refuse_other_schemes("http://127.0.0.1/x", origin="https://127.0.0.1/y")
    transfer._refuse_other_schemes("https://127.0.0.1/x", origin="http://127.0.0.1/y")


def test_endless_redirects(server, url, tmp_path):
    server.answers["/file"] = [status(302, Location="/file")] * 20
    with pytest.raises(InputError, match="more than 10 redirects"):
        fetch_url(url, tmp_path / "file")


@pytest.mark.parametrize("bad", ["file:///etc/passwd", "ftp://host/x", "/etc/passwd", "http:///x"])
def test_other_schemes_are_refused(tmp_path, bad):
    with pytest.raises(InputError, match="only http and https"):
        fetch_url(bad, tmp_path / "file")


def test_compressed_on_the_way_is_refused(server, url, tmp_path):
    server.answers["/file"] = [status(200, **{"Content-Encoding": "gzip"})]
    with pytest.raises(InputError, match="sent compressed"):
        fetch_url(url, tmp_path / "file")


def test_secrets_are_not_shown():
    assert shown("https://me:secret@host:8080/a/b?token=1#x") == "https://host:8080/a/b"


def test_two_processes_never_write_one_file(tmp_path):
    with exclusively(tmp_path / "lock"), pytest.raises(InputError, match="another process"):
        with exclusively(tmp_path / "lock"):
            pass


def test_killed_download_is_continued(server, url, tmp_path):
    server.answers["/file"] = [server.stalled(HALF)]
    target = tmp_path / "file"
    arguments = [sys.executable, "-m", "ovaflow", "download", f"--url={url}", f"--output={target}"]
    first = subprocess.Popen(arguments, env=os.environ | {"no_proxy": "127.0.0.1"})
    try:
        deadline = time.monotonic() + 60
        while sum(path.stat().st_size for path in tmp_path.glob(".file.*.part")) < 1 << 20:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    server.released.set()
    assert not target.exists()
    subprocess.run(arguments, check=True, env=os.environ | {"no_proxy": "127.0.0.1"})
    assert target.read_bytes() == CONTENT
    assert left_in(tmp_path) == ["file", "file.sha256"]
    continued = ranges_asked(server)[1]
    assert int(continued.removeprefix("bytes=").removesuffix("-")) >= 1 << 20


@pytest.fixture
def drive(server, monkeypatch):
    """Google Drive on the local server: gdown's own code runs, on a plain address instead of an id."""
    real = gdown.download
    monkeypatch.setattr(gdown, "download", lambda id, **rest: real(url=f"{server.root}/drive/{id}", **rest))
    monkeypatch.setattr(transfer, "DRIVE", f"{server.root}/direct")
    return server


def test_drive_through_gdown(drive, tmp_path):
    drive.files["/drive/1abc"] = CONTENT
    fetch_drive("1abc", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert left_in(tmp_path) == ["file"]


def test_drive_download_is_continued(drive, tmp_path):
    drive.files["/drive/1abc"] = CONTENT
    drive.answers["/drive/1abc"] = [drive.broken_off(HALF)]
    fetch_drive("1abc", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_drive_download_is_continued_by_the_next_run(drive, tmp_path):
    drive.files["/drive/1abc"] = CONTENT
    drive.answers["/drive/1abc"] = [drive.broken_off(HALF)] + [status(404)] * 9
    with pytest.raises(InputError, match="id 1abc: gdown"):
        fetch_drive("1abc", tmp_path / "file")
    drive.answers.clear()
    drive.asked.clear()
    fetch_drive("1abc", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert ranges_asked(drive)[-1] is not None


def test_gdown_leaves_what_came_directly(drive, tmp_path):
    drive.files["/direct"] = CONTENT
    drive.answers["/direct"] = [drive.broken_off(HALF)] + [status(404)]
    with pytest.raises(InputError):
        fetch_drive("1abc", tmp_path / "file")
    drive.asked.clear()
    fetch_drive("1abc", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert ranges_asked(drive)[-1] == f"bytes={HALF}-"


def test_drive_with_resourcekey_is_asked_directly(drive, tmp_path):
    drive.files["/direct"] = CONTENT
    fetch_drive("0abc", tmp_path / "file", resourcekey="0-k_y")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert drive.asked == [("/direct?id=0abc&export=download&confirm=t&resourcekey=0-k_y", None)]


def test_drive_directly_when_gdown_fails(drive, tmp_path):
    drive.files["/direct"] = CONTENT
    fetch_drive("1abc", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_drive_over_quota(drive, tmp_path):
    page = b"<!DOCTYPE html><html><head><title>Google Drive - Quota exceeded</title></head></html>"
    drive.files |= {"/drive/1abc": page, "/direct": page}
    with pytest.raises(InputError, match=r"id 1abc: .*Quota exceeded.*asked directly: .*Quota exceeded"):
        fetch_drive("1abc", tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_drive_error_of_gdown_is_one_line(drive, tmp_path, monkeypatch):
    def refuse(**_):
        raise gdown.exceptions.FileURLRetrievalError("Failed to retrieve file url:\n\n\tToo many users\n\nhttps://x")

    monkeypatch.setattr(gdown, "download", refuse)
    with pytest.raises(InputError, match=r"gdown: Failed to retrieve file url: Too many users; .*; asked directly"):
        fetch_drive("1abc", tmp_path / "file")
