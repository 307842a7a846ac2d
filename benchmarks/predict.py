"""Time of finding the best labels with ovaflow and with other packages, on one thread.

Instances are scored in batches and one at a time.

SciPy and PECOS score with the weights of the model, so that all three must find
the same labels; napkinXC and omikuji cannot be given weights and train first.

``python benchmarks/predict.py results/DATASET/RUN/model.h5 results/DATASET/dataset.h5``
"""

import importlib.util
import json
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import scipy.sparse
from peers.interface import Problem, as_matrix
from peers.registry import make_names_callback
from tables import NOT_INSTALLED, align
from threadpoolctl import threadpool_limits

from ovaflow.console.errors import InputError
from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.prediction.predictor import Predictor
from ovaflow.sparse.csr import CSR, select_rows

_SCORED_INSTANCES = 256
"""Instances that SciPy scores at a time: the product of more would not fit into memory."""


class Contestant(ABC):
    """A package that finds the k best labels."""

    requires = "ovaflow"
    trains = False

    @abstractmethod
    def __init__(self, predictor: Predictor, dataset: Dataset, k: int) -> None: ...

    @abstractmethod
    def prepare(self, X: CSR) -> Any:
        """Convert instances to the form that the package takes; not timed."""

    @abstractmethod
    def find_best(self, prepared: Any) -> Sequence[np.ndarray]:
        """Find the labels of prepared instances, best first."""


class Own(Contestant):
    """ovaflow, with an index in memory."""

    def __init__(self, predictor, dataset, k) -> None:
        predictor.prepare()
        self._predictor = predictor
        self._k = k

    def prepare(self, X) -> Any:
        return X

    def find_best(self, prepared) -> Sequence[np.ndarray]:
        return self._predictor.top_k(prepared, self._k)[0]


class SciPy(Contestant):
    """Sparse product, then a partial sort."""

    requires = "scipy"

    def __init__(self, predictor, dataset, k) -> None:
        self._weights = predictor.model.weights.to_scipy().T.tocsr()
        self._k = k
        self._untrained = ~predictor.model.trained

    def prepare(self, X) -> Any:
        return as_matrix(X)

    def find_best(self, prepared) -> Sequence[np.ndarray]:
        blocks = []
        for start in range(0, prepared.shape[0], _SCORED_INSTANCES):
            blocks.append(self._find_best_of_block(prepared[start : start + _SCORED_INSTANCES]))
        return np.concatenate(blocks)

    def _find_best_of_block(self, X) -> np.ndarray:
        scores = (X @ self._weights).toarray()
        scores[:, self._untrained] = -np.inf
        k = min(self._k, scores.shape[1] - 1)
        found = np.argpartition(-scores, k, axis=1)[:, : self._k]
        order = np.argsort(-np.take_along_axis(scores, found, axis=1), axis=1)
        return np.take_along_axis(found, order, axis=1)


class Pecos(Contestant):
    """Its one-vs-all layer, with the model's weights."""

    requires = "pecos"

    def __init__(self, predictor, dataset, k) -> None:
        from pecos.xmc.base import HierarchicalMLModel, MLModel
        from pecos.xmc.xlinear.model import XLinearModel

        self._bias = float(dataset.parameters.get("bias", 0.0))
        self._k = k
        plain = MLModel.PredParams(only_topk=k, post_processor="noop")
        weights = as_matrix(predictor.model.weights).T.tocsc()
        layer = MLModel(W=weights, bias=self._bias or -1.0, pred_params=plain)
        with tempfile.TemporaryDirectory() as folder:
            XLinearModel(HierarchicalMLModel([layer])).save(folder)
            self._model = XLinearModel.load(folder, is_predict_only=True)

    def prepare(self, X) -> Any:
        return as_matrix(X)[:, : X.n_columns - (self._bias != 0)]

    def find_best(self, prepared) -> Sequence[np.ndarray]:
        found = self._model.predict(prepared, only_topk=self._k, threads=1, post_processor="noop")
        found = scipy.sparse.csr_matrix(found)
        labels = []
        for row in range(found.shape[0]):
            entries = slice(found.indptr[row], found.indptr[row + 1])
            order = np.argsort(-found.data[entries])
            labels.append(found.indices[entries][order])
        return labels


