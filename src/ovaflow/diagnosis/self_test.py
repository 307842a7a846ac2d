"""A tiny problem whose solution is known: trained, and predicted with."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ovaflow.benchmark.objective import objectives
from ovaflow.console.progress import silence
from ovaflow.data.dataset import Dataset, Split
from ovaflow.data.names import Names
from ovaflow.diagnosis.finding import Finding, fail, ok
from ovaflow.diagnosis.storage import compiled_kernels
from ovaflow.model.model_file import Model
from ovaflow.prediction.top_k import predict_top_k
from ovaflow.sparse.csr import from_scipy
from ovaflow.training.in_memory import train_model
from ovaflow.training.label_jobs import Training

OBJECTIVES = (65.56853474653485, 48.508712001051535, 28.048528096676957)
"""Of the optimum of each label, by LIBLINEAR (squared hinge, L2, C = 1, tolerance 1e-12)."""

_TOLERANCE = 1e-6
_REMEDY = (
    "do not trust results of this installation: install the pinned versions, and report it with ovaflow doctor --json"
)


def known_problem() -> Dataset:
    """Eighty instances of twelve features, the last of them the bias, and three labels; made by arithmetic alone.

    Returns
    -------
    Dataset
    """
    i, j = np.arange(80)[:, None], np.arange(12)[None, :]
    X = ((7 * i + 13 * j + i * j) % 11 % 4).astype(np.float32)
    X[:, -1] = 1
    Y = (5 * i + i * i // 3 + 4 * np.arange(3)[None, :]) % 17 < [8, 4, 2]
    split = Split(from_scipy(X), from_scipy(Y))
    return Dataset(Path("self-test"), split, split, "", {"bias": 1.0}, Names(["a", "b", "c"], []))


def run_self_test() -> Iterator[Finding]:
    """Train the known problem and predict with it.

    Yields
    ------
    Finding
    """
    before, began = compiled_kernels(), time.perf_counter()
    dataset, model = _train()
    predicted, scores = predict_top_k(model.weights, model.trained, dataset.train.X, 3, quiet=True)
    took, compiled = time.perf_counter() - began, compiled_kernels() - before
    ours = objectives(dataset.train.X, dataset.positives, model.weights, 1.0)
    theirs = np.array(OBJECTIVES)
    how = f"{took:.1f} s" + (f", most of it for {compiled} kernels that were not compiled yet" if compiled else "")
    apart = float(np.max(np.abs(ours / theirs - 1)))
    if not apart < _TOLERANCE:
        yield fail("self-test", f"objectives {ours.tolist()}, LIBLINEAR has {theirs.tolist()}", _REMEDY)
    elif not _are_best(predicted, scores, dataset, model):
        yield fail("self-test", "labels were found that are not the best by the dense product", _REMEDY)
    else:
        yield ok("self-test", f"3 labels trained to LIBLINEAR's objectives ({apart:.0e} apart) and predicted, {how}")


def _train() -> tuple[Dataset, Model]:
    with silence():
        dataset = known_problem()
        return dataset, train_model(dataset, Training(epsilon=1e-6, stored_threshold=0.0), 0.0)


def _are_best(predicted: np.ndarray, scores: np.ndarray, dataset: Dataset, model: Model) -> bool:
    dense = (dataset.train.X.to_scipy() @ model.weights.to_scipy().T).toarray()
    return bool(np.allclose(np.sort(dense, axis=1)[:, ::-1], scores, rtol=1e-5, atol=1e-5)) and bool(
        np.allclose(np.take_along_axis(dense, predicted, axis=1), scores, rtol=1e-5, atol=1e-5)
    )
