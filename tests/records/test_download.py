"""Files and datasets of a catalogue from a server on this machine."""

import contextlib
import gzip
import hashlib
import io
import random
import re
import shutil
import tarfile
import zipfile

import gdown
import numpy as np
import pytest
import scipy.sparse
import yaml
from commands import ovaflow
from local_server import answer_with_content, answer_with_status, local_server

from ovaflow.console.errors import InputError
from ovaflow.records import download
from ovaflow.records.catalogue import find_entry
from ovaflow.records.download import (
    default_record,
    download_dataset,
    download_file,
    fetch_drive,
    read_record,
)

TRAIN = b"2 3 4\n0 0:1\n1 1:1\n"
TEST = b"1 3 4\n2 2:1\n"
BOTH = {"train.txt": TRAIN, "test.txt": TEST}
MEMBERS = {"train": "train.txt", "test": "test.txt"}
PAIRS = {"train": "trX.txt", "train_labels": "trY.txt", "test": "tsX.txt", "test_labels": "tsY.txt"}
TEXT = b"text,labels\none,a\n" * 9999
PAGE = b"<!DOCTYPE html><html><head><title>Drive - Quota exceeded</title></head></html>"

XHTML = b'<?xml version="1.0" encoding="UTF-8"?>\n<!-- page 7 -->\n'


