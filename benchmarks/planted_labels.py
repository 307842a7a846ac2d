"""Measure how many wrong labels ``ovaflow doubts`` finds: 2 % of the labels of training records are
replaced by others.

    python benchmarks/planted_labels.py results/docstrings/dataset.h5 --seed 0

A fifth of the records is held out, and a model trained on the others. The share of planted labels
among the first 20, 100 and 500, and among as many as were planted there, is printed for several
orders, and that of the labels that were replaced among the missing ones.
"""

from dataclasses import replace

import click
import numpy as np
import scipy.sparse

from ovaflow.dataset.dataset import Dataset, open_dataset
from ovaflow.dataset.hold_out import draw_held_out_documents, hold_out
from ovaflow.reranking.doubts import Doubts, find_doubts
from ovaflow.settings.train import TrainLabels
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.training.shard_job import train_model

PLANTED_SHARE = 0.02
"""Share of the labels that are replaced."""
INSPECTED_NUMBERS = (20, 100, 500)
"""Numbers of first labels of an order in which planted labels are counted."""


@click.command()
@click.argument("dataset")
@click.option("--seed", default=0)
@click.option("--epsilon", default=0.01)
@click.option("--threads", default=1)
def main(dataset, seed, epsilon, threads) -> None:
    """Plant wrong labels in DATASET (dataset.h5) and print how many of them are found."""
    opened = open_dataset(dataset)
    planted = plant(opened, seed)
    Y = replace_labels(opened.train.Y, planted)
    # the checksum is that of other labels
    changed = replace(opened, train=replace(opened.train, Y=Y), checksum="")
    others = hold_out(changed, 0.2)
    model = train_model(others, TrainLabels(epsilon=epsilon), 0.01, threads)
    rows = np.flatnonzero(draw_held_out_documents(changed, 0.2))
    show(find_doubts(changed, rows, others, model, threads), changed.counts, planted)


Planted = dict[int, tuple[int, int, int]]
"""Row, old and new label of each planted label, by its position in the indices of Y."""


def plant(dataset: Dataset, seed: int) -> Planted:
    """Draw labels to replace, and by frequency the labels that replace them."""
    Y = dataset.train.Y
    random = np.random.default_rng(seed)
    n_labels = int(Y.indptr[dataset.n_documents])
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    present = set(zip(rows.tolist(), Y.indices.tolist(), strict=True))
    planted = {}
    places = random.choice(n_labels, round(PLANTED_SHARE * n_labels), replace=False)
    for place in np.sort(places).tolist():
        label = int(Y.indices[random.integers(n_labels)])
        while (int(rows[place]), label) in present:
            label = int(Y.indices[random.integers(n_labels)])
        present.add((int(rows[place]), label))
        planted[place] = (int(rows[place]), int(Y.indices[place]), label)
    return planted


def replace_labels(Y: CSR, planted: Planted) -> CSR:
    """Replace labels by planted ones."""
    labels = Y.indices.copy()
    rows = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
    labels[list(planted)] = [new for _, _, new in planted.values()]
    shape = (Y.n_rows, Y.n_columns)
    return from_scipy(scipy.sparse.csr_array((np.ones(len(labels)), (rows, labels)), shape=shape))


def show(doubts: Doubts, counts: np.ndarray, planted: Planted) -> None:
    """Print the share of planted labels in several orders."""
    given = doubts.take(doubts.given)
    missing = doubts.take(~doubts.given)
    p = given.probabilities
    labels = given.labels
    amounts = np.bincount(labels, minlength=len(counts))
    # smoothed by five labels, whose mean is that of all
    means = (np.bincount(labels, p, len(counts)) + 5 * p.mean()) / (amounts + 5)
    orders = {
        "lift (ovaflow doubts)": given.lifts,
        "probability": p,
        "probability less its mean for the label": p - means[labels],
        "probability over the label's frequency": (p + 1e-5) / (counts[labels] + 1),
    }
    swaps = {(row, new) for row, _, new in planted.values()}
    removed = {(row, old) for row, old, _ in planted.values()}
    looked_at = set(doubts.rows.tolist())
    n_planted = len([row for row, _ in swaps if row in looked_at])
    amounts = (*INSPECTED_NUMBERS, n_planted)
    click.echo(
        f"{'first':45}{''.join(f'{amount:>8}' for amount in amounts)} of {len(given.labels)} labels"
    )
    for name, order in orders.items():
        show_order(name, given, order, swaps, amounts)
    show_order("missing, by probability", missing, -missing.probabilities, removed, amounts)


def show_order(
    name: str,
    doubts: Doubts,
    order: np.ndarray,
    planted: set[tuple[int, int]],
    amounts: tuple[int, ...],
) -> None:
    """Print the share of planted labels among the first labels of an order, in percent."""
    first = doubts.take(np.argsort(order, kind="stable")[: max(amounts)])
    pairs = zip(first.rows.tolist(), first.labels.tolist(), strict=True)
    hits = np.array([pair in planted for pair in pairs])
    shares = "".join(f"{100 * hits[:amount].mean():8.0f}" for amount in amounts)
    click.echo(f"{name:45}{shares}")


if __name__ == "__main__":
    main()
