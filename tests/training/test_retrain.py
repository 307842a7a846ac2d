"""Labels are added to a model, and others keep their weights."""

from dataclasses import replace

import numpy as np
import pytest
from command_training import CommandTraining
from numpy.testing import assert_allclose, assert_array_equal
from synthetic import make_topics

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset, Names, Split, write_dataset
from ovaflow.initialization.pretrained import match_model, require_same_problem
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.settings.train import TrainLabels
from ovaflow.sparse.csr import from_scipy, select_rows
from ovaflow.training.shard_job import train_model

N_LABELS = 30
N_OLD_LABELS = 24
WARM_START = {"initialization": "pretrained"}


def select_part(whole: Dataset, n: int, labels: np.ndarray, checksum: str) -> Dataset:
    """Select the first instances with some of the labels."""
    X = select_rows(whole.train.X, np.arange(n))
    Y = from_scipy(whole.train.Y.to_scipy()[:n, labels])
    names = Names(
        [f"label {label}" for label in labels], [f"feature {j}" for j in range(X.n_columns - 1)]
    )
    return Dataset("memory", Split(X, Y), Split(X, Y), checksum, {"bias": 1.0}, names)


@pytest.fixture(scope="module")
def models() -> tuple[Dataset, OneVsAll, OneVsAll]:
    """A dataset, an earlier model that lacks some of its labels, and a model from scratch."""
    whole = make_topics(n=2000, d=600, n_labels=N_LABELS)
    grown = select_part(whole, 2000, np.random.default_rng(1).permutation(N_LABELS), "grown")
    earlier = train_model(
        select_part(whole, 1800, np.arange(N_OLD_LABELS), "earlier"), TrainLabels(), 0.01
    )
    return grown, earlier, train_model(grown, TrainLabels(), 0.01)


def retrain_model(grown: Dataset, earlier: OneVsAll, retrain: str) -> OneVsAll:
    """Train a model that starts at an earlier one."""
    training = TrainLabels(retrain=retrain, **WARM_START)
    return train_model(grown, training, 0.01, earlier=match_model(earlier, grown))


def read_weights(model: OneVsAll) -> dict[str, np.ndarray]:
    """Read the dense weights of each label by its name."""
    return dict(zip(model.label_names, model.weights.to_scipy().toarray(), strict=True))


def test_labels_with_other_counts_are_trained_again(models) -> None:
    grown, earlier, scratch = models
    model = retrain_model(grown, earlier, "changed")
    ours = read_weights(model)
    old = read_weights(earlier)
    theirs = read_weights(scratch)
    before = dict(zip(earlier.label_names, earlier.counts, strict=True))
    same = set()
    for name, count in zip(model.label_names, model.counts, strict=True):
        if before.get(name) == count:
            same.add(name)
    assert 0 < len(same) < N_OLD_LABELS
    for name in ours:
        if name in same:
            assert_array_equal(ours[name], old[name])
        else:
            # the solver's tolerance: two points with gradients of at most 1 % of that at zero
            assert_allclose(ours[name], theirs[name], atol=0.05)


def test_labels_that_have_lost_their_instances_keep_their_weights(models) -> None:
    grown, earlier, _ = models
    Y = grown.train.Y.to_scipy().tolil()
    lost = grown.label_names.index("label 3")
    Y[:, lost] = 0
    without = replace(grown, train=Split(grown.train.X, from_scipy(Y.tocsr())), checksum="without")
    model = retrain_model(without, earlier, "new")
    assert model.counts[lost] == 0
    assert model.trained[lost]
    assert_array_equal(read_weights(model)["label 3"], read_weights(earlier)["label 3"])


@pytest.mark.parametrize(
    "settings",
    [{"C": 2.0}, {"loss": "logistic"}, {"weighting": "propensity"}, {"class_weight": "balanced"}],
)
def test_labels_of_another_problem_are_not_mixed(models, settings) -> None:
    name = next(iter(settings))
    with pytest.raises(InputError, match=f"trained with {name} .*; set retrain: all"):
        require_same_problem(models[1], TrainLabels(retrain="new", **WARM_START, **settings))
    require_same_problem(models[1], TrainLabels(retrain="all", **WARM_START, **settings))


def test_added_labels_are_those_of_a_training_from_scratch(models, tmp_path, capsys) -> None:
    grown, earlier, scratch = models
    path = tmp_path / "dataset.h5"
    write_dataset(
        path, grown.train, grown.test, grown.label_names, grown.feature_names, grown.parameters
    )
    earlier.write(tmp_path / "earlier.h5")
    warm = f"--earlier={tmp_path}/earlier.h5 --initialization=pretrained --retrain=new"
    training = CommandTraining("one-vs-all", path, tmp_path / "run", train=warm)
    model = OneVsAll.open(training.train())
    assert f"{N_OLD_LABELS} labels taken over" in capsys.readouterr().out
    training.shard(0, "--C=2", status=2)
    assert (
        "its labels were trained with C 1.0, new ones would be with 2.0" in capsys.readouterr().err
    )
    ours = read_weights(model)
    old = read_weights(earlier)
    theirs = read_weights(scratch)
    in_memory = read_weights(retrain_model(grown, earlier, "new"))
    assert len(old) < len(ours) == N_LABELS
    for name in ours:
        assert_array_equal(ours[name], old.get(name, theirs[name]))
        assert_array_equal(in_memory[name], ours[name])