class _Trained(Contestant):
    trains = True

    def __init__(self, predictor, dataset, k) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._problem = Problem(
            dataset,
            np.flatnonzero(predictor.model.trained),
            C=1.0,
            epsilon=0.01,
            threshold=0.01,
            seed=0,
            folder=Path(self._folder.name),
        )
        self._k = k
        self._peer = self._kind()(self._problem)
        self._peer.train()

    def prepare(self, X) -> Any:
        return self._problem.without_bias(X)


class NapkinXC(_Trained):
    """Its binary relevance, trained on the dataset."""

    requires = "napkinxc"

    def _kind(self) -> type:
        from peers.napkinxc import BinaryRelevance

        return BinaryRelevance

    def find_best(self, prepared) -> Sequence[np.ndarray]:
        return self._peer._model.predict(prepared, top_k=self._k)


class Omikuji(_Trained):
    """Parabel's three trees, trained on the dataset."""

    requires = "omikuji"

    def __init__(self, predictor, dataset, k) -> None:
        super().__init__(predictor, dataset, k)
        self._peer._model.init_prediction_thread_pool(1)

    def _kind(self) -> type:
        from peers.omikuji import Parabel

        return Parabel

    def prepare(self, X) -> Any:
        rows = []
        for row in super().prepare(X):
            rows.append(list(zip(row.indices.tolist(), row.data.tolist(), strict=True)))
        return rows

    def find_best(self, prepared) -> Sequence[np.ndarray]:
        return [self._peer._model.predict(row, 10, self._k) for row in prepared]


CONTESTANTS = {
    "ovaflow": Own,
    "scipy": SciPy,
    "pecos": Pecos,
    "napkinxc": NapkinXC,
    "omikuji": Omikuji,
}
"""By name."""


class Timing(NamedTuple):
    """Times of a contestant."""

    name: str
    batch_ms: float = np.nan  # CPU time of an instance, medians over the rounds
    single_ms: float = np.nan
    p50_ms: float = np.nan  # wall time of one instance at a time
    p99_ms: float = np.nan
    batch_ratio: float = np.nan  # CPU time over ovaflow's of the same round
    single_ratio: float = np.nan
    # share of instances with ovaflow's labels; None for models of its own
    same: float | None = None
    failure: str = ""


class Round(NamedTuple):
    """Times of a contestant in one round, in milliseconds."""

    batch: float  # CPU time of an instance
    single: float  # CPU time of one instance at a time
    walls: np.ndarray  # wall time of each of these


def benchmark_prediction(
    model: Path,
    dataset: Dataset,
    names: Sequence[str],
    *,
    k: int,
    n_instances: int,
    n_singles: int,
    n_rounds: int,
    seed: int,
) -> list[Timing]:
    """Time contestants in turn, round after round, on random test instances.

    Parameters
    ----------
    model : path
    dataset : Dataset
        The dataset that the model was trained on.
    names : sequence of str
        Contestants in addition to ovaflow.
    k : int
        Number of labels to find.
    n_instances : int
        Number of instances of the batch.
    n_singles : int
        Number of them that are scored one at a time.
    n_rounds : int
    seed : int
        Seed of the draw of instances.
    """
    predictor = Predictor.open(model)
    if not hasattr(predictor.model, "weights"):
        raise InputError(
            "has no weights of labels", path=model, remedy="give a model of one-vs-all"
        )
    if predictor.model.inputs.get("dataset") != dataset.checksum:
        raise InputError(
            f"was not trained on {dataset.path}",
            path=model,
            remedy="give the model and the dataset that it was trained on",
        )
    rng = np.random.default_rng(seed)
    n_test = dataset.test.X.n_rows
    rows = rng.choice(n_test, min(n_instances, n_test), replace=False)
    X = select_rows(dataset.test.X, rows)
    chosen = dict.fromkeys(["ovaflow", *names])
    contestants = {}
    for name in chosen:
        kind = CONTESTANTS[name]
        if importlib.util.find_spec(kind.requires) is not None:
            contestants[name] = kind(predictor, dataset, k)
    rounds: dict[str, list[Round]] = {name: [] for name in contestants}
    labels = {}
    for _ in range(n_rounds + 1):
        for name, contestant in contestants.items():
            labels[name], measured = _measure(contestant, X, min(n_singles, X.n_rows))
            rounds[name].append(measured)
    timings = []
    for name in chosen:
        if name not in contestants:
            timings.append(Timing(name, failure="not installed"))
            continue
        # the first round warms up
        timing = _summarize(name, rounds[name][1:], rounds["ovaflow"][1:])
        if not contestants[name].trains:
            timing = timing._replace(same=_compare_labels(labels["ovaflow"], labels[name]))
        timings.append(timing)
    return timings


