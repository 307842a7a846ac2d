"""Doubts about the labels of training records: of those held out for the second stage, or of all in
five folds.
"""

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.console.progress import Progress, silence_progress
from ovaflow.dataset.folds import assign_folds
from ovaflow.dataset.hold_out import draw_held_out_documents
from ovaflow.dataset.partition import partition_documents
from ovaflow.registry import find_method
from ovaflow.reranking.doubts import find_doubts, join_doubts
from ovaflow.reranking.held_out_texts import MIN_HELD_OUT_TEXTS
from ovaflow.storage.tables import StoredColumn

N_FOLDS = 5

MAX_SHOWN_FEATURES = 8
"""Heaviest features that stand for a record, whose text is not kept."""

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


def find_held_out_doubts(dataset, held_out, model, threads=1):
    """Doubts about the training instances that were held out, by a model of the others; how many
    these are.
    """
    settings = held_out.parameters["held_out"]
    held = draw_held_out_documents(dataset, settings["fraction"], settings["seed"])
    rows = np.flatnonzero(held & ~dataset.extra_documents)
    if len(rows) != held_out.test.X.n_rows:
        message = "was held out by another ovaflow"
        raise InputError(message, path=held_out.path, remedy="run hold-out again")
    return find_doubts(dataset, rows, held_out, model, threads), len(rows)


def find_cross_validated_doubts(dataset, model, threads=1):
    """Doubts about all training instances, each by a model of four fifths without it; how many
    these are.
    """
    n = int(np.count_nonzero(~dataset.extra_documents))
    if n < N_FOLDS * MIN_HELD_OUT_TEXTS:
        message = f"{n:,} training records are too few to look at all; {N_FOLDS * MIN_HELD_OUT_TEXTS:,} are needed"
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


def tabulate_doubts(dataset, doubts):
    """Return doubts as rows of :data:`DOUBT_COLUMNS`, records by their ids."""
    ids = dataset.ids("train")
    rows = []
    for row, label, probability, similar, lift in zip(
        *(array.tolist() for array in doubts), strict=True
    ):
        record = ids[row] or f"training instance {row}"
        name = dataset.label_name(label)
        is_missing = np.isnan(lift)
        rows.append(
            {
                "record": record,
                "label": name,
                "kind": "missing" if is_missing else "wrong",
                "probability": round(probability, 3),
                "lift": None if is_missing else lift,
                "similar": similar,
                "words": " ".join(dataset.heaviest_features("train", row, MAX_SHOWN_FEATURES)),
            }
        )
    return rows
