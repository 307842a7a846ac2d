import hashlib
import io
import zipfile

import numpy as np
import pytest
import scipy.sparse
import yaml
from click.testing import CliRunner
from local_server import local_server, status

from ovaflow.cli import main
from ovaflow.cli.download import command
from ovaflow.console.errors import InputError
from ovaflow.data import transfer
from ovaflow.data.catalogue import files_of
from ovaflow.data.checksums import enforce_record, read_record
from ovaflow.data.download import default_record, download_dataset, download_file

TRAIN, TEST = b"2 3 4\n0 0:1\n1 1:1\n", b"1 3 4\n2 2:1\n"
SIZES = {"features": 3, "labels": 4, "train": 2, "test": 1}


def packed(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"Some/{name}.txt", content)
    return buffer.getvalue()


GOOD = packed(train=TRAIN, test=TEST)
MEMBERS = {"train": "train.txt", "test": "test.txt"}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(transfer, "WAITS", (0, 0))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with local_server() as running:
        running.files["/good.zip"] = GOOD
        yield running


@pytest.fixture
def place(server, tmp_path):
    """A catalogue with one dataset "a", whose sources the test lists."""

    class Place:
        folder = tmp_path / "downloads" / "a"
        catalogue = tmp_path / "datasets.yaml"

        def offer(self, *paths, **changed):
            sources = [{"url": server.root + path, "members": MEMBERS} for path in paths]
            entry = {"title": "A", "format": "xmc-text", "counts": SIZES, "sources": sources} | changed
            self.catalogue = tmp_path / f"datasets-{len(list(tmp_path.iterdir()))}.yaml"
            self.catalogue.write_text(yaml.safe_dump({"datasets": {"a": entry}}))

        def download(self):
            download_dataset("a", self.folder, self.catalogue)

        def files(self):
            return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    return Place()


BOTH = {"train.txt": TRAIN, "test.txt": TEST}


def test_dataset_is_there_under_fixed_names(place, server):
    place.offer("/good.zip")
    place.download()
    assert place.files() == BOTH
    assert sorted(place.files()) == sorted(files_of("a", place.catalogue)["files"])
    assert sorted(path.name for path in place.folder.parent.iterdir()) == ["a", "a.sha256"]
    assert not (place.folder / ".download").exists()


def test_record_is_what_sha256sum_writes(place):
    place.offer("/good.zip")
    place.download()
    theirs = {name: hashlib.sha256(content).hexdigest() for name, content in BOTH.items()}
    assert read_record(default_record(place.folder)) == theirs
    assert default_record(place.folder).read_text().splitlines() == [f"{theirs[name]}  {name}" for name in BOTH]


def test_nothing_is_sent_for_what_is_there(place, server):
    place.offer("/good.zip")
    place.download()
    server.asked.clear()
    place.download()
    assert server.asked == []
    (place.folder / "test.txt").write_bytes(b"touched")
    place.download()
    assert place.files() == BOTH


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b"<!doctype html><title>Quota</title>", id="web page"),
        pytest.param(GOOD[:-30], id="truncated"),
        pytest.param(packed(train=TRAIN), id="member missing"),
        pytest.param(packed(train=TRAIN, test=b"1 3 5\n2 2:1\n"), id="other counts"),
        pytest.param(None, id="404"),
    ],
)
def test_the_second_source_is_tried(place, server, capsys, bad):
    if bad is not None:
        server.files["/bad.zip"] = bad
    place.offer("/bad.zip", "/good.zip")
    place.download()
    assert place.files() == BOTH
    assert "a: source 1: " in capsys.readouterr().err


def test_short_content_length_is_found_by_the_archive(place, server):
    server.answers["/good.zip"] = [lambda handler, content: server.whole(handler, content, announced=len(content) - 9)]
    server.files["/other.zip"] = GOOD
    place.offer("/good.zip", "/other.zip")
    place.download()
    assert place.files() == BOTH


def test_counts_that_differ_are_both_named(place, server):
    place.offer("/good.zip", counts=SIZES | {"train": 20_000, "labels": 5})
    with pytest.raises(InputError, match="train has n = 2 and not 20,000, l = 4 and not 5 as the catalogue says"):
        place.download()
    assert place.files() == {}
    assert not default_record(place.folder).exists()


def test_every_refusal_is_told_and_what_to_do(place, server, capsys):
    server.answers["/busy.zip"] = [status(503)] * 9
    place.offer("/none.zip", "/busy.zip")
    with pytest.raises(InputError) as caught:
        place.download()
    told = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[:2] for line in told] == [["a", "source 1"], ["a", "source 2"]]
    message = str(caught.value)
    assert "answered 404" in message
    assert "answered 503 Service Unavailable, after 3 tries" in message
    assert f"download {server.root}/none.zip by hand, put the archive at {place.folder}/a.archive" in message


def test_archive_put_there_by_hand(place, server):
    place.offer("/none.zip")
    place.folder.mkdir(parents=True)
    (place.folder / "a.archive").write_bytes(GOOD)
    place.download()
    assert place.files() == BOTH | {"a.archive": GOOD}
    assert server.asked == []


