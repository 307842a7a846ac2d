"""Quality of the first trees of a FastXML model (FastXML, fig. 1): it shows how many are enough."""

from dataclasses import replace
from pathlib import Path

import click
import numpy as np
from tables import align

from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.evaluation.metric import compute_metric
from ovaflow.evaluation.ranking import Ranked
from ovaflow.methods.fastxml.forest import join_trees
from ovaflow.methods.fastxml.model_file import ForestModel

METRICS = ("P@1", "P@3", "P@5", "nDCG@5")


def measure(model: ForestModel, dataset: Dataset, threads: int) -> dict[int, dict[str, float]]:
    """Measure the first trees, by their number: 1, 2, 4 and so on, and all of them."""
    model.require(dataset=dataset)
    X = model.instances(dataset.test)
    Y = dataset.test.Y
    # these metrics do not weigh labels by propensity
    inverse = np.ones(dataset.n_labels)
    metrics_by_number = {}
    for n_trees in double_up_to(model.forest.n_trees):
        ids, _ = select_first_trees(model, n_trees).top_k(X, 5, threads)
        ranked = Ranked(ids, Y, inverse)
        metrics_by_number[n_trees] = {name: compute_metric(name, ranked) for name in METRICS}
    return metrics_by_number


def double_up_to(most: int) -> list[int]:
    """Return 1, 2, 4 and so on below a number, and the number itself."""
    numbers = []
    number = 1
    while number < most:
        numbers.append(number)
        number *= 2
    return [*numbers, most]


def select_first_trees(model: ForestModel, n_trees: int) -> ForestModel:
    """Return a model of the first trees of another."""
    trees = [model.forest.tree(number) for number in range(n_trees)]
    return replace(model, forest=join_trees(trees, model.n_features, model.n_labels))


def format_table(metrics_by_number: dict[int, dict[str, float]]) -> str:
    """Format the measurement as text."""
    lines = [["trees", *METRICS]]
    for n_trees, metrics in metrics_by_number.items():
        lines.append([f"{n_trees:,}", *(f"{100 * value:.2f}" for value in metrics.values())])
    return align(lines)


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
def main(model, dataset, threads) -> None:
    """Measure the first trees of MODEL (model.h5, of fastxml) on the test instances of DATASET
    (dataset.h5).
    """
    click.echo(format_table(measure(ForestModel.open(model), open_dataset(dataset), threads)))


if __name__ == "__main__":
    main()
