"""Classifiers train the same models as the pipeline, to the last bit."""

import numpy as np
import pytest
from command_training import CommandTraining
from numpy.testing import assert_array_equal
from solving import read_model_bytes

from ovaflow import FastXMLClassifier, OneVsAllClassifier, RembrandtClassifier
from ovaflow.prediction.predictor import Predictor

CASES = {
    "one-vs-all": (OneVsAllClassifier, {}, {}),
    "zero": (
        OneVsAllClassifier,
        {"initialization": "zero", "C": 3.0},
        {"train": "--initialization=zero --C=3"},
    ),
    "fastxml": (FastXMLClassifier, {"trees": 4, "seed": 5}, {"train": "--trees=4 --seed=5"}),
    "rembrandt": (RembrandtClassifier, {"rank": 4}, {"embed": "--rank=4"}),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, table, tmp_path_factory):
    """A class, its settings, a classifier, and the model file of the pipeline, from two shards."""
    kind, settings, options = CASES[request.param]
    folder = tmp_path_factory.mktemp("pipeline")
    path = CommandTraining(kind.method, table.dataset, folder, 2, **options).train()
    return kind, settings, kind(normalize=True, **settings).fit(table.X, table.Y), path


def test_the_model_file_holds_the_same_bits(table, case, tmp_path) -> None:
    kind, settings, fitted, path = case
    fitted.save(tmp_path / "ours.h5")
    theirs = read_model_bytes(path)
    assert read_model_bytes(tmp_path / "ours.h5") == theirs
    lists = [row.indices.tolist() for row in table.Y]
    kind(normalize=True, **settings).fit(table.X, lists).save(tmp_path / "lists.h5")
    ours = read_model_bytes(tmp_path / "lists.h5")
    assert set(ours) == set(theirs)
    # a label without instances is in no list
    for name in theirs:
        if name == "weights/data" or "separators" in name:
            assert ours[name] == theirs[name]


def test_models_of_the_pipeline_are_loaded(table, case) -> None:
    kind, settings, theirs, path = case
    ours = kind.load(path)
    assert ours.get_params().items() >= (settings | {"normalize": True, "bias": 1.0}).items()
    assert_array_equal(ours.decision_function(table.X), theirs.decision_function(table.X))
    assert (ours.predict(table.X) != theirs.predict(table.X)).nnz == 0
    opened = Predictor.open(path)
    ids, scores = opened.top_k(ours._make_instances(table.X), 3)
    names, found = ours.predict_topk(table.X, 3)
    assert_array_equal(np.array(opened.label_names)[ids], names)
    assert_array_equal(scores, found)
