"""napkinXC: binary relevance and a probabilistic label tree, both on LIBLINEAR's dual.
Jasinska-Kobus et al. 2020.
"""

from napkinxc.models import BR, PLT

from peers.interface import Peer, folder_bytes, pad_predictions

TOLERANCE = 0.1
"""napkinXC's default; its solver works on the dual."""


class BinaryRelevance(Peer):
    """One-vs-all with the squared hinge."""

    MODEL = BR

    def __init__(self, problem) -> None:
        super().__init__(problem)
        self._features = problem.features
        self._Y = problem.Y
        self._folder = problem.folder / "model"
        self._folder.mkdir()
        self._model = self.MODEL(
            str(self._folder),
            bias=problem.bias or -1.0,
            optimizer="liblinear",
            loss="l2",
            liblinear_c=problem.C,
            liblinear_eps=TOLERANCE,
            threads=1,
            seed=problem.seed,
            **self._settings(),
        )

    def _settings(self) -> dict:
        return {"weights_threshold": self._problem.threshold, "norm": False}

    def train(self) -> None:
        self._model.fit(self._features, self._Y)

    def predict(self, X, k):
        return pad_predictions(self._model.predict(self._problem.without_bias(X), top_k=k), k)

    def model_bytes(self) -> int:
        return folder_bytes(self._folder)


class LabelTree(BinaryRelevance):
    """A label tree by 2-means, with the pruning of weights that napkinXC does by default."""

    MODEL = PLT

    def _settings(self) -> dict:
        # its k-means crashes on rows of other lengths than 1, whichever way they came about
        return {"norm": True}
