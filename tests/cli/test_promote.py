"""ovaflow promote: what it refuses, what it copies, and what a killed one leaves."""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest
from commands import ovaflow
from records import read_records, write_records
from synthetic import prepare_and_train
from tiny_table import write_table

from ovaflow.prediction import promotion
from ovaflow.prediction.predictor import Predictor


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """checked.csv; good, fair and bad.h5, of 100 records, of 99, and of 100 with wrong labels."""
    folder = tmp_path_factory.mktemp("promote")
    write_table(folder / "records.csv")
    records = read_records(folder / "records.csv")
    write_records(folder / "checked.csv", records[100:])
    shuffled = [
        record | {"labels": records[(n + 7) % 100]["labels"]}
        for n, record in enumerate(records[:100])
    ]
    for name, rows in (("good", records[:100]), ("fair", records[:99]), ("bad", shuffled)):
        write_records(folder / f"{name}.csv", rows)
        prepare_and_train(
            folder, "--format=csv", f"--train={folder}/{name}.csv", "--label-separator=|", name=name
        )
    return folder


@pytest.fixture
def models(tmp_path):
    """Where the link to the model in use is."""
    return tmp_path / "models"


@pytest.fixture
def promote(folder, models):
    """Return a function that promotes a model and returns the last line."""

    def run_promote(name, *options, on="checked.csv", status=0):
        files = folder / name, f"--over={models}/current", f"--on={folder / on}"
        return ovaflow("promote", files, options, status=status).splitlines()[-1]

    return run_promote


def read_link(models):
    return os.readlink(models / "current")


def test_a_better_model_takes_the_place_of_a_worse_one(promote, folder, models) -> None:
    assert "models/current -> 2" in promote("bad.h5")
    before = read_link(models)
    (folder / "metrics.json").write_text("of another model")
    line = promote("good.h5")
    assert not (models / "current" / "metrics.json").exists()
    assert " after " in line
    assert " records better, " in line
    model = folder / "good.h5"
    checksum = Predictor.open(model).model.checksum
    assert read_link(models).endswith(f"-{checksum[:8]}")
    assert (models / "current" / "model.h5").read_bytes() == model.read_bytes()
    assert sorted(os.listdir(models)) == sorted([before, read_link(models), "current"])
    assert "is already in use" in promote("good.h5")
    assert len(os.listdir(models)) == 3


def test_a_worse_model_is_refused(promote, models) -> None:
    promote("good.h5")
    before = read_link(models)
    entries = os.listdir(models)
    line = promote("bad.h5", status=1)
    assert "bad.h5: P@1 " in line
    assert line.endswith(f"more than 2 points less; {models}/current stays as it is")
    # within the tolerance, but not by chance
    assert "less, and not by chance" in promote("bad.h5", "--tolerance=1", status=1)
    assert (read_link(models), os.listdir(models)) == (before, entries)
    promote("fair.h5", "--tolerance=0.1", "--metric=P@5")
    assert read_link(models) != before


@pytest.mark.parametrize(
    ("name", "on", "metric", "complaint"),
    [
        ("none.h5", "checked.csv", "P@1", "none.h5: no such file"),
        ("good.h5", "none.csv", "P@1", "none.csv: cannot be read"),
        ("good.h5", "unlabelled.csv", "P@1", "unlabelled.csv: no record has a label"),
        (
            "good.h5",
            "few.csv",
            "P@1",
            "few.csv: 10 records with labels are too few to compare models",
        ),
        ("good.h5", "checked.csv", "F1", "has no second stage, so no F1 of labels that fit"),
    ],
)
def test_bad_input_is_one_line(promote, folder, models, name, on, metric, complaint) -> None:
    write_records(folder / "unlabelled.csv", [{"text": "word00", "labels": ""}])
    write_records(folder / "few.csv", read_records(folder / "good.csv")[:10])
    assert complaint in promote(name, f"--metric={metric}", on=on, status=2)
    assert not models.exists()


def test_what_is_not_a_link_stays(promote, models) -> None:
    current = models / "current"
    current.mkdir(parents=True)
    assert "current: not a symbolic link; give the path of a link" in promote("good.h5", status=2)
    (current / "model.h5").write_text("a model")
    assert "not a symbolic link; make it one: mv " in promote("good.h5", status=2)
    shutil.rmtree(current)
    current.write_text("a file")
    assert "current: not a symbolic link; give the path of a link" in promote("good.h5", status=2)
    assert current.read_text() == "a file"
    current.unlink()
    current.symlink_to("gone")
    assert "leads to gone, where there is no model.h5" in promote("good.h5", status=2)


def test_a_file_that_changes_meanwhile_is_not_taken(promote, folder, models, monkeypatch) -> None:
    def copy_another(_source, target) -> None:
        target.write_bytes((folder / "bad.h5").read_bytes())

    monkeypatch.setattr("shutil.copyfile", copy_another)
    assert "good.h5: has changed since it was measured; run" in promote("good.h5", status=2)
    assert not models.exists()


