import gzip
import io
import random
import tarfile
import time
import warnings
import zipfile

import pytest

from ovaflow.console.errors import InputError
from ovaflow.data import archive as module
from ovaflow.data.archive import extract

CONTENT = b"2 3 4\n" + random.Random(0).randbytes(200_000)
WANTED = {"train": "a_train.txt", "test": "a_test.txt"}
MEMBERS = {"A/a_train.txt": CONTENT, "A/a_test.txt": b"0 3 4\n", "A/README": b"read me"}


def zipped(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def tarred(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def refused(path, tmp_path, complaint, wanted=WANTED):
    with pytest.raises(InputError, match=complaint):
        extract(path, wanted, tmp_path / "out")
    assert contents(tmp_path / "out") == {}
    assert sorted(left.name for left in tmp_path.iterdir()) == sorted([path.name, "out"])


@pytest.mark.parametrize(
    "pack", [zipped, tarred, *(lambda p, m, k=k: tarred(p, m, f"w:{k}") for k in ("", "bz2", "xz"))]
)
def test_only_wanted_members_come_out(tmp_path, pack):
    extract(pack(tmp_path / "a", MEMBERS), WANTED, tmp_path / "out")
    assert contents(tmp_path / "out") == {"train": CONTENT, "test": b"0 3 4\n"}


def test_names_are_whole_parts_of_the_path(tmp_path):
    members = {"my_a_train.txt": b"x", "__MACOSX/A/a_train.txt": b"x", "./B\\a_train.txt": b"right", "a_test.txt": b""}
    extract(tarred(tmp_path / "a", members), WANTED, tmp_path / "out")
    assert contents(tmp_path / "out") == {"train": b"right", "test": b""}


def test_folders_tell_members_apart(tmp_path):
    members = {"e/X.npz": b"1", "e/tfidf/X.npz": b"2"}
    extract(zipped(tmp_path / "a", members), {"x": "tfidf/X.npz"}, tmp_path / "out")
    assert contents(tmp_path / "out") == {"x": b"2"}


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", ["../a_train.txt", "A/../../a_train.txt", "/tmp/a_train.txt", "C:\\x\\a_train.txt"])
def test_paths_that_point_outside_are_refused(tmp_path, pack, name):
    refused(pack(tmp_path / "a", {"A/a_test.txt": b"x", name: b"evil"}), tmp_path, "points out of the archive")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    with tarfile.open(tmp_path / "a", "w") as file:
        info = tarfile.TarInfo("A/a_train.txt")
        info.type, info.linkname = kind, "/etc/passwd"
        file.addfile(tarfile.TarInfo("A/a_test.txt"))
        file.addfile(info)
    refused(tmp_path / "a", tmp_path, "is a link, a device or encrypted")


def test_link_in_a_zip_is_refused(tmp_path):
    info = zipfile.ZipInfo("A/a_train.txt")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a", "w") as file:
        file.writestr(info, "/etc/passwd")
        file.writestr("A/a_test.txt", "x")
    refused(tmp_path / "a", tmp_path, "is a link, a device or encrypted")


def test_encrypted_zip_is_refused(tmp_path):
    path = zipped(tmp_path / "a", MEMBERS)
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    refused(path, tmp_path, "encrypted")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_bomb(tmp_path, pack, monkeypatch):
    monkeypatch.setattr(module, "HARMLESS", 1 << 20)
    path = pack(tmp_path / "a", {"A/a_train.txt": b"1", "A/a_test.txt": b"2", "B/zeros": bytes(20 << 20)})
    refused(path, tmp_path, "refused as a bomb")


def test_bomb_behind_the_end_of_a_tar(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "HARMLESS", 1 << 20)
    path = tarred(tmp_path / "a", {"A/a_train.txt": b"1", "A/a_test.txt": b"2"})
    path.write_bytes(path.read_bytes() + gzip.compress(bytes(20 << 20)))
    refused(path, tmp_path, "refused as a bomb")


def test_bomb_that_declares_little(tmp_path):
    path = zipped(tmp_path / "a", {"A/a_train.txt": bytes(5 << 20), "A/a_test.txt": b"x"})
    data = path.read_bytes()
    size = (5 << 20).to_bytes(4, "little")
    path.write_bytes(data.replace(size, (100).to_bytes(4, "little")))
    refused(path, tmp_path, "damaged archive|declared size")


def test_full_disk_is_foreseen(tmp_path, monkeypatch):
    usage = module.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: usage._replace(free=1000))
    refused(zipped(tmp_path / "a", MEMBERS), tmp_path, "more than the disk has free")


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_truncated_archive(tmp_path, pack, kept):
    path = pack(tmp_path / "a", MEMBERS)
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    refused(path, tmp_path, "damaged")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_one_wrong_byte(tmp_path, pack):
    path = pack(tmp_path / "a", MEMBERS)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    refused(path, tmp_path, "damaged")


@pytest.mark.parametrize("content", [b"", b"1 2 3\n0 1:1\n", b"<html>"])
def test_no_archive(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    refused(tmp_path / "a", tmp_path, "no zip or tar archive")


def test_missing_and_ambiguous_members(tmp_path):
    refused(zipped(tmp_path / "a", {"A/a_train.txt": b"x"}), tmp_path, "has no member a_test.txt")
    refused(zipped(tmp_path / "a", MEMBERS | {"B/a_train.txt": b"y"}), tmp_path, "several members that end in")


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_thousands_of_members_and_strange_names_leave_nothing_beside_the_wanted(tmp_path, pack):
    strange = ["a\nb", "\x1b[2Jc", "-rf", "e\u0301", "CON", "a" * 200, "$(touch taken)", "*", "x/./y//z"]
    members = {f"A/{number}": b"x" for number in range(5000)} | {f"A/{name}": b"x" for name in strange} | MEMBERS
    began = time.monotonic()
    extract(pack(tmp_path / "a", members), WANTED, tmp_path / "out")
    assert time.monotonic() - began < 60
    assert contents(tmp_path / "out") == {"train": CONTENT, "test": b"0 3 4\n"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "out"]


def test_a_million_empty_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_MEMBERS", 500)
    for pack in (zipped, tarred):
        path = pack(tmp_path / pack.__name__, {f"A/{number}": b"" for number in range(600)})
        with pytest.raises(InputError, match="has more than 500 members"):
            extract(path, WANTED, tmp_path / "out")


def test_the_same_member_twice_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a", "w") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("A/a_train.txt", "A/a_train.txt", "A/a_test.txt"):
            file.writestr(name, "x")
    refused(tmp_path / "a", tmp_path, "has several members that end in 'a_train.txt'")


def test_a_symlink_to_a_folder_does_not_lead_members_outside(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    with tarfile.open(tmp_path / "a", "w") as file:
        link = tarfile.TarInfo("A")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "elsewhere")
        file.addfile(link)
        for name, content in MEMBERS.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    extract(tmp_path / "a", WANTED, tmp_path / "out")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert contents(tmp_path / "out") == {"train": CONTENT, "test": b"0 3 4\n"}


def test_a_file_that_stands_where_a_member_goes_is_not_followed(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "victim").write_bytes(b"kept")
    (tmp_path / "out" / "train").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="File exists"):
        extract(zipped(tmp_path / "a", MEMBERS), WANTED, tmp_path / "out")
    assert (tmp_path / "victim").read_bytes() == b"kept"


def test_archives_in_archives_are_not_unpacked(tmp_path):
    inner = zipped(tmp_path / "inner", {"A/a_train.txt": b"x", "A/a_test.txt": b"x"}).read_bytes()
    (tmp_path / "inner").unlink()
    refused(zipped(tmp_path / "a", {"inner.zip": inner}), tmp_path, "has no member a_train.txt")


def test_ten_gigabytes_declared_in_a_small_archive(tmp_path):
    path = tarred(tmp_path / "a", {"A/a_train.txt": b"1"}, "w")
    header = bytearray(path.read_bytes())
    header[124:136] = b"%011o\0" % (10 << 30)
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + sum(header[156:512]) + 8 * 32)
    path.write_bytes(bytes(header))
    refused(path, tmp_path, "refused as a bomb")
