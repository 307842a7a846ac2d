"""omikuji: forests of label trees with the settings of Parabel and of Bonsai.

It scales rows to unit length and adds a bias of 1 by itself. The settings are
those that its documentation gives for the two methods (Prabhu et al. 2018;
Khandagale et al. 2020).
"""

from typing import ClassVar

import numpy as np
from omikuji import Model

from peers.interface import Peer, folder_bytes, pad_predictions

BEAM = 10
"""Width of the beam search, omikuji's default."""


class Parabel(Peer):
    """Three balanced binary trees."""

    SETTINGS: ClassVar[dict] = {}

    def __init__(self, problem) -> None:
        super().__init__(problem)
        self._path = problem.folder / "train.txt"
        self._folder = problem.folder / "model"
        self._model = None
        _write_repository_format(self._path, problem.features, problem.Y)

    def train(self) -> None:
        settings = Model.default_hyper_param()
        settings.linear_c = self._problem.C
        for name, value in self.SETTINGS.items():
            setattr(settings, name, value)
        self._model = Model.train_on_data(str(self._path), settings, 1)

    def predict(self, X, k) -> np.ndarray:
        self._model.init_prediction_thread_pool(1)
        features = self._problem.without_bias(X)
        predicted = []
        for i in range(features.shape[0]):
            row = features[i]
            pairs = zip(row.indices.tolist(), row.data.tolist(), strict=True)
            predicted.append([label for label, _ in self._model.predict(pairs, BEAM, k)])
        return pad_predictions(predicted, k)

    def model_bytes(self) -> int:
        self._folder.mkdir(exist_ok=True)
        self._model.save(str(self._folder))
        return folder_bytes(self._folder)


class Bonsai(Parabel):
    """Three shallow trees by unbalanced 100-means."""

    SETTINGS: ClassVar = {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}


def _write_repository_format(path, X, Y) -> None:
    """Write the format of the XMC repository: a header, then labels and features.

    omikuji refuses instances without features; they are left out.
    """
    rows = np.flatnonzero(np.diff(X.indptr))
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{len(rows)} {X.shape[1]} {Y.shape[1]}\n")
        for i in rows:
            labels = ",".join([str(label) for label in Y.indices[Y.indptr[i] : Y.indptr[i + 1]]])
            entries = slice(X.indptr[i], X.indptr[i + 1])
            pairs = zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True)
            features = " ".join(f"{feature}:{value:.9g}" for feature, value in pairs)
            file.write(f"{labels} {features}\n")
