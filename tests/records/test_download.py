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


def make_zip(compression=zipfile.ZIP_DEFLATED, **members) -> bytes:
    """Make an archive of texts by their names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in members.items():
            file.writestr(f"Some/{name}.txt", content)
    return buffer.getvalue()


def make_tar(mode="w:gz", **members) -> bytes:
    """Make an archive of texts by their names."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(f"./Some/{name}.txt")
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def make_npz(n_rows, n_columns) -> bytes:
    """Make a sparse matrix with ones on its diagonal."""
    buffer = io.BytesIO()
    matrix = scipy.sparse.csr_matrix(np.eye(n_rows, n_columns, dtype=np.float32))
    scipy.sparse.save_npz(buffer, matrix)
    return buffer.getvalue()


GOOD = make_zip(train=TRAIN, test=TEST, my_train=b"x", README=b"x")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "MAX_RETRIES", 0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with local_server() as running:
        running.files |= {"/good.zip": GOOD, "/file.csv": TEXT, "/page": PAGE}
        yield running


class DownloadFolder:
    """The folder of the data set "a", and the catalogue that has it."""

    def __init__(self, root, folder) -> None:
        self._root = root
        self.folder = folder / "downloads" / "a"
        self.catalogue = folder / "datasets.yaml"

    def offer(self, members_by_path, format="xmc-text") -> None:
        """Write the catalogue, with members of archives by their paths on the server."""
        sources = []
        for path, members in members_by_path.items():
            sources.append({"url": self._root + path, "members": members})
        entry = {"title": "A", "format": format, "sources": sources}
        self.catalogue.write_text(yaml.safe_dump({"datasets": {"a": entry}}))

    def download(self) -> None:
        download_dataset("a", self.folder, self.catalogue)

    def read_files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}


@pytest.fixture
def place(server, tmp_path) -> DownloadFolder:
    """The folder of the data set "a", whose sources the test lists."""
    return DownloadFolder(server.root, tmp_path)


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
        InputError, match=r"file.csv has the sha256 \w+, recorded is .*delete this file"
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
    server.answers["/file.csv"] = [answer]
    server.answers["/again"] = [answer_with_status(302, Location="/again")] * 40
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
    packed = gzip.compress(TEXT)

    def answer_as_encoded(handler, content) -> None:
        answer_with_content(handler, content, Content_Encoding="x-gzip")

    server.files["/a.gz"] = packed
    server.answers["/a.gz"] = [answer_as_encoded]
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
    output = f"--output={tmp_path / 'x'}"
    assert said in ovaflow("download", output, options, status=2)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def drive(server, monkeypatch):
    """Google Drive on the local server: gdown's own code runs, on an address instead of an id."""
    real = gdown.download

    def download_from_server(id, **options):
        return real(url=f"{server.root}/drive/{id}", **options)

    monkeypatch.setattr(gdown, "download", download_from_server)
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


