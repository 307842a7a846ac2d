"""Sources of suggestions: other runs of the config, and files."""

import pytest
from made_config import MINE, complaint, made

from ovaflow.console.errors import InputError
from ovaflow.settings.config import require_files
from ovaflow.settings.suggestion_sources import Sources, source_name, sources_of


def test_a_run_is_not_a_source_of_its_own():
    runs = {"msi": {}, "trees": {"method": "fastxml"}, "none": {"rerank": 0}, "mine": {"rerank_with": ["msi"]}}
    config = made(runs, predict={"rerank": 0.2, "rerank_with": ["trees", "b/mllm.csv.gz", "msi"]})
    files = {"mllm": "b/mllm.csv.gz"}
    expected = [Sources(["trees"], files), Sources(["msi"], files), Sources([], {}), Sources(["msi"], {})]
    assert [sources_of(config, "mine", run) for run in runs] == expected


@pytest.mark.parametrize(
    ("path", "name"), [("mllm.csv", "mllm"), ("a/b.c.csv.gz", "b"), ("folder/", "folder"), ("a=b.csv", "a-b")]
)
def test_a_file_gives_a_source_its_name(path, name):
    assert source_name(path) == name


NEEDS = "rerank_with needs rerank, the share of instances that is held out"
LATER = {"initialization": "pretrained", "pretrained": "a", "retrain": "changed"}


@pytest.mark.parametrize(
    ("expected", "runs", "rerank"),
    [
        ("runs.a: rerank_with names the run itself; name others", {"a": {"rerank_with": ["a"]}}, 0.2),
        (f"runs.a: {NEEDS}", {"a": {"rerank_with": ["b"]}, "b": {}}, 0),
        ("runs.a: optimise needs rerank, which gives probabilities", {"a": {"optimise": "macro-F1"}}, 0),
        (
            "runs.a.rerank_with: b is a sweep; name one of b.C-1, b.C-2",
            *({"a": {"rerank_with": ["b"]}, "b": {"sweep": {"C": [1, 2]}}}, 0.2),
        ),
        (
            "runs.a.rerank_with: two sources are called b; rename all files but one",
            *({"a": {"rerank_with": ["x/b.csv", "y/b.csv"]}}, 0.2),
        ),
        (
            "runs.a.rerank_with: b needs retrain: all; kept weights may have seen held-out instances",
            *({"a": {"rerank": 0.2, "rerank_with": ["b"]}, "b": LATER}, "auto"),
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(expected, runs, rerank):
    assert expected in complaint({"runs": runs, "predict": {"rerank": rerank}})


def test_suggestions_of_all_runs_need_a_second_stage():
    assert f"predict: {NEEDS}" in complaint({"predict": {"rerank": 0, "rerank_with": ["b"]}})


def test_files_of_suggestions_must_be_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / MINE["train"]).touch()
    missing = made({"msi": {"rerank": 0.2, "rerank_with": ["trees"]}})
    with pytest.raises(InputError, match=r"runs\.msi\.rerank_with: no run and no file trees; paths are relative"):
        require_files(missing)
    (tmp_path / "trees").mkdir()
    require_files(missing)
