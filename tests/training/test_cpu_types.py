"""Weights from kernels compiled for different CPU types differ by less than what docs/numerics.md promises."""

import os
import subprocess
import sys

import numpy as np
import pytest
from synthetic import topics

from ovaflow.initialization.starts import compute_start_inputs
from ovaflow.settings.train import TrainLabels
from ovaflow.solver.losses import LOSSES
from ovaflow.training.shard_job import train_labels

pytestmark = pytest.mark.long

ROUNDING = 1.01
"""Norms of gradients are computed in single precision."""

LABELS, C = np.arange(0, 90, 3), 10.0

PROGRAM = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("on_this_type", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.save_trained(sys.argv[2])
"""


@pytest.fixture(scope="module")
def dataset():
    return topics()


@pytest.fixture(scope="module")
def on_other_type(tmp_path_factory):
    """The same labels trained by a process whose kernels use no more than every x86-64 or ARM CPU has."""
    folder = tmp_path_factory.mktemp("other_type")
    environment = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "OVAFLOW_CACHE": str(folder)}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", PROGRAM, __file__, str(folder / "trained.npz")]
    subprocess.run(command, check=True, env=environment, timeout=300)
    assert list(folder.glob("kernels-*-generic"))
    return np.load(folder / "trained.npz")


def save_trained(path):
    """Train with one loss, since kernels are compiled for it, and store weights and norms of gradients."""
    weights, norms, _ = trained(topics(), "squared-hinge")
    np.savez(path, weights=weights, norms=norms)


def trained(dataset, loss):
    training = TrainLabels(loss=loss, C=C, initialization="zero", stored_threshold=0.0)
    done = train_labels(dataset, compute_start_inputs(dataset, training), LABELS, training)
    figures = done.statistics
    return done.weights.to_scipy().toarray().astype(float), figures["gradient_norm"], figures["gradient_target"]


def test_weights_differ_by_no_more_than_their_gradients(dataset, on_other_type):
    # the objective is strongly convex with modulus 1, so |w - w*| <= |g(w)|
    ours, norms, targets = trained(dataset, "squared-hinge")
    theirs, other_norms = on_other_type["weights"], on_other_type["norms"]
    assert np.all(norms <= targets)
    apart = np.linalg.norm(ours - theirs, axis=1)
    assert apart.max() > 0, "the other kernels round as these do: nothing was compared"
    assert np.all(apart <= ROUNDING * (norms + other_norms))


@pytest.mark.parametrize("loss", LOSSES)
def test_norms_of_gradients_are_those_in_double_precision(dataset, loss):
    weights, ours, _ = trained(dataset, loss)
    X, Y = dataset.train.X.to_scipy().astype(float), dataset.train.Y.to_scipy().toarray()[:, LABELS]
    signs = 2 * Y - 1
    margins = signs * (X @ weights.T)
    slopes = -2 * np.maximum(0, 1 - margins) if loss == "squared-hinge" else -1 / (1 + np.exp(margins))
    theirs = np.linalg.norm(weights + C * (X.T @ (signs * slopes)).T, axis=1)
    np.testing.assert_allclose(ours, theirs, rtol=ROUNDING - 1)
