"""``ovaflow warm-up``."""

import tempfile
from pathlib import Path

import click
import numpy as np

from ovaflow.cli import group
from ovaflow.data.dataset import Split, write_dataset
from ovaflow.sparse.csr import from_scipy
from ovaflow.sparse.jit import cache_directory


@click.command(short_help="Compile every kernel once.")
@click.option("--fastxml", is_flag=True, help="Those of fastxml, too.")
def command(fastxml):
    """Compile the kernels of training and prediction, by running these steps on a few made-up instances.

    Jobs that start together would each compile them otherwise.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_tiny_dataset(folder / "dataset.h5")
        for step in [*_steps(folder), *(_steps_of_trees(folder) if fastxml else ())]:
            group.main(step, standalone_mode=False)
    click.echo(f"kernels are compiled: {cache_directory()}")


def _write_tiny_dataset(path):
    generator = np.random.default_rng(0)
    # large enough for working sets, with labels for these and labels too frequent for them
    X = generator.random((4000, 13)) * (generator.random((4000, 13)) < 0.4)
    X[:, -1] = 1
    Y = generator.random((4000, 6)) < [0.3, 0.1, 0.01, 0.001, 0.001, 0.001]
    split = Split(from_scipy(X), from_scipy(Y))
    write_dataset(path, split, split, [f"label {j}" for j in range(6)], [], {"bias": 1.0})


def _steps(folder):
    dataset, means, plan = folder / "dataset.h5", folder / "means.h5", folder / "shards.tsv"
    model, training, predictions = folder / "model.h5", folder / "training.h5", folder / "predictions.h5"
    yield ["means", str(dataset), f"--output={means}"]
    yield ["plan", str(dataset), "--shards=1", f"--output={plan}"]
    for start in ("zero", "mean-separating"):
        shard = folder / f"{start}.h5"
        inputs = [str(dataset), f"--means={means}", f"--plan={plan}", "--shard=0"]
        yield ["train-shard", *inputs, f"--initialization={start}", f"--output={shard}"]
    yield ["merge", str(shard), f"--dataset={dataset}", f"--output={model}", f"--statistics={training}"]
    yield ["predict", str(model), f"--dataset={dataset}", f"--output={predictions}"]
    inputs = [str(predictions), f"--dataset={dataset}", f"--model={model}", f"--training={training}"]
    yield ["evaluate", *inputs, f"--output={folder / 'metrics.json'}"]


def _steps_of_trees(folder):
    dataset, model = folder / "dataset.h5", folder / "trees.h5"
    shard, training = folder / "tree-shard.h5", folder / "tree-training.h5"
    yield ["train-trees", str(dataset), "--trees=1", f"--output={shard}"]
    yield ["merge-trees", str(shard), f"--dataset={dataset}", f"--output={model}", f"--statistics={training}"]
    yield ["predict", str(model), f"--dataset={dataset}", f"--output={folder / 'tree-predictions.h5'}"]
