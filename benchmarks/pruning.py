"""Quality and size of a one-vs-all model pruned at growing thresholds (DiSMEC, fig. 5), by score
alone.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from tables import align

from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.evaluation.metric import compute_metric
from ovaflow.evaluation.pruned_models import measure_pruned, sample_test_instances
from ovaflow.evaluation.ranking import Ranked
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.settings.train import Propensities

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)

METRICS = ("P@1", "P@3", "P@5", "nDCG@5")

DECILES = 10
"""Groups of labels of about the same size, by their number of training positives."""


class Row(NamedTuple):
    """The model pruned at one threshold."""

    threshold: float
    nonzeros: int
    model_bytes: int
    metrics: dict[str, float]
    # (10,): parts of P@5 that hits on the labels of each decile add, rarest labels first
    deciles: np.ndarray


def measure(
    model: OneVsAll, dataset: Dataset, thresholds: Sequence[float], threads: int
) -> list[Row]:
    """Measure a model at its own threshold and at larger ones, on at most 20,000 test instances."""
    model.require(dataset=dataset)
    own = model.parameters["prune"]
    larger = {threshold for threshold in thresholds if threshold > own}
    test = sample_test_instances(dataset)
    constants = Propensities()
    inverse = dataset.inverse_propensity(constants.propensity_a, constants.propensity_b)
    deciles = assign_deciles(dataset.counts)
    rows = []
    for point, ids in measure_pruned(model, sorted({own, *larger}), test, inverse, threads):
        ranked = Ranked(ids, test.Y, inverse)
        metrics = {name: compute_metric(name, ranked) for name in METRICS}
        parts = np.bincount(deciles[ids[ranked.hits]], minlength=DECILES) / ids.size
        rows.append(Row(point["prune"], point["nonzeros"], point["model_bytes"], metrics, parts))
    return rows


def assign_deciles(counts: np.ndarray) -> np.ndarray:
    """Return the decile of each label, 0 for the rarest; -1 for labels without training positives
    (l,).
    """
    known = np.flatnonzero(counts)
    by_count = known[np.argsort(counts[known], kind="stable")]
    deciles = np.full(len(counts), -1)
    for number, labels in enumerate(np.array_split(by_count, DECILES)):
        deciles[labels] = number
    return deciles


def format_table(rows: list[Row]) -> str:
    """Format the measurement as text."""
    lines = [["pruned at", "weights", "bytes", *METRICS]]
    for row in rows:
        quality = [f"{100 * value:.2f}" for value in row.metrics.values()]
        lines.append([f"{row.threshold:g}", f"{row.nonzeros:,}", f"{row.model_bytes:,}", *quality])
    return align(lines)


def format_deciles(rows: list[Row]) -> str:
    """Format the parts of P@5 by decile as text."""
    lines = [["pruned at", *(str(number) for number in range(1, DECILES + 1))]]
    for row in rows:
        lines.append([f"{row.threshold:g}", *(f"{100 * part:.2f}" for part in row.deciles)])
    return align(lines)


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("dataset", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--threshold",
    "thresholds",
    type=click.FloatRange(0, min_open=True),
    multiple=True,
    default=THRESHOLDS,
    show_default=True,
    help="Weights below it are dropped; repeatable.",
)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
def main(model, dataset, thresholds, threads) -> None:
    """Prune MODEL (model.h5) at larger thresholds and measure it on the test instances of DATASET
    (dataset.h5).
    """
    rows = measure(OneVsAll.open(model), open_dataset(dataset), thresholds, threads)
    click.echo(format_table(rows))
    click.echo("\nParts of P@5 by decile of the labels, rarest first")
    click.echo(format_deciles(rows))


if __name__ == "__main__":
    main()
