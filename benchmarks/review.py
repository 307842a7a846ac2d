"""Errors that a person finds who looks at a tenth of the records: in the order of ``predict --review`` and in others.

    python benchmarks/review.py results/DATASET/RUN [SHARE]

Errors are labels that are wrong, and true ones that are missing, among the labels that fit the test instances.
"""

import sys
from pathlib import Path

import numpy as np

from ovaflow.data.dataset import open_dataset
from ovaflow.evaluation.ranking import find_hits
from ovaflow.prediction.predictions import Predictions
from ovaflow.reranking.answer_length import probabilities_that_fit
from ovaflow.reranking.expected_quality import expected_quality


def measure(run, share=0.1):
    """Print the share of errors found, and how many labels these records have, for each order."""
    ranking = Predictions.open(run / "predictions.h5").ranking
    Y = open_dataset(run.parent / "dataset.h5").test.Y
    answers = probabilities_that_fit(ranking.probabilities)
    quality = expected_quality(answers, ranking.probabilities)
    right = np.count_nonzero(find_hits(ranking.ids, Y) & np.isfinite(answers), axis=1)
    positives = np.diff(Y.indptr)
    errors = quality.labels + positives - 2 * right
    orders = {
        "most expected errors": -quality.errors,
        "least probable first label": ranking.probabilities[:, 0],
        "least expected precision": quality.precision,
        "as they come": np.arange(len(errors)),
        "most errors, if they were known": -errors,
    }
    for name, values in orders.items():
        looked_at = np.argsort(values, kind="stable")[: round(share * len(errors))]
        found, labels = errors[looked_at].sum() / errors.sum(), quality.labels[looked_at].mean()
        print(f"{name}: {100 * found:.1f} % of errors, {labels:.1f} labels per record")


if __name__ == "__main__":
    measure(Path(sys.argv[1]), *map(float, sys.argv[2:]))
