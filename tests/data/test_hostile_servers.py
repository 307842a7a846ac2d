"""Servers that lead elsewhere, say nothing, never end or repeat secrets, asked over real HTTP and HTTPS."""

import hashlib
import itertools
import os
import shutil
import subprocess
import time

import pytest
from local_server import local_server, status

from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data import transfer
from ovaflow.data.transfer import fetch_url

CONTENT = b"text,labels\none,a\n" * 99
SECRET = "s3cr3t-Zq9"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(transfer, "WAITS", (0,))
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with local_server() as running:
        running.files["/file"] = CONTENT
        yield running


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Certificate and key of 127.0.0.1, made here."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("certificate")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    made = [*command.split(), "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"]
    subprocess.run(made, check=True, capture_output=True)
    return folder / "certificate.pem", folder / "key.pem"


@pytest.fixture
def secure(certificate, monkeypatch):
    monkeypatch.setattr(transfer, "WAITS", (0,))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate[0]))
    with local_server(certificate) as running:
        running.files["/file"] = CONTENT
        yield running


def refused(url, folder, message):
    with pytest.raises(InputError, match=message) as caught:
        fetch_url(url, folder / "file")
    assert not (folder / "file").exists()
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_https(secure, tmp_path):
    fetch_url(f"{secure.root}/file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_certificates_are_checked(secure, tmp_path, monkeypatch):
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    monkeypatch.setenv("T", SECRET)
    assert SECRET not in refused(secure.root + "/file?token=${T}", tmp_path, "127.0.0.1.*certificate verify failed")


def test_from_https_only_to_https(secure, server, tmp_path):
    secure.answers["/there"] = [status(302, Location=f"{secure.root}/file")]
    fetch_url(f"{secure.root}/there", tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == CONTENT
    secure.answers["/there"] = [status(302, Location=f"{server.root}/file")]
    refused(f"{secure.root}/there", tmp_path, "redirects from https to http, which is refused")
    assert server.asked == []


def test_from_http_to_https_and_back(server, secure, tmp_path):
    server.answers["/there"] = [status(301, Location=f"{secure.root}/back")]
    secure.answers["/back"] = [status(307, Location=f"{server.root}/file")]
    refused(f"{server.root}/there", tmp_path, "redirects from https to http")
    assert [path for path, _ in server.asked] == ["/there"]


@pytest.mark.parametrize(
    "target",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/csv,text", "gopher://x", "javascript:1"],
)
def test_other_schemes(server, tmp_path, target):
    server.answers["/there"] = [status(302, Location=target)]
    refused(f"{server.root}/there", tmp_path, "only http and https are allowed")


def test_no_credentials_for_another_host(server, tmp_path, monkeypatch):
    monkeypatch.setenv("PASSWORD", SECRET)
    with local_server() as other:
        other.files["/file"] = CONTENT
        server.answers["/there"] = [status(302, Location=f"{other.root}/file", **{"Set-Cookie": "session=1"})]
        fetch_url(server.root.replace("//", "//me:${PASSWORD}@") + "/there?token=${PASSWORD}", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == [(f"/there?token={SECRET}", None)]
    assert "Authorization" in server.headers[0]
    assert SECRET not in str(other.asked) + str(other.headers)
    assert not {"Authorization", "Referer", "Cookie"} & set(other.headers[0])


def test_length_that_is_too_small_or_no_number(server, tmp_path):
    server.answers["/file"] = [lambda handler, content: server.whole(handler, content, announced=10)]
    fetch_url(f"{server.root}/file", tmp_path / "short")
    assert (tmp_path / "short").read_bytes() == CONTENT[:10]
    assert main(["download", f"--url={server.root}/file", f"--sha256={'0' * 64}", f"--output={tmp_path / 'file'}"]) == 2
    assert not (tmp_path / "file").exists()


def endless(pause):
    def answer(handler, content):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(2000):
            if not pause or time.sleep(pause) is None:
                handler.wfile.write(bytes(1 << 20) if not pause else b"x")
                handler.wfile.flush()

    return answer


def test_endless_bodies_leave_some_of_the_disk_free(server, tmp_path, monkeypatch):
    asked, real = itertools.count(), os.fstatvfs

    def filling(descriptor):
        disk = real(descriptor)
        free = disk.f_bavail if next(asked) < 20 else disk.f_blocks // 200
        return os.statvfs_result([free if k == 4 else value for k, value in enumerate(disk)])

    monkeypatch.setattr(transfer.os, "fstatvfs", filling)
    server.answers["/file"] = [endless(0)]
    refused(f"{server.root}/file", tmp_path, "less than 1% of the disk is free; delete something")
    assert (tmp_path / "file.part").stat().st_size < 25 << 20


def test_slow_servers_are_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "SLOWEST", (1 << 16, 0.2))
    server.answers["/file"] = [endless(0.02)] * 2
    began = time.monotonic()
    refused(f"{server.root}/file", tmp_path, r"sent fewer than 65,536 bytes in 0.2 s, after 2 tries")
    assert time.monotonic() - began < 30


def test_silent_servers_are_given_up(server, tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "TIMEOUT", (1, 0.3))
    server.answers["/file"] = [server.stalled(100)] * 2
    refused(f"{server.root}/file", tmp_path, "the connection failed")


def test_what_servers_say_moves_no_cursor(server, tmp_path):
    def answer(handler, content):
        handler.send_response(403, "\x1b[2Jno\x07" + "x" * 9000)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    server.answers["/file"] = [answer]
    assert len(refused(f"{server.root}/file", tmp_path, r"answered 403 \\x1b\[2Jno")) < 2200


@pytest.mark.parametrize(
    "fault", [status(404), status(500), status(302, Location="/${T}"), status(302, Location="ftp://${T}/")]
)
def test_secrets_are_shown_nowhere(server, tmp_path, monkeypatch, capfd, fault):
    monkeypatch.setenv("T", SECRET)
    url = server.root.replace("//", "//user:${T}@") + "/${T}/file.csv?X-Amz-Signature=${T}&token=${T}"
    server.answers[f"/{SECRET}/file.csv"] = [fault, status(404)]
    assert main(["download", f"--url={url}", f"--output={tmp_path / 'file.csv'}"]) == 2
    server.answers.clear()
    server.files[f"/{SECRET}/file.csv"] = CONTENT
    assert main(["download", f"--url={url}", f"--output={tmp_path / 'file.csv'}"]) == 0
    assert (tmp_path / "file.csv").read_bytes() == CONTENT
    assert server.asked[-1][0] == f"/{SECRET}/file.csv?X-Amz-Signature={SECRET}&token={SECRET}"
    written = capfd.readouterr()
    kept = "".join(f"{path}{path.read_text()}" for path in tmp_path.rglob("*") if path.is_file())
    for hidden in (SECRET, hashlib.sha256(SECRET.encode()).hexdigest()):
        assert hidden not in written.out + written.err + kept


def test_variables_that_are_not_set(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_SUCH", raising=False)
    refused("https://127.0.0.1/${NO_SUCH}", tmp_path, "environment variable NO_SUCH of an address is not set")
    monkeypatch.setenv("NO_SUCH", "a\r\nX: y")
    refused("https://127.0.0.1/${NO_SUCH}", tmp_path, "NO_SUCH has characters that no address can have")