def _measure(contestant: Contestant, X: CSR, n_singles: int) -> tuple[Sequence[np.ndarray], Round]:
    """Return the best labels of instances, and what it took to find them."""
    prepared = contestant.prepare(X)
    cpu = time.process_time()
    labels = contestant.find_best(prepared)
    batch = (time.process_time() - cpu) / X.n_rows
    singles = [contestant.prepare(select_rows(X, np.array([i]))) for i in range(n_singles)]
    walls = np.empty(n_singles)
    cpu = time.process_time()
    for i, row in enumerate(singles):
        wall = time.perf_counter()
        contestant.find_best(row)
        walls[i] = time.perf_counter() - wall
    single = (time.process_time() - cpu) / n_singles
    return labels, Round(1e3 * batch, 1e3 * single, 1e3 * walls)


def _summarize(name: str, rounds: list[Round], own_rounds: list[Round]) -> Timing:
    """Summarize the rounds of a contestant next to those of ovaflow."""
    batch = np.array([each.batch for each in rounds])
    single = np.array([each.single for each in rounds])
    own_batch = np.array([each.batch for each in own_rounds])
    own_single = np.array([each.single for each in own_rounds])
    walls = np.concatenate([each.walls for each in rounds])
    p50, p99 = np.percentile(walls, [50, 99]).tolist()
    return Timing(
        name=name,
        batch_ms=float(np.median(batch)),
        single_ms=float(np.median(single)),
        p50_ms=p50,
        p99_ms=p99,
        batch_ratio=float(np.median(batch / own_batch)),
        single_ratio=float(np.median(single / own_single)),
    )


def _compare_labels(own_labels, labels) -> float:
    """Return the share of instances with the same labels in the same order."""
    are_same = []
    for ours, theirs in zip(own_labels, labels, strict=True):
        n = np.count_nonzero(ours >= 0)
        are_same.append(np.array_equal(ours[ours >= 0], theirs[:n]))
    return float(np.mean(are_same))


def prediction_table(timings: list[Timing]) -> str:
    """Format the times of finding the best labels as a table."""
    rows = [
        ["package", "batch ms", "ratio", "single ms", "ratio", "p50 ms", "p99 ms", "same labels"]
    ]
    for timing in timings:
        if timing.failure:
            rows.append([timing.name, NOT_INSTALLED])
            continue
        figures = (
            timing.batch_ms,
            timing.batch_ratio,
            timing.single_ms,
            timing.single_ratio,
            timing.p50_ms,
            timing.p99_ms,
        )
        same = "own model"
        if timing.same is not None:
            same = f"{100 * timing.same:.1f} %"
        rows.append([timing.name, *(f"{value:.3g}" for value in figures), same])
    notes = (
        "batch, single: CPU ms per instance, together and one at a time; "
        "p50, p99: wall ms of one at a time"
    )
    return f"{align(rows)}\n\n{notes}"


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--peers",
    callback=make_names_callback(CONTESTANTS),
    default="scipy,pecos",
    show_default=True,
    help="By comma; napkinxc and omikuji train first.",
)
@click.option("--top-k", default=5, show_default=True, type=click.IntRange(min=1))
@click.option(
    "--instances", default=1000, show_default=True, type=click.IntRange(min=1), help="Of the batch."
)
@click.option(
    "--singles",
    default=300,
    show_default=True,
    type=click.IntRange(min=1),
    help="Scored one at a time.",
)
@click.option(
    "--repeats", default=3, show_default=True, type=click.IntRange(1), help="Interleaved rounds."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(model, dataset, *, peers, top_k, instances, singles, repeats, seed, as_json) -> None:
    """Find the best labels of test instances with MODEL (model.h5) and with other packages, on one
    thread.
    """
    with threadpool_limits(1):
        timings = benchmark_prediction(
            model,
            open_dataset(dataset),
            peers,
            k=top_k,
            n_instances=instances,
            n_singles=singles,
            n_rounds=repeats,
            seed=seed,
        )
    if as_json:
        click.echo(json.dumps([timing._asdict() for timing in timings]))
    else:
        click.echo(prediction_table(timings))


if __name__ == "__main__":
    main()
