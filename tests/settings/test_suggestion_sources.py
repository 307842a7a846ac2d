"""Sources of suggestions: other runs of the config, and files."""

import pytest

from ovaflow.console.errors import InputError
from ovaflow.settings.config import require_files, resolve
from ovaflow.settings.suggestion_sources import Sources, source_name, sources_of

DATA = {"mine": {"format": "csv", "train": "a.csv"}}


def settings(runs, **predict):
    return resolve({"runs": runs, "predict": predict}, {"datasets": DATA})


def test_a_run_is_not_a_source_of_its_own():
    runs = {"msi": {}, "trees": {"method": "fastxml"}, "none": {"rerank": 0}, "mine": {"rerank_with": ["msi"]}}
    config = settings(runs, rerank=0.2, rerank_with=["trees", "b/mllm.csv.gz", "msi"])
    files = {"mllm": "b/mllm.csv.gz"}
    expected = [Sources(["msi", "trees"], files)._replace(runs=[other]) for other in ("trees", "msi")]
    expected += [Sources([], {}), Sources(["msi"], {})]
    assert [sources_of(config, "mine", run) for run in runs] == expected


@pytest.mark.parametrize(
    ("path", "name"), [("mllm.csv", "mllm"), ("a/b.c.csv.gz", "b"), ("folder/", "folder"), ("a=b.csv", "a-b")]
)
def test_a_file_gives_a_source_its_name(path, name):
    assert source_name(path) == name


NEEDS = "rerank_with needs rerank, the share of instances that is held out"
LATER = {"initialization": "pretrained", "pretrained": "a", "retrain": "changed"}


@pytest.mark.parametrize(
    ("runs", "predict", "expected"),
    [
        ({"a": {"rerank_with": ["a"]}}, {"rerank": 0.2}, "runs.a: rerank_with names the run itself; name others"),
        ({"a": {"rerank_with": ["b"]}, "b": {}}, {"rerank": 0}, f"runs.a: {NEEDS}"),
        ({"a": {}, "b": {}}, {"rerank": 0, "rerank_with": ["b"]}, f"predict: {NEEDS}"),
        ({"a": {"optimise": "macro-F1"}}, {"rerank": 0}, "runs.a: optimise needs rerank, which gives probabilities"),
        (
            {"a": {"rerank_with": ["b"]}, "b": {"sweep": {"C": [1, 2]}}},
            {"rerank": 0.2},
            "runs.a.rerank_with: b is a sweep; name one of b.C-1, b.C-2",
        ),
        (
            {"a": {"rerank_with": ["x/b.csv", "y/b.csv"]}},
            {"rerank": 0.2},
            "runs.a.rerank_with: two sources are called b; rename all files but one",
        ),
        (
            {"a": {"rerank": 0.2, "rerank_with": ["b"]}, "b": LATER},
            {},
            "runs.a.rerank_with: b needs retrain: all; kept weights may have seen held-out instances",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(runs, predict, expected):
    with pytest.raises(InputError) as caught:
        settings(runs, **predict)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_of_suggestions_must_be_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").touch()
    missing = settings({"msi": {"rerank": 0.2, "rerank_with": ["trees"]}})
    with pytest.raises(InputError, match=r"runs\.msi\.rerank_with: no run and no file trees; paths are relative"):
        require_files(missing)
    (tmp_path / "trees").mkdir()
    require_files(missing)
