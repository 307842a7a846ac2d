"""How many words of files a model does not know, compared with its test set, and how often it is
said.
"""

import json
import re
import shutil
from collections import Counter

import pytest
from commands import ovaflow
from records import read_records, write_records

from ovaflow.dataset.dataset import open_dataset
from ovaflow.prediction.model_folder import read_metrics
from ovaflow.prediction.predictor import Predictor

STEPS = """
merge {0}/0.h5 --dataset={0}/dataset.h5 --output={0}/model.h5 --statistics={0}/t.h5
predict {0}/model.h5 --dataset={0}/dataset.h5 --output={0}/p.h5
evaluate {0}/p.h5 --dataset={0}/dataset.h5 --model={0}/model.h5 --training={0}/t.h5 --output={0}/metrics.json
""".strip().splitlines()

FAR_OFF = "these records are unlike those that the model was trained on"


@pytest.fixture(scope="module")
def folder(tiny_models, tmp_path_factory):
    """A model with its metrics, its test set as test.csv, and other.csv, texts of other words."""
    folder = tmp_path_factory.mktemp("unknown")
    for name in ("dataset.h5", "0.h5", "records.csv"):
        shutil.copy(tiny_models / name, folder)
    for step in STEPS:
        ovaflow(*step.format(folder).split())
    records = read_records(folder / "records.csv")
    tested = set(open_dataset(folder / "dataset.h5").test_texts())
    write_records(f"{folder}/test.csv", [record for record in records if record["text"] in tested])
    other = [record | {"text": record["text"].replace("filler", "strange")} for record in records]
    write_records(f"{folder}/other.csv", other)
    return folder


@pytest.fixture(scope="module")
def share(folder):
    """The share of unknown words of other.csv."""
    known = set(Predictor.open(folder / "model.h5").feature_names)
    words = " ".join(row["text"] for row in read_records(folder / "other.csv")).lower().split()
    counts = Counter(word in known for word in words)
    return counts[False] / counts.total()


def evaluated(folder, name):
    """What evaluate says of a file, and the figures that it writes."""
    output = folder / f"{name}.json"
    said = ovaflow(
        "evaluate", f"--model={folder}/model.h5", f"{folder}/{name}.csv", f"--output={output}"
    )
    [entry] = json.loads(output.read_text())["models"]
    return said, entry["unknown_words"]


def test_the_test_set_is_as_usual(folder) -> None:
    said, unknown = evaluated(folder, "test")
    assert unknown["share"] == unknown["reference"]
    assert not unknown["far_off"]
    assert FAR_OFF not in said


def test_texts_of_other_words_are_not(folder, share) -> None:
    said, unknown = evaluated(folder, "other")
    assert unknown["share"] == pytest.approx(share)
    assert (
        f"words the model does not know: {100 * share:.1f} % (test set at training: 0.0 %); {FAR_OFF}"
        in said
    )


def test_predict_says_so_too(folder, share, capsys) -> None:
    ovaflow("predict", folder / "model.h5", folder / "test.csv")
    assert "does not know" not in capsys.readouterr().err
    ovaflow("predict", folder / "model.h5", folder / "other.csv")
    assert (
        f"does not know {100 * share:.1f} % of the words; 0.0 % are normal"
        in capsys.readouterr().err
    )


def test_promote_says_so_too_and_takes_the_metrics_along(folder, share, tmp_path) -> None:
    said = ovaflow(
        "promote", folder / "model.h5", f"--over={tmp_path}/current", f"--on={folder}/other.csv"
    )
    assert (
        f"model.h5: words the model does not know: {100 * share:.1f} % (test set at training: 0.0 %)"
        in said
    )
    theirs, ours = (
        read_metrics(Predictor.open(each / "model.h5").model)
        for each in (folder, tmp_path / "current")
    )
    assert theirs == ours != {}


@pytest.mark.parametrize("content", [None, "{}", '{"words": 1, "unknown_words": 0}'])
def test_without_metrics_of_the_model_nothing_is_usual(folder, tmp_path, content) -> None:
    for name in ("model.h5", "other.csv"):
        shutil.copy(folder / name, tmp_path)
    if content is not None:
        (tmp_path / "metrics.json").write_text(content)
    said, unknown = evaluated(tmp_path, "other")
    assert unknown["reference"] is None
    assert re.search(r"words the model does not know: [\d.]+ %$", said, re.MULTILINE)