def test_other_data_than_recorded_is_refused(place, server):
    place.offer("/good.zip")
    place.download()
    (place.folder / "test.txt").unlink()
    server.files["/good.zip"] = packed(train=TRAIN, test=b"1 3 4\n3 2:1\n")
    with pytest.raises(InputError, match=r"a\.sha256: test\.txt has the sha256 \w+, recorded is .*delete this record"):
        place.download()
    assert place.files() == {"train.txt": TRAIN}


def test_checksum_of_the_archive(place, server):
    server.files["/bad.zip"] = packed(train=TRAIN, test=b"1 3 4\n3 2:1\n")
    digest = hashlib.sha256(GOOD).hexdigest()
    sources = [{"url": f"{server.root}/{x}.zip", "members": MEMBERS, "sha256": digest} for x in ("bad", "good")]
    place.offer(sources=sources)
    place.download()
    assert place.files() == BOTH


def test_interrupted_unpacking_does_not_download_again(place, server, monkeypatch):
    place.offer("/good.zip")
    with monkeypatch.context() as patch:
        patch.setattr("ovaflow.data.download.extract", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            place.download()
    place.download()
    assert place.files() == BOTH
    assert len(server.asked) == 1


def test_one_data_file_and_files_of_ids(place, server):
    server.files["/split.zip"] = packed(
        A_data=b"3 3 4\n0 0:1\n2 2:1\n1 1:1\n", a_trSplit=b"3 1\n1 2\n", a_tstSplit=b"2 3\n"
    )
    members = {"data": "A_data.txt", "train": "a_trSplit.txt", "test": "a_tstSplit.txt"}
    place.offer(sources=[{"url": f"{server.root}/split.zip", "members": members}])
    place.download()
    assert place.files() == BOTH


def test_features_and_labels_apart(place, server):
    server.files["/pairs.zip"] = packed(
        trX=b"2 3\n0:1\n1:1\n", trY=b"2 4\n0:1\n1:1\n", tsX=b"1 3\n2:1\n", tsY=b"1 4\n2:1.0\n"
    )
    members = {"train": "trX.txt", "train_labels": "trY.txt", "test": "tsX.txt", "test_labels": "tsY.txt"}
    place.offer(sources=[{"url": f"{server.root}/pairs.zip", "members": members}])
    place.download()
    assert place.files() == BOTH


def matrix(shape):
    buffer = io.BytesIO()
    scipy.sparse.save_npz(buffer, scipy.sparse.csr_matrix(np.eye(*shape, dtype=np.float32)))
    return buffer.getvalue()


def test_npz_pairs(place, server):
    parts = {"trX": matrix((2, 3)), "trY": matrix((2, 4)), "tsX": matrix((1, 3)), "tsY": matrix((1, 4))}
    server.files["/npz.zip"] = packed(**parts)
    members = {"train": "trX.txt", "train_labels": "trY.txt", "test": "tsX.txt", "test_labels": "tsY.txt"}
    sources = [{"url": f"{server.root}/npz.zip", "members": members}]
    place.offer(sources=sources, format="npz")
    place.download()
    assert place.files() == dict(zip(files_of("a", place.catalogue)["files"], parts.values(), strict=True))
    place.offer(sources=sources, format="npz", counts={"labels": 5})
    (place.folder / "X.trn.npz").unlink()
    with pytest.raises(InputError, match="l = 4 and not 5"):
        place.download()


def test_single_file(server, tmp_path):
    target = tmp_path / "in" / "good.zip"
    download_file(f"{server.root}/good.zip", target)
    assert target.read_bytes() == GOOD
    assert sorted(path.name for path in target.parent.iterdir()) == ["good.zip", "good.zip.sha256"]
    target.unlink()
    server.files["/good.zip"] = GOOD + b"x"
    with pytest.raises(InputError, match="recorded is"):
        download_file(f"{server.root}/good.zip", target)
    assert not target.exists()


def test_single_file_with_a_given_checksum(server, tmp_path):
    url, target = f"{server.root}/good.zip", tmp_path / "good.zip"
    with pytest.raises(InputError, match=r"/good\.zip: sha256 is .* and must be 00"):
        download_file(url, target, sha256="0" * 64)
    assert not target.exists()
    assert not default_record(target).exists()
    download_file(url, target, sha256=hashlib.sha256(GOOD).hexdigest().upper())
    assert target.read_bytes() == GOOD


def test_damaged_record_names_its_line(tmp_path):
    (tmp_path / "r").write_text(f"{'0' * 64}  a\nnonsense\n")
    with pytest.raises(InputError, match="r, line 2: not a line of sha256sum"):
        enforce_record(tmp_path / "r", {})


def test_command_line(place, server, capsys):
    place.offer("/good.zip")
    options = [f"--catalogue={place.catalogue}", f"--output={place.folder}"]
    assert main(["download", "--dataset=a", *options]) == 0
    assert place.files() == BOTH
    assert main(["download", "--dataset=b", *options]) == 2
    assert "no dataset 'b'; choose from a" in capsys.readouterr().err
    assert main(["download", *options]) == 2
    assert main(["download", "--url=file:///etc/passwd", f"--output={place.folder}/x"]) == 2


def test_help():
    assert "--record" in CliRunner().invoke(command, ["--help"]).output
