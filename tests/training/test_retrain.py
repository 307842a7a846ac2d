"""Labels are added to a model, and others keep their weights."""

from dataclasses import replace

import numpy as np
import pytest
from ovaflow.training.in_memory import train_model
from synthetic import topics

from ovaflow.artifacts.means import compute_means
from ovaflow.cli import main
from ovaflow.console.errors import InputError
from ovaflow.data.dataset import Dataset, Names, Split, open_dataset, write_dataset
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.initialization.starts import StartInputs
from ovaflow.model.model_file import open_model, save_model
from ovaflow.settings.models import TrainLabels
from ovaflow.solver.problem import Status
from ovaflow.sparse.csr import from_scipy, rows_of
from ovaflow.training.shard_job import train_labels

L, OLD_L = 30, 24
WARM = {"initialization": "pretrained"}


def part(whole, n, labels, digest):
    """The first instances with some of the labels."""
    X, Y = rows_of(whole.train.X, np.arange(n)), from_scipy(whole.train.Y.to_scipy()[:n, labels])
    names = Names([f"label {label}" for label in labels], [f"feature {j}" for j in range(X.n_columns - 1)])
    return Dataset("memory", Split(X, Y), Split(X, Y), digest, {"bias": 1.0}, names)


@pytest.fixture(scope="module")
def whole():
    return topics(n=2000, d=600, n_labels=L)


@pytest.fixture(scope="module")
def grown(whole):
    # the new labels stand in between
    return part(whole, 2000, np.random.default_rng(1).permutation(L), "grown")


@pytest.fixture(scope="module")
def earlier(whole):
    return train_model(part(whole, 1800, np.arange(OLD_L), "earlier"), TrainLabels(), 0.01)


@pytest.fixture(scope="module")
def scratch(grown):
    return train_model(grown, TrainLabels(), 0.01)


def retrained(grown, earlier, retrain):
    return train_model(grown, TrainLabels(retrain=retrain, **WARM), 0.01, 1, match_model(earlier, grown))


def weights(model):
    return dict(zip(model.label_names, model.weights.to_scipy().toarray(), strict=True))


def test_added_labels_are_those_of_a_training_from_scratch(grown, earlier, scratch):
    ours, old, theirs = (weights(model) for model in (retrained(grown, earlier, "new"), earlier, scratch))
    assert len(old) < len(ours)
    for name in ours:
        np.testing.assert_array_equal(ours[name], old.get(name, theirs[name]))


def test_labels_with_other_counts_are_trained_again(grown, earlier, scratch):
    model = retrained(grown, earlier, "changed")
    ours, old, theirs = (weights(each) for each in (model, earlier, scratch))
    before = dict(zip(earlier.label_names, earlier.counts, strict=True))
    same = {name for name, count in zip(model.label_names, model.counts, strict=True) if before.get(name) == count}
    assert 0 < len(same) < OLD_L
    for name in ours:
        if name in same:
            np.testing.assert_array_equal(ours[name], old[name])
        else:
            # the solver's tolerance: two points with gradients of at most 1 % of that at zero
            np.testing.assert_allclose(ours[name], theirs[name], atol=0.05)


def test_labels_that_have_lost_their_instances_keep_their_weights(grown, earlier):
    Y = grown.train.Y.to_scipy().tolil()
    lost = grown.label_names.index("label 3")
    Y[:, lost] = 0
    without = replace(grown, train=Split(grown.train.X, from_scipy(Y.tocsr())), checksum="without")
    model = retrained(without, earlier, "new")
    assert model.counts[lost] == 0
    assert model.trained[lost]
    np.testing.assert_array_equal(weights(model)["label 3"], weights(earlier)["label 3"])


@pytest.mark.parametrize("settings", [{"C": 2.0}, {"loss": "logistic"}, {"weighting": "propensity"}])
def test_labels_of_another_problem_are_not_mixed(earlier, settings):
    name = next(iter(settings))
    with pytest.raises(InputError, match=f"trained with {name} .*; set retrain: all"):
        require_same_problem(earlier, TrainLabels(retrain="new", **WARM, **settings))
    require_same_problem(earlier, TrainLabels(retrain="all", **WARM, **settings))


def test_in_the_pipeline(grown, earlier, scratch, tmp_path, capsys):
    names = grown.label_names, grown.feature_names, grown.parameters
    write_dataset(tmp_path / "dataset.h5", grown.train, grown.test, *names)
    save_model(tmp_path / "earlier.h5", earlier)
    files = {name: tmp_path / f"{name}.h5" for name in ("dataset", "means", "shard", "model", "statistics", "earlier")}
    plan = tmp_path / "shards.tsv"
    steps = [
        ["means", files["dataset"], f"--output={files['means']}"],
        ["plan", files["dataset"], "--shards=1", f"--output={plan}"],
        ["train-shard", files["dataset"], f"--means={files['means']}", f"--plan={plan}", "--shard=0"]
        + [
            "--initialization=pretrained",
            "--retrain=new",
            f"--earlier={files['earlier']}",
            f"--output={files['shard']}",
        ],
        ["merge", files["shard"], f"--dataset={files['dataset']}", f"--output={files['model']}"]
        + [f"--statistics={files['statistics']}"],
    ]
    for step in steps:
        assert main([str(word) for word in step]) == 0
    assert f"{OLD_L} labels taken over" in capsys.readouterr().out
    assert main([*map(str, steps[2]), "--C=2"]) == 2
    assert "its labels were trained with C 1.0, new ones would be with 2.0" in capsys.readouterr().err
    ours, old, theirs = (weights(model) for model in (open_model(files["model"]), earlier, scratch))
    assert open_dataset(files["dataset"]).n_labels == len(ours)
    for name in ours:
        np.testing.assert_array_equal(ours[name], old.get(name, theirs[name]))
    with open(plan) as table:
        assert len(table.readlines()) == L + 2


def test_labels_taken_over_are_told_apart(grown, earlier):
    inputs = StartInputs.of(grown, compute_means(grown.train.X, grown.positives), earlier=match_model(earlier, grown))
    done = train_labels(grown, inputs, np.arange(L), TrainLabels(retrain="new", **WARM))
    assert (done.statistics["status"] == Status.TAKEN_OVER).sum() == OLD_L
    assert done.trained.all()
