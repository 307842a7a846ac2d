"""Trainings that start from an earlier model end where others end."""

import numpy as np
import pytest

from ovaflow.artifacts.means import compute_means
from ovaflow.cli import main
from ovaflow.data.dataset import open_dataset
from ovaflow.initialization.pretrained import Earlier
from ovaflow.initialization.starts import StartInputs
from ovaflow.settings.models import TrainLabels
from ovaflow.training.shard_job import train_labels

EXACT = {"epsilon": 1e-4, "stored_threshold": 0.0}


@pytest.fixture(scope="module")
def bibtex(real_data, tmp_path_factory):
    path = tmp_path_factory.mktemp("bibtex") / "dataset.h5"
    files = [f"--{part}={real_data / 'bibtex' / part}.txt.gz" for part in ("train", "test")]
    assert main(["prepare", "--format=xmc-text", *files, "--tfidf=false", f"--output={path}"]) == 0
    return open_dataset(path)


def objectives(dataset, labels, **settings):
    return trained(dataset, labels, **settings).statistics["objective"]


def trained(dataset, labels, earlier=None, **settings):
    means = compute_means(dataset.train.X, dataset.positives)
    return train_labels(dataset, StartInputs.of(dataset, means, earlier=earlier), labels, TrainLabels(**settings))


def as_earlier(dataset, labels, done):
    """Trained weights as the earlier model of the same dataset."""
    rows = np.full(dataset.n_labels, -1)
    rows[labels] = np.arange(len(labels))
    d = dataset.n_features
    same = np.arange(d), np.ones(d, np.float32), done.statistics["positives"]
    return Earlier(done.weights, rows, *same)


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize(("C", "next_C"), [(1.0, 3.0), (3.0, 1.0)])
def test_from_another_C_every_label_reaches_the_optimum(bibtex, C, next_C, reference):
    labels = np.arange(0, bibtex.n_labels, 5)
    earlier = as_earlier(bibtex, labels, trained(bibtex, labels, C=C, stored_threshold=0.01))
    start = {"initialization": "pretrained", "earlier": earlier}
    ours = objectives(bibtex, labels, C=next_C, reference=reference, **start, **EXACT)
    theirs = objectives(bibtex, labels, C=next_C, reference=True, **EXACT)
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_from_another_C_takes_fewer_steps(bibtex):
    labels = np.arange(0, bibtex.n_labels, 5)
    earlier = as_earlier(bibtex, labels, trained(bibtex, labels, C=0.3))
    ours = trained(bibtex, labels, C=1.0, initialization="pretrained", earlier=earlier).statistics
    theirs = trained(bibtex, labels, C=1.0).statistics
    assert ours["newton_steps"].sum() < theirs["newton_steps"].sum()


def test_at_its_own_optimum_nothing_is_to_do(bibtex):
    labels = np.arange(0, bibtex.n_labels, 5)
    done = trained(bibtex, labels, stored_threshold=0.0)
    again = trained(bibtex, labels, initialization="pretrained", earlier=as_earlier(bibtex, labels, done))
    assert again.statistics["newton_steps"].sum() == 0
    assert again.statistics["objective"] == pytest.approx(done.statistics["objective"], rel=1e-5)
