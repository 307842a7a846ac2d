"""The share of words of files that a model does not know, compared with that of its test set."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

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
def folder(tiny_models, tmp_path_factory) -> Path:
    """A model with its metrics, its test set as test.csv, and other.csv, texts of other words."""
    folder = tmp_path_factory.mktemp("unknown")
    for name in ("dataset.h5", "0.h5", "records.csv"):
        shutil.copy(tiny_models / name, folder)
    for step in STEPS:
        ovaflow(step.format(folder))
    records = read_records(folder / "records.csv")
    tested = set(open_dataset(folder / "dataset.h5").test_texts())
    write_records(f"{folder}/test.csv", [record for record in records if record["text"] in tested])
    other = [record | {"text": record["text"].replace("filler", "strange")} for record in records]
    write_records(f"{folder}/other.csv", other)
    return folder


@pytest.fixture(scope="module")
def share(folder) -> float:
    """The share of unknown words of other.csv."""
    known = set(Predictor.open(folder / "model.h5").feature_names)
    words = " ".join(row["text"] for row in read_records(folder / "other.csv")).lower().split()
    counts = Counter(word in known for word in words)
    return counts[False] / counts.total()


def evaluate_file(folder: Path, name: str) -> tuple[str, dict[str, Any]]:
    """Return the output of ``evaluate`` for a file, and its figures of unknown words."""
    output = folder / f"{name}.json"
    said = ovaflow(
        "evaluate", f"--model={folder}/model.h5", f"{folder}/{name}.csv", f"--output={output}"
    )
    [entry] = json.loads(output.read_text())["models"]
    return said, entry["unknown_words"]


def test_the_share_of_the_test_set_is_usual(folder) -> None:
    said, unknown = evaluate_file(folder, "test")
    assert unknown["share"] == unknown["reference"]
    assert not unknown["far_off"]
    assert FAR_OFF not in said


def test_the_share_of_texts_of_other_words_is_far_off(folder, share) -> None:
    said, unknown = evaluate_file(folder, "other")
    assert unknown["share"] == pytest.approx(share)
    remark = f"words the model does not know: {100 * share:.1f} % (test set at training: 0.0 %)"
    assert f"{remark}; {FAR_OFF}" in said


def test_predict_remarks_on_unknown_words(folder, share, capsys) -> None:
    ovaflow("predict", folder / "model.h5", folder / "test.csv")
    assert "does not know" not in capsys.readouterr().err
    ovaflow("predict", folder / "model.h5", folder / "other.csv")
    remark = f"does not know {100 * share:.1f} % of the words; 0.0 % are normal"
    assert remark in capsys.readouterr().err


def test_promote_remarks_on_unknown_words_and_copies_the_metrics(folder, share, tmp_path) -> None:
    said = ovaflow(
        "promote", folder / "model.h5", f"--over={tmp_path}/current", f"--on={folder}/other.csv"
    )
    remark = f"words the model does not know: {100 * share:.1f} % (test set at training: 0.0 %)"
    assert f"model.h5: {remark}" in said
    ours = read_metrics(Predictor.open(tmp_path / "current" / "model.h5").model)
    theirs = read_metrics(Predictor.open(folder / "model.h5").model)
    assert ours == theirs != {}


@pytest.mark.parametrize("content", [None, "{}", '{"words": 1, "unknown_words": 0}'])
def test_without_metrics_of_the_model_no_share_is_usual(folder, tmp_path, content) -> None:
    for name in ("model.h5", "other.csv"):
        shutil.copy(folder / name, tmp_path)
    if content is not None:
        (tmp_path / "metrics.json").write_text(content)
    said, unknown = evaluate_file(tmp_path, "other")
    assert unknown["reference"] is None
    assert re.search(r"words the model does not know: [\d.]+ %$", said, re.MULTILINE)