class Killed(BaseException):
    pass


# the calls by which a promotion changes what is there
@pytest.mark.parametrize(
    "call", ["shutil.copyfile", "Path.symlink_to", "Path.rename", "Path.replace"]
)
def test_a_killed_promotion_leaves_the_old_model(
    promote, folder, models, monkeypatch, call
) -> None:
    promote("fair.h5")
    before = read_link(models)
    entries = sorted(os.listdir(models))

    def kill(*_arguments):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(f"ovaflow.prediction.promotion.{call}", kill)
        patch.setattr(promotion, "_remove", lambda partial: None)
        with pytest.raises(Killed):
            promotion.promote(Predictor.open(folder / "good.h5").model, models / "current")
    assert read_link(models) == before
    assert Predictor.open(models / "current" / "model.h5").n_labels == 10
    assert sorted(os.listdir(models)) != entries
    promote("bad.h5", status=1)
    assert sorted(os.listdir(models)) == entries


FAIR_OPTIONS = ["--tolerance=0.1", "--metric=P@5"]
"""Options with which fair.h5 replaces good.h5."""


def test_two_at_once_on_an_empty_place(folder, models) -> None:
    where = [f"--over={models}/current", f"--on={folder}/checked.csv", *FAIR_OPTIONS]
    command = [sys.executable, "-m", "ovaflow", "promote", *where]
    started = [
        subprocess.Popen([*command, folder / name], stdout=subprocess.PIPE)
        for name in ("fair.h5", "good.h5")
    ]
    written = [each.communicate()[0].decode() for each in started]
    assert [each.returncode for each in started] == [0, 0]
    first, second = sorted(written, key=lambda text: " after " in text)
    assert " after " in second.replace(first, "")
    assert f"-> {read_link(models)}: P@5 " in second
    assert len(os.listdir(models)) == 3


def test_one_at_a_time_where_the_folder_comes_and_goes(models) -> None:
    inside = []

    def try_lock(number) -> None:
        with promotion.promotion_lock(models / "current"):
            inside.append(number)
            time.sleep(0.001)
            assert models.is_dir()
            assert (inside.pop(), inside) == (number, [])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(try_lock, range(200)))
    assert not models.exists()


@pytest.fixture
def earlier(folder, models):
    """Make the folder of an earlier promotion of good.h5, named after its day."""
    checksum = Predictor.open(folder / "good.h5").model.checksum[:8]

    def make_folder(day, *others, checksum=checksum, model="good.h5"):
        promoted = models / f"2026-01-{day:02}-030000-{checksum}"
        promoted.mkdir(parents=True)
        shutil.copy(folder / model, promoted / "model.h5")
        for name in others:
            (promoted / name).touch()
        return promoted

    return make_folder


def test_older_ones_go(promote, models, earlier) -> None:
    for day in (1, 2):
        earlier(day, "model.index.h5", "reranker.h5", "metrics.json")
    third = earlier(3)
    fourth = earlier(4)
    (models / "current").symlink_to(fourth.name)
    before = os.listdir(models)
    promote("good.h5", "--keep=2")
    promote("bad.h5", "--keep=2", status=1)
    assert os.listdir(models) == before
    promote("fair.h5", FAIR_OPTIONS, "--keep=3")
    assert sorted(os.listdir(models)) == [third.name, fourth.name, read_link(models), "current"]


def test_what_somebody_uses_or_no_promotion_made_stays(promote, models, earlier, tmp_path) -> None:
    rolled_back_to = earlier(1)
    (models / "current").symlink_to(rolled_back_to.name)
    (models / "staging").symlink_to(earlier(2))
    (models / "part").symlink_to(earlier(3) / "model.h5")
    earlier(4, "why-we-keep-it.txt")
    earlier(5, ".notes")
    earlier(6, checksum="0" * 8)
    earlier(7, model="checked.csv")
    earlier(8).rename(models / "2026-01-08")
    (there := earlier(9)).rename(tmp_path / "elsewhere")
    there.symlink_to(tmp_path / "elsewhere")
    newer = earlier(10)
    before = set(os.listdir(models))
    assert promote("fair.h5", FAIR_OPTIONS, "--keep=2") == f"removed {newer}"
    assert set(os.listdir(models)) == before - {newer.name} | {read_link(models)}


def test_one_that_cannot_be_removed_is_named(promote, models, earlier, monkeypatch, capsys) -> None:
    old = earlier(1)
    (models / "current").symlink_to(earlier(2).name)
    denied = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr("ovaflow.cli.promote.discard_folder", denied)
    assert " -> 2" in promote("fair.h5", FAIR_OPTIONS, "--keep=2")
    assert f"{old}: not removed (Permission denied); remove it yourself" in capsys.readouterr().err
    assert old.exists()
