"""What differs from the training: words, first labels, and how often it is said."""

import json
import re
import shutil
from collections import Counter

import numpy as np
import pytest
from commands import ovaflow
from records import read_records, write_records
from scipy.spatial.distance import cityblock

from ovaflow.data.dataset import open_dataset
from ovaflow.prediction.drift import FREQUENT, FirstLabels, distance, distance_by_chance
from ovaflow.prediction.predictor import Predictor

STEPS = """
merge {0}/0.h5 --dataset={0}/dataset.h5 --output={0}/model.h5 --statistics={0}/t.h5
predict {0}/model.h5 --dataset={0}/dataset.h5 --output={0}/p.h5
evaluate {0}/p.h5 --dataset={0}/dataset.h5 --model={0}/model.h5 --training={0}/t.h5 \
--output={0}/m.json --reference={0}/reference.json
""".strip().splitlines()


@pytest.fixture(scope="module")
def folder(tiny_models, tmp_path_factory):
    """A model with its reference, its test set as test.csv, and other.csv, texts of other words."""
    folder = tmp_path_factory.mktemp("drift")
    for name in ("dataset.h5", "0.h5", "records.csv"):
        shutil.copy(tiny_models / name, folder)
    for step in STEPS:
        ovaflow(*step.format(folder).split())
    records, tested = read_records(folder / "records.csv"), set(open_dataset(folder / "dataset.h5").test_texts())
    write_records(f"{folder}/test.csv", [record for record in records if record["text"] in tested])
    other = [record | {"text": record["text"].replace("filler", "strange")} for record in records]
    write_records(f"{folder}/other.csv", other)
    return folder


def evaluated(folder, name):
    """What evaluate says of a file, and the figures that it writes."""
    output = folder / f"{name}.json"
    said = ovaflow("evaluate", f"--model={folder}/model.h5", f"{folder}/{name}.csv", f"--output={output}")
    [entry] = json.loads(output.read_text())["models"]
    return said, entry["drift"]


def test_the_test_set_is_as_usual(folder):
    said, drift = evaluated(folder, "test")
    words, score = drift["unknown_words"], drift["first_score"]
    assert words["share"] == words["reference"]
    assert score["mean"] == pytest.approx(score["reference"])
    assert drift["first_labels"]["distance"] == 0
    assert "unlike those that" not in said


def test_texts_of_other_words_are_not(folder):
    said, drift = evaluated(folder, "other")
    known = set(Predictor.open(folder / "model.h5").feature_names)
    words = " ".join(row["text"] for row in read_records(folder / "other.csv")).lower().split()
    unknown = Counter(word for word in words if word not in known)
    share = unknown.total() / len(words)
    assert drift["unknown_words"]["share"] == pytest.approx(share)
    assert f"words the model does not know: {100 * share:.1f} % (test set at training: " in said
    assert drift["unknown_words"]["most_frequent"] == [word for word, _ in unknown.most_common(10)]
    assert "unlike those that the model was trained on: many words are unknown" in said


def test_predict_says_so_too(folder, capsys):
    ovaflow("predict", folder / "model.h5", folder / "test.csv")
    assert "does not know" not in capsys.readouterr().err
    ovaflow("predict", folder / "model.h5", folder / "other.csv")
    assert re.search(r"does not know [\d.]+ % of the words; 0.0 % are normal", capsys.readouterr().err)


def test_a_reference_of_another_model_says_nothing(folder, tmp_path):
    for name in ("model.h5", "other.csv"):
        shutil.copy(folder / name, tmp_path)
    text = (folder / "reference.json").read_text()
    said, drift = evaluated(tmp_path, "other")
    assert drift["unknown_words"]["reference"] is None
    assert "test set at training" not in said
    (tmp_path / "reference.json").write_text(text.replace('"words": ', '"words": 1'))
    command = "evaluate", f"--model={tmp_path}/model.h5", f"{tmp_path}/other.csv"
    assert "reference.json: damaged" in ovaflow(*command, status=2)


def test_distance_of_two_samples_by_chance():
    random = np.random.default_rng(0)
    p = random.dirichlet(np.ones(FREQUENT + 1))
    ours, theirs = random.multinomial(300, p, 500), random.multinomial(1000, p, 500)
    pairs = [(FirstLabels(0, a), FirstLabels(0, b)) for a, b in zip(ours, theirs, strict=True)]
    distances = [distance(*pair) for pair in pairs]
    assert distances[0] == pytest.approx(cityblock(ours[0] / 300, theirs[0] / 1000) / 2)
    by_chance = np.mean([distance_by_chance(*pair) for pair in pairs])
    assert by_chance == pytest.approx(np.mean(distances), rel=0.03)
