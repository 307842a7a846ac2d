"""Models compared label by label."""

import csv
import json

import naive
import pytest
from commands import ovaflow
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer
from synthetic import prepare_and_train
from tiny_table import write_table

from ovaflow.prediction.predictor import Predictor


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """old.h5, and new.h5 of the same records: topic 1 is a theme, 2 is gone, 3 is new."""
    folder = tmp_path_factory.mktemp("weeks")
    write_table(folder / "records.csv")
    records = (folder / "records.csv").read_text()
    old = records.replace("topic 3|", "").replace("|topic 3", "").replace("topic 3", "")
    new = (
        records.replace("topic 2|", "")
        .replace("|topic 2", "")
        .replace("topic 2", "")
        .replace("topic 1", "theme 1")
    )
    for name, text in (("old", old), ("new", new)):
        (folder / f"{name}.csv").write_text(text)
        prepare_and_train(
            folder, "--format=csv", f"--train={folder}/{name}.csv", "--label-separator=|", name=name
        )
    return folder


def test_two_models_label_by_label(folder, tmp_path) -> None:
    models = [f"--model={folder}/{name}.h5" for name in ("old", "new")]
    files = [f"--labels={tmp_path}/labels.csv", f"--output={tmp_path}/measured.json"]
    ovaflow("evaluate", folder / "new.csv", models, files)
    with open(tmp_path / "labels.csv", newline="", encoding="utf-8") as file:
        rows = {row["label"]: row for row in csv.DictReader(file)}
    assert rows["theme 1"]["predicted old.h5"] == ""
    predictor = Predictor.open(folder / "new.h5")
    with open(folder / "new.csv", newline="", encoding="utf-8") as file:
        records = [record for record in csv.DictReader(file) if record["labels"]]
    ids, _ = predictor.top_k(predictor.from_texts([record["text"] for record in records]), 5)
    names = predictor.label_names
    binarizer = MultiLabelBinarizer(classes=names)
    true = binarizer.fit_transform([record["labels"].split("|") for record in records])
    assigned = naive.mark_labels(ids, len(names))
    theirs = f1_score(true, assigned, average=None, zero_division=0)
    for name, value in zip(names, theirs, strict=True):
        assert float(rows[name]["F1 new.h5"]) == pytest.approx(value, abs=5e-5)
    entry = json.loads((tmp_path / "measured.json").read_text())["models"][1]
    gains = []
    for each in entry["changed_labels"]:
        gains.append((each["after"] - each["before"]) * each["positives"])
    assert gains == sorted(gains)
    assert entry["changed_labels"][-1]["label"] in ("theme 1", "topic 3")
