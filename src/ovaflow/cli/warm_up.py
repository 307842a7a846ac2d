"""``ovaflow warm-up``."""

import contextlib
import gc
import hashlib
import io
import itertools
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import numba
import numpy as np

import ovaflow
from ovaflow.cli import group
from ovaflow.cli.options import number_option
from ovaflow.console.progress import Progress, silence_progress
from ovaflow.dataset.dataset import Dataset, Split, open_dataset, write_dataset
from ovaflow.dataset.hold_out import hold_out
from ovaflow.model.model_file import ModelDescription, write_model
from ovaflow.registry import find_method, method_names
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import REGULARIZATIONS
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.sparse.fingerprint import cache_folder
from ovaflow.sparse.jit import cache_directory

_HELD_OUT_SHARE = 0.05
"""Share of the made-up instances that the second stage is fitted with."""

Chain = Sequence[str]
"""Commands that run one after the other in a folder {0}. No kernel with several signatures is
compiled by two chains, whose processes would overwrite each other's entries in Numba's cache.
"""


def _add_method_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each method whose kernels are compiled by steps of its own."""
    for name in method_names():
        if find_method(name).warm_up:
            option = click.option(
                f"--{name}", is_flag=True, help=f"Also compile the kernels of {name}."
            )
            command = option(command)
    return command


@click.command("warm-up", short_help="Compile every kernel once.")
@click.option(
    "--problem",
    "problems",
    type=click.Choice(
        [f"{loss}/{penalty}" for loss, penalty in itertools.product(LOSSES, REGULARIZATIONS)]
    ),
    multiple=True,
    default=["squared-hinge/l2"],
    show_default=True,
    help="Loss and regularization to train with; repeatable.",
)
@_add_method_options
@click.option("--rerank", is_flag=True, help="Also compile the kernels of the second stage.")
@number_option("--threads", 1, "Number of processes that compile.")
def warm_up_command(
    *, problems: tuple[str, ...], rerank: bool, threads: int, **methods: bool
) -> None:
    """Compile the kernels of training and prediction by running these steps on made-up instances.

    Jobs that start together would otherwise each compile them.
    """
    chosen = [name for name in method_names() if methods.get(name.replace("-", "_"))]
    chains = _list_chains(problems, chosen, rerank=rerank)
    marker = _find_marker(chains)
    if not (marker and marker.exists()):
        _run(chains, threads)
        if marker:
            marker.touch()
        _remove_unused()
    click.echo(f"kernels are compiled: {cache_directory()}")


def _find_marker(chains: Sequence[Chain]) -> Path | None:
    """Return the file next to the kernels that marks these steps as compiled.

    None if no kernels are kept.
    """
    folder = cache_directory()
    if folder is None or numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return None
    # Numba compares these to decide whether a kept kernel is up to date
    package = Path(ovaflow.__file__).parent
    states = {str(path): path.stat() for path in package.rglob("*.py")}
    sources = []
    for name, state in sorted(states.items()):
        sources.append((name, state.st_mtime, state.st_size))
    digest = hashlib.blake2b(repr((chains, sources)).encode(), digest_size=16).hexdigest()
    return folder / f"compiled-{digest}"


def _remove_unused() -> None:
    """Remove kernels that no process has read for a month, those of earlier versions."""
    for folder in cache_folder().glob("kernels-*"):
        # another process may remove it, too
        with contextlib.suppress(FileNotFoundError):
            times = [folder.stat().st_mtime]
            for path in folder.rglob("*"):
                if path.is_file():
                    times.append(path.stat().st_atime)
            if max(times) < time.time() - _MONTH_SECONDS:
                shutil.rmtree(folder)


_MONTH_SECONDS = 30 * 24 * 3600.0


def _run(chains: Sequence[Chain], threads: int) -> None:
    """Run chains of steps on made-up data in a temporary folder; this process runs the first."""
    click.echo("compiling kernels, once for this machine and this version", err=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        Progress("compiling", len(chains), "parts") as progress,
        # no fork, which is unsafe on macOS; without a chain no process starts
        ProcessPoolExecutor(max(threads - 1, 1), get_context("spawn")) as pool,
    ):
        _write_tiny_files(Path(folder))
        n_own = 1 if threads > 1 else len(chains)
        others = [pool.submit(_run_chain, chain, folder) for chain in chains[n_own:]]
        for chain in chains[:n_own]:
            _run_chain(chain, folder)
            progress.advance()
        for other in as_completed(others):
            other.result()
            progress.advance()


def _run_chain(chain: Chain, folder: str) -> None:
    """Run steps in a folder."""
    # Numba makes millions of objects that stay: look for garbage less often
    gc.set_threshold(50_000, 50, 50)
    for step in chain:
        # messages about made-up data are of no use
        with silence_progress(), contextlib.redirect_stdout(io.StringIO()):
            group.main([word.format(folder) for word in step.split()], standalone_mode=False)


def _write_tiny_files(folder: Path) -> None:
    """Write texts, and datasets and models with which each kernel is used."""
    (folder / "texts.tsv").write_text("sea\tsalt water\nhill\tgreen grass\n" * 9)
    generator = np.random.default_rng(0)
    # large enough for working sets, with labels for these and labels too frequent for them
    X = generator.random((6000, 13)) * (generator.random((6000, 13)) < 0.4)
    X[:, -1] = 1
    X[:, :2] *= 4
    Y = generator.random((6000, 6)) < [0.3, 0.1, 0.01, 0.001, 0.001, 0.001]
    # similar instances have this label, but no sum over features predicts it: a second stage is
    # used
    Y[:, 0] = (X[:, 0] > 0) != (X[:, 1] > 0)
    split = Split(from_scipy(X), from_scipy(Y))
    names = [f"label-{j}" for j in range(6)]
    path = folder / "dataset.h5"
    write_dataset(path, split, split, names, [], {"bias": 1.0, "normalize": True})
    hold_out(open_dataset(path), _HELD_OUT_SHARE).write(folder / "held.h5")
    # by no training, so that prediction can be compiled meanwhile
    weights = from_scipy((Y - Y.mean(axis=0)).T @ X)
    for name in ("dataset", "held"):
        _write_model(folder / f"{name}-model.h5", weights, open_dataset(folder / f"{name}.h5"))


def _write_model(path: Path, weights: CSR, dataset: Dataset) -> None:
    """Write a model with these weights."""
    write_model(
        path,
        np.diff(weights.indptr),
        [weights],
        weights.n_columns,
        ModelDescription(
            trained=np.ones(weights.n_rows, bool),
            counts=dataset.counts,
            names=dataset.names,
            parameters={"train": {}, "transform": dataset.parameters},
            inputs={"dataset": dataset.checksum},
        ),
        rounds=True,
    )


_TRAINING_STEPS = (
    "means {0}/dataset.h5 --output={0}/means.h5",
    "plan {0}/dataset.h5 --shards=1 --output={0}/plan.tsv",
)
_TRAINING_STEP = (
    "train-shard {0}/dataset.h5 --means={0}/means.h5 --plan={0}/plan.tsv --shard=0"
    " --output={0}/shard.h5"
)
_MERGING_STEP = (
    "merge {0}/shard.h5 --dataset={0}/dataset.h5 --output={0}/merged.h5"
    " --statistics={0}/training.h5"
)
_PREDICTION_STEPS = (
    "predict {0}/dataset-model.h5 --dataset={0}/dataset.h5 --output={0}/predictions.h5",
    "explain {0}/dataset-model.h5 --label=label-0",
)
_SECOND_STAGE_STEPS = (
    "predict {0}/held-model.h5 --dataset={0}/held.h5 --output={0}/held-predictions.h5",
    "rerank {0}/dataset-model.h5 --dataset={0}/dataset.h5 --held-out={0}/held.h5"
    " --predictions={0}/held-predictions.h5 --output={0}/reranker.h5",
    "predict {0}/dataset-model.h5 --dataset={0}/dataset.h5 --output={0}/reranked.h5",
)
_READING_STEPS = (
    "prepare --format=text-tsv --train={0}/texts.tsv --test={0}/texts.tsv --features=words"
    " --features=pairs --max-df=1.0 --output={0}/texts.h5",
)


def _list_chains(problems: Sequence[str], methods: Sequence[str], *, rerank: bool) -> list[Chain]:
    """List the steps that compile the kernels of problems, methods and the second stage."""
    training = list(_TRAINING_STEPS)
    for problem in problems:
        loss, regularization = problem.split("/")
        for start in ("zero", "mean-separating"):
            training.append(
                f"{_TRAINING_STEP} --loss={loss} --regularization={regularization}"
                f" --initialization={start}"
            )
    training.append(_MERGING_STEP)
    for method in methods:
        training.extend(find_method(method).warm_up)
    prediction = [*_PREDICTION_STEPS]
    if rerank:
        prediction.extend(_SECOND_STAGE_STEPS)
    return [training, prediction, _READING_STEPS]
