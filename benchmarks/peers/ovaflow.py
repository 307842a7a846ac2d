"""ovaflow itself, through the same interface."""

import numpy as np

from ovaflow.initialization.means import compute_means
from ovaflow.initialization.starts import StartInputs
from ovaflow.model.top_k import load_kernels, predict_top_k
from ovaflow.settings.train import TrainLabels
from ovaflow.training.shard_job import train_labels
from peers.interface import Peer


class MeanSeparating(Peer):
    """One-vs-all from the mean-separating start."""

    def __init__(self, problem) -> None:
        super().__init__(problem)
        self._dataset = problem.dataset
        means = compute_means(self._dataset.train.X, self._dataset.positives)
        self._inputs = StartInputs.from_dataset(self._dataset, means)
        self._training = TrainLabels(
            C=problem.C, epsilon=problem.epsilon, stored_threshold=problem.threshold
        )
        self._done = None

    @classmethod
    def warm_up(cls, problem) -> None:
        peer = cls(problem)
        # the rarest and the most frequent label: both kinds of solver
        labels = problem.labels[np.argsort(peer._inputs.means.counts[problem.labels])]
        few = np.unique(labels[[0, -1]])
        load_kernels(
            train_labels(peer._dataset, peer._inputs, few, peer._training, title="warm up").weights
        )

    def train(self) -> None:
        self._done = train_labels(self._dataset, self._inputs, self._problem.labels, self._training)

    def predict(self, X, k):
        return predict_top_k(self._done.weights, self._done.trained, X, k)[0]

    def model_bytes(self) -> int:
        return sum(array.nbytes for array in self._done.weights.arrays)

    def weights(self):
        return self._done.weights
