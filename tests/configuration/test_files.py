"""Which files the steps read and make."""

import pytest

from ovaflow.configuration import files, steps
from ovaflow.configuration.resolve import resolve
from ovaflow.console.errors import InputError

MINE = {"mine": {"format": "csv", "train": "a b'c;d.csv.gz"}}


def settings(**sections):
    return resolve(sections, {"datasets": MINE, "runs": {"msi": {}, "dismec": {"initialization": "zero"}}})


def test_traces_only_of_runs_that_ask_for_them():
    mine = settings(runs={"msi": {"trace": 30, "C": 2}, "dismec": {"initialization": "zero"}})
    assert files.figure_files(mine) == [
        f"results/mine/{file}" for file in ("msi/trace.h5", "msi/prune.json", "dismec/prune.json")
    ]
    options = steps.trace_options(mine, "mine", "msi")
    assert {"--labels=30", "--C=2.0", "--initialization=mean-separating"} <= set(options)
    assert not [option for option in options if "threshold" in option]
    assert steps.train_options(mine, "msi") == steps.train_options(settings(train={"C": 2}), "msi")


def test_prune_curves_of_all_runs_or_none():
    assert files.figure_files(settings(report={"prune_thresholds": []})) == []
    options = steps.prune_curve_options(settings(report={"prune_thresholds": [0.1, 0.5]}), "mine")
    assert options == ["--threshold=0.1", "--threshold=0.5", "--propensity-a=0.55", "--propensity-b=1.5"]


def test_only_runs_that_need_them_wait_for_root_and_tree():
    starts = ("zero", "all-negative", "label-tree")
    runs = settings(runs={name: {"initialization": name} for name in starts})
    root, tree = "results/mine/{}/root.h5", "results/mine/label_tree.h5"
    assert [files.start_files(runs, "mine", name) for name in starts] == [
        {},
        {"root": root.format("all-negative")},
        {"root": root.format("label-tree"), "label_tree": tree},
    ]
    assert [files.tree_file(runs, "mine", name) for name in starts] == [{}, {}, {"label_tree": tree}]
    assert steps.root_options(runs, "label-tree") == ["--C=1.0", "--loss=squared-hinge", "--root-epsilon=0.01"]


def test_raw_files():
    assert files.raw_files(settings(), "mine") == {"train": "a b'c;d.csv.gz"}
    remote = settings(datasets={"mine": {"format": "csv", "train": "https://example.org/a/b%20c;d.csv.gz?x=1#y"}})
    assert files.raw_files(remote, "mine") == {"train": "downloads/mine/train/b_c_d.csv.gz"}
    assert files.raw_files(settings(datasets={"mine": {"source": "builtin"}}), "mine") == {}


@pytest.mark.parametrize(
    "address", ["http://a/..", "http://a/", "http://a/%2e%2e", "http://a/%2Fetc%2Fpasswd", "http://a"]
)
def test_downloads_stay_in_their_folder(address):
    name = files.download_name(address)
    assert name
    assert "/" not in name
    assert not name.startswith(".")


def test_files_must_be_there_or_what_was_prepared_from_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mine = settings(datasets={"mine": {"format": "csv", "train": "a.csv"}})
    with pytest.raises(InputError, match=r"datasets\.mine\.train: no such file: a\.csv"):
        files.require_files(mine)
    prepared = tmp_path / "results" / "mine" / "dataset.h5"
    prepared.parent.mkdir(parents=True)
    prepared.touch()
    files.require_files(mine)
    assert "a.csv; results/mine/dataset.h5 stays as it is" in capsys.readouterr().err
    (tmp_path / "a.csv").touch()
    files.require_files(mine)
    assert capsys.readouterr().err == ""
