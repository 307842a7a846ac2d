"""Embedded labels."""

from collections.abc import Sequence
from typing import Any

from ovaflow.configuration.schema import Embedding, Prepare, Train
from ovaflow.data.dataset import Dataset
from ovaflow.estimators.base import LabelClassifier
from ovaflow.model.model_file import ModelFile
from ovaflow.rembrandt.embedding import EmbeddingSettings
from ovaflow.rembrandt.in_memory import train_embedding_model
from ovaflow.rembrandt.projected_file import SOFTMAX
from ovaflow.rembrandt.settings import METHOD, Projecting, Tuning

_EMBEDDING = ("embedding", "rank", "oversampling", "passes", "ridge", "seed")
_PROJECTING = ("decoder", "features", "random_features", "bandwidth", "seed")


class RembrandtClassifier(LabelClassifier):
    """Rembrandt (Mineiro and Karampatziakis 2015): labels embedded in few dimensions, and decoded.

    Settings have the names and the defaults of the config file; see docs/reference/config.md.

    Parameters
    ----------
    rank : int
        Dimensions that labels are embedded in.
    embedding : str
        ``"rembrandt"``, ``"compressed-sensing"``, ``"pca"``, ``"plst"`` or ``"none"``.
    oversampling : int
        Dimensions more while the embedding is computed.
    passes : int
        Subspace iterations of the embedding.
    ridge : float or list of float
        Regularisation of the least-squares fits; of several, the best on held-out instances.
    decoder : str
        ``"auto"``, ``"softmax"`` or ``"logistic"``.
    decoder_C : float or list of float, optional
        Weight of the decoder's loss; of several, the best on held-out instances; without one, what suits the decoder.
    decoder_epsilon : float
        Logistic decoder: relative gradient norm at which the solver stops.
    held_out : float
        Share of the instances that C is chosen on, and when the softmax decoder stops; 0: it is solved.
    features : str
        Of the decoder: ``"linear"``, ``"gaussian"`` or ``"laplacian"``.
    random_features : int
        Their number.
    bandwidth : float, optional
        Of the kernel; without one, chosen on held-out instances.
    seed : int
    bias : float
        Value of the bias feature; 0: none.
    normalize : bool
        Scale each instance to length 1, as the config does by default.
    threads : int
        They change no result.
    verbose : bool
        Tell how far the training is.
    """

    method = METHOD

    def __init__(
        self,
        *,
        rank: int = 100,
        embedding: str = "rembrandt",
        oversampling: int = 20,
        passes: int = 1,
        ridge: float | Sequence[float] = 1.0,
        decoder: str = "auto",
        decoder_C: float | Sequence[float] | None = None,
        decoder_epsilon: float = 0.1,
        held_out: float = 0.1,
        features: str = "linear",
        random_features: int = 4000,
        bandwidth: float | None = None,
        seed: int = 0,
        bias: float = 1.0,
        normalize: bool = False,
        threads: int = 1,
        verbose: bool = False,
    ) -> None:
        self.rank = rank
        self.embedding = embedding
        self.oversampling = oversampling
        self.passes = passes
        self.ridge = ridge
        self.decoder = decoder
        self.decoder_C = decoder_C
        self.decoder_epsilon = decoder_epsilon
        self.held_out = held_out
        self.features = features
        self.random_features = random_features
        self.bandwidth = bandwidth
        self.seed = seed
        self.bias = bias
        self.normalize = normalize
        self.threads = threads
        self.verbose = verbose

    def _train(self, dataset: Dataset) -> ModelFile:
        threads = self._settings(Train, ("threads",)).threads
        self._settings(Prepare, ("bias", "normalize"))
        given = self._settings(Embedding, Embedding.model_fields)
        return train_embedding_model(
            dataset,
            EmbeddingSettings(**given.model_dump(include=set(_EMBEDDING))),
            Projecting(**given.model_dump(include=set(_PROJECTING))),
            Tuning(given.decoder_candidates, given.decoder_epsilon, given.held_out, given.seed),
            threads,
        )

    def _has_one_label(self) -> bool:
        return self.model_.parameters["train"]["decoder"] == SOFTMAX

    @classmethod
    def _settings_of(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        train = parameters["train"]
        given = {"decoder_C": train.get("C"), "decoder_epsilon": train.get("epsilon")}
        return super()._settings_of(parameters) | {name: value for name, value in given.items() if value is not None}