def zipped(compression=zipfile.ZIP_DEFLATED, **members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in members.items():
            file.writestr(f"Some/{name}.txt", content)
    return buffer.getvalue()


def tarred(mode="w:gz", **members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(f"./Some/{name}.txt")
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def matrix(*shape):
    buffer = io.BytesIO()
    scipy.sparse.save_npz(buffer, scipy.sparse.csr_matrix(np.eye(*shape, dtype=np.float32)))
    return buffer.getvalue()


GOOD = zipped(train=TRAIN, test=TEST, my_train=b"x", README=b"x")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "MAX_RETRIES", 0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with local_server() as running:
        running.files |= {"/good.zip": GOOD, "/file.csv": TEXT, "/page": PAGE}
        yield running


@pytest.fixture
def place(server, tmp_path):
    """A catalogue with one dataset "a", whose sources the test lists."""

    class Place:
        folder = tmp_path / "downloads" / "a"
        catalogue = None

        def offer(self, *paths, members=MEMBERS, **changed) -> None:
            sources = [{"url": server.root + path, "members": members} for path in paths]
            entry = {"title": "A", "format": "xmc-text", "sources": sources} | changed
            self.catalogue = tmp_path / "datasets.yaml"
            self.catalogue.write_text(yaml.safe_dump({"datasets": {"a": entry}}))

        def download(self) -> None:
            download_dataset("a", self.folder, self.catalogue)

        def files(self):
            return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    return Place()


def test_file_and_its_record(server, tmp_path, capfd) -> None:
    path = tmp_path / "in" / "file.csv"
    url = f"{server.root}/file.csv"
    download_file(url, path)
    assert path.read_bytes() == TEXT
    assert default_record(path).read_text() == f"{hashlib.sha256(TEXT).hexdigest()}  file.csv\n"
    assert {found.name for found in path.parent.iterdir()} == {"file.csv", "file.csv.sha256"}
    assert capfd.readouterr().err.startswith("download file.csv: 179,982 bytes in ")
    download_file(url, path)
    assert server.asked == ["/file.csv"]
    path.write_bytes(b"changed")
    server.files["/file.csv"] += b"x"
    with pytest.raises(
        InputError, match=r"file.csv has the sha256 \w+, recorded is .*delete this record"
    ):
        download_file(url, path)
    assert path.read_bytes() == b"changed"


def test_given_checksum(server, tmp_path) -> None:
    path = tmp_path / "file.csv"
    url = f"{server.root}/file.csv"
    with pytest.raises(
        InputError, match=r"file\.csv: SHA256 hash .* does not match .* expected sha256:000"
    ):
        download_file(url, path, sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []
    download_file(url, path, sha256=hashlib.sha256(TEXT).hexdigest().upper())
    assert path.read_bytes() == TEXT


REFUSED = {
    "no such file": (answer_with_status(404), "answered 404 Not Found; check the address"),
    "busy": (answer_with_status(503), "answered 503 Service Unavailable"),
    "truncated": (
        lambda handler, content: answer_with_content(handler, content, sent=999),
        r"IncompleteRead\(999 bytes read",
    ),
    "web page": (
        lambda handler, _: answer_with_content(handler, PAGE),
        r"answered with a web page \(Drive - Quota exceeded\)",
    ),
    "XHTML": (
        lambda handler, _: answer_with_content(handler, XHTML + PAGE),
        r"answered with a web page \(Drive - Quota exceeded\)",
    ),
    "empty": (lambda handler, _: answer_with_content(handler, b""), "answered with an empty file"),
    "nothing": (answer_with_status(204), "answered 204 No Content"),
    "redirect to nowhere": (answer_with_status(302), "answered 302 Found"),
    "other scheme": (
        answer_with_status(302, Location="ftp://s3cr3t-Zq9/x"),
        "No connection adapters",
    ),
    "circle": (answer_with_status(302, Location="/again"), "answered 302|[Ee]xceeded 30 redirects"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_one_line_and_no_file(server, tmp_path, case, capfd, monkeypatch) -> None:
    answer, said = REFUSED[case]
    monkeypatch.setenv("TOKEN", "s3cr3t-Zq9")
    server.answers |= {
        "/file.csv": [answer],
        "/again": [answer_with_status(302, Location="/again")] * 40,
    }
    address = server.root.replace("//", "//me:${TOKEN}@") + "/file.csv?token=${TOKEN}"
    with pytest.raises(InputError, match=said) as error:
        download_file(address, tmp_path / "file.csv")
    assert str(error.value).startswith(f"{server.root}/file.csv: ")
    assert "s3cr3t" not in str(error.value) + capfd.readouterr().err
    assert server.asked[0] == "/file.csv?token=s3cr3t-Zq9"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", ["busy", "truncated"])
def test_faults_that_pass(server, tmp_path, monkeypatch, fault) -> None:
    monkeypatch.setattr(download, "MAX_RETRIES", 1)
    server.answers["/file.csv"] = [REFUSED[fault][0]]
    download_file(f"{server.root}/file.csv", tmp_path / "file.csv")
    assert (tmp_path / "file.csv").read_bytes() == TEXT


def test_packed_files_stay_packed(server, tmp_path) -> None:
    server.files["/a.gz"] = packed = gzip.compress(TEXT)
    server.answers["/a.gz"] = [
        lambda handler, content: answer_with_content(handler, content, Content_Encoding="x-gzip")
    ]
    download_file(f"{server.root}/a.gz", tmp_path / "a.gz")
    assert (tmp_path / "a.gz").read_bytes() == packed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--url=file:///etc/passwd"], "only http and https"),
        (
            ["--url=https://127.0.0.1/${NO_SUCH}"],
            "the environment variable NO_SUCH of an address is not set",
        ),
        (["--dataset=nosuch"], "no dataset 'nosuch'; choose from eurlex-4k"),
        ([], "either --dataset or --url"),
    ],
)
def test_command_line_refuses(tmp_path, options, said) -> None:
    assert said in ovaflow("download", *options, f"--output={tmp_path / 'x'}", status=2)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def drive(server, monkeypatch):
    """Google Drive on the local server: gdown's own code runs, on an address instead of an id."""
    real = gdown.download
    monkeypatch.setattr(
        gdown, "download", lambda id, **rest: real(url=f"{server.root}/drive/{id}", **rest)
    )
    monkeypatch.setattr(download, "DRIVE_URL", f"{server.root}/direct")
    return server


def test_drive(drive, tmp_path) -> None:
    drive.files |= {"/drive/1abc": TEXT, "/direct": TEXT}
    fetch_drive("1abc", tmp_path / "by gdown")
    fetch_drive("0abc", tmp_path / "directly", resourcekey="0-k_y")
    assert drive.asked[-1] == "/direct?id=0abc&export=download&confirm=t&resourcekey=0-k_y"
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {TEXT}


def test_drive_refuses(drive, tmp_path) -> None:
    for said in ("404|retrieve|permission", "Quota exceeded"):
        with pytest.raises(
            InputError, match=f"Google Drive, id 1abc: .*({said}).*check the address"
        ):
            fetch_drive("1abc", tmp_path / "file")
        drive.files["/drive/1abc"] = PAGE
    assert list(tmp_path.iterdir()) == []


SPLIT = {"data": "A_data.txt", "train": "a_trSplit.txt", "test": "a_tstSplit.txt"}
APART = {
    "trX": b"2 3\n0:1\n1:1\n",
    "trY": b"2 4\n0:1\n1:1 3:0.0\n",
    "tsX": b"1 3\n2:1",
    "tsY": b"1 4\n2:1.0\n",
}
DIVIDED = {
    "A_data": b"3 3 4\n0 0:1\n2 2:1\n1 1:1",
    "a_trSplit": b"3 1\n1 2\n",
    "a_tstSplit": b"2 3\n",
}
NPZ = {"trX": matrix(2, 3), "trY": matrix(2, 4), "tsX": matrix(1, 3), "tsY": matrix(1, 4)}
MATRICES = dict(
    zip(("X.trn.npz", "Y.trn.npz", "X.tst.npz", "Y.tst.npz"), NPZ.values(), strict=True)
)
ARCHIVES = {
    "zip": (GOOD, MEMBERS, "xmc-text", BOTH),
    "zip, bzip2": (zipped(zipfile.ZIP_BZIP2, train=TRAIN, test=TEST), MEMBERS, "xmc-text", BOTH),
    "tar.gz": (tarred(train=TRAIN, test=TEST), MEMBERS, "xmc-text", BOTH),
    "tar.xz": (tarred("w:xz", train=TRAIN, test=TEST), MEMBERS, "xmc-text", BOTH),
    "tar": (tarred("w", **NPZ), PAIRS, "npz", MATRICES),
    "one data file": (zipped(**DIVIDED), SPLIT, "xmc-text", BOTH),
    "labels apart": (zipped(**APART), PAIRS, "xmc-text", BOTH),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_dataset(place, server, kind) -> None:
    server.files["/a"], members, form, files = ARCHIVES[kind]
    place.offer("/a", members=members, format=form)
    place.download()
    assert place.files() == files
    assert {*files} == {*find_entry("a", place.catalogue).files.values()}
    assert {path.name for path in place.folder.parent.iterdir()} == {"a", "a.sha256"}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert read_record(default_record(place.folder)) == digests
    ovaflow("download", "--dataset=a", f"--catalogue={place.catalogue}", f"--output={place.folder}")
    assert server.asked == ["/a"]


CUT = tarred(train=TRAIN, test=random.Random(0).randbytes(9999))[:5000]
BAD = {
    "not found": (None, MEMBERS, "answered 404"),
    "not an archive": (TEXT, MEMBERS, "File is not a zip file"),
    "truncated tar": (CUT, MEMBERS, "damaged, or not what the catalogue says"),
    "member missing": (zipped(train=TRAIN), MEMBERS, "has 0 members test.txt, expected one"),
    "member twice": (
        zipped(train=TRAIN, test=TEST, **{"other/train": b"x"}),
        MEMBERS,
        "has 2 members train.txt",
    ),
    "no header": (zipped(**DIVIDED | {"A_data": b"0 0:1\n"}), SPLIT, "expected a header"),
    "number too large": (
        zipped(**DIVIDED | {"a_trSplit": b"3 1\n4 2\n"}),
        SPLIT,
        "expected instance numbers from 1 to 3",
    ),
    "not a label": (
        zipped(**APART | {"trY": b"2 4\n0:x\n1:1\n"}),
        PAIRS,
        "not what the catalogue says (could not",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_the_second_source_is_tried(place, server, capsys, case) -> None:
    content, members, said = BAD[case]
    if content is not None:
        server.files["/bad"] = content
    offered = {"/bad": members, "/good.zip": MEMBERS}
    place.offer(
        sources=[{"url": server.root + path, "members": kept} for path, kept in offered.items()]
    )
    place.download()
    assert place.files() == BOTH
    assert re.search(f"a: source 1: .*{re.escape(said)}", capsys.readouterr().err)


@pytest.mark.parametrize("kind", ["zip", "zip, bzip2", "tar.gz", "tar"])
def test_wherever_an_archive_is_damaged_it_is_refused_or_read(place, kind) -> None:
    content, members, form, _ = ARCHIVES[kind]
    place.offer("/none", members=members, format=form)
    rng = random.Random(0)
    for _ in range(150):
        damaged = bytearray(content)
        damaged[rng.randrange(len(content))] ^= rng.randrange(1, 256)
        place.folder.mkdir(parents=True)
        (place.folder / "a.archive").write_bytes(damaged)
        with contextlib.suppress(InputError):
            place.download()
        assert not (place.folder / ".download").exists()
        shutil.rmtree(place.folder.parent)


def test_every_refusal_is_told_and_what_to_do(place, server, capsys) -> None:
    server.answers["/busy"] = [answer_with_status(503)]
    place.offer("/none", "/busy")
    with pytest.raises(
        InputError, match=r"source 1: .*answered 404.*source 2: .*answered 503 Service"
    ) as error:
        place.download()
    remedy = (
        f"download {server.root}/none by hand, "
        f"put the archive at {place.folder}/a.archive and run again"
    )
    assert str(error.value).endswith(remedy)
    assert place.files() == {}
    (place.folder / "a.archive").write_bytes(GOOD)
    server.asked.clear()
    place.download()
    assert place.files() == BOTH | {"a.archive": GOOD}
    assert server.asked == []


def test_other_data_than_recorded_is_refused(place, server) -> None:
    place.offer("/good.zip")
    place.download()
    (place.folder / "test.txt").unlink()
    server.files["/good.zip"] = zipped(train=TRAIN, test=b"1 3 4\n3 2:1\n")
    with pytest.raises(
        InputError,
        match=r"a\.sha256: test\.txt has the sha256 \w+, recorded is .*delete this record",
    ):
        place.download()
    assert place.files() == {"train.txt": TRAIN}
    default_record(place.folder).write_text("nonsense\n")
    with pytest.raises(InputError, match=r"a\.sha256: not a file of sha256sum; delete the record"):
        place.download()
