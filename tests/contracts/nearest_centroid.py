"""Nearest centroid: the weights of a label are the mean of its positives, scaled to length 1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from ovaflow.machine.limits import read_peak_rss
from ovaflow.model.one_vs_all import OneVsAll
from ovaflow.settings.section import Section, setting
from ovaflow.sparse.csr import CSR, from_scipy
from ovaflow.storage.artifact import Artifact
from ovaflow.storage.parts import Parts
from ovaflow.training.evenly_divided import EvenlyDividedMethod


class Centroids(Section):
    """Settings of centroids in configs, on the command line and of classifiers."""

    smallest: float = setting(0.01, "drop weights smaller than this", ge=0)


@dataclass(frozen=True)
class CentroidShard(
    Artifact, kind="centroid-shard", made_from=("dataset",), remedy="train it again"
):
    """Centroids of some labels."""

    numbers: np.ndarray  # int64 (m,); the labels
    weights: CSR  # (m, d)
    core_seconds: float
    peak_rss_bytes: int


@dataclass(frozen=True)
class CentroidModel(OneVsAll):
    """Weights of labels; a model of anything else is a MethodModel with fields of its own."""

    of_method: ClassVar[str] = "nearest-centroid"

    @classmethod
    def what_scores_are(cls, settings) -> str:
        return (
            "A score is the cosine between an instance and the mean of the label’s training "
            "instances."
        )


class NearestCentroid(EvenlyDividedMethod):
    name = "nearest-centroid"
    settings = Centroids
    model = CentroidModel
    shard = CentroidShard

    def train(
        self, dataset, numbers, settings, threads=1, title="train", parts=None
    ) -> CentroidShard:
        """Compute w_j, the sum of the positives of j over its length."""
        parts = parts or Parts()
        X = dataset.train.X.to_scipy()
        positives = dataset.positives.to_scipy()
        done = parts.read_earlier()
        for label in numbers:
            if label not in done:
                weights = positives[[label]] @ X
                weights.data[weights.indices == dataset.n_features - 1] *= (
                    dataset.parameters["bias"] == 0
                )
                weights.data /= np.linalg.norm(weights.data) or 1
                weights.data[weights.data < settings.smallest] = 0
                weights.eliminate_zeros()
                weights.sort_indices()
                done[label] = {"data": weights.data.astype(np.float32), "indices": weights.indices}
                parts.keep(label, **done[label])
        rows = [done[label] for label in numbers]
        ends = np.cumsum([0, *(len(row["data"]) for row in rows)])
        data = np.concatenate([row["data"] for row in rows] or [[]])
        indices = np.concatenate([row["indices"] for row in rows] or [[]])
        weights = sp.csr_array((data, indices, ends), (len(rows), dataset.n_features))
        return CentroidShard(
            np.array(numbers, np.int64), from_scipy(weights), parts.core_seconds, read_peak_rss()
        )

    def join(self, pieces, dataset) -> CentroidModel:
        weights = sp.vstack([shard.weights.to_scipy()[[place]] for shard, place in pieces])
        parameters = {"train": pieces[0][0].parameters, "prune": 0.0}
        return CentroidModel.in_memory(
            dataset, dataset.counts > 0, parameters, weights=from_scipy(weights)
        )
