"""Doubts about the labels of training records: of those held out for the second stage, or of all by
cross-validation.
"""

from typing import Any

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence_progress
from ovaflow.dataset.dataset import Dataset
from ovaflow.dataset.folds import assign_folds
from ovaflow.dataset.hold_out import draw_held_out_documents
from ovaflow.dataset.partition import partition_documents
from ovaflow.model.model_file import Model
from ovaflow.registry import find_method
from ovaflow.reranking.doubts import Doubts, find_doubts, join_doubts
from ovaflow.reranking.held_out_texts import MIN_HELD_OUT_TEXTS
from ovaflow.storage.tables import StoredColumn

N_FOLDS = 5
"""Number of folds of the cross-validation."""

MAX_SHOWN_FEATURES = 8
"""Heaviest features that are shown for a record, whose text is not kept."""

DOUBT_COLUMNS = (
    StoredColumn("record"),
    StoredColumn("label"),
    StoredColumn("kind"),
    StoredColumn("probability", float, ".3f"),
    StoredColumn("lift", float, ".2g"),
    StoredColumn("similar", int),
    StoredColumn("words"),
)
"""Columns of doubts.csv."""


def find_held_out_doubts(
    dataset: Dataset, held_out: Dataset, model: Model, threads: int = 1
) -> tuple[Doubts, int]:
    """Find doubts about the training instances that were held out, by a model of the others.

    Returns them, and the number of these instances.
    """
    settings = held_out.parameters["held_out"]
    is_held_out = draw_held_out_documents(dataset, settings["fraction"], settings["seed"])
    rows = np.flatnonzero(is_held_out & ~dataset.extra_documents)
    if len(rows) != held_out.test.X.n_rows:
        message = "was held out by another version of ovaflow"
        raise InputError(message, path=held_out.path, remedy="run hold-out again")
    return find_doubts(dataset, rows, held_out, model, threads), len(rows)


def find_cross_validated_doubts(
    dataset: Dataset, model: Model, threads: int = 1
) -> tuple[Doubts, int]:
    """Find doubts about all training instances, each by a model of the folds without it.

    The models are trained with the method and settings of ``model``. Returns the doubts, and the
    number of instances.
    """
    n = int(np.count_nonzero(~dataset.extra_documents))
    n_needed = N_FOLDS * MIN_HELD_OUT_TEXTS
    if n < n_needed:
        message = (
            f"{n:,} training records are too few to check all of them; "
            f"at least {n_needed:,} are needed"
        )
        raise InputError(message, path=dataset.path)
    method = find_method(model.method)
    settings = method.settings_of(model.parameters)
    folds = assign_folds(dataset, N_FOLDS)
    parts = []
    with Progress("doubts", N_FOLDS, "folds") as progress:
        for fold in range(N_FOLDS):
            with silence_progress():
                rows = np.flatnonzero((folds == fold) & ~dataset.extra_documents)
                others = partition_documents(dataset, np.flatnonzero(folds != fold), rows)
                trained = method.train_model(others, settings, threads)
                parts.append(find_doubts(dataset, rows, others, trained, threads))
            progress.advance()
    return join_doubts(parts), n


def tabulate_doubts(dataset: Dataset, doubts: Doubts) -> list[dict[str, Any]]:
    """Make rows with the :data:`DOUBT_COLUMNS`, records by their ids."""
    ids = dataset.ids("train")
    rows = []
    for i in range(len(doubts.rows)):
        row = int(doubts.rows[i])
        lift = float(doubts.lifts[i])
        is_missing = bool(np.isnan(lift))
        features = dataset.heaviest_features("train", row, MAX_SHOWN_FEATURES)
        rows.append(
            {
                "record": ids[row] or f"training instance {row}",
                "label": dataset.label_name(int(doubts.labels[i])),
                "kind": "missing" if is_missing else "wrong",
                "probability": round(float(doubts.probabilities[i]), 3),
                "lift": None if is_missing else lift,
                "similar": int(doubts.neighbour_counts[i]),
                "words": " ".join(features),
            }
        )
    return rows
