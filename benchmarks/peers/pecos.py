"""PECOS: its linear model as one layer, which is one-vs-all, and as a tree (XR-Linear). Yu et al.
2022.
"""

from typing import ClassVar

import numpy as np
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel

from ovaflow.sparse.csr import from_scipy
from peers.interface import Peer, folder_bytes

TOLERANCE = 0.1
"""PECOS's default; its solver works on the dual."""


class OneVsAll(Peer):
    """One layer over all labels, by dual coordinate descent."""

    PREDICTION: ClassVar = {"post_processor": "noop"}

    def __init__(self, problem) -> None:
        super().__init__(problem)
        self._features = problem.features
        self._Y = problem.Y.tocsc()
        self._model = self._scorer = None

    def train(self) -> None:
        self._model = self._fitted(None, threshold=self._problem.threshold)

    def _fitted(self, clusters, **settings) -> XLinearModel:
        problem = self._problem
        costs = {"Cp": problem.C, "Cn": problem.C, "eps": TOLERANCE, "bias": problem.bias or -1.0}
        return XLinearModel.train(
            self._features, self._Y, C=clusters, threads=1, **costs, **settings
        )

    def predict(self, X, k) -> np.ndarray:
        # the plain score: PECOS's default transform ties all scores above the margin
        found = self._loaded().predict(
            self._problem.without_bias(X), only_topk=k, threads=1, **self.PREDICTION
        )
        return _ranked(found, k)

    def _loaded(self) -> XLinearModel:
        if self._scorer is None:
            self._model.save(str(self._folder))
            self._scorer = XLinearModel.load(str(self._folder), is_predict_only=True)
        return self._scorer

    @property
    def _folder(self):
        return self._problem.folder / "model"

    def model_bytes(self) -> int:
        self._loaded()
        return folder_bytes(self._folder)

    def weights(self):
        return from_scipy(self._model.model.model_chain[0].W.T)


class Tree(OneVsAll):
    """XR-Linear over a label tree by balanced k-means, with the settings that PECOS gives by
    default.
    """

    PREDICTION: ClassVar = {}

    def train(self) -> None:
        embedding = LabelEmbeddingFactory.create(self._Y, self._features, method="pifa", threads=1)
        clusters = Indexer.gen(
            embedding, indexer_type="hierarchicalkmeans", seed=self._problem.seed, threads=1
        )
        self._model = self._fitted(clusters)

    def weights(self):
        return None


def _ranked(found, k) -> np.ndarray:
    """Labels of a sparse score matrix by falling score, -1 where a row has fewer than k."""
    ids = np.full((found.shape[0], k), -1, np.int64)
    for row in range(found.shape[0]):
        entries = slice(found.indptr[row], found.indptr[row + 1])
        best = found.indices[entries][np.argsort(-found.data[entries], kind="stable")][:k]
        ids[row, : len(best)] = best
    return ids
