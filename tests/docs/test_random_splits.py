import gzip
import json
import re
import subprocess
import sys

from docs.pages import ROOT


def run_script(*arguments) -> str:
    script = ROOT / "docs" / "random_splits.py"
    command = [sys.executable, script, *[str(argument) for argument in arguments]]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def read_lines(path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def test_splits_divide_all_instances(tmp_path) -> None:
    instances = [f"{i % 3} {i}:1" for i in range(30)]
    (tmp_path / "train.txt").write_text("\n".join(["20 30 3", *instances[:20]]))
    with gzip.open(tmp_path / "test.txt.gz", "wt") as file:
        file.write("\n".join(["10 30 3", *instances[20:], ""]))
    run_script(tmp_path / "splits", 3, 22, tmp_path / "train.txt", tmp_path / "test.txt.gz")
    test_sets = set()
    for split in range(3):
        train = read_lines(tmp_path / "splits" / f"{split}-train.txt.gz")
        test = read_lines(tmp_path / "splits" / f"{split}-test.txt.gz")
        assert (train[0], test[0]) == ("22 30 3", "8 30 3")
        assert sorted(train[1:] + test[1:]) == sorted(instances)
        test_sets.add(frozenset(test[1:]))
    assert len(test_sets) == 3


def test_mean_of_runs(tmp_path) -> None:
    values = [0.5, 0.6, 0.55]
    paths = [tmp_path / f"{i}.json" for i in range(3)]
    for path, value in zip(paths, values, strict=True):
        path.write_text(json.dumps({"P@1": value, "P@3": 0.3, "P@5": 0.2}))
    ours = [float(number) for number in re.findall(r"\d+\.\d+", run_script("mean", *paths))]
    assert ours == [55, 5, 30, 0, 20, 0]