ONE_FILE = {"data": "A_data.txt", "train": "a_trSplit.txt", "test": "a_tstSplit.txt"}
LABELS_APART = {
    "trX": b"2 3\n0:1\n1:1\n",
    "trY": b"2 4\n0:1\n1:1 3:0.0\n",
    "tsX": b"1 3\n2:1",
    "tsY": b"1 4\n2:1.0\n",
}
DATA_AND_SPLITS = {
    "A_data": b"3 3 4\n0 0:1\n2 2:1\n1 1:1",
    "a_trSplit": b"3 1\n1 2\n",
    "a_tstSplit": b"2 3\n",
}
NPZ = {
    "trX": make_npz(2, 3),
    "trY": make_npz(2, 4),
    "tsX": make_npz(1, 3),
    "tsY": make_npz(1, 4),
}
MATRICES = {
    "X.trn.npz": NPZ["trX"],
    "Y.trn.npz": NPZ["trY"],
    "X.tst.npz": NPZ["tsX"],
    "Y.tst.npz": NPZ["tsY"],
}
ARCHIVES = {
    "zip": (GOOD, MEMBERS, "xmc-text", BOTH),
    "zip, bzip2": (make_zip(zipfile.ZIP_BZIP2, train=TRAIN, test=TEST), MEMBERS, "xmc-text", BOTH),
    "tar.gz": (make_tar(train=TRAIN, test=TEST), MEMBERS, "xmc-text", BOTH),
    "tar.xz": (make_tar("w:xz", train=TRAIN, test=TEST), MEMBERS, "xmc-text", BOTH),
    "tar": (make_tar("w", **NPZ), PAIRS, "npz", MATRICES),
    "one data file": (make_zip(**DATA_AND_SPLITS), ONE_FILE, "xmc-text", BOTH),
    "labels apart": (make_zip(**LABELS_APART), PAIRS, "xmc-text", BOTH),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_dataset(place, server, kind) -> None:
    content, members, format, files = ARCHIVES[kind]
    server.files["/a"] = content
    place.offer({"/a": members}, format)
    place.download()
    assert place.read_files() == files
    assert set(files) == set(find_entry("a", place.catalogue).files.values())
    assert {path.name for path in place.folder.parent.iterdir()} == {"a", "a.sha256"}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert read_record(default_record(place.folder)) == digests
    ovaflow("download", "--dataset=a", f"--catalogue={place.catalogue}", f"--output={place.folder}")
    assert server.asked == ["/a"]


CUT = make_tar(train=TRAIN, test=random.Random(0).randbytes(9999))[:5000]
BAD = {
    "not found": (None, MEMBERS, "answered 404"),
    "not an archive": (TEXT, MEMBERS, "File is not a zip file"),
    "truncated tar": (CUT, MEMBERS, "damaged, or not what the catalogue says"),
    "member missing": (make_zip(train=TRAIN), MEMBERS, "has 0 members test.txt, expected one"),
    "member twice": (
        make_zip(train=TRAIN, test=TEST, **{"other/train": b"x"}),
        MEMBERS,
        "has 2 members train.txt",
    ),
    "no header": (
        make_zip(**DATA_AND_SPLITS | {"A_data": b"0 0:1\n"}),
        ONE_FILE,
        "expected a header",
    ),
    "number too large": (
        make_zip(**DATA_AND_SPLITS | {"a_trSplit": b"3 1\n4 2\n"}),
        ONE_FILE,
        "expected instance numbers from 1 to 3",
    ),
    "not a label": (
        make_zip(**LABELS_APART | {"trY": b"2 4\n0:x\n1:1\n"}),
        PAIRS,
        "not what the catalogue says (could not",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_the_second_source_is_tried(place, server, capsys, case) -> None:
    content, members, said = BAD[case]
    if content is not None:
        server.files["/bad"] = content
    place.offer({"/bad": members, "/good.zip": MEMBERS})
    place.download()
    assert place.read_files() == BOTH
    assert re.search(f"a: source 1: .*{re.escape(said)}", capsys.readouterr().err)


@pytest.mark.parametrize("kind", ["zip", "zip, bzip2", "tar.gz", "tar"])
def test_wherever_an_archive_is_damaged_it_is_refused_or_read(place, kind) -> None:
    content, members, format, _ = ARCHIVES[kind]
    place.offer({"/none": members}, format)
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
    place.offer({"/none": MEMBERS, "/busy": MEMBERS})
    with pytest.raises(
        InputError, match=r"source 1: .*answered 404.*source 2: .*answered 503 Service"
    ) as error:
        place.download()
    remedy = (
        f"download {server.root}/none by hand, "
        f"put the archive at {place.folder}/a.archive and run again"
    )
    assert str(error.value).endswith(remedy)
    assert place.read_files() == {}
    (place.folder / "a.archive").write_bytes(GOOD)
    server.asked.clear()
    place.download()
    assert place.read_files() == BOTH | {"a.archive": GOOD}
    assert server.asked == []


def test_other_data_than_recorded_is_refused(place, server) -> None:
    place.offer({"/good.zip": MEMBERS})
    place.download()
    (place.folder / "test.txt").unlink()
    server.files["/good.zip"] = make_zip(train=TRAIN, test=b"1 3 4\n3 2:1\n")
    with pytest.raises(
        InputError,
        match=r"a\.sha256: test\.txt has the sha256 \w+, recorded is .*delete this file",
    ):
        place.download()
    assert place.read_files() == {"train.txt": TRAIN}
    default_record(place.folder).write_text("nonsense\n")
    with pytest.raises(InputError, match=r"a\.sha256: not a file of sha256sum; delete it"):
        place.download()
