"""``ovaflow warm-up``."""

import contextlib
import gc
import hashlib
import io
import shutil
import tempfile
import time
from pathlib import Path

import click
import numba
import numpy as np

import ovaflow
from ovaflow.cli import group
from ovaflow.console.progress import Progress, silence_progress
from ovaflow.dataset.dataset import Split, write_dataset
from ovaflow.registry import find_method, method_names
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import REGULARIZATIONS
from ovaflow.sparse.csr import from_scipy
from ovaflow.sparse.fingerprint import cache_folder
from ovaflow.sparse.jit import cache_directory


def _warm_up_of(name):
    return find_method(name).warm_up


def _method_options(command):
    for name in filter(_warm_up_of, method_names()):
        command = click.option(
            f"--{name}", is_flag=True, help=f"Also compile the kernels of {name}."
        )(command)
    return command


@click.command("warm-up", short_help="Compile every kernel once.")
@click.option(
    "--problem",
    "problems",
    type=click.Choice(
        [f"{loss}/{regularization}" for loss in LOSSES for regularization in REGULARIZATIONS]
    ),
    multiple=True,
    default=["squared-hinge/l2"],
    show_default=True,
    help="Loss and regularization to train with; repeatable.",
)
@_method_options
@click.option("--rerank", is_flag=True, help="Also compile the kernels of the second stage.")
def warm_up_command(problems, rerank, **methods) -> None:
    """Compile the kernels of training and prediction by running these steps on made-up instances.

    Jobs that start together would otherwise each compile them.
    """
    chosen = [name for name in method_names() if methods.get(name.replace("-", "_"))]
    steps = list(_steps(problems, chosen, rerank))
    marker = _marker(steps)
    if not (marker and marker.exists()):
        _run(steps)
        if marker:
            marker.touch()
        _remove_unused()
    click.echo(f"kernels are compiled: {cache_directory()}")


def _marker(steps):
    """File beside the kernels that says that these steps have compiled theirs; None where none are
    kept.
    """
    if cache_directory() is None or numba.config.DISABLE_JIT:
        return None
    # by these Numba knows whether a kernel that it has kept is that of a source
    package = Path(ovaflow.__file__).parent
    states = {str(path): path.stat() for path in package.rglob("*.py")}
    sources = sorted((name, state.st_mtime, state.st_size) for name, state in states.items())
    name = hashlib.blake2b(repr((steps, sources)).encode(), digest_size=16).hexdigest()
    return cache_directory() / f"compiled-{name}"


def _remove_unused() -> None:
    """Remove kernels that no process has read for a month, those of earlier versions."""
    for folder in cache_folder().glob("kernels-*"):
        # another process may remove it, too
        with contextlib.suppress(FileNotFoundError):
            files = (path.stat().st_atime for path in folder.rglob("*") if path.is_file())
            if max([folder.stat().st_mtime, *files]) < time.time() - _MONTH:
                shutil.rmtree(folder)


_MONTH = 30 * 24 * 3600.0


def _run(steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write_tiny_dataset(Path(folder) / "dataset.h5")
        Path(folder, "texts.tsv").write_text("sea\tsalt water\nhill\tgreen grass\n" * 9)
        # Numba makes millions of objects that stay, among which garbage is seldom worth looking for
        gc.set_threshold(50_000, 50, 50)
        click.echo("compiling kernels, once for this machine and this version", err=True)
        with Progress("compiling", len(steps), "steps") as progress:
            for step in steps:
                # what a step says of made-up instances interests nobody
                with silence_progress(), contextlib.redirect_stdout(io.StringIO()):
                    group.main(
                        [word.format(folder) for word in step.split()], standalone_mode=False
                    )
                progress.advance()


def _write_tiny_dataset(path) -> None:
    generator = np.random.default_rng(0)
    # large enough for working sets, with labels for these and labels too frequent for them
    X = generator.random((6000, 13)) * (generator.random((6000, 13)) < 0.4)
    X[:, -1] = 1
    X[:, :2] *= 4
    Y = generator.random((6000, 6)) < [0.3, 0.1, 0.01, 0.001, 0.001, 0.001]
    # similar instances tell it, no sum over features does: a second stage is used
    Y[:, 0] = (X[:, 0] > 0) != (X[:, 1] > 0)
    split = Split(from_scipy(X), from_scipy(Y))
    write_dataset(
        path, split, split, [f"label-{j}" for j in range(6)], [], {"bias": 1.0, "normalize": True}
    )


_BEFORE = (
    "prepare --format=text-tsv --train={0}/texts.tsv --test={0}/texts.tsv --features=words --features=pairs"
    " --max-df=1.0 --output={0}/texts.h5",
    "means {0}/dataset.h5 --output={0}/means.h5",
    "plan {0}/dataset.h5 --shards=1 --output={0}/plan.tsv",
)
_TRAIN = "train-shard {0}/dataset.h5 --means={0}/means.h5 --plan={0}/plan.tsv --shard=0 --output={0}/shard.h5"
_AFTER = (
    "merge {0}/shard.h5 --dataset={0}/dataset.h5 --output={0}/model.h5 --statistics={0}/training.h5",
    "predict {0}/model.h5 --dataset={0}/dataset.h5 --output={0}/predictions.h5",
    "evaluate {0}/predictions.h5 --dataset={0}/dataset.h5 --model={0}/model.h5 --training={0}/training.h5"
    " --output={0}/metrics.json",
    "explain {0}/model.h5 --label=label-0",
)

_RERANK = (
    "hold-out {0}/dataset.h5 --output={0}/held.h5",
    "means {0}/held.h5 --output={0}/held-means.h5",
    "plan {0}/held.h5 --shards=1 --output={0}/held-plan.tsv",
    "train-shard {0}/held.h5 --means={0}/held-means.h5 --plan={0}/held-plan.tsv --shard=0 --output={0}/held-shard.h5",
    "merge {0}/held-shard.h5 --dataset={0}/held.h5 --output={0}/held-model.h5 --statistics={0}/held-training.h5",
    "predict {0}/held-model.h5 --dataset={0}/held.h5 --output={0}/held-predictions.h5",
    "rerank {0}/model.h5 --dataset={0}/dataset.h5 --held-out={0}/held.h5"
    " --predictions={0}/held-predictions.h5 --output={0}/reranker.h5",
    "predict {0}/model.h5 --dataset={0}/dataset.h5 --output={0}/reranked.h5",
)


def _steps(problems, methods, rerank):
    yield from _BEFORE
    for problem in problems:
        loss, regularization = problem.split("/")
        for start in ("zero", "mean-separating"):
            yield f"{_TRAIN} --loss={loss} --regularization={regularization} --initialization={start}"
    yield from _AFTER
    for method in methods:
        yield from _warm_up_of(method)
    if rerank:
        yield from _RERANK
