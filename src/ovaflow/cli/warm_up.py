"""``ovaflow warm-up``."""

import contextlib
import io
import tempfile
from pathlib import Path

import click
import numpy as np

from ovaflow.cli import group
from ovaflow.console.progress import Progress, silence
from ovaflow.data.dataset import Split, write_dataset
from ovaflow.methods import METHODS
from ovaflow.solver.losses import LOSSES
from ovaflow.solver.problem import REGULARIZATIONS
from ovaflow.sparse.csr import from_scipy
from ovaflow.sparse.jit import cache_directory


def _method_options(command):
    for name in (name for name, method in METHODS.items() if method.warm_up):
        command = click.option(f"--{name}", is_flag=True, help=f"Those of {name}, too.")(command)
    return command


@click.command("warm-up", short_help="Compile every kernel once.")
@click.option(
    "--problem",
    "problems",
    type=click.Choice([f"{loss}/{regularization}" for loss in LOSSES for regularization in REGULARIZATIONS]),
    multiple=True,
    default=["squared-hinge/l2"],
    show_default=True,
    help="Those of training with a loss and a regularisation.",
)
@_method_options
def warm_up_command(problems, **methods):
    """Compile the kernels of training and prediction, by running these steps on a few made-up instances.

    Jobs that start together would each compile them otherwise.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_tiny_dataset(folder / "dataset.h5")
        wanted = [method for name, method in METHODS.items() if methods.get(name.replace("-", "_"))]
        steps = [*_steps(folder, problems), *(_filled(step, name) for method in wanted for step in method.warm_up)]
        click.echo("compiling kernels, once for this machine and this version", err=True)
        with Progress("compiling", len(steps), "steps") as progress:
            for step in steps:
                # what they say of six made-up labels interests nobody
                with silence(), contextlib.redirect_stdout(io.StringIO()):
                    group.main(step, standalone_mode=False)
                progress.advance()
    click.echo(f"kernels are compiled: {cache_directory()}")


def _write_tiny_dataset(path):
    generator = np.random.default_rng(0)
    # large enough for working sets, with labels for these and labels too frequent for them
    X = generator.random((6000, 13)) * (generator.random((6000, 13)) < 0.4)
    X[:, -1] = 1
    Y = generator.random((6000, 6)) < [0.3, 0.1, 0.01, 0.001, 0.001, 0.001]
    split = Split(from_scipy(X), from_scipy(Y))
    write_dataset(path, split, split, [f"label {j}" for j in range(6)], [], {"bias": 1.0})


def _steps(folder, problems):
    dataset, means, plan = folder / "dataset.h5", folder / "means.h5", folder / "shards.tsv"
    model, training, predictions = folder / "model.h5", folder / "training.h5", folder / "predictions.h5"
    yield ["means", str(dataset), f"--output={means}"]
    yield ["plan", str(dataset), "--shards=1", f"--output={plan}"]
    for problem in problems:
        loss, regularization = problem.split("/")
        shard = folder / f"{loss}-{regularization}.h5"
        inputs = [str(dataset), f"--means={means}", f"--plan={plan}", "--shard=0"]
        options = [f"--loss={loss}", f"--regularization={regularization}"]
        yield ["train-shard", *inputs, *options, "--initialization=zero", f"--output={folder / 'zero.h5'}"]
        yield ["train-shard", *inputs, *options, f"--output={shard}"]
    yield ["merge", str(shard), f"--dataset={dataset}", f"--output={model}", f"--statistics={training}"]
    yield ["predict", str(model), f"--dataset={dataset}", f"--output={predictions}"]
    inputs = [str(predictions), f"--dataset={dataset}", f"--model={model}", f"--training={training}"]
    yield ["evaluate", *inputs, f"--output={folder / 'metrics.json'}"]


def _filled(step, folder):
    return [word.format(folder) for word in step.split()]
