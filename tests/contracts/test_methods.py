"""Contract of every method, those of ovaflow and nearest_centroid.py, which stands for one of
another package.
"""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from command_training import CommandTraining
from commands import list_label_values, ovaflow, read_answers
from contracts.nearest_centroid import NearestCentroid
from sklearn.metrics.pairwise import cosine_similarity

from ovaflow import registry
from ovaflow.cli import main
from ovaflow.dataset.dataset import open_dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.model.model_file import open_any_model, what_scores_are
from ovaflow.model.training_file import Training
from ovaflow.prediction.predictions import Predictions
from ovaflow.registry import import_reference
from ovaflow.storage import parts
from ovaflow.storage.parts import Parts

NEW = NearestCentroid.name


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The method of this folder, by its name."""
    # its commands name the methods that there are when it is loaded
    import ovaflow.cli.training  # noqa: F401

    with pytest.MonkeyPatch.context() as context:
        context.setitem(registry.BUILT_IN, NEW, "contracts.nearest_centroid:NearestCentroid")
        yield


SMALL = {"rembrandt": {"embed": "--rank=4", "tune": "--C=1"}, "fastxml": {"train": "--trees=6"}}


def make_small_training(method, dataset, here, n):
    return CommandTraining(method, dataset, here, n, **SMALL.get(method, {}))


@pytest.fixture(scope="module", params=[*registry.BUILT_IN, NEW])
def method(request):
    return request.param


@pytest.fixture(scope="module")
def whole(method, finished, tmp_path_factory):
    """A model of one shard."""
    return make_small_training(
        method, finished["dataset"], tmp_path_factory.mktemp("whole"), 1
    ).train()


def test_the_model_has_the_same_bytes_for_any_shards_and_threads(
    method, whole, finished, tmp_path
) -> None:
    trained = make_small_training(method, finished["dataset"], tmp_path, 3)
    for number in range(3):
        trained.shard(number, "--threads=2")
    assert trained.merge().read_bytes() == whole.read_bytes()
    ours = Training.open(tmp_path / "training.h5")
    theirs = Training.open(whole.with_name("training.h5"))
    assert (ours.shards, theirs.shards) == (3, 1)
    assert ours.parameters == theirs.parameters
    assert not list(tmp_path.glob("*.parts"))


class Killed(Exception):
    pass


def test_a_job_that_was_killed_continues_to_the_same_bytes(
    method, whole, finished, tmp_path, monkeypatch, capfd
) -> None:
    trained = make_small_training(method, finished["dataset"], tmp_path, 1)
    keep = Parts.keep
    kept = []

    def counted(self, number, **arrays) -> None:
        kept.append(number)
        keep(self, number, **arrays)
        if len(kept) == 3:
            raise Killed

    with monkeypatch.context() as context:
        context.setattr(parts, "PART_SECONDS", -1.0)
        context.setattr(Parts, "keep", counted)
        with pytest.raises(Killed):
            trained.shard(0)
        before = set(kept)
        kept.clear()
        context.setattr(Parts, "keep", lambda self, number, **arrays: kept.append(number))
        trained.shard(0)
    assert kept
    assert not before & set(kept)
    assert trained.merge().read_bytes() == whole.read_bytes()


OTHERWISE = {"one-vs-all": "--C=3", "fastxml": "--seed=1", NEW: "--smallest=0.5"}


def test_shards_that_are_no_whole_model_are_refused(method, finished, tmp_path, capfd) -> None:
    trained = make_small_training(method, finished["dataset"], tmp_path, 2)
    mixtures = {"one": [0], "twice": [0, 1, 1]}
    for number in range(2):
        trained.shard(number)
    if method in OTHERWISE:
        trained.shard(1, OTHERWISE[method], name="other")
        mixtures["unlike"] = [0, "other"]
    said = {"one": "give all of them to merge", "twice": "is also in", "unlike": "differs from"}
    for mixture, shards in mixtures.items():
        capfd.readouterr()
        trained.merge(shards, status=2)
        assert said[mixture] in capfd.readouterr().err
    assert not (tmp_path / "model.h5").exists()


def test_a_shard_that_is_gone_comes_back_without_training(
    method, finished, tmp_path, capfd
) -> None:
    trained = make_small_training(method, finished["dataset"], tmp_path, 2)
    trained.shard(1)
    content = (tmp_path / "1.h5").read_bytes()
    (tmp_path / "1.h5").unlink()
    trained.shard(1)
    assert "1.h5: finished earlier" in capfd.readouterr().err
    assert (tmp_path / "1.h5").read_bytes() == content
    if method in OTHERWISE:
        trained.shard(1, OTHERWISE[method])
        assert not {"finished", "continues"} & set(re.findall(r"\w+", capfd.readouterr().err))
        assert (tmp_path / "1.h5").read_bytes() != content


def test_an_estimate_is_near_or_refused(method, finished, capfd) -> None:
    known = registry.find_method(method)
    dataset = open_dataset(finished["dataset"])
    if known.sample is None:
        assert main(["estimate", str(finished["dataset"]), f"--method={method}"]) == 2
        assert "no sample" in capfd.readouterr().err
        return
    settings = make_settings(known)
    sample = known.sample(finished["dataset"], settings, {})
    model = known.train_model(dataset, make_settings(known, "train-shard"), 1)
    assert sample.weights == pytest.approx(model.nonzeros, rel=0.3)
    assert 0 < sample.solved <= sample.total


def make_settings(known, step="estimate"):
    """Make the settings of a step of a method."""
    model = import_reference(known.reads(step).model)
    return model.model_validate({"trees": 6} if "trees" in model.model_fields else {})


def test_scores_are_those_of_the_best_labels_and_explained_or_why_not(
    method, whole, finished
) -> None:
    model = open_any_model(whole)
    dataset = open_dataset(finished["dataset"])
    X = model.instances(dataset.test.take(np.arange(20)))
    ids, scores = model.top_k(X, 4)
    ours = model.score(X, np.arange(dataset.n_labels))
    theirs = scores
    found = ids >= 0
    np.testing.assert_allclose(
        np.take_along_axis(ours, np.maximum(ids, 0), 1)[found], theirs[found], atol=1e-5
    )
    np.testing.assert_allclose(
        model.score_each(X, np.maximum(ids, 0), threads=2)[found], theirs[found], atol=1e-5
    )
    assert (np.diff(np.where(found, scores, -np.inf), axis=1) <= 0)[found[:, 1:]].all()
    assert what_scores_are(model.parameters["train"]) == type(model).what_scores_are(
        model.parameters["train"]
    )
    if model.linear is None:
        assert model.why_unexplainable
        return
    for row, label in ((0, ids[0, 0]), (3, ids[3, 1])):
        instance = X.to_scipy()[[row]].toarray().ravel()
        used = np.flatnonzero(instance)
        explained = model.linear.label_weights(label, used) @ instance[
            used
        ] + model.linear.intercept(label)
        assert explained == pytest.approx(ours[row, label], abs=1e-5)


@dataclass(kw_only=True, eq=False, repr=False)
class NearestCentroidClassifier(LabelClassifier):
    smallest: float = 0.01
    method = NEW


def test_answers_for_test_instances_are_those_of_the_test_set(whole, finished, tmp_path) -> None:
    for name in ("predictions.h5", "answers.jsonl"):
        ovaflow(
            "predict",
            whole,
            f"--dataset={finished['dataset']}",
            "--top-k=3",
            f"--output={tmp_path / name}",
        )
    theirs = Predictions.open(tmp_path / "predictions.h5")
    ours = read_answers(tmp_path / "answers.jsonl")
    assert list_label_values(ours) == [row[row >= 0].tolist() for row in theirs.ids]


def test_a_classifier_has_a_name_and_settings(finished) -> None:
    data = open_dataset(finished["dataset"])
    X = data.train.X.to_scipy()[: data.n_documents]
    Y = data.train.Y.to_scipy()[: data.n_documents]
    fitted = NearestCentroidClassifier(smallest=0.0, bias=0.0).fit(X[:, :-1], Y)
    theirs = cosine_similarity(X[:50, :-1], Y.T @ X[:, :-1])
    np.testing.assert_allclose(fitted.decision_function(X[:50, :-1]), theirs, atol=1e-5)
    with pytest.raises(ValueError, match="smallest: found -1"):
        NearestCentroidClassifier(smallest=-1).fit(X[:, :-1], Y)
